"""Who holds a lease: a process, named so that another can tell whether it may judge it by its number."""

from __future__ import annotations

import functools
import os
import socket
import uuid
from pathlib import Path

_FIELDS = 5


def new_owner() -> str:
    """`host:pid:boot:namespace:random`: this process, and no other one, also not an earlier one."""
    return f"{socket.gethostname()}:{os.getpid()}:{machine()}:{uuid.uuid4().hex[:8]}"


def pid_here(owner: str) -> int | None:
    """The process number of an owner of this machine, boot and pid namespace; None where it says nothing here.

    Two containers may share a host name, and the same number is another process in each of them; after a boot the
    numbers begin again.
    """
    host, *rest = owner.split(":")
    if host != socket.gethostname() or len(rest) != _FIELDS - 1 or not rest[0].isdecimal():
        return None
    return int(rest[0]) if f"{rest[1]}:{rest[2]}" == machine() else None


def host_of(owner: str | None) -> str | None:
    """The host name of an owner."""
    return None if owner is None else owner.partition(":")[0]


@functools.cache
def machine() -> str:
    """`boot:namespace`: what the numbers of processes count in; both empty where the system does not say."""
    return f"{_boot()}:{_namespace()}"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""
