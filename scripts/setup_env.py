"""Set up the project's own environment in .venv from a lock file. Standard library only; Python 3.11 or newer.

Idempotent: when the lock file, pyproject.toml, the sources of the web UI and Python are those of the last time, nothing
is done or downloaded.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

import build_web

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
UV = "uv==0.13.9"
OLDEST = (3, 11)


def ensure(lock: str) -> Path:
    """Make .venv hold what the lock file lists, and this checkout; give the folder of its programs."""
    if sys.version_info < OLDEST:
        stop(f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed; this is {sys.version.split()[0]}.")
    stamp = VENV / f".{lock}.stamp"
    wanted = _fingerprint(lock)
    if stamp.is_file() and stamp.read_text() == wanted:
        return BIN
    say(f"setting up {VENV.name} (once; later starts are immediate and need no network)")
    if not (BIN / "python").exists() and not (BIN / "python.exe").exists():
        _create()
    _call(
        "installing the installer",
        BIN / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        UV,
    )
    say("installing the locked packages")
    _call("installing packages", BIN / "uv", "pip", "install", "--require-hashes", "-r", ROOT / lock)
    _install()
    stamp.write_text(wanted)
    return BIN


def _install() -> None:
    """This checkout, with the web UI where it can be built; without, the server says so on its first page."""
    if not os.environ.get(build_web.SKIP) and not build_web.is_built():
        npm = build_web.find_npm()
        if npm is not None:
            try:
                build_web.build(npm=npm)
            except build_web.BuildFailed as error:
                say(f"going on without the web UI: {error}")
                os.environ[build_web.SKIP] = "1"
        else:
            say(
                "no npm that is new enough is on the PATH; fetching Node.js to build the web UI (about 70 MB, once)"
            )
    command = (BIN / "uv", "pip", "install", "-q", "--no-deps", "-e", ROOT)
    if os.environ.get(build_web.SKIP) or build_web.is_built():
        _call("installing Interlace", *command)
    elif _run(*command):
        say(
            f"going on without the web UI; with npm and Node {build_web.NODE} on the PATH"
            " `python3 scripts/build_web.py` builds it later"
        )
        os.environ[build_web.SKIP] = "1"
        _call("installing Interlace", *command)


def _create() -> None:
    try:
        venv.create(VENV, with_pip=True, symlinks=os.name != "nt")
    except subprocess.CalledProcessError:
        stop(
            "Python's venv module cannot create an environment; on Debian and Ubuntu: apt-get install python3-venv"
        )


def _fingerprint(lock: str) -> str:
    digest = hashlib.sha256(f"{sys.version} {ROOT}".encode())
    for name in (lock, "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    if not os.environ.get(build_web.SKIP):
        digest.update(build_web.fingerprint(ROOT / "web").encode())
    return digest.hexdigest()


def _run(*command: object) -> int:
    environment = {**os.environ, "VIRTUAL_ENV": str(VENV), "UV_PYTHON_DOWNLOADS": "never"}
    return subprocess.run([str(part) for part in command], cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


def _call(doing: str, *command: object) -> None:
    if _run(*command):
        stop(f"{doing} failed (see above). Is a package index reachable? Run the command again to go on.")


def say(text: str) -> None:
    """One line of progress."""
    print(f"» {text}", flush=True)  # noqa: T201


def stop(text: str) -> None:
    """Say what is missing and end."""
    sys.exit(f"✗ {text}")
