"""Contracts with the inside of Prefect: what breaks here has to be looked at before the pin is moved."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.prefect import PrefectConnection, PrefectError
from interlace.flows.prefect import internals as inside
from interlace.flows.prefect.settings import VERSION


@pytest.fixture(autouse=True)
def prepared(connection: PrefectConnection) -> None:
    inside.prepare_client(connection)


def test_the_version_is_the_pinned_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import prefect

    inside.check_version()
    monkeypatch.setattr(prefect, "__version__", "3.9.2")
    with pytest.raises(PrefectError, match=rf"'3\.9\.2' is installed.*prefect=={VERSION}"):
        inside.check_version()


async def test_sqlite_transactions_queue_for_the_write_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.server.database import configurations
    from sqlalchemy import text

    stock = configurations.AioSqliteConfiguration.begin_sqlite_stmt
    assert list(inspect.signature(stock).parameters) == ["self", "conn"]
    monkeypatch.setattr(configurations.AioSqliteConfiguration, "begin_sqlite_stmt", stock)
    inside.begin_immediately()
    database = configurations.AioSqliteConfiguration(f"sqlite+aiosqlite:///{tmp_path / 'x.db'}")
    engine = await database.engine()
    async with await database.session(engine) as session, database.begin_transaction(session):
        await session.execute(text("CREATE TABLE t (n INTEGER)"))
        await session.execute(text("INSERT INTO t VALUES (0)"))

    async def count() -> None:
        for _ in range(10):
            async with await database.session(engine) as session, database.begin_transaction(session):
                seen = (await session.execute(text("SELECT n FROM t"))).scalar_one()
                await asyncio.sleep(0)
                await session.execute(text("UPDATE t SET n = :n"), {"n": seen + 1})

    await asyncio.gather(*(count() for _ in range(4)))
    async with await database.session(engine) as session:
        assert (await session.execute(text("SELECT n FROM t"))).scalar_one() == 40
    await engine.dispose()
    configurations.ENGINES.clear()


def test_the_suspension_observer_is_spared_for_our_runs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect import flow_engine

    source = inspect.getsource(flow_engine.BaseFlowRunEngine.setup_flow_run_suspension_request)
    assert "observe_flow_run_suspension(" in source
    asked: list[Any] = []
    monkeypatch.setattr(flow_engine, "observe_flow_run_suspension", lambda *args: asked.append(args))
    inside._without_observer()
    flow_engine.observe_flow_run_suspension("id", "request")  # type: ignore[arg-type]
    assert asked == [("id", "request")]
    token = inside._unobserved.set(True)
    with flow_engine.observe_flow_run_suspension("id", "request"):  # type: ignore[arg-type]
        pass
    inside._unobserved.reset(token)
    assert len(asked) == 1


def test_run_flow_takes_a_flow_run_and_gives_its_state() -> None:
    from prefect.flow_engine import run_flow

    parameters = inspect.signature(run_flow).parameters
    assert {"flow", "flow_run", "parameters", "return_type"} <= set(parameters)


def test_propose_state_answers_with_the_state_it_was_left_in() -> None:
    from prefect.utilities.engine import propose_state

    assert list(inspect.signature(propose_state).parameters) == ["client", "state", "flow_run_id", "force"]


async def test_one_client_is_shared_in_a_context(connection: PrefectConnection) -> None:
    from prefect.client.orchestration import get_client

    with inside.client_settings(connection):
        async with inside.one_client() as client:
            assert get_client(sync_client=False) is client


def test_client_settings_leave_out_what_the_environment_says(connection: PrefectConnection) -> None:
    from prefect import settings

    with (
        settings.temporary_settings({settings.PREFECT_API_KEY: "secret"}),
        inside.client_settings(connection),
    ):
        assert settings.PREFECT_API_URL.value() == connection.api_url
        assert settings.PREFECT_API_KEY.value() is None
        assert settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY.value() is None
        assert settings.PREFECT_CLIENT_CSRF_SUPPORT_ENABLED.value() is False
        assert settings.PREFECT_HOME.value() == connection.home / "prefect"


def test_the_tables_that_are_written_directly() -> None:
    from prefect.server.database import orm_models

    columns = {
        model: set(model.__table__.columns.keys()) for model in vars(orm_models).values() if _is_table(model)
    }
    assert columns[orm_models.FlowRun] >= {
        "state_id",
        "state_type",
        "start_time",
        "end_time",
        "idempotency_key",
    }
    assert columns[orm_models.FlowRunState] >= {"flow_run_id", "type", "timestamp", "state_details"}
    assert columns[orm_models.TaskRun] >= {
        "task_key",
        "dynamic_key",
        "task_inputs",
        "state_id",
        "flow_run_run_count",
    }
    assert columns[orm_models.TaskRunState] >= {"task_run_id", "type", "timestamp", "state_details"}
    assert columns[orm_models.Log] == {
        "id", "created", "updated", "name", "level", "flow_run_id", "task_run_id", "message", "timestamp"
    }  # fmt: skip


def _is_table(model: Any) -> bool:
    return isinstance(model, type) and hasattr(model, "__table__")
