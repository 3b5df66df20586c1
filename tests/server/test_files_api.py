from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2

from tests.flows.documents import chain

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/files"


async def test_a_file_goes_in_and_comes_out(api: httpx2.AsyncClient) -> None:
    content = bytes(range(256)) * 1000
    answer = await api.post(PATH, files={"file": ("naïve.bin", content, "image/png")})
    assert answer.status_code == 201
    value = answer.json()
    assert value | {"ref": "", "sha256": ""} == {
        "name": "naïve.bin", "media_type": "image/png", "size": 256_000, "sha256": "", "ref": "",
    }  # fmt: skip
    back = await api.get(f"{PATH}/{value['ref']}")
    assert back.content == content
    assert back.headers["content-disposition"] == "attachment; filename*=UTF-8''na%C3%AFve.bin"
    assert back.headers["x-content-type-options"] == "nosniff"


async def test_a_file_is_an_input(api: httpx2.AsyncClient) -> None:
    value = (await api.post(PATH, files={"file": ("a.txt", b"hello", "text/plain")})).json()
    document = json.loads(chain(outputs={"name": "{{ inputs.f.name }}", "size": "{{ inputs.f.size }}"}))
    document["inputs"] = {"type": "object", "properties": {"f": {"type": "object", "format": "file"}}}
    body = {"document": document, "inputs": {"f": value}}
    answer = await api.post("/api/v1/runs", params={"wait": "20s"}, json=body)
    assert answer.json()["outputs"] == {"name": "a.txt", "size": 5}


async def test_what_is_no_file(api: httpx2.AsyncClient, problem: Problem) -> None:
    problem(await api.post(PATH, data={"file": "text"}), 422, "bad_request")
    problem(await api.post(PATH, content=b"raw"), 422, "bad_request")
    problem(await api.post(PATH, files=[("file", b"1"), ("other", b"2")]), 400, "bad_request")
    problem(await api.get(f"{PATH}/sha256-0"), 404, "not_found")


async def test_files_of_others(api: httpx2.AsyncClient, problem: Problem, stranger: Any) -> None:
    value = (await api.post(PATH, files={"file": b"mine"})).json()
    problem(await api.get(f"{PATH}/{value['ref']}", headers=stranger()), 404, "not_found")
