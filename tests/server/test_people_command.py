"""`interlace user`, `org`, `secrets` and `audit` in processes of their own."""

from __future__ import annotations

import subprocess

from tests.server.command import SCRIPT, Command


def _feed(command: Command, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SCRIPT), *arguments], cwd=command.folder, env=command.environment, text=True, input=text,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def test_people_and_what_they_did(command: Command) -> None:
    made = command("user", "create", "ann", "--json")
    assert made.code == 0, made.err
    assert made.json["key"].startswith("il_")
    assert command("org", "create", "acme", "--owner", "ann").code == 0
    assert command("org", "add", "acme", "owner", "--role", "admin").code == 0
    (acme,) = command("org", "list", "--json").json["items"]
    assert [(member["name"], member["role"]) for member in acme["members"]] == [
        ("ann", "owner"),
        ("owner", "admin"),
    ]
    assert command("user", "create", "ann").code == 2
    lines = command("audit", "list", "--json").json["items"]
    assert [line["action"] for line in lines] == [
        "org.add", "org.create", "key.create", "user.create",
    ]  # fmt: skip
    assert command("user", "disable", "ann").code == 0


def test_links_invitations_and_keys(command: Command) -> None:
    assert command("user", "create", "ann", "--email", "ann@example.com").code == 0
    assert command("user", "create", "ben", "--email", "ANN@example.com").code == 2, (
        "an address is one user's"
    )
    assert command("user", "create", "ben", "--email", "nobody").code == 2
    link = command("user", "link", "ann")
    assert "http://127.0.0.1" in link.out
    assert "none runs now" in link.err
    assert command("user", "link", "nobody").code == 2
    changed = command("user", "change", "ann", "--email", "", "--operator", "--json").json
    assert (changed["email"], changed["operator"]) == (None, True)
    assert command("user", "change", "owner", "--no-operator").code == 2
    assert command("user", "logins", "ann", "--json").json == {"items": []}
    assert command("org", "create", "acme").code == 0
    made = command("org", "invite", "acme", "--role", "admin", "--expires", "2h", "--json").json
    assert made["url"].endswith(f"/invitations/{made['token']}")
    assert command("org", "invite", "acme", "--role", "boss").code == 2
    assert command("org", "invite", "acme", "--expires", "soon").code == 2
    assert command("org", "uninvite", "acme", made["id"]).code == 0
    assert command("org", "uninvite", "acme", made["id"]).code == 2
    (listed,) = command("org", "invitations", "acme", "--json").json["items"]
    assert (listed["status"], listed["role"]) == ("revoked", "admin")
    assert command("org", "rename", "acme", "acme-two").code == 0
    keys = command("user", "key", "list", "--user", "ann", "--json").json["items"]
    assert [key["name"] for key in keys] == ["first"]
    assert command("user", "key", "revoke", keys[0]["id"]).code == 2, "it is not the owner's"
    assert command("user", "key", "revoke", keys[0]["id"], "--user", "ann").code == 0


def test_secrets_come_from_standard_input_and_are_not_shown(command: Command) -> None:
    done = _feed(command, "canary-value\n", "secrets", "set", "TOKEN")
    assert done.returncode == 0, done.stderr
    listed = command("secrets", "list", "--json")
    assert [entry["name"] for entry in listed.json["items"]] == ["TOKEN"]
    key = (command.home / "secret.key").read_text()
    assert command("secrets", "rotate", "--json").json == {"keys": 1}
    assert (command.home / "secret.key").read_text() != key
    shown = listed.out + command("audit", "list").out + done.stdout + done.stderr
    assert "canary-value" not in shown
    assert command("secrets", "remove", "TOKEN").code == 0
    assert command("secrets", "remove", "TOKEN").code == 2
    assert _feed(command, "x", "secrets", "set", "not a name").returncode == 2
