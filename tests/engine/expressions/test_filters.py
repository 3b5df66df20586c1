from __future__ import annotations

import hashlib

import pytest

from interlace.engine.expressions import ExpressionError
from interlace.engine.expressions.filters.registry import FILTERS
from interlace.engine.expressions.infer_filters import INPUTS, RESULTS, RESULTS_BY_INPUT

ROWS = [
    {"n": 3, "s": "b", "tag": {"k": "x"}},
    {"n": "1", "s": "A", "tag": {"k": "y"}},
    {"n": 2, "s": "c", "tag": {"k": "x"}},
]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'aé' | upper", "AÉ"),
        ("'AB' | lower", "ab"),
        ("' a ' | trim", "a"),
        ("'xxax' | trim('x')", "a"),
        ("1.5 | string", "1.5"),
        ("[1] | string", "[1]"),
        ("none | string", ""),
        ("'aXbX' | replace('X', '-')", "a-b-"),
        ("'aXbX' | replace('X', '-', 1)", "a-bX"),
        ("'a, b' | split(', ')", ["a", "b"]),
        ("' a  b ' | split", ["a", "b"]),
        ("'a-b-c' | split('-', 1)", ["a", "b-c"]),
        ("'hello world' | truncate(6)", "hello…"),
        ("'hello world' | truncate(8, false)", "hello…"),
        ("'hello' | truncate(5)", "hello"),
        ("'hello world' | truncate(7, end='..')", "hello.."),
        ("'a' | center(3)", " a "),
        ("'Grüße aus  Tokyo 東京!' | slugify", "gruße-aus-tokyo-東京"),
        ("'a b  c' | wordcount", 3),
        ("'<a>' | escape", "&lt;a&gt;"),
        ("'a b/é' | urlencode", "a%20b/%C3%A9"),
        ("{'q': 'a b', 'n': 1} | urlencode", "q=a%20b&n=1"),
        ("'abc' | hash", hashlib.sha256(b"abc").hexdigest()),
        ("'abc' | hash('md5')", hashlib.md5(b"abc").hexdigest()),
        ("'abc' | hash('SHA-512')", hashlib.sha512(b"abc").hexdigest()),
        ("'é' | b64encode", "w6k="),
        ("'w6k' | b64decode", "é"),
        ("'??>' | b64encode(urlsafe=true)", "Pz8-"),
        ("'hello world' | title", "Hello World"),
        ("'hello' | capitalize", "Hello"),
        ("'a\nb' | indent(2)", "a\n  b"),
        ("'a\nb' | lines", ["a", "b"]),
        ("'<b>x</b>' | striptags", "x"),
        ("'abc' | reverse", "cba"),
        ("'abc' | list", ["a", "b", "c"]),
        ("'abc' | length", 3),
        ("true | upper", "TRUE"),
    ],
)
def test_text(value, source, expected):
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'12' | number", 12),
        ("' 1.50 ' | number", 1.5),
        ("'x' | number(0)", 0),
        ("none | number(0)", 0),
        ("'3.9' | int", 3),
        ("-3.9 | int", -3),
        ("'ff' | int(base=16)", 255),
        ("'zz' | int(-1, 16)", -1),
        ("true | int", 1),
        ("'x' | int(0)", 0),
        ("2 | float", 2.0),
        ("'x' | float(0.5)", 0.5),
        ("-2 | abs", 2),
        ("2.5 | round", 3.0),
        ("-2.5 | round", -3.0),
        ("2.675 | round(2)", 2.68),
        ("7 | round", 7),
        ("1234 | round(-2)", 1200),
        ("2.1 | round(0, 'ceil')", 3.0),
        ("2.9 | round(method='floor')", 2.0),
        ("2.1 | ceil", 3),
        ("2.9 | floor", 2),
        ("1234.5 | number_format", "1,234.50"),
        ("1234567 | number_format(0, '.')", "1.234.567"),
        ("1234.5 | number_format(1, '.', ',')", "1.234,5"),
        ("'' | bool", False),
        ("123456789 | filesizeformat", "123.5 MB"),
        ("1048576 | filesizeformat(true)", "1.0 MiB"),
        ("'one two three' | wordwrap(8)", "one two\nthree"),
        ("'one two three' | wordwrap(8, wrapstring='/')", "one two/three"),
        ("[1, 2, 3] | batch(2, 0)", [[1, 2], [3, 0]]),
        ("[1, 2, 3] | slice(2, 0)", [[1, 2], [3, 0]]),
    ],
)
def test_numbers(value, source, expected):
    found = value(source)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("rows | length", 3),
        ("rows | count", 3),
        ("rows | map(attribute='s') | join(', ')", "b, A, c"),
        ("rows | join('', attribute='s')", "bAc"),
        ("rows | map(attribute='tag.k') | list", ["x", "y", "x"]),
        ("rows | map(attribute='zz', default=0)", [0, 0, 0]),
        ("['a'] | map('upper')", ["A"]),
        ("['a-b'] | map('replace', '-', '+')", ["a+b"]),
        ("rows | sum(attribute='n')", 6),
        ("[1, '2', 3.5] | sum", 6.5),
        ("[] | sum", 0),
        ("[1, 2] | avg", 1.5),
        ("[] | avg", None),
        ("[3, '10', 2] | max", "10"),
        ("[3, 1, 2] | min", 1),
        ("[] | min", None),
        ("(rows | max(attribute='n')).s", "b"),
        ("['b', 'A', 'c'] | sort", ["A", "b", "c"]),
        ("['b', 'A', 'c'] | sort(case_sensitive=true)", ["A", "b", "c"]),
        ("['b', 'A', 'c'] | sort(reverse=true)", ["c", "b", "A"]),
        ("['10', '9'] | sort", ["9", "10"]),
        ("['10', '9', 'x'] | sort", ["10", "9", "x"]),
        ("[2, none, 'a', '1', true] | sort", [None, True, "1", 2, "a"]),
        ("rows | sort(attribute='n') | map(attribute='s')", ["A", "c", "b"]),
        ("[1, '1', 1, 'a', 'A'] | unique", [1, "1", "a", "A"]),
        ("['a', 'A'] | unique(false)", ["a"]),
        ("[{'a': 1}, {'a': 1}] | unique | length", 1),
        ("rows | unique(attribute='tag.k') | length", 2),
        ("rows | groupby('tag.k') | map('first')", ["x", "y"]),
        ("(rows | groupby('tag.k'))[0][1] | length", 2),
        ("[1, 2] | first", 1),
        ("[1, 2] | last", 2),
        ("[1, 2] | reverse", [2, 1]),
        ("[1, [2, [3]]] | flatten", [1, 2, [3]]),
        ("[1, [2, [3]]] | flatten(5)", [1, 2, 3]),
        ("[1, none, '', 0] | compact", [1, 0]),
        ("[1, '2'] | index_of(2)", 1),
        ("[1] | index_of(5)", None),
        ("{'a': 1} | items", [["a", 1]]),
        ("{'a': 1} | keys", ["a"]),
        ("{'a': 1} | values", [1]),
        ("{'a': 1, 'b': 1} | combine({'b': 2}, {'c': 3})", {"a": 1, "b": 2, "c": 3}),
        ("{'a': 1} | attr('a')", 1),
        ("rows | selectattr('n', '>', 1) | map(attribute='n')", [3, 2]),
        ("rows | selectattr('n', 'eq', 1) | length", 1),
        ("rows | selectattr('zz') | length", 0),
        ("rows | selectattr('zz', 'undefined') | length", 3),
        ("rows | rejectattr('s', 'in', ['b']) | length", 2),
        ("[0, 1, ''] | select", [1]),
        ("[1, 2, 3] | select('odd')", [1, 3]),
        ("[1, 2, 3] | reject('gt', 1)", [1]),
        ("[1, 2, 3] | batch(2)", [[1, 2], [3]]),
        ("[1, 2, 3] | slice(2)", [[1, 2], [3]]),
        ("{'b': 1, 'a': 2} | dictsort", [["a", 2], ["b", 1]]),
        ("[1, 2] | zip(['a', 'b'])", [[1, "a"], [2, "b"]]),
        ("[1, 2][5:] | first | default('none')", "none"),
    ],
)
def test_lists_and_mappings(value, source, expected):
    found = value(source, rows=ROWS)
    assert found == expected
    if isinstance(expected, list):
        assert [type(item) for item in found] == [type(item) for item in expected]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{'b': [1, 'é'], 'a': none} | tojson", '{"b":[1,"é"],"a":null}'),
        ("{'b': 1, 'a': 2} | tojson(sort_keys=true)", '{"a":2,"b":1}'),
        ("[1] | tojson(indent=2)", "[\n  1\n]"),
        ("'x' | tojson", '"x"'),
        ("('[1, {\"a\": 2.0}]' | fromjson)[1].a", 2.0),
        ("'ab12' | regex_match('[a-z]+[0-9]+')", True),
        ("'ab12!' | regex_match('[a-z]+[0-9]+')", False),
        ("'AB' | regex_match('ab', ignore_case=true)", True),
        ("'order 123 of 456' | regex_search('[0-9]+')", "123"),
        ("'order 123' | regex_search('order ([0-9]+)')", "123"),
        ("'k=v' | regex_search('(\\w)=(\\w)', 2)", "v"),
        ("'k=v' | regex_search('(?P<key>\\w)=', 'key')", "k"),
        ("'x' | regex_search('[0-9]')", None),
        ("'a1b22' | regex_findall('[0-9]+')", ["1", "22"]),
        ("'a=1,b=2' | regex_findall('(\\w)=(\\w)')", [["a", "1"], ["b", "2"]]),
        ("'日本 123' | regex_findall('\\p{Han}')", ["日", "本"]),
        ("'a1b22' | regex_replace('[0-9]+', '#')", "a#b#"),
        ("'john doe' | regex_replace('(\\w+) (\\w+)', '\\2 \\1')", "doe john"),
        ("'ab' | regex_replace('', '-')", "-a-b-"),
        ("'aaa' | regex_replace('a', 'b', 2)", "bba"),
        ("'a' | regex_replace('(?P<x>a)', '\\g<x>\\\\')", "a\\"),
        ("{'a': [{'b': 1}, {'b': 2}]} | jmespath('a[?b > `1`].b | [0]')", 2),
        ("{'a': 1} | jmespath('zz')", None),
    ],
)
def test_data(value, source, expected):
    assert value(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "none | upper",
        "[1] | trim",
        "{} | replace('a', 'b')",
        "'a' | split('')",
        "'a' | truncate('x')",
        "'x' | number",
        "true | number",
        "'x' | int",
        "1 | round(0, 'up')",
        "none | length",
        "5 | first",
        "none | join",
        "['x'] | sum",
        "[none] | sum",
        "[{'a': 1}] | sum(attribute='b')",
        "[{'a': 1}] | map(attribute='b')",
        "[1] | map",
        "[1, 'a'] | max",
        "[1] | select('gt')",
        "5 | items",
        "{} | combine(5)",
        "'{' | fromjson",
        "'a' | regex_match('(')",
        "'a' | regex_match('(a)\\1')",
        "'a' | regex_search('a', 3)",
        "'a' | regex_replace('a', '\\3')",
        "'a' | jmespath('[')",
        "'a' | jmespath('abs(@)')",
        "'a' | hash('crc')",
        "'!!!' | b64decode",
        "'_w==' | b64decode",
        "'x' | to_datetime",
        "'2026-13-01' | date",
        "true | timestamp",
        "'2026-01-01' | to_tz('Mars/Phobos')",
        "'2026-01-01' | to_tz('../../etc/passwd')",
        "'2026-01-01' | add_time(days='x')",
        "'9999-12-31' | add_time(days=1)",
        "'9999-12-31' | add_time(months=1)",
        "'2026-01-01' | date_diff('2025-01-01', 'fortnights')",
        "[1] | batch(0)",
        "range(1, 2, 0)",
        "range('x')",
    ],
)
def test_what_a_filter_cannot_take_is_an_error(value, source):
    with pytest.raises(ExpressionError) as caught:
        value(source)
    assert not caught.value.retryable


def test_every_filter_has_a_result_type():
    known = {*RESULTS, *RESULTS_BY_INPUT, "default", "map"}
    assert set(FILTERS) - known == set()
    assert set(INPUTS) - set(FILTERS) == set()


def test_every_filter_says_what_it_does():
    assert [name for name, spec in FILTERS.items() if not spec.function.__doc__] == []
