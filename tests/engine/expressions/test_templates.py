from __future__ import annotations

import pytest

from interlace.engine.expressions import ExpressionError, SyntaxProblem, compile_template

ROWS = [{"n": 5, "s": "a"}, {"n": "20", "s": "b<"}, {"n": 1, "s": None}]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain", "plain"),
        ("line\n", "line"),
        ("{{ n }}", "3"),
        ("{{ none }}|{{ true }}|{{ 1.0 }}|{{ [1] }}", "|true|1.0|[1]"),
        ("{% if n == '3' %}yes{% endif %}", "yes"),
        ("{% if gone is defined %}a{% elif n > 2 %}b{% else %}c{% endif %}", "b"),
        ("{% for r in rows if r.n > 1 %}{{ loop.index }}:{{ r.s }};{% endfor %}", "1:a;2:b<;"),
        ("{% for r in [] %}x{% else %}none{% endfor %}", "none"),
        (
            "{% for r in rows %}{{ r.s | default('-') }}{% if not loop.last %},{% endif %}{% endfor %}",
            "a,b<,-",
        ),
        ("{% for k, v in {'a': 1} | items %}{{ k }}={{ v }}{% endfor %}", "a=1"),
        ("{% for k in {'a': 1} %}{{ k }}{% endfor %}", "a"),
        ("{% for c in 'ab' %}[{{ c }}]{% endfor %}", "[a][b]"),
        ("{% for x in range(3) %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "02"),
        ("{% for x in range(9) %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}", "01"),
        (
            "{% for x in [1, 2] %}{% for y in [1, 2] %}{{ x * y }}{{ loop.depth }} {% endfor %}{% endfor %}",
            "11 21 21 41 ",
        ),
        ("{% for x in [1, 2, 3] %}{{ loop.cycle('o', 'e') }}{% endfor %}", "oeo"),
        (
            "{% for x in tree recursive %}{{ x.v }}{% if x.kids is defined %}({{ loop(x.kids) }}){% endif %}{% endfor %}",
            "1(23)",
        ),
        ("{% set x = n + 1 %}{{ x }}", "4"),
        ("{% set a, b = [1, 2] %}{{ a }}{{ b }}", "12"),
        ("{% set x %}<{{ n }}>{% endset %}{{ x }}", "<3>"),
        ("{% if n %}{% set x = 1 %}{% endif %}{{ x | default('-') }}", "1"),
        ("{% if not n %}{% set x = 1 %}{% endif %}{{ x | default('-') }}", "-"),
        (
            "{% set ns = namespace(t=0) %}{% for r in rows %}{% set ns.t = ns.t + (r.n | number) %}{% endfor %}{{ ns.t }}",
            "26",
        ),
        ("{% with a = n, b = 2 %}{{ a }}{{ b }}{% endwith %}", "32"),
        ("{% macro m(x, y='d') %}<{{ x }}{{ y }}>{% endmacro %}{{ m(n) }}{{ m(1, y=2) }}", "<3d><12>"),
        ("{% macro m(x) %}{{ x | default('none') }}{% endmacro %}{{ m() }}", "none"),
        ("{% macro down(i) %}{{ i }}{{ down(i - 1) if i > 0 else '' }}{% endmacro %}{{ down(3) }}", "3210"),
        ("{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}{{ n }}{% endcall %}", "[3]"),
        ("{% macro m() %}[{{ caller(7) }}]{% endmacro %}{% call(x) m() %}{{ x }}{% endcall %}", "[7]"),
        (
            "{% macro m() %}a{% endmacro %}{{ m() ~ 'b' | upper }}{{ m() | upper }}{{ [m(), 1] }}",
            'aBA["a",1]',
        ),
        ("{% macro m() %}{% endmacro %}{{ m() or 'empty' }}", "empty"),
        ("{% filter upper | replace('B', 'x') %}ab{{ n }}{% endfilter %}", "Ax3"),
        ("{% raw %}{{ x }}{% if %}{% endraw %}", "{{ x }}{% if %}"),
        ("a{# {{ nope }} #}b", "ab"),
        ("a\n  {%- if n -%}\n  b\n  {%- endif %}\nc", "ab\nc"),
        ("x {{- n -}} y", "x3y"),
        ("{{ item.a }}{{ loop.round }}", "17"),
        ("{% for 行 in rows %}{{ 行.n }}{% endfor %}", "5201"),
    ],
)
def test_templates(render, source, expected):
    names = {
        "n": 3,
        "rows": ROWS,
        "item": {"a": 1},
        "loop": {"round": 7},
        "tree": [{"v": 1, "kids": [{"v": 2}, {"v": 3}]}],
    }
    assert render(source, **names) == expected


