"""`interlace approvals …`: requests to people, and their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from interlace.engine.errors import InterlaceError
from interlace.server.cli.output import FAILED, JsonFlag, emit_json, error_json, note, run_async, say, table

if TYPE_CHECKING:
    from interlace.flows.people import Person
    from interlace.flows.platform import Platform

app = typer.Typer(help="Requests to people, and their answers.", no_args_is_help=True)
RequestId = Annotated[str, typer.Argument(help="Id of the request.")]


@app.command("list")
def list_approvals(
    every: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
    run_id: Annotated[str | None, typer.Option("--run", help="Only those of this run.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """The requests that wait for an answer."""

    async def work() -> list[dict[str, Any]]:
        from interlace.server.api.approvals import approval_json
        from interlace.server.cli.session import runs

        async with runs() as opened:
            status = None if every else "pending"
            page = await opened.store.waits.list(status=status, run_id=run_id, limit=limit)  # type: ignore[arg-type]
            return [approval_json(wait) for wait in page.items]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (
            item["id"],
            item["status"],
            item["title"],
            "|".join(item["actions"]),
            ", ".join(item["assignees"]),
            item["path"],
        )
        for item in found
    ]
    table(["request", "status", "asks", "actions", "of", "node"], rows, empty="Nobody is asked anything.")


@app.command()
def show(request_id: RequestId, as_json: JsonFlag = False) -> None:
    """One request: what is asked, of whom, and its answer."""

    async def work() -> dict[str, Any]:
        from interlace.server.api.approvals import approval_json
        from interlace.server.cli.session import runs

        async with runs() as opened:
            return approval_json(await opened.store.waits.get(request_id))

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    say(f"{found['title']}\n\n{found['message'] or ''}".rstrip())
    say(f"\nstatus: {found['status']}  run: {found['run_id']}  node: {found['path']}")
    if found["config"] is not None:
        emit_json(found["config"])
    if found["form"] is not None:
        rows = [(name, field.get("type", ""), field.get("description", ""))
                for name, field in found["form"].get("properties", {}).items()]  # fmt: skip
        table(["field", "type", "meaning"], rows, empty="")
    for entry in found["history"]:
        say(_happened(entry))
    if found["status"] == "pending":
        say(f"answer with: interlace approvals answer {request_id} {'|'.join(found['actions'])}")
    else:
        say(f"{found['answered_by'] or 'nobody'}: {found['action']}")


def _happened(entry: dict[str, Any]) -> str:
    """An entry of a request's history, in words."""
    if entry["event"] == "assigned":
        return f"{entry['by']} handed it over to {', '.join(entry['to'])}"
    what = "reminder" if entry["reminder"] else "announcement"
    return f"{what} by {entry['channel']}: {entry['error'] or 'sent'}"


@app.command()
def answer(  # noqa: PLR0917 - one parameter an option
    request_ids: Annotated[list[str], typer.Argument(metavar="REQUEST_ID...", help="Ids of the requests.")],
    action: Annotated[str, typer.Argument(help="One of the requests' actions.")],
    form: Annotated[list[str] | None, typer.Option("--form", help="A field of the form: name=value.")] = None,
    form_file: Annotated[
        Path | None, typer.Option(help="JSON or YAML file of the form; - reads standard input.")
    ] = None,
    comment: Annotated[str | None, typer.Option(help="Kept with the answer.")] = None,
    person: Annotated[str, typer.Option("--as", help="Who answers.")] = "owner",
    as_json: JsonFlag = False,
) -> None:
    """Answer requests. The runs go on: on the server of this home if one runs, else in this command.

    Several requests are answered each on its own: what one does not take, the others do; the command then ends with 1.
    """
    said = _Said(action, form or [], form_file, comment, person)
    if len(request_ids) > 1:
        _answer_many(request_ids, said, as_json=as_json)
        return

    async def work() -> dict[str, Any]:
        from interlace.server.cli.session import runs

        async with runs() as opened:
            return await _answer(opened, request_ids[0], said)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        _noted(found)


