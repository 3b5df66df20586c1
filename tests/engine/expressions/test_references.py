from __future__ import annotations

import pytest

from interlace.engine.expressions import (
    ExpressionError,
    SyntaxProblem,
    compile_expression,
    compile_template,
    compile_text,
    rename_root,
)


def places(compiled):
    return [(r.root, r.path) for r in compiled.references]


def guards(source, *, kind=compile_expression):
    return {source[slice(*r.span)]: r.guarded for r in kind(source).references}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a", [("a", ())]),
        ("a.b[0]['c d']", [("a", ("b", 0, "c d"))]),
        ("a[-1]", [("a", (-1,))]),
        ("a[i].x", [("a", (None, "x")), ("i", ())]),
        ("a.b[i][j.k]", [("a", ("b", None, None)), ("i", ()), ("j", ("k",))]),
        ("a.b[1:n]", [("a", ("b",)), ("n", ())]),
        ("a[1:].b", [("a", ())]),
        ("1 if t else f", [("t", ()), ("f", ())]),
        ("y if t else f", [("y", ()), ("t", ()), ("f", ())]),
        ("x | default(y.z)", [("x", ()), ("y", ("z",))]),
        ("(a or b).c", [("a", ()), ("b", ())]),
        ("[a, {'k': b}, dict(x=c)]", [("a", ()), ("b", ()), ("c", ())]),
        ("a.upper and 'text with a.b'", [("a", ("upper",))]),
        ("range(n)", [("n", ())]),
        ("now()", []),
    ],
)
def test_references_in_source_order(source, expected):
    found = places(compile_expression(source))
    if source == "a[1:].b":
        assert [root for root, _ in found] == ["a"]
    else:
        assert found == expected


def test_spans_point_at_the_source():
    source = "Dear {{ a.b['c'] }} and {{ items[i].x | upper }}"
    spans = [source[slice(*r.span)] for r in compile_text(source).references]
    assert spans == ["a.b['c']", "items[i].x", "i"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a.b", {"a.b": False}),
        ("a.b | default(c)", {"a.b": True, "c": False}),
        ("a.b | default(c | default(1))", {"a.b": True, "c": True}),
        ("a.b | upper | default('')", {"a.b": False}),
        ("a is defined and a.b > 1", {"a": True, "a.b": True}),
        ("a is defined and c.b > 1", {"a": True, "c.b": False}),
        ("a.b is not empty and a.b > 1", {"a.b": True}),
        ("a is undefined or a.b > 1", {"a": True, "a.b": True}),
        ("not (a is none) and a.b", {"a": True, "a.b": True}),
        ("a.x if a is defined else a.y", {"a.x": True, "a": True, "a.y": False}),
        ("a.x if a is empty else a.y", {"a.x": False, "a": True, "a.y": True}),
        ("a.b == 1", {"a.b": True}),
        ("a.b < 1", {"a.b": False}),
        ("a.b in c", {"a.b": False, "c": False}),
        ("a.b or c", {"a.b": True, "c": False}),
        ("not a.b", {"a.b": True}),
        ("a.b is string", {"a.b": True}),
        ("a.b is even", {"a.b": False}),
        ("a.b ~ 'x'", {"a.b": False}),
        ("a.b == 'x' and a.c > 1 and a.b.d < 1", {"a.b": True, "a.c": False, "a.b.d": True}),
        ("a.b != none and a.b > 1", {"a.b": True}),
        ("a.b == none or a.b > 1", {"a.b": True}),
        ("a and a.b", {"a": True, "a.b": True}),
    ],
)
def test_a_reference_is_guarded_where_the_expression_copes_with_its_absence(source, expected):
    assert guards(source) == expected


def test_an_if_of_a_template_guards_its_branches():
    source = (
        "{% if a is defined %}{{ a.x }}{% elif b %}{{ b.y }}{{ a.z }}{% else %}{{ b.w }}{% endif %}{{ a.v }}"
    )
    found = guards(source, kind=compile_template)
    assert found == {
        "a": True, "a.x": True, "b": True, "b.y": True, "a.z": False, "b.w": False, "a.v": False,
    }  # fmt: skip


def test_names_that_a_template_binds_are_not_references():
    source = (
        "{% set x = a.b %}{{ x.c }}{% for r in rows if r.n > lim %}{{ loop.index }}{{ r.n }}{% else %}{{ r }}{% endfor %}"
        "{% macro m(p, q=d) %}{{ p }}{{ caller() }}{% endmacro %}{{ m(e) }}{% with w = f %}{{ w }}{% endwith %}{{ w }}"
    )
    assert places(compile_template(source)) == [
        ("a", ("b",)), ("rows", ()), ("lim", ()), ("r", ()), ("d", ()), ("e", ()), ("f", ()), ("w", ()),
    ]  # fmt: skip


def test_secrets_are_visible():
    roots = {r.root for r in compile_text("{{ 'x' ~ (secrets['k'] | default(none)) }}").references}
    assert roots == {"secrets"}


@pytest.mark.parametrize(
    ("kind", "source", "expected"),
    [
        ("expression", "a.a + b.a", "new.a + b.a"),
        ("expression", "a['a'] ~ 'a' ~ a", "new['a'] ~ 'a' ~ new"),
        ("expression", "x | default(a)", "x | default(new)"),
        ("expression", "b[a].c", "b[new].c"),
        ("expression", " a  if  a else [a] ", " new  if  new else [new] "),
        ("expression", "aa.b", "aa.b"),
        ("expression", "dict(a=a)", "dict(a=new)"),
        ("text", "a {{ a.x }} a {{ b }} {{ '{{ a }}' }}", "a {{ new.x }} a {{ b }} {{ '{{ a }}' }}"),
        ("text", "no a here", "no a here"),
        (
            "template",
            "{% for a in a.rows %}{{ a }}{% endfor %}{{ a }}",
            "{% for a in new.rows %}{{ a }}{% endfor %}{{ new }}",
        ),
        (
            "template",
            "{% raw %}{{ a }}{% endraw %}{# a #}{{ a }}",
            "{% raw %}{{ a }}{% endraw %}{# a #}{{ new }}",
        ),
        ("template", "{{ a }}{% set a = a.b %}{{ a }}", "{{ new }}{% set a = new.b %}{{ a }}"),
        (
            "template",
            "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(a) | upper }}",
            "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(new) | upper }}",
        ),
        (
            "template",
            "{% filter replace('a', a) %}a{% endfilter %}",
            "{% filter replace('a', new) %}a{% endfilter %}",
        ),
    ],
)
def test_rename_touches_only_the_root(kind, source, expected):
    assert rename_root(source, "a", "new", kind=kind) == expected


def test_rename_into_a_name_that_the_template_binds_is_refused():
    with pytest.raises(SyntaxProblem, match="binds that name"):
        rename_root("{% for r in rows %}{{ a.x }}{% endfor %}", "a", "r", kind="template")


def test_rename_of_what_does_not_parse_is_a_problem():
    with pytest.raises(ExpressionError):
        rename_root("{{ a + }}", "a", "b", kind="text")
