"""Every route against its own description: no fault of the server, no answer that the OpenAPI document does not know.

schemathesis makes the requests: each value at its limits and beyond them, in a fixed order.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openapi_core import OpenAPI

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import create_app
from tests.flows.waiting import ASK
from tests.server.served import served
from tests.server.tenant_cases import FLOW

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


async def objects(http: httpx2.AsyncClient) -> dict[str, str]:
    """One object of many kinds, by the names of path parameters."""

    async def made(path: str, body: Any, name: str = "id") -> str:
        answer = await http.post(f"/api/v1/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return str(answer.json()[name])

    workflow = await made(
        "workflows",
        {
            "document": {**FLOW, "inputs": {"type": "object", "properties": {"n": {"default": 1}}}},
            "publish": True,
        },
    )
    asks = (await http.post("/api/v1/runs?wait=20", json={"document": ASK})).json()
    file = await http.post("/api/v1/files", files={"file": ("a.txt", b"a", "text/plain")})
    api = {"name": "api", "base_url": "https://api.example.com", "actions": [{"name": "look"}]}
    return {
        "workflow": workflow, "run_id": asks["run_id"], "request_id": asks["waiting"][0]["id"], "ref": file.json()["ref"],
        "session": await made("sessions", {}), "agent": await made("agents", {"definition": {"name": "a"}}),
        "connector": await made("connectors", {"definition": api}),
        "database": await made("databases", {"name": "shop", "definition": {"url": "sqlite:///shop.db"}}),
        "base": await made("knowledge-bases", {"name": "base"}),
        "skill": await made("skills", {"definition": {"name": "s", "description": "d"}}),
        "schedule": await made("schedules", {"workflow": workflow, "cron": "@yearly"}),
        "webhook": await made("webhooks", {"workflow": workflow}), "kind": "HTTP", "tool": "calculator",
    }  # fmt: skip


async def run(tmp_path: Path, *arguments: str) -> str:
    """What schemathesis finds, as it tells it."""
    settings = Settings(home=tmp_path / "home", prefect="off")
    async with served(settings) as (app, url):
        _, key = await app.state.platform.store.keys.create("fuzz")
        header = {"authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(base_url=url, headers=header, timeout=30, trust_env=False) as http:
            known = await objects(http)
        given = "\n".join(f'"path.{name}" = {json.dumps(value)}' for name, value in known.items())
        gone = ", ".join(f'"path.{name}" = "gone"' for name in known)
        config = tmp_path / "schemathesis.toml"
        config.write_text(
            f'[parameters]\n{given}\n\n[[operations]]\ninclude-method = "DELETE"\nparameters = {{ {gone} }}\n'
        )
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("st")), "--config-file", str(config), "run", f"{url}/openapi.json",
            "--header", f"Authorization: Bearer {key}", "--checks", CHECKS, "--seed", "1", "--workers", "1",
            "--request-timeout", "30", "--no-color", "--warnings", "off", "--generation-deterministic", *arguments,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=tmp_path,
        )  # fmt: skip
        out, _ = await process.communicate()
        text = out.decode()
        assert process.returncode == 0, text[text.find("= FAILURES") :][-20_000:]
        return text


@pytest.mark.timeout(600)
async def test_every_route_answers_as_it_says(tmp_path: Path) -> None:
    said = await run(tmp_path, "--phases", "examples,coverage", "--mode", "positive")
    tested = int(said.split("Tested: ")[1].split()[0])
    assert tested > 150


@pytest.mark.slow
@pytest.mark.timeout(3600)
async def test_every_route_for_long(tmp_path: Path) -> None:
    await run(tmp_path, "--phases", "examples,coverage,fuzzing", "--max-examples", "50")


async def test_the_document_is_pleasant(platform: Platform) -> None:
    document = create_app(platform).openapi()
    OpenAPI.from_dict(document)  # it is one
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    ids = [operation["operationId"] for operation in operations]
    assert len(set(ids)) == len(ids)
    assert not [name for name in ids if "_api_v1_" in name or "__" in name]
    assert {"run_workflow", "list_runs", "get_run", "answer_approval", "call_workflow"} <= set(ids)
    for path, item in document["paths"].items():
        for operation in item.values():
            assert operation.get("tags"), path
            assert {"4XX", "5XX"} <= operation["responses"].keys()
    assert document["paths"]["/api/v1/runs"]["get"]["security"] == [{"key": []}]
    assert "security" not in document["paths"]["/health/live"]["get"]
