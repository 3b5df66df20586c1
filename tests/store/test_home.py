"""Who may read a home."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlace.flows.prefect.settings import prefect_home
from interlace.server.lock import HomeLock
from interlace.store import Store
from interlace.store.home import make_home


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    former = os.umask(0o022)
    yield
    os.umask(former)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_new_home_and_its_database_are_the_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "above" / "home"
    store = await Store.open(None, home)
    await store.settings.set("written", value=True)
    try:
        assert _mode(home) == 0o700
        files = [path for path in home.iterdir() if path.name.startswith("interlace.db")]
        assert {path.name for path in files} >= {"interlace.db", "interlace.db-wal"}
        assert {_mode(path) for path in files} == {0o600}
    finally:
        await store.close()


def test_whoever_comes_first_makes_it_so(tmp_path: Path) -> None:
    with HomeLock(tmp_path / "served"):
        assert _mode(tmp_path / "served") == 0o700
    prefect_home(tmp_path / "shown")
    assert _mode(tmp_path / "shown") == 0o700


def test_the_mode_that_somebody_gave_it_stays(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    make_home(tmp_path)
    assert _mode(tmp_path) == 0o750


def test_a_file_in_its_place_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    with pytest.raises(FileExistsError):
        make_home(tmp_path / "home")
