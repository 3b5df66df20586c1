"""How a run is started over HTTP, and what a caller who waits for its end is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Header, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from interlace.engine.durations import parse_duration
from interlace.engine.errors import InvalidDocument
from interlace.engine.inputs import prepare_inputs
from interlace.engine.principal import Principal
from interlace.engine.run import RunResult
from interlace.flows.documents import Pinned
from interlace.flows.link import PrefectLink
from interlace.flows.platform import Platform
from interlace.flows.pool import Placed, start_in_pool, start_queued
from interlace.flows.report import waiting_json
from interlace.flows.request import Request as RunRequest
from interlace.flows.run_options import Asked, with_options
from interlace.server.auth import By, Caller, PlatformOf, name_of
from interlace.server.bodies import Body
from interlace.server.problems import ApiError, problem
from interlace.store.keys import Key
from interlace.store.run_row import Run

_OWN_HEADERS = frozenset(
    {"connection", "content-length", "transfer-encoding", "set-cookie", "date", "server"}
)
_STATUSES = range(200, 600)


class Start(Body):
    """What a run is started with."""

    inputs: dict[str, Any] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    via: Literal["pool", "direct"] | None = Field(
        None,
        description="`pool` hands the run to Prefect's work pool, `direct` starts it in the server at once; otherwise a"
        " run that nobody waits for goes to any host.",
    )
    record: bool = Field(
        False, description="Record every answer from outside, so that the run can be replayed offline."
    )
    test: bool = Field(False, description="A test run: pinned outputs stand in for their nodes.")
    pins: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Outputs by node, or by `node:handle`, besides those pinned to a stored workflow; test runs only.",
    )


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts runs for one request."""

    platform: Platform
    link: PrefectLink | None
    caller: Key
    by: Principal
    wait: float | None
    idempotency_key: str | None

    async def begin(
        self, pinned: Pinned, start: Start, *, org_id: str | None = None, at_once: bool = False
    ) -> tuple[Placed, str]:
        """Start a run; gives where it is, and its status. `at_once`: in this process, because somebody waits for it.

        Raises:
            InvalidDocument: the inputs do not fit; nothing was created.
            ApiError: the idempotency key stands for another request.
        """
        request = RunRequest(
            inputs=start.inputs,
            trigger={"kind": "api", "by": await name_of(self.platform, self.caller)},
            environment=self.platform.settings.environment,
            owner=self.by.user_id,
            principal=self.by,
            org_id=org_id,
            tags=tuple(start.tags),
            idempotency_key=self.idempotency_key,
        )
        asked = Asked(test=start.test, record=start.record, pins=start.pins)
        request = await with_options(self.platform.store, self.platform.documents, pinned, request, asked)
        if start.via == "pool":
            placed = await start_in_pool(self.platform, self.link, pinned, request)
        elif not at_once and start.via is None:
            placed = await start_queued(self.platform, self.link, pinned, request)
        else:
            placed = Placed(run_id=await self.platform.runner.start(pinned, request), via="direct")
        status = await self._first_status(placed)
        if self.idempotency_key is not None:
            status = await self._status(placed.run_id, pinned, start)
        return placed, status

    async def start(self, pinned: Pinned, start: Start, *, org_id: str | None = None) -> Response:
        """Start a run; the answer is its id, or with `wait` how it ended. Raises as `begin`."""
        placed, status = await self.begin(pinned, start, org_id=org_id, at_once=self.wait is not None)
        if self.wait is None:
            return JSONResponse(_started(placed, status), status_code=202)
        result = await self.platform.runner.wait(placed.run_id, self.wait)
        if result is not None and result.status == "suspended":
            return await self.suspended(placed.run_id)
        return answer(placed.run_id, result)

    async def suspended(self, run_id: str) -> Response:
        """What is told of a run that waits for somebody."""
        waits = await self.platform.store.waits.of_run(run_id)
        found = {"run_id": run_id, "status": "suspended", "waiting": [waiting_json(w) for w in waits]}
        return JSONResponse(found, status_code=202)

    async def _first_status(self, placed: Placed) -> str:
        if placed.via != "direct" or placed.run_id in self.platform.runner.active:
            return "queued" if placed.via != "direct" else "running"
        run = await self.platform.store.runs.get(placed.run_id)
        return "queued" if run.status == "queued" else "running"

    async def _status(self, run_id: str, pinned: Pinned, start: Start) -> str:
        """The status of the run that the key stands for, which may be an earlier one."""
        runs = self.platform.store.runs
        run = await runs.resolve(await runs.get(run_id))
        same = run.workflow_id == pinned.workflow_id and (
            pinned.workflow_id is not None or run.document_hash == pinned.hash
        )
        if not same or run.test != start.test or run.inputs != await self._prepared(run, start):
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
    request: Request, platform: PlatformOf, caller: Caller, by: By, *,
    wait: Annotated[str | None, Query(description="How long to wait for the outputs, such as 30s.")] = None,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
) -> Starter:  # fmt: skip
    """The starter of a request."""
    return Starter(platform, request.app.state.prefect, caller, by, _seconds(wait), idempotency_key or None)


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
