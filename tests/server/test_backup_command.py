"""`interlace backup` and `restore`: while a server works, into a new home, and refused where they would do harm."""

from __future__ import annotations

from pathlib import Path

import httpx2

from tests.flows.documents import GREETING
from tests.server.command import Command


def test_a_working_servers_home_becomes_another(command: Command, tmp_path: Path) -> None:
    process, url = command.serve()
    headers = {"authorization": f"Bearer {command.key}"}
    with httpx2.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
        client.post("/api/v1/workflows", json={"document": GREETING, "publish": True}).raise_for_status()
        ran = client.post(
            "/api/v1/workflows/greeting/run?wait=30", json={"inputs": {"name": "you" * 5000}}
        ).json()
        assert ran["status"] == "succeeded", ran
    made = command("backup", "b.tar.gz", "--with-keys", "--json")
    assert made.code == 0, made.err
    assert made.json["keys"] is True
    assert made.json["payloads"] > 0
    refused = command("restore", "b.tar.gz", "--force")
    assert refused.code != 0
    assert "end it first" in refused.err, "a server runs on this home"
    checked = command("restore", "b.tar.gz", "--check", "--json")
    assert checked.json["rows"] == made.json["rows"]
    assert command("backup", "b.tar.gz").code != 0, "a file that is there is not written over"
    assert command("restore", "none.tar.gz").code == 2
    process.terminate()
    assert process.wait(60) == 0
    other = Command(tmp_path, INTERLACE_HOME=str(tmp_path / "other"))
    other.home = tmp_path / "other"
    assert other("restore", "b.tar.gz").code == 0
    assert other("restore", "b.tar.gz").code != 0, "there is something now"
    shown = other("runs", "show", ran["run_id"], "--json").json
    assert shown["outputs"] == ran["outputs"]
    process, url = other.serve()
    try:
        again = httpx2.get(f"{url}/api/v1/workflows", headers=headers, trust_env=False)
        assert [item["name"] for item in again.json()["items"]] == ["greeting"], (
            "the key of the old home works"
        )
    finally:
        other.end()
