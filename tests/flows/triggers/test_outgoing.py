"""Subscribers are told of events: signed, tried again, and never of what is not theirs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from interlace.engine.principal import LOCAL
from interlace.engine.triggers import Signature
from interlace.flows.request import Request
from interlace.flows.triggers.signatures import Signed, verify
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from tests.flows.triggers.schedules import Scheduled, flow
from tests.flows.triggers.test_events import first


class Subscriber:
    """An HTTP server that keeps what it is told, and answers as it is set to."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        subscriber = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                subscriber.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                status, headers = subscriber.answers.pop(0) if subscriber.answers else (204, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/secret-path"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    made = Subscriber()
    yield made
    made.server.shutdown()
    made.server.server_close()


async def run(scheduled: Scheduled, text: str, **request: Any) -> str:
    """Run a document to its end, or until it waits, and note what is told of it."""
    platform = scheduled.platform
    scheduled.clock.at = max(scheduled.clock.at, platform.store.database.now() + 1)
    run_id = await platform.runner.start(await platform.documents.from_text(text), Request(**request))
    await platform.runner.turn(run_id)
    await platform.runner.idle()
    await platform.triggers.events.look()
    return run_id


async def test_messages_are_signed_by_standard_webhooks(on_both: Scheduled, subscriber: Subscriber) -> None:
    outgoing, store = on_both.platform.triggers.outgoing, on_both.platform.store
    made, secret = await outgoing.subscribe(subscriber.url, ["run.succeeded", "run.failed"], by=LOCAL)
    good = await run(on_both, first())
    bad = await run(on_both, first(), inputs={"fail": True})
    await outgoing.look()
    told = sorted(subscriber.bodies, key=lambda body: body["type"])
    assert [(body["type"], body["data"]["run_id"], body["data"]["status"]) for body in told] == [
        ("run.failed", bad, "failed"), ("run.succeeded", good, "succeeded"),
    ]  # fmt: skip
    assert told[1]["data"]["outputs"] == {"said": "fine", "big": ""}
    assert told[0]["data"]["error"]["type"] == "missing"
    for headers, body in subscriber.got:
        signed = Signed(headers, body)
        at = float(headers["webhook-timestamp"])
        assert verify(Signature(type="standard"), signed, [secret], at)
        assert not verify(Signature(type="standard"), Signed(headers, body + b" "), [secret], at)
    messages = (await store.subscriptions.messages(made.id)).items
    assert {message.status for message in messages} == {"delivered"}
    assert {message.id for message in messages} == {headers["webhook-id"] for headers, _ in subscriber.got}
    await outgoing.look()
    assert len(subscriber.got) == 2


async def test_a_message_is_tried_again_under_its_id(scheduled: Scheduled, subscriber: Subscriber) -> None:
    outgoing, subscriptions = scheduled.platform.triggers.outgoing, scheduled.platform.store.subscriptions
    made, _ = await outgoing.subscribe(subscriber.url, ["run.succeeded"], by=LOCAL)
    subscriber.answers = [(500, {}), (429, {"retry-after": "900"})]
    await run(scheduled, first())
    for waited, status in ((0.0, 500), (5.0, 429)):
        scheduled.clock.at += waited
        await outgoing.look()
        [message] = (await subscriptions.messages(made.id)).items
        assert (message.status, message.answer, message.error) == (
            "pending",
            status,
            f"the address answered {status}",
        )
    assert message.next_at == scheduled.clock.at + 900
    scheduled.clock.at += 899
    await outgoing.look()
    assert len(subscriber.got) == 2
    scheduled.clock.at += 1
    await outgoing.look()
    assert len({headers["webhook-id"] for headers, _ in subscriber.got}) == 1
    assert len({body for _, body in subscriber.got}) == 1
    assert (await subscriptions.messages(made.id)).items[0].status == "delivered"


async def test_what_nobody_takes_is_given_up_and_sent_by_hand(
    scheduled: Scheduled, subscriber: Subscriber
) -> None:
    outgoing, subscriptions = scheduled.platform.triggers.outgoing, scheduled.platform.store.subscriptions
    made, _ = await outgoing.subscribe(subscriber.url, ["run.succeeded"], by=LOCAL)
    subscriber.answers = [(503, {})] * 10
    await run(scheduled, first())
    for _ in range(12):
        await outgoing.look()
        scheduled.clock.at += 90_000
    [dead] = (await subscriptions.messages(made.id, status="dead")).items
    assert (dead.attempts, len(subscriber.got)) == (10, 10)
    with pytest.raises(NotFoundError):
        await subscriptions.send_again("other", dead.id, scheduled.clock.at)
    await subscriptions.send_again(made.id, dead.id, scheduled.clock.at)
    await outgoing.look()
    assert [message.status for message in (await subscriptions.messages(made.id)).items] == ["delivered"]


async def test_an_address_that_is_gone_is_switched_off(scheduled: Scheduled, subscriber: Subscriber) -> None:
    outgoing, subscriptions = scheduled.platform.triggers.outgoing, scheduled.platform.store.subscriptions
    made, _ = await outgoing.subscribe(subscriber.url, ["run.succeeded"], by=LOCAL)
    subscriber.answers = [(410, {})]
    await run(scheduled, first())
    await outgoing.look()
    assert (await subscriptions.get(made.id)).active is False
    await run(scheduled, first())
    await outgoing.look()
    assert len(subscriber.got) == 1
    await outgoing.change(await subscriptions.get(made.id), by=LOCAL, active=True)
    await run(scheduled, first())
    await outgoing.look()
    assert len(subscriber.got) == 2


