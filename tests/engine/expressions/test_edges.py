"""Corners of the rules that the other files do not reach."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from interlace.engine.expressions import (
    ExpressionError,
    Missing,
    NodeOutputs,
    SyntaxProblem,
    compile_expression,
    compile_template,
    compile_text,
    compile_value,
    infer,
    rename_root,
)


class Lazy(Mapping):
    """A mapping that is no dict, as a payload that is read on demand."""

    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        return self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)


def test_any_mapping_is_read_like_a_dict(value, text, render):
    lazy = Lazy({"a": [1], "7": Lazy({"x": 2})})
    assert value("m.a[0]", m=lazy) == 1
    assert value("m[7].x", m=lazy) == 2
    assert value("m is mapping and m is not empty and 'a' in m", m=lazy) is True
    assert value("m == {'a': [1], '7': {'x': 2}}", m=lazy) is True
    assert text("{{ m }}!", m=MappingProxyType({"a": 1})) == '{"a":1}!'
    assert render("{% for k in m %}{{ k }}{% endfor %}", m=lazy) == "a7"
    with pytest.raises(ExpressionError, match="mapping"):
        value("m > 1", m=lazy)


def test_a_slice_has_whole_bounds_and_a_step(value):
    assert value("a[::2]", a=[1, 2, 3]) == [1, 3]
    assert value("a[0.0:2.0]", a=[1, 2, 3]) == [1, 2]
    assert value("(gone[1:]) | default('-')") == "-"
    for source in ("a['x':]", "a[::0]", "5[1:]", "{}[:1]", "a[true:]"):
        with pytest.raises(ExpressionError):
            value(source, a=[1, 2, 3])


@pytest.mark.parametrize(
    ("source", "expected"), [("+a", 3), ("- -a", 3), ("a[1.0]", None), ("'abc'[1.0]", "b")]
)
def test_signs_and_whole_floats_as_indexes(value, source, expected):
    if expected is None:
        source = "[4, 5][1.0]"
        expected = 5
    assert value(source, a=3) == expected


@pytest.mark.parametrize("source", ["+'a'", "+gone", "-none", "'x' - 1", "true + true", "{} ~ gone"])
def test_signs_take_numbers_only(value, source):
    with pytest.raises(ExpressionError):
        value(source)


def test_dates_that_do_not_exist_compare_as_text(value):
    assert value("'2026-02-30' < '2026-03-01'") is True
    assert value("'2026-02-30' is date") is False
    assert value("5 is date") is False


def test_methods_and_their_filters(value):
    for source, hint in (
        ("a.title()", "`x | title`"),
        ("a.foo()", "`x | filter`"),
        ("a.get('k')", "default"),
    ):
        with pytest.raises(SyntaxProblem) as caught:
            value(source, a="x")
        assert hint in str(caught.value)


def test_a_value_made_in_the_language_is_plain_data(value, render):
    assert type(value("'<' | escape")) is str
    assert type(value("'<' | safe")) is str
    assert type(render("{{ '<' | safe }}", autoescape=True)) is str


def test_lists_from_filters_never_hold_a_missing_value(value):
    with pytest.raises(ExpressionError, match="item 1"):
        value("[[1], []] | map('first')")
    assert value("[[1], none] | map('default', [])") == [[1], []]


def test_names_of_filters_and_tests_may_be_computed_and_are_checked_then(value):
    assert value("['a'] | map(f)", f="upper") == ["A"]
    assert value("[1, 2] | select(t, 1)", t="gt") == [2]
    for source in (
        "['a'] | map(f)",
        "['a'] | select(f)",
        "[1] | select(n)",
        "[{}] | map(attribute=none)",
        "[{}] | groupby(n)",
    ):
        with pytest.raises(ExpressionError):
            value(source, f="uper", n=[1])


def test_grouping_needs_the_field_or_a_default(value):
    rows = [{"k": 1}, {}]
    assert value("rows | groupby('k', 'none') | map('first')", rows=rows) == [1, "none"]
    with pytest.raises(ExpressionError, match="item 1"):
        value("rows | groupby('k')", rows=rows)


@pytest.mark.parametrize(
    "source",
    [
        "'2026-01-01' | format_date('x' * 300)",
        "1e30 | to_datetime",
        "'zz' | int(base=99)",
        "'zz' | int(base=16)",
        "'a' | regex_match('a' * 2000)",
        "'a' | jmespath('a' * 3000)",
        "1 | default(1, 2, 3) if false else none | upper",
    ],
)
def test_limits_and_bad_arguments(value, source):
    with pytest.raises(ExpressionError):
        value(source)


def test_rounding_is_decimal(value):
    assert value("1e-7 | round(3)") == 0.0
    assert value("1e22 | round(2)") == 1e22
    assert value("0.5 | round(30)") == 0.5
    assert value("1.005 | round(2)") == 1.01


def test_a_large_list_is_searched_within_the_budget(value):
    assert value("7 in rows", rows=list(range(10_000))) is True
    with pytest.raises(ExpressionError, match="makes more than"):
        value("[" + "-1 in rows," * 300 + "]", rows=list(range(10_000)))


def test_texts_have_limits():
    with pytest.raises(SyntaxProblem, match="at most 500"):
        compile_text("{{ a }} " * 600)
    with pytest.raises(SyntaxProblem, match="longer than"):
        compile_text("{{ '" + "a" * 9000 + "' }}")
    assert compile_text("long " * 20_000 + "{{ a }}").references[0].root == "a"


@pytest.mark.parametrize("source", ["{{ a }} and {{ b }}", "{{ 'x' }} y", "{{ a }}{{ b }}"])
def test_a_bare_field_takes_one_expression(source):
    with pytest.raises(SyntaxProblem):
        compile_expression(source)


@pytest.mark.parametrize(
    "source",
    [
        "a is gt(x=1)",
        "a | f",
        "a[",
        "99999999999999999999",
        "18446744073709551616",
        "{% for 1 in x %}{% endfor %}",
        "a is 5",
    ],
)
def test_more_that_does_not_parse(source):
    with pytest.raises(SyntaxProblem):
        compile_template(source) if "{%" in source else compile_expression(source)


def test_templates_take_the_rest_of_jinja(render):
    assert render("{% for (a, b) in [[1, 2]] %}{{ a }}{{ b }}{% endfor %}") == "12"
    assert render("{% with a=1, b=2 %}{{ a + b }}{% endwith %}{% with %}x{% endwith %}") == "3x"
    assert render("{% macro m() %}x{% endmacro m %}{{ m() }}") == "x"
    assert render("{% do range(3) %}x") == "x"
    assert render("{{ loop.first if loop is defined else '-' }}") == "-"
    assert render("{% for x in [1] %}{{ loop.first }}{{ loop.last and 'z' }}{% endfor %}") == "truez"
    assert (
        render(
            "{% for x in [{'a': {}}] %}{{ x.a.b.c | default('-') }}{{ x.gone | default('+') }}{% endfor %}"
        )
        == "-+"
    )
    assert render("{% set x = gone.y %}{{ x | default('-') }}") == "-"
    assert render("{% macro m(x) %}{{ x }}{% endmacro %}{{ m(1) if true }}{{ m(2) and m(3) }}") == "13"


def test_template_errors_keep_their_first_line(render):
    with pytest.raises(ExpressionError, match=r"^line 2: .*divide by zero"):
        render("{% macro m(x) %}{{ x }}{% endmacro %}\n{{ m(1 / 0) }}")
    with pytest.raises(ExpressionError, match=r"^line 1: .*recursion"):
        render("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")
    with pytest.raises(ExpressionError, match="no else"):
        render("{% macro m() %}{% endmacro %}{{ m() if false }}")


def test_template_limits():
    with pytest.raises(SyntaxProblem, match="a tag has at most"):
        compile_template("{{ '" + "a" * 9000 + "' }}")
    with pytest.raises(SyntaxProblem, match="nested too deep"):
        compile_template("{% macro m(x) %}{{ x }}{% endmacro %}{{ " + "m(" * 30 + "1" + ")" * 30 + " }}")
    with pytest.raises(SyntaxProblem, match="expressions"):
        compile_template("{{ 1 }}" * 4100)
    with pytest.raises(SyntaxProblem, match="nested more than"):
        compile_template("{% for x in 1" + "+1" * 300 + " %}{% endfor %}")


def test_what_only_minijinja_refuses_is_a_problem_with_a_line():
    with pytest.raises(SyntaxProblem) as caught:
        compile_template("a\n{% set true = 1 %}")
    assert caught.value.line == 2
    with pytest.raises(SyntaxProblem) as caught:
        compile_template("a\n{% for x in [1] %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}")
    assert caught.value.line == 2


def test_a_structure_with_repeated_large_values_is_refused(table):
    body = ["x" * 1000] * 1000
    compiled = compile_value({"a": "{{ [" + "n.body," * 100 + "] }}"})
    with pytest.raises(ExpressionError, match="too large"):
        compiled.evaluate(table({"n": {"body": body}}))
    assert compile_value({"a": "{{ [n.x, n.x] }}"}).evaluate(table({"n": {"x": 1}})) == {"a": [1, 1]}


def test_facts_flow_through_not_and_or():
    def guarded(source):
        return [reference.guarded for reference in compile_expression(source).references]

    assert guarded("not (a is none or b is none) and a.x ~ b.x") == [True, True, True, True]
    assert guarded("(a is defined and b is defined) and a.x ~ b.x") == [True, True, True, True]
    assert guarded("a is string and a.x < 1") == [True, True]
    assert guarded("a is ne(1) and a.x < 1") == [True, False]
    assert guarded("a[0].x is defined and a[0].x.y < 1") == [True, True]


def test_typing_of_what_is_only_partly_known():
    def inferred(source):
        return infer(
            compile_expression(source),
            {"r": {"type": "array", "items": {"type": "string"}}, "s": {"type": "string"}}.get,
        )

    assert inferred("{s: 1}").schema["additionalProperties"] is True
    assert inferred("s | reverse").schema == {"type": "string"}
    assert inferred("r | reverse | first").schema == {"type": "string"}
    assert inferred("x | reverse").schema == {}
    assert inferred("x | first").schema == {}
    assert inferred("r | map(attribute=s)").findings == []
    assert inferred("s | map(attribute='a')").findings == []
    assert inferred("dict(a=1).b").findings == []
    source = "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(s + 1) }}"
    assert [f.code for f in infer(compile_template(source), {"s": {"type": "string"}}.get).findings] == [
        "wrong_type"
    ]


def test_what_is_compiled_shows_itself():
    compiled = compile_text("{{ a }}")
    assert repr(compiled) == "Compiled('{{ a }}')"
    assert compile_text("{{ a }}") is compiled
    assert rename_root("{{ b }}", "a", "c", kind="text") == "{{ b }}"
    assert rename_root("{{ b.a }}", "a", "c", kind="text") == "{{ b.a }}"


def test_a_missing_reason_may_be_computed_late(value):
    asked = []

    def reason():
        asked.append(1)
        return "because"

    assert value("a | default(1)", a=Missing(reason)) == 1
    assert asked == []
    with pytest.raises(ExpressionError, match="`a` is missing: because;"):
        value("a", a=Missing(reason))


def test_outputs_are_ordinary_mappings(text):
    assert text("x{{ n }}", n=NodeOutputs(a=1)) == 'x{"a":1}'


def test_an_object_is_named_by_its_kind(value):
    class Thing:
        pass

    with pytest.raises(ExpressionError, match="Thing has no field 'x'"):
        value("t.x", t=Thing())
    with pytest.raises(ExpressionError, match="JSON"):
        value("[t] | tojson", t=Thing())
    assert value("t == t", t=Thing()) is True
    assert value("t == 1", t=Thing()) is False


@pytest.mark.parametrize(
    "source",
    [
        "secrets.k + 1",
        "secrets.k > 1",
        "secrets.k | number",
        "secrets.k | fromjson",
        "secrets.k | to_datetime",
        "secrets.k | items",
        "secrets.k | jmespath('abs(@)')",
        "secrets.k | b64decode",
        "secrets.k.x",
        "-secrets.k",
        "secrets.k is even",
        "secrets.k | int(base=16)",
        "{} | combine(secrets.k)",
        "[1][secrets.k:]",
    ],
)
def test_no_part_of_a_long_text_stands_in_a_message(value, source):
    key = "sk-" + "abcdefghij" * 8
    with pytest.raises(ExpressionError) as caught:
        value(source, secrets={"k": key})
    assert key[:8] not in str(caught.value)


def test_the_message_for_a_long_or_crowded_mapping_is_short_and_quick(value):
    data = {f"{'k' * 100}{number}": 1 for number in range(50_000)} | {"name": 1}
    with pytest.raises(ExpressionError) as caught:
        value("d.nme ~ d['" + "z" * 5000 + "']", d={"name": 1, **data})
    assert "did you mean 'name'?" in str(caught.value)
    with pytest.raises(ExpressionError) as caught:
        value("d['" + "z" * 5000 + "'] | upper", d=data)
    assert len(str(caught.value)) < 12_000
