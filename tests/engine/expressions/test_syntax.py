from __future__ import annotations

import pytest

from interlace.engine.expressions import SyntaxProblem, compile_expression, compile_text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1", 1),
        ("1_000", 1000),
        ("007", 7),
        ("0x1f", 31),
        ("0b101", 5),
        ("1.50", 1.5),
        ("2e3", 2000.0),
        ("-3", -3),
        ("- 3", -3),
        ("'a\\n\\'b\\''", "a\n'b'"),
        ('"\\u65e5\\x41"', "日A"),
        ("'\\ud83d\\ude00'", "😀"),
        ("'\\d+'", "\\d+"),
        ("'a' 'b'", "ab"),
        ("true", True),
        ("False", False),
        ("none", None),
        ("[1, 'a', [none]]", [1, "a", [None]]),
        ("(1, 2)", [1, 2]),
        ("()", []),
        ("(1)", 1),
        ("[1, 2,]", [1, 2]),
        ("{'a': 1, 'b': {'c': [2]}}", {"a": 1, "b": {"c": [2]}}),
        ("{1: 2}", {"1": 2}),
    ],
)
def test_literals(value, source, expected):
    found = value(source)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("7 % -3", -2),
        ("7 / 2", 3.5),
        ("6 / 2", 3.0),
        ("2 ** 3 ** 2", 64),
        ("-2 ** 2", 4),
        ("1 ~ 2 ~ 'x'", "12x"),
        ("'n' ~ 2 * 3", "n6"),
        ("'a' + 'b'", "ab"),
        ("[1] + [2]", [1, 2]),
        ("'ab' * 2", "abab"),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("3 > 2 == 2", True),
        ("not 1 == 2", True),
        ("not false and false", False),
        ("true or false and false", True),
        ("1 in [1, 2] and 3 not in [1]", True),
        ("not 1 in [1]", False),
        ("1 if true else 2", 1),
        ("1 if false else 2 if false else 3", 3),
        ("-5 | abs", 5),
        ("-5 | abs + 1", 6),
        ("5 is odd and not 4 is odd", True),
        ("6 is divisibleby 3", True),
        ("6 is divisibleby(4)", False),
        ("1 is not string", True),
        ("3 is in [1, 3]", True),
        ("'a' ~ 'b' is string", "atrue"),
        ("[1, 2, 3][1:]", [2, 3]),
        ("'hello'[-3:]", "llo"),
        ("'hello'[::-1]", "olleh"),
        ("[1, 2, 3, 4][1:-1]", [2, 3]),
        ("{'a': 1}.a", 1),
        ("{'a': 1}['a']", 1),
        ("[[1, 2]][0][-1]", 2),
        ("dict(a=1, b='x')", {"a": 1, "b": "x"}),
        ("range(3)", [0, 1, 2]),
        ("range(1, 6, 2)", [1, 3, 5]),
        ("1 == 1 ~ ''", True),
    ],
)
def test_operators_have_jinjas_precedence(value, source, expected):
    found = value(source)
    assert found == expected
    assert type(found) is type(expected)


def test_and_or_give_an_operand(value):
    assert value("0 or 'x'") == "x"
    assert value("'a' and 'b'") == "b"
    assert value("'' and 1") == ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a.b.c", 1),
        ("a['b'].c", 1),
        ("a.b['x-y']", 2),
        ("a.b['件名']", 3),
        ("a.b.件名", 3),
        ("a.list[0]", 10),
        ("a.list[-1]", 30),
        ("a.list.1", 20),
        ("a.list[i]", 20),
        ("a.list[i + 1]", 30),
        ("a.list[1:3]", [20, 30]),
        ("a.list[-2:]", [20, 30]),
        ("a.list[:i]", [10]),
        ("a[k].c", 1),
        ("a.items", "data, not a method"),
        ("a.in", "a word"),
        ("a.codes[404]", "not found"),
        ("a.codes['404']", "not found"),
        ("a .b . c", 1),
    ],
)
def test_paths(value, source, expected):
    data = {
        "b": {"c": 1, "x-y": 2, "件名": 3},
        "list": [10, 20, 30],
        "items": "data, not a method",
        "in": "a word",
        "codes": {"404": "not found"},
    }
    assert value(source, a=data, i=1, k="b") == expected