def test_a_value_is_not_rendered_again(render):
    assert render("{{ a }}{% set x = a %}{{ x }}", a="{{ n }}{% if %}") == "{{ n }}{% if %}" * 2


def test_html_escapes_values_and_keeps_what_is_safe(render):
    source = (
        "{{ a }}{{ a | safe }}{{ a | escape }}{% macro m(x) %}<i>{{ x }}</i>{% endmacro %}{{ m(a) }}"
        "{% set z = m(1) %}{{ z }}{% set y %}<b>{{ a }}</b>{% endset %}{{ y }}{{ m(2) ~ '<' }}{{ '<' ~ 1 }}"
    )
    assert render(source, autoescape=True, a="<&") == (
        "&lt;&amp;<&&lt;&amp;<i>&lt;&amp;</i><i>1</i><b>&lt;&amp;</b><i>2</i>&lt;&lt;1"
    )


def test_without_autoescape_nothing_is_escaped(render):
    assert render("{{ a }}{{ a | safe ~ '<' }}", a="<") == "<<<"
    assert render("{% autoescape true %}{{ a }}{% endautoescape %}{{ a }}", a="<") == "&lt;<"


@pytest.mark.parametrize(
    ("source", "line", "part"),
    [
        ("a\n\n{{ gone.x }}", 3, "`gone.x` is missing"),
        ("{% if 1 %}\n{% if s > 1 %}{% endif %}{% endif %}", 2, "cannot compare text"),
        ("\n{% for x in n %}{% endfor %}", 2, "goes through a list"),
        ("\n{% for x in none %}{% endfor %}", 2, "not null"),
        ("\n{% for x in gone %}{% endfor %}", 2, "`gone` is missing as the list of a for"),
        ("{#\n\n#}{{ n | upper ~ (none | upper) }}", 3, "takes text, not null"),
        ("\n{% set x = 1 / 0 %}", 2, "divide by zero"),
        ("{{ 1\n + 2 }}\n{{ 1 / 0 }}", 3, "divide by zero"),
        ("{% macro m(x) %}\n{{ x.y }}{% endmacro %}{{ m({}) }}", 2, "`x.y` is missing"),
        ("{% set d = {} %}{% set d.x = 1 %}", 0, "namespace"),
    ],
)
def test_errors_carry_the_line(render, source, line, part):
    with pytest.raises(ExpressionError) as caught:
        render(source, n=3, s="x")
    assert part in str(caught.value)
    if line:
        assert str(caught.value).startswith(f"line {line}: ")
        assert caught.value.line == line


