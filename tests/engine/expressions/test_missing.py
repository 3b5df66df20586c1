from __future__ import annotations

import pytest

from interlace.engine.expressions import (
    ExpressionError,
    Missing,
    NodeOutputs,
    NullOutputs,
    compile_expression,
    compile_text,
    compile_value,
)

SKIPPED = Missing("ask was skipped: edge size.large not taken")


@pytest.mark.parametrize(
    "source", ["ask", "ask.form", "ask.form.note", "ask['form'].x[0][k]", "ask.rows[1:2]", "ask[ask.x]"]
)
def test_a_missing_value_is_chainable(table, source):
    found = compile_expression(source).evaluate_or_missing(table({"ask": SKIPPED, "k": "z"}))
    assert isinstance(found, Missing)
    assert found.reason == SKIPPED.reason


def test_an_unguarded_missing_value_names_the_reference_and_why(text):
    with pytest.raises(ExpressionError) as caught:
        text("{{ ask.form.note }}", ask=SKIPPED)
    assert str(caught.value) == (
        "`ask.form.note` is missing: ask was skipped: edge size.large not taken; use default(…) to allow that"
    )
    assert caught.value.kind == "missing"


@pytest.mark.parametrize(
    "source",
    [
        "a {{ ask.x }}",
        "{{ ask.x ~ '' }}",
        "{{ ask.x + 1 }}",
        "{{ 1 - ask.x }}",
        "{{ -ask.x }}",
        "{{ ask.x | upper }}",
        "{{ 'a' | replace('a', ask.x) }}",
        "{{ [ask.x] }}",
        "{{ {'a': ask.x} }}",
        "{{ {ask.x: 1} }}",
        "{{ range(ask.x) }}",
        "{{ 'abc'[ask.x:] }}",
        "{{ ask.x < 1 }}",
        "{{ ask.x in [1] }}",
        "{{ ask.x | length }}",
        "{{ ask.x if true }}",
    ],
)
def test_operators_filters_and_output_do_not_take_a_missing_value(text, source):
    with pytest.raises(ExpressionError, match=r"ask\.x.*ask was skipped"):
        text(source, ask=SKIPPED)


def test_default_covers_missing_and_null(value):
    for source in ("a.b | default('x')", "a.b | d('x')", "a.b | default(default='x')"):
        assert value(source, a=SKIPPED) == "x"
        assert value(source, a={"b": None}) == "x"
        assert value(source, a={}) == "x"
        assert value(source, a={"b": 0}) == 0
        assert value(source, a={"b": ""}) == ""
    assert value("a | default", a=None) == ""
    assert value("a.b | default('x', true)", a={"b": ""}) == "x"
    assert value("a.b | default(none)", a=SKIPPED) is None
    assert value("a.x | default(a.y) | default(3)", a=SKIPPED) == 3


def test_a_missing_default_stays_missing(value):
    with pytest.raises(ExpressionError, match=r"`b\.y` is missing"):
        value("a.x | default(b.y)", a={}, b={})


def test_truth_of_missing_is_false_but_its_output_is_an_error(value):
    assert value("not a.x") is True
    assert value("a.x or 'y'") == "y"
    assert value("a.x and true") is False
    assert value("1 if a.x else 2") == 2
    with pytest.raises(ExpressionError):
        value("a.x or b.y")


def test_the_arm_not_taken_is_never_an_error(value):
    assert value("matched == 'else' or ask.n > 3", matched="else", ask=SKIPPED) is True
    assert value("false and 1 / 0") is False
    assert value("1 if true else 1 / 0") == 1
    assert value("1 / 0 if false else 2") == 2
    assert value("1 > 2 > none") is False


def test_inline_if_without_else_is_missing(value, table):
    assert value("1 if true") == 1
    assert value("(1 if false) | default(2)") == 2
    with pytest.raises(ExpressionError, match="no else"):
        value("1 if false")


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("a.nme", "`a.nme` is missing: in `a` there is no field 'nme'; did you mean 'name'?"),
        ("a.zzz", "only name, list, text, nothing"),
        ("a.list[7]", "in `a.list` there is no item 7, it has 2 items"),
        ("a.list.x", "a list has no field 'x'"),
        ("a.text.x", "text 'abc' has no field 'x'"),
        ("a.text[9]", "it has 3 characters"),
        ("a.nothing.x", "'x' is read from null"),
        ("a.list[true]", "a list has no field True"),
        ("[] | first", "the list is empty"),
        ("({})['a']", "the mapping is empty"),
    ],
)
def test_reasons(value, source, part):
    with pytest.raises(ExpressionError) as caught:
        value(source, a={"name": 1, "list": [1, 2], "text": "abc", "nothing": None})
    assert part in str(caught.value)


def test_error_of_a_node_that_did_not_fail_reads_null(value):
    assert value("fetch.error", fetch=NodeOutputs(body=1)) is None
    assert value("fetch.error is empty", fetch=NodeOutputs()) is True
    assert value("fetch.error.message | default('fine')", fetch=NodeOutputs()) == "fine"
    with pytest.raises(ExpressionError, match="no field 'bdy'"):
        value("fetch.bdy", fetch=NodeOutputs(body=1))


def test_outputs_of_a_node_that_failed_and_was_passed_over_read_null(value):
    outputs = NullOutputs(error={"message": "no"})
    assert value("fetch.body", fetch=outputs) is None
    assert value("fetch['any']", fetch=outputs) is None
    assert value("fetch.error.message", fetch=outputs) == "no"
    assert value("fetch.body.x | default(1)", fetch=outputs) == 1
    with pytest.raises(ExpressionError, match="read from null"):
        value("fetch.body.x", fetch=outputs)


def test_missing_never_leaves_a_structure(table):
    compiled = compile_value({"a": ["{{ ask.x }}"]})
    with pytest.raises(ExpressionError, match="ask was skipped"):
        compiled.evaluate(table({"ask": SKIPPED}))


def test_a_missing_value_is_falsy_and_says_why():
    assert not Missing("r")
    assert repr(Missing("r")) == "Missing('r')"


def test_no_attribute_of_an_object_is_read(value):
    class Live:
        secret = "s"

        def __getitem__(self, key: object) -> str:
            return "reached"

    for source in (
        "a.secret",
        "a.__class__",
        "a['secret']",
        "a[0]",
        "''.__class__",
        "[].append",
        "{}.keys",
        "1 .real",
    ):
        with pytest.raises(ExpressionError):
            value(source, a=Live())


def test_fields_of_data_may_begin_with_an_underscore(value):
    assert value("a._id", a={"_id": 5}) == 5


def test_the_same_compiled_text_gives_the_same_answer_on_other_names(table):
    compiled = compile_text("{{ a.x | default('-') }}")
    assert [compiled.evaluate(table(n)) for n in ({"a": {"x": 1}}, {}, {"a": {"x": None}})] == [1, "-", "-"]
