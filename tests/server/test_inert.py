"""Saving, changing, listing, showing, exporting and importing over HTTP opens no connection and starts no process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, json, sys
from pathlib import Path
import httpx2
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import create_app

AWAY = "http://127.0.0.1:9/"
SERVER = {"transport": "http", "url": AWAY, "headers": {"A": "plain"}}
PROGRAM = {"transport": "stdio", "catalog": "touch"}
MODEL = {"name": "vendor", "base_url": AWAY, "api_key": "plain", "models": [{"name": "m"}], "roles": {"general": "m"}}
SPEC = json.dumps({"openapi": "3.1.0", "info": {"title": "api", "version": "1"}, "servers": [{"url": AWAY}],
    "paths": {"/go": {"get": {"operationId": "go", "responses": {}}}, "/more": {"$ref": AWAY}}})
FLOW = {"name": "f", "nodes": [{"id": "start", "type": "START"},
    {"id": "m", "type": "MCP", "config": {"server": "program", "tool": "t"}},
    {"id": "d", "type": "DATABASE", "config": {"connector": "pg", "sql": "SELECT 1"}},
    {"id": "l", "type": "LLM", "config": {"model": "vendor/m", "prompt": "x"}},
    {"id": "c", "type": "CONNECTOR", "config": {"connector": "api", "action": "go"}},
    {"id": "k", "type": "KB_RETRIEVAL", "config": {"knowledge_bases": ["kb"], "query": "x"}},
    {"id": "h", "type": "HTTP", "config": {"url": AWAY}},
    {"id": "end", "type": "END", "config": {"outputs": {"a": "{{ h.body }}"}}}],
    "edges": ["start -> m", "m -> d", "d -> l", "l -> c", "c -> k", "k -> h", "h -> end"]}
SAVED = [  # where, name, what is made, how it is changed
    ("databases", "pg", {"name": "pg", "definition": {"url": "postgresql://u:p@127.0.0.1:9/x"}},
        ("PATCH", {"definition": {"url": "postgresql://u:q@127.0.0.1:9/x", "password": "r"}})),
    ("databases", "my", {"name": "my", "definition": {"url": "mysql://u@127.0.0.1:9/x"}}, ("PATCH", {"active": False})),
    ("databases", "duck", {"name": "duck", "definition": {"url": "duckdb:///x.duckdb"}}, ("PATCH", {"active": True})),
    ("mcp-servers", "far", {"name": "far", "definition": SERVER}, ("PUT", {**SERVER, "timeout": 5})),
    ("mcp-servers", "program", {"name": "program", "definition": PROGRAM}, ("PUT", {**PROGRAM, "timeout": 5})),
    ("knowledge-bases", "kb", {"name": "kb"}, ("PUT", {"chunking": {"size": 64, "overlap": 8}})),
    ("models", "vendor", {"definition": MODEL}, ("PUT", {"definition": {**MODEL, "timeout": 5}})),
    ("connectors", "api", {"openapi": SPEC}, None),
]
WATCHED = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.exec", "os.system", "os.posix_spawn", "os.fork")
armed = False

def hook(event, args):
    if armed and event in WATCHED:
        print("OPENED", event, args[-1], flush=True)

sys.addaudithook(hook)

async def main():
    global armed
    home = Path(sys.argv[1])
    catalog = home.parent / "catalog.toml"
    catalog.write_text('[servers.touch]\\ncommand = ["/usr/bin/touch", "/nowhere/at/all"]\\n')
    platform = await Platform.open(Settings(home=home, prefect="off", http_allow=["127.0.0.1/32"],
        database_allow=["127.0.0.1"], mcp_stdio_catalog=catalog))
    app = create_app(platform)
    _, key = await platform.store.keys.create("test")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost/api/v1",
            headers={"authorization": f"Bearer {key}"}) as api:
        async def call(method, path, body=None):
            answer = await api.request(method, path, json=body)
            if answer.status_code >= 400:
                print("REFUSED", method, path, answer.text, flush=True)
        armed = True
        for place, name, made, changed in SAVED:
            await call("POST", f"/{place}", made)
            await call("GET", f"/{place}")
            await call("GET", f"/{place}/{name}")
            if changed is not None:
                await call(changed[0], f"/{place}/{name}", changed[1])
        await call("POST", "/connectors/preview", {"openapi": SPEC})
        await call("GET", "/connectors/api/export")
        await call("GET", "/mcp-servers/catalog")
        await call("POST", "/workflows", {"document": FLOW, "publish": True})
        await call("POST", "/workflows/validate", {"document": FLOW})
        if sys.argv[2] == "connect":
            await call("POST", "/mcp-servers/far/connect")
            await call("POST", "/mcp-servers/program/connect")
        for place, name, *_ in SAVED:
            await call("DELETE", f"/{place}/{name}")
        armed = False
        await app.state.mcp.close()
    await platform.close()
    print("DONE")

asyncio.run(main())
"""


def run(folder: Path, what: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), what],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_opened_or_started(tmp_path: Path) -> None:
    said = [
        line
        for line in run(tmp_path / "home", "").splitlines()
        if line.startswith(("OPENED", "REFUSED", "DONE"))
    ]
    assert said == ["DONE"]


def test_the_wire_would_trip(tmp_path: Path) -> None:
    out = run(tmp_path / "home", "connect")
    assert "OPENED socket.connect ('127.0.0.1', 9)" in out
    assert "OPENED subprocess.Popen" in out
