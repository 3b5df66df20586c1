"""The folder of a run: files by path that its nodes and agents share; nobody else's run can name them.

A change is kept before the call that makes it answers, under the key of that call: a call that is repeated after a
crash gives what it gave before and changes nothing a second time.
"""

from __future__ import annotations

import mimetypes
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from interlace.engine.errors import NodeError
from interlace.engine.problems import nearest
from interlace.engine.protocols import Files, FileValue
from interlace.resources.tools.tool import ToolContext
from interlace.store.run_files import FolderEntry, RunFileRepository

MAX_FILE: Final = 10_000_000
MAX_TOTAL: Final = 100_000_000
MAX_FILES: Final = 1000
MAX_VERSIONS: Final = 10_000
_MAX_PATH: Final = 300
_TRIES: Final = 20
_ROOT: Final = re.compile(r"[.\[#]")
_TEXT_TYPES: Final = {
    ".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml", ".csv": "text/csv",
    ".json": "application/json", ".py": "text/x-python", ".txt": "text/plain", ".jsonl": "application/x-ndjson",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of a path: new content, or None for its removal, and what the call answers besides."""

    content: bytes | None
    detail: Mapping[str, Any] = field(default_factory=dict)


class RunFolders:
    """The folders of all runs, as a service; `folder_of` gives the one of a call."""

    def __init__(self, repository: RunFileRepository) -> None:
        self.repository = repository


def folder_of(ctx: ToolContext, folders: RunFolders) -> Folder:
    """The folder of the run that a call belongs to.

    Raises:
        NodeError: `no_run`: the tool was called outside of a run.
    """
    if not ctx.run.id:
        raise NodeError(
            "files belong to runs, and this call belongs to none; use the tool in a workflow or a chat",
            kind="no_run", retryable=False,
        )  # fmt: skip
    node = _ROOT.split(ctx.path, maxsplit=1)[0]
    return Folder(
        folders.repository, ctx.run.id, node=node, key=ctx.idempotency_key, files=ctx.service(Files)
    )


class Folder:
    """One run's folder, as one call of a tool sees it."""

    def __init__(
        self, repository: RunFileRepository, run_id: str, *, node: str, key: str, files: Files
    ) -> None:
        self._repository = repository
        self._run_id = run_id
        self._node = node
        self._key = key
        self._files = files

    async def list(self, pattern: str | None = None) -> list[FolderEntry]:
        """The files, by path; those that a pattern with `*` and `?` fits, or that lie in a folder of that name."""
        found = await self._repository.list(self._run_id)
        if pattern is None:
            return found
        wanted = clean_path(pattern.rstrip("/") or "*")
        return [e for e in found if fnmatchcase(e.path, wanted) or e.path.startswith(f"{wanted}/")]

    async def entry(self, path: str) -> FolderEntry:
        """The file at a path.

        Raises:
            NodeError: `bad_path`; `file_not_found`, with the nearest path.
        """
        wanted = clean_path(path)
        found = await self._repository.latest(self._run_id, wanted)
        if found is None or found.ref is None:
            known = [entry.path for entry in await self.list()]
            guess = nearest(wanted, known)
            hint = f"did you mean {guess!r}?" if guess else f"there are {', '.join(known[:10]) or 'none'}"
            raise NodeError(f"the run has no file {wanted!r}; {hint}", kind="file_not_found", retryable=False)
        return found

    async def content(self, path: str) -> bytes:
        """The bytes of a file; raises as `entry`."""
        return await self._bytes(await self.entry(path))

    async def text(self, path: str) -> str:
        """The text of a file; raises as `entry`, and `file_not_text`."""
        return as_text(await self.content(path), path)

    async def _bytes(self, entry: FolderEntry) -> bytes:
        assert entry.ref is not None
        return await self._files.load(entry.ref)

    async def change(
        self, path: str, make: Callable[[bytes | None], Awaitable[Change]], media_type: str | None = None
    ) -> FolderEntry:
        """Make a file's next version out of its content, which is None where there is no file.

        Where another call of the run changed the file meanwhile, `make` is asked again; a call that did its work
        before changes nothing and gives the same.

        Raises:
            NodeError: `bad_path`, `folder_full`; those of `make`.
        """
        wanted = clean_path(path)
        for _ in range(_TRIES):
            done = await self._repository.of_call(self._run_id, self._key)
            if done is not None:
                return done
            last = await self._repository.latest(self._run_id, wanted)
            before = None if last is None or last.ref is None else await self._bytes(last)
            change = await make(before)
            entry = await self._kept(wanted, 1 if last is None else last.version + 1, change, media_type)
            if await self._repository.add(self._run_id, entry):
                return entry
        raise NodeError(
            f"{wanted!r} is changed by others all the time; try again", kind="file_busy", retryable=True
        )

    async def _kept(self, path: str, version: int, change: Change, media_type: str | None) -> FolderEntry:
        kind = media_type or media_type_of(path)
        ref, size = None, 0
        if change.content is not None:
            await self._check_room(path, len(change.content))
            saved = await self._files.save(change.content, name=path.rpartition("/")[2], media_type=kind)
            ref, size = saved.ref, saved.size
        return FolderEntry(
            path=path, version=version, node=self._node, key=self._key, ref=ref, size=size, media_type=kind,
            detail=change.detail,
        )  # fmt: skip

    async def _check_room(self, path: str, size: int) -> None:
        if size > MAX_FILE:
            raise _full(f"{path!r} would have {size:,} bytes; {MAX_FILE:,} are allowed")
        others = [entry for entry in await self.list() if entry.path != path]
        if len(others) >= MAX_FILES:
            raise _full(f"the run has {len(others):,} files; {MAX_FILES:,} are allowed")
        total = size + sum(entry.size for entry in others)
        if total > MAX_TOTAL:
            raise _full(f"the files of the run would have {total:,} bytes; {MAX_TOTAL:,} are allowed")
        if await self._repository.versions(self._run_id) >= MAX_VERSIONS:
            raise _full(f"the run has changed its files {MAX_VERSIONS:,} times, which is the limit")


def as_text(content: bytes, path: str) -> str:
    """Bytes as UTF-8 text.

    Raises:
        NodeError: `file_not_text`.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NodeError(
            f"{path!r} is no UTF-8 text; read_document reads PDF, Office and other documents", kind="file_not_text",
            retryable=False,
        ) from None  # fmt: skip


def file_value(entry: FolderEntry) -> dict[str, Any] | None:
    """The file of an entry as a value that other nodes take, None where it was removed."""
    if entry.ref is None:
        return None
    value = FileValue(
        name=entry.path.rpartition("/")[2], media_type=entry.media_type, size=entry.size,
        sha256=entry.ref.removeprefix("sha256-"), ref=entry.ref,
    )  # fmt: skip
    return asdict(value)


def clean_path(path: str) -> str:
    """A path as the folder knows it: relative, parts joined by `/`.

    Raises:
        NodeError: `bad_path`: it is empty, too long, leads out of the folder, or holds control characters.
    """
    plain = unicodedata.normalize("NFC", path.strip())
    if "\\" in plain or any(unicodedata.category(mark).startswith("C") for mark in plain):
        raise _bad_path(path, "it holds a backslash or a control character")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if not parts:
        raise _bad_path(path, "it names no file")
    if ".." in parts:
        raise _bad_path(path, "it leads out of the folder")
    found = "/".join(parts)
    if len(found) > _MAX_PATH:
        raise _bad_path(path[:40] + "…", f"it has more than {_MAX_PATH} characters")
    return found


def media_type_of(path: str) -> str:
    """The media type that a path's suffix stands for; plain text where it says nothing."""
    suffix = path[path.rfind(".") :].lower() if "." in path.rpartition("/")[2] else ""
    return _TEXT_TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "text/plain"


def _bad_path(path: str, why: str) -> NodeError:
    return NodeError(
        f"{path!r} is no path of a file: {why}; write as notes/plan.md", kind="bad_path", retryable=False
    )


def _full(message: str) -> NodeError:
    return NodeError(message, kind="folder_full", retryable=False)
