"""`/api/v1/skills`: kept as fields, as a `SKILL.md`, as a zip file; exported as they came."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import httpx2

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/skills"
TEXT = "---\nname: 返金\ndescription: How refunds are made\n---\n\n# Refunds\n"


def upload(name: str, content: bytes) -> dict[str, Any]:
    return {"file": (name, content, "application/octet-stream")}


async def test_from_a_text_to_a_zip_file_and_back(api: httpx2.AsyncClient, problem: Problem) -> None:
    body = {"text": TEXT, "files": [{"path": "scripts/a.py", "text": "print(1)\n", "executable": True}]}
    made = await api.post(PATH, json=body)
    assert made.status_code == 201, made.text
    assert (made.json()["name"], made.json()["files"]) == ("返金", ["scripts/a.py"])
    problem(await api.post(PATH, json=body), 409, "conflict")
    shown = (await api.get(f"{PATH}/返金")).json()
    assert (shown["text"], shown["definition"]["body"]) == (TEXT, "# Refunds")
    assert "definition" not in (await api.get(PATH)).json()["items"][0]
    exported = await api.get(f"{PATH}/返金/export")
    assert exported.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(exported.content)) as packed:
        assert packed.namelist() == ["返金/SKILL.md", "返金/scripts/a.py"]
    problem(await api.post(f"{PATH}/import", files=upload("x.zip", exported.content)), 409, "conflict")
    again = await api.post(f"{PATH}/import?replace=true", files=upload("x.zip", exported.content))
    assert [(item["id"], item["version"]) for item in again.json()["items"]] == [(made.json()["id"], 2)]
    off = await api.put(f"{PATH}/返金", json={"active": False})
    assert off.json()["active"] is False
    renamed = await api.put(
        f"{PATH}/返金", json={"definition": {"name": "refunds", "description": "d"}, "expected_version": 3}
    )
    assert (renamed.json()["name"], renamed.json()["files"]) == ("refunds", [])
    assert (await api.delete(f"{PATH}/refunds")).status_code == 204
    problem(await api.get(f"{PATH}/refunds"), 404, "not_found")


async def test_what_is_no_skill_is_said(api: httpx2.AsyncClient, problem: Problem) -> None:
    problem(await api.post(PATH, json={}), 422, "bad_request")
    problem(await api.post(PATH, json={"text": TEXT, "definition": {}}), 422, "bad_request")
    problem(await api.post(PATH, json={"text": "# No front matter"}), 422, "skill_definition")
    said = problem(await api.post(PATH, json={"definition": {"name": "a/b"}}), 422, "skill_definition")
    assert "cannot be the name" in said["detail"]
    body = {"text": TEXT, "files": [{"path": "../x", "text": ""}]}
    problem(await api.post(PATH, json=body), 422, "bad_request")
    problem(await api.post(f"{PATH}/import"), 422, "bad_request")
    problem(
        await api.post(f"{PATH}/import", files=upload("x.zip", b"PK\x03\x04broken")), 422, "skill_definition"
    )
    assert (await api.get(PATH)).json()["items"] == []
