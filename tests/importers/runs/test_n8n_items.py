"""Runs of n8n workflows about items: what the rules of the original give, worked out by hand."""

from __future__ import annotations

from tests.importers.n8n_files import called, node, set_, workflow
from tests.importers.running import workshop

SPLIT = node("Split", "splitOut", 1, fieldToSplitOut="list")


async def test_without_a_way_back_only_the_first_batch_is_worked_on() -> None:
    text = workflow(
        [called("list"), SPLIT, node("Batch", "splitInBatches", 3), set_("Say", text="={{ 'n' + $json.list }}")],
        "Go -> Split", "Split -> Batch", "Batch.1 -> Say",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"list": [7, 8, 9]}) == {"result": {"text": "n7"}}


async def test_batches_of_the_older_form_come_first() -> None:
    text = workflow(
        [called("list"), SPLIT, node("Batch", "splitInBatches", 1, batchSize=2), set_("Say", n=("number", "={{ $json.list * 2 }}"))],
        "Go -> Split", "Split -> Batch", "Batch.0 -> Say",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"list": [7, 8, 9]}) == {"result": [{"n": 14}, {"n": 16}]}


async def test_json_with_braces_inside_its_expressions() -> None:
    made = node(
        "Raw",
        "set",
        3.4,
        mode="raw",
        jsonOutput='={"all": {{ JSON.stringify($json.a || {"b": {"c": 1}}) }}, "n": 2}',
    )
    async with workshop() as shop:
        assert await shop.run(workflow([called("a"), made], "Go -> Raw"), {"a": {"x": 5}}) == {"result": {"all": {"x": 5}, "n": 2}}  # fmt: skip


async def test_a_page_is_made_of_its_template() -> None:
    page = node("Page", "html", 1.2, html="<h1>{{ $json.a.toUpperCase() }}</h1>\n<p>{{ $json.b }}</p>")
    async with workshop() as shop:
        assert await shop.run(workflow([called("a", "b"), page], "Go -> Page"), {"a": "hi", "b": 3}) == {"result": {"html": "<h1>HI</h1>\n<p>3</p>"}}  # fmt: skip


async def test_fields_are_named_by_paths() -> None:
    gather = node("Gather", "aggregate", 1, fieldsToAggregate={"fieldToAggregate": [{"fieldToAggregate": "v[0].id", "renameField": True, "outputFieldName": "=ids"}]})  # fmt: skip
    text = workflow([called("list"), SPLIT, gather], "Go -> Split", "Split -> Gather")
    async with workshop() as shop:
        given = [{"v": [{"id": 1}, {"id": 9}]}, {"v": [{"id": 2}]}, {"v": []}]
        assert await shop.run(text, {"list": given}) == {"result": {"ids": [1, 2]}}
