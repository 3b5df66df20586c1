"""`interlace schedule …` and `interlace webhook …`."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from tests.server.command import Command

FLOW = json.dumps(
    {
        "name": "report", "inputs": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}},
        "triggers": [{"type": "cron", "id": "nightly", "cron": "0 3 * * *"}, {"type": "webhook", "id": "orders"}],
        "nodes": [{"id": "start", "type": "START"}, {"id": "done", "type": "END", "config": {"outputs": {"n": "{{ inputs.n }}"}}}],
        "edges": ["start -> done"],
    }
)  # fmt: skip


def test_schedules_on_the_command_line(command: Command) -> None:
    command.write("report.json", FLOW)
    assert command("workflows", "push", "report.json", "--publish").code == 0
    made = command(
        "schedule",
        "add",
        "report",
        "*/5 * * * *",
        "-z",
        "Asia/Tokyo",
        "-i",
        "n=4",
        "--name",
        "often",
        "--json",
    ).json
    assert (made["timezone"], made["inputs"], made["source"]) == ("Asia/Tokyo", {"n": 4}, "own")
    listed = command("schedule", "list", "--json").json["items"]
    assert {(item["name"], item["source"]) for item in listed} == {("often", "own"), ("nightly", "document")}
    ran = command("schedule", "run", made["id"], "--json").json
    assert ran["status"] == "succeeded"
    assert command("runs", "show", ran["run_id"], "--json").json["outputs"] == {"n": 4}
    paused = command("schedule", "pause", made["id"], "--json").json
    assert (paused["paused"], paused["next"]) == (True, None)
    assert command("schedule", "resume", made["id"]).err.startswith("✓ starts runs next at")
    shown = command("schedule", "show", made["id"])
    assert "*/5 * * * *" in shown.out
    assert "Nothing was due yet." in shown.out
    assert command("schedule", "remove", made["id"]).code == 0
    gone = command("schedule", "show", made["id"])
    assert (gone.code, "`interlace schedule list` shows the ids" in gone.err) == (2, True)
    refused = command("schedule", "add", "report", "61 * * * *")
    assert (refused.code, "'61' is no minute" in refused.err) == (2, True)


def test_previews_need_no_schedule(command: Command) -> None:
    found = command("schedule", "preview", "30 2 * * *", "-z", "Europe/Berlin", "-n", "400", "--json").json[
        "items"
    ]
    assert len(found) == 400
    moved = [one for one in found if one["change"] == "moved"]
    assert [datetime.fromtimestamp(one["at"], UTC).month for one in moved] in ([3], [3, 3])
    table = command("schedule", "preview", "@daily", "-n", "2").out
    assert len(table.splitlines()) == 3


def test_webhooks_on_the_command_line(command: Command) -> None:
    command.write("report.json", FLOW)
    command("workflows", "push", "report.json", "--publish")
    [document] = command("webhook", "list", "--json").json["items"]
    assert (document["name"], document["url"].startswith("http://")) == ("orders", True)
    made = command(
        "webhook", "add", "report", "--signature", "github", "--key-header", "X-Id", "--wait", "5s", "--json"
    ).json
    assert made["secret"].startswith("whsec_")
    assert (made["signature"]["type"], made["idempotency"]["header"], made["response"]) == (
        "github", "X-Id", {"mode": "wait", "timeout": 5.0},
    )  # fmt: skip
    changed = command("webhook", "rotate-token", made["id"], "--json").json
    assert changed["url"] != made["url"]
    secret = command("webhook", "rotate-secret", made["id"]).out.strip()
    assert secret.startswith("whsec_")
    assert secret != made["secret"]
    assert command("webhook", "pause", made["id"], "--json").json["paused"] is True
    assert command("webhook", "resume", made["id"], "--json").json["paused"] is False
    assert command("webhook", "deliveries", made["id"], "--json").json == {"items": []}
    assert "POST" in command("webhook", "show", made["id"]).out
    refused = command("webhook", "remove", document["id"])
    assert (refused.code, "stands in the workflow's document" in refused.err) == (2, True)
    assert command("webhook", "remove", made["id"]).code == 0
    missing = command("webhook", "redeliver", document["id"], "none")
    assert missing.code == 2
