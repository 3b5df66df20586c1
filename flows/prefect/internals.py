"""Every place where we lean on Prefect beyond its public interface, pinned to one version; one contract test each.

- `begin_immediately`: replaces `AioSqliteConfiguration.begin_sqlite_stmt`
- `server_application`: `create_app` and its `api_app`; `recording` writes the tables behind it
- `run`: `prefect.flow_engine.run_flow` in a loop of ours, without `observe_flow_run_suspension`
- `propose_pending`: `prefect.utilities.engine.propose_state`
- `one_client`: `AsyncClientContext`
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from interlace.flows.prefect.connection import PrefectConnection, PrefectError
from interlace.flows.prefect.settings import VERSION, import_environment

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient
    from prefect.client.schemas.objects import FlowRun, State
    from prefect.events.schemas.events import Event

    from interlace.flows.prefect.flow import Runner

_UNSEEN_SECONDS = (0.1, 0.4, 1.5)
_unobserved: ContextVar[bool] = ContextVar("unobserved", default=False)


def check_version() -> None:
    """Refuse to run against another Prefect than the one all this was measured with.

    Raises:
        PrefectError: another version is installed.
    """
    import prefect  # noqa: PLC0415

    if prefect.__version__ != VERSION:
        raise PrefectError(
            f"Prefect {prefect.__version__!r} is installed, but Interlace leans on internals of {VERSION!r}: "
            f"install prefect=={VERSION}, or move the pin and run tests/flows/prefect/test_internals.py."
        )


def begin_immediately() -> None:
    """Make Prefect's SQLite transactions take the write lock when they begin.

    Stock, they begin deferred and fail at once when they want to write after another did: the API answers 503 and
    clients back off for seconds. Queued on the lock, 50 runs at once take 6 s instead of 33.
    """
    from prefect.server.database import configurations  # noqa: PLC0415

    mode = configurations.SQLITE_BEGIN_MODE

    def begin(_self: Any, conn: Any) -> None:
        if mode.get() is not None:
            conn.exec_driver_sql("BEGIN IMMEDIATE")

    configurations.AioSqliteConfiguration.begin_sqlite_stmt = begin  # type: ignore[method-assign,assignment]


def server_application() -> Any:
    """Make Prefect's server application, an ASGI callable whose `api_app` holds the routes."""
    from prefect.server.api.server import create_app  # noqa: PLC0415

    return create_app(final=True)


def prepare_client(connection: PrefectConnection) -> None:
    """Import Prefect into this process: silent, with its files under our home, its observers off for our runs.

    What a user's environment says stays out of our connections, see `client_settings`.
    """
    for name, value in import_environment(connection.home).items():
        os.environ[name] = value
    check_version()
    _without_observer()
    # Its first import takes seconds: not when the first run waits for it.
    importlib.import_module("interlace.flows.prefect.flow")


@contextlib.contextmanager
def client_settings(connection: PrefectConnection) -> Generator[None, None, None]:
    """Make Prefect's client in this context speak to this connection, whatever the environment says."""
    import prefect.settings  # noqa: PLC0415

    wanted: dict[Any, Any] = {
        getattr(prefect.settings, name): value
        for name, value in connection.environment().items()
        if name.startswith("PREFECT_")
    }
    unset = {
        prefect.settings.PREFECT_API_KEY: None,
        prefect.settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
        **({} if connection.api_auth else {prefect.settings.PREFECT_API_AUTH_STRING: None}),
    }
    with prefect.settings.temporary_settings(updates={**wanted, **unset}):
        yield


@contextlib.asynccontextmanager
async def one_client() -> AsyncGenerator[PrefectClient, None]:
    """Give the one client that everything in this context shares: a client of its own costs a run 40 ms."""
    from prefect.context import AsyncClientContext  # noqa: PLC0415

    async with AsyncClientContext.get_or_create() as context:
        yield context.client


async def read_flow_run(client: PrefectClient, flow_run_id: UUID) -> FlowRun | None:
    """Read a flow run; None where there is none. Prefect announces one before every connection of it sees its row."""
    from prefect.exceptions import ObjectNotFound  # noqa: PLC0415

    for pause in _UNSEEN_SECONDS:
        try:
            return await client.read_flow_run(flow_run_id)
        except ObjectNotFound:
            await asyncio.sleep(pause)
    return None


async def propose_pending(client: PrefectClient, flow_run_id: UUID) -> State[Any] | None:
    """Move a scheduled flow run to Pending; None where Prefect says that it is not to be started."""
    from prefect.exceptions import Abort, Pause  # noqa: PLC0415
    from prefect.states import Pending  # noqa: PLC0415
    from prefect.utilities.engine import propose_state  # noqa: PLC0415

    try:
        state = await propose_state(client, Pending(), flow_run_id=flow_run_id)
    except (Abort, Pause):
        return None
    return state if state.is_pending() else None


async def run(flow_run: FlowRun, parameters: Mapping[str, Any], runner: Runner) -> State[Any] | None:
    """Run the workflow flow in this loop as a flow run that is Pending.

    Returns:
        The state it was left in; None where Prefect refused a state, so that the run's own end is to be set again.
    """
    from prefect.exceptions import Abort, Pause  # noqa: PLC0415
    from prefect.flow_engine import run_flow  # noqa: PLC0415

    from interlace.flows.prefect import flow  # noqa: PLC0415

    flow.hosted.set(runner)
    _unobserved.set(True)
    running: Any = run_flow(
        flow.workflow_run, flow_run=flow_run, parameters=dict(parameters), return_type="state"
    )
    try:
        left: State[Any] = await running
    except Pause as pause:
        return pause.state
    except Abort:
        return None
    return left


def _without_observer() -> None:
    """Spare our runs a thread, a loop and a websocket each that watch for Suspended: our engine knows it itself."""
    flow_engine: Any = importlib.import_module("prefect.flow_engine")
    stock = flow_engine.observe_flow_run_suspension
    if getattr(stock, "_interlace", False):
        return

    def observe(*args: Any, **kwargs: Any) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if _unobserved.get() else stock(*args, **kwargs)

    observe.__dict__["_interlace"] = True
    flow_engine.observe_flow_run_suspension = observe


@contextlib.asynccontextmanager
async def flow_run_events(pool_id: str, names: Sequence[str]) -> AsyncGenerator[AsyncIterator[Event]]:
    """Listen to the events of a work pool's flow runs; an error in between means that some may have been missed."""
    from prefect.events.clients import get_events_subscriber  # noqa: PLC0415
    from prefect.events.filters import (  # noqa: PLC0415
        EventFilter,
        EventNameFilter,
        EventOccurredFilter,
        EventRelatedFilter,
    )

    wanted = EventFilter(
        # Without a beginning, Prefect sends everything it still has of 180 days first.
        occurred=EventOccurredFilter(since=datetime.now(UTC)),
        event=EventNameFilter(name=list(names)),
        related=EventRelatedFilter(id=[f"prefect.work-pool.{pool_id}"]),
    )
    async with get_events_subscriber(filter=wanted, reconnection_attempts=0) as events:
        yield events
