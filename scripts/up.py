"""Set everything up, start Interlace and run the first example: `python3 scripts/up.py`.

Arguments are passed on to `interlace serve`.
"""

from __future__ import annotations

import os
import subprocess
import sys

from setup_env import ROOT, ensure

programs = ensure("requirements.lock")
command = [str(programs / "interlace"), "serve", "--demo", *sys.argv[1:]]
if os.name == "nt":
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)  # noqa: S603
os.chdir(ROOT)
os.execv(command[0], command)  # noqa: S606
