"""The folder of everything an installation keeps: inputs and outputs of runs, keys, logs."""

from __future__ import annotations

from pathlib import Path

_MODE = 0o700


def make_home(home: Path) -> None:
    """Make the folder if it is missing, for its owner alone; one that is there keeps the mode it was given."""
    try:
        home.mkdir(parents=True, mode=_MODE)
    except FileExistsError:
        if not home.is_dir():
            raise
    else:
        # A default ACL of the folder above, or a file system without umask, may have opened it again.
        home.chmod(_MODE)
