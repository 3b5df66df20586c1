"""`/api/v1/schedules`: workflows started by the clock."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from interlace.engine.cron.firings import Firing as NominalTime
from interlace.engine.cron.firings import cron_of
from interlace.engine.triggers import CronTrigger
from interlace.flows.platform import Platform
from interlace.flows.triggers.own import Own, preview, read
from interlace.server.auth import By, Caller, PlatformOf, name_of
from interlace.server.bodies import Body
from interlace.server.scopes import needs
from interlace.store.trigger_row import Firing, Trigger

router = APIRouter(prefix="/api/v1/schedules", tags=["schedules"])
_SHOWN = 20
_FIELDS = ("cron", "timezone", "inputs", "missed", "missed_limit", "grace", "overlap", "jitter")


class ScheduleFields(Body):
    """What may be changed of a schedule; see the guide on triggers."""

    cron: str | None = Field(
        None, description="Five fields, six with the seconds first, or a name such as @daily."
    )
    timezone: str | None = Field(None, description="IANA name of the time zone; UTC by default.")
    inputs: dict[str, Any] | None = Field(None, description="Inputs of the runs; values may read `trigger`.")
    missed: Literal["skip", "latest", "all"] | None = Field(
        None, description="What happens with missed times."
    )
    missed_limit: int | None = Field(None, description="Most missed times that `all` makes up for.")
    grace: str | float | None = Field(
        None, description="How late a run may be started without counting as missed."
    )
    overlap: Literal["allow", "skip", "queue", "cancel_previous"] | None = Field(
        None, description="What happens while an earlier run has not ended."
    )
    jitter: str | float | None = Field(None, description="Spread the starts over so much time.")

    def given(self) -> dict[str, Any]:
        """The fields that were given."""
        return {name: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None}


class NewSchedule(ScheduleFields):
    """A schedule of a published workflow."""

    workflow: str = Field(description="Name or id of the workflow.")
    name: str | None = Field(None, max_length=100, description="A name for people; unique in the workflow.")


class Preview(Body):
    """A schedule that need not exist."""

    cron: str = Field(description="Five fields, six with the seconds first, or a name such as @daily.")
    timezone: str = Field("UTC", description="IANA name of the time zone.")
    after: float | None = Field(
        None, description="Unix time after which the times are listed; now by default."
    )
    count: int = Field(_SHOWN, ge=1, le=1000, description="How many.")


@router.get("", dependencies=[needs("triggers:read")])
async def list_schedules(
    platform: PlatformOf, by: By, workflow: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50, cursor: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The caller's schedules, the newest first; with `workflow` those of one."""
    found = None if workflow is None else (await platform.store.workflows.get(workflow, owner=by)).id
    page = await platform.store.triggers.list("cron", owner=by, workflow_id=found, limit=limit, cursor=cursor)
    return {"items": [schedule_json(platform, item) for item in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("triggers:write")])
