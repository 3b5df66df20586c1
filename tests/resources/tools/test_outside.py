"""Tools that reach out: the web behind its guard, mail, Python in the sandbox, knowledge bases by rights."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.resources.documents.source import Source
from interlace.resources.http.testing import Received, Reply, Server, serve
from interlace.resources.mail import Mailer
from interlace.resources.tools import builtin_tools
from interlace.resources.tools.knowledge import Base, GroundedRetrieve, KbRetrieve
from interlace.resources.tools.typed import check_arguments
from tests.resources.test_mail import Inbox
from tests.resources.tools.calling import call, fault
from tests.resources.tools.conftest import Runs

PAGE = "<html><head><title>Rates</title></head><body><h1>Rates</h1>" + "".join(
    f"<p>Line {n} of the page.</p>" for n in range(200)
) + "</body></html>"  # fmt: skip


def answer(request: Received) -> Reply:
    if request.path == "/page":
        return Reply(200, PAGE.encode(), [("Content-Type", "text/html; charset=utf-8")])
    if request.path == "/data":
        return Reply.of({"n": 1})
    if request.path == "/away":
        return Reply(302, b"", [("Location", "http://169.254.169.254/latest/meta-data")])
    if request.path == "/picture":
        return Reply(200, b"\x89PNG....", [("Content-Type", "image/png")])
    if request.path == "/missing":
        return Reply(404, b"nothing here")
    return Reply.of({"method": request.method, "headers": request.headers, "body": request.body.decode()})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serve(answer) as made:
        yield made


# -- the web -----------------------------------------------------------------------------------------------------------


async def test_a_request_and_its_answers(runs: Runs, server: Server) -> None:
    run = await runs.new()
    found = await call("http_request", runs.call(run), url=f"{server.url}/data", query={"q": "a b"})
    assert (found.value["status_code"], found.value["body"]) == (200, {"n": 1})
    assert server.requests[-1].query == {"q": ["a b"]}
    picture = await call("http_request", runs.call(run), url=f"{server.url}/picture")
    assert picture.value["body"]["media_type"] == "image/png"
    posted = await call(
        "http_request", runs.call(run, key="k1"), url=server.url, method="POST", json={"a": "é"}
    )
    echo = posted.value["body"]
    assert (echo["method"], echo["body"], echo["headers"]["idempotency-key"]) == ("POST", '{"a": "é"}', "k1")
    kind, words = await fault("http_request", runs.call(run), url=f"{server.url}/missing")
    assert (kind, "nothing here" in words) == ("http_404", True)
    assert (await fault("http_request", runs.call(run), url=server.url, json=1, text="x"))[
        0
    ] == "bad_arguments"


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/", "http://[::1]/", "http://10.0.0.1/", "file:///etc/passwd",
     "http://2130706433/x", "gopher://example.com"],
)  # fmt: skip
async def test_addresses_that_are_not_public_are_refused(runs: Runs, url: str) -> None:
    run = await runs.new()
    for tool in ("http_request", "web_fetch"):
        kind, _ = await fault(tool, runs.call(run), url=url)
        assert kind in ("blocked_address", "bad_url"), kind


async def test_a_redirect_is_checked_too(runs: Runs, server: Server) -> None:
    run = await runs.new()
    for tool in ("http_request", "web_fetch"):
        assert (await fault(tool, runs.call(run), url=f"{server.url}/away"))[0] == "blocked_address"


async def test_what_changes_something_is_gated_and_reading_is_not(runs: Runs) -> None:
    tool, ctx = builtin_tools().find("http_request"), runs.call(await runs.new())
    for method, effects in (("GET", "none"), ("HEAD", "none"), ("PUT", "idempotent"), ("DELETE", "idempotent"),
                            ("POST", "once"), ("PATCH", "once")):  # fmt: skip
        arguments = {"url": "https://shop.test/orders", "method": method}
        assert tool.effects(arguments) == effects
        gate = await tool.gate(arguments, ctx)
        assert (gate is None) is (effects == "none")
        assert gate is None or (gate.title, gate.always) == (f"{method} https://shop.test/orders", False)
    assert tool.effects({"url": "x", "method": "{{ inputs.method }}"}) == "once"
    for other in builtin_tools().list():
        if other.name not in ("http_request", "send_email"):
            assert await other.gate({}, ctx) is None
            assert other.effects({}) in ("none", "idempotent")


async def test_a_page_in_pieces(runs: Runs, server: Server) -> None:
    run, offset, text = await runs.new(), 0, ""
    while offset is not None:
        found = await call(
            "web_fetch", runs.call(run), url=f"{server.url}/page", offset=offset, max_characters=1500
        )
        assert len(found.value["content"]) <= 1500
        text += found.value["content"]
        if offset == 0:
            assert found.text is not None
            assert found.text.startswith(f"Rates\n{server.url}/page\n\n# Rates")
            assert f"go on with offset {found.value['next_offset']}" in found.text
        offset = found.value["next_offset"]
    assert len(text) == found.value["total"]
    assert text.startswith("# Rates")
    assert "Line 199 of the page." in text
    data = await call("web_fetch", runs.call(run), url=f"{server.url}/data")
    assert (data.value["content"], data.value["media_type"]) == ('{"n": 1}', "application/json")


# -- mail --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def smtp(inbox: Inbox) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(inbox, hostname="127.0.0.1", port=port)
    controller.start()
    yield f"smtp://127.0.0.1:{port}"
    controller.stop()


@pytest.mark.filterwarnings("ignore")
async def test_a_mail_is_gated_and_sent(platform: Platform, runs: Runs, smtp: str, inbox: Inbox) -> None:
    tool, ctx = builtin_tools().find("send_email"), runs.call(await runs.new())
    ctx.services = ctx.services.with_service(Mailer, Mailer(smtp, "bot@example.com"))
    mail: dict[str, Any] = {"to": ["ada@example.com"], "subject": "Hello", "text": "It works."}
    assert tool.effects(mail) == "once"
    gate = await tool.gate(mail, ctx)
    assert gate is not None
    assert gate.title == "Send an e-mail to ada@example.com: Hello"
    assert (await call("send_email", ctx, **mail)).value == {"sent": True, "to": ["ada@example.com"]}
    assert [(m["to"], m["subject"], m["from"]) for m in inbox.messages] == [
        ("ada@example.com", "Hello", "bot@example.com")
    ]


async def test_without_a_server_nobody_is_asked_in_vain(runs: Runs) -> None:
    tool, ctx = builtin_tools().find("send_email"), runs.call(await runs.new())
    with pytest.raises(Exception, match="INTERLACE_SMTP_URL"):
        await tool.gate({"to": ["a@b.c"], "subject": "x", "text": "y"}, ctx)


# -- Python ------------------------------------------------------------------------------------------------------------


async def test_a_script_with_inputs_and_files(runs: Runs) -> None:
    run = await runs.new()
    await call("write_file", runs.call(run), path="n.txt", text="1\n2\n3\n")
    code = "print('sum of', len(files))\nresult = {'sum': sum(map(int, files['n.txt'].split())) * factor, 'in': inputs}"
    found = await call("python", runs.call(run), code=code, inputs={"factor": 2}, files=["n.txt"])
    assert found.value == {"result": {"sum": 12, "in": {"factor": 2}}, "stdout": "sum of 1\n"}
    assert found.text == 'sum of 1\n\nresult = {"sum": 12, "in": {"factor": 2}}'
    empty = await call("python", runs.call(run), code="x = 1")
    assert empty.value == {"result": None, "stdout": ""}


async def test_a_script_that_fails_says_where(runs: Runs) -> None:
    run = await runs.new()
    kind, words = await fault("python", runs.call(run), code="def f(x):\n    return 1 / x\n\nf(0)")
    assert kind == "ZeroDivisionError"
    assert "line 2" in words
    assert "return 1 / x" in words
    assert (await fault("python", runs.call(run), code="x = = 1"))[0] == "SyntaxError"
    assert (await fault("python", runs.call(run), code="1", inputs={"a b": 1}))[0] == "bad_arguments"
    kind, _ = await fault("python", runs.call(run), code="while True: pass", seconds=1)
    assert kind == "timeout"
    code = "import socket\nsocket.create_connection(('127.0.0.1', 80), 1)"
    assert (await fault("python", runs.call(run), code=code))[0] in ("PermissionError", "OSError")


# -- knowledge bases ---------------------------------------------------------------------------------------------------


@pytest.fixture
async def bases(platform: Platform) -> list[Base]:
    texts = {
        "leave": "Employees have 25 days of leave a year. Leave has to be asked for two weeks before.",
        "travel": "A hotel may cost 120 euros a night. Trains are booked in second class.",
    }
    made = []
    for name, text in texts.items():
        added = await platform.knowledge.add(name, {"description": f"About {name}."}, by=LOCAL)
        await platform.knowledge.put(name, Source(content=text.encode(), name=f"{name}.txt"), by=LOCAL)
        made.append(Base(id=added.id, name=name, description=f"About {name}."))
    await platform.ingestion.drain()
    return made


async def test_every_base_that_the_caller_sees(platform: Platform, runs: Runs, bases: list[Base]) -> None:
    run = await runs.new()
    listed = await call("kb_list", runs.call(run))
    assert listed.value == [
        {"id": base.id, "name": base.name, "description": base.description} for base in bases
    ]
    found = await call(
        "kb_search", runs.call(run), knowledge_bases=["leave"], query="How many days of leave?"
    )
    assert found.value["chunks"][0]["source"] == "leave.txt"
    assert found.citations[0]["n"] == 1
    assert "25 days" in found.citations[0]["quote"]
    stranger = await platform.store.users.create("eve", by=LOCAL)
    eve = await platform.store.users.principal(stranger.id)
    assert (await call("kb_list", runs.call(run, by=eve))).value == []
    with pytest.raises(Exception, match="leave") as caught:
        await call("kb_search", runs.call(run, by=eve), knowledge_bases=["leave"], query="days")
    assert getattr(caught.value, "kind", "") == "resource_not_found"


async def test_an_agents_scope(runs: Runs, bases: list[Base]) -> None:
    ctx = runs.call(await runs.new())
    both, one = KbRetrieve(bases), KbRetrieve(bases[:1])
    assert both.description.endswith("Bases: leave: About leave.; travel: About travel..")
    assert both.parameters_schema["properties"]["knowledge_bases"]["items"]["enum"] == ["leave", "travel"]
    assert "knowledge_bases" not in one.parameters_schema["properties"]
    found = await one.run({"query": "What may a hotel cost?"}, ctx)
    assert {chunk["metadata"]["knowledge_base"] for chunk in found.value["chunks"]} <= {"leave"}
    found = await both.run({"query": "What may a hotel cost?", "knowledge_bases": ["travel"]}, ctx)
    assert found.text is not None
    assert "[1] travel.txt" in found.text
    with pytest.raises(Exception, match="there is no knowledge base 'travel'"):
        await one.run({"query": "x", "knowledge_bases": ["travel"]}, ctx)
    with pytest.raises(Exception, match="bases"):
        check_arguments(one, {"query": "x", "knowledge_bases": ["travel"]})


async def test_evidence_and_refusal(runs: Runs, bases: list[Base]) -> None:
    ctx, tool = runs.call(await runs.new()), GroundedRetrieve(bases)
    assert (tool.name, tool.category) == ("grounded_retrieve", "knowledge")
    found = await tool.run({"query": "How many days of leave do employees have?"}, ctx)
    assert found.text is not None
    assert '[1] "Employees have 25 days of leave a year."' in found.text
    assert found.citations[0]["quote"] == "Employees have 25 days of leave a year."
    refused = await tool.run({"query": "Who won the chess championship of 1972?"}, ctx)
    assert refused.text is not None
    assert refused.text.startswith("Nothing fits the question.")
    assert (refused.value["chunks"], bool(refused.value["refused"])) == ([], True)
