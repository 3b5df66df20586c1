"""Published workflows as forms: filled in without script, by whoever has the link or is signed in."""

from __future__ import annotations

import html
import re
from typing import Any

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform

ORDER = """
name: Order <b>
description: "Orders **things**. <script>alert(1)</script>"
inputs:
  type: object
  required: [item, amount]
  properties:
    item: {type: string, title: What, maxLength: 40, description: "The thing."}
    amount: {type: integer, minimum: 1, maximum: 9}
    gift: {type: boolean}
    size: {type: string, enum: [small, large], default: small}
    tags: {type: array, items: {type: string}}
    paper: {type: object, format: file}
nodes:
  - {id: start, type: START}
  - {id: end, type: END, config: {outputs: {item: "{{ inputs.item }}", amount: "{{ inputs.amount }}", gift: "{{ inputs.gift }}", size: "{{ inputs.size }}", tags: "{{ inputs.tags | default([]) }}", paper: "{{ (inputs.paper | default({})).name | default('none') }}"}}}
edges: [start -> end]
"""
ASKING = """
name: Leave
inputs: {type: object, properties: {days: {type: integer}}}
nodes:
  - {id: start, type: START}
  - {id: own, type: HUMAN, config: {title: "Really {{ inputs.days }} days?", actions: ["yes", "no"], assignees: [submitter], form: {type: object, properties: {why: {type: string, minLength: 3}}, required: [why]}}}
  - {id: boss, type: HUMAN, config: {title: "Boss?", actions: [ok]}}
  - {id: end, type: END, config: {outputs: {why: "{{ own.form.why }}", by: "{{ boss.by }}"}}}
edges: [start -> own, own.yes -> boss, own.no -> end, own.timeout -> end, boss.ok -> end, boss.timeout -> end]
"""


@pytest.fixture
async def browser(anonymous: httpx2.AsyncClient) -> httpx2.AsyncClient:
    return anonymous


async def publish(platform: Platform, text: str, owner: Any = "local") -> str:
    pinned = await platform.documents.from_text(text, owner=owner)
    user = owner if isinstance(owner, str) else owner.user_id
    pushed = await platform.store.workflows.push(pinned.document.name, pinned.text, owner=user)
    await platform.store.workflows.publish(pushed.workflow_id, owner=owner)
    return pushed.workflow_id


async def opened(platform: Platform, workflow: str, **body: Any) -> str:
    from interlace.server.api.forms import OpenForm, open_form

    info = await open_form(workflow, platform, LOCAL, OpenForm(**body))
    assert info.public is not None
    return info.public.partition("://")[2].partition("/")[2].join(["/", ""])


def once(page: str) -> str:
    found = re.search(r'name="once" value="(\w+)"', page)
    assert found is not None
    return found[1]


async def test_a_public_form(browser: httpx2.AsyncClient, platform: Platform) -> None:
    place = await opened(platform, await publish(platform, ORDER))
    shown = await browser.get(place)
    assert shown.status_code == 200
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "<script" not in shown.text
    assert "<h1>Order &lt;b&gt;</h1>" in shown.text
    assert "<strong>things</strong>" in shown.text
    assert (
        'type="number" step="1" value="" min="1" max="9" id="f.amount" name="f.amount" required' in shown.text
    )
    assert '<option value="small" selected>' in shown.text
    wrong = await browser.post(place, data={"once": "1", "f.item": 'a "quoted" <thing>', "f.amount": "12"})
    assert wrong.status_code == 422
    assert "a &quot;quoted&quot; &lt;thing&gt;" in wrong.text, "what was filled in is kept"
    assert 'aria-invalid="true"' in wrong.text
    assert not (await platform.store.runs.list(owner="local")).items
    filled = {
        "once": once(shown.text),
        "f.item": "pen",
        "f.amount": "2",
        "f.gift": ["false", "true"],
        "f.tags": '["x"]',
    }
    files = {"f.paper": ("a.txt", b"hello", "text/plain")}
    sent = await browser.post(place, data=filled, files=files)
    assert sent.status_code == 303
    again = await browser.post(place, data=filled)
    assert again.headers["location"].partition(".")[0] == sent.headers["location"].partition(".")[0]
    (run,) = (await platform.store.runs.list(owner="local")).items
    assert (run.trigger["kind"], run.trigger["public"]) == ("form", True)
    result = await browser.get(sent.headers["location"])
    assert result.status_code == 200
    assert "<pre>pen</pre>" in result.text
    assert "<pre>true</pre>" in result.text
    assert "<pre>a.txt</pre>" in result.text
    assert f"/runs/{run.id}" not in result.text


