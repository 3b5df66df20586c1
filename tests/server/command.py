"""The installed `interlace` command, run in processes of its own with a home of its own."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.server.forked import Forked

SCRIPT = Path(sys.executable).parent / "interlace"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Command:
    """Commands that share a home in a folder; what is still running at the end is killed."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("INTERLACE_")}
        self.environment = {
            **kept, "INTERLACE_HOME": str(self.home), "INTERLACE_HTTP_ALLOW": "127.0.0.1/32", "INTERLACE_PREFECT": "off",
            "INTERLACE_PORT": "0", **settings,
        }  # fmt: skip
        self.started: list[Forked] = []

    def start(self, *arguments: str) -> Forked:
        """Start a command in a session of its own."""
        process = Forked(arguments, folder=self.folder, environment=self.environment)
        self.started.append(process)
        return process

    def finish(self, process: Forked, seconds: float = 60) -> Done:
        """Wait for the end of a command."""
        out, err = process.communicate(timeout=seconds)
        return Done(process.returncode, out, err)

    def __call__(self, *arguments: str) -> Done:
        return self.finish(self.start(*arguments))

    def serve(self, *arguments: str) -> tuple[Forked, str]:
        """Start a server; gives its process and its address, once it serves."""
        process = self.start("serve", *arguments)
        end = time.monotonic() + 60
        while (found := self._served()).get("pid") != process.pid:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        return process, str(found["url"])

    def _served(self) -> dict[str, Any]:
        """What `server.json` says; a server that was killed leaves it behind."""
        file = self.home / "server.json"
        found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return found

    @property
    def key(self) -> str:
        return (self.home / "owner.key").read_text().strip()

    def kill(self, process: Forked, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to the command alone, not to its children."""
        process.send_signal(number)

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name


def group_of(session: int) -> list[int]:
    """The processes of a session that live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (
                    os.getsid(int(entry.name)) == session
                    and "Z" not in (entry / "stat").read_text().split()[2]
                ):
                    found.append(int(entry.name))
            except (OSError, IndexError):
                continue
    return found
