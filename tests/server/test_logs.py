"""What the log shows of an error."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import structlog

from interlace.engine import origin
from interlace.flows.platform import Platform
from interlace.server.app import create_app
from interlace.server.logs import configure
from interlace.server.redaction import MASK, redact, redacted


class _Stream(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    structlog.reset_defaults()
    root.setLevel(level)
    root.handlers[:] = handlers


def _fail(token: str) -> None:
    raise ValueError(len(token))


@pytest.mark.parametrize("terminal", [False, True])
def test_a_traceback_shows_no_values(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    stream = _Stream(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    configure()
    try:
        _fail("very-secret"[::-1])
    except ValueError:
        structlog.get_logger("test").exception("it failed")
    shown = stream.getvalue()
    assert "it failed" in shown
    assert "ValueError" in shown
    assert "very-secret"[::-1] not in shown


SECRETS = [
    "il_abcdefghij_" + "s" * 43, "Bearer abcdefghijklmnop", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "sk-proj-abcdefghijklmnopqrstuv", "ghp_" + "a" * 36, "AKIAABCDEFGHIJKLMNOP", "postgresql://user:hush-hush@db/x",
    "xoxb-1234567890-abc", "whsec_" + "q" * 32, "https://x.example/login/link?token=" + "t" * 43,
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "/hooks/" + "h" * 32,
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_secret_is_masked(secret: str) -> None:
    for value in (secret, f"before {secret} after", {"deep": [{"er": secret}]}, (secret,)):
        shown = str(redacted(value))
        assert MASK in shown
        core = "hush-hush" if "hush" in secret else max(re.split(r"[ /:@=\n]", secret), key=len)
        assert core not in shown, shown


@pytest.mark.parametrize(
    "name", ["password", "api_key", "Authorization", "x-api-key", "client_secret", "access_token", "cookie"]
)
def test_fields_that_are_named_so_are_masked(name: str) -> None:
    assert redacted({"a": {name: "plain"}}) == {"a": {name: MASK}}
    assert redact(None, "info", {name: "plain", "event": "x"}) == {name: MASK, "event": "x"}


def test_what_is_no_secret_stays() -> None:
    line = {
        "event": "a request failed",
        "tokens": 12,
        "secretary": "ann",
        "path": "/api/v1/runs",
        "node": "each[2].call",
        "n": None,
    }
    assert redact(None, "info", dict(line)) == line


def _lines(stream: _Stream) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_lines_name_run_and_node(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    configure(style="json")
    token = origin.current.set(origin.Origin("run-1", trace=origin.Trace("ab" * 16)))
    try:
        origin.enter("each[0].call", 2)
        structlog.get_logger("test").info("something", password="x")
        logging.getLogger("some.library").warning("Bearer %s", "abcdefghijklmnop")
    finally:
        origin.current.reset(token)
    structlog.get_logger("test").info("outside")
    first, second, third = _lines(stream)
    assert (first["run_id"], first["node"], first["attempt"], first["password"]) == (
        "run-1",
        "each[0].call",
        2,
        MASK,
    )
    assert first["trace_id"] == "ab" * 16
    assert len(first["span_id"]) == 16
    assert (second["event"], second["level"], second["logger"], second["run_id"]) == (
        f"Bearer {MASK}",
        "warning",
        "some.library",
        "run-1",
    )
    assert "run_id" not in third


def test_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    configure(level="error")
    structlog.get_logger("test").warning("not shown")
    logging.getLogger("some.library").warning("not shown")
    structlog.get_logger("test").error("shown")
    assert [line["event"] for line in _lines(stream)] == ["shown"]


async def test_requests_are_logged_by_their_pattern(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = _Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    configure()
    platform.settings = platform.settings.model_copy(update={"access_log": True})
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(create_app(platform)), base_url="http://localhost"
    ) as client:
        answer = await client.get("/login/link?token=" + "t" * 43, headers={"x-request-id": "mine-1"})
        assert answer.headers["x-request-id"] == "mine-1"
        other = await client.get("/health/live", headers={"x-request-id": "not an id\t"})
        assert len(other.headers["x-request-id"]) == 16
    (line,) = [line for line in _lines(stream) if line["event"] == "request"]
    assert (line["route"], line["status"], line["request"], line["method"]) == (
        "/login/link",
        303,
        "mine-1",
        "GET",
    )
    assert "tttt" not in stream.getvalue()
