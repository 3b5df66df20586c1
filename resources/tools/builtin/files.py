"""Tools for the files of the run: a folder that its nodes and agents share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.expressions.filters.data import regex
from interlace.engine.protocols import Files
from interlace.engine.schema import Schema
from interlace.resources.tools.folder import MAX_FILE, Change, RunFolders, as_text, file_value, folder_of
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool
from interlace.store.run_files import FolderEntry

Path = Annotated[str, Field(max_length=500, description="As notes/plan.md.")]
_LONGEST_LINE = 2000
_MOST_CHARACTERS = 200_000

FILE: Schema = {"type": "object", "format": "file"}
ENTRY: Schema = {
    "type": "object",
    "properties": {
        "path": {"type": "string"}, "size": {"type": "integer"}, "media_type": {"type": "string"},
        "version": {"type": "integer"}, "file": FILE,
    },
    "required": ["path", "size", "media_type", "version", "file"],
}  # fmt: skip


def _shown(entry: FolderEntry) -> dict[str, Any]:
    return {
        "path": entry.path, "size": entry.size, "media_type": entry.media_type, "version": entry.version,
        "file": file_value(entry),
    }  # fmt: skip


class WriteArguments(Arguments):
    """Where, and what."""

    path: Path
    text: str | None = Field(None, max_length=MAX_FILE, description="The content.")
    file: dict[str, Any] | None = Field(None, description="Or a file value whose content is taken.")
    append: bool = Field(False, description="Add to the end instead of replacing the content.")


class WriteFile(TypedTool[WriteArguments]):
    """Writing."""

    name = "write_file"
    description = "Write a file of this run: make it, replace its content, or add to its end."
    category: ClassVar[Category] = "files"
    result = ENTRY

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """A repeated call writes nothing a second time."""
        del arguments
        return "idempotent"

    async def call(self, arguments: WriteArguments, ctx: ToolContext) -> ToolResult:
        """Write."""
        if (arguments.text is None) == (arguments.file is None):
            raise NodeError("give exactly one of text and file", kind="bad_arguments", retryable=False)
        media_type = None
        if arguments.file is None:
            content = (arguments.text or "").encode("utf-8", "surrogatepass")
        else:
            content = await ctx.service(Files).load(_ref(arguments.file))
            media_type = str(arguments.file.get("media_type") or "") or None

        async def make(before: bytes | None) -> Change:
            return Change(content=(before or b"") + content if arguments.append else content)

        entry = await folder_of(ctx, ctx.service(RunFolders)).change(arguments.path, make, media_type)
        return ToolResult(value=_shown(entry), text=f"{entry.path} has {entry.size:,} bytes now.")


def _ref(file: Mapping[str, Any]) -> str:
    if not isinstance(file.get("ref"), str):
        raise NodeError("file is no file value: it has no ref", kind="bad_file", retryable=False)
    return str(file["ref"])


class ReadArguments(Arguments):
    """Which lines of which file."""

    path: Path
    from_line: int = Field(1, ge=1)
    lines: int = Field(500, ge=1, le=10_000, description="How many lines at most.")


class ReadFile(TypedTool[ReadArguments]):
    """Reading."""

    name = "read_file"
    description = "Read a text file of this run, by lines."
    category: ClassVar[Category] = "files"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "path": {"type": "string"}, "text": {"type": "string"}, "from_line": {"type": "integer"},
            "to_line": {"type": "integer"}, "total_lines": {"type": "integer"}, "more": {"type": "boolean"}, "file": FILE,
        },
        "required": ["path", "text", "from_line", "to_line", "total_lines", "more", "file"],
    }  # fmt: skip

    async def call(self, arguments: ReadArguments, ctx: ToolContext) -> ToolResult:
        """Read."""
        folder = folder_of(ctx, ctx.service(RunFolders))
        entry = await folder.entry(arguments.path)
        lines = (await folder.text(arguments.path)).splitlines(keepends=True)
        start = min(arguments.from_line - 1, len(lines))
        end, size = start, 0
        while end < min(len(lines), start + arguments.lines) and (
            end == start or size + len(lines[end]) <= _MOST_CHARACTERS
        ):
            size += len(lines[end])
            end += 1
        found = {
            "path": entry.path, "text": "".join(lines[start:end]), "from_line": start + 1, "to_line": end,
            "total_lines": len(lines), "more": end < len(lines), "file": file_value(entry),
        }  # fmt: skip
        whole = start == 0 and end == len(lines)
        head = "" if whole else f"[{entry.path}, lines {start + 1} to {end} of {len(lines)}]\n"
        return ToolResult(value=found, text=head + str(found["text"]))


class ListArguments(Arguments):
    """Which files."""

    pattern: str | None = Field(None, max_length=500, description="As notes/*.md, or a folder.")


class ListFiles(TypedTool[ListArguments]):
    """The folder."""

    name = "list_files"
    description = "List the files of this run with their sizes."
    category: ClassVar[Category] = "files"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {"files": {"type": "array", "items": ENTRY}, "size": {"type": "integer"}},
        "required": ["files", "size"],
    }

    async def call(self, arguments: ListArguments, ctx: ToolContext) -> ToolResult:
        """List."""
        found = await folder_of(ctx, ctx.service(RunFolders)).list(arguments.pattern)
        text = (
            "\n".join(f"{entry.path}  {entry.size:,} bytes" for entry in found) or "There are no such files."
        )
        value = {"files": [_shown(entry) for entry in found], "size": sum(entry.size for entry in found)}
        return ToolResult(value=value, text=text)


class SearchArguments(Arguments):
    """What is looked for, and where."""

    query: str = Field(
        min_length=1, max_length=1000, description="Text, or with `regex` a regular expression (RE2)."
    )
    regex: bool = False
    ignore_case: bool = True
    pattern: str | None = Field(None, max_length=500, description="Only files such as notes/*.md.")
    limit: int = Field(50, ge=1, le=1000, description="Most lines.")


class SearchFiles(TypedTool[SearchArguments]):
    """Searching."""

    name = "search_files"
    description = "Find lines in the text files of this run, by words or by a regular expression."
    category: ClassVar[Category] = "files"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "matches": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string"},
                        "line": {"type": "integer"},
                        "text": {"type": "string"},
                    },
                    "required": ["path", "line", "text"],
                },
            },
            "more": {"type": "boolean"},
        },
        "required": ["matches", "more"],
    }

    async def call(self, arguments: SearchArguments, ctx: ToolContext) -> ToolResult:
        """Look through the files one by one."""
        folder = folder_of(ctx, ctx.service(RunFolders))
        source = arguments.query if arguments.regex else _quoted(arguments.query)
        wanted = regex(source, ignore_case=arguments.ignore_case)
        found: list[dict[str, Any]] = []
        for entry in await folder.list(arguments.pattern):
            try:
                text = await folder.text(entry.path)
            except NodeError as error:
                if error.kind == "file_not_text":
                    continue
                raise
            for number, line in enumerate(text.splitlines(), 1):
                if wanted.search(line):
                    if len(found) == arguments.limit:
                        return _found(found, more=True)
                    found.append({"path": entry.path, "line": number, "text": line[:_LONGEST_LINE]})
        return _found(found, more=False)


def _quoted(text: str) -> str:
    import re2  # noqa: PLC0415 - only here

    return str(re2.escape(text))


def _found(matches: list[dict[str, Any]], *, more: bool) -> ToolResult:
    text = "\n".join(f"{match['path']}:{match['line']}: {match['text']}" for match in matches)
    return ToolResult(value={"matches": matches, "more": more}, text=text or "Nothing was found.")


class EditArguments(Arguments):
    """A file, what is replaced in it, and by what."""

    path: Path
    old: str = Field(
        min_length=1, max_length=MAX_FILE, description="Text as it stands there, blanks and lines included."
    )
    new: str = Field(max_length=MAX_FILE, description="What stands there afterwards.")
    every: bool = Field(False, description="Replace every place; otherwise there has to be exactly one.")


class EditFile(TypedTool[EditArguments]):
    """Changing."""

    name = "edit_file"
    description = "Replace a piece of text in a file of this run."
    category: ClassVar[Category] = "files"
    result: ClassVar[Schema] = {
        **ENTRY, "properties": {**ENTRY["properties"], "replaced": {"type": "integer"}}, "required": [*ENTRY["required"], "replaced"],
    }  # fmt: skip

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """A repeated call changes nothing a second time."""
        del arguments
        return "idempotent"

    async def call(self, arguments: EditArguments, ctx: ToolContext) -> ToolResult:
        """Change."""
        folder = folder_of(ctx, ctx.service(RunFolders))

        async def make(before: bytes | None) -> Change:
            if before is None:
                await folder.entry(arguments.path)
            text = as_text(before or b"", arguments.path)
            count = text.count(arguments.old)
            if not count:
                raise _no_match(
                    arguments.path, "does not hold that text; read the file and copy it as it stands"
                )
            if count > 1 and not arguments.every:
                raise _no_match(
                    arguments.path, f"holds that text {count} times; give more of it, or set every"
                )
            changed = text.replace(arguments.old, arguments.new).encode("utf-8", "surrogatepass")
            return Change(content=changed, detail={"replaced": count})

        entry = await folder.change(arguments.path, make)
        replaced = entry.detail.get("replaced", 0)
        return ToolResult(
            value={**_shown(entry), "replaced": replaced}, text=f"Replaced {replaced} in {entry.path}."
        )


def _no_match(path: str, why: str) -> NodeError:
    return NodeError(f"{path!r} {why}", kind="no_match", retryable=False)


class DeleteArguments(Arguments):
    """Which file."""

    path: Path


class DeleteFile(TypedTool[DeleteArguments]):
    """Removing."""

    name = "delete_file"
    description = "Delete a file of this run."
    category: ClassVar[Category] = "files"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "deleted": {"type": "boolean"}},
        "required": ["path", "deleted"],
    }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """A repeated call removes nothing else."""
        del arguments
        return "idempotent"

    async def call(self, arguments: DeleteArguments, ctx: ToolContext) -> ToolResult:
        """Remove."""
        folder = folder_of(ctx, ctx.service(RunFolders))

        async def make(before: bytes | None) -> Change:
            if before is None:
                await folder.entry(arguments.path)
            return Change(content=None)

        entry = await folder.change(arguments.path, make)
        return ToolResult(value={"path": entry.path, "deleted": True}, text=f"{entry.path} is deleted.")
