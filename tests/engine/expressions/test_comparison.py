from __future__ import annotations

import pytest

from interlace.engine.expressions import ExpressionError, Missing


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("123", 123, True),
        ("123.0", 123, True),
        (" 7 ", 7, True),
        ("007", 7, True),
        ("1e2", 100, True),
        ("abc", 1, False),
        ("", 0, False),
        ("1_000", 1000, False),
        ("nan", 1, False),
        ("٣", 3, False),
        (1, 1.0, True),
        (9007199254740993, 9007199254740992.0, False),
        (True, True, True),
        (True, 1, False),
        (0, False, False),
        (True, "true", True),
        (False, "false", True),
        (True, "false", False),
        (True, "True", False),
        ("true", "true", True),
        ("1.0", "1", False),
        (None, None, True),
        (None, 0, False),
        (None, "", False),
        ([1, "2"], ["1", 2], True),
        ([1], [True], False),
        ([1], [1, 2], False),
        ({"a": 1}, {"a": "1"}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, [1], False),
        ([], {}, False),
        ("a", ["a"], False),
    ],
)
def test_equality_never_fails_and_reads_numeric_text_beside_a_number(value, left, right, same):
    assert value("a == b", a=left, b=right) is same
    assert value("b == a", a=left, b=right) is same
    assert value("a != b", a=left, b=right) is not same


def test_missing_equals_null_and_nothing_else(value):
    assert value("a == none") is True
    assert value("none == a.b.c") is True
    assert value("a != none") is False
    assert value("a == b") is True
    for other in (0, "", False, [], {}):
        assert value("a == x", x=other) is False


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("2 < 10", True),
        ("'2' < 10", True),
        ("2 < '10'", True),
        ("'2' < '10'", True),
        ("'1e1' >= 10", True),
        ("'b' > 'a'", True),
        ("'10' < 'a'", True),
        ("'Z' < 'a'", True),
        ("'2' < '10x'", False),
        ("'2026-01-02' > '2026-01-01'", True),
        ("'2026-01-01T10:00:00+09:00' < '2026-01-01T02:00:00Z'", True),
        ("'2026-01-01' < '2026-01-01T00:00:01'", True),
        ("'2026-01-01T10:00' <= '2026-01-01 10:00'", True),
        ("1.5 >= 1", True),
        ("1 <= 1 < 2", True),
    ],
)
def test_order_is_numeric_lexical_or_by_date(value, source, expected):
    assert value(source) is expected


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(
    ("left", "right", "kinds"),
    [
        (None, 1, ("null", "number")),
        (1, None, ("number", "null")),
        ("abc", 1, ("text", "number")),
        (1, "", ("number", "text")),
        ([1], [2], ("list", "list")),
        ({}, 1, ("mapping", "number")),
        (True, 1, ("boolean", "number")),
        (True, False, ("boolean", "boolean")),
        ("a", None, ("text", "null")),
    ],
)
def test_any_other_order_is_an_error_that_names_both_kinds(value, symbol, left, right, kinds):
    with pytest.raises(ExpressionError) as caught:
        value(f"a {symbol} b", a=left, b=right)
    message = str(caught.value)
    assert kinds[0] in message.split(symbol, maxsplit=1)[0]
    assert kinds[1] in message.split(symbol, 1)[1]
    assert caught.value.kind == "bad_comparison"
    assert not caught.value.retryable


def test_order_with_a_missing_value_names_the_reference(value):
    with pytest.raises(ExpressionError, match=r"`ask\.n` is missing as a side of '>': ask was skipped"):
        value("ask.n > 1", ask=Missing("ask was skipped: edge size.large not taken"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'b' in 'abc'", True),
        ("'' in 'abc'", True),
        ("5 in 'a5'", True),
        ("'5' in [5]", True),
        ("5 in ['5']", True),
        ("1 in [true]", False),
        ("none in [none]", True),
        ("'a' in {'a': none}", True),
        ("404 in {'404': 1}", True),
        ("'x' not in 'abc'", True),
        ("[1] in [[1], 2]", True),
    ],
)
def test_in(value, source, expected):
    assert value(source) is expected


@pytest.mark.parametrize(
    "source", ["1 in 5", "'a' in none", "none in 'a'", "[1] in 'a'", "x in [1]", "1 in x"]
)
def test_in_what_holds_nothing_is_an_error(value, source):
    with pytest.raises(ExpressionError, match=r"look for|missing"):
        value(source)


@pytest.mark.parametrize("empty", [None, "", [], {}, Missing("gone")])
def test_empty_and_not_empty_are_complements_for_what_is_empty(value, empty):
    assert value("a is empty", a=empty) is True
    assert value("a is not empty", a=empty) is False


@pytest.mark.parametrize("full", [0, 0.0, False, True, " ", "x", [None], {"a": None}])
def test_zero_and_false_are_not_empty(value, full):
    assert value("a is empty", a=full) is False
    assert value("a is not empty", a=full) is True


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 is number", True),
        ("true is number", False),
        ("'1' is number", False),
        ("'1' is numeric", True),
        ("1.5 is integer", False),
        ("1 is integer", True),
        ("1.0 is float", True),
        ("'a' is string", True),
        ("{} is mapping", True),
        ("[] is sequence", True),
        ("none is none", True),
        ("x is none", True),
        ("x is defined", False),
        ("none is defined", True),
        ("x is undefined", True),
        ("x is string", False),
        ("true is true", True),
        ("1 is true", False),
        ("false is false", True),
        ("true is boolean", True),
        ("'abc' is startingwith 'a'", True),
        ("'abc' is endingwith('b')", False),
        ("'abc' is containing 'b'", True),
        ("'a1' is matching '[0-9]'", True),
        ("'a1' is fullmatching '[0-9]'", False),
        ("'5' is eq 5", True),
        ("5 is gt 4", True),
        ("4 is even", True),
        ("'2026-01-01' is date", True),
        ("'soon' is date", False),
        ("'A' is upper", True),
        ("1 is sameas 1.0", False),
    ],
)
def test_tests(value, source, expected):
    assert value(source) is expected


@pytest.mark.parametrize(
    "source", ["'a' is even", "x is odd", "5 is divisibleby 0", "x is gt 1", "'a' is startingwith 1"]
)
def test_tests_that_cannot_answer_are_errors(value, source):
    with pytest.raises(ExpressionError):
        value(source)