async def test_requests_to_people_are_told(scheduled: Scheduled, subscriber: Subscriber) -> None:
    outgoing = scheduled.platform.triggers.outgoing
    await outgoing.subscribe(subscriber.url, ["approval.requested", "run.suspended"], by=LOCAL)
    run_id = await run(scheduled, flow(ask=True))
    await outgoing.look()
    told = {body["type"]: body["data"] for body in subscriber.bodies}
    assert sorted(told) == ["approval.requested", "run.suspended"]
    assert told["approval.requested"]["run_id"] == run_id
    [wait] = (await scheduled.platform.store.waits.list(run_id=run_id)).items
    assert told["approval.requested"]["request_id"] == wait.id


async def test_addresses_inside_are_not_reached(scheduled: Scheduled) -> None:
    outgoing, subscriptions = scheduled.platform.triggers.outgoing, scheduled.platform.store.subscriptions
    made, _ = await outgoing.subscribe("http://169.254.169.254/latest", ["run.succeeded"], by=LOCAL)
    await run(scheduled, first())
    await outgoing.look()
    [message] = (await subscriptions.messages(made.id)).items
    assert (message.status, message.answer) == ("pending", None)
    assert str(message.error).startswith("blocked_address")
    assert "latest" not in str(message.error)


async def test_organisations_hear_of_their_runs_and_no_more(
    scheduled: Scheduled, subscriber: Subscriber
) -> None:
    store, outgoing = scheduled.platform.store, scheduled.platform.triggers.outgoing
    ann, ben, eve = [await store.users.create(name, by=LOCAL) for name in ("ann", "ben", "eve")]
    acme = await store.organisations.create("acme", by=LOCAL, owner=ann.id)
    await store.organisations.add(acme.id, ben.id, by=LOCAL)
    admin, member, stranger = [await store.users.principal(user.id) for user in (ann, ben, eve)]
    with pytest.raises(ForbiddenError):
        await outgoing.subscribe(subscriber.url, ["run.failed"], by=member, org_id=acme.id)
    with pytest.raises(NotFoundError):
        await outgoing.subscribe(subscriber.url, ["run.failed"], by=stranger, org_id=acme.id)
    made, _ = await outgoing.subscribe(subscriber.url, ["run.failed"], by=admin, org_id=acme.id)
    await run(scheduled, first(), inputs={"fail": True}, owner=ben.id, org_id=acme.id)
    await run(scheduled, first(), inputs={"fail": True}, owner=ben.id)
    await outgoing.look()
    [body] = subscriber.bodies
    assert body["data"]["error"] == {"type": "missing", "node": "check"}
    assert "outputs" not in body["data"]
    assert [one.id for one in (await store.subscriptions.list(by=admin)).items] == [made.id]
    assert (await store.subscriptions.list(by=member)).items == []


async def test_secrets_are_changed_without_a_gap(scheduled: Scheduled, subscriber: Subscriber) -> None:
    outgoing = scheduled.platform.triggers.outgoing
    scheduled.clock.at = scheduled.platform.store.database.now()
    made, old = await outgoing.subscribe(subscriber.url, ["run.succeeded"], by=LOCAL)
    new = await outgoing.rotate(made, by=LOCAL)
    await run(scheduled, first())
    await outgoing.look()
    [(headers, body)] = subscriber.got
    at = float(headers["webhook-timestamp"])
    rule = Signature(type="standard")
    assert [verify(rule, Signed(headers, body), [secret], at) for secret in (old, new)] == [True, True]
    scheduled.clock.at += 90_000
    await run(scheduled, first())
    await outgoing.look()
    headers, body = subscriber.got[-1]
    at = float(headers["webhook-timestamp"])
    assert [verify(rule, Signed(headers, body), [secret], at) for secret in (old, new)] == [False, True]


@pytest.mark.parametrize(
    ("url", "events", "secret"),
    [
        ("ftp://x", ["run.failed"], None), ("https://", ["run.failed"], None), ("https://x", ["run.ended"], None),
        ("https://x", [], None), ("https://x", ["run.failed"], "plain"),
    ],
)  # fmt: skip
async def test_what_cannot_be_subscribed(
    scheduled: Scheduled, url: str, events: list[str], secret: str | None
) -> None:
    with pytest.raises(ConflictError):
        await scheduled.platform.triggers.outgoing.subscribe(url, events, by=LOCAL, secret=secret)


async def test_what_is_removed_leaves_nothing(scheduled: Scheduled, subscriber: Subscriber) -> None:
    outgoing, store = scheduled.platform.triggers.outgoing, scheduled.platform.store
    made, _ = await outgoing.subscribe(subscriber.url, ["run.succeeded"], by=LOCAL)
    await run(scheduled, first())
    await outgoing.remove(made, by=LOCAL)
    await outgoing.look()
    await run(scheduled, first())
    assert (subscriber.got, await store.announcements.next_due()) == ([], None)
    assert await store.secrets.of_resource(made.id) == []
