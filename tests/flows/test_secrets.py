"""A secret that a run read stands nowhere in what is kept of the run."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.principal import LOCAL, Principal
from interlace.flows.export import export_run
from interlace.flows.node_test import test_node as try_node
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.flows.shown import ShownRuns
from interlace.resources.secrets import MasterKeys, Secrets
from tests.flows.conftest import Run
from tests.flows.documents import chain, http
from tests.loopback import Loopback

SECRET = "s3cr3t/with+signs"
QUERY = {"type": "query", "name": "key", "value": "{{ secrets.token }}"}


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLACE_SECRETS_TOKEN", SECRET)


def _kept(home: Path) -> bytes:
    with sqlite3.connect(home / "interlace.db") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        text = "\n".join(database.iterdump()).encode()
    database.close()
    return text + b"".join(path.read_bytes() for path in (home / "payloads").rglob("*") if path.is_file())


async def test_outputs_that_give_it_back(
    platform: Platform, settings: Settings, run: Run, loopback: Loopback
) -> None:
    auth = {"type": "bearer", "token": "{{ secrets.token }}"}
    node = http("call", f"{loopback.url}/echo", auth=auth)
    result = await run(chain(node, outputs={"headers": "{{ call.body.headers }}"}))
    assert result.outputs is not None
    assert "Bearer [secrets.token]" in result.outputs["headers"].values()
    assert SECRET not in str(await export_run(platform.store, platform.documents, result.run_id))
    shown = await ShownRuns(platform, nodes=True, logs=True).pending(10)
    assert SECRET not in repr(shown)
    assert SECRET.encode() not in _kept(settings.home)


@pytest.mark.parametrize("user", ["", "u", "us", "use"])
async def test_basic_authentication_given_back(run: Run, loopback: Loopback, user: str) -> None:
    auth = {"type": "basic", "username": user, "password": "{{ secrets.token }}"}
    node = http("call", f"{loopback.url}/echo", auth=auth)
    result = await run(chain(node, outputs={"headers": "{{ call.body.headers }}"}))
    assert result.outputs is not None
    assert "[secrets.token]" in str(result.outputs["headers"])


async def test_error_messages_and_retries(
    platform: Platform, settings: Settings, run: Run, loopback: Loopback
) -> None:
    retry: dict[str, Any] = {"max": 1, "delay": 0.01, "on": ["http_404"]}
    auth = {"type": "query", "name": "key", "value": "{{ secrets.token }}"}
    result = await run(chain(http("call", f"{loopback.url}/status/404", auth=auth, retry=retry)))
    assert result.status == "failed"
    assert SECRET not in str(result.error)
    kept = _kept(settings.home)
    assert SECRET.encode() not in kept
    assert b"s3cr3t%2Fwith" not in kept


async def test_a_node_alone(platform: Platform, loopback: Loopback) -> None:
    auth = {"type": "bearer", "token": "{{ secrets.token }}"}
    pinned = await platform.documents.from_text(chain(http("call", f"{loopback.url}/echo", auth=auth)))
    report = await try_node(platform, pinned.document, "call", {})
    assert report["status"] == "succeeded"
    assert SECRET not in str(report)


async def test_a_missing_secret_says_how_to_set_it(run: Run, loopback: Loopback) -> None:
    auth = {"type": "bearer", "token": "{{ secrets.other }}"}
    result = await run(chain(http("call", loopback.url, auth=auth)))
    assert result.error is not None
    assert (result.error["type"], result.status) == ("missing_secret", "failed")
    assert "INTERLACE_SECRETS_OTHER" in result.error["message"]


async def test_the_store_is_read_before_the_environment(
    platform: Platform, settings: Settings, run: Run, loopback: Loopback
) -> None:
    await platform.secrets.put("TOKEN", "from-the-store", by=LOCAL)
    result = await run(chain(http("call", f"{loopback.url}/anything", auth=QUERY)))
    assert loopback.seen["/anything?key=from-the-store"] == 1
    assert "from-the-store" not in str(result)
    assert b"from-the-store" not in _kept(settings.home)


async def test_a_run_of_another_user_reads_their_secrets_alone(
    platform: Platform, loopback: Loopback
) -> None:
    ann = await platform.store.users.create("ann", by=LOCAL)
    document = chain(http("call", f"{loopback.url}/anything", auth=QUERY))
    pinned = await platform.documents.from_text(document)
    await platform.secrets.put("token", "the-owners", by=LOCAL)
    first = await platform.runner.wait(await platform.runner.start(pinned, Request(owner=ann.id)))
    assert first is not None
    assert first.error is not None
    assert (first.error["type"], SECRET in str(first.error)) == ("missing_secret", False)
    await platform.secrets.put("token", "of-ann", by=Principal(ann.id))
    second = await platform.runner.wait(await platform.runner.start(pinned, Request(owner=ann.id)))
    assert second is not None
    assert second.status == "succeeded"
    assert loopback.seen["/anything?key=of-ann"] == 1


async def test_secrets_that_cannot_be_opened_fail_the_node(
    platform: Platform, run: Run, loopback: Loopback
) -> None:
    await platform.secrets.put("token", "the-owners", by=LOCAL)
    other = Secrets(platform.store, MasterKeys(platform.settings.home, key="quite another key"))
    platform.environments._secrets = other
    result = await run(chain(http("call", f"{loopback.url}/anything", auth=QUERY)))
    assert result.error is not None
    assert result.error["type"] == "secret_key"
    assert "INTERLACE_SECRET_KEY" in result.error["message"]
