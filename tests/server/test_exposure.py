"""A server that other machines reach: not before it knows its names and somebody can sign in."""

from __future__ import annotations

import subprocess
from urllib.parse import urlsplit

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.exposure import Exposed, check_names, check_owner
from interlace.server.guard import is_local, names
from tests.server.command import SCRIPT, Command


def settings(host: str, **more: object) -> Settings:
    return Settings(host=host, **more)


@pytest.mark.parametrize(("host", "local"), [("127.0.0.1", True), ("127.0.0.9", True), ("::1", True), ("localhost", True),
    ("0.0.0.0", False), ("::", False), ("10.0.0.5", False), ("flows.example", False)])  # fmt: skip
def test_what_only_this_machine_reaches(host: str, local: bool) -> None:
    assert is_local(host) is local
    if local:
        check_names(settings(host))
        return
    with pytest.raises(Exposed, match=r"set INTERLACE_HOSTS .*INTERLACE_PUBLIC_URL"):
        check_names(settings(host))
    check_names(settings(host, hosts=["flows.example"]))
    check_names(settings(host, public_url="https://flows.example"))


def test_names_of_an_exposed_server() -> None:
    assert names(settings("0.0.0.0", hosts=["*"])) is None
    found = names(settings("0.0.0.0", hosts=["Flows.example"], public_url="https://out.example:8443/x"))
    assert found is not None
    assert {"flows.example", "out.example", "localhost"} <= found
    assert "evil.example" not in found


async def test_somebody_must_be_able_to_sign_in(platform: Platform) -> None:
    platform.settings = platform.settings.model_copy(update={"host": "0.0.0.0"})
    with pytest.raises(Exposed, match=r"interlace user password owner"):
        await check_owner(platform)
    key, _ = await platform.store.keys.create("first")
    await check_owner(platform)
    await platform.store.keys.revoke(key.id)
    with pytest.raises(Exposed):
        await check_owner(platform)
    await platform.store.users.set_password(LOCAL.user_id, "hash", by=LOCAL)
    await check_owner(platform)


def test_the_command_refuses_and_says_what_to_do(command: Command) -> None:
    refused = command("serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "INTERLACE_HOSTS" in refused.err
    command.environment["INTERLACE_HOSTS"] = "127.0.0.1"
    refused = command("serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "interlace user password owner" in refused.err
    given = subprocess.run(
        [str(SCRIPT), "user", "password", "owner"], cwd=command.folder, env=command.environment, text=True,
        input="correct horse battery\n" * 2, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert given.returncode == 0, given.stderr
    process, url = command.serve("--host", "0.0.0.0")
    place = f"http://127.0.0.1:{urlsplit(url).port}/api/v1/session"
    body = {"email": "owner", "password": "correct horse battery"}
    assert httpx2.post(place, json=body, trust_env=False).status_code == 200
    assert httpx2.get(place, headers={"host": "evil.example"}, trust_env=False).status_code == 421
    process.terminate()
    _, said = process.communicate(timeout=30)
    assert "/login/link" not in said, "a link is shown on loopback only, and until there is a password"


def test_the_first_start_shows_a_link(command: Command) -> None:
    process, url = command.serve()
    made = command("user", "link", "--json").json["url"]
    process.terminate()
    _, said = process.communicate(timeout=30)
    (shown,) = [word for word in said.split() if word.startswith(f"{url}/login/link?token=")]
    assert shown != made
    process, url = command.serve()
    with httpx2.Client(base_url=url, trust_env=False) as client:
        for link in (shown, made):
            answer = client.get(f"/login/link?{urlsplit(link).query}")
            assert answer.headers["location"] == "/", link
            found = client.get("/api/v1/session").json()
            assert (found["user"]["name"], found["user"]["operator"]) == ("owner", True)
    process.terminate()
    assert process.wait(30) == 0
