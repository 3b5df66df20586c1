from __future__ import annotations

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.databases import DatabaseUrl

PASSWORD = "hunter2-s3cret"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:x@db.example.com/shop", "postgresql://me@db.example.com:5432/shop"),
        ("postgres://me@DB.example.com:6000/shop", "postgresql://me@db.example.com:6000/shop"),
        ("postgresql+psycopg://me:p%40ss@[::1]:5433/shop?sslmode=require", "postgresql://me@[::1]:5433/shop"),
        ("mariadb+pymysql://me@10.0.0.5/shop?charset=utf8mb4", "mysql://me@10.0.0.5:3306/shop"),
        ("sqlite:///rel/file.db", "sqlite:///rel/file.db"),
        ("sqlite:////abs/file.db", "sqlite:////abs/file.db"),
    ],
)
def test_urls_become_fields_and_show_no_password(text: str, shown: str) -> None:
    assert str(DatabaseUrl.parse(text)) == shown


def test_credentials_are_decoded_and_hidden() -> None:
    url = DatabaseUrl.parse("postgresql://m%3Ae:p%40%2Fss@db/sh%20op?schema=s1&connect_timeout=5")
    assert (url.user, url.password, url.database, url.schema, url.connect_timeout) == (
        "m:e",
        "p@/ss",
        "sh op",
        "s1",
        5,
    )
    assert "p@/ss" not in repr(url) + str(url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "shop",
        "host=db dbname=shop",
        "oracle://u:{p}@db/x",
        "postgresql+evil://u:{p}@db/x",
        "postgresql://u:{p}@db",
        "postgresql://u:{p}@db/",
        "postgresql://:{p}@db/x",
        "postgresql://db/x",
        "postgresql://u:{p}@/x",
        "postgresql://u:{p}@%2Fvar%2Frun%2Fpostgresql/x",
        "postgresql://u:{p}@%40abstract/x",
        "postgresql://u:{p}@a,b/x",
        "postgresql://u:{p}@a:1,b:2/x",
        "postgresql://u:{p}@db:0/x",
        "postgresql://u:{p}@db:70000/x",
        "postgresql://u:{p}@127.1/x",
        "postgresql://u:{p}@2130706433/x",
        "postgresql://u:{p}@0x7f000001/x",
        "postgresql://u:{p}@0177.0.0.1/x",
        "postgresql://u:{p}@[::1/x",
        "postgresql://u:{p}@[zz]/x",
        "postgresql://u:{p}@db x/y",
        "postgresql://u:{p}@db/x#frag",
        "postgresql://u:{p}@db/x?service=prod",
        "postgresql://u:{p}@db/x?host=/var/run",
        "postgresql://u:{p}@db/x?hostaddr=10.0.0.1",
        "postgresql://u:{p}@db/x?passfile=/root/.pgpass",
        "postgresql://u:{p}@db/x?sslkey=/etc/key",
        "postgresql://u:{p}@db/x?sslrootcert=/etc/ca",
        "postgresql://u:{p}@db/x?options=-c%20search_path%3Dx",
        "postgresql://u:{p}@db/x?sslmode=allow",
        "postgresql://u:{p}@db/x?sslmode=require&sslmode=disable",
        "postgresql://u:{p}@db/x?schema=a%22b",
        "postgresql://u:{p}@db/x?connect_timeout=0",
        "postgresql://u:{p}@db/%00",
        "postgresql://u:{p}@db/%ff",
        "mysql://u:{p}@db/x?read_default_file=/etc/my.cnf",
        "mysql://u:{p}@db/x?unix_socket=/tmp/s",
        "mysql://u:{p}@db/x?local_infile=1",
        "mysql://u:{p}@db/x?charset=latin1",
        "mysql://u:{p}@db/x?schema=a",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://host/x.db",
        "sqlite:///x.db?mode=rwc",
        "sqlite:///file:x.db?vfs=unix-none",
        "sqlite:///file:x.db",
        "sqlite:///a%0Ab",
        "postgresql://u:{p}@db/" + "x" * 3000,
        "postgresql://u:{p}@db/x\n",
        "postgresql://u:{p}\r@db/x",
    ],
)
def test_everything_else_is_refused_without_showing_the_password(text: str) -> None:
    if text == "postgresql://u:{p}@db/x\n":
        assert DatabaseUrl.parse(text).database == "x"  # blanks around are taken off
        return
    with pytest.raises(NodeError) as caught:
        DatabaseUrl.parse(text.replace("{p}", PASSWORD))
    assert caught.value.kind == "database_url"
    assert not caught.value.retryable
    assert PASSWORD not in str(caught.value)
