from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from interlace.engine.errors import NodeError
from interlace.resources.sandbox import Limits, Sandbox

CANARY = "canary-7f3a9c51"

# Ways in which an attack may end without having reached anything. A NameError or TypeError is a broken probe.
CONTAINED = frozenset(
    [
        "PermissionError",
        "FileNotFoundError",
        "OSError",
        "BlockingIOError",
        "ConnectionRefusedError",
        "URLError",
        "NotADirectoryError",
        "ModuleNotFoundError",
        "gaierror",
        "RuntimeError",
        "ProcessLookupError",
        "killed",
        "timeout",
        "memory_limit",
        "output_limit",
    ]
)

_PRELUDE = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    # Evidence when the kernel looked at the call at all: anything but "not permitted" and "no such call".
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(*words)
    number = ctypes.get_errno()
    return None if result == -1 and number in (errno.EPERM, errno.ENOSYS) else [result, number]
"""


def program(body: str) -> str:
    """Wrap a probe's body: what it returns is the evidence of an escape."""
    inner = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return (
        f"{_PRELUDE}\ndef probe(secret, project, port, pid, canary, host):\n{inner}\n"
        "def main(**given):\n    return {'evidence': probe(**given)}\n"
    )


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Things of the host that no run may reach."""
    secret = tmp_path_factory.mktemp("host") / "secret.txt"
    secret.write_text(CANARY)
    os.environ["SANDBOX_TEST_CANARY"] = CANARY
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield {
            "secret": str(secret),
            "project": str(Path(__file__).parents[3]),
            "port": server.getsockname()[1],
            "pid": os.getpid(),
            "canary": CANARY,
            "host": socket.gethostname(),
        }
    del os.environ["SANDBOX_TEST_CANARY"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    made = Sandbox(engine="bwrap")
    status = await made.check()
    if not status.available:
        pytest.skip(f"bubblewrap does not run here: {status.reason}")
    yield made
    await made.close()


Attack = Callable[..., Awaitable[str]]


@pytest.fixture(scope="module")
def attack(sandbox: Sandbox, surroundings: dict[str, Any]) -> Attack:
    """Run a probe in the sandbox; gives how it was stopped, fails when it was not."""

    async def attack(body: str, **limits: Any) -> str:
        allowed = Limits(**{"seconds": 5, "memory_mb": 256, **limits})
        try:
            result = await sandbox.run(program(body), surroundings, limits=allowed)
        except NodeError as error:
            if error.kind not in CONTAINED:
                pytest.fail(f"the probe itself is broken: {error} {getattr(error, 'traceback', '')}")
            return error.kind
        assert isinstance(result.value, dict)
        assert not result.value["evidence"], f"reached the host: {str(result.value['evidence'])[:500]}"
        return "nothing"

    return attack


@pytest.fixture
def plain(surroundings: dict[str, Any], tmp_path: Path) -> Callable[[str], Any]:
    """Run a probe without any sandbox, in an interpreter of its own, and give its evidence."""

    def plain(body: str) -> Any:
        code = (
            f"{program(body)}\nimport json\nprint(json.dumps(main(**json.loads(sys.argv[1])), default=str))"
        )
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, json.dumps(surroundings)],
            capture_output=True,
            text=True,
            timeout=20,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-800:]
        return json.loads(done.stdout.splitlines()[-1])["evidence"]

    return plain


@pytest.fixture
def children() -> Callable[[], set[int]]:
    """The process ids of all that descends from this process and was not there before the test."""

    def descendants() -> set[int]:
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        found = {os.getpid()}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found - {os.getpid()}

    before = descendants()

    def children() -> set[int]:
        return descendants() - before

    return children
