"""`interlace import`: another product's workflow as a document."""

from __future__ import annotations

import asyncio
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlace.server.cli.output import FAILED, USAGE, JsonFlag, emit_json, note, run_async, say, stop

if TYPE_CHECKING:
    from interlace.importers import Imported

_SIGNS = {"changed": "~", "decision": "?", "unsupported": "✗", "error": "✗"}
_MAX_BYTES = 80_000_000
_SUFFIXES = {".yml", ".yaml", ".json"}


class Product(StrEnum):
    """Whose file it is."""

    AUTO = "auto"
    DIFY = "dify"
    N8N = "n8n"
    FIM_ONE = "fim-one"


def import_file(
    file: Annotated[
        Path,
        typer.Argument(help="An export of Dify (YAML), n8n or FIM One (JSON), or a folder of such files."),
    ],
    source: Annotated[
        Product, typer.Option("--from", help="Whose file it is; found out by itself, if not said.")
    ] = Product.AUTO,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the document to this file; for a folder, to this folder."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Turn another product's workflow into a document, and say what could not be carried over.

    Nothing is stored, run or connected. The document goes to the file of --output, else to the output; the report goes to
    the error output. The files of a folder are imported one after the other, each with a line of its own. Exit code: 0 there
    is a document, 1 a file is damaged or no workflow, 2 it cannot be read.
    """
    if file.is_dir():
        _folder(file, source, output, as_json=as_json)
        return
    made = run_async(_converted(file, source), as_json=as_json)
    if made.document is not None and output is not None:
        _write(output, made.yaml())
    if as_json:
        emit_json(made.as_json())
    else:
        _show(made, output)
    if not made.ok:
        raise typer.Exit(FAILED)


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        stop(f"cannot write {str(output)!r}: {error.strerror or error}", USAGE)


def _folder(folder: Path, source: Product, output: Path | None, *, as_json: bool) -> None:
    """Import every file of a folder; a damaged one does not keep the others back."""
    files = sorted(one for one in folder.iterdir() if one.is_file() and one.suffix.lower() in _SUFFIXES)
    if not files:
        stop(f"no YAML or JSON file in {str(folder)!r}", USAGE)
    if output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            stop(f"cannot make the folder {str(output)!r}: {error.strerror or error}", USAGE)
    results = []
    for number, file in enumerate(files, 1):
        made = run_async(_converted(file, source), as_json=as_json)
        results.append({"file": str(file), **made.as_json()})
        if made.document is not None and output is not None:
            same = sum(one.stem == file.stem for one in files) > 1
            _write(output / f"{file.name if same else file.stem}.yaml", made.yaml())
        if not as_json:
            note(f"{number}/{len(files)} {_line(file.name, made)}")
    failed = sum(not result["ok"] for result in results)
    if as_json:
        emit_json({"results": results})
    else:
        note(
            f"{len(files) - failed} of {len(files)} files imported"
            + (f" to {output}" if output else "; nothing was written (-o FOLDER)")
        )
    if failed:
        raise typer.Exit(FAILED)


def _line(name: str, made: Imported) -> str:
    if made.document is None:
        return f"✗ {name}: {made.report[-1].message} [{made.report[-1].code}]"
    return f"✓ {name}: {_counted(made)}"


def _counted(made: Imported) -> str:
    count = Counter(entry.level for entry in made.report)
    return f"{count['carried']} carried over, {count['changed']} changed, {count['decision']} to decide, {count['unsupported']} not supported"


async def _converted(file: Path, source: Product) -> Imported:
    from interlace.flows.node_types import node_types
    from interlace.importers import import_text

    text = await asyncio.to_thread(_read, file)
    return await asyncio.to_thread(
        import_text, text, registry=node_types(), source=source.value, name=file.stem
    )


def _read(file: Path) -> str:
    try:
        with file.expanduser().open("rb") as opened:
            raw = opened.read(_MAX_BYTES + 1)
        if len(raw) > _MAX_BYTES:
            stop(f"{str(file)!r} is larger than {_MAX_BYTES:,} bytes", USAGE)
        return raw.decode("utf-8-sig")
    except OSError as error:
        stop(f"cannot read {str(file)!r}: {error.strerror or error}", USAGE)
    except UnicodeDecodeError as error:
        stop(f"{str(file)!r} is not UTF-8 text (byte {error.start})", USAGE)


def _show(made: Imported, output: Path | None) -> None:
    if made.document is not None and output is None:
        say(made.yaml().rstrip("\n"))
    for entry in made.report:
        if entry.level != "carried":
            where = entry.node or entry.source_node
            note(f"{_SIGNS[entry.level]} {f'{where}: ' if where else ''}{entry.message} [{entry.code}]")
    if made.document is None:
        note("✗ nothing was imported")
        return
    note(f"✓ {output or made.document.name}: {_counted(made)}")
