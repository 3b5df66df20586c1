from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.databases import DatabaseUrl
from interlace.resources.databases.access import Access


async def place(access: Access, text: str) -> str:
    found = await access.check(DatabaseUrl.parse(text))
    return found.address or str(found.path)


async def blocked(access: Access, text: str) -> str:
    with pytest.raises(NodeError) as caught:
        await place(access, text)
    assert caught.value.kind == "blocked_address"
    return caught.value.message


PG = "postgresql://u:pw@{}/x"


async def test_closed_by_default(tmp_path: Path) -> None:
    access = Access(allow=[], base_dir=tmp_path)
    for target in ("127.0.0.1", "[::1]", "10.1.2.3", "8.8.8.8", "localhost"):
        assert "INTERLACE_DATABASE_ALLOW (set it where the server is started" in await blocked(
            access, PG.format(target)
        )
    assert "no allowed directory" in await blocked(access, "sqlite:///x.db")


@pytest.mark.parametrize(
    ("allow", "target"),
    [
        ("127.0.0.1", "127.0.0.1:6000"),
        ("127.0.0.1:6000", "127.0.0.1:6000"),
        ("127.0.0.0/8", "127.9.9.9"),
        ("localhost", "LOCALHOST:5432"),
        ("localhost:5432", "localhost"),
        ("::1", "[::1]"),
        ("[::1]:5432", "[::1]"),
        ("10.0.0.0/8", "10.1.2.3"),
    ],
)
async def test_what_is_allowed_is_reached_at_the_checked_address(
    tmp_path: Path, allow: str, target: str
) -> None:
    address = await place(Access(allow=[allow], base_dir=tmp_path), PG.format(target))
    assert address in {"127.0.0.1", "127.9.9.9", "::1", "10.1.2.3"}


@pytest.mark.parametrize(
    ("allow", "target"),
    [
        ("127.0.0.1:6000", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.2"),
        ("10.0.0.0/8", "11.0.0.1"),
        ("db.example.com", "localhost"),
        ("localhost", "127.0.0.1"),
    ],
)
async def test_what_is_not_exactly_allowed_is_not_reached(tmp_path: Path, allow: str, target: str) -> None:
    await blocked(Access(allow=[allow], base_dir=tmp_path), PG.format(target))


@pytest.mark.parametrize(
    "target",
    [
        "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "0.0.0.0", "[::]",
        "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "224.0.0.1", "255.255.255.255",
        "[ff02::1]",
    ],
)  # fmt: skip
async def test_metadata_addresses_are_refused_whatever_is_allowed(tmp_path: Path, target: str) -> None:
    access = Access(allow=["0.0.0.0/0", "::/0"], base_dir=tmp_path)
    assert "never reached" in await blocked(access, PG.format(target))


@pytest.mark.parametrize(
    ("own", "target", "same"),
    [
        ("postgresql+psycopg://p:pw@127.0.0.1:5432/interlace", "postgresql://u@127.0.0.1/interlace", True),
        ("postgresql://p:pw@localhost/interlace", "postgresql://u@127.0.0.1:5432/interlace", True),
        ("postgresql:///interlace?host=/var/run/postgresql", "postgresql://u@127.0.0.1/interlace", True),
        ("postgresql://p@127.0.0.1/interlace", "postgresql://u@127.0.0.2/interlace", True),
        ("postgresql://p@127.0.0.1/interlace", "postgresql://u@127.0.0.1/shop", False),
        ("postgresql://p@127.0.0.1:6000/interlace", "postgresql://u@127.0.0.1/interlace", False),
        ("mysql://p@127.0.0.1/interlace", "mysql://u@127.0.0.1/shop", True),
    ],
)
async def test_the_platforms_own_database_is_refused(
    tmp_path: Path, own: str, target: str, same: bool
) -> None:
    access = Access(allow=["127.0.0.0/8"], refused_urls=[own], base_dir=tmp_path)
    if same:
        assert "platform's own" in await blocked(access, target)
    else:
        await place(access, target)


async def test_files_are_allowed_by_folder_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    access = Access(allow=["./data", str(tmp_path / "one.db")], base_dir=tmp_path)
    assert await place(access, "sqlite:///data/a.db") == str(tmp_path / "data" / "a.db")
    assert await place(access, f"sqlite:///{tmp_path}/one.db") == str(tmp_path / "one.db")
    for outside in ("two.db", "data/../two.db", "data/../../x.db", "/etc/passwd", "database/a.db", "data"):
        await blocked(access, f"sqlite:///{outside}")


async def test_links_and_devices_do_not_lead_out(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "secret.db").write_bytes(b"")
    (data / "link.db").symlink_to(tmp_path / "secret.db")
    (data / "folder").symlink_to("/etc")
    (data / "loop").symlink_to(data / "loop")
    os.mkfifo(data / "pipe")
    access = Access(allow=[str(data)], base_dir=tmp_path)
    for name in ("link.db", "folder/passwd", "loop", "pipe"):
        await blocked(access, f"sqlite:///data/{name}")


async def test_the_home_is_refused_inside_an_allowed_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "interlace.db").write_bytes(b"")
    os.link(home / "interlace.db", tmp_path / "hard.db")
    (tmp_path / "soft.db").symlink_to(home / "interlace.db")
    access = Access(
        allow=[str(tmp_path)],
        refused_paths=[home],
        refused_urls=[f"sqlite+aiosqlite:///{home}/interlace.db"],
        base_dir=tmp_path,
    )
    for name in ("home/interlace.db", "home/new.db", "soft.db", "hard.db", "home/interlace.db-wal"):
        assert "platform itself" in await blocked(access, f"sqlite:///{name}")
    assert await place(access, "sqlite:///other.db")


@pytest.mark.parametrize("entry", ["http://x", "a b", "10.0.0.0/33x y", "1.2.3", "db:port"])
def test_unreadable_entries_are_said_at_once(tmp_path: Path, entry: str) -> None:
    if "/" in entry:
        Access(allow=[entry], base_dir=tmp_path)  # a path, however odd
        return
    with pytest.raises(ValueError, match="INTERLACE_DATABASE_ALLOW"):
        Access(allow=[entry], base_dir=tmp_path)


async def test_an_unknown_host_is_a_connection_error(tmp_path: Path) -> None:
    access = Access(allow=["nowhere.invalid"], base_dir=tmp_path)
    with pytest.raises(NodeError) as caught:
        await place(access, PG.format("nowhere.invalid"))
    assert caught.value.kind == "connection"
