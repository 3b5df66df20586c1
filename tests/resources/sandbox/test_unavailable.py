"""Where no isolation is to be had, code does not run: not in part, not in another way."""

from __future__ import annotations

import asyncio
import importlib.util
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from interlace.resources.sandbox import CodeError, Limits, Sandbox

CODE = "def main():\n    return {}"


async def test_bubblewrap_that_fails_is_said(children: Callable[[], set[int]]) -> None:
    sandbox = Sandbox(engine="bwrap", bwrap=Path("/bin/false"))

    status = await sandbox.check()
    with pytest.raises(CodeError) as caught:
        await sandbox.run(CODE, {}, limits=Limits())

    assert (status.engine, status.available) == ("none", False)
    assert status.reason.startswith("bwrap: bubblewrap does not run here: ")
    assert "user namespaces" in status.fix
    assert caught.value.kind == "sandbox_unavailable"
    assert status.reason in caught.value.message
    assert status.fix in caught.value.message
    assert not caught.value.retryable
    await sandbox.close()
    assert children() == set()


async def test_what_bubblewrap_says_is_passed_on(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    sandbox = Sandbox(engine="bwrap", bwrap=program)

    status = await sandbox.check()

    assert "bwrap: No permissions to create new namespace" in status.reason
    await sandbox.close()


async def test_program_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlace.resources.sandbox.zygote.START_SECONDS", 0.2)
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    sandbox = Sandbox(engine="bwrap", bwrap=program)

    status = await sandbox.check()

    assert "not ready after 0.2 s" in status.reason
    await sandbox.close()


async def test_program_that_is_missing() -> None:
    sandbox = Sandbox(engine="bwrap", bwrap=Path("/nowhere/bwrap"))

    status = await sandbox.check()

    assert "/nowhere/bwrap cannot be started" in status.reason
    await sandbox.close()


async def test_program_without_isolation_does_not_pass_the_self_test(tmp_path: Path) -> None:
    """A `bwrap` that just runs the command must not be taken for isolation."""
    program = tmp_path / "bwrap"
    program.write_text('#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\nshift; shift\nexec python3 "$@"\n')
    program.chmod(0o755)
    sandbox = Sandbox(engine="bwrap", bwrap=program)

    assert not (await sandbox.check()).available
    await sandbox.close()


async def test_the_other_engine_is_taken_and_the_reason_kept() -> None:
    sandbox = Sandbox(bwrap=Path("/bin/false"))

    status = await sandbox.check()

    has_wasm = importlib.util.find_spec("eryx") is not None
    assert status.available is has_wasm
    assert status.engine == ("wasm" if has_wasm else "none")
    assert "bubblewrap does not run here" in status.reason
    if not has_wasm:
        assert "wasm: the package pyeryx is not installed" in status.reason
        assert "pyeryx==0.11.0" in status.fix
    await sandbox.close()


async def test_check_runs_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho x >> {count}\nexit 1\n")
    program.chmod(0o755)
    sandbox = Sandbox(engine="bwrap", bwrap=program)

    await asyncio.gather(*(sandbox.check() for _ in range(4)))

    assert 1 <= count.read_text().count("x") <= 2, "once for each way to set it up, and root has two"
    await sandbox.close()


@pytest.mark.parametrize("name", ["", "../x", "a b", "a/b"])
async def test_package_names_are_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="package name"):
        Sandbox(packages={name: tmp_path})


async def test_package_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no folder"):
        Sandbox(packages={"demo": tmp_path / "missing"})


async def test_network_is_refused_unless_the_operator_opens_it() -> None:
    sandbox = Sandbox(engine="bwrap")

    with pytest.raises(CodeError, match="INTERLACE_CODE_NETWORK") as caught:
        await sandbox.run("def main():\n    return {}", {}, limits=Limits(), network=True)

    assert caught.value.kind == "network_not_allowed"
    await sandbox.close()
