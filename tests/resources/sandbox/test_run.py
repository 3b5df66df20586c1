"""What code gets, what it may return, and what is said when it fails."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from inline_snapshot import snapshot

from interlace.engine.errors import NodeError, NodeTimeout
from interlace.resources.sandbox import CodeError, Limits, Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = Limits(seconds=10)


async def fails(
    sandbox: Sandbox, code: str, inputs: dict[str, Any] | None = None, **limits: Any
) -> CodeError:
    with pytest.raises(CodeError) as caught:
        await sandbox.run(code, inputs or {}, limits=Limits(**{"seconds": 10, **limits}))
    return caught.value


@pytest.mark.parametrize(
    ("code", "inputs", "value"),
    [
        ("def main():\n    return {}", {}, {}),
        ("def main():\n    return {}", {"unused": 1}, {}),
        (
            "def main(a, b=2, *, c, d=4):\n    return {'x': [a, b, c, d]}",
            {"a": 1, "c": 3, "e": 5},
            {"x": [1, 2, 3, 4]},
        ),
        (
            "def main(a, **rest):\n    return {'a': a, 'rest': rest}",
            {"a": 1, "b": 2, "c": None},
            {"a": 1, "rest": {"b": 2, "c": None}},
        ),
        ("def main(a, b=7, /, c=8):\n    return {'x': [a, b, c]}", {"a": 1, "c": 3}, {"x": [1, 7, 3]}),
        ("def main(*rest):\n    return {'n': len(rest)}", {"a": 1}, {"n": 0}),
        ("main = lambda a: {'a': a}", {"a": [{"b": None}]}, {"a": [{"b": None}]}),
        ("async def main(a):\n    return {'a': a}", {"a": 1}, {"a": 1}),
        (
            "import asyncio\nasync def main():\n    x = await asyncio.gather(asyncio.sleep(0, 1), asyncio.to_thread(int, '2'))\n    return {'x': x}",
            {},
            {"x": [1, 2]},
        ),
        (
            "class Main:\n    def __call__(self, a):\n        return {'a': a}\nmain = Main()",
            {"a": True},
            {"a": True},
        ),
        ("from functools import partial\nmain = partial(lambda a, b: {'x': a - b}, 5)", {"b": 3}, {"x": 2}),
        ("if __name__ == '__main__':\n    raise SystemExit\ndef main():\n    return {}", {}, {}),
        (
            "def main(text):\n    return {'text': text[::-1]}",
            {"text": "zażółć \u0000 😀"},
            {"text": "😀 \u0000 ćłóżaz"},
        ),
        ("def main(n):\n    return {'n': n + 1}", {"n": 2**80}, {"n": 2**80 + 1}),
        (
            "def main():\n    return {'a': 2 ** 63 - 1, 'b': 2 ** 63, 'c': [-2 ** 63, -2 ** 63 - 1]}",
            {},
            {"a": 2**63 - 1, "b": 2**63, "c": [-(2**63), -(2**63) - 1]},
        ),
        (
            "def main():\n    return {'x': 0.1 + 0.2, 'y': 1e308, 'z': -0.0}",
            {},
            {"x": 0.1 + 0.2, "y": 1e308, "z": -0.0},
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef main():\n    return {'x': P(3).x}",
            {},
            {"x": 3},
        ),
        (
            "import enum\nclass C(enum.IntEnum):\n    A = 1\ndef main():\n    return {'x': C.A, 'y': {'z': True}}",
            {},
            {"x": 1, "y": {"z": True}},
        ),
        (
            "from collections import OrderedDict, Counter\ndef main():\n    return OrderedDict(c=Counter('aab'))",
            {},
            {"c": {"a": 2, "b": 1}},
        ),
    ],
)
async def test_value(code: str, inputs: dict[str, Any], value: object, sandbox: Sandbox) -> None:
    assert (await sandbox.run(code, inputs, limits=LIMITS)).value == value


async def test_values_with_an_obvious_text_form(sandbox: Sandbox) -> None:
    code = """
import datetime, decimal, uuid, zoneinfo
def main():
    zone = zoneinfo.ZoneInfo("Europe/Warsaw")
    return {
        "date": datetime.date(2026, 2, 28),
        "moment": datetime.datetime(2026, 7, 1, 12, 30, tzinfo=zone),
        "time": datetime.time(8, 5),
        "price": decimal.Decimal("1.10"),
        "id": uuid.UUID(int=1),
        "pair": (1, (2, 3)),
    }
