"""Nothing of one run is left for another, not even while both run."""

from __future__ import annotations

import asyncio

import pytest

from interlace.resources.sandbox import Limits, Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = Limits(seconds=10)

PAIRS = {
    "files": (
        "for place in ('/work', '/tmp', '/dev/shm'):\n        open(place + '/left', 'w').write('x')",
        "return {'found': [f for d in ('/work', '/tmp', '/dev/shm') for f in os.listdir(d)]}",
    ),
    "builtins": (
        "import builtins; builtins.oct = lambda x: 'changed'",
        "return {'found': oct(8) == 'changed'}",
    ),
    "modules": (
        "import json; json.dumps = None; sys.modules['planted'] = json",
        "import json; return {'found': json.dumps is None or 'planted' in sys.modules}",
    ),
    "imports": ("import wave", "return {'found': 'wave' in sys.modules}"),
    "module path": ("sys.path.insert(0, '/tmp')", "return {'found': '/tmp' in sys.path}"),
    "environment": (
        "os.environ['LEFT'] = 'x'; os.putenv('LEFT2', 'x')",
        "return {'found': 'LEFT' in os.environ}",
    ),
    "folder": ("os.chdir('/')", "return {'found': os.getcwd() != '/work'}"),
    "mask": ("os.umask(0o777)", "return {'found': os.umask(0) == 0o777}"),
    "signals": (
        "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
        "import signal; return {'found': signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN}",
    ),
    "shared memory": (
        "import _posixshmem, os\n    os.close(_posixshmem.shm_open('/left', os.O_CREAT | os.O_RDWR, 0o600))",
        "return {'found': os.path.exists('/dev/shm/left')}",
    ),
    "limits": (
        "sys.setrecursionlimit(50); import threading; threading.stack_size(1 << 20)",
        "import threading; return {'found': sys.getrecursionlimit() == 50 or threading.stack_size() != 0}",
    ),
    "own module": ("sys.modules['main'].LEFT = 1", "return {'found': hasattr(sys.modules['main'], 'LEFT')}"),
    "C memory": (
        "import ctypes; ctypes.CDLL(None).setenv(b'LEFT', b'x', 1)",
        "import ctypes; g = ctypes.CDLL(None).getenv; g.restype = ctypes.c_char_p; return {'found': g(b'LEFT') is not None}",
    ),
    "caches": (
        "import linecache, re; linecache.cache['left'] = 1; re.compile('left')",
        "import linecache; return {'found': 'left' in linecache.cache}",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
async def test_next_run_finds_nothing(name: str, sandbox: Sandbox) -> None:
    first, second = PAIRS[name]
    head = "import os, sys\ndef main():\n    "

    await sandbox.run(f"{head}{first}\n    return {{}}", {}, limits=LIMITS)
    # The spare process was made before the first run as well as after it: both must know nothing.
    for _ in range(3):
        result = await sandbox.run(f"{head}{second}", {}, limits=LIMITS)
        assert not result.value["found"]  # type: ignore[index, call-overload]


async def test_runs_at_the_same_time_do_not_meet(sandbox: Sandbox) -> None:
    code = """
import os, time
def main(me):
    for place in ("/work", "/tmp", "/dev/shm"):
        open(f"{place}/{me}", "w").write("x")
    time.sleep(0.2)
    return {"seen": sorted({f for d in ("/work", "/tmp", "/dev/shm") for f in os.listdir(d)}), "pid": os.getpid()}
"""
    results = await asyncio.gather(
        *(sandbox.run(code, {"me": f"run{number}"}, limits=LIMITS) for number in range(6))
    )

    assert [r.value for r in results] == [{"seen": [f"run{number}"], "pid": 1} for number in range(6)]


async def test_randomness_differs(sandbox: Sandbox) -> None:
    code = "import random, uuid, os, secrets\ndef main():\n    return {'x': [random.random(), str(uuid.uuid4()), secrets.token_hex()]}"

    results = [await sandbox.run(code, {}, limits=LIMITS) for _ in range(4)]

    for at in range(3):
        assert len({r.value["x"][at] for r in results}) == 4  # type: ignore[index, call-overload]
