"""`/api/v1/knowledge-bases`: from a document to what it says, with errors that say what to do."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import httpx2

from interlace.flows.platform import Platform

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/knowledge-bases"
TEXT = "# Leave\n\nFive unused days of leave carry over to the next year.\n"


async def test_from_a_document_to_what_it_says(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    made = await api.post(PATH, json={"name": "handbook", "definition": {"description": "Rules"}})
    assert made.status_code == 201, made.text
    problem(await api.post(PATH, json={"name": "handbook"}), 409, "conflict")
    problem(
        await api.post(PATH, json={"name": "x", "definition": {"chunking": {"size": 1}}}),
        422,
        "knowledge_definition",
    )
    file = (
        await api.post("/api/v1/files", files={"file": ("b.md", b"# Travel\n\nBy train.", "text/markdown")})
    ).json()
    bodies: list[dict[str, Any]] = [
        {"text": TEXT, "name": "leave.md", "metadata": {"year": 2024}},
        {"file": file["ref"]},
        {"base64": base64.b64encode(b"broken \0 file").decode(), "name": "c.pdf", "source": "c"},
    ]
    for body in bodies:
        added = await api.post(f"{PATH}/handbook/documents", json=body)
        assert (added.status_code, added.json()["state"]) == (202, "waiting"), added.text
    assert (await api.get(f"{PATH}/handbook")).json()["progress"]["waiting"] == 3
    await platform.ingestion.drain()
    states = {
        d["source"]: (d["state"], d["chunks"])
        for d in (await api.get(f"{PATH}/handbook/documents")).json()["items"]
    }
    assert states == {"leave.md": ("ready", 1), "b.md": ("ready", 1), "c": ("failed", 0)}
    found = (
        await api.post(f"{PATH}/handbook/search", json={"query": "unused leave", "grounded": True})
    ).json()
    assert found["chunks"][0]["source"] == "leave.md"
    assert found["citations"][0]["quotes"]
    cited = found["citations"][0]
    chunks = f"{PATH}/{cited['knowledge_base']}/documents/{cited['document_id']}/chunks"
    (chunk,) = (await api.get(chunks)).json()["items"]
    assert (chunk["seq"], chunk["text"], chunk["position"]) == (
        0,
        found["chunks"][0]["text"],
        cited["position"],
    )
    assert (await api.get(chunks, params={"cursor": 0})).json() == {"items": [], "next_cursor": None}
    one = (await api.get(f"{PATH}/handbook/documents/leave.md")).json()
    assert (one["id"], one["state"], one["chunks"]) == (cited["document_id"], "ready", 1)
    problem(await api.get(f"{PATH}/handbook/documents/none"), 404, "not_found")
    problem(await api.get(f"{PATH}/handbook/documents/none/chunks"), 404, "not_found")
    again = await api.post(f"{PATH}/handbook/documents", json=bodies[0])
    assert again.json()["changed"] is False
    assert (await api.post(f"{PATH}/handbook/reindex")).json()["building"]["waiting"] == 3
    assert (await api.delete(f"{PATH}/handbook/documents/leave.md")).status_code == 204
    left = (await api.post(f"{PATH}/handbook/search", json={"query": "unused leave"})).json()
    assert [chunk["source"] for chunk in left["chunks"]] == ["b.md"]
    assert (await api.delete(f"{PATH}/handbook")).status_code == 204
    problem(await api.get(f"{PATH}/handbook"), 404, "not_found")


async def test_what_is_no_document_is_said(api: httpx2.AsyncClient, problem: Problem) -> None:
    await api.post(PATH, json={"name": "handbook"})
    where = f"{PATH}/handbook/documents"
    problem(await api.post(where, json={}), 422, "bad_request")
    problem(await api.post(where, json={"text": "a", "url": "https://example.com"}), 422, "bad_request")
    problem(await api.post(where, json={"base64": "%%%", "name": "x"}), 422, "bad_request")
    problem(await api.post(where, json={"file": "sha256-" + "0" * 64}), 404, "not_found")
    problem(await api.post(where, json={"url": "http://169.254.169.254/latest"}), 422, "blocked_address")
    problem(await api.post(where, json={"text": "no name"}), 422, "bad_file")


async def test_the_chunks_of_a_long_document_come_in_pages(
    api: httpx2.AsyncClient, platform: Platform
) -> None:
    text = "\n\n".join(f"# Part {n}\n\n" + f"Sentence {n} about trains. " * 40 for n in range(6))
    await api.post(PATH, json={"name": "long"})
    await api.post(f"{PATH}/long/documents", json={"text": text, "name": "long.md"})
    await platform.ingestion.drain()
    seen: list[int] = []
    cursor: int | None = -1
    while cursor is not None:
        page = (
            await api.get(f"{PATH}/long/documents/long.md/chunks", params={"limit": 2, "cursor": cursor})
        ).json()
        assert len(page["items"]) <= 2
        seen += [chunk["seq"] for chunk in page["items"]]
        cursor = page["next_cursor"]
    assert seen == list(range(len(seen)))
    assert len(seen) > 5
