"""`python -m interlace.resources.models.testing --script FILE --port N`: a scripted server until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

from interlace.resources.models.testing import Script, ScriptedModels


def main(arguments: list[str] | None = None) -> int:
    """Serve a script; prints the base URL in a line of its own. Gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m interlace.resources.models.testing", description=__doc__)
    parser.add_argument(
        "--script", type=Path, help="the script, in YAML or JSON; without it every answer is 'ok'"
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    given = parser.parse_args(arguments)
    try:
        script = (
            Script.model_validate({"rules": [{"reply": "ok"}]})
            if given.script is None
            else Script.load(given.script)
        )
        server = ScriptedModels(script, port=given.port)
        with server:
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            threading.Event().wait()
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
