"""Importing, saving, listing, showing and exporting open no connection: the interpreter itself would tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, sys, json
from pathlib import Path
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.connectors.curl import import_curl
from interlace.resources.connectors.openapi import export_openapi, import_openapi

SPEC = json.dumps({"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "http://127.0.0.1:9/v1"}], "paths": {
    "/a": {"get": {"operationId": "a", "responses": {}}, "post": {"$ref": "http://127.0.0.1:9/x.yaml"}}},
    "components": {"securitySchemes": {"o": {"type": "oauth2", "flows": {"authorizationCode": {
        "authorizationUrl": "http://127.0.0.1:9/a", "tokenUrl": "http://127.0.0.1:9/t", "scopes": {}}}}}}, "security": [{"o": []}]})
armed = False

def hook(event, args):
    if armed and event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen", "os.exec", "os.system", "os.posix_spawn"):
        print("OPENED", event, args[-1], flush=True)

sys.addaudithook(hook)

async def main():
    global armed
    platform = await Platform.open(Settings(home=Path(sys.argv[1]), prefect="off", http_allow=["127.0.0.1/32"]))
    armed = True
    made = import_openapi(SPEC, name="one")
    curl = import_curl("curl -H 'Authorization: Bearer abcdef' http://127.0.0.1:9/x", name="two")
    for one in (made, curl):
        await platform.connectors.add(one.connector, by=LOCAL)
    await platform.connectors.set_credentials("one", {"client_id": "i", "client_secret": "s"}, by=LOCAL)
    await platform.connectors.begin("one", by=LOCAL, redirect_uri="http://127.0.0.1:9/cb")
    page = await platform.store.resources.list("connector", by=LOCAL)
    for resource in page.items:
        _, loaded = await platform.connectors.find(resource.name, by=LOCAL)
        export_openapi(loaded.connector)
        [loaded.parameters(action) for action in loaded.connector.actions]
        await platform.connectors.update(resource.name, loaded.connector, by=LOCAL)
    if sys.argv[2] == "call":
        try:
            await platform.connectors.call("two", loaded.connector.actions[0].name, {}, by=LOCAL)
        except Exception as error:
            print("FAILED", type(error).__name__)
    for resource in page.items:
        await platform.connectors.remove(resource.name, by=LOCAL)
    armed = False
    await platform.close()
    print("DONE", len(page.items))

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
    assert run(tmp_path / "home", "") == "DONE 2\n"


def test_the_wire_would_trip(tmp_path: Path) -> None:
    out = run(tmp_path / "home", "call")
    assert "OPENED socket.connect ('127.0.0.1', 9)" in out
    assert "FAILED NodeError" in out
