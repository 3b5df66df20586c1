"""What bubblewrap is told: which namespaces, which files, which environment, which program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from interlace.resources.sandbox.installation import PREFIX, Installation, version

HOME = "/zygote"
_INSIDE = Path(__file__).parent / "inside"
_MODULES = ("__init__", "confine", "harness", "seccomp", "syscalls", "values", "zygote")
_PACKAGE = "interlace.resources.sandbox.inside"
_BOOT = f"import sys; sys.path.insert(0, {HOME!r}); from {_PACKAGE}.zygote import main; main()"


def command(
    bwrap: Path, python: Installation, *, as_root: bool, network: bool, packages: Mapping[str, Path]
) -> list[str]:
    """The bubblewrap call up to the program, without the descriptors that `start` adds."""
    line = [str(bwrap), "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    line += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--clearenv"]
    # Root sets the mounts up as root (the installation may lie in its home) and leaves root inside.
    line += (
        ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if as_root
        else ["--unshare-user"]
    )
    if not network:
        line.append("--unshare-net")
    for name, value in (
        ("PYTHONHOME", PREFIX),
        ("PYTHONHASHSEED", "0"),
        ("LD_LIBRARY_PATH", python.library_path),
        ("LANG", "C.UTF-8"),
        ("MALLOC_ARENA_MAX", "2"),
    ):
        line += ["--setenv", name, value]
    for text, place in python.links:
        line += ["--symlink", text, place]
    binds = [*python.binds, *((str(path), f"/packages/{name}") for name, path in packages.items())]
    if network:
        binds += [(place, place) for place in _network_files()]
    for folder in sorted({str(parent) for _, target in binds for parent in Path(target).parents}):
        # Left to bubblewrap they would be for root only.
        line += ["--perms", "0755", "--dir", folder]
    for source, target in binds:
        line += ["--ro-bind", source, target]
    for place in python.hidden:
        line += ["--perms", "0755", "--tmpfs", place, "--remount-ro", place]
    line += ["--proc", "/proc", "--tmpfs", "/dev"]
    for device in ("null", "zero", "full", "random", "urandom"):
        line += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    return [*line, "--dir", "/dev/shm", "--remount-ro", "/dev", "--dir", "/work", "--dir", "/tmp"]  # noqa: S108 - inside


def _network_files() -> list[str]:
    """What name resolution and TLS read, by real path where it is a link."""
    import ssl  # noqa: PLC0415 - only for runs with network

    paths = ssl.get_default_verify_paths()
    wanted = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services"]
    wanted += [paths.openssl_cafile, paths.openssl_capath, "/etc/ssl/certs", "/etc/ca-certificates"]
    wanted.append("/usr/share/ca-certificates")
    return sorted({place for place in wanted if place and Path(place).exists()})


def source_files(files: list[int]) -> list[str]:
    """Arguments that copy our inside package into the sandbox; their descriptors are added to `files`."""
    line: list[str] = []
    place = HOME
    for part in ("", *_PACKAGE.split(".")):
        place = f"{place}/{part}" if part else place
        line += ["--perms", "0755", "--dir", place]
    for name in _MODULES:
        descriptor = os.memfd_create(name)
        files.append(descriptor)
        os.write(descriptor, (_INSIDE / f"{name}.py").read_bytes())
        os.lseek(descriptor, 0, os.SEEK_SET)
        line += ["--perms", "0444", "--file", str(descriptor), f"{place}/{name}.py"]
    return line


def boot(settings: str) -> list[str]:
    """The program that bubblewrap starts: this Python, without site-packages, with our package's entry."""
    return [f"{PREFIX}/bin/{version()}", "-s", "-S", "-P", "-B", "-c", _BOOT, settings]
