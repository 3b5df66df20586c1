"""`interlace agents …`: personas with a scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, stop, table

if TYPE_CHECKING:
    from interlace.engine.principal import Principal
    from interlace.flows.platform import Platform

app = typer.Typer(
    help="Agents: instructions, and what of all that you see they may use.", no_args_is_help=True
)
Name = Annotated[str, typer.Argument(metavar="AGENT", help="Name or id of the agent.")]


def _work(work: Callable[[Platform, Principal], Awaitable[Any]], *, as_json: bool) -> Any:
    """Do something with the platform, as the owner of the installation."""

    async def done() -> Any:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return await work(opened, await opened.store.users.principal(LOCAL.user_id))

    return run_async(done(), as_json=as_json)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except OSError as error:
        stop(f"cannot read {str(file)!r}: {error.strerror or error}", 2)
    except UnicodeDecodeError as error:
        stop(f"{str(file)!r} is not UTF-8 text (byte {error.start})", 2)


@app.command("add")
def add(
    file: Annotated[Path, typer.Argument(help="YAML or JSON of its fields, or Markdown with front matter.")],
    name: Annotated[str | None, typer.Option(help="Its name, where the file does not say.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Change the agent of that name.")] = False,
    org: Annotated[str | None, typer.Option(help="Organisation that owns and sees it.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Keep an agent; what it names is looked up when somebody chats with it."""
    text = _text(file)

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.resources.agents.agents import KIND
        from interlace.resources.agents.definition import read_text
        from interlace.server.api.agents import agent_json
        from interlace.store.errors import NotFoundError

        agent = read_text(text, name=name or file.stem)
        if replace:
            try:
                known = await opened.store.resources.find(KIND, agent.name, by=by)
            except NotFoundError:
                pass
            else:
                return agent_json(await opened.agents.update(known.id, agent, by=by), by)
        org_id = None if org is None else (await opened.store.organisations.get(org, by=by)).id
        added = await opened.agents.add(
            agent, by=by, org_id=org_id, visibility="private" if org is None else "org"
        )
        return agent_json(added, by)

    found = _work(work, as_json=as_json)
    emit_json(found) if as_json else note(
        f"✓ {found['name']} is kept; `interlace chat --agent {found['name']}` talks to it"
    )


@app.command("list")
def list_agents(as_json: JsonFlag = False) -> None:
    """The agents."""

    async def work(opened: Platform, by: Principal) -> list[dict[str, Any]]:
        from interlace.server.api.agents import agent_card

        return [
            agent_card(found)
            for found in (await opened.store.resources.list("agent", by=by, limit=10_000)).items
        ]

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(a["name"], "" if a["active"] else "off", a["description"]) for a in found]
    table(["name", "", "description"], rows, empty="No agents.")


@app.command("show")
def show(name: Name, as_json: JsonFlag = False) -> None:
    """An agent; how it is made only where you may change it."""

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.server.api.agents import agent_json

        return agent_json(await opened.store.resources.find("agent", name, by=by), by)

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json(found)
        return
    from interlace.server.api.agents import agent_text

    say(
        agent_text(found["definition"]).rstrip()
        if "definition" in found
        else f"{found['name']}: {found['description']}"
    )


@app.command("export")
def export(
    name: Name,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write; printed if not given.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write an agent as YAML, without secrets."""

    async def work(opened: Platform, by: Principal) -> str:
        from interlace.server.api.agents import agent_text

        return agent_text((await opened.agents.definition(name, by=by))[1])

    text = _work(work, as_json=as_json)
    if output is not None:
        try:
            output.write_text(text, "utf-8")
        except OSError as error:
            stop(f"cannot write {str(output)!r}: {error.strerror or error}", 2)
        note(f"✓ {name} is written to {output}")
    elif as_json:
        emit_json({"name": name, "text": text})
    else:
        say(text.rstrip())


@app.command("enable")
def enable(name: Name, as_json: JsonFlag = False) -> None:
    """Switch an agent on."""
    _switch(name, active=True, as_json=as_json)


@app.command("disable")
def disable(name: Name, as_json: JsonFlag = False) -> None:
    """Switch an agent off: it is kept, and nobody chats with it."""
    _switch(name, active=False, as_json=as_json)


def _switch(name: str, *, active: bool, as_json: bool) -> None:
    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.server.api.agents import agent_card

        return agent_card(await opened.agents.switch(name, active=active, by=by))

    found = _work(work, as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {found['name']} is switched {'on' if active else 'off'}")


@app.command("remove")
def remove(name: Name, as_json: JsonFlag = False) -> None:
    """Remove an agent with its secrets."""

    async def work(opened: Platform, by: Principal) -> None:
        await opened.agents.remove(name, by=by)

    _work(work, as_json=as_json)
    emit_json({"name": name}) if as_json else note(f"✓ {name} is removed")


@app.command("hooks")
def hooks(
    org: Annotated[str, typer.Argument(help="Name or id of an organisation of yours.")],
    file: Annotated[
        Path | None, typer.Option(help="A list of hooks in YAML or JSON, to be put in their place.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """The hooks around all tool calls of an organisation's members; with --file others."""
    text = None if file is None else _text(file)

    async def work(opened: Platform, by: Principal) -> list[dict[str, Any]]:
        from interlace.resources import front_matter
        from interlace.resources.agents.definition import WRONG

        if text is not None:
            given = front_matter.read_data(text, kind=WRONG)
            if not isinstance(given, list):
                stop("the file holds no list of hooks", 2)
            await opened.agents.set_org_hooks(org, given, by=by)
        return await opened.agents.org_hooks(org, by=by)

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({"hooks": found})
        return
    rows = [(h["event"], h.get("priority", 100), h.get("match", "*"), h["do"]) for h in found]
    table(["event", "priority", "tools", "do"], rows, empty="No hooks.")
