"""`interlace approvals …`: requests to people, and their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, table

if TYPE_CHECKING:
    from interlace.flows.platform import Platform
    from interlace.store.wait_row import Wait

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
    if found["status"] == "pending":
        say(f"answer with: interlace approvals answer {request_id} {'|'.join(found['actions'])}")
    else:
        say(f"{found['answered_by'] or 'nobody'}: {found['action']}")


@app.command()
def answer(  # noqa: PLR0917 - one parameter an option
    request_id: RequestId,
    action: Annotated[str, typer.Argument(help="One of the request's actions.")],
    form: Annotated[list[str] | None, typer.Option("--form", help="A field of the form: name=value.")] = None,
    form_file: Annotated[
        Path | None, typer.Option(help="JSON or YAML file of the form; - reads standard input.")
    ] = None,
    comment: Annotated[str | None, typer.Option(help="Kept with the answer.")] = None,
    person: Annotated[str, typer.Option("--as", help="Who answers.")] = "owner",
    as_json: JsonFlag = False,
) -> None:
    """Answer a request. The run goes on: on the server of this home if one runs, else in this command."""

    async def work() -> dict[str, Any]:
        from interlace.server.api.approvals import approval_json
        from interlace.server.cli.session import runs

        async with runs() as opened:
            wait = await _answer(opened, request_id, action, form or [], form_file, comment, person)
            return {**approval_json(wait), "run_status": (await opened.store.runs.get(wait.run_id)).status}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    elif found["status"] == "pending":
        note(f"✓ noted; {len(found['answers'])} of {found['quorum']} people agree")
    else:
        note(f"✓ {found['action']}; run {found['run_id']} is {found['run_status']}")


async def _answer(  # noqa: PLR0917 - what the command was given
    opened: Platform,
    request_id: str,
    action: str,
    pairs: list[str],
    file: Path | None,
    comment: str | None,
    name: str,
) -> Wait:
    import asyncio

    from interlace.flows.answering import Given, record_answer
    from interlace.flows.people import Person
    from interlace.server.cli.inputs import read_inputs
    from interlace.server.lock import is_held

    wait = await opened.store.waits.get(request_id)
    form = await read_inputs(wait.request.get("form") or {}, pairs, file, opened.store.files)
    given = Given(action=action, form=form, comment=comment)
    person = Person(name=name, roles=frozenset({"owner"}) if name == "owner" else frozenset())
    if await asyncio.to_thread(is_held, opened.settings.home.resolve()):
        return await record_answer(opened.store, request_id, given, person, opened.runner.clock.now())
    answered = await opened.waits.answer(request_id, given, person)
    await opened.runner.idle()
    return answered
