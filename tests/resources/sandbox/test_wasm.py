"""The engine for hosts without user namespaces; its package needs Python 3.12."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from interlace.engine.errors import NodeTimeout
from interlace.resources.sandbox import CodeError, CodeResult, Limits, Sandbox

pytest.importorskip("eryx", reason="pyeryx is not installed: it needs Python >= 3.12")


ASYNC = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wasm() -> AsyncIterator[Sandbox]:
    made = Sandbox(engine="wasm", network=True)
    assert (await made.check()).engine == "wasm"
    yield made
    await made.close()


async def run(wasm: Sandbox, code: str, inputs: dict[str, Any] | None = None, **limits: Any) -> CodeResult:
    return await wasm.run(code, inputs or {}, limits=Limits(**{"seconds": 10, **limits}))


@pytest.mark.parametrize(
    ("code", "inputs", "value"),
    [
        (
            "def main(a, b=2, *, c, **rest):\n    return {'x': [a, b, c], 'rest': rest}",
            {"a": 1, "c": 3, "é\n'": '\u0000"'},
            {"x": [1, 2, 3], "rest": {"é\n'": '\u0000"'}},
        ),
        (
            "import asyncio\nasync def main():\n    return {'x': await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.sleep(0, 2))}",
            {},
            {"x": [1, 2]},
        ),
        (
            "import datetime\ndef main():\n    return {'d': datetime.date(2026, 1, 2), 'n': 2 ** 80}",
            {},
            {"d": "2026-01-02", "n": 2**80},
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef main():\n    return {'x': P(3).x}",
            {},
            {"x": 3},
        ),
    ],
)
@ASYNC
async def test_value(code: str, inputs: dict[str, Any], value: object, wasm: Sandbox) -> None:
    assert (await run(wasm, code, inputs)).value == value


@pytest.mark.parametrize(
    ("code", "kind", "line", "said"),
    [
        (
            "def main():\n    raise ValueError('bad')",
            "ValueError",
            2,
            "ValueError: bad (line 2: `raise ValueError('bad')`)",
        ),
        ("def main(:\n    pass", "SyntaxError", 1, "invalid syntax"),
        ("def main(a):\n    return {}", "missing_input", None, "main() needs 'a'"),
        ("def main():\n    return {'a': [{1}]}", "bad_result", None, "a[0] is of type set"),
        (
            "def main():\n    return {'x': 'y' * 200_000}",
            "output_limit",
            None,
            "more than the limit of 100000",
        ),
        (
            "def main():\n    x = []\n    while True: x.append('y' * 100_000)",
            "memory_limit",
            3,
            "its limit of 64 MB",
        ),
        ("import sys\ndef main():\n    sys.exit(3)", "SystemExit", 3, "sys.exit(3)"),
        ("import os\ndef main():\n    os._exit(0)", "killed", None, "ended before main() returned"),
    ],
)
@ASYNC
async def test_failure(code: str, kind: str, line: int | None, said: str, wasm: Sandbox) -> None:
    with pytest.raises(CodeError) as caught:
        await run(wasm, code, memory_mb=64, output_mb=0.1)

    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert said in caught.value.message


@ASYNC
async def test_printed_text_is_kept_apart_and_cut(wasm: Sandbox) -> None:
    code = "import os, sys\ndef main():\n    print('x' * 5000)\n    print('oops', file=sys.stderr)\n    return {'n': 1}"

    result = await run(wasm, code, stdout_kb=1)

    assert result.value == {"n": 1}
    assert result.stdout == "x" * 1000 + "\n… cut after 1000 bytes"
    assert result.stderr == "oops\n"


@pytest.mark.parametrize(
    "code",
    [
        "return open('/etc/passwd').read()",
        "return open(secret).read()",
        "import os; return os.listdir('/') and os.listdir('/etc')",
        "import os; return [v for v in os.environ.values() if canary in v]",
        "import socket; return socket.create_connection(('127.0.0.1', port), 2)",
        "import socket; s = socket.socket(); s.connect(('127.0.0.1', port)); return True",
        "import urllib.request; return urllib.request.urlopen(f'http://127.0.0.1:{port}').read()",
        "import os; return os.fork()",
        "import os; return os.system('true') == 0",
        "import subprocess; return subprocess.run(['true']).returncode == 0",
        "import ctypes; return ctypes.CDLL(None)",
        "import os; os.kill(pid, 0); return True",
        "import os; return os.path.exists(project)",
        "import os; return os.path.exists('/proc') or os.path.exists('/dev/null') or os.path.exists('/sys')",
        "import os; os.symlink('/etc/passwd', '/tmp/x'); return open('/tmp/x').read()",
        "import os; return os.open('/etc/passwd', os.O_RDONLY)",
        "import threading; threading.Thread(target=print).start(); return True",
        "import mmap; return len(mmap.mmap(-1, 1 << 33))",
        "import socket; return socket.gethostname() == host",
    ],
)
@ASYNC
async def test_reaches_nothing(code: str, wasm: Sandbox, surroundings: dict[str, Any]) -> None:
    program = (
        "def probe(secret, project, port, pid, canary, host):\n    "
        + code
        + "\ndef main(**given):\n    try:\n        return {'x': repr(probe(**given) or '')}\n"
        "    except (OSError, AttributeError, ImportError, RuntimeError, MemoryError, OverflowError):\n        return {'x': ''}"
    )

    result = await run(wasm, program, surroundings)

    assert result.value in ({"x": "''"}, {"x": ""})


@ASYNC
async def test_timeout_and_afterwards(wasm: Sandbox) -> None:
    began = time.monotonic()
    with pytest.raises(NodeTimeout, match=r"longer than 0\.3 s"):
        await run(wasm, "def main():\n    while True: pass", seconds=0.3)
    assert time.monotonic() - began < 6

    assert (await run(wasm, "def main():\n    return {}")).value == {}


@ASYNC
async def test_runs_share_nothing(wasm: Sandbox) -> None:
    await run(
        wasm,
        "import builtins, sys, json\nbuiltins.LEFT = 1\nsys.modules['left'] = json\ndef main():\n    return {}",
    )

    result = await run(
        wasm,
        "import builtins, sys\ndef main():\n    return {'x': hasattr(builtins, 'LEFT') or 'left' in sys.modules}",
    )

    assert result.value == {"x": False}


@ASYNC
async def test_cancel_and_close_leave_no_process(wasm: Sandbox, children: Callable[[], set[int]]) -> None:
    await run(wasm, "def main():\n    return {}")
    before = children()
    other = Sandbox(engine="wasm")
    await other.check()
    task = asyncio.create_task(other.run("def main():\n    while True: pass", {}, limits=Limits()))
    await asyncio.sleep(0.3)
    assert len(children() - before) == 1

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await other.close()

    deadline = time.monotonic() + 2
    while children() != before and time.monotonic() < deadline:  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)
    assert children() == before


@pytest.mark.parametrize("extra", [{"network": True}])
@ASYNC
async def test_what_it_cannot_do_is_said(extra: dict[str, Any], wasm: Sandbox) -> None:
    with pytest.raises(CodeError, match=r"the WASM engine has no network access") as caught:
        await wasm.run("def main():\n    return {}", {}, limits=Limits(), **extra)

    assert caught.value.kind == "not_supported"


@ASYNC
async def test_some_at_once(wasm: Sandbox) -> None:
    results = await asyncio.gather(
        *(run(wasm, "def main(n):\n    return {'n': n}", {"n": n}) for n in range(6))
    )

    assert [r.value for r in results] == [{"n": n} for n in range(6)]


SERVICE = """
import asyncio
from interlace.resources.sandbox import Limits, Sandbox

async def serve():
    sandbox = Sandbox(engine="wasm")
    await sandbox.check()
    run = asyncio.create_task(sandbox.run("def main():\\n    while True: pass", {}, limits=Limits()))
    await asyncio.sleep(0.5)
    print("running", flush=True)
    await run

asyncio.run(serve())
"""


def test_death_of_the_service_leaves_no_process(children: Callable[[], set[int]]) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == "running\n"
        (runner,) = (pid for pid in children() if f" {service.pid} " in Path(f"/proc/{pid}/stat").read_text())
        service.kill()

    deadline = time.monotonic() + 3
    while Path(f"/proc/{runner}").exists() and " Z " not in Path(f"/proc/{runner}/stat").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
