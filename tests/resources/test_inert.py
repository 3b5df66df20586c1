"""Keeping, listing, showing and exporting skills and agents opens nothing and starts nothing: the interpreter would tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, sys
from pathlib import Path
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.skills.archive import read_any, read_folder, write_folder, write_zip
from interlace.resources.skills.definition import Skill, SkillFile
from interlace.server.api.agents import agent_json, agent_text

SKILL = Skill(name="one", description="d", body="!`touch /tmp/x` http://127.0.0.1:9/", files=(
    SkillFile.of("setup.py", b"raise SystemExit(3)", executable=True), SkillFile.of("__init__.py", b"1/0")))
HOOK = {"do": "webhook", "url": "http://127.0.0.1:9/", "secret_headers": {"a": "b"}}
AGENT = {"name": "a", "connector_ids": ["http://127.0.0.1:9/"], "kb_ids": ["x"], "model": "nope/nope", "hooks": [
    {**HOOK, "event": event} for event in ("session_start", "pre_tool_use", "post_tool_use")]}
armed = False

def hook(event, args):
    watched = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen", "os.exec", "os.system",
        "os.posix_spawn", "os.fork", "exec")
    if armed and event in watched and not (event == "exec" and "site-packages" in str(args[0])):
        if event != "exec" or "setup" in str(args[0]):
            print("OPENED", event, args[-1], flush=True)

sys.addaudithook(hook)

async def main():
    global armed
    platform = await Platform.open(Settings(home=Path(sys.argv[1]), prefect="off", http_allow=["127.0.0.1/32"]))
    folder = Path(sys.argv[1]).parent / "out"
    armed = True
    await platform.skills.add(read_any(write_zip([SKILL])), by=LOCAL)
    await platform.skills.add(read_folder(write_folder(SKILL, folder)), by=LOCAL, replace=True)
    stubs = await platform.skills.visible(by=LOCAL)
    await platform.skills.read("one", by=LOCAL)
    await platform.skills.switch("one", active=False, by=LOCAL)
    await platform.agents.add(AGENT, by=LOCAL)
    resource, definition = await platform.agents.definition("a", by=LOCAL)
    agent_json(resource, LOCAL), agent_text(definition)
    await platform.agents.update("a", {**definition, "description": "d"}, by=LOCAL)
    await platform.agents.catalogue(by=LOCAL)
    _, agent = await platform.agents.use("a", by=LOCAL)
    hooks = await platform.agents.hooks(agent, by=LOCAL)
    if sys.argv[2] == "call":
        class Context:
            principal, path = LOCAL, "agent"
            class run: id = "r"
            def service(self, _): return platform.http
        print("DENIED", (await hooks.before("t", {}, Context())).denied)
    await platform.skills.remove("one", by=LOCAL)
    await platform.agents.remove("a", by=LOCAL)
    armed = False
    await platform.close()
    print("DONE", len(stubs))

asyncio.run(main())
"""


def run(folder: Path, what: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), what],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_opened(tmp_path: Path) -> None:
    assert run(tmp_path / "home", "") == "DONE 1\n"


def test_the_wire_would_trip(tmp_path: Path) -> None:
    out = run(tmp_path / "home", "call")
    assert "OPENED socket.connect ('127.0.0.1', 9)" in out
    assert "DENIED a hook's server gives no usable answer (connection)" in out
