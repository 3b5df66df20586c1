"""`interlace kb …`: knowledge bases."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, stop, table

if TYPE_CHECKING:
    from interlace.engine.principal import Principal
    from interlace.flows.platform import Platform

app = typer.Typer(help="Knowledge bases: filled with documents, searched.", no_args_is_help=True)
Base = Annotated[str, typer.Argument(help="Name or id of a knowledge base.")]
_SHOWN = 300


def _work(work: Callable[[Platform, Principal], Awaitable[Any]], *, as_json: bool) -> Any:
    """Do something with the platform, as the owner of the installation."""

    async def done() -> Any:
        from interlace.engine.principal import LOCAL
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return await work(opened, await opened.store.users.principal(LOCAL.user_id))

    return run_async(done(), as_json=as_json)


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="How it is called.")],
    description: Annotated[str, typer.Option(help="What it is about.")] = "",
    file: Annotated[Path | None, typer.Option(help="A definition in YAML or JSON.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make a knowledge base."""
    definition: dict[str, Any] = {}
    if file is not None:
        import yaml

        try:
            definition = yaml.safe_load(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise typer.BadParameter(f"{file}: {error}") from error
        if not isinstance(definition, dict):
            raise typer.BadParameter(f"{file} holds no definition")
    if description:
        definition["description"] = description

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.server.resources import resource_json

        return resource_json(await opened.knowledge.add(name, definition, by=by))

    made = _work(work, as_json=as_json)
    emit_json(made) if as_json else note(f"✓ {name} is made; `interlace kb add {name} FILE …` fills it")


@app.command("add")
def add(
    base: Base,
    documents: Annotated[list[str], typer.Argument(help="Files, folders and URLs.")],
    metadata: Annotated[
        list[str] | None, typer.Option("--set", help="field=value for filters; JSON values are read as such.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Add documents, or replace those of the same source, and ingest them. Stopped half-way, it goes on the next time."""
    given = _metadata(metadata or [])
    sources = [source for entry in documents for source in _sources(entry)]
    if not sources:
        stop("there is nothing to add", 2)

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        added = [await _put(opened, base, source, given, by) for source in sources]
        await opened.ingestion.drain()
        progress = await opened.knowledge.progress(base, by=by)
        return {"added": sum(added), "unchanged": len(added) - sum(added), **progress}

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json(found)
        return
    note(
        f"✓ {found['added']} added or changed, {found['unchanged']} unchanged; {found['chunks']} chunks in all"
    )
    if found["failed"]:
        note(f"✗ {found['failed']} cannot be read; `interlace kb documents {base}` says why")


def _metadata(entries: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in entries:
        name, mark, text = entry.partition("=")
        if not mark or not name:
            raise typer.BadParameter(f"{entry!r} is no field=value")
        try:
            found[name] = json.loads(text)
        except json.JSONDecodeError:
            found[name] = text
    return found


def _sources(entry: str) -> list[str | Path]:
    if entry.startswith(("http://", "https://")):
        return [entry]
    path = Path(entry)
    if path.is_dir():
        from interlace.resources.documents.sniff import BY_SUFFIX

        return sorted(one for one in path.rglob("*") if one.is_file() and one.suffix.lower() in BY_SUFFIX)
    if not path.is_file():
        stop(f"there is no file or folder {entry!r}", 2)
    return [path]


async def _put(
    opened: Platform, base: str, source: str | Path, metadata: dict[str, Any], by: Principal
) -> bool:
    from interlace.resources.documents.source import Source

    if isinstance(source, Path):
        file = Source(content=source.read_bytes(), name=source.name)  # noqa: ASYNC240 - a command has nothing else to do
        _, changed = await opened.knowledge.put(base, file, by=by, metadata=metadata, key=source.as_posix())
    else:
        _, changed = await opened.knowledge.put(base, source, by=by, metadata=metadata)
    return changed


@app.command("list")
def list_bases(as_json: JsonFlag = False) -> None:
    """The knowledge bases."""

    async def work(opened: Platform, by: Principal) -> list[dict[str, Any]]:
        from interlace.server.resources import resource_json

        page = await opened.store.resources.list("knowledge_base", by=by)
        return [
            {**resource_json(found), "progress": await opened.knowledge.progress(found.id, by=by)}
            for found in page.items
        ]

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (b["name"], b["progress"]["documents"], b["progress"]["chunks"], b["definition"].get("description"))
        for b in found
    ]
    table(["name", "documents", "chunks", "about"], rows, empty="No knowledge bases.")


@app.command("show")
def show(base: Base, as_json: JsonFlag = False) -> None:
    """One knowledge base, and how far ingestion is."""

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.server.resources import resource_json

        found = await opened.store.resources.find("knowledge_base", base, by=by)
        return {**resource_json(found), "progress": await opened.knowledge.progress(found.id, by=by)}

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json(found)
        return
    rows = [(name, value) for name, value in found["progress"].items() if value is not None]
    rows += [(name, json.dumps(value)) for name, value in found["definition"].items()]
    table(["", found["name"]], rows, empty="")


@app.command("search")
def search(  # noqa: PLR0917 - one parameter an option
    base: Base,
    query: Annotated[str, typer.Argument(help="What is looked for.")],
    mode: Annotated[str, typer.Option(help="hybrid, dense or text.")] = "hybrid",
    top_k: Annotated[int, typer.Option(help="Most chunks.")] = 5,
    where: Annotated[str | None, typer.Option(help="Filter on metadata, as JSON.")] = None,
    grounded: Annotated[bool, typer.Option("--grounded", help="Quotes and conflicts, or a refusal.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Search."""
    if mode not in ("hybrid", "dense", "text"):
        raise typer.BadParameter(f"{mode!r} is none of hybrid, dense and text")
    try:
        wanted = {} if where is None else json.loads(where)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"--where is no JSON: {error}") from error

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        from interlace.engine.chat import CallSite
        from interlace.resources.knowledge import Query

        asked = Query(text=query, mode=mode, top_k=top_k, filter=wanted, grounded=grounded)  # type: ignore[arg-type]
        return (await opened.knowledge.search([base], asked, site=CallSite(principal=by))).as_json()

    found = _work(work, as_json=as_json)
    emit_json(found) if as_json else _print(found)


def _print(found: dict[str, Any]) -> None:
    if found["refused"]:
        say(f"✗ {found['refused']}")
        return
    places = {citation["n"]: citation["where"] for citation in found["citations"]}
    for chunk in found["chunks"]:
        place = f", {places[chunk['n']]}" if places[chunk["n"]] else ""
        say(f"[{chunk['n']}] {chunk['score']:.2f}  {chunk['source']}{place}")
        text = " ".join(chunk["text"].split())
        say(f"    {text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}")
    for quote in found["quotes"]:
        say(f"  “{quote['text']}” [{quote['n']}]")
    for conflict in found["conflicts"]:
        say(f"✗ [{conflict['between'][0]}] and [{conflict['between'][1]}]: {conflict['reason']}")
    say(f"confidence {found['confidence']:.2f}" if found["chunks"] else "Nothing was found.")


@app.command("documents")
def documents(base: Base, as_json: JsonFlag = False) -> None:
    """The documents of a knowledge base, with their state."""

    async def work(opened: Platform, by: Principal) -> list[dict[str, Any]]:
        from interlace.server.api.knowledge import document_json

        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = await opened.knowledge.documents(base, by=by, limit=200, after=cursor)
            found += [document_json(*item) for item in page.items]
            cursor = page.cursor
            if cursor is None:
                return found

    found = _work(work, as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(d["source"], d["state"], d["chunks"], (d["error"] or {}).get("message")) for d in found]
    table(["source", "state", "chunks", "error"], rows, empty="No documents.")


@app.command("remove")
def remove(
    base: Base,
    document: Annotated[
        str | None, typer.Argument(help="Source or id of a document; the whole knowledge base without one.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Remove a document, or a knowledge base with all of them."""

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        if document is None:
            await opened.knowledge.remove(base, by=by)
        else:
            await opened.knowledge.drop(base, document, by=by)
        return {"removed": document or base}

    found = _work(work, as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {found['removed']} is removed")


@app.command("reindex")
def reindex(base: Base, as_json: JsonFlag = False) -> None:
    """Build the index anew; the old one is searched until the new one holds everything."""

    async def work(opened: Platform, by: Principal) -> dict[str, Any]:
        await opened.knowledge.reindex(base, by=by)
        await opened.ingestion.drain()
        return await opened.knowledge.progress(base, by=by)

    found = _work(work, as_json=as_json)
    emit_json(found) if as_json else note(f"✓ {found['chunks']} chunks of {found['ready']} documents")
