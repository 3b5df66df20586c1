"""`interlace workflows …`: stored workflows and their versions."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, table

if TYPE_CHECKING:
    from interlace.engine.document import Document

app = typer.Typer(help="Stored workflows and their versions.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name or id of the workflow.")]
Version = Annotated[str, typer.Option(help="published, latest or a number.")]


@app.command("list")
def list_workflows(as_json: JsonFlag = False) -> None:
    """All stored workflows."""

    async def work() -> list[dict[str, Any]]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = []
            cursor: str | None = None
            while True:
                page = await opened.store.workflows.list(limit=200, cursor=cursor)
                for workflow in page.items:
                    latest = await opened.store.workflows.version(workflow.id, "latest")
                    found.append(_workflow(workflow, latest.number))
                cursor = page.cursor
                if cursor is None:
                    return found

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (
            item["name"],
            item["latest_version"],
            item["published_version"] or "not published",
            item["id"],
            _day(item["updated_at"]),
        )
        for item in found
    ]
    table(
        ["name", "latest", "published", "id", "changed"],
        rows,
        empty="No workflows yet; store one with: interlace workflows push FILE",
    )


def _workflow(workflow: Any, latest: int) -> dict[str, Any]:
    return {
        "id": workflow.id, "name": workflow.name, "published_version": workflow.published_version,
        "latest_version": latest, "created_at": workflow.created_at, "updated_at": workflow.updated_at,
    }  # fmt: skip


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


@app.command()
def show(name: Name, version: Version = "latest", as_json: JsonFlag = False) -> None:
    """A workflow: its versions and the document of one."""

    async def work() -> dict[str, Any]:
        from interlace.engine.document import Document
        from interlace.engine.source import dump
        from interlace.server.cli.session import platform

        async with platform() as opened:
            pinned = await opened.documents.stored(name, version)
            workflow = await opened.store.workflows.get(name)
            versions = await opened.store.workflows.versions(name)
            return {
                **_workflow(workflow, versions[0].number),
                "version": pinned.version,
                "versions": [
                    {"number": v.number, "created_at": v.created_at, "note": v.note} for v in versions
                ],
                "document": pinned.document.model_dump(mode="json", by_alias=True, exclude_defaults=True),
                "text": dump(Document.model_validate(pinned.document)),
            }

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    published = found["published_version"] or "none"
    say(f"# {found['name']}  {found['id']}  version {found['version']}  published {published}")
    say(found["text"])


@app.command()
def push(
    file: Annotated[Path, typer.Argument(help="The workflow file.")],
    message: Annotated[str, typer.Option("--note", "-m", help="What is new in this version.")] = "",
    publish_it: Annotated[bool, typer.Option("--publish", help="Publish the new version as well.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Store a file as a new version of the workflow of its name; nothing is published."""

    async def work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            pinned = await opened.documents.from_file(file)
            pushed = await opened.store.workflows.push(pinned.document.name, pinned.text, note=message)
            if publish_it:
                await opened.store.workflows.publish(pushed.workflow_id, pushed.number)
                await opened.triggers.published(pushed.workflow_id)
            return {
                "id": pushed.workflow_id, "name": pinned.document.name, "version": pushed.number,
                "created": pushed.created, "published": publish_it,
            }  # fmt: skip

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        what = "is new" if found["created"] else "has this document already"
        note(
            f"✓ {found['name']}: version {found['version']} {what}{', published' if found['published'] else ''}"
        )


