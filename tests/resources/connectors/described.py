"""A real server for any OpenAPI description: another library checks each request, answers come from the schemas."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from openapi_core import Config, OpenAPI
from openapi_core.contrib.starlette import StarletteOpenAPIRequest
from openapi_core.exceptions import OpenAPIError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.resources.connectors.values import Maker

_READERS: dict[str, Any] = {f"application/{kind}+json": json.loads for kind in ("merge-patch", "json-patch")}
_READERS["image/jpeg"] = bytes.decode
METHODS = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"]


@dataclass
class Described:
    """A running server."""

    url: str = ""
    refused: list[str] = field(default_factory=list)
    """What was wrong with requests."""
    answered: list[tuple[str, str, Any]] = field(default_factory=list)
    """Method, path template and body of each answer."""
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


def application(spec: dict[str, Any], state: Described) -> Starlette:
    api = OpenAPI.from_dict(
        spec, config=Config(spec_validator_cls=None, extra_media_type_deserializers=_READERS)
    )
    templates = sorted(spec["paths"], key=lambda path: (path.count("{"), -len(path)))
    patterns = [
        (re.compile(re.sub(r"\\\{[^{}]+\\\}", "[^/]+", re.escape(path)) + "$"), path) for path in templates
    ]

    async def answer(request: Request) -> Response:
        body = await request.body()
        state.requests.append((request.method, str(request.url), dict(request.headers), body))
        try:
            await asyncio.to_thread(api.validate_request, StarletteOpenAPIRequest(request, body))
        except OpenAPIError as error:
            why = f"{request.method} {request.url}: {error!r} {error.__cause__!r} {getattr(error.__cause__, 'schema_errors', '')}"
            state.refused.append(why)
            return JSONResponse({"refused": why}, 422)
        path = request.url.path
        template = next(path_ for pattern, path_ in patterns if pattern.match(path))
        operation = spec["paths"][template][request.method.lower()]
        status, content = _good(operation, spec)
        state.answered.append((request.method, template, content))
        if content is None:
            return Response(status_code=status)
        return JSONResponse(content, status)

    return Starlette(routes=[Route("/{path:path}", answer, methods=METHODS)])


def _good(operation: dict[str, Any], spec: dict[str, Any]) -> tuple[int, Any]:
    maker = Maker(spec, seed=7)
    for status, response in operation["responses"].items():
        if str(status).startswith("2"):
            found = maker.at(response["$ref"]) if "$ref" in response else response
            content = found.get("content", {})
            media = next((entry for kind, entry in content.items() if "json" in kind), None)
            return int(status), None if media is None else maker.make(media["schema"])
    return 200, None


@contextmanager
def described(spec: dict[str, Any]) -> Iterator[Described]:
    """Serve a description on a free port while the block runs; its servers are set to that address."""
    state = Described()
    config = uvicorn.Config(
        lambda: _late(holder), port=0, log_level="error", factory=True, lifespan="off", ws="none"
    )
    holder: dict[str, Any] = {}
    server = uvicorn.Server(config)
    sock = config.bind_socket()
    state.url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    holder["app"] = application({**spec, "servers": [{"url": state.url}]}, state)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < end
        time.sleep(0.01)
    try:
        yield state
    finally:
        server.should_exit = True
        thread.join(20)
        sock.close()


def _late(holder: dict[str, Any]) -> Any:
    return holder["app"]
