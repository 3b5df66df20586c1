"""DOCUMENT_EXTRACTOR: where the file comes from, what is given, and what is said when it cannot be."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from interlace.engine.protocols import Files, FileValue, Services
from interlace.nodes.document_extractor import ranges_of
from interlace.resources.documents.extractor import Extractor
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.http.testing import Reply, serve
from tests.nodes.runs import NodeRun, run_node
from tests.resources.documents.files import pdf

TEXT = b"# Leave\n\nFive days carry over.\n\n| days | who |\n|-|-|\n| 5 | all |\n"
REF = "sha256-" + "a" * 64


class OneFile:
    """Implements `Files` with one file."""

    async def save(self, content: bytes, *, name: str, media_type: str) -> FileValue:
        raise AssertionError("nothing is saved")

    async def load(self, ref: str) -> bytes:
        assert ref == REF
        return TEXT


async def extract(file: Any, allow: list[str] | None = None, **config: Any) -> NodeRun:
    client = HttpClient(allow=AllowList.parse(allow or []))
    services = Services({Files: OneFile(), HttpClient: client, Extractor: Extractor()})
    try:
        return await run_node(
            "DOCUMENT_EXTRACTOR", {"file": "{{ inputs.f }}", **config}, {"f": file}, services=services
        )
    finally:
        await client.close()


@pytest.mark.parametrize(
    "file",
    [
        {"ref": REF, "name": "a.md", "media_type": "text/markdown", "size": 1, "sha256": "a" * 64},
        {"base64": base64.b64encode(TEXT).decode(), "name": "a.md"},
        "data:text/markdown;base64," + base64.b64encode(TEXT).decode(),
    ],
)
async def test_a_file_comes_in_several_ways(file: Any) -> None:
    run = await extract(file)
    assert run["text"].startswith("# Leave\n\nFive days carry over.")
    assert run["metadata"]["format"] == "markdown"


async def test_without_a_name_text_is_text() -> None:
    for file in (REF, base64.b64encode(TEXT).decode()):
        assert (await extract(file))["metadata"]["format"] == "text"


async def test_each_mode_gives_its_part() -> None:
    file = "data:text/markdown;base64," + base64.b64encode(TEXT).decode()
    assert (await extract(file, mode="tables"))["tables"][0]["rows"] == [{"days": "5", "who": "all"}]
    assert (await extract(file, mode="text"))["text"] == "Leave\n\nFive days carry over.\n\ndays\twho\n5\tall"
    pages = await extract(
        base64.b64encode(pdf("one", "two", "three")).decode(), mode="pages", page_range="2-"
    )
    assert [(page["number"], page["text"]) for page in pages["pages"]] == [(2, "two"), (3, "three")]
    only = await extract(file, mode="metadata")
    assert (only["text"], only["pages"], only["metadata"]["title"]) == ("", [], "Leave")


async def test_a_url_is_fetched_behind_the_guard() -> None:
    async with serve(lambda _: Reply(200, TEXT, [("content-type", "text/markdown")])) as server:
        refused = await extract(f"{server.url}/a")
        assert refused.kind == "blocked_address"
        run = await extract(f"{server.url}/leave%20rules.md", [f"127.0.0.1:{server.port}"])
        assert (run["metadata"]["name"], run["metadata"]["format"]) == ("leave rules.md", "markdown")


async def test_a_url_that_answers_with_an_error_is_one() -> None:
    async with serve(lambda _: Reply(404, b"gone")) as server:
        assert (await extract(f"{server.url}/a", [f"127.0.0.1:{server.port}"])).kind == "http_404"


@pytest.mark.parametrize(
    "file", [None, 7, "", "x.pdf", {"path": "/etc/passwd"}, "/etc/passwd is no base64 at all!"]
)
async def test_what_is_no_file_is_said(file: Any) -> None:
    run = await extract(file)
    assert run.kind == "bad_file"
    assert "base64" in run.message


def test_ranges_of_pages() -> None:
    assert ranges_of("1-3, 7, 10-, -2")[:2] == [(1, 3), (7, 7)]
    assert ranges_of("-2") == [(1, 2)]
    for wrong in ("", "a", "0", "3-1", "1;2"):
        with pytest.raises(ValueError, match="page"):
            ranges_of(wrong)


async def test_a_computed_range_that_is_none_is_an_error() -> None:
    run = await extract(REF, page_range="{{ 'x' }}")
    assert (run.kind, "1-3, 7, 10-" in run.message) == ("wrong_type", True), run.message