@app.command()
def pull(
    name: Name,
    version: Version = "latest",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write the document of a version as YAML; as JSON for a .json file and with --json."""

    async def work() -> str:
        from interlace.engine.source import dump
        from interlace.server.cli.session import platform

        async with platform() as opened:
            pinned = await opened.documents.stored(name, version)
            return dump(pinned.document, format="json" if as_json else _format(output))

    text = run_async(work(), as_json=as_json)
    if output is None:
        say(text)
    else:
        output.write_text(text, "utf-8")
        note(f"✓ wrote {output}")


@app.command()
def diff(
    name: Name,
    before: Annotated[str, typer.Argument(help="published, latest, a number, or a file.")] = "published",
    after: Annotated[str, typer.Argument(help="published, latest, a number, or a file.")] = "latest",
    as_json: JsonFlag = False,
) -> None:
    """What differs in meaning between two versions; order and positions do not count."""

    async def work() -> Any:
        from interlace.engine.diff import diff as compare
        from interlace.server.cli.session import platform

        async with platform() as opened:

            async def read(which: str) -> Document:
                file = _in_file(which)
                return file or (await opened.documents.stored(name, which)).document

            return compare(await read(before), await read(after))

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found.as_json())
    else:
        say(str(found) or "no difference")


def _in_file(which: str) -> Document | None:
    from interlace.engine.source import load_file

    path = Path(which)
    return load_file(path).require() if path.is_file() else None


@app.command()
def publish(
    name: Name,
    version: Annotated[int | None, typer.Option(help="A number; the newest by default.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make a version the one that runs by name, triggers and other workflows use."""

    async def work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            number = await opened.store.workflows.publish(name, version)
            await opened.triggers.published((await opened.store.workflows.get(name)).id)
            return {"name": name, "published_version": number}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note(f"✓ {name}: version {found['published_version']} is published")


@app.command()
def unpublish(name: Name, as_json: JsonFlag = False) -> None:
    """Let no version be published: runs by name are refused, and triggers end."""

    async def work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.workflows.get(name)
            await opened.store.workflows.unpublish(found.id)
            await opened.triggers.published(found.id)
            return {"name": name, "published_version": None}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note(f"✓ {name}: no version is published any more")


@app.command("rename-node")
def rename_node(
    target: Annotated[str, typer.Argument(help="A workflow file, or the name of a stored workflow.")],
    old: Annotated[str, typer.Argument(help="The node's id now.")],
    new: Annotated[str, typer.Argument(help="The id it gets.")],
    as_json: JsonFlag = False,
) -> None:
    """Rename a node's id and rewrite every reference to it; a stored workflow gets a new version.

    A file is written anew: its comments and layout are not kept.
    """

    async def work() -> dict[str, Any]:
        from interlace.engine.rename import rename_node as rename
        from interlace.flows.documents import canonical
        from interlace.server.cli.session import platform

        async with platform() as opened:
            pinned = await opened.documents.stored(target, "latest")
            document = rename(pinned.document, old, new, registry=opened.registry)
            pushed = await opened.store.workflows.push(
                document.name, canonical(document), note=f"rename {old} to {new}"
            )
            return {"name": target, "version": pushed.number, "old": old, "new": new}

    path = Path(target)
    in_file = path.is_file() or path.suffix in (".yaml", ".yml", ".json")
    found = run_async(asyncio.to_thread(_rename, path, old, new) if in_file else work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        where = (
            f" in version {found['version']}"
            if "version" in found
            else f"; wrote {path}: comments and layout are not kept"
        )
        note(f"✓ {old} is now {new}{where}")


def _rename(path: Path, old: str, new: str) -> dict[str, Any]:
    from interlace.engine.rename import rename_node as rename
    from interlace.engine.source import dump, load_file
    from interlace.flows.node_types import node_types

    document = rename(load_file(path).require(), old, new, registry=node_types())
    path.write_text(dump(document, format=_format(path)), "utf-8")
    return {"file": str(path), "old": old, "new": new}


def _format(path: Path | None) -> Literal["json", "yaml"]:
    return "json" if path is not None and path.suffix == ".json" else "yaml"


@app.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Delete a workflow; its runs stay."""
    if not yes:
        typer.confirm(f"Delete workflow {name!r}?", abort=True)

    async def work() -> None:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            found = await opened.store.workflows.get(name)
            await opened.store.workflows.delete(found.id)
            await opened.triggers.published(found.id)

    run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"name": name, "deleted": True})
    else:
        note(f"✓ deleted {name}")
