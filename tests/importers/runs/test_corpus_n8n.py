"""n8n's and FIM One's files of the corpus, run: outputs worked out by hand from the file itself; how stands at each test."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.importers import corpus
from tests.importers.running import workshop
from tests.importers.standin import StandIn

pytestmark = pytest.mark.skipif(not corpus.HERE, reason="the corpus is not here")


def text(number: str, **replaced: str) -> str:
    return corpus.text(corpus.N8N, number, replaced)


async def test_012_batches_until_none_are_left() -> None:
    """Ten items, one a batch; the IF lets only the batch through that leaves none, so the Set runs once."""
    async with workshop() as shop:
        assert await shop.run(text("012")) == {"result": [{"Message": "No Items Left"}]}


async def test_029_a_page_read_by_a_model() -> None:
    """Scripts, styles and tags leave the page, blanks become one; the model's JSON is the response. Without a URL it fails."""
    page = "<html><style>p {}</style><script>let a = 1</script><h1>Valve</h1>\n  <p>9&nbsp;EUR</p></html>"
    with StandIn({"GET /page": page}) as api:
        async with workshop({"text": '{"title": "Valve"}'}) as shop:
            given = {"body": {"url": f"{api.url}/page", "extract_fields": "price"}}
            assert await shop.run(text("029"), given) == {"response": {"title": "Valve"}}
            assert (
                shop.asked()[-1]["content"]
                == f"URL: {api.url}/page\nExtract: price\n\nContent:\nValve 9&nbsp;EUR"
            )
            assert api.requests[0].headers["user-agent"] == "Mozilla/5.0 (compatible; DataForge/1.0)"
            ended = await shop.result(text("029"), {"body": {"name": "x"}})
            assert ended.error is not None
            assert "Invalid input: URL is required." in ended.error["message"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            'Sure: {"route": "sales", "priority": "high", "summary": "Buys"}.',
            {"route": "sales", "priority": "high", "summary": "Buys"},
        ),
        ('{"route": "technical"}', {"route": "technical", "priority": "medium", "summary": ""}),
        ("I do not know", {"route": "general", "priority": "medium", "summary": "Unable to classify"}),
    ],
)
async def test_050_a_router(said: str, expected: dict[str, str]) -> None:
    """The first braces in the answer are read as JSON, each field has a default, and what cannot be read is general."""
    with StandIn({"POST /v1/messages": {"content": [{"text": said}]}}) as api:
        async with workshop() as shop:
            shop.settings["ANTHROPIC_API_KEY"] = "k"
            source = corpus.text(corpus.N8N, "050", {"https://api.anthropic.com": api.url})
            assert await shop.run(source, {"body": {"q": 'a "quote"'}}) == {
                "response": {"received": True, **expected}
            }
        [asked] = api.requests
        assert asked.headers["x-api-key"] == "k"
        assert asked.body["messages"][0]["content"].startswith("Classify this request: ")


async def test_060_a_task_queued() -> None:
    """Settings name the task and the key; the fields of the Set stand in the body, the flag as a flag."""
    with StandIn({"POST /public/v1/tasks/T1/runs": {"id": 7}}) as api:
        async with workshop() as shop:
            shop.settings |= {"KOMOS_TASK_ID": "T1", "KOMOS_API_KEY": "k"}
            [made] = (await shop.run(corpus.text(corpus.N8N, "060", {"https://api.komos.ai": api.url})))[
                "result"
            ]
        [asked] = api.requests
    assert (made["status"], made["komos_response"]) == ("queued", {"id": 7})
    assert asked.headers["authorization"] == "Bearer k"
    assert re.fullmatch(r"n8n-CRA-DEMO-001-\d{13}", asked.body["clientRequestId"])
    assert asked.body["inputs"]["review_required"] is True
    assert asked.body["metadata"]["industry"] == "background_screening"


async def test_065_pages_as_markdown_in_batches() -> None:
    """Two addresses, in one batch of ten: each is asked for, and title, description and content are taken out."""

    def scrape(request: Any) -> Any:
        name = request.body["url"]
        return {
            "data": {
                "metadata": {"title": f"T {name}", "description": "D"},
                "markdown": "# M",
                "links": "none",
            }
        }

    with StandIn({"POST /v1/scrape": scrape}) as api:
        async with workshop() as shop:
            shop.secrets["firecrawl_bearer"] = "k"
            source = corpus.text(corpus.N8N, "065", {"https://api.firecrawl.dev": api.url})
            source = corpus.edited(
                source,
                lambda data: [
                    one["parameters"].update(amount=0) for one in data["nodes"] if one["name"] == "Wait"
                ],
            )
            found = await shop.run(source)
        assert [
            (one.body["url"], one.body["formats"], one.headers["authorization"]) for one in api.requests
        ] == [
            (url, ["markdown", "links"], "k") for url in ("https://www.automake.io/", "https://www.n8n.io/")
        ]
    assert found == {
        "result": [
            {"title": f"T {url}", "description": "D", "content": "# M", "links": "none "} for url in ("https://www.automake.io/", "https://www.n8n.io/")
        ]
    }  # fmt: skip


async def test_fim_one_1_refunds() -> None:
    """Up to 100 at once, above a person is asked."""
    source = corpus.text(corpus.FIM_ONE, "example-1")
    async with workshop() as shop:
        small = await shop.run(source, {"order_no": "A1", "amount": 100})
        assert small == {"message": "Refund of 100 for A1 done at once."}
        ended = await shop.result(source, {"order_no": "A1", "amount": 101})
        assert ended.status == "suspended"


async def test_fim_one_2_prices_that_rose() -> None:
    """Rows without a price are left out, of the others those above the previous price are told to the model as JSON."""
    feed = [
        {"p": "a", "price": 3, "previous": 1},
        {"p": "b", "price": None, "previous": 1},
        {"p": "c", "price": 1, "previous": 2},
    ]
    with StandIn({"GET /feed": feed}) as api:
        async with workshop({"text": "a: dearer"}) as shop:
            shop.secrets["FEED_TOKEN"] = "t"
            found = await shop.run(corpus.text(corpus.FIM_ONE, "example-2"), {"feed_url": f"{api.url}/feed"})
            asked = shop.asked()[-1]["content"]
        assert api.requests[0].headers["authorization"] == "Bearer t"
    assert found == {"summary": "a: dearer", "count": [feed[0]]}
    assert re.sub(r"\s", "", asked).endswith('[{"p":"a","price":3,"previous":1}]')


async def test_fim_one_3_the_way_that_needs_nobody() -> None:
    """A question that is neither of the classes takes the default handle, whose assignment is the first value that ran."""
    understood = {
        "data": {
            "query": "What is the weather?",
            "language": "en",
        }
    }
    other = {"data": {"id": "else", "confidence": 0.1, "reason": "neither"}}
    async with workshop(understood, other) as shop:
        found = await shop.run(corpus.text(corpus.FIM_ONE, "example-3"), {"question": "weather?"})
        assert found == {"reply": "Please call the desk."}
