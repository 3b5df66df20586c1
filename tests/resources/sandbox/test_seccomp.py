"""The filter's program, run by a small interpreter of its instructions."""

from __future__ import annotations

import errno
import struct

import pytest

from interlace.resources.sandbox.inside.seccomp import program
from interlace.resources.sandbox.inside.syscalls import ALLOWED, JUDGED, NETWORK, numbers

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS


def decide(machine: str, number: int, *arguments: int, arch: int | None = None, network: bool = False) -> int:
    """What the kernel would do with a call."""
    words = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number, ARCH[machine] if arch is None else arch, 0, *words)
    steps = list(struct.iter_unpack("=HBBI", program(machine, network=network)))
    value, at = 0, 0
    while True:
        code, hit, miss, operand = steps[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, operand)
        elif code == 0x06:
            return operand
        else:
            test = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[code]
            at += hit if test else miss


@pytest.mark.parametrize("machine", ARCH)
def test_allowed_calls(machine: str) -> None:
    for number in numbers(ALLOWED, machine).values():
        assert decide(machine, number) == ALLOW


@pytest.mark.parametrize("machine", ARCH)
def test_all_other_calls_are_refused(machine: str) -> None:
    known = {*numbers(ALLOWED, machine).values(), *numbers(JUDGED, machine).values()}

    for number in set(range(462)) - known:
        assert decide(machine, number) == EPERM
    for number in (462, 500, 0x3FFFFFFF):
        assert decide(machine, number) == ENOSYS


@pytest.mark.parametrize("machine", ARCH)
@pytest.mark.parametrize("name", ["socket", "connect", "bind", "listen", "accept4", "setsockopt"])
def test_network_calls(machine: str, name: str) -> None:
    number = numbers(NETWORK, machine)[name]

    assert decide(machine, number, 2) == EPERM
    assert decide(machine, number, 2, network=True) == ALLOW
    assert decide(machine, number, 10, network=True) == ALLOW
    if name == "socket":
        for family in (1, 16, 17, 38, 40):
            assert decide(machine, number, family, network=True) == EPERM


@pytest.mark.parametrize("machine", ARCH)
def test_judged_calls(machine: str) -> None:
    call = numbers(JUDGED, machine)
    thread = 0x3D0F00  # what libc asks for

    assert decide(machine, call["clone"], thread) == ALLOW
    assert decide(machine, call["clone"], 17) == EPERM
    assert decide(machine, call["clone"], thread | 0x10000000) == EPERM
    assert decide(machine, call["clone"], thread | 0x80) == EPERM
    assert decide(machine, call["clone3"], 0) == ENOSYS
    assert decide(machine, call["tgkill"], 1, 7) == ALLOW
    assert decide(machine, call["tgkill"], 2, 7) == EPERM
    assert decide(machine, call["socketpair"], 1, 0x80001) == ALLOW
    assert decide(machine, call["socketpair"], 1, 2) == EPERM
    assert decide(machine, call["socketpair"], 30, 1) == EPERM
    assert decide(machine, call["ioctl"], 0, 0x5421) == ALLOW
    assert decide(machine, call["ioctl"], 0, 0x5412) == EPERM
    assert decide(machine, call["prctl"], 15) == ALLOW
    assert decide(machine, call["prctl"], 4) == EPERM
    for name in ("fork", "vfork", "execve", "execveat"):
        if name in call:
            assert decide(machine, call[name]) == EPERM


@pytest.mark.parametrize("machine", ARCH)
def test_calls_of_another_architecture_kill(machine: str) -> None:
    assert decide(machine, 1, arch=0x40000003) == KILL
    assert decide(machine, 0x40000001) == EPERM


def test_one_number_has_one_name() -> None:
    for machine in ARCH:
        table = [
            *numbers(ALLOWED, machine).values(),
            *numbers(NETWORK, machine).values(),
            *numbers(JUDGED, machine).values(),
        ]
        assert len(table) == len(set(table))
