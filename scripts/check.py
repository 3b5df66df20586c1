"""Set everything up and pass every check: `python3 scripts/check.py`. Arguments are passed on to pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import build_web
from setup_env import BIN, ROOT, ensure, say, stop

STEPS = (
    ("lint", ["ruff", "check", "."]),
    ("format", ["ruff", "format", "--check", "."]),
    ("types", ["mypy"]),
    ("layers", ["lint-imports", "--no-cache"]),
    ("file sizes", ["loq"]),
    ("schemas are current", ["python", "-m", "interlace.ui_schema.export", "--check"]),
)


def main() -> None:
    """Run the steps in order and stop at the first that fails."""
    ensure("requirements-dev.lock")
    for name, command in STEPS:
        run(name, command)
    web()
    # A file's tests share what it sets up; those that take longest are collected first.
    together = ["-n", str(max(2, os.cpu_count() or 2)), "--dist", "loadfile", "--no-loadscope-reorder"]
    run("tests", ["pytest", *together, *sys.argv[1:]])
    say("all checks passed")


def web() -> None:
    """Type check, lint, unit tests and generated types of the web UI, where npm is there."""
    npm = build_web.find_npm()
    if npm is None or os.environ.get(build_web.SKIP):
        say(
            "web: skipped, "
            + (
                f"no npm is on the PATH whose Node is {build_web.NODE}"
                if npm is None
                else f"{build_web.SKIP} is set"
            )
        )
        return
    folder = ROOT / "web"
    if not (folder / "node_modules" / "vite").is_dir():
        in_web("web packages", [npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"])
    in_web("web types and lint", [npm, "run", "--silent", "check"])
    in_web("web unit tests", [npm, "test", "--silent"])
    run("web API types are current", ["python", "scripts/web_types.py", "--check"])


def in_web(name: str, command: list[str]) -> None:
    """Run one step in the folder of the web UI."""
    started = time.monotonic()
    if subprocess.run(command, cwd=ROOT / "web", check=False).returncode:  # noqa: S603
        stop(f"{name} failed: {' '.join(command)} (in web)")
    say(f"{name}: ok ({time.monotonic() - started:.0f} s)")


def run(name: str, command: list[str]) -> None:
    """Run one step."""
    started = time.monotonic()
    program = BIN / command[0]
    done = subprocess.run([str(program), *command[1:]], cwd=ROOT, check=False)  # noqa: S603
    if done.returncode:
        stop(f"{name} failed: {' '.join(command)}")
    say(f"{name}: ok ({time.monotonic() - started:.0f} s)")


if __name__ == "__main__":
    main()
