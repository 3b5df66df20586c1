"""Set everything up and pass every check: `python3 scripts/check.py`. Arguments are passed on to pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import time

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
    run("tests", ["pytest", "-n", str(max(2, os.cpu_count() or 2)), "--dist", "loadgroup", *sys.argv[1:]])
    say("all checks passed")


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
