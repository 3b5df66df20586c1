"""Which parts of this machine's Python the sandbox sees: interpreter, standard library, shared libraries, time zones.

Site-packages, the project, the home and the service's data are never among them.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

PREFIX = "/python"
ZONES = "/usr/share/zoneinfo"

# Runs outside, once: which shared libraries the interpreter and every extension of the standard library load.
_LIBRARIES = """
import importlib, json, os, sys
import _ctypes
extensions = os.path.dirname(_ctypes.__file__) if getattr(_ctypes, "__file__", None) else ""
for name in sorted(os.listdir(extensions) if extensions else []):
    if name.endswith(".so") and not name.startswith(("_test", "_xx", "xx", "_tkinter", "_ctypes_test")):
        try:
            importlib.import_module(name.split(".")[0])
        except ImportError:
            pass
with open("/proc/self/maps") as maps:
    found = {line.split(None, 5)[5].strip() for line in maps if line.count("/") > 1}
print(json.dumps(sorted(path for path in found if ".so" in path)))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Mounts of the sandbox: read-only binds (source, target), symbolic links (text, place), hidden folders."""

    binds: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]
    hidden: tuple[str, ...]
    library_path: str


@functools.cache
def installation() -> Installation:
    """Work out the mounts for the interpreter that runs this process. Raises OSError or SubprocessError when it cannot be asked."""
    base = Path(sys.base_prefix).resolve()
    executable = Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
    name = version()
    inside = f"{PREFIX}/{sys.platlibdir}/{name}"
    standard = _standard_library(base)
    binds = [(str(executable), f"{PREFIX}/bin/{name}"), (str(standard), inside)]
    if sys.platlibdir != "lib":
        binds.append((str(base / "lib" / name), f"{PREFIX}/lib/{name}"))
    hidden = [
        f"{inside}/{place}" for place in ("site-packages", "dist-packages") if (standard / place).is_dir()
    ]
    libraries, folders = _libraries(executable, base)
    binds += libraries
    binds += [(folder, folder) for folder in folders]
    loader = _loader(executable)
    if loader is not None and str(loader.parent) not in folders:
        binds.append((str(loader.resolve()), str(loader)))
    links = [(str(Path(top).readlink()), top) for top in ("/lib", "/lib64") if Path(top).is_symlink()]
    loader_cache = Path("/etc/ld.so.cache")
    if loader_cache.exists():
        binds.append((str(loader_cache), str(loader_cache)))
    zones = _time_zones()
    if zones is not None:
        binds.append((str(zones), ZONES))
    return Installation(
        binds=tuple(binds),
        links=tuple(links),
        hidden=tuple(hidden),
        library_path=f"{PREFIX}/shared",
    )


def version() -> str:
    """The name of this Python's program and folder: `python3.11`."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def _standard_library(base: Path) -> Path:
    return Path(sysconfig.get_path("stdlib", vars={"installed_base": str(base)})).resolve()


def _libraries(executable: Path, base: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Libraries of the installation, one by one, and the system folders where the others lie."""
    done = subprocess.run(  # noqa: S603 - our own interpreter with a fixed program
        [executable, "-I", "-S", "-c", _LIBRARIES], capture_output=True, check=True, timeout=60, env={}
    )
    own: list[tuple[str, str]] = []
    folders: set[str] = set()
    for name in json.loads(done.stdout):
        path = Path(name)
        if path.is_relative_to(base) and base != Path("/usr"):
            if "lib-dynload" not in path.parts:
                own.append((name, f"{PREFIX}/shared/{path.name}"))
        elif "lib-dynload" not in path.parts:
            folders.add(str(path.parent))
    outer = {
        folder for folder in folders if not any(f != folder and folder.startswith(f + "/") for f in folders)
    }
    return own, sorted(outer)


def _loader(executable: Path) -> Path | None:
    """The dynamic loader that the interpreter's file names, with the folder's links resolved."""
    with executable.open("rb") as file:
        named = re.search(rb"\0(/[\w./-]+/ld[\w.-]*\.so[\w.]*)\0", file.read(1 << 16))
    if named is None:
        return None
    path = Path(named[1].decode())
    return path.parent.resolve() / path.name


def _time_zones() -> Path | None:
    try:
        tzdata = importlib.import_module("tzdata")
    except ImportError:
        system = Path(ZONES)
        return system if system.is_dir() else None
    return Path(str(tzdata.__file__)).parent / "zoneinfo"