def _answer_many(request_ids: list[str], said: _Said, *, as_json: bool) -> None:
    async def work() -> list[dict[str, Any]]:
        from interlace.server.cli.session import runs

        items = []
        async with runs() as opened:
            for request_id in dict.fromkeys(request_ids):
                try:
                    items.append({"id": request_id, "request": await _answer(opened, request_id, said)})
                except InterlaceError as error:
                    items.append({"id": request_id, "error": error_json(error)})
        return items

    items = run_async(work(), as_json=as_json)
    failed = sum(1 for item in items if "error" in item)
    if as_json:
        emit_json({"items": items, "answered": len(items) - failed, "failed": failed})
    else:
        for item in items:
            if "error" in item:
                note(f"✗ {item['id']}: {item['error']['message']}")
            else:
                _noted(item["request"])
    if failed:
        raise typer.Exit(FAILED)


def _noted(found: dict[str, Any]) -> None:
    if found["status"] == "pending":
        note(f"✓ noted; {len(found['answers'])} of {found['quorum']} people agree")
    else:
        # A server takes the answer up when it looks next: until then the run still says that it waits.
        goes_on = "goes on at the server" if found["by_server"] else f"is {found['run_status']}"
        note(f"✓ {found['action']}; run {found['run_id']} {goes_on}")


@app.command()
def assign(
    request_id: RequestId,
    to: Annotated[str, typer.Option(help="Name of the person who is asked instead.")],
    comment: Annotated[str | None, typer.Option(help="Kept with the request.")] = None,
    person: Annotated[str, typer.Option("--as", help="Who hands it over; somebody who is asked.")] = "owner",
    as_json: JsonFlag = False,
) -> None:
    """Hand a request to somebody else."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.server.api.approvals import approval_json
        from interlace.server.cli.session import runs

        async with runs() as opened:
            wait = await opened.waits.assign(request_id, to, _person(person), comment=comment)
            await opened.store.audit.record(
                LOCAL, "approval.assign", "approval", wait.id, name=wait.title, org_id=wait.org_id,
                detail={"to": to, "run_id": wait.run_id, "as": person},
            )  # fmt: skip
            await opened.runner.idle()
            return approval_json(wait)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note(f"✓ asks {', '.join(found['assignees'])}")


def _person(name: str) -> Person:
    from interlace.flows.people import Person

    return Person(name=name, roles=frozenset({"owner"}) if name == "owner" else frozenset())


class _Said(NamedTuple):
    """An answer as the command was given it."""

    action: str
    pairs: list[str]
    file: Path | None
    comment: str | None
    name: str


async def _answer(opened: Platform, request_id: str, said: _Said) -> dict[str, Any]:
    import asyncio

    from interlace.engine.principal import LOCAL
    from interlace.flows.answering import Given, record_answer
    from interlace.server.api.approvals import approval_json
    from interlace.server.cli.inputs import read_inputs
    from interlace.server.lock import is_held

    wait = await opened.store.waits.get(request_id)
    form = await read_inputs(wait.request.get("form") or {}, said.pairs, said.file, opened.store.files)
    given, person = Given(action=said.action, form=form, comment=said.comment), _person(said.name)
    held = await asyncio.to_thread(is_held, opened.settings.home.resolve())
    if held:
        answered = await record_answer(opened.store, request_id, given, person, opened.runner.clock.now())
    else:
        answered = await opened.waits.answer(request_id, given, person)
    await opened.store.audit.record(
        LOCAL, "approval.answer", "approval", wait.id, name=wait.title, org_id=wait.org_id,
        detail={"action": said.action, "run_id": wait.run_id, "as": said.name},
    )  # fmt: skip
    if not held:
        await opened.runner.idle()
    status = (await opened.store.runs.get(wait.run_id)).status
    return {**approval_json(answered), "run_status": status, "by_server": held}