"""
    assert (await sandbox.run(code, {}, limits=LIMITS)).value == snapshot(
        {
            "date": "2026-02-28",
            "moment": "2026-07-01T12:30:00+02:00",
            "time": "08:05:00",
            "price": "1.10",
            "id": "00000000-0000-0000-0000-000000000001",
            "pair": [1, [2, 3]],
        }
    )


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("[1]", "main() returned a value of type list"),
        ("None", "main() returned nothing (None)"),
        ("'text'", "a value of type str"),
        ("(x for x in [])", "a value of type generator"),
        ("{'a': {1}}", "a is of type set, which JSON has no form for; use sorted(…) or list(…)"),
        ("{'a': [0, {'b': b'x'}]}", "a[1].b is of type bytes"),
        ("{'a': {'b': (1, object())}}", "a.b[1] is of type object"),
        ("{'a': float('nan')}", "a is nan"),
        ("{'a': [float('-inf')]}", "a[0] is -inf"),
        ("{'a': {2: 3}}", "a has the key 2 of type int; keys must be text"),
        ("{None: 3}", "the result has the key None of type NoneType"),
        ("{'a': [{(1, 2): 3}]}", "a[0] has the key (1, 2) of type tuple"),
        ("{'a': main}", "a is of type function"),
        ("{'a': __import__('dataclasses').make_dataclass('P', ['x'])(1)}", "a is of type P"),
        ("{'a': 1j}", "a is of type complex"),
    ],
)
async def test_value_that_is_no_json(expression: str, said: str, sandbox: Sandbox) -> None:
    error = await fails(sandbox, f"def main():\n    return {expression}")

    assert error.kind == "bad_result"
    assert said in error.message
    assert not error.retryable


async def test_what_is_printed_is_kept_apart(sandbox: Sandbox) -> None:
    code = """
import sys, os
def main():
    print("one", {"a": 1})
    print("oops", file=sys.stderr)
    sys.stdout.write("no newline")
    os.write(1, b"\\xff raw")
    return {"value": 1}
"""
    result = await sandbox.run(code, {}, limits=LIMITS)

    assert result.value == {"value": 1}
    assert sorted(result.stdout) == sorted("one {'a': 1}\nno newline\ufffd raw")
    assert result.stderr == "oops\n"
    assert 0 < result.cpu_seconds < 1


async def test_long_output_is_cut(sandbox: Sandbox) -> None:
    code = "def main():\n    for n in range(200_000): print(n, 'é')\n    return {'n': 1}"

    result = await sandbox.run(code, {}, limits=Limits(seconds=10, stdout_kb=2))

    assert result.value == {"n": 1}
    assert result.stdout.startswith("0 é\n1 é\n")
    assert result.stdout.endswith("\n… cut after 2000 bytes")
    assert len(result.stdout) < 2100


async def test_errors_point_at_the_line(sandbox: Sandbox) -> None:
    code = """import json

class Wrong(Exception):
    pass

def inner(text):
    return json.loads(text)

def main(text):
    print("before")
    try:
        return inner(text)
    except ValueError as error:
        raise Wrong(f"cannot read {text!r}") from error
