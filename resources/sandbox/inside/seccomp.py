"""The system call filter of one run: an allow list, written as classic BPF.

Calls outside the list answer EPERM; calls newer than the list answer ENOSYS, so that libc falls back to older ones.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from interlace.resources.sandbox.inside.syscalls import ALLOWED, JUDGED, NETWORK, numbers

_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NEWEST = 462
_X32 = 0x40000000

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_RETURN = 0x06

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_EPERM = 0x00050000 | errno.EPERM
_ENOSYS = 0x00050000 | errno.ENOSYS

_NUMBER_AT, _ARCH_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24

_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020080
_IOCTLS = (
    0x5401,
    0x5413,
    0x541B,
    0x5421,
    0x5450,
    0x5451,
)  # is it a tty, its size, bytes waiting, blocking, cloexec
# Copies, flags, locks, sizes; not: owners and signals, leases, and pipes that eat the user's share of pipe memory.
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
_PRCTLS = (3, 15, 16)  # dumpable?, name this thread, its name
_PAIRS = (0x1, 0x801, 0x80001, 0x80801)  # streams only: an unconnected kind could be pointed at somebody else
_UNIX = 1
_FAMILIES = (2, 10)  # IPv4, IPv6; a Unix socket would reach abstract sockets of the host's network namespace

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

Instruction = tuple[int, int, int, int]


def _jump(test: int, value: int, hit: int, miss: int) -> Instruction:
    return (test, hit, miss, value)


def _answer(action: int) -> Instruction:
    return (_RETURN, 0, 0, action)


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _when(number: int, body: list[Instruction]) -> list[Instruction]:
    """`body` (which always answers) for this call, else on to what follows."""
    return [_jump(_EQUAL, number, 0, len(body)), *body]


def _one_of(offset: int, values: tuple[int, ...]) -> list[Instruction]:
    """Allow the call only when its argument is one of `values`."""
    checks = [_jump(_EQUAL, value, len(values) - at, 0) for at, value in enumerate(values)]
    return [_load(offset), *checks, _answer(_EPERM), _answer(_ALLOW)]


def _judged(machine: str, *, pid: int) -> list[Instruction]:
    call = numbers(JUDGED, machine)
    threads_only = [
        _load(_FIRST_AT),
        _jump(_ANY_BIT, _CLONE_NAMESPACES, 1, 0),
        _jump(_ANY_BIT, _CLONE_THREAD, 1, 0),
        _answer(_EPERM),
        _answer(_ALLOW),
    ]
    streams = _one_of(_SECOND_AT, _PAIRS)
    pairs = [_load(_FIRST_AT), _jump(_EQUAL, _UNIX, 0, len(streams) - 2), *streams]
    return [
        *_when(call["clone"], threads_only),
        # The flags of clone3 lie behind a pointer, which a filter cannot read; libc falls back to clone.
        *_when(call["clone3"], [_answer(_ENOSYS)]),
        *_when(call["fcntl"], _one_of(_SECOND_AT, _FCNTLS)),
        *_when(call["ioctl"], _one_of(_SECOND_AT, _IOCTLS)),
        *_when(call["prctl"], _one_of(_FIRST_AT, _PRCTLS)),
        *_when(call["socketpair"], pairs),
        *_when(call["tgkill"], _one_of(_FIRST_AT, (pid,))),
    ]


def _network(machine: str) -> list[Instruction]:
    call = numbers(NETWORK, machine)
    rest = [_when(number, [_answer(_ALLOW)]) for name, number in call.items() if name != "socket"]
    return [*_when(call["socket"], _one_of(_FIRST_AT, _FAMILIES)), *(step for body in rest for step in body)]


def program(machine: str, *, network: bool, pid: int = 1) -> bytes:
    """The filter as an array of `sock_filter`.

    Args:
        machine: `x86_64` or `aarch64`.
        network: whether internet sockets may be made.
        pid: the process that may signal its own threads.
    """
    steps: list[Instruction] = [
        _load(_ARCH_AT),
        _jump(_EQUAL, _ARCH[machine], 1, 0),
        _answer(_KILL),
        _load(_NUMBER_AT),
        _jump(_AT_LEAST, _X32, 0, 1),
        _answer(_EPERM),
        _jump(_AT_LEAST, _NEWEST, 0, 1),
        _answer(_ENOSYS),
    ]
    for number in numbers(ALLOWED, machine).values():
        steps += _when(number, [_answer(_ALLOW)])
    if network:
        steps += _network(machine)
    steps += _judged(machine, pid=pid)
    steps.append(_answer(_EPERM))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(code: bytes, libc: ctypes.CDLL) -> None:
    """Put the filter on this thread and all it starts; needs no_new_privs. Raises OSError when the kernel refuses."""
    buffer = ctypes.create_string_buffer(code, len(code))
    descriptor = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(descriptor), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, "the kernel refused the system call filter")
