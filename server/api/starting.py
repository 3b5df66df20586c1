"""How a run is started over HTTP, and what a caller who waits for its end is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Header, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from interlace.engine.durations import parse_duration
from interlace.engine.errors import InvalidDocument
from interlace.engine.inputs import prepare_inputs
from interlace.engine.run import RunResult
from interlace.flows.documents import Pinned
from interlace.flows.link import PrefectLink
from interlace.flows.platform import Platform
from interlace.flows.pool import Placed, start_in_pool
from interlace.flows.report import waiting_json
from interlace.flows.request import Request as RunRequest
from interlace.server.auth import Caller, PlatformOf
from interlace.server.problems import ApiError, problem
from interlace.store.keys import Key
from interlace.store.run_row import Run

_OWN_HEADERS = frozenset(
    {"connection", "content-length", "transfer-encoding", "set-cookie", "date", "server"}
)
_STATUSES = range(200, 600)


class Start(BaseModel):
    """What a run is started with."""

    inputs: dict[str, Any] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    via: Literal["pool"] | None = Field(
        None,
        description="`pool` hands the run to Prefect's work pool; otherwise it starts in the server at once.",
    )


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts runs for one request."""

    platform: Platform
    link: PrefectLink | None
    caller: Key
    wait: float | None
    idempotency_key: str | None

    async def start(self, pinned: Pinned, start: Start) -> Response:
        """Start a run; the answer is its id, or with `wait` how it ended.

        Raises:
            InvalidDocument: the inputs do not fit; nothing was created.
            ApiError: the idempotency key stands for another request.
        """
        request = RunRequest(
            inputs=start.inputs,
            trigger={"kind": "api", "by": self.caller.name},
            environment=self.platform.settings.environment,
            owner=self.caller.owner,
            tags=tuple(start.tags),
            idempotency_key=self.idempotency_key,
        )
        if start.via == "pool":
            placed = await start_in_pool(self.platform, self.link, pinned, request)
        else:
            placed = Placed(run_id=await self.platform.runner.start(pinned, request), via="direct")
        status = "queued" if placed.via == "pool" else "running"
        if self.idempotency_key is not None:
            status = await self._status(placed.run_id, pinned, start)
        if self.wait is None:
            return JSONResponse(_started(placed, status), status_code=202)
        result = await self.platform.runner.wait(placed.run_id, self.wait)
        if result is not None and result.status == "suspended":
            waits = await self.platform.store.waits.of_run(placed.run_id)
            found = {
                "run_id": placed.run_id,
                "status": "suspended",
                "waiting": [waiting_json(w) for w in waits],
            }
            return JSONResponse(found, status_code=202)
        return answer(placed.run_id, result)

    async def _status(self, run_id: str, pinned: Pinned, start: Start) -> str:
        """The status of the run that the key stands for, which may be an earlier one."""
        runs = self.platform.store.runs
        run = await runs.resolve(await runs.get(run_id))
        same = run.workflow_id == pinned.workflow_id and (
            pinned.workflow_id is not None or run.document_hash == pinned.hash
        )
        if not same or run.inputs != await self._prepared(run, start):
            raise ApiError(
                422,
                "idempotency_mismatch",
                "this Idempotency-Key was used for another request",
                run_id=run_id,
            )
        return run.status

    async def _prepared(self, run: Run, start: Start) -> dict[str, Any] | None:
        """The inputs that the run would have of this request; its version may be an earlier one than today's."""
        document = await self.platform.documents.read(run.document_hash)
        try:
            return prepare_inputs(document.inputs, start.inputs)
        except InvalidDocument:
            return None


def _started(placed: Placed, status: str) -> dict[str, Any]:
    found: dict[str, Any] = {"run_id": placed.run_id, "status": status, "via": placed.via}
    if placed.flow_run_id is not None:
        found["flow_run_id"] = placed.flow_run_id
    if placed.reason is not None:
        found["reason"] = placed.reason
    return found


def starter(
    request: Request, platform: PlatformOf, caller: Caller,
    wait: Annotated[str | None, Query(description="How long to wait for the outputs, such as 30s.")] = None,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
) -> Starter:  # fmt: skip
    """The starter of a request."""
    return Starter(platform, request.app.state.prefect, caller, _seconds(wait), idempotency_key or None)


Starting = Annotated[Starter, Depends(starter)]


def _seconds(wait: str | None) -> float | None:
    if wait is None:
        return None
    try:
        return float(parse_duration(float(wait) if wait.replace(".", "", 1).isdecimal() else wait))
    except ValueError as error:
        raise ApiError(422, "bad_request", f"wait: {error}") from None


def answer(run_id: str, result: RunResult | None) -> Response:
    """What a caller who waited for the end is told: 200 outputs or END's own answer, 500 failed, 504 not yet."""
    if result is None:
        return problem(504, "still_running", "the run goes on; ask for it again later", run_id=run_id)
    if result.status == "succeeded":
        if result.response is not None:
            return custom(result.response)
        return JSONResponse({"run_id": run_id, "status": "succeeded", "outputs": result.outputs})
    message = (result.error or {}).get("message", result.status)
    return problem(500, f"run_{result.status}", str(message), run_id=run_id, error=result.error)


def custom(response: Mapping[str, Any]) -> Response:
    """END's own `response`, which a browser never takes for a page of this server."""
    headers = {str(name).lower(): str(value) for name, value in (response.get("headers") or {}).items()}
    kept = {
        name: value for name, value in headers.items() if name not in _OWN_HEADERS and value.isprintable()
    }
    kept |= {"content-security-policy": "sandbox", "x-content-type-options": "nosniff"}
    wanted = int(response.get("status") or 200)
    status, body = wanted if wanted in _STATUSES else 200, response.get("body")
    if isinstance(body, str):
        return Response(
            body, status_code=status, headers=kept, media_type=headers.get("content-type", "text/plain")
        )
    return JSONResponse(body, status_code=status, headers=kept)
