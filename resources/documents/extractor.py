"""Extracts documents in processes of their own, so that a hostile file can neither stop nor read this one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import structlog

import interlace
from interlace.engine.errors import NodeError
from interlace.resources.documents.document import Extracted
from interlace.resources.documents.limits import DocumentFault, DocumentLimits
from interlace.resources.documents.sniff import sniff
from interlace.resources.documents.worker import answer

_MODULE = "interlace.resources.documents.worker"
_SHOWN = 500
_PLAIN_BYTES = 1_000_000
_GRACE = 2.0
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/ssl", "/etc/alternatives")

log = structlog.get_logger("interlace.documents")


class Extractor:
    """Brings files of many formats to blocks, one process a document. Belongs to one event loop.

    Args:
        limits: what one extraction may use.
        processes: how many go on at the same time; more wait.
        hidden: folders that the process never sees: the platform's home.
        isolate: run it in namespaces of its own (no network, only the Python installation to read) where bubblewrap
            works; limits of memory and time hold without it too.
    """

    def __init__(
        self,
        *,
        limits: DocumentLimits | None = None,
        processes: int = 2,
        hidden: Sequence[Path] = (),
        isolate: bool = True,
    ) -> None:
        self.limits = limits or DocumentLimits()
        self._slots = asyncio.Semaphore(processes)
        self._hidden = [str(path) for path in hidden]
        self._isolate = isolate
        self._wall: list[str] | None = None
        self._walling = asyncio.Lock()  # holds back a second probe

    async def extract(
        self,
        content: bytes,
        *,
        name: str = "",
        media_type: str = "",
        pages: Sequence[tuple[int, int]] | None = None,
        ocr: bool = False,
        metadata_only: bool = False,
    ) -> Extracted:
        """Extract one document.

        Args:
            content: the file.
            name: its name; its suffix counts only where the content leaves the format open.
            media_type: the same for the type that a server gave.
            pages: ranges of pages of a PDF, from 1, ends included.
            ocr: read pages without text by Tesseract.
            metadata_only: a document without any text is no error.

        Raises:
            NodeError: `document_damaged`, `document_encrypted`, `document_unsupported`, `document_empty`,
                `document_scanned`, `document_too_large`, `document_unsafe`, `document_pages`, `ocr_unavailable`.
        """
        if len(content) > self.limits.max_bytes:
            raise NodeError(
                f"the file {name!r} has {len(content):,} bytes; {self.limits.max_bytes:,} are allowed",
                kind="document_too_large",
                retryable=False,
            )
        task = {
            "name": name, "media_type": media_type, "pages": list(pages) if pages else None, "ocr": ocr,
            "metadata_only": metadata_only, "limits": self.limits.as_json(),
        }  # fmt: skip
        if _is_plain(content, name, media_type):
            raw = await asyncio.to_thread(answer, content, task, self.limits)
            return _extracted(raw, name)
        async with self._slots:
            raw = await self._run(orjson.dumps(task) + b"\n" + content, name)
        return _extracted(raw, name)

    async def _run(self, data: bytes, name: str) -> dict[str, Any]:
        line = [*await self._walls(), sys.executable, "-m", _MODULE]
        with tempfile.TemporaryFile() as stdin:
            # A file and not a pipe: the whole document is there, and nothing waits for the other side.
            await asyncio.to_thread(stdin.write, data)
            stdin.seek(0)
            process = await asyncio.create_subprocess_exec(
                *line,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(),
                start_new_session=True,
            )
        try:
            async with asyncio.timeout(self.limits.seconds + _GRACE):
                out, errors = await process.communicate()
        except TimeoutError:
            raise NodeError(
                f"{name or 'document'}: it was not extracted within {self.limits.seconds:g} s; split it into smaller"
                " documents",
                kind="document_too_large",
            ) from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                await process.wait()
        try:
            found: dict[str, Any] = orjson.loads(out)
        except orjson.JSONDecodeError:
            raise self._ended(process.returncode or 0, errors, name) from None
        return found

    def _ended(self, code: int, errors: bytes, name: str) -> NodeError:
        said = errors.decode("utf-8", "replace").strip()[-_SHOWN:]
        log.warning("the extraction of a document ended without a result", name=name, exit=code, stderr=said)
        if (
            code in (-9, -24, 137, 152)
            or "MemoryError" in said
            or "bad_alloc" in said
            or "Cannot allocate" in said
        ):
            return NodeError(
                f"{name or 'document'}: it needs more memory or time than one document may take"
                f" ({self.limits.memory_mb:,} MB, {self.limits.seconds:g} s)",
                kind="document_too_large",
            )
        last = said.rpartition("\n")[2]
        return NodeError(
            f"{name or 'document'}: it broke the library that reads it ({last or f'exit {code}'})",
            kind="document_damaged",
        )

    async def _walls(self) -> list[str]:
        """The command before ours that isolates it; empty where that does not work here."""
        async with self._walling:
            if self._wall is None:
                wall = _bubblewrap(self._hidden) if self._isolate else []
                self._wall = wall if wall and await _works(wall) else []
        return self._wall


def _is_plain(content: bytes, name: str, media_type: str) -> bool:
    """Whether it is a small text that no library reads: a process for each of many notes is not worth its time."""
    if len(content) > _PLAIN_BYTES or b"\0" in content or content.startswith(b"PK"):
        return False
    try:
        content.decode("utf-8")
        return sniff(content, name, media_type) == "text"
    except (UnicodeDecodeError, DocumentFault):
        return False


def _extracted(raw: dict[str, Any], name: str) -> Extracted:
    if "fault" in raw:
        raise NodeError(f"{name or 'document'}: {raw['message']}", kind=raw["fault"], retryable=False)
    return Extracted.from_json(raw["document"])


def _environment() -> dict[str, str]:
    """No setting and no secret of this process."""
    kept = {
        name: os.environ[name] for name in ("SYSTEMROOT", "PYTHONDONTWRITEBYTECODE") if name in os.environ
    }
    return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}


def _bubblewrap(hidden: Sequence[str]) -> list[str]:
    from interlace.resources.sandbox.bubblewrap import find_bwrap  # noqa: PLC0415 - only where documents are extracted

    program = find_bwrap() if sys.platform.startswith("linux") else None
    if program is None:
        return []
    seen = {
        *_SYSTEM,
        sys.prefix,
        sys.base_prefix,
        *(sysconfig.get_path(name) for name in ("purelib", "platlib")),
    }
    seen |= {str(Path(path).parent) for path in interlace.__path__}
    seen |= {str(Path(path).resolve()) for path in tuple(seen)} | {str(Path(__file__).resolve().parents[2])}
    line = [
        str(program),
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    line += ["--tmpfs", "/tmp"]  # noqa: S108 - a folder of the new namespace
    for path in sorted(seen):
        if not any(path != other and path.startswith(other + "/") for other in seen):
            line += ["--ro-bind-try", path, path]
    for path in hidden:
        if Path(path).is_dir():
            line += ["--tmpfs", path]
    return [*line, "--chdir", "/"]


async def _works(wall: list[str]) -> bool:
    process = await asyncio.create_subprocess_exec(
        *wall, sys.executable, "-c", f"import {_MODULE}", env=_environment(),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, errors = await process.communicate()
    if process.returncode:
        said = errors.decode("utf-8", "replace").strip()[-_SHOWN:]
        log.info("documents are extracted without namespaces of their own", reason=said)
    return process.returncode == 0
