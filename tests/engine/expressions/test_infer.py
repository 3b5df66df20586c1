from __future__ import annotations

import pytest

from interlace.engine.expressions import (
    compile_expression,
    compile_template,
    compile_text,
    compile_value,
    infer,
)

STRING, NUMBER, INTEGER, BOOLEAN = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
ROW = {"type": "object", "properties": {"name": STRING, "amount": NUMBER}}
SCHEMAS = {
    "fetch": {
        "type": "object",
        "properties": {"status_code": INTEGER, "headers": {"type": "object"}, "body": {}, "rows": {"type": "array", "items": ROW}},
    },
    "inputs": {
        "type": "object",
        "properties": {
            "amount": NUMBER,
            "count": INTEGER,
            "vendor": STRING,
            "ok": BOOLEAN,
            "note": {"type": ["string", "null"]},
            "day": {"type": "string", "format": "date"},
        },
    },
    "size": {"type": "object", "properties": {"matched": {"enum": ["large", "else"]}}},
}  # fmt: skip


def inferred(source):
    return infer(compile_expression(source), SCHEMAS.get)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1", {"type": "integer", "const": 1}),
        ("inputs.amount", NUMBER),
        ("inputs.count + 1", INTEGER),
        ("inputs.count / 2", NUMBER),
        ("inputs.amount * 2", NUMBER),
        ("-inputs.count", INTEGER),
        ("inputs.vendor + 'x'", STRING),
        ("inputs.vendor * 3", STRING),
        ("fetch.body + 1", {}),
        ("fetch.body - 1", NUMBER),
        ("inputs.vendor ~ 1", STRING),
        ("inputs.amount > 1 and inputs.ok", BOOLEAN),
        ("not inputs.vendor", BOOLEAN),
        ("inputs.vendor is empty", BOOLEAN),
        ("1 in fetch.rows", BOOLEAN),
        ("inputs.note | default('x')", {"anyOf": [{"type": ["string"]}, {"type": "string", "const": "x"}]}),
        ("inputs.note or inputs.count", {"anyOf": [{"type": ["string"]}, INTEGER]}),
        ("fetch.body.a[0].b", {}),
        ("fetch.headers['x-id']", {}),
        ("fetch.rows[0].amount", NUMBER),
        ("fetch.rows[inputs.count].name", STRING),
        ("fetch.rows[1:]", {"type": "array", "items": ROW}),
        ("inputs.vendor[-3:]", STRING),
        ("fetch.rows | first", ROW),
        ("(fetch.rows | selectattr('amount', '>', 1) | last).name", STRING),
        ("fetch.rows | map(attribute='name')", {"type": "array", "items": STRING}),
        ("fetch.rows | map(attribute='name') | map('upper')", {"type": "array", "items": STRING}),
        ("fetch.rows | length", INTEGER),
        ("fetch.rows | sum(attribute='amount')", NUMBER),
        ("fetch.rows | max(attribute='amount')", {"anyOf": [ROW, {"type": "null"}]}),
        ("inputs.vendor | int(0)", {"anyOf": [INTEGER, {"type": "integer", "const": 0}]}),
        ("inputs.vendor | number", NUMBER),
        ("inputs.count | round", INTEGER),
        ("inputs.vendor | fromjson", {}),
        ("inputs.vendor | split(',')", {"type": "array", "items": STRING}),
        ("range(3)", {"type": "array", "items": INTEGER}),
        ("now() | date", STRING),
        ("[inputs.count]", {"type": "array", "items": INTEGER}),
        ("1 if inputs.ok else inputs.vendor", {"anyOf": [{"type": "integer", "const": 1}, STRING]}),
        ("fetch.error.message", STRING),
        ("nobody.knows", {}),
    ],
)  # fmt: skip
def test_result_types(source, expected):
    found = inferred(source)
    assert found.findings == []
    assert found.schema == expected


