"""The commands in this process, through Typer's runner: what they print for programs and for people."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from interlace.server.cli.main import app
from interlace.server.lock import HomeLock
from tests.engine.test_registry import install
from tests.flows.documents import GREETING, chain, template


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INTERLACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("INTERLACE_PREFECT", "off")
    (tmp_path / "a.json").write_text(GREETING)


def interlace(*arguments: str, code: int = 0, text: str | None = None) -> Result:
    result = CliRunner().invoke(app, arguments, input=text)
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return result


def as_json(*arguments: str, code: int = 0) -> Any:
    return json.loads(interlace(*arguments, "--json", code=code).stdout)


def test_stored_workflows() -> None:
    assert as_json("workflows", "list") == {"items": []}
    assert "No workflows yet" in interlace("workflows", "list").stdout
    pushed = as_json("workflows", "push", "a.json", "-m", "first")
    assert pushed | {"id": ""} == {
        "id": "", "name": "greeting", "version": 1, "created": True, "published": False,
    }  # fmt: skip
    refused = as_json("run", "greeting", "-i", "name=Ada", code=2)
    assert "no published version" in refused["error"]["message"]
    assert as_json("run", "greeting", "-i", "name=Ada", "--version", "latest")["status"] == "succeeded"
    assert as_json("run", "greeting", "--version", "soon", code=2)["status"] == "invalid"
    assert as_json("workflows", "publish", "greeting") == {"name": "greeting", "published_version": 1}
    assert as_json("run", pushed["id"], "-i", "name=Ada")["outputs"] == {"text": "Hello Ada"}
    renamed = as_json("workflows", "rename-node", "greeting", "greet", "hail")
    assert (renamed["version"], renamed["new"]) == (2, "hail")
    changes = as_json("workflows", "diff", "greeting")
    assert "hail" in json.dumps(changes)
    assert "no difference" in interlace("workflows", "diff", "greeting", "1", "a.json").stdout
    shown = as_json("workflows", "show", "greeting", "--version", "2")
    assert shown["document"]["nodes"][1]["id"] == "hail"
    assert "{{ hail.text }}" in shown["text"]
    (item,) = as_json("workflows", "list")["items"]
    assert (item["latest_version"], item["published_version"]) == (2, 1)
    assert as_json("workflows", "delete", "greeting", "--yes") == {"name": "greeting", "deleted": True}
    assert as_json("workflows", "show", "greeting", code=2)["error"]["type"] == "not_found"


def test_pulling_gives_what_was_pushed(tmp_path: Path) -> None:
    interlace("workflows", "push", "a.json", "--publish")
    text = interlace("workflows", "pull", "greeting").stdout
    assert text.startswith("schema: interlace/v1")
    interlace("workflows", "pull", "greeting", "-o", "b.yaml")
    interlace("workflows", "pull", "greeting", "-o", "c.json")
    for name in ("b.yaml", "c.json"):
        assert as_json("workflows", "push", name)["created"] is False
    assert json.loads((tmp_path / "c.json").read_text()) == as_json("workflows", "pull", "greeting")
    assert interlace("workflows", "delete", "greeting", text="n\n", code=1)


def test_renaming_in_a_file(tmp_path: Path) -> None:
    assert as_json("workflows", "rename-node", "a.json", "greet", "hail")["file"] == "a.json"
    assert "{{ hail.text }}" in (tmp_path / "a.json").read_text()
    assert (
        "comments and layout are not kept"
        in interlace("workflows", "rename-node", "a.json", "hail", "greet").stderr
    )
    as_json("workflows", "rename-node", "a.json", "gone", "x", code=1)
    as_json("workflows", "rename-node", "missing.yaml", "gone", "x", code=2)
    assert not (tmp_path / "home").exists()


def test_runs(tmp_path: Path) -> None:
    assert as_json("runs", "list") == {"items": [], "next_cursor": None}
    ids = [as_json("run", "a.json", "-i", f"name={name}")["run_id"] for name in ("Ada", "Bo")]
    first = as_json("runs", "list", "--limit", "1")
    assert [run["id"] for run in first["items"]] == ids[1:]
    second = as_json("runs", "list", "--limit", "1", "--cursor", first["next_cursor"])
    assert [run["id"] for run in second["items"]] == ids[:1]
    assert as_json("runs", "list", "--status", "failed")["items"] == []
    report = as_json("runs", "show", ids[0][-10:])
    assert (report["run_id"], report["outputs"]) == (ids[0], {"text": "Hello Ada"})
    events = as_json("runs", "events", ids[0])["items"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert as_json("runs", "events", ids[0], "--after", "3")["items"] == events[3:]
    followed = interlace("runs", "events", ids[0], "--follow", "--json").stdout
    assert [json.loads(line) for line in followed.splitlines()] == events
    assert "run.succeeded" in interlace("runs", "events", ids[0]).stdout
    assert as_json("runs", "why", ids[0], "greet")["status"] == "succeeded"
    assert as_json("runs", "why", ids[0], "gret", code=2)["error"]["type"] == "not_found"
    assert as_json("runs", "show", "nothing", code=2)["error"]["type"] == "not_found"
    exported = as_json("runs", "export", ids[0])
    assert set(exported) == {"interlace_run", "document", "inputs", "report", "events"}
    assert exported["inputs"] == {"name": "Ada"}
    interlace("runs", "export", ids[0], "-o", "run.json")
    assert json.loads((tmp_path / "run.json").read_text()) == exported
    assert as_json("runs", "cancel", ids[0], code=1)["status"] == "succeeded"


def test_a_node_alone(tmp_path: Path) -> None:
    text = chain(template("a", "A"), template("b", "{{ a.text }} {{ inputs.n }}"), name="two")
    (tmp_path / "two.json").write_text(text)
    (tmp_path / "given.yaml").write_text("a: {text: given}\ninputs: {n: 5}\n")
    report = as_json("test-node", "two.json", "b", "--inputs", "given.yaml")
    assert (report["status"], report["outputs"], report["handles"]) == (
        "succeeded",
        {"text": "given 5"},
        ["out"],
    )
    failed = as_json("test-node", "two.json", "b", code=1)
    assert (failed["status"], failed["outputs"], failed["error"]["node"]) == ("failed", None, "b")
    unknown = as_json("test-node", "two.json", "c", code=2)
    assert unknown["error"]["problems"][0]["code"] == "unknown_node"
    assert as_json("test-node", "missing.yaml", "c", code=2)["error"]["type"] == "validation"


def test_inputs_are_read_by_their_type(tmp_path: Path) -> None:
    properties = {
        "n": {"type": "integer"}, "flag": {"type": "boolean"}, "list": {"type": "array"}, "text": {"type": "string"},
        "file": {"type": "object", "format": "file"},
    }  # fmt: skip
    names = {name: "{{ inputs.%s | default(none) }}" % name for name in properties}  # noqa: UP031 - braces
    text = chain(outputs=names, inputs={"type": "object", "properties": properties}, name="typed")
    (tmp_path / "typed.json").write_text(text)
    (tmp_path / "note.txt").write_text("from a file")
    (tmp_path / "in.yaml").write_text("n: 1\ntext: no\n")
    pairs = [
        "-i",
        "n=5",
        "-i",
        "flag=true",
        "-i",
        "list=[1, 2]",
        "-i",
        "text=@note.txt",
        "-i",
        "file=@note.txt",
    ]
    outputs = as_json("run", "typed.json", "--inputs", "in.yaml", *pairs)["outputs"]
    assert outputs["file"]["name"] == "note.txt"
    assert outputs | {"file": None} == {
        "n": 5, "flag": True, "list": [1, 2], "text": "from a file", "file": None,
    }  # fmt: skip
    assert as_json("run", "typed.json", "--inputs", "in.yaml")["outputs"]["text"] == "no"
    assert as_json("run", "typed.json", "-i", "text=@@me")["outputs"]["text"] == "@me"
    (tmp_path / "note.txt").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in as_json("run", "typed.json", "-i", "text=@note.txt", code=2)["error"]["message"]
    for wrong in ("n=five", "flag=perhaps", "list={"):
        assert as_json("run", "typed.json", "-i", wrong, code=2)["status"] == "invalid"
    for bad in ("[1]", "a: [", "\x00"):
        (tmp_path / "in.yaml").write_text(bad)
        assert as_json("run", "typed.json", "--inputs", "in.yaml", code=2)["status"] == "invalid"


def test_the_catalogue_and_the_installation(tmp_path: Path) -> None:
    items = as_json("nodes")["items"]
    assert {"START", "HTTP", "CODE"} <= {item["type"] for item in items}
    assert as_json("nodes", "http")["type"] == "HTTP"
    assert "did you mean 'HTTP'" in interlace("nodes", "HTP", code=2).stderr
    assert "example:" in interlace("nodes", "TEMPLATE").stdout
    assert as_json("version")["document_schema"] == "interlace/v1"
    made = as_json("user", "key", "create", "--name", "ci")
    assert made["key"].startswith("il_")
    assert not (tmp_path / "home" / "server.json").exists()


def test_keys_are_listed_and_revoked() -> None:
    made = as_json("user", "key", "create", "--name", "ci")
    (kept,) = as_json("user", "key", "list")["items"]
    assert (kept["id"], kept["name"], kept["revoked_at"]) == (made["id"], "ci", None)
    shown = interlace("user", "key", "list").stdout
    assert made["id"] in shown
    assert made["key"].rpartition("_")[2] not in shown + json.dumps(kept)
    assert as_json("user", "key", "revoke", made["id"]) == {"id": made["id"], "revoked": True}
    assert as_json("user", "key", "list")["items"][0]["revoked_at"] is not None
    assert "nothing" in interlace("user", "key", "revoke", "nothing", code=2).stderr
    assert as_json("user", "key", "revoke", "nothing", code=2)["error"]["type"] == "not_found"


def test_doctor_tells_of_a_server_that_does_not_answer_and_a_broken_plug_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(tmp_path, "plug_without_licence", "raise RuntimeError('no licence')", "plug_without_licence")
    monkeypatch.syspath_prepend(str(tmp_path))
    home = tmp_path / "home"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with HomeLock(home):
        (home / "server.json").write_text(json.dumps({"url": f"http://127.0.0.1:{port}", "pid": 1}))
        (home / "owner.key").write_text("il_a_b")
        found = as_json("doctor", code=1)
    checks = {check["name"]: check for check in found["checks"]}
    assert checks["server"]["state"] == "failed"
    assert "does not answer" in checks["server"]["detail"]
    assert checks["plug-in"]["state"] == "warning"
    assert "no licence" in checks["plug-in"]["detail"]
    assert "allow-lists" in checks


def test_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLACE_PREFECT_AUTH", "user:hidden")
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert {check["name"] for check in found["checks"]} >= {
        "python", "home", "database", "node types", "code sandbox", "server", "prefect", "allow-lists",
    }  # fmt: skip
    assert "hidden" not in json.dumps(found)
    monkeypatch.setenv("INTERLACE_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    broken = CliRunner().invoke(app, ["doctor", "--json"])
    assert broken.exit_code == 1
    (database,) = [check for check in json.loads(broken.stdout)["checks"] if check["name"] == "database"]
    assert (database["state"], bool(database["fix"])) == ("failed", True)


def test_a_database_that_does_not_answer_is_exit_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLACE_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    assert as_json("run", "a.json", "-i", "name=x", code=3)["status"] == "unreachable"
    assert as_json("runs", "list", code=3)["error"]["type"] == "store"
