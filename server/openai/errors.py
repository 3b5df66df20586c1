"""Errors as clients of the OpenAI wire format read them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from interlace.engine.errors import InterlaceError, InvalidDocument, NodeError
from interlace.server.problems import ApiError, problem_body

_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    409: "conflict_error", 422: "invalid_request_error", 429: "rate_limit_error",
}  # fmt: skip
_CODES = {"unauthorized": "invalid_api_key"}
_RUN_STATUS = {
    "rate_limit": 429, "http_429": 429, "budget_exceeded": 429, "timeout": 504, "no_model": 503, "overloaded": 503,
    "connection": 502, "unknown_model": 400, "bad_parameter": 400, "context_length": 400, "bad_attachment": 400,
    "resource_not_found": 404, "cancelled": 409,
}  # fmt: skip
"""What a turn that failed answers, by the kind of its error; 500 else."""

log = structlog.get_logger("interlace.openai")


class WireError(Exception):
    """An error of a request, with the parameter that it is about."""

    def __init__(
        self, status: int, message: str, *, code: str | None = None, param: str | None = None, **more: Any
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.param, self.more = status, message, code, param, more


def refused(param: str, message: str, code: str = "unsupported_parameter") -> WireError:
    """A parameter that is not honoured, and why."""
    return WireError(400, message, code=code, param=param)


def error_body(error: WireError) -> dict[str, Any]:
    """The body of an error."""
    kind = _TYPES.get(error.status, "server_error" if error.status >= 500 else "invalid_request_error")  # noqa: PLR2004
    found = {"message": error.message, "type": kind, "param": error.param, "code": error.code}
    return {"error": {**found, **error.more}}


def run_error(error: Mapping[str, Any] | None, status: str) -> WireError:
    """What is told of a turn that failed or was cancelled."""
    kind = str((error or {}).get("type") or status)
    message = str((error or {}).get("message") or f"the turn was {status}")
    return WireError(_RUN_STATUS.get(kind, 500), message, code=kind)


def response_of(error: WireError, *, retry: bool = True) -> Response:
    """An error as an answer; without `retry` clients are told not to send the request again."""
    headers = {} if retry else {"x-should-retry": "false"}
    if error.status == 401:  # noqa: PLR2004
        headers["www-authenticate"] = "Bearer"
    if retry and error.status == 503:  # noqa: PLR2004
        headers["retry-after"] = "2"
    return JSONResponse(error_body(error), status_code=error.status, headers=headers)


def wire_error(error: Exception) -> WireError:
    """Any error as one of the wire format."""
    if isinstance(error, WireError):
        return error
    if isinstance(error, HTTPException):
        return WireError(error.status_code, str(error.detail))
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return WireError(400, f"{where or 'body'}: {first['msg']}", code="invalid_value", param=where or None)
    if isinstance(error, ApiError | InterlaceError):
        return _own(error)
    log.error("a request failed", exc_info=error)
    return WireError(500, "the server failed at this request; its log says why", code="internal")


def _own(error: ApiError | InterlaceError) -> WireError:
    if isinstance(error, InvalidDocument):
        return WireError(400, str(error), code="validation", problems=[p.as_json() for p in error.problems])
    if isinstance(error, NodeError):
        return WireError(_RUN_STATUS.get(error.kind, 400), error.message, code=error.kind)
    body = problem_body(error)
    status = 400 if body["status"] == 422 else body["status"]  # noqa: PLR2004 - what the format says
    return WireError(status, body["detail"], code=_CODES.get(body["code"], body["code"]))


class WireRoute(APIRoute):
    """A route whose errors have the wire format's shape, those of its dependencies included."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with its errors caught."""
        handler = super().get_route_handler()

        async def wrapped(request: Request) -> Response:
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 - everything is told in this shape
                return response_of(wire_error(error))

        return wrapped
