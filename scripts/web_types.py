"""Write the TypeScript types of the HTTP API, `web/src/api/types.gen.ts`; `--check` only says whether they are current."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import create_app

WEB = Path(__file__).resolve().parent.parent / "web"
TARGET = WEB / "src" / "api" / "types.gen.ts"


def main() -> int:
    """Generate or compare; gives the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(asyncio.run(_openapi(Path(folder)))), "utf-8")
        made = Path(folder) / "types.gen.ts"
        program = WEB / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
        command = ["node", str(program), str(document), "-o", str(made)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        text = made.read_text("utf-8")
    if "--check" in sys.argv:
        current = TARGET.is_file() and TARGET.read_text("utf-8") == text
        if not current:
            sys.stderr.write("web/src/api/types.gen.ts is out of date; run: python scripts/web_types.py\n")
        return 0 if current else 1
    TARGET.write_text(text, "utf-8")
    return 0


async def _openapi(folder: Path) -> dict[str, object]:
    platform = await Platform.open(Settings(home=folder / "home", prefect="off"))
    try:
        return create_app(platform).openapi()
    finally:
        await platform.close()


if __name__ == "__main__":
    sys.exit(main())
