"""`interlace schedule …`: workflows started by the clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, table

if TYPE_CHECKING:
    from interlace.flows.platform import Platform
    from interlace.store.trigger_row import Trigger

app = typer.Typer(help="Workflows started by the clock.", no_args_is_help=True)
Schedule = Annotated[str, typer.Argument(help="Id of the schedule.")]
Zone = Annotated[str, typer.Option("--timezone", "-z", help="IANA name of the time zone.")]
Count = Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many times.")]


@app.command("list")
def list_schedules(
    workflow: Annotated[
        str | None, typer.Option("--workflow", "-w", help="Only those of this workflow.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """The schedules, and when they start runs next."""

    async def work() -> list[dict[str, Any]]:
        from interlace.server.api.schedules import schedule_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            of = None if workflow is None else (await opened.store.workflows.get(workflow)).id
            page = await opened.store.triggers.list("cron", owner="local", workflow_id=of, limit=limit)
            return [schedule_json(opened, item) for item in page.items]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (item["id"], item["name"], item["cron"], item["timezone"], "paused" if item["paused"] else item["next"], item["error"] or "")
        for item in found
    ]  # fmt: skip
    table(["id", "name", "cron", "time zone", "next", "error"], rows, empty="No schedules.")


@app.command()
def add(  # noqa: PLR0917 - one parameter an option
    workflow: Annotated[str, typer.Argument(help="Name or id of a published workflow.")],
    cron: Annotated[
        str, typer.Argument(help="Five fields, six with the seconds first, or a name such as @daily.")
    ],
    timezone: Zone = "UTC",
    inputs: Annotated[
        list[str] | None, typer.Option("--input", "-i", help="An input of the runs: name=value.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="A name for people.")] = None,
    missed: Annotated[
        str, typer.Option(help="What happens with missed times: skip, latest or all.")
    ] = "latest",
    overlap: Annotated[
        str, typer.Option(help="While an earlier run has not ended: allow, skip, queue or cancel_previous.")
    ] = "allow",
    jitter: Annotated[str, typer.Option(help="Spread the starts over so much time.")] = "0s",
    as_json: JsonFlag = False,
) -> None:
    """Make a schedule beside those of the workflow's document."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.triggers.own import Own, read
        from interlace.server.api.schedules import schedule_json
        from interlace.server.cli.inputs import read_inputs
        from interlace.server.cli.session import platform

        async with platform() as opened:
            pinned = await opened.documents.stored(workflow)
            given = await read_inputs(pinned.document.inputs, inputs or [], None, opened.store.files)
            fields = {
                "cron": cron, "timezone": timezone, "inputs": given, "missed": missed, "overlap": overlap, "jitter": jitter,
            }  # fmt: skip
            return schedule_json(
                opened, await Own(opened).add(workflow, read("cron", fields), by=LOCAL, name=name)
            )

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note(f"✓ {found['id']} starts {workflow} next at {found['next']}")


@app.command()
def show(schedule: Schedule, as_json: JsonFlag = False) -> None:
    """One schedule, and what became of its last times."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.server.api.schedules import firing_json, schedule_json

        page = await opened.store.firings.list(found.id, limit=20)
        return {**schedule_json(opened, found), "firings": [firing_json(found, item) for item in page.items]}

    found = _with(schedule, work, as_json=as_json)
    if as_json:
        emit_json(found)
        return
    say(f"{found['name']}  {found['cron']}  {found['timezone']}  ({found['source']})")
    say(f"next: {'paused' if found['paused'] else found['next']}")
    if found["error"]:
        say(f"error: {found['error']}")
    rows = [
        (item["local"], item["status"], item["run_id"] or item["note"] or "") for item in found["firings"]
    ]
    table(["time", "what", "run or reason"], rows, empty="Nothing was due yet.")


@app.command()
def preview(
    cron: Annotated[str, typer.Argument(help="Id of a schedule, or a cron expression.")],
    timezone: Zone = "UTC",
    count: Count = 20,
    as_json: JsonFlag = False,
) -> None:
    """The next times, with what clock changes do to them. Starts and stores nothing."""

    async def work() -> list[dict[str, Any]]:
        import time

        from interlace.flows.triggers.own import preview as times
        from interlace.server.api.schedules import nominal_json
        from interlace.server.cli.session import platform

        expression, zone = cron, timezone
        if " " not in cron.strip() and not cron.startswith("@"):
            async with platform() as opened:
                found = await opened.store.triggers.get(cron, owner="local", kind="cron")
                expression, zone = found.definition["cron"], found.definition.get("timezone", "UTC")
        return [nominal_json(at) for at in times(expression, zone, time.time(), count)]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    table(
        ["time", "clock change"],
        [(item["local"], item["note"] or "") for item in found],
        empty="Never again.",
    )


@app.command()
def pause(schedule: Schedule, as_json: JsonFlag = False) -> None:
    """Start nothing until the schedule is resumed."""
    _pause(schedule, paused=True, as_json=as_json)


@app.command()
def resume(schedule: Schedule, as_json: JsonFlag = False) -> None:
    """Go on from now; times that passed during the pause are not made up for."""
    _pause(schedule, paused=False, as_json=as_json)


def _pause(schedule: str, *, paused: bool, as_json: bool) -> None:
    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.triggers.own import Own
        from interlace.server.api.schedules import schedule_json

        return schedule_json(opened, await Own(opened).pause(found, paused=paused, by=LOCAL))

    found = _with(schedule, work, as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note("✓ paused" if paused else f"✓ starts runs next at {found['next']}")


@app.command()
def run(schedule: Schedule, as_json: JsonFlag = False) -> None:
    """Start a run with the schedule's inputs now, and wait for its end."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        run_id = await opened.triggers.schedules.run_now(found, "owner")
        await opened.runner.idle()
        return {"run_id": run_id, "status": (await opened.store.runs.get(run_id)).status}

    found = _with(schedule, work, as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note(f"✓ run {found['run_id']} is {found['status']}")


@app.command()
def remove(schedule: Schedule, as_json: JsonFlag = False) -> None:
    """Remove a schedule that does not stand in a document; its runs stay."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.triggers.own import Own

        await Own(opened).remove(found, by=LOCAL)
        return {"id": found.id, "removed": True}

    found = _with(schedule, work, as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note("✓ removed")


def _with(
    schedule: str, work: Callable[[Platform, Trigger], Awaitable[dict[str, Any]]], *, as_json: bool
) -> dict[str, Any]:
    """Do something with one schedule."""

    async def opened_work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return await work(opened, await opened.store.triggers.get(schedule, owner="local", kind="cron"))

    return run_async(opened_work(), as_json=as_json)
