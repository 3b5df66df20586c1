"""How fast the sandbox is; run on demand with `-m slow -s` on a quiet machine."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interlace.resources.sandbox import Limits, Sandbox

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(autouse=True)
def on_demand(request: pytest.FixtureRequest) -> None:
    if "slow" not in request.config.option.markexpr:
        pytest.skip("measured on demand with -m slow")


PYTHON = os.path.realpath(sys.executable)
FIB = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef main(n):\n    return {'x': fib(n)}\n"
LIMITS = Limits(output_mb=40)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


async def test_forty_small_runs(sandbox: Sandbox) -> None:
    await sandbox.run(FIB, {"n": 1}, limits=LIMITS)

    began = time.perf_counter()
    for _ in range(40):
        await sandbox.run(FIB, {"n": 10}, limits=LIMITS)
    took = time.perf_counter() - began

    say(f"\n40 x fib(10): {took:.3f} s")
    assert took < 1.0


async def test_empty_run(sandbox: Sandbox) -> None:
    walls, cpus = [], []
    host, tree = time.process_time(), _tree_cpu()
    for _ in range(200):
        began = time.perf_counter()
        result = await sandbox.run("def main():\n    return {}", {}, limits=LIMITS)
        walls.append(time.perf_counter() - began)
        cpus.append(result.cpu_seconds)
    own = (time.process_time() - host) / 200 * 1e3
    whole = (_tree_cpu() - tree) / 200 * 1e3

    say(
        f"\nempty: wall p50 {statistics.median(walls) * 1e3:.1f} ms; CPU of the run "
        f"{statistics.median(cpus) * 1e3:.1f}, of the zygote and all runs {whole:.1f}, of this process {own:.1f} ms"
    )
    assert statistics.median(walls) < 0.025
    assert whole + own < 15


def _tree_cpu() -> float:
    """Processor seconds of the zygote and of the children that it has waited for."""
    total = 0
    for entry in Path("/proc").iterdir():
        try:
            ours = b"/zygote" in (entry / "cmdline").read_bytes()
            fields = (entry / "stat").read_text().rpartition(")")[2].split() if ours else []
        except (OSError, UnicodeDecodeError):
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


async def test_computing_is_as_fast_as_outside(sandbox: Sandbox) -> None:
    inside, outside, wall_inside, wall_outside = [], [], [], []
    plain = [PYTHON, "-I", "-c", f"{FIB}\nmain(33)"]
    for _ in range(10):
        began = time.perf_counter()
        inside.append((await sandbox.run(FIB, {"n": 33}, limits=LIMITS)).cpu_seconds)
        wall_inside.append(time.perf_counter() - began)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        await asyncio.to_thread(subprocess.run, plain, check=True)
        wall_outside.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        outside.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)

    cpu = statistics.median(inside) / statistics.median(outside)
    wall = statistics.median(wall_inside) / statistics.median(wall_outside)
    say(
        f"\nfib(33): sandbox against python -I: CPU x{cpu:.3f}, wall x{wall:.3f}, {statistics.median(inside):.3f} s"
    )
    assert cpu < 1.1


async def test_big_values(sandbox: Sandbox) -> None:
    rows = [{"id": i, "name": f"row {i}", "value": i * 1.5, "tags": ["a", "b"]} for i in range(300_000)]
    for name, code, value in (
        ("21 MB of rows in and out", "def main(x):\n    return {'x': x}", rows),
        ("20 MB of text in", "def main(x):\n    return {'n': len(x)}", "y" * 20_000_000),
        ("20 MB of text out", "def main(x):\n    return {'x': 'y' * 20_000_000}", None),
    ):
        began = time.perf_counter()
        result = await sandbox.run(code, {"x": value}, limits=LIMITS)
        say(f"\n{name}: {time.perf_counter() - began:.2f} s, CPU of the run {result.cpu_seconds:.2f} s")
        assert result.value
