"""`/api/v1/agents`: what an agent is told is in no answer to those who only use it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.models.testing import ScriptedModels
from tests.flows.chatting import chat_settings
from tests.store.people import make_people

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/agents"
TEXT = "name: trader\ndescription: Trades\ninstructions: |\n  You are very discreet.\n"
CANARY = "discreet"


async def test_an_agent_is_kept_changed_and_exported(api: httpx2.AsyncClient, problem: Problem) -> None:
    made = await api.post(PATH, json={"text": TEXT})
    assert made.status_code == 201, made.text
    problem(await api.post(PATH, json={"text": TEXT}), 409, "conflict")
    problem(await api.post(PATH, json={"text": "name: [1]"}), 422, "agent_definition")
    problem(await api.post(PATH, json={}), 422, "bad_request")
    assert CANARY not in (await api.get(PATH)).text
    assert (await api.get(f"{PATH}/trader")).json()["definition"][
        "instructions"
    ] == "You are very discreet.\n"
    assert (await api.get(f"{PATH}/trader/export")).text == TEXT
    changed = {
        "definition": {"name": "trader", "hooks": [{"event": "pre_tool_use", "do": "deny"}]},
        "active": False,
    }
    assert (await api.put(f"{PATH}/trader", json=changed)).json()["active"] is False
    assert (await api.delete(f"{PATH}/trader")).status_code == 204
    problem(await api.get(f"{PATH}/trader"), 404, "not_found")


async def test_users_of_an_agent_read_nothing_of_how_it_is_made(
    anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    people = await make_people(platform.store)
    keys = {}
    for name in ("ann", "ben", "dee"):
        _, keys[name] = await platform.store.keys.create(name, owner=getattr(people, name).user_id)

    async def ask(who: str, method: str, path: str, **more: Any) -> httpx2.Response:
        return await anonymous.request(method, path, headers={"authorization": f"Bearer {keys[who]}"}, **more)

    made = await ask("ann", "POST", PATH, json={"text": TEXT, "org": "acme", "visibility": "org"})
    place = f"{PATH}/{made.json()['id']}"
    for step in ("org", "market"):
        who = "ben" if step == "org" else "dee"
        if step == "market":
            object_id = made.json()["id"]
            await ask("ann", "POST", f"/api/v1/market/{object_id}/publish", json={"where": "market"})
            await platform.store.market.review(object_id, approve=True, by=LOCAL)
            assert (await ask("dee", "PUT", f"/api/v1/market/{object_id}/subscription")).status_code == 200
        problem(await ask(who, "GET", f"{place}/export"), 403, "forbidden")
        problem(await ask(who, "PUT", place, json={"active": False}), 403, "forbidden")
        problem(await ask(who, "PUT", place, json={"text": TEXT}), 403, "forbidden")
        problem(await ask(who, "DELETE", place), 403, "forbidden")
        card = await ask(who, "GET", place)
        assert (card.status_code, card.json()["description"], "definition" in card.json()) == (
            200,
            "Trades",
            False,
        )
        for path in (place, PATH, "/api/v1/market", "/api/v1/audit", "/api/v1/market/reviews"):
            answer = await ask(who, "GET", path)
            assert answer.status_code == 200, (path, answer.text)
            assert CANARY not in answer.text, path


async def test_hooks_of_an_organisation_are_its_admins(
    anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    people = await make_people(platform.store)
    _, key = await platform.store.keys.create("ann", owner=people.ann.user_id)
    _, bens = await platform.store.keys.create("ben", owner=people.ben.user_id)
    ann, ben = ({"authorization": f"Bearer {token}"} for token in (key, bens))
    hooks = [{"event": "session_start", "do": "note", "text": "Answer in Japanese."}]
    put = await anonymous.put("/api/v1/orgs/acme/hooks", json={"hooks": hooks}, headers=ann)
    assert put.json() == {"hooks": hooks}
    problem(await anonymous.get("/api/v1/orgs/acme/hooks", headers=ben), 403, "forbidden")
    problem(
        await anonymous.put("/api/v1/orgs/acme/hooks", json={"hooks": [1]}, headers=ann), 422, "bad_request"
    )
    bad = {"hooks": [{"event": "never"}]}
    problem(await anonymous.put("/api/v1/orgs/acme/hooks", json=bad, headers=ann), 422, "agent_definition")
    assert (await anonymous.get("/api/v1/orgs/acme/hooks", headers=ann)).json() == {"hooks": hooks}


WORK = """
name: ask-the-trader
settings: {record: true}
nodes:
  - {id: start, type: START}
  - {id: trade, type: AGENT, config: {agent: TRADER, prompt: Hello}}
  - {id: done, type: END, config: {outputs: {text: "{{ trade.text }}", messages: "{{ trade.messages }}"}}}
edges: [start -> trade, trade -> done]
"""


@pytest.fixture
async def settings(tmp_path: Path) -> AsyncIterator[Settings]:
    with ScriptedModels("At your service.") as models:
        yield chat_settings(tmp_path / "home", models.url)


async def test_runs_of_an_agent_show_nothing_of_how_it_is_made(
    anonymous: httpx2.AsyncClient, platform: Platform
) -> None:
    """Also those that record all that they asked a model, and in whatever form they are looked at."""
    people = await make_people(platform.store)
    keys = {}
    for name in ("ann", "ben"):
        _, keys[name] = await platform.store.keys.create(name, owner=getattr(people, name).user_id)
    for length in (1, 2000):  # short enough for the event itself, and long enough to be kept beside it
        text = f"name: trader{length}\ninstructions: {'You are very discreet. ' * length}\n"
        shared = {"text": text, "org": "acme", "visibility": "org"}
        headers = {"authorization": f"Bearer {keys['ann']}"}
        made = await anonymous.post(PATH, json=shared, headers=headers)
        headers = {"authorization": f"Bearer {keys['ben']}"}
        work = {"document": WORK.replace("TRADER", made.json()["id"])}
        ran = (await anonymous.post("/api/v1/runs?wait=60", json=work, headers=headers)).json()
        assert ran.get("outputs", {}).get("text") == "At your service.", ran
        place = f"/api/v1/runs/{ran['run_id']}"
        as_list = await anonymous.get(f"{place}/events", headers={**headers, "accept": "application/json"})
        types = {event["type"] for event in as_list.json()["items"]}
        assert {"model.finished", "call.recorded"} <= types
        for answer in (
            as_list,
            await anonymous.get(f"{place}/events", headers=headers),
            await anonymous.get(place, headers=headers),
            await anonymous.get(f"{place}/trace", headers=headers),
        ):
            assert answer.status_code == 200
            assert CANARY not in answer.text
        for ref in set(re.findall("sha256-[0-9a-f]{64}", as_list.text)):
            assert CANARY not in (await anonymous.get(f"{place}/payloads/{ref}", headers=headers)).text