async def add_schedule(body: NewSchedule, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Make a schedule beside those of the document; its runs have the caller's rights."""
    made = await Own(platform).add(body.workflow, read("cron", body.given()), by=by, name=body.name)
    return schedule_json(platform, made)


@router.post("/preview", dependencies=[needs("triggers:read")])
async def preview_schedule(body: Preview, platform: PlatformOf) -> dict[str, Any]:
    """The next times of a schedule that need not exist, with what clock changes do to them."""
    after = platform.runner.clock.now() if body.after is None else body.after
    return {"items": [nominal_json(at) for at in preview(body.cron, body.timezone, after, body.count)]}


@router.get("/{schedule}", dependencies=[needs("triggers:read")])
async def get_schedule(schedule: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One schedule, and why it started nothing the last time, if so."""
    return schedule_json(platform, await _schedule(platform, schedule, by))


@router.patch("/{schedule}", dependencies=[needs("triggers:write")])
async def change_schedule(
    schedule: str, body: ScheduleFields, platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Change a schedule that does not stand in a document; it begins anew from now."""
    changed = await Own(platform).change(await _schedule(platform, schedule, by), body.given(), by=by)
    return schedule_json(platform, changed)


@router.delete("/{schedule}", status_code=204, dependencies=[needs("triggers:write")])
async def remove_schedule(schedule: str, platform: PlatformOf, by: By) -> None:
    """Remove a schedule that does not stand in a document; its runs stay."""
    await Own(platform).remove(await _schedule(platform, schedule, by), by=by)


@router.get("/{schedule}/preview", dependencies=[needs("triggers:read")])
async def preview_of(
    schedule: str, platform: PlatformOf, by: By, count: Annotated[int, Query(ge=1, le=1000)] = _SHOWN
) -> dict[str, Any]:
    """The next times of a schedule, with what clock changes do to them."""
    spec = CronTrigger.model_validate((await _schedule(platform, schedule, by)).definition)
    found = preview(spec.cron, spec.timezone, platform.runner.clock.now(), count)
    return {"items": [nominal_json(at) for at in found]}


@router.get("/{schedule}/firings", dependencies=[needs("triggers:read")])
async def list_firings(
    schedule: str, platform: PlatformOf, by: By, *,
    status: Literal["started", "queued", "skipped", "missed", "refused", "failed"] | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50, cursor: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What was decided about the schedule's times, the newest first: the run, or why there is none."""
    found = await _schedule(platform, schedule, by)
    page = await platform.store.firings.list(found.id, status=status, limit=limit, cursor=cursor)
    return {"items": [firing_json(found, item) for item in page.items], "next_cursor": page.cursor}


@router.post("/{schedule}/pause", dependencies=[needs("triggers:write")])
async def pause_schedule(schedule: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Start nothing until the schedule is resumed."""
    found = await Own(platform).pause(await _schedule(platform, schedule, by), paused=True, by=by)
    return schedule_json(platform, found)


@router.post("/{schedule}/resume", dependencies=[needs("triggers:write")])
async def resume_schedule(schedule: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Go on from now; times that passed during the pause are not made up for."""
    found = await Own(platform).pause(await _schedule(platform, schedule, by), paused=False, by=by)
    return schedule_json(platform, found)


@router.post("/{schedule}/run", status_code=202, dependencies=[needs("triggers:write"), needs("runs:write")])
async def run_schedule(schedule: str, platform: PlatformOf, caller: Caller, by: By) -> dict[str, Any]:
    """Start a run with the schedule's inputs now, out of turn."""
    found = await _schedule(platform, schedule, by)
    run_id = await platform.triggers.schedules.run_now(found, await name_of(platform, caller))
    return {"run_id": run_id}


async def _schedule(platform: Platform, schedule: str, by: By) -> Trigger:
    return await platform.store.triggers.get(schedule, owner=by, kind="cron")


def schedule_json(platform: Platform, trigger: Trigger) -> dict[str, Any]:
    """A schedule as lists and commands show it; `next_at` is its next nominal time."""
    spec = CronTrigger.model_validate(trigger.definition)
    cron = cron_of(spec.cron, spec.timezone)
    following = None if trigger.paused else cron.next(max(platform.runner.clock.now(), trigger.cursor or 0.0))
    return {
        "id": trigger.id, "name": trigger.key.removeprefix("own:"), "workflow_id": trigger.workflow_id,
        "source": trigger.source, "owner": trigger.owner, **{name: getattr(spec, name) for name in _FIELDS},
        "paused": trigger.paused, "next_at": following,
        "next": None if following is None else cron.firing(following).local, "error": trigger.error,
        "error_at": trigger.error_at, "created_at": trigger.created_at, "updated_at": trigger.updated_at,
    }  # fmt: skip


def nominal_json(found: NominalTime) -> dict[str, Any]:
    """A nominal time: Unix seconds, local time, and what a clock change does to it."""
    return {"at": found.at, "local": found.local, "change": found.change, "note": found.note}


def firing_json(trigger: Trigger, firing: Firing) -> dict[str, Any]:
    """What was decided of a nominal time."""
    spec = CronTrigger.model_validate(trigger.definition)
    local = cron_of(spec.cron, spec.timezone).firing(firing.nominal).local
    return {**{name: value for name, value in asdict(firing).items() if name != "trigger_id"}, "local": local}
