"""The engine for short snippets."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from inline_snapshot import snapshot

from interlace.engine.errors import NodeTimeout
from interlace.resources.sandbox import CodeError, CodeResult, Limits, Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def snippets() -> AsyncIterator[Sandbox]:
    # It does not lean on the other engines: none of them works here.
    made = Sandbox(engine="bwrap", bwrap=Path("/bin/false"))
    yield made
    await made.close()


async def run(
    snippets: Sandbox, code: str, inputs: dict[str, Any] | None = None, **limits: Any
) -> CodeResult:
    return await snippets.run(code, inputs or {}, limits=Limits(**{"seconds": 5, **limits}), fast=True)


@pytest.mark.parametrize(
    ("code", "inputs", "value"),
    [
        (
            "def main(a, b=2, *, c=3):\n    return {'x': [a, b, c]}",
            {"a": 1, "c": 5, "d": 6},
            {"x": [1, 2, 5]},
        ),
        (
            "def main(a, **rest):\n    return {'rest': rest}",
            {"a": 1, "b": [None, {"c": True}]},
            {"rest": {"b": [None, {"c": True}]}},
        ),
        ("async def main(a):\n    return {'a': a * 2}", {"a": "é"}, {"a": "éé"}),
        ("main = lambda a: {'a': a}", {"a": 1.5}, {"a": 1.5}),
        (
            "import datetime, decimal\ndef main():\n    return {'d': datetime.date(2026, 1, 2), 'n': decimal.Decimal('1.10'), 't': (1, 2)}",
            {},
            {"d": "2026-01-02", "n": "1.10", "t": [1, 2]},
        ),
        ("def main(n):\n    return {'n': n + 1}", {"n": 2**80}, {"n": 2**80 + 1}),
        (
            "import re, json\ndef main(text):\n    return json.loads(re.sub('a', '1', text))",
            {"text": '{"x": [a, a]}'},
            {"x": [1, 1]},
        ),
    ],
)
async def test_value(code: str, inputs: dict[str, Any], value: object, snippets: Sandbox) -> None:
    assert (await run(snippets, code, inputs)).value == value


async def test_printed_text_is_kept_apart_and_cut(snippets: Sandbox) -> None:
    result = await run(
        snippets, "def main():\n    for n in range(1000): print('line', n)\n    return {'n': 1}", stdout_kb=1
    )

    assert result.value == {"n": 1}
    assert result.stdout.startswith("line 0\nline 1\n")
    assert result.stdout.endswith("\n… cut after 1000 characters")


@pytest.mark.parametrize(
    ("code", "kind", "line", "said"),
    [
        (
            "def main():\n    raise ValueError('bad')",
            "ValueError",
            2,
            "ValueError: bad (line 2: `raise ValueError('bad')`)",
        ),
        ("def main(:\n    pass", "SyntaxError", 1, "`sandbox: full` has all of it"),
        ("1 / 0\ndef main():\n    return {}", "ZeroDivisionError", 1, "division by zero"),
        ("x = 1", "missing_main", None, "write `def main(...)`"),
        (
            "def main(a, *, b):\n    return {}",
            "missing_input",
            None,
            "main() needs 'b', which is not among the inputs (given: 'a')",
        ),
        ("def main():\n    return [1]", "bad_result", None, "a value of type list"),
        ("def main():\n    return {'a': [{1}]}", "bad_result", None, "a[0] is of type set"),
        ("def main():\n    return {1: 2}", "bad_result", None, "keys must be text"),
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
        ("import subprocess", "ModuleNotFoundError", 1, "`sandbox: full` has all of it"),
        ("class A(Exception): pass", "NotImplementedError", 1, "`sandbox: full` has all of it"),
        ("def main():\n    return main()", "RecursionError", 2, "recursion"),
        ("x = '" + "y" * 40_000 + "'", "not_supported", None, "more than the 32000 of a snippet"),
        ("x = " + "(" * 3000 + ")" * 3000, "SyntaxError", None, ""),
        ("x = " + "-" * 20_000 + "1", "SyntaxError", None, ""),
    ],
)
async def test_failure(code: str, kind: str, line: int | None, said: str, snippets: Sandbox) -> None:
    with pytest.raises(CodeError) as caught:
        await run(snippets, code, {"a": 1}, memory_mb=64, output_mb=0.1)

    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert said in caught.value.message


async def test_traceback_has_the_users_frames(snippets: Sandbox) -> None:
    with pytest.raises(CodeError) as caught:
        await run(snippets, "def inner():\n    return [][1]\n\ndef main():\n    return inner()")

    assert caught.value.traceback == snapshot("""\
Traceback (most recent call last):
  File "main.py", line 5, in main
    return inner()
  File "main.py", line 2, in inner
    return [][1]