def test_pure_reference_gives_the_very_same_object(text):
    body = "x" * 20_000_000
    rows = [{"a": 1}]
    assert text("{{ fetch.body }}", fetch={"body": body}) is body
    assert text("{{ fetch.rows }}", fetch={"rows": rows}) is rows
    assert text("{{ fetch }}", fetch=rows) is rows


@pytest.mark.parametrize(
    ("source", "position", "part"),
    [
        ("", 0, "empty"),
        ("   ", 3, "empty"),
        ("1 +", 3, "ends too early"),
        ("a b", 2, "unexpected 'b'"),
        ("a = b", 2, "write '=='"),
        ("a || b", 3, "write 'or'"),
        ("a && b", 2, "write 'and'"),
        ("!a", 0, "write 'not'"),
        ("$json.x", 0, "without '$'"),
        ("'abc", 0, "not closed"),
        ("(a", 2, "expected ')'"),
        ("[1, 2", 5, "expected ']'"),
        ("{'a' 1}", 5, "expected ':'"),
        ("{[1]: 2}", 1, "key must be text"),
        ("a.", 2, "field's name"),
        ("a.b-c.", 6, "field's name"),
        ("a | uper", 4, "did you mean 'upper'?"),
        ("a is defned", 5, "did you mean 'defined'?"),
        ("nov()", 0, "did you mean 'now'?"),
        ("upper(a)", 0, "write `x | upper`"),
        ("a.strip()", 0, "| trim"),
        ("''.format(1)", 0, "methods"),
        ("a | replace('x')", 4, "needs 2"),
        ("a | upper(1)", 4, "at most 0"),
        ("a | truncate(lenght=3)", 4, "did you mean 'length'?"),
        ("a | truncate(3, length=3)", 4, "twice"),
        ("a | map('uper')", 8, "did you mean 'upper'?"),
        ("a | selectattr('n', 'gtt', 1)", 20, "no test 'gtt'"),
        ("f(a=1, 2)", 0, "no function 'f'"),
        ("dict(a=1, 2)", 10, "cannot follow"),
        ("dict(a=1, a=2)", 12, "twice"),
        ("1 + not 2", 4, "unexpected 'not'"),
        ("a not b", 6, "expected 'in'"),
        ("99999999999999999999999", 0, "too large"),
        ("1e999", 0, "too large"),
        ("'\\ud800'", 0, "surrogate"),
        ("random()", 0, "no function"),
        ("a | random", 4, "no filter"),
        ("lipsum(100)", 0, "no function"),
        ("a[", 2, "ends too early"),
        ("a[1", 3, "expected ']'"),
        ("a;b", 1, "not part of the language"),
    ],
)
def test_what_is_not_an_expression_says_where_and_why(source, position, part):
    with pytest.raises(SyntaxProblem) as caught:
        compile_expression(source)
    assert part in str(caught.value)
    assert caught.value.position == position


def test_a_problem_has_line_and_column():
    with pytest.raises(SyntaxProblem) as caught:
        compile_text("first\nsecond {{ a |\n  uper }}")
    assert (caught.value.line, caught.value.column) == (3, 3)
    assert caught.value.kind == "unknown_filter"


@pytest.mark.parametrize("source", ["{{ a", "x {{ a }", "{{ 'a }}", "{{ }}", "{{", "a {{ b }} {{ c"])
def test_braces_that_are_not_closed_are_a_problem(source):
    with pytest.raises(SyntaxProblem):
        compile_text(source)


def test_limits_on_source():
    with pytest.raises(SyntaxProblem, match="at most 8,192"):
        compile_expression("1" + "+1" * 5000)
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_expression("(" * 200 + "1" + ")" * 200)
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_expression("1" + "+1" * 500)
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_expression("not " * 300 + "a")
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_expression("-" * 300 + "a")
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_expression("a" + "|trim" * 200)
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_expression("a" + "[b]" * 200)
    assert compile_expression("a" + " ~ a" * 500).references[0].root == "a"


def test_a_bare_expression_in_braces_is_understood(value):
    assert value("{{ a > 1 }}", a=2) is True
    assert value(" {{ a }} ", a=2) == 2
    assert value("{'x': {'y': a}}", a=2) == {"x": {"y": 2}}
