"""Code that eats, hangs, floods or lies: it ends in time, with the right kind, and hurts only its own run."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.sandbox import Limits, Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

TIGHT = Limits(seconds=20, memory_mb=96, output_mb=1, stdout_kb=16)


class Abuse(NamedTuple):
    kinds: str
    code: str

    @property
    def seconds(self) -> float:
        """Short where the clock must end it, long where something else must, however slow the machine is."""
        return 0.7 if self.kinds.split()[:1] == ["timeout"] else 20


FRAME = """
import struct, json, os
def frame(meta, body):
    text = json.dumps(meta).encode()
    return struct.pack(">IQ", len(text), len(body)) + text + body
"""

ABUSE = {
    "endless loop": Abuse("timeout", "def main():\n    while True: pass"),
    "endless sleep": Abuse("timeout", "import time\ndef main():\n    time.sleep(1000)"),
    "endless loop in C": Abuse("timeout", "def main():\n    return {'x': sum(iter(int, 1))}"),
    "endless regular expression": Abuse(
        "timeout", "import re\ndef main():\n    re.match('(a+)+$', 'a' * 60 + 'b')"
    ),
    "endless loop that swallows": Abuse(
        "timeout",
        "def main():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    ),
    "endless loop at import": Abuse("timeout", "while True: pass"),
    "endless loop that ignores signals": Abuse(
        "timeout",
        "import signal\ndef main():\n    for s in range(1, 65):\n        try: signal.signal(s, signal.SIG_IGN)\n"
        "        except (OSError, ValueError): pass\n    while True: pass",
    ),
    "endless async": Abuse("timeout", "import asyncio\nasync def main():\n    await asyncio.Event().wait()"),
    "endless text form": Abuse(
        "timeout",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\ndef main():\n    raise E",
    ),
    "endless thread after the end": Abuse(
        "",
        "import threading\ndef main():\n    def spin():\n        while True: pass\n    threading.Thread(target=spin).start()\n    return {}",
    ),
    "endless print": Abuse("timeout", "def main():\n    while True: print('x' * 1000)"),
    "endless raw print": Abuse(
        "timeout", "import os\ndef main():\n    while True: os.write(1, b'x' * 65536)"
    ),
    "endless error print": Abuse(
        "timeout", "import os\ndef main():\n    while True: os.write(2, b'x' * 65536)"
    ),
    "big power": Abuse("timeout memory_limit", "def main():\n    return {'x': 10 ** 10 ** 9 % 7}"),
    "list bomb": Abuse(
        "memory_limit", "def main():\n    x = []\n    while True: x.append(x[:] or [0] * 1000)"
    ),
    "bytes bomb": Abuse("memory_limit", "def main():\n    return {'x': len(bytearray(1 << 33))}"),
    "text bomb": Abuse("memory_limit", "def main():\n    x = 'ab'\n    while True: x += x"),
    "map bomb": Abuse("OSError", "import mmap\ndef main():\n    return {'x': len(mmap.mmap(-1, 1 << 33))}"),
    "C memory bomb": Abuse(
        "",
        "import ctypes\ndef main():\n    libc = ctypes.CDLL(None)\n    libc.malloc.restype = ctypes.c_void_p\n"
        "    libc.malloc.argtypes = [ctypes.c_size_t]\n    got = 0\n    while libc.malloc(1 << 20): got += 1\n"
        "    return {'x': got} if got < 200 else {'x': 1 / 0}",
    ),
    "format bomb": Abuse("memory_limit", "def main():\n    return {'x': f'{1:01000000000d}'}"),
    "memory bomb in the result": Abuse(
        "memory_limit output_limit",
        "def main():\n    x = 'y' * 1000\n    for _ in range(5): x = [x] * 50\n    return {'x': x}",
    ),
    "thread bomb": Abuse(
        "",
        "import threading\ndef main():\n    stop, n = threading.Event(), 0\n    threading.stack_size(65536)\n    try:\n        while True:\n"
        "            threading.Thread(target=stop.wait, daemon=True).start(); n += 1\n    except RuntimeError: pass\n"
        "    stop.set()\n    return {'n': n} if n < 200 else {'n': 1 / 0}",
    ),
    "recursion": Abuse("RecursionError", "def main():\n    return main()"),
    "deep recursion": Abuse(
        "killed memory_limit RecursionError",
        "import sys\nsys.setrecursionlimit(1 << 30)\nclass A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\ndef main():\n    A().a",
    ),
    "crash": Abuse("killed", "import ctypes\ndef main():\n    ctypes.string_at(0)"),
    "abort": Abuse("killed", "import os\ndef main():\n    os.abort()"),
    "exit": Abuse("killed", "import os\ndef main():\n    os._exit(0)"),
    "polite exit": Abuse("SystemExit", "def main():\n    raise SystemExit(0)"),
    "exit at import": Abuse("SystemExit", "import sys\nsys.exit()"),
    "interrupt": Abuse("KeyboardInterrupt", "def main():\n    raise KeyboardInterrupt"),
    "generator exit": Abuse("GeneratorExit", "def main():\n    raise GeneratorExit"),
    "big result": Abuse("output_limit", "def main():\n    return {'x': 'y' * 5_000_000}"),
    "deep result": Abuse(
        "bad_result", "def main():\n    x = []\n    for _ in range(100_000): x = [x]\n    return {'x': x}"
    ),
    "circular result": Abuse("bad_result", "def main():\n    x = {}\n    x['x'] = x\n    return x"),
    "half a surrogate": Abuse("bad_result", "def main():\n    return {'x': '\\ud800'}"),
    "surrogate in an error": Abuse("ValueError", "def main():\n    raise ValueError('\\ud800')"),
    "huge error": Abuse("ValueError", "def main():\n    raise ValueError('x' * 20_000_000)"),
    "error without text": Abuse(
        "E", "class E(Exception):\n    def __str__(self): raise self\ndef main():\n    raise E"
    ),
    "error with a lying class": Abuse(
        "E",
        "class E(Exception):\n    __class__ = int\n    def __repr__(self): return 1\ndef main():\n    raise E('x')",
    ),
    "odd class name": Abuse("Exception", "def main():\n    raise type('a b\\n', (Exception,), {})('x')"),
    "dict that lies": Abuse(
        "bad_result",
        "class D(dict):\n    def items(self): return [('a', object())]\ndef main():\n    return D(x=1)",
    ),
    "closes everything": Abuse("killed", "import os\ndef main():\n    os.closerange(0, 64)\n    return {}"),
    "closes the streams": Abuse(
        "", "import sys\ndef main():\n    sys.stdout.close(); sys.stderr.close()\n    return {}"
    ),
    "takes the streams away": Abuse(
        "", "import sys\ndef main():\n    sys.stdout = sys.stderr = sys.__stdout__ = None\n    return {}"
    ),
    "garbage on the channel": Abuse(
        "killed output_limit", "import os\ndef main():\n    os.write(3, b'garbage!' * 10)\n    os._exit(0)"
    ),
    "claims a huge frame": Abuse(
        "output_limit", "import os\ndef main():\n    os.write(3, bytes([255]) * 12)\n    return {}"
    ),
    "claims a frame and is silent": Abuse(
        "timeout",
        FRAME + "import time\ndef main():\n    os.write(3, struct.pack('>IQ', 10, 10))\n    time.sleep(100)",
    ),
    "forged outcome that is a list": Abuse(
        "killed", FRAME + "def main():\n    os.write(3, frame([], b'{}'))\n    os._exit(0)"
    ),
    "forged value that is text": Abuse(
        "bad_result", FRAME + "def main():\n    os.write(3, frame({}, b'\"x\"'))\n    os._exit(0)"
    ),
    "forged value that is no JSON": Abuse(
        "bad_result",
        FRAME + "def main():\n    os.write(3, frame({'wide': True}, b'[' * 90000))\n    os._exit(0)",
    ),
    "forged error": Abuse(
        "forged",
        FRAME
        + "def main():\n    os.write(3, frame({'kind': 'forged', 'line': [], 'message': {}}, b''))\n    os._exit(0)",
    ),
    "sends descriptors": Abuse(
        "",
        "import socket, array\ndef main():\n    s = socket.socket(fileno=3)\n"
        "    s.sendmsg([b''], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0, 1, 2] * 20))])\n    s.detach()\n    return {}",
    ),
    "fork bomb": Abuse("PermissionError", "import os\ndef main():\n    while True: os.fork()"),
    "breaks json": Abuse(
        "",
        "import json, json.encoder, json.decoder\ndef main():\n    json.dumps = json.loads = None\n    return {}",
    ),
    "breaks builtins": Abuse(
        "killed bad_result AttributeError TypeError",
        "import builtins\ndef main():\n    builtins.isinstance = None\n    return {}",
    ),
    "breaks the modules": Abuse("", "import sys\ndef main():\n    sys.modules.clear()\n    return {}"),
    "null bytes": Abuse("SyntaxError ValueError", "def main():\n    return {}\0"),
    "very nested code": Abuse(
        "SyntaxError RecursionError MemoryError memory_limit", "x = " + "(" * 5000 + ")" * 5000
    ),
    "very long code": Abuse("RecursionError memory_limit killed", "x = " + "+".join(["1"] * 200_000)),
    "surrogates in the code": Abuse("UnicodeEncodeError", "x = '\ud800'"),
}


@pytest.mark.parametrize("name", ABUSE)
async def test_ends_with_the_right_kind(name: str, sandbox: Sandbox) -> None:
    case = ABUSE[name]
    began = time.monotonic()
    kind = said = stdout = ""
    try:
        result = await sandbox.run(case.code, {}, limits=replace(TIGHT, seconds=case.seconds))
        assert isinstance(result.value, dict)
    except NodeError as error:
        kind, said, stdout = error.kind, error.message, getattr(error, "stdout", "")
    assert time.monotonic() - began < case.seconds + 5
    assert len(said) < 5000, "the message is no place to flood either"
    assert len(stdout) < 20_000
    assert kind in (case.kinds.split() or [""]), f"{kind!r} is not among {case.kinds!r}"


async def test_others_are_well_after_all_that(sandbox: Sandbox) -> None:
    result = await sandbox.run("def main(x):\n    return {'x': x}", {"x": [1, "é"]}, limits=Limits())

    assert result.value == {"x": [1, "é"]}


async def test_forged_result_is_only_its_own(sandbox: Sandbox) -> None:
    """Whoever writes over the channel gets what he wrote as his result, like anybody who returns it."""
    code = FRAME + "def main():\n    os.write(3, frame({}, b'{\"forged\": 1}'))\n    return {'real': 1}"

    result = await sandbox.run(code, {}, limits=Limits())

    assert result.value == {"forged": 1}