IndexError: list index out of range\
""")


@pytest.mark.parametrize(
    "code", ["def main():\n    while True: pass", "while True: pass", "def main():\n    while True: print(1)"]
)
async def test_timeout(code: str, snippets: Sandbox) -> None:
    began = time.monotonic()
    with pytest.raises(NodeTimeout, match=r"longer than 0\.3 s"):
        await run(snippets, code, seconds=0.3)
    assert time.monotonic() - began < 2


async def test_sleeping_takes_no_time(snippets: Sandbox) -> None:
    began = time.monotonic()
    await run(snippets, "import time\ndef main():\n    for _ in range(10): time.sleep(1000)\n    return {}")
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "code",
    [
        "def main():\n    return {'x': open('/etc/passwd').read()}",
        "from pathlib import Path\ndef main():\n    return {'x': Path('/etc/passwd').read_text()}",
        "import os\ndef main():\n    return {'x': dict(os.environ)}",
        "import os\ndef main():\n    return {'x': os.getenv('SANDBOX_TEST_CANARY') or 1 / 0}",
        "import socket\ndef main():\n    return {'x': 1}",
        "import ctypes\ndef main():\n    return {'x': 1}",
        "def main():\n    return {'x': len(().__class__.__base__.__subclasses__())}",
        "def main():\n    return {'x': main.__globals__}",
        "def main():\n    return {'x': __import__('os').system('true')}",
        "def main():\n    return {'x': [].append.__self__.__reduce_ex__(2)}",
        "import sys\ndef main():\n    return {'x': sys._getframe().f_back}",
    ],
)
async def test_reaches_nothing(code: str, snippets: Sandbox, surroundings: dict[str, Any]) -> None:
    with pytest.raises(CodeError) as caught:
        await run(snippets, code)

    assert surroundings["canary"] not in caught.value.message
    assert caught.value.kind in [
        "PermissionError",
        "RuntimeError",
        "ModuleNotFoundError",
        "AttributeError",
        "NameError",
        "ZeroDivisionError",
        "bad_result",
        "NotImplementedError",
    ]


async def test_runs_share_nothing(snippets: Sandbox) -> None:
    await run(snippets, "import json\nLEFT = 1\ndef main():\n    return {}")

    with pytest.raises(CodeError) as caught:
        await run(snippets, "def main():\n    return {'x': LEFT}")

    assert caught.value.kind == "NameError"


async def test_cancel_ends_the_worker(snippets: Sandbox, children: Callable[[], set[int]]) -> None:
    await run(snippets, "def main():\n    return {}")
    task = asyncio.create_task(run(snippets, "def main():\n    while True: pass"))
    await until(lambda: [pid for pid in children() if _is_busy(pid)])
    busy = [pid for pid in children() if _is_busy(pid)]

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(lambda: not [pid for pid in busy if _is_alive(pid)])


async def until(condition: Callable[[], object], seconds: float = 4) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.01)


def _is_busy(pid: int) -> bool:
    """Whether the process has used a tenth of a second of processor time."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[0] != "Z" and int(fields[11]) >= os.sysconf("SC_CLK_TCK") // 10
    return False


@pytest.mark.parametrize("extra", [{"network": True}])
async def test_what_it_cannot_do_is_said(extra: dict[str, Any], snippets: Sandbox) -> None:
    with pytest.raises(CodeError, match=r"use `sandbox: full`") as caught:
        await snippets.run("def main():\n    return {}", {}, limits=Limits(), fast=True, **extra)

    assert caught.value.kind == "not_supported"


async def test_many_at_once(snippets: Sandbox) -> None:
    results = await asyncio.gather(
        *(run(snippets, "def main(n):\n    return {'n': n}", {"n": n}) for n in range(40))
    )

    assert [r.value for r in results] == [{"n": n} for n in range(40)]


SERVICE = """
import asyncio
from interlace.resources.sandbox import Limits, Sandbox

async def serve():
    sandbox = Sandbox()
    code = "def main():\\n    print('on')\\n    while True: pass"
    run = asyncio.create_task(sandbox.run(code, {}, limits=Limits(seconds=60), fast=True))
    await asyncio.sleep(0.5)
    print("running", flush=True)
    await run

asyncio.run(serve())
"""


async def test_death_of_the_service_leaves_no_process(children: Callable[[], set[int]]) -> None:
    before = children()
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVICE, stdout=asyncio.subprocess.PIPE
    )
    assert service.stdout is not None
    assert await service.stdout.readline() == b"running\n"
    mine = children() - before - {service.pid}
    await until(lambda: [pid for pid in mine if _is_busy(pid)])

    service.kill()
    await service.wait()

    await until(lambda: not [pid for pid in mine if _is_alive(pid)])


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
