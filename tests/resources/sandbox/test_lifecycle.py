"""Processes: none is left after runs, cancelling, closing, or the death of the service."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from interlace.engine.errors import NodeError
from interlace.resources.sandbox import CodeError, Limits, Sandbox

LIMITS = Limits(seconds=30)
LOOP = "def main():\n    print('started', flush=True)\n    while True: pass"
EMPTY = "def main():\n    return {}"


@pytest_asyncio.fixture
async def fresh(children: Callable[[], set[int]]) -> AsyncIterator[Sandbox]:
    del children  # looked before this sandbox has processes
    made = Sandbox(engine="bwrap")
    status = await made.check()
    if not status.available:
        pytest.skip(f"bubblewrap does not run here: {status.reason}")
    yield made
    await made.close()


async def until(condition: Callable[[], object], seconds: float = 5) -> None:
    """Let the loop turn until the condition holds; for what the kernel does in its own time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.005)


LITTER = """
def main(marker, fail):
    for place in ("/tmp", "/dev/shm", "/work"):
        open(f"{place}/{marker}", "w").write("x" * 10_000)
    return {} if not fail else {}[0]
"""


async def test_200_runs_leave_nothing(fresh: Sandbox, children: Callable[[], set[int]]) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(5):
        await fresh.run(EMPTY, {}, limits=LIMITS)
    await until(lambda: len(children()) == 4)  # bubblewrap, its process 1, the zygote, the spare
    open_before, memory = descriptors(), _memory(children())

    for number in range(200):
        with contextlib.suppress(CodeError):
            await fresh.run(LITTER, {"marker": "sandbox-litter", "fail": number % 2}, limits=LIMITS)

    await until(lambda: len(children()) == 4)
    await until(lambda: descriptors() <= open_before + 1)
    assert not _litter()
    assert _memory(children()) < memory + (4 << 20)


def _litter() -> list[str]:
    return [place for place in ("/tmp", "/dev/shm", "/work") if Path(place, "sandbox-litter").exists()]


def _memory(pids: set[int]) -> int:
    return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids) * os.sysconf(
        "SC_PAGE_SIZE"
    )


async def test_cancel_kills_at_once(fresh: Sandbox, children: Callable[[], set[int]]) -> None:
    await fresh.run(EMPTY, {}, limits=LIMITS)
    took = []
    for _ in range(3):
        await until(lambda: len(children()) == 4)
        run = asyncio.create_task(fresh.run(LOOP, {}, limits=LIMITS))
        await until(lambda: len(children()) == 5)
        await asyncio.sleep(0.05)

        began = time.monotonic()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await until(lambda: len(children()) == 4)
        took.append(time.monotonic() - began)

    assert min(took) < 0.1, "of three, as the machine may be busy with others"


async def test_cancel_before_the_process_is_there(fresh: Sandbox, children: Callable[[], set[int]]) -> None:
    for turns in range(12):
        run = asyncio.create_task(fresh.run(LOOP, {}, limits=LIMITS))
        for _ in range(turns):
            await asyncio.sleep(0)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    await fresh.run(EMPTY, {}, limits=LIMITS)

    await until(lambda: len(children()) == 4)


async def test_timeout_leaves_no_process(fresh: Sandbox, children: Callable[[], set[int]]) -> None:
    with pytest.raises(NodeError, match=r"longer than 0\.3 s"):
        await fresh.run(LOOP, {}, limits=Limits(seconds=0.3))

    await until(lambda: len(children()) == 4)


async def test_close_leaves_no_process_and_may_be_repeated(
    fresh: Sandbox, children: Callable[[], set[int]]
) -> None:
    runs = [asyncio.create_task(fresh.run(LOOP, {}, limits=LIMITS)) for _ in range(3)]
    await until(lambda: len(children()) >= 6)

    await fresh.close()
    outcomes = await asyncio.gather(*runs, return_exceptions=True)

    assert children() == set()
    assert [getattr(outcome, "kind", outcome) for outcome in outcomes] == ["killed"] * 3
    await fresh.close()


async def test_works_again_after_close(fresh: Sandbox) -> None:
    await fresh.close()

    assert (await fresh.run(EMPTY, {}, limits=LIMITS)).value == {}


