"""Every place where we lean on Prefect beyond its public interface, pinned to one version; one contract test each."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from interlace.flows.prefect.connection import PrefectError
from interlace.flows.prefect.settings import VERSION

if TYPE_CHECKING:
    from uuid import UUID

    from prefect._flow_run_suspension import FlowRunSuspensionRequest

_hosted: ContextVar[bool] = ContextVar("hosted", default=False)


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

    def begin(_self: Any, connection: Any) -> None:
        if mode.get() is not None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    configurations.AioSqliteConfiguration.begin_sqlite_stmt = begin  # type: ignore[method-assign]


def server_application() -> Any:
    """Make Prefect's server application, an ASGI callable whose `api_app` holds the routes."""
    from prefect.server.api.server import create_app  # noqa: PLC0415

    return create_app(final=True)
