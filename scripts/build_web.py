"""Build the web UI into `web/dist`: `python3 scripts/build_web.py`. Standard library only.

Needs npm with a Node that is new enough, or is given one.

Nothing is done while `web/dist` holds what `web/` says now.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIP = "INTERLACE_SKIP_WEB"
NODE = "20.19, or 22.12 or newer"
"""The Node that the build tool runs with."""
_STAMP = ".source"
_NOT_SOURCE = {"node_modules", "dist", "test", ".vite"}


class BuildFailed(Exception):  # noqa: N818 - reads better where it is raised
    """npm is missing, or one of its commands failed."""


def is_built(root: Path = ROOT) -> bool:
    """Whether `web/dist` is there and made of the sources as they are now; without sources it is taken as it is."""
    web = root / "web"
    if not (web / "dist" / "index.html").is_file():
        return False
    if not (web / "src").is_dir():
        return True
    stamp = web / "dist" / _STAMP
    return stamp.is_file() and stamp.read_text("ascii") == fingerprint(web)


def fingerprint(web: Path) -> str:
    """What the bundle is made of, as one number."""
    digest = hashlib.sha256()
    for path in _sources(web):
        digest.update(f"{path.relative_to(web).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(web: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(web):
        folders[:] = sorted(name for name in folders if name not in _NOT_SOURCE)
        yield from (Path(folder) / name for name in sorted(files))


def find_npm() -> str | None:
    """The npm on the PATH, where its Node is new enough; a word where it is not."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    version = _node_beside(npm)
    if version is not None and _is_new_enough(version):
        return npm
    known = "not there" if version is None else ".".join(map(str, version))
    say(f"npm at {npm} is not used: its Node is {known}, the web UI needs {NODE}")
    return None


def _is_new_enough(version: tuple[int, ...]) -> bool:
    return (20, 19) <= version < (21,) or version >= (22, 12)


def _node_beside(npm: str) -> tuple[int, ...] | None:
    """The version of the Node that an npm runs with; None where there is none."""
    path = f"{Path(npm).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    node = shutil.which("node", path=path)
    if node is None:
        return None
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return None
    numbers = done.stdout.strip().removeprefix("v").partition("-")[0].split(".")
    return tuple(map(int, numbers)) if all(number.isdigit() for number in numbers) else None


def build(root: Path = ROOT, npm: str | None = None) -> None:
    """Install the locked packages and build the bundle.

    Raises:
        BuildFailed: npm is missing, or one of its commands failed.
    """
    found = npm or find_npm()
    if found is None:
        raise BuildFailed(f"no npm is on the PATH whose Node is {NODE}")
    web = root / "web"
    environment = {**os.environ, "PATH": f"{Path(found).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    made = fingerprint(web)
    commands = (
        ("fetching the packages of the web UI", [found, "ci", "--no-audit", "--no-fund", "--loglevel=error"]),
        ("building the web UI", [found, "run", "--silent", "build", "--", "--logLevel=warn"]),
    )
    for doing, command in commands:
        say(doing)
        try:
            done = subprocess.run(command, cwd=web, env=environment, check=False)  # noqa: S603
        except OSError as error:
            raise BuildFailed(f"{doing}: {error}") from None
        if done.returncode:
            raise BuildFailed(f"{doing} failed; the command was: {' '.join(command)} (in {web})")
    (web / "dist" / _STAMP).write_text(made, "ascii")


def say(text: str) -> None:
    """One line of progress."""
    sys.stderr.write(f"» {text}\n")
    sys.stderr.flush()


def main() -> int:
    """Build if it is needed; gives the exit code."""
    if is_built():
        say("the web UI is built")
        return 0
    try:
        build()
    except BuildFailed as error:
        sys.stderr.write(f"✗ {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