@pytest.mark.parametrize("depth", ["bubblewrap", "zygote"])
async def test_zygote_that_died_is_replaced(
    depth: str, fresh: Sandbox, children: Callable[[], set[int]]
) -> None:
    await fresh.run(EMPTY, {}, limits=LIMITS)
    await until(lambda: len(children()) == 4)
    victims = [
        p for p in children() if _name(p) == ("bwrap" if depth == "bubblewrap" else Path(_python()).name)
    ]
    os.kill(min(victims), signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{min(victims)}").exists() or _is_zombie(min(victims)))

    for _ in range(3):
        assert (await fresh.run(EMPTY, {}, limits=LIMITS)).value == {}

    await until(lambda: len(children()) == 4)


async def test_code_runs_again_when_its_whole_sandbox_was_killed(
    fresh: Sandbox, children: Callable[[], set[int]]
) -> None:
    await fresh.run(EMPTY, {}, limits=LIMITS)
    await until(lambda: len(children()) == 4)
    code = "import time\ndef main():\n    time.sleep(1)\n    return {'done': True}"
    run = asyncio.create_task(fresh.run(code, {}, limits=LIMITS))
    await until(lambda: len(children()) == 5)  # it has taken the spare child, and a new one was ordered
    os.kill(min(p for p in children() if _name(p) == "bwrap"), signal.SIGKILL)
    assert (await run).value == {"done": True}


def _name(pid: int) -> str:
    """What a process is called; nothing for one that has just ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _python() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


async def test_spare_that_was_killed_is_not_used(fresh: Sandbox, children: Callable[[], set[int]]) -> None:
    await fresh.run(EMPTY, {}, limits=LIMITS)
    await until(lambda: len(children()) == 4)
    os.kill(max(children()), signal.SIGKILL)
    await until(lambda: len(children()) == 3)

    assert (await fresh.run(EMPTY, {}, limits=LIMITS)).value == {}


async def test_more_runs_than_processes_wait(children: Callable[[], set[int]]) -> None:
    narrow = Sandbox(engine="bwrap", max_processes=2)
    code = "import time\ndef main(n):\n    time.sleep(0.05)\n    return {'n': n}"
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, len(children()))
            await asyncio.sleep(0.01)

    watcher = asyncio.create_task(watch())
    results = await asyncio.gather(*(narrow.run(code, {"n": n}, limits=LIMITS) for n in range(12)))
    watcher.cancel()
    await narrow.close()

    assert [r.value for r in results] == [{"n": n} for n in range(12)]
    assert most <= 8, "three of the zygote, two runs, a spare, and two on their way out"


SERVICE = """
import asyncio, sys
from interlace.resources.sandbox import Limits, Sandbox

async def serve():
    sandbox = Sandbox(engine="bwrap")
    await sandbox.check()
    runs = [asyncio.create_task(sandbox.run("def main():\\n    while True: pass", {}, limits=Limits())) for _ in range(2)]
    await asyncio.sleep(0.2)
    print("running", flush=True)
    await asyncio.gather(*runs)

asyncio.run(serve())
"""


async def test_death_of_the_service_leaves_no_process(children: Callable[[], set[int]]) -> None:
    with subprocess.Popen(  # noqa: ASYNC220 - it is read once, at its start
        [sys.executable, "-c", textwrap.dedent(SERVICE)], stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == "running\n"
        mine = children() - {service.pid}
        assert len(mine) >= 5
        service.kill()

    def alive() -> set[int]:
        return {pid for pid in mine if Path(f"/proc/{pid}").exists() and not _is_zombie(pid)}

    await until(lambda: not alive(), seconds=3)


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


NOBODY = 64001
UNPRIVILEGED = """
import asyncio, json, os, sys
from interlace.resources.sandbox import Limits, Sandbox

async def main():
    sandbox = Sandbox(engine="bwrap")
    status = await sandbox.check()
    code = "import os\\ndef main():\\n    return {'uid': os.getuid(), 'pid': os.getpid(), 'files': os.listdir('/work')}"
    result = await sandbox.run(code, {}, limits=Limits()) if status.available else None
    await sandbox.close()
    print(json.dumps([os.getuid(), status.reason, result and result.value]))

asyncio.run(main())
"""


@pytest.mark.skipif(
    os.getuid() != 0, reason="only root can become somebody else; otherwise all tests run unprivileged"
)
def test_works_for_a_user_who_is_not_root(tmp_path: Path) -> None:
    python = next(
        (p for p in (os.path.realpath(sys.executable), f"/usr/bin/{_python()}") if _runs_for_others(p)), None
    )
    if python is None:
        pytest.skip("no interpreter of this version that another user may run")
    packages = [path for path in sys.path if path.endswith("site-packages")]
    source = str(Path(__file__).parents[3] / "src")

    done = subprocess.run(
        [python, "-B", "-c", textwrap.dedent(UNPRIVILEGED)],
        env={"PYTHONPATH": os.pathsep.join([source, *packages]), "HOME": "/"},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout == f'[{NOBODY}, "", {{"uid": 1000, "pid": 1, "files": []}}]\n', done.stderr[-1000:]


def _runs_for_others(python: str) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", ""], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", check=False
        )
    except OSError:
        return False
    return done.returncode == 0