async def test_nobody_finds_what_is_anothers(browser: httpx2.AsyncClient, platform: Platform) -> None:
    place = await opened(platform, await publish(platform, ORDER))
    other = await opened(platform, await publish(platform, ASKING))
    sent = await browser.post(place, data={"once": "2", "f.item": "secret", "f.amount": "1"})
    receipt = sent.headers["location"].rpartition("/")[2]
    run_id = receipt.partition(".")[0]
    assert (await browser.get(f"{place}/{run_id}.{'0' * 32}")).status_code == 404
    assert (await browser.get(f"{place}/{run_id}")).status_code == 404
    stolen = await browser.get(f"{other}/{receipt}")
    assert stolen.status_code == 404
    assert "secret" not in stolen.text
    assert (await browser.get(place[:-1] + ("0" if place[-1] != "0" else "1"))).status_code == 404
    evil = {"origin": "https://evil.example"}
    assert (await browser.post(place, data={"f.item": "x", "f.amount": "1"}, headers=evil)).status_code == 403
    workflow = place.rpartition("/")[2].partition(".")[0]
    moved = await opened(platform, workflow, rotate=True)
    assert moved != place
    assert (await browser.get(place)).status_code == 404
    assert (await browser.get(moved)).status_code == 200
    await platform.store.workflows.unpublish(workflow)
    assert (await browser.get(moved)).status_code == 404


async def test_the_submitter_is_asked_on_the_page(browser: httpx2.AsyncClient, platform: Platform) -> None:
    place = await opened(platform, await publish(platform, ASKING))
    sent = await browser.post(place, data={"once": "3", "f.days": "4"})
    here = sent.headers["location"]
    asked = await browser.get(here)
    assert "Really 4 days?" in asked.text
    fields = dict(re.findall(r'name="(request|hash)" value="(\w+)"', asked.text))
    short = await browser.post(here, data={**fields, "action": "yes", "f.why": "x"})
    assert short.status_code == 422
    assert 'class="wrong"' in short.text
    done = await browser.post(here, data={**fields, "action": "yes", "f.why": "rest"})
    assert done.status_code == 303
    waiting = await browser.get(here)
    assert "Somebody has to look at it first." in waiting.text
    assert 'http-equiv="refresh"' in waiting.text
    assert "Boss?" not in waiting.text, "what others are asked is not the submitter's"
    (wait,) = (await platform.store.waits.list(status="pending")).items
    stolen = await browser.post(here, data={"request": wait.id, "action": "ok"})
    assert stolen.status_code == 303
    assert (await platform.store.waits.get(wait.id)).status == "pending"


async def test_signed_in_forms_and_requests(api: httpx2.AsyncClient, platform: Platform) -> None:
    workflow = await publish(platform, ASKING)
    assert (await api.get(f"/api/v1/workflows/{workflow}/form")).json() == {
        "signed_in": f"/forms/{workflow}", "public": None,
    }  # fmt: skip
    opened = await api.put(f"/api/v1/workflows/{workflow}/form")
    assert (opened.status_code, opened.json()["public"] is None) == (200, False), "a body is not needed"
    shown = await api.get("/forms/Leave")
    assert shown.status_code == 200
    sent = await api.post(f"/forms/{workflow}", data={"once": once(shown.text), "f.days": "1"})
    page = await api.get(sent.headers["location"])
    assert "The run" not in page.text or "/runs/" in page.text
    (run,) = (await platform.store.runs.list(owner="local")).items
    assert run.trigger["by"] == "test"
    waits = (await platform.store.waits.list(status="pending")).items
    request = await api.get(f"/forms/requests/{waits[0].id}")
    assert "Really 1 days?" in request.text
    _, key = await platform.store.keys.create("reader", scopes=["runs:read"])
    refused = await api.get(f"/forms/requests/{waits[0].id}", headers={"authorization": f"Bearer {key}"})
    assert refused.status_code == 403
    _, stranger = await platform.store.keys.create("stranger", owner="another")
    nothing = await api.get(f"/forms/requests/{waits[0].id}", headers={"authorization": f"Bearer {stranger}"})
    assert nothing.status_code == 404
    del api.headers["authorization"]
    asked = await api.get(f"/forms/{workflow}", params={"a": "b"})
    assert asked.headers["location"] == f"/login?to=%2Fforms%2F{workflow}%3Fa%3Db"
    assert (await api.post(f"/forms/{workflow}", data={"f.days": "1"})).status_code == 401


async def test_a_request_is_answered_on_its_page(api: httpx2.AsyncClient, platform: Platform) -> None:
    text = ASKING.replace("assignees: [submitter], ", "").replace("name: Leave", "name: Own")
    workflow = await publish(platform, text)
    started = (
        await api.post(f"/api/v1/workflows/{workflow}/run?wait=20", json={"inputs": {"days": 2}})
    ).json()
    place = f"/forms/requests/{started['waiting'][0]['id']}"
    fields = dict(re.findall(r'name="(hash)" value="(\w+)"', (await api.get(place)).text))
    assert (await api.post(place, data={**fields, "action": "maybe", "f.why": "rest"})).status_code == 422
    answered = await api.post(place, data={**fields, "action": "no", "f.why": "rest"})
    assert "test answered: no" in html.unescape(answered.text)
    lines = (await api.get("/api/v1/audit?action=approval")).json()["items"]
    assert lines[0]["detail"]["action"] == "no"
