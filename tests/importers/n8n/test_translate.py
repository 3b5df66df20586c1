"""n8n's expressions: what they become, and that it evaluates to what JavaScript gives."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.expressions import Missing, compile_expression
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.translate import translate
from interlace.importers.n8n.values import NotTranslated, Value, several, single

ITEM = {
    "name": " Ada ", "n": 7, "price": "12.50", "tags": ["red", "blue", "red"], "when": "2026-03-05T08:09:10Z", "url": "https://x.org/a/b", "none": None,
    "list": [{"k": "a", "v": 1}, {"k": "b", "v": 5}], "json": '{"deep": [1, {"x": 2}]}', "key with space": 1, "html": "<b>hi</b>",
}  # fmt: skip


class Names:
    def lookup(self, root: str) -> object:
        known: dict[str, Any] = {"item": ITEM, "index": 1, "src": {"items": [{"id": 0}, ITEM]}, "one": {"result": {"x": 5}}, "env": {"A": "setting"},
                                 "run": {"id": "r1", "trigger": "manual", "started_at": 0}}  # fmt: skip
        return known.get(root, Missing(root))


SCOPE = Scope(
    items=Value("src.items", "items"), item=Value("item"), index="index", workflow="Flow", aligned=frozenset({"Many"}),
    nodes={"One": single(Value("one.result")), "Many": several("src.items"), "Lost": several("src.items")},
)  # fmt: skip


@pytest.mark.parametrize(
    ("source", "code", "value"),
    [
        ("$json.n", "item.n", 7),
        ('$json["key with space"]', "item['key with space']", 1),
        ("$json.name.trim().toUpperCase()", "item.name | trim | upper", "ADA"),
        ("$json.n + 1", "item.n + 1", 8),
        ("'n=' + $json.n", "'n=' ~ item.n", "n=7"),
        ("`${$json.n} of ${$json.tags.length}`", "item.n ~ ' of ' ~ item.tags | length", "7 of 3"),
        ("$json.n > 5 ? 'big' : 'small'", "'big' if item.n > 5 else 'small'", "big"),
        ("$json.none?.deep ?? 'x'", "item.none.deep | default('x')", "x"),
        ("$json.missing || 'x'", "item.missing or 'x'", "x"),
        ("!$json.missing && $json.n !== 8", "not item.missing and item.n != 8", True),
        ("$json.tags.join(', ')", "item.tags | join(', ')", "red, blue, red"),
        ("$json.tags[0].slice(1)", "item.tags[0][1:]", "ed"),
        ("$json.tags.includes('blue')", "'blue' in item.tags", True),
        ("$json.tags.filter(t => t !== 'red').length", "item.tags | select('ne', 'red') | length", 1),
        ("$json.list.map(x => x.k)", "item.list | map(attribute='k')", ["a", "b"]),
        ("$json.list.find(x => x.k === 'b').v", "(item.list | selectattr('k', 'eq', 'b') | first | default(none)).v", 5),
        ("$json.list.some(x => x.v > 4)", "item.list | selectattr('v', 'gt', 4) | length > 0", True),
        ("$json.list.every(x => x.v > 4)", "item.list | rejectattr('v', 'gt', 4) | length == 0", False),
        ("$json.list.reduce((sum, x) => sum + x.v, 0)", "item.list | sum(attribute='v')", 6),
        ("$json.list.sort((a, b) => b.v - a.v)[0].k", "(item.list | sort(attribute='v', reverse=true))[0].k", "b"),
        ("[...new Date().toISO() ? [1] : [], 2].length", "(([1] if now() else []) + [2]) | length", 2),
        ("parseFloat($json.price).toFixed(1)", "item.price | float | number_format(1, '')", "12.5"),
        ("Math.round($json.n / 2)", "(item.n / 2) | round", 4.0),
        ("JSON.parse($json.json).deep[1].x", "(item.json | fromjson).deep[1].x", 2),
        ("JSON.stringify({ a: $json.n })", "{'a': item.n} | tojson", '{"a":7}'),
        ("Object.keys($json.list[0])", "item.list[0] | keys", ["k", "v"]),
        ("$json.url.split('/')[2]", "(item.url | split('/'))[2]", "x.org"),
        ("$json.url.replace(/^https:/, 'http:')", "item.url | regex_replace('^https:', 'http:')", "http://x.org/a/b"),
        ("$json.url.match(/x\\.(\\w+)/)[1]", "item.url | regex_search('x\\\\.(\\\\w+)', 1)", "org"),
        ("/org/.test($json.url)", "item.url is matching('org')", True),
        ("typeof $json.n === 'number'", "item.n is number", True),
        ("Array.isArray($json.tags)", "item.tags is sequence", True),
        ("encodeURIComponent($json.url)", "item.url | urlencode", "https%3A//x.org/a/b"),
        ("DateTime.fromISO($json.when).plus({ days: 1 }).toFormat('dd.MM.yyyy')", "item.when | to_datetime | add_time(days=1) | format_date('%d.%m.%Y')", "06.03.2026"),
        ("$json.when.toDateTime().year", "item.when | to_datetime | format_date('%Y') | int", 2026),
        ("$now.minus(2, 'hours') < $now", "now() | add_time(hours=-2) < now()", True),
        ("$('One').item.json.x", "one.result.x", 5),
        ("$node['One'].json.x", "one.result.x", 5),
        ("$('Many').item.json.n", "src.items[index].n", 7),
        ("$('Many').first().json.id", "(src.items | first).id", 0),
        ("$('Many').all()[1].json.n", "src.items[1].n", 7),
        ("$('Many').all().map(i => i.json.id)", None, None),
        ("$input.all().length", "src.items | length", 2),
        ("$items('Many')[0].json.id", "src.items[0].id", 0),
        ("$itemIndex", "index", 1),
        ("$env.A + '!'", None, "setting!"),
        ("$if($json.n == 7, 'y', 'n')", "'y' if item.n == 7 else 'n'", "y"),
        ("$ifEmpty($json.none, 'z')", "item.none if item.none is not empty else 'z'", "z"),
        ("$json.tags.unique().isNotEmpty()", "item.tags | unique is not empty", True),
        ("$workflow.name", "'Flow'", "Flow"),
        ("$execution.id", "run.id", "r1"),
        ("$json.html.removeTags()", "item.html | striptags", "hi"),
        ("({ ...$json.list[0], v: 9 }).v", "9", 9),
        ("[1, 2, 3].sum() % 4", "[1, 2, 3] | sum % 4", 2),
    ],
)  # fmt: skip
def test_expressions(source: str, code: str | None, value: Any) -> None:
    made = translate(source, SCOPE)
    if code is not None:
        assert made.code == code
    if value is not None:
        assert compile_expression(made.code).evaluate(Names()) == value


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("$json.a.localeCompare('b')", "the method 'localeCompare'"),
        ("$json.list.map(x => x.v * 2)", "a function that computes with each entry"),
        ("$json.list.forEach(x => { console.log(x) })", "a function with statements"),
        ("fetch('http://x')", "the function 'fetch'"),
        ("const a = 1", "the statement 'const'"),
        ("$json.a +", "'the end' is not expected here"),
        ("$('Lost').item.json.x", "which item of 'Lost' belongs to the current one"),
        ("$('Gone').item.json.x", "the node 'Gone' cannot be read here"),
        ("new Map()", "`new` of anything but a date"),
        ("$binary.data", "the name '$binary'"),
        ("'x'.replace(/a/, 'b')", "the method 'replace' with these arguments"),
        ("`${$json.a", "is not closed"),
        ("'abc", "a text is not closed"),
        ("[" * 200 + "]" * 200, "nested too deep"),
    ],
)
def test_what_has_no_counterpart_is_said(source: str, why: str) -> None:
    with pytest.raises(
        NotTranslated, match="(?s)" + "".join(f"\\{c}" if c in "()[]{}$`.+*?" else c for c in why)
    ):
        translate(source, SCOPE)