@pytest.mark.parametrize(
    ("source", "code", "message", "part"),
    [
        ("1 ~ fetch.bdy", "unknown_field", "`fetch.bdy`: fetch has no field 'bdy'; did you mean 'body'?", "fetch.bdy"),
        ("fetch.rows[0].nme", "unknown_field", "did you mean 'name'?", "fetch.rows[0].nme"),
        ("fetch.rows.name", "unknown_field", "fetch.rows is list and has no field 'name'", "fetch.rows.name"),
        ("inputs.vendor.x", "unknown_field", "is text", "inputs.vendor.x"),
        ("inputs.error", "unknown_field", "has no field 'error'", "inputs.error"),
        ("(fetch.rows | first).nam", "unknown_field", "did you mean 'name'?", None),
        ("fetch.rows | map(attribute='nam')", "unknown_field", "did you mean 'name'?", None),
        ("fetch.rows | sum(attribute='amout')", "unknown_field", "did you mean 'amount'?", None),
        ("fetch.rows | sort(attribute='x.y')", "unknown_field", "no field 'x'", None),
        ("({'a': fetch.body}).b", "unknown_field", "no field 'b'", None),
        ("inputs.vendor + 1", "wrong_type", "'| number'", "inputs.vendor + 1"),
        ("inputs.vendor - inputs.vendor", "wrong_type", "text - text", None),
        ("fetch.rows * fetch.rows", "wrong_type", "list * list", None),
        ("none + 1", "wrong_type", "null + whole number", None),
        ("inputs.ok + 1", "wrong_type", "boolean + whole number", None),
        ("-inputs.vendor", "wrong_type", "takes a number, not text", None),
        ("inputs.amount[1:]", "wrong_type", "sliced", None),
        ("fetch.rows | upper", "wrong_type", "'upper' cannot take list", None),
        ("inputs.amount | first", "wrong_type", "'first' cannot take number", None),
        ("inputs.vendor | items", "wrong_type", "'items' cannot take text", None),
        ("inputs.amount > 'abc'", "bad_comparison", "text 'abc' with a number", None),
        ("'abc' <= inputs.count", "bad_comparison", "text 'abc' with a number", None),
        ("inputs.amount > none", "bad_comparison", "number > null", None),
        ("fetch.rows < 3", "bad_comparison", "list < whole number", None),
        ("inputs.ok >= 1", "bad_comparison", "boolean >= whole number", None),
        ("1 < inputs.count < none", "bad_comparison", "whole number < null", None),
        ("1 in inputs.amount", "bad_comparison", "'in' takes", None),
    ],
)  # fmt: skip
def test_findings(source, code, message, part):
    (finding,) = inferred(source).findings
    assert finding.code == code
    assert message in finding.message
    assert finding.severity == "error"
    if part is not None:
        assert source[slice(*finding.span)] == part


@pytest.mark.parametrize(
    "source",
    [
        "inputs.amount > '5'",
        "inputs.vendor > 5",
        "inputs.vendor > inputs.day",
        "inputs.note > 5",
        "fetch.body > 5",
        "inputs.note + 'x'",
        "fetch.body | upper",
        "fetch.body.x.y | first",
        "inputs.vendor | length",
        "size.matched == 'large'",
        "inputs.amount == 'abc'",
        "fetch.rows | selectattr('name')",
        "unknown.a + 1",
        "inputs['ven' ~ 'dor']",
        "fetch.rows[-1].name",
    ],
)
def test_no_false_alarms(source):
    assert inferred(source).findings == []


def test_a_field_that_is_not_there_is_a_warning_where_its_absence_is_handled():
    for source in ("fetch.bdy | default(1)", "fetch.bdy is defined", "fetch.rows | selectattr('nme')"):
        (finding,) = inferred(source).findings
        assert (finding.code, finding.severity) == ("unknown_field", "warning")


def test_a_value_that_can_never_equal_is_a_warning_with_the_nearest():
    (finding,) = inferred("size.matched == 'larg'").findings
    assert (finding.code, finding.severity) == ("bad_comparison", "warning")
    assert "did you mean 'large'?" in finding.message


def test_mixed_text_is_text_and_parts_are_checked():
    found = infer(compile_text("a {{ inputs.vendor }} {{ fetch.bdy }}"), SCHEMAS.get)
    assert found.schema == STRING
    assert [f.code for f in found.findings] == ["unknown_field"]


def test_findings_of_a_structure_say_where():
    found = infer(compile_value({"a": [1, "{{ fetch.bdy }}"], "b": "{{ inputs.count }}"}), SCHEMAS.get)
    assert found.schema["properties"]["b"] == INTEGER
    (finding,) = found.findings
    assert finding.place == ("a", 1)
    assert finding.span == (3, 12)


def test_each_part_of_a_structure_guards_only_itself():
    found = infer(compile_value({"a": "{{ fetch.bdy }}", "b": "{{ fetch.bdy | default(1) }}"}), SCHEMAS.get)
    assert [(f.place, f.severity) for f in found.findings] == [(("a",), "error"), (("b",), "warning")]


def test_templates_are_checked_and_their_own_names_are_not():
    source = "{% for r in fetch.rows %}{{ r.whatever }}{{ fetch.bdy }}{% endfor %}{{ inputs.vendor + 1 }}"
    found = infer(compile_template(source), SCHEMAS.get)
    assert found.schema == STRING
    assert [(f.code, source[slice(*f.span)]) for f in found.findings] == [
        ("unknown_field", "fetch.bdy"),
        ("wrong_type", "inputs.vendor + 1"),
    ]
