from __future__ import annotations

import pytest

from interlace.engine.expressions import ExpressionError, SyntaxProblem, compile_text, compile_value


@pytest.mark.parametrize("kept", [1, 1.0, True, None, "", [], {}, [1, {"a": None}], "x"])
def test_a_single_expression_keeps_the_type(text, kept):
    for source in ("{{ a }}", "{{a}}", "  {{ a }}\n", "{{- a -}}", "\n{{\n a \n}}\n"):
        found = text(source, a=kept)
        assert found == kept
        assert type(found) is type(kept)


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        ("x", "x"),
        ([1, "é", None], '[1,"é",null]'),
        ({"a": {"b": [True]}}, '{"a":{"b":[true]}}'),
    ],
)
def test_text_around_makes_text(text, item, shown):
    assert text("<{{ a }}>", a=item) == f"<{shown}>"
    assert text("{{ a }}{{ a }}", a=item) == shown * 2


@pytest.mark.parametrize(
    "data",
    [
        "{{ secrets.key }}",
        "{% for x in y %}",
        "2026-01-01",
        '{"a": 1}',
        "007",
        "def f(): pass",
        "1e3",
        "${x}",
    ],
)
def test_values_are_never_parsed_again(text, data):
    assert text("{{ a }}", a=data) == data
    assert text("<{{ a }}>", a=data) == f"<{data}>"
    assert text("{{ a ~ '' }}", a=data) == data


@pytest.mark.parametrize(
    "source", ["", "plain", "{ not } braces", "{% if x %}", "{# c #}", "}} {", " spaces \n"]
)
def test_text_without_expressions_is_itself(source):
    compiled = compile_text(source)
    assert compiled.constant
    assert compiled.references == ()
    assert compiled.evaluate(None) is compiled.node.value
    assert compiled.evaluate(None) == source


def test_braces_inside_strings_and_mappings_belong_to_the_expression(text):
    assert text("{{ '}}' }}") == "}}"
    assert text("{{ {'a': {'b': 1}} }}") == {"a": {"b": 1}}
    assert text("{{ {'a': {'b': 1}}}}") == {"a": {"b": 1}}
    assert text("{{ '{{' }} x") == "{{ x"


def test_white_space_control(text):
    assert text("a  {{- x -}}  b", x=1) == "a1b"
    assert text("a  {{ -x }}  b", x=1) == "a  -1  b"


def test_null_beside_text_is_nothing_but_missing_is_an_error(text):
    assert text("a{{ x }}b", x=None) == "ab"
    with pytest.raises(ExpressionError, match="`x` is missing"):
        text("a{{ x }}b")


def test_structures_are_compiled_as_a_whole(table):
    constant = {"deep": [1, {"x": "plain"}]}
    compiled = compile_value({"a": "{{ n.x }}", "b": ["t {{ n.y }}", 3, None], "c": constant, "d{{": True})
    assert not compiled.constant
    found = compiled.evaluate(table({"n": {"x": [1], "y": 2}}))
    assert found == {"a": [1], "b": ["t 2", 3, None], "c": constant, "d{{": True}
    assert found["c"] is constant
    assert [(r.root, r.path) for r in compiled.references] == [("n", ("x",)), ("n", ("y",))]


def test_a_constant_structure_is_given_back_itself():
    data = {"a": [1, 2, {"b": "x"}]}
    compiled = compile_value(data)
    assert compiled.constant
    assert compiled.evaluate(None) is data


def test_structures_of_constant_expressions_are_evaluated():
    data = {"a": "{{ 1 }}", "b": ["{{ 'x' }}", {"c": "{{ [2] }}"}], "d": 3}
    assert compile_value(data).evaluate(None) == {"a": 1, "b": ["x", {"c": [2]}], "d": 3}
    assert data["a"] == "{{ 1 }}"


def test_a_problem_in_a_structure_says_where():
    with pytest.raises(SyntaxProblem) as caught:
        compile_value({"a": [{"b": "{{ 1 + }}"}]})
    assert caught.value.place == ("a", 0, "b")


def test_a_structure_that_is_too_deep_is_a_problem():
    data: list = []
    for _ in range(300):
        data = [data]
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_value(data)


@pytest.mark.parametrize("scalar", [1, None, True, 2.5])
def test_scalars_are_constants(scalar):
    assert compile_value(scalar).evaluate(None) is scalar
