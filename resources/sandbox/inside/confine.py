"""What one run gives up before it sees user code: its view of files and processes, its rights, its resources."""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

from interlace.resources.sandbox.inside import seccomp

HOME = "/work"
SCRATCH_BYTES = 64 << 20
USER = 1000
FILES = 64
THREADS = 128
NICENESS = 2

_NEWNS, _NEWUSER, _NEWPID, _NEWIPC = 0x00020000, 0x10000000, 0x20000000, 0x08000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _BIND = 1, 2, 4, 8, 4096

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 4, 24, 38, 36
_PR_CAP_AMBIENT, _CLEAR_ALL = 47, 4
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION = 0x20080522

_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID = 1, 2

libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def prctl(option: int, argument: int, what: str) -> None:
    """One prctl call; raises OSError that names `what`."""
    _check(libc.prctl(option, argument, 0, 0, 0), what)


def become(uid: int) -> None:
    """Give up root for `uid`, and stay able to write one's own uid map."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    prctl(_PR_SET_DUMPABLE, 1, "stay dumpable")


def adopt_orphans() -> None:
    """Make this process the parent of its grandchildren, so that their end and their cost are seen here."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1, "adopt orphans")


def enter_namespaces() -> None:
    """Own user, mount and IPC namespace for this process, and a pid namespace for its next child."""
    uid, gid = os.getuid(), os.getgid()
    _check(libc.unshare(_NEWUSER | _NEWNS | _NEWPID | _NEWIPC), "make the run's own namespaces")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{USER} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{USER} {gid} 1")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    names = [None if text is None else text.encode() for text in (source, target, kind, options)]
    _check(libc.mount(names[0], names[1], names[2], flags, names[3]), f"mount {target}")


def hide_files() -> None:
    """Make all that is mounted read-only, hide /proc, and lay fresh scratch space on /work, /tmp and /dev/shm."""
    everything = _MountAttributes(attr_set=_ATTR_RDONLY | _ATTR_NOSUID)
    size = ctypes.sizeof(everything)
    _check(
        libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, ctypes.byref(everything), size),
        "make the file system read-only",
    )
    flags = _NOSUID | _NODEV | _NOEXEC
    _mount("tmpfs", "/proc", "tmpfs", flags | _RDONLY, "size=4k,mode=0555")
    # One tmpfs behind the three places: together they never take more memory than its size.
    _mount("tmpfs", "/tmp", "tmpfs", flags, f"size={SCRATCH_BYTES},nr_inodes=16k,mode=0700")  # noqa: S108 - inside
    for name, target in (("work", HOME), ("shm", "/dev/shm"), ("tmp", "/tmp")):  # noqa: S108 - inside
        source = f"/tmp/{name}"  # noqa: S108 - inside
        Path(source).mkdir(mode=0o700)
        _mount(source, target, None, _BIND)
    os.chdir(HOME)


def drop_rights() -> None:
    """No capability in any set, none to be had again, and no look inside from a sibling."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1, "give up new privileges")
    libc.prctl(_PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # past the kernel's last one
    header = _CapabilityHeader(_CAPABILITY_VERSION, 0)
    empty = (ctypes.c_uint32 * 6)()
    _check(libc.capset(ctypes.byref(header), ctypes.byref(empty)), "drop all capabilities")
    prctl(_PR_SET_DUMPABLE, 0, "forbid dumps")


def limit_resources() -> None:
    """The limits that are the same for every run, and its place behind the service's own work."""
    os.nice(NICENESS)
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, SCRATCH_BYTES),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_NPROC, THREADS),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, THREADS),
        (resource.RLIMIT_STACK, 8 << 20),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)  # noqa: PLW2901 - never raise a limit
        resource.setrlimit(kind, (value, value))


def limit_run(*, address_space: int, cpu_seconds: int) -> None:
    """The limits that the job names: bytes of address space and seconds of processor time."""
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))


def call_filter(*, network: bool) -> bytes:
    """The system call filter for this machine."""
    return seccomp.program(os.uname().machine, network=network)


def filter_calls(program: bytes) -> None:
    """From here on only the listed system calls work."""
    seccomp.install(program, libc)