"""
    error = await fails(sandbox, code, {"text": "{"})

    assert (error.kind, error.line, error.stdout) == ("Wrong", 14, "before\n")
    assert error.message == snapshot(
        "Wrong: cannot read '{' (line 14: `raise Wrong(f\"cannot read {text!r}\") from error`)"
    )
    frames = [line.strip() for line in error.traceback.splitlines() if line.lstrip().startswith("File")]
    assert frames == snapshot(
        [
            'File "main.py", line 12, in main',
            'File "main.py", line 7, in inner',
            'File "main.py", line 14, in main',
        ]
    )
    assert "json.decoder.JSONDecodeError" in error.traceback


@pytest.mark.parametrize(
    ("code", "kind", "line", "said"),
    [
        (
            "def main():\n    raise ValueError('bad')",
            "ValueError",
            2,
            "ValueError: bad (line 2: `raise ValueError('bad')`)",
        ),
        ("def main(:\n    pass", "SyntaxError", 1, "SyntaxError: invalid syntax (line 1: `def main(:`)"),
        ("def main():\nreturn {}", "IndentationError", 2, "expected an indented block"),
        ("\n\n1 / 0", "ZeroDivisionError", 3, "division by zero (line 3: `1 / 0`)"),
        ("import nothing_like_it", "ModuleNotFoundError", 1, "No module named 'nothing_like_it'"),
        ("def main():\n    exec('1 / 0')", "ZeroDivisionError", 2, "(line 2: `exec('1 / 0')`)"),
        ("def main():\n    assert 1 == 2, 'no'", "AssertionError", 2, "AssertionError: no"),
        ("def main():\n    raise KeyError", "KeyError", 2, "KeyError (line 2"),
        ("x = 1", "missing_main", None, "write `def main(...)`"),
        ("main = 1", "missing_main", None, "write `def main(...)`"),
        ("", "missing_main", None, "write `def main(...)`"),
        (
            "def main(a, b):\n    return {}",
            "missing_input",
            None,
            "main() needs 'a', which is not among the inputs (given: 'c', 'd')",
        ),
        ("import sys\ndef main():\n    sys.exit(4)", "SystemExit", 3, "the code called sys.exit(4)"),
        (
            "import os\ndef main():\n    os._exit(4)",
            "killed",
            None,
            "ended (exit status 4) before main() returned",
        ),
        (
            "import ctypes\ndef main():\n    ctypes.string_at(0)",
            "killed",
            None,
            "died of SIGSEGV before main() returned",
        ),
        ("async def main():\n    raise OSError(5, 'x')", "OSError", 2, "[Errno 5] x"),
    ],
)
async def test_failure(code: str, kind: str, line: int | None, said: str, sandbox: Sandbox) -> None:
    error = await fails(sandbox, code, {"c": 1, "d": 2})

    assert (error.kind, error.line) == (kind, line)
    assert said in error.message


async def test_groups_of_errors_are_told(sandbox: Sandbox) -> None:
    code = "def main():\n    raise ExceptionGroup('all', [ValueError('one'), OSError('two')])"

    error = await fails(sandbox, code)

    assert error.kind == "ExceptionGroup"
    assert "ValueError: one" in error.traceback
    assert "OSError: two" in error.traceback


async def test_timeout(sandbox: Sandbox) -> None:
    with pytest.raises(NodeTimeout) as caught:
        await sandbox.run(
            "def main():\n    print('step 7')\n    while True: pass", {}, limits=Limits(seconds=0.2)
        )

    assert (caught.value.kind, caught.value.retryable) == ("timeout", True)
    assert caught.value.message == snapshot(
        "the code ran longer than 0.2 s and was stopped; the last line it printed: 'step 7'; make it faster or raise the time limit"
    )


async def test_memory_limit(sandbox: Sandbox) -> None:
    error = await fails(
        sandbox, "def main():\n    x = []\n    while True:\n        x.append('y' * 100_000)", memory_mb=64
    )

    assert (error.kind, error.line) == ("memory_limit", 4)
    assert error.message == snapshot(
        "the code needed more memory than its limit of 64 MB (line 4: `x.append('y' * 100_000)`); use less, or raise the limit"
    )


async def test_memory_limit_leaves_what_it_promises(sandbox: Sandbox) -> None:
    code = "def main(mb):\n    return {'n': len(bytearray(mb << 20))}"

    assert (await sandbox.run(code, {"mb": 100}, limits=Limits(memory_mb=128))).value == {"n": 100 << 20}
    assert (await fails(sandbox, code, {"mb": 140}, memory_mb=128)).kind == "memory_limit"


async def test_output_limit(sandbox: Sandbox) -> None:
    code = "def main(n):\n    return {'x': 'y' * n}"

    assert (await sandbox.run(code, {"n": 99_000}, limits=Limits(output_mb=0.1))).value == {"x": "y" * 99_000}
    error = await fails(sandbox, code, {"n": 100_000}, output_mb=0.1)
    assert error.kind == "output_limit"
    assert "100008 bytes as JSON, more than the limit of 100000" in error.message


@pytest.mark.parametrize("value", [math.nan, {1}, object()])
async def test_inputs_without_json_form(value: Any, sandbox: Sandbox) -> None:
    error = await fails(sandbox, "def main(a):\n    return {}", {"a": {"b": value}})

    assert error.kind == "bad_input"
    assert "a.b is" in error.message


@pytest.mark.parametrize(
    "limits", [{"seconds": 0}, {"memory_mb": -1}, {"output_mb": 0}, {"stdout_kb": -1}, {"seconds": math.nan}]
)
async def test_limits_that_make_no_sense(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(limits))):
        Limits(**limits)


async def test_big_values_pass(sandbox: Sandbox) -> None:
    rows = [{"id": number, "name": f"row {number}", "tags": ["a", "b"]} for number in range(30_000)]

    result = await sandbox.run("def main(rows):\n    return {'rows': rows}", {"rows": rows}, limits=LIMITS)

    assert result.value == {"rows": rows}


async def test_many_at_once(sandbox: Sandbox) -> None:
    code = "import time\ndef main(n):\n    time.sleep(0.05)\n    print(n)\n    return {'n': n}"

    results = await asyncio.gather(*(sandbox.run(code, {"n": n}, limits=LIMITS) for n in range(24)))

    assert [(r.value, r.stdout) for r in results] == [({"n": n}, f"{n}\n") for n in range(24)]


async def test_loop_of_one_run_does_not_hold_up_others(sandbox: Sandbox) -> None:
    loop = asyncio.create_task(sandbox.run("def main():\n    while True: pass", {}, limits=Limits(seconds=5)))

    for _ in range(3):
        await sandbox.run("def main():\n    return {}", {}, limits=LIMITS)

    assert not loop.done()
    loop.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loop


async def test_error_is_a_node_error(sandbox: Sandbox) -> None:
    error = await fails(sandbox, "def main():\n    raise TimeoutError('mine')")

    assert isinstance(error, NodeError)
    assert not isinstance(error, NodeTimeout)
    assert error.kind == "TimeoutError"
