"""Errors as problem+json (RFC 9457) with a stable `code`."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.engine.problems import Problem

_STATUS = {"not_found": 404, "conflict": 409, "not_json": 422}


class ApiError(Exception):
    """An error with its status and code, to be answered as it is."""

    def __init__(self, status: int, code: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.more = more


def problem(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    """One problem+json answer."""
    body = {"type": f"urn:interlace:error:{code}", "title": code.replace("_", " "), "status": status, "detail": detail, "code": code}
    return JSONResponse({**body, **more}, status_code=status, media_type="application/problem+json")


def problem_json(found: Problem) -> dict[str, Any]:
    """A validation problem as the API shows it."""
    return {
        "severity": found.severity, "code": found.code, "node": found.node, "field": found.field, "line": found.line,
        "message": found.message, "fix": found.fix,
    }  # fmt: skip


def install(app: FastAPI) -> None:
    """Answer every error of the product as problem+json."""

    async def invalid(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, InvalidDocument)
        return problem(422, "validation", str(error), problems=[problem_json(p) for p in error.problems])

    async def own(_request: Request, error: Exception) -> JSONResponse:
        code = str(getattr(error, "code", "refused"))
        return problem(_STATUS.get(code, 400), code, str(error))

    async def api(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ApiError)
        return problem(error.status, error.code, error.detail, **error.more)

    async def request(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        found = [{"field": ".".join(str(part) for part in e["loc"]), "message": e["msg"]} for e in error.errors()]
        return problem(422, "bad_request", "the request does not fit this operation", errors=found)

    async def http(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = {404: "not_found", 405: "method_not_allowed", 401: "unauthorized"}.get(error.status_code, "http_error")
        return problem(error.status_code, code, str(error.detail))

    app.add_exception_handler(InvalidDocument, invalid)
    app.add_exception_handler(InterlaceError, own)
    app.add_exception_handler(ApiError, api)
    app.add_exception_handler(RequestValidationError, request)
    app.add_exception_handler(HTTPException, http)
