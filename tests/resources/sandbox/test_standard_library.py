"""All of the standard library is there and works under the system call filter."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from interlace.resources.sandbox import Limits, Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_whole_standard_library_loads(sandbox: Sandbox) -> None:
    code = """
import importlib, sys
def main():
    skipped = {"antigravity", "this", "_ios_support", "idlelib", "turtle", "turtledemo", "tkinter", "_tkinter", "msvcrt", "winreg", "winsound",
               "nt", "_winapi", "_overlapped", "_scproxy", "_msi", "msilib", "ossaudiodev", "nis", "spwd", "crypt", "_crypt"}
    failed = {}
    for name in sorted(sys.stdlib_module_names - skipped):
        try:
            importlib.import_module(name)
        except ImportError as error:
            if error.name != name:
                failed[name] = str(error)
    return {"failed": failed, "loaded": len(sys.modules)}
"""
    result = await sandbox.run(code, {}, limits=Limits(seconds=30))

    assert isinstance(result.value, dict)
    windows = {
        "asyncio.windows_events",
        "encodings.mbcs",
        "ctypes.wintypes",
        "multiprocessing.popen_spawn_win32",
    }
    assert {name: why for name, why in result.value["failed"].items() if name not in windows} == {}  # type: ignore[union-attr]
    assert result.value["loaded"] > 300  # type: ignore[operator]


async def test_ordinary_work_works(sandbox: Sandbox) -> None:
    """A tour of the standard library under the system call filter."""
    code = """
import asyncio, concurrent.futures, csv, gzip, hashlib, io, json, os, pathlib, queue, random, re, secrets, shutil, sqlite3
import ssl, statistics, subprocess, tempfile, threading, time, urllib.parse, uuid, zipfile, zoneinfo, datetime, logging, mmap, locale

async def wait():
    async with asyncio.timeout(5):
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(asyncio.sleep(0.001, n)) for n in range(5)]
    return sum(job.result() for job in jobs)

def main():
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a" / "b.txt"
        path.parent.mkdir()
        path.write_text("x" * 1000)
        shutil.copy2(path, path.with_suffix(".copy"))
        shutil.make_archive(folder + "/z", "zip", folder + "/a")
        out["files"] = sorted(p.name for p in pathlib.Path(folder).rglob("*"))
        base = sqlite3.connect(folder + "/base.db")
        base.execute("create table t(a)")
        base.executemany("insert into t values (?)", [(n,) for n in range(100)])
        base.commit()
        out["sum"] = base.execute("select sum(a) from t").fetchone()[0]
        base.close()
        with open(folder + "/m", "wb+") as file:
            file.write(b"0" * 4096)
            file.flush()
            mmap.mmap(file.fileno(), 4096)[0:1] = b"1"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        out["threads"] = sum(pool.map(lambda n: n * n, range(20)))
    out["async"] = asyncio.run(wait())
    out["gzip"] = gzip.decompress(gzip.compress(b"abc")).decode()
    out["zone"] = datetime.datetime(2026, 1, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo")).isoformat()
    out["host"] = os.uname().nodename
    out["home"] = str(pathlib.Path.home())
    out["cwd"] = os.getcwd()
    out["hash"] = hashlib.scrypt(b"a", salt=b"b", n=2, r=1, p=1).hex()[:8]
    ssl.create_default_context()
    logging.warning("logged")
    os.cpu_count(), time.localtime(), os.getloadavg, locale.getlocale(), uuid.uuid1(), secrets.token_bytes(8)
    return out
"""
    result = await sandbox.run(code, {}, limits=Limits(seconds=20))

    assert result.value == snapshot(
        {
            "files": ["a", "b.copy", "b.txt", "z.zip"],
            "sum": 4950,
            "threads": 2470,
            "async": 10,
            "gzip": "abc",
            "zone": "2026-01-01T00:00:00+09:00",
            "host": "sandbox",
            "home": "/work",
            "cwd": "/work",
            "hash": "da11baad",
        }
    )
    assert "logged" in result.stderr
