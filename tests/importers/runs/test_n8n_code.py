"""JavaScript of n8n's code nodes, run: as expressions, as Python, or as a placeholder that says so."""

from __future__ import annotations

from tests.importers.n8n_files import (
    called,
    manual,
    node,
    python,
    set_,
    workflow,
)
from tests.importers.running import workshop

THREE = python("Three", "return [{'json': {'n': i, 'kind': 'odd' if i % 2 else 'even'}} for i in (1, 2, 3)]")


async def test_javascript_fails_and_says_so() -> None:
    text = workflow(
        [
            manual(),
            node(
                "JS",
                "code",
                2,
                jsCode="const r = await this.helpers.httpRequest({ url: 'http://x' });\nreturn [{ json: r }]",
            ),
        ],
        "Go -> JS",
    )
    async with workshop() as shop:
        ended = await shop.result(text)
        assert ended.status == "failed"
        assert ended.error is not None
        assert "'JS' was not carried over: it is written in JavaScript" in ended.error["message"]


async def test_javascript_becomes_python() -> None:
    """Totals by country: DE 3 + 4, FR 5; the second program drops what is under 6 and keeps the sender's name."""
    total = "const sums = {};\nfor (const { json } of $input.all()) { sums[json.country] = (sums[json.country] ?? 0) + json.n }\nreturn Object.entries(sums).map(([country, n]) => ({ json: { country, n } }))"
    keep = "if ($json.n < 6) return null;\nreturn { json: { ...$json, by: $('Go').item.json.who, all: $('Total').all().length } }"
    rows = (
        "return [{json: {country: 'DE', n: 3}}, {json: {country: 'FR', n: 5}}, {json: {country: 'DE', n: 4}}]"
    )
    text = workflow(
        [called("who"), node("Rows", "code", 2, jsCode=rows), node("Total", "code", 2, jsCode=total), node("Keep", "code", 2, mode="runOnceForEachItem", jsCode=keep)],
        "Go -> Rows", "Rows -> Total", "Total -> Keep",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"who": "Ada"}) == {
            "result": [{"country": "DE", "n": 7, "by": "Ada", "all": 2}]
        }


async def test_javascript_that_gives_one_item() -> None:
    check = "const b = $input.first().json;\nif (!b.url) throw new Error('URL is required.');\nreturn [{ json: { url: b.url.trim(), n: b.n || 3 } }];"
    text = workflow([called("url", "n"), node("Check", "code", 2, jsCode=check), set_("Out", v="={{ $json.url + ' x' + $json.n }}")], "Go -> Check", "Check -> Out")  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"url": " http://x "}) == {"result": {"v": "http://x x3"}}
        ended = await shop.result(text, {"url": ""})
        assert ended.error is not None
        assert (ended.error["type"], "URL is required." in ended.error["message"]) == ("Error", True)


async def test_javascript_that_only_names_and_returns_becomes_expressions() -> None:
    one = node(
        "One",
        "code",
        2,
        jsCode="// first\nconst first = $input.first().json;\nconst words = first.text.split(' ');\nreturn [{ json: { n: words.length, last: words[words.length - 1] ?? '', ...first } }];",
    )
    each = node(
        "Each",
        "code",
        2,
        jsCode="return $input.all().map((item, i) => ({ json: { no: i + 1, said: `${item.json.last}!` } }))",
    )
    text = workflow([called("text"), one, each], "Go -> One", "One -> Each")
    async with workshop() as shop:
        assert await shop.run(text, {"text": "to be done"}) == {"result": [{"no": 1, "said": "done!"}]}
