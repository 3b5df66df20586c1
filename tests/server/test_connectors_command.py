"""`interlace connectors`: from a file to a call. The commands run in this process, which is quicker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.docs.console import Terminal
from tests.loopback import Loopback
from tests.server.test_connectors_api import BEARER, spec


def test_from_a_file_to_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loopback: Loopback) -> None:
    terminal = Terminal(tmp_path, monkeypatch)
    monkeypatch.setenv("INTERLACE_HTTP_ALLOW", "127.0.0.1/32")
    monkeypatch.setenv("INTERLACE_PREFECT", "off")

    def done(*arguments: str) -> str:
        return "\n".join(terminal._interlace(["connectors", *arguments]))

    Path("things.json").write_text(spec(loopback.url, **BEARER))
    tried = json.loads(done("add", "things.json", "--dry-run", "--json"))
    assert (tried["imported"], tried["definition"]["name"]) == (2, "things")
    assert "2 of 3 operations" in done("add", "things.json")
    assert "there is a connector 'things' already" in done("add", "things.json")
    assert "needs credentials: token" in done("test", "things", "getThing", "-p", "id=1")
    done("credentials", "things", "--set", "token=s3cr3t")
    assert "getThing" in done("actions", "things")
    assert json.loads(done("actions", "things", "getThing"))["parameters"]["required"] == ["id"]
    assert "s3cr3t" not in done("show", "things", "--json")
    assert "✓ 200" in done("test", "things", "getThing", "-p", "id=1")
    assert "Did you mean 'id'" in done("test", "things", "getThing", "-p", "idd=1")
    done("export", "things", "-o", "out.json")
    assert "s3cr3t" not in Path("out.json").read_text()
    done("add", "out.json", "--name", "again")
    assert [one["name"] for one in json.loads(done("list", "--json"))["items"]] == ["things", "again"]
    Path("bad.json").write_text('{"openapi": }')
    assert "line 1" in done("add", "--openapi", "bad.json")
    assert "✓" in done("remove", "again")
    assert "no connector 'again'" in done("show", "again")