@pytest.mark.parametrize(
    ("source", "line", "part"),
    [
        ("\n{% if a %}", 2, "{% if %} is not closed"),
        ("{% for x in y %}", 1, "not closed"),
        ("{% endif %}", 1, "no block is open"),
        ("{% if a %}{% endfor %}", 1, "{% if %} is open"),
        ("{% if a %}{% else %}{% elif b %}{% endif %}", 1, "does not belong"),
        ("{% include 'x' %}", 1, "stands alone"),
        ("{% import 'x' as y %}", 1, "stands alone"),
        ("{% extends 'x' %}", 1, "stands alone"),
        ("{% block x %}{% endblock %}", 1, "stands alone"),
        ("{% iff a %}", 1, "no tag 'iff'"),
        ("{% %}", 1, "no tag"),
        ("{% if a %}x{% endif", 1, "not closed by %}"),
        ("{% raw %}x", 1, "endraw"),
        ("{# x", 1, "not closed by #}"),
        ("\n\n{{ a | uper }}", 3, "did you mean 'upper'?"),
        ("{% for loop in x %}{% endfor %}", 1, "cannot name a value 'loop'"),
        ("{% set __x = 1 %}", 1, "cannot name"),
        ("{% set x.y = 1 %}", 1, "not a namespace"),
        ("{% break %}", 1, "inside a for"),
        ("{% if a b %}{% endif %}", 1, "unexpected 'b'"),
        ("{% for x y %}{% endfor %}", 1, "expected 'in'"),
        ("{% call n %}{% endcall %}", 1, "call of a macro"),
        ("{% autoescape x %}{% endautoescape %}", 1, "true or false"),
        ("{{ nomacro(1) }}", 1, "no function"),
        ("{% filter uper %}{% endfilter %}", 1, "did you mean"),
        ("{% else %}", 1, "no block is open"),
        ("{% set f = inputs.obj %}{{ f() }}", 1, "'f' is not a macro"),
        ("{% macro m(f) %}{{ f() }}{% endmacro %}", 1, "'f' is not a macro"),
        ("{% for f in fs %}{% if f(1) %}{% endif %}{% endfor %}", 1, "'f' is not a macro"),
        ("{% macro m() %}{% endmacro %}{% set m = 1 %}", 1, "both a macro and a value"),
        ("{% set m = 1 %}{% macro m() %}{% endmacro %}", 1, "both a macro and a value"),
        ("{% macro m() %}{% endmacro %}{% for m in x %}{% endfor %}", 1, "both a macro and a value"),
    ],
)
def test_a_template_that_is_not_valid_says_where(source, line, part):
    with pytest.raises(SyntaxProblem) as caught:
        compile_template(source)
    assert part in str(caught.value)
    assert caught.value.line == line


def test_limits():
    with pytest.raises(SyntaxProblem, match="at most 32,768"):
        compile_template("x" * 40_000)
    with pytest.raises(SyntaxProblem, match="nested more than"):
        compile_template("{% if a %}" * 60 + "{% endif %}" * 60)
    with pytest.raises(SyntaxProblem, match="branches"):
        compile_template("{% if a %}" + "{% elif a %}" * 1000 + "{% endif %}")


def test_a_template_without_code_is_constant():
    assert compile_template("plain").constant
    assert compile_template("plain\n").evaluate(None) == "plain"
    assert not compile_template("{{ 1 }}").constant


def test_a_template_of_one_expression_hands_the_text_on(table):
    text = "long " * 1000
    for source in ("{{ a }}", "{{a}}\n", "{{- a -}}"):
        assert compile_template(source).evaluate(table({"a": text})) == text
    assert compile_template("{{ a }}").evaluate(table({"a": text})) is text
    assert compile_template("{{ a }}").evaluate(table({"a": [1, None]})) == "[1,null]"
    assert compile_template("{{ a }}", autoescape=True).evaluate(table({"a": "<b>"})) == "&lt;b&gt;"
    with pytest.raises(ExpressionError, match=r"line 1: .*gone"):
        compile_template("{{ a.gone }}").evaluate(table({"a": {}}))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a {{ n }} {b}\n", "a 3 {b}"),
        ("{{ n }}{{ n }}\n\n", "33\n"),
        ("{ {{ s }}\r\n", "{ <x>"),
        ("{{ n }}\n", "3"),
    ],
)
def test_texts_around_expressions(table, source, expected):
    names = table({"n": 3, "s": "<x>"})
    assert compile_template(source).evaluate(names) == expected
    assert compile_template("{# a statement #}" + source).evaluate(names) == expected


def test_a_text_that_would_be_too_long_is_not_made(table):
    names = table({"a": "x" * 1_000_000})
    with pytest.raises(ExpressionError, match="would be longer"):
        compile_template("{{ a }}" * 3000).evaluate(names)


def test_one_template_many_renderings(table):
    compiled = compile_template("{% for x in xs %}{{ x }}{% endfor %}")
    assert [compiled.evaluate(table({"xs": xs})) for xs in ([1], [], [2, 3])] == ["1", "", "23"]
