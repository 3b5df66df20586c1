"""`interlace skills …`: texts that agents read when they need them. Nothing in a skill is ever run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, stop, table

if TYPE_CHECKING:
    from interlace.engine.principal import Principal
    from interlace.flows.platform import Platform
    from interlace.resources.skills.definition import Skill

app = typer.Typer(help="Skills: texts that agents read when they need them.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="SKILL", help="Name or id of the skill.")]


def _work(work: Callable[[Platform, Principal], Awaitable[Any]], *, as_json: bool) -> Any:
    """Do something with the platform, as the owner of the installation."""

    async def done() -> Any:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return await work(opened, await opened.store.users.principal(LOCAL.user_id))

    return run_async(done(), as_json=as_json)


@app.command("add")
def add(
    source: Annotated[
        Path,
        typer.Argument(help="A folder with SKILL.md, a folder or zip file of such folders, or one SKILL.md."),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Put them in the place of those of the same names.")
    ] = False,
    org: Annotated[str | None, typer.Option(help="Organisation that owns and sees them.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Keep skills; all of them or none."""

    async def work(opened: Platform, by: Principal) -> list[dict[str, Any]]:
        from interlace.server.api.skills import skill_json

        org_id = None if org is None else (await opened.store.organisations.get(org, by=by)).id
        added = await opened.skills.add(
            _read(source),
            by=by,
            org_id=org_id,
            visibility="private" if org is None else "org",
            replace=replace,
        )
        return [skill_json(found) for found in added]

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    for skill in found:
        note(f"✓ {skill['name']} is kept, with {len(skill['files'])} files beside its text")


def _read(source: Path) -> list[Skill]:
    from interlace.resources.skills.archive import read_any, read_folder

    if source.is_dir():
        return read_folder(source)
    try:
        return read_any(source.read_bytes(), name=source.name)
    except OSError as error:
        stop(f"cannot read {str(source)!r}: {error.strerror or error}", 2)


@app.command("list")
def list_skills(as_json: JsonFlag = False) -> None:
    """The skills."""

    async def work(opened: Platform, by: Principal) -> list[dict[str, Any]]:
        from interlace.server.api.skills import skill_json

        return [
            skill_json(found)
            for found in (await opened.store.resources.list("skill", by=by, limit=10_000)).items
        ]

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(s["name"], "" if s["active"] else "off", len(s["files"]), s["description"]) for s in found]
    table(["name", "", "files", "description"], rows, empty="No skills.")


@app.command("show")
def show(name: Name, as_json: JsonFlag = False) -> None:
    """The text of a skill, as agents read it."""

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.resources.skills.markdown import whole
        from interlace.server.api.skills import skill_json

        found, skill = await opened.skills.find(name, by=by)
        return {**skill_json(found), "definition": skill.model_dump(mode="json"), "text": whole(skill)}

    found = _work(work, as_json=as_json)
    emit_json(found) if as_json else say(found["text"])


@app.command("export")
def export(
    name: Name,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A folder to write the skill's folder into, or a zip file.")
    ] = Path(),
    as_json: JsonFlag = False,
) -> None:
    """Write a skill in the Agent Skills format."""

    async def work(opened: Platform, by: Principal) -> str:
        from interlace.resources.skills.archive import write_folder, write_zip

        _, skill = await opened.skills.find(name, by=by)
        try:
            if output.suffix.lower() == ".zip":
                output.write_bytes(write_zip([skill]))
                return str(output)
            return str(write_folder(skill, output))
        except FileExistsError:
            stop(f"there is something at {str(output / skill.name)!r} already", 2)
        except OSError as error:
            stop(f"cannot write {str(output)!r}: {error.strerror or error}", 2)

    where = _work(work, as_json=as_json)
    emit_json({"name": name, "path": where}) if as_json else note(f"✓ {name} is written to {where}")


@app.command("enable")
def enable(name: Name, as_json: JsonFlag = False) -> None:
    """Switch a skill on: agents are told of it."""
    _switch(name, active=True, as_json=as_json)


@app.command("disable")
def disable(name: Name, as_json: JsonFlag = False) -> None:
    """Switch a skill off: it is kept, and no agent is told of it."""
    _switch(name, active=False, as_json=as_json)


def _switch(name: str, *, active: bool, as_json: bool) -> None:
    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.server.api.skills import skill_json

        return skill_json(await opened.skills.switch(name, active=active, by=by))

    found = _work(work, as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {found['name']} is switched {'on' if active else 'off'}")


@app.command("remove")
def remove(name: Name, as_json: JsonFlag = False) -> None:
    """Remove a skill with its files."""

    async def work(opened: Platform, by: Principal) -> None:
        await opened.skills.remove(name, by=by)

    _work(work, as_json=as_json)
    emit_json({"name": name}) if as_json else note(f"✓ {name} is removed")
