"""Errors as problem+json (RFC 9457) with a stable `code`."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from interlace.engine.errors import InterlaceError, InvalidDocument, NodeError

_STATUS = {
    "not_found": 404,
    "conflict": 409,
    "already_answered": 409,
    "forbidden": 403,
    "fenced": 409,
    "secret_key": 503,
    "not_json": 422,
    "unfit_value": 422,
    "too_large": 413,
    "bad_import": 422,
    "bad_cron": 422,
    "lost_access": 409,
    "store": 503,
    "commit_failed": 503,
}
_NODE_STATUS = {
    "resource_not_found": 404,
    "tool_not_found": 404,
    "unknown_tool": 404,
    "not_confirmed": 409,
    "timeout": 504,
    "connection": 502,
}
"""What a resource answers when it is used by hand; every other kind is 422."""
_CODES = {413: "too_large"}

log = structlog.get_logger("interlace.server")


class ApiError(Exception):
    """An error with its status and code, to be answered as it is."""

    def __init__(
        self, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})
        self.code = code
        self.detail = detail
        self.more = more


def problem(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    """One problem+json answer."""
    headers = {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    body = _body(status, code, detail, **more)
    return JSONResponse(body, status_code=status, media_type="application/problem+json", headers=headers)


def problem_body(error: ApiError | InterlaceError) -> dict[str, Any]:
    """An error as a problem within an answer, where one of several things could not be done."""
    if isinstance(error, ApiError):
        return _body(error.status, error.code, error.detail, **error.more)
    if isinstance(error, InvalidDocument):
        return _body(422, "validation", str(error), problems=[p.as_json() for p in error.problems])
    code = str(getattr(error, "code", "refused"))
    return _body(_STATUS.get(code, 400), code, str(error))


def _body(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    return {
        "type": f"urn:interlace:error:{code}", "title": code.replace("_", " "), "status": status, "detail": detail,
        "code": code, **more,
    }  # fmt: skip


def install(app: FastAPI) -> None:
    """Answer every error as problem+json, the framework's own and unexpected ones included."""

    async def invalid(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, InvalidDocument)
        return problem(422, "validation", str(error), problems=[p.as_json() for p in error.problems])

    async def own(_request: Request, error: Exception) -> JSONResponse:
        code = str(getattr(error, "code", "refused"))
        return problem(_STATUS.get(code, 400), code, str(error))

    async def used(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, NodeError)
        return problem(_NODE_STATUS.get(error.kind, 422), error.kind, error.message)

    async def api(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ApiError)
        answer = problem(error.status, error.code, error.detail, **error.more)
        answer.headers.update(error.headers)
        return answer

    async def request(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        found = [
            {"field": ".".join(str(part) for part in e["loc"]), "message": e["msg"]} for e in error.errors()
        ]
        return problem(422, "bad_request", "the request does not fit this operation", errors=found)

    async def http(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        phrase = HTTPStatus(error.status_code).phrase
        code = _CODES.get(error.status_code, phrase.lower().replace(" ", "_").replace("-", "_"))
        answer = problem(error.status_code, code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.error("a request failed", method=request.method, path=request.url.path, exc_info=error)
        return problem(500, "internal", "the server failed at this request; its log says why")

    async def half(_request: Request, _error: Exception) -> JSONResponse:
        return problem(422, "unfit_value", "a text has a lone surrogate (half a character); send it whole")

    app.add_exception_handler(InvalidDocument, invalid)
    app.add_exception_handler(UnicodeEncodeError, half)
    app.add_exception_handler(NodeError, used)
    app.add_exception_handler(InterlaceError, own)
    app.add_exception_handler(ApiError, api)
    app.add_exception_handler(RequestValidationError, request)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unexpected)
