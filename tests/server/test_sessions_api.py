"""`/api/v1/sessions`: the stream of a turn, coming back to it, saying more, cancelling, branches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.models.testing import ScriptedModels
from tests.flows.chatting import chat_settings

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/sessions"
RULES = [
    {"when": {"user": "slow"}, "reply": {"text": "slowly " * 30, "chunk_delay": 0.03}},
    {"when": {"user": "endless"}, "reply": {"text": "word " * 4000, "chunk_delay": 0.05}},
    {"reply": "fine"},
]
JSON = {"accept": "application/json"}


@pytest.fixture
async def settings(tmp_path: Any) -> AsyncIterator[Settings]:
    with ScriptedModels(RULES) as models:
        yield chat_settings(tmp_path / "home", models.url)


def events_of(text: str) -> list[dict[str, Any]]:
    """The events of a stream: id, event and data."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append({**fields, "data": json.loads(fields["data"])})
    return found


async def begin(api: httpx2.AsyncClient) -> str:
    made = await api.post(PATH, json={})
    assert made.status_code == 201, made.text
    return f"{PATH}/{made.json()['id']}"


async def test_a_turn_is_a_stream_of_events(api: httpx2.AsyncClient) -> None:
    place = await begin(api)
    asked = await api.post(f"{place}/messages", json={"content": "hello"})
    assert asked.headers["content-type"].startswith("text/event-stream")
    events = events_of(asked.text)
    kinds = [event["event"] for event in events]
    assert kinds[0] == "turn"
    assert kinds[-2:] == ["run.succeeded", "message"]
    assert "id" not in events[0]
    assert [int(event["id"]) for event in events[1:-1]] == list(range(1, len(events) - 1))
    streamed = "".join(event["data"]["data"]["text"] for event in events if event["event"] == "node.delta")
    assert streamed == "fine" == events[-1]["data"]["content"]
    shown = (await api.get(place)).json()
    assert (shown["title"], shown["head"]) == ("hello", events[0]["data"]["answer"])
    assert [message["content"] for message in shown["messages"]] == ["hello", "fine"]
    assert [item["title"] for item in (await api.get(PATH)).json()["items"]] == ["hello"]


async def test_who_comes_back_misses_nothing(api: httpx2.AsyncClient, platform: Platform) -> None:
    place = await begin(api)
    ids = (await api.post(f"{place}/messages", json={"content": "slow"}, headers=JSON)).json()
    whole: list[dict[str, Any]] = []
    # The stream is cut in the middle, and read on after the last event that came.
    async for event in platform.store.events.follow(ids["run_id"]):
        if event.type == "node.delta":
            break
    seen = (await api.get(f"/api/v1/runs/{ids['run_id']}/events", headers=JSON)).json()["items"]
    rest = events_of((await api.get(f"{place}/events", headers={"last-event-id": str(seen[-1]["seq"])})).text)
    whole = [*({"data": item, "event": item["type"], "id": str(item["seq"])} for item in seen), *rest]
    again = events_of((await api.get(f"{place}/events?message={ids['answer']}")).text)
    assert [event.get("id") for event in whole] == [event.get("id") for event in again]
    assert again[-1]["data"]["content"] == "slowly " * 30
    after = events_of((await api.get(f"{place}/events?after={again[-2]['id']}")).text)
    assert [event["event"] for event in after] == ["message"]


async def test_a_turn_is_told_more_and_cancelled(api: httpx2.AsyncClient, problem: Problem) -> None:
    place = await begin(api)
    problem(await api.post(f"{place}/cancel"), 409, "conflict")
    problem(await api.post(f"{place}/inject", json={"content": "x"}), 409, "conflict")
    problem(await api.get(f"{place}/events"), 404, "not_found")
    ids = (await api.post(f"{place}/messages", json={"content": "endless"}, headers=JSON)).json()
    problem(await api.post(f"{place}/messages", json={"content": "other tab"}), 409, "conflict")
    assert (await api.post(f"{place}/inject", json={"content": "stop soon"})).json() == {
        "run_id": ids["run_id"]
    }
    cancelled = (await api.post(f"{place}/cancel")).json()
    assert (cancelled["id"], cancelled["status"]) == (ids["answer"], "cancelled")
    assert [event["event"] for event in events_of((await api.get(f"{place}/events")).text)][-2:] == [
        "run.cancelled",
        "message",
    ]


async def test_branches_by_edit_and_regenerate(api: httpx2.AsyncClient, problem: Problem) -> None:
    place = await begin(api)
    ids = events_of((await api.post(f"{place}/messages", json={"content": "hello"})).text)[0]["data"]
    again = events_of((await api.post(f"{place}/messages/{ids['answer']}/regenerate")).text)[0]["data"]
    assert again["question"] == ids["question"]
    changed = events_of((await api.put(f"{place}/messages/{ids['question']}", json={"content": "hi"})).text)
    branch = await api.post(f"{place}/messages", json={"content": "more", "parent": ids["answer"]})
    assert events_of(branch.text)[-1]["data"]["content"] == "fine"
    shown = (await api.get(place)).json()
    assert [m["content"] for m in shown["messages"] if m["role"] == "user"] == ["hello", "hi", "more"]
    back = await api.patch(place, json={"head": changed[0]["data"]["answer"], "title": " Better "})
    assert (back.json()["head"], back.json()["title"]) == (changed[0]["data"]["answer"], "Better")
    problem(await api.patch(place, json={"head": "none"}), 404, "not_found")
    problem(await api.patch(place, json={"head": ids["question"], "title": "x"}), 409, "conflict")
    assert (await api.get(place)).json()["title"] == "Better"
    problem(await api.post(f"{place}/messages", json={"content": ""}), 400, "bad_request")
    assert (await api.delete(place)).status_code == 204
    problem(await api.get(place), 404, "not_found")


async def test_the_same_request_twice_asks_once(api: httpx2.AsyncClient) -> None:
    place = await begin(api)
    key = {"idempotency-key": "one"}
    answers = [
        events_of((await api.post(f"{place}/messages", json={"content": "hello"}, headers=key)).text)
        for _ in range(2)
    ]
    assert answers[0][0]["data"] == answers[1][0]["data"]
    assert len((await api.get(place)).json()["messages"]) == 2


async def test_sessions_are_found_by_title_and_by_what_was_said(api: httpx2.AsyncClient) -> None:
    place = await begin(api)
    await api.post(f"{place}/messages", json={"content": "Where is my parcel?"})
    other = await begin(api)
    await api.patch(other, json={"title": "100% sure"})

    async def titles(words: str) -> list[str]:
        answer = await api.get(PATH, params={"q": words})
        return [item["title"] for item in answer.json()["items"]]

    assert await titles("PARCEL") == ["Where is my parcel?"]
    assert await titles("fine") == ["Where is my parcel?"]
    assert await titles("100% s") == ["100% sure"]
    assert await titles("0%w") == []
    assert len(await titles("")) == 2
