"""Real servers on this machine, each with a schema or database of this process's own."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pymysql
import pytest

from interlace.resources.databases import DatabaseUrl

STATEMENTS = Path(__file__).parent / "statements"
_POSTGRES = "host=127.0.0.1 port=5432 user=postgres password=root dbname=test"


def fresh_name() -> str:
    return f"il_{os.getpid()}_{secrets.token_hex(4)}"


def need(port: int, what: str) -> None:
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
    except OSError:
        pytest.skip(f"no {what} on 127.0.0.1:{port}")


@contextmanager
def postgres_schema() -> Iterator[str]:
    need(5432, "PostgreSQL")
    name = fresh_name()
    with psycopg.connect(_POSTGRES, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"; CREATE ROLE "{name}" LOGIN NOSUPERUSER')
    try:
        yield f"postgresql://postgres:root@127.0.0.1:5432/test?schema={name}"
    finally:
        with psycopg.connect(_POSTGRES, autocommit=True) as connection:
            connection.execute(f'DROP SCHEMA "{name}" CASCADE; DROP OWNED BY "{name}"; DROP ROLE "{name}"')


@contextmanager
def mysql_database() -> Iterator[str]:
    need(3306, "MariaDB")
    name = fresh_name()
    with closing(pymysql.connect(host="127.0.0.1", user="root", password="")) as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
        cursor.execute(f"CREATE USER `{name}`@`127.0.0.1`")
        cursor.execute(f"GRANT ALL ON `{name}`.* TO `{name}`@`127.0.0.1`")
    try:
        yield f"mysql://root@127.0.0.1:3306/{name}"
    finally:
        with closing(pymysql.connect(host="127.0.0.1", user="root", password="")) as connection:
            cursor = connection.cursor()
            cursor.execute(f"DROP DATABASE `{name}`")
            cursor.execute(f"DROP USER `{name}`@`127.0.0.1`")


def limited(url: DatabaseUrl) -> DatabaseUrl:
    """The same place for a user who may do everything in the test's own schema, and nothing outside."""
    return replace(url, user=url.schema or url.database, password="")


def postgres_ask(url: str, sql: str) -> list[tuple[object, ...]]:
    """What another session sees, without our code."""
    with psycopg.connect(_POSTGRES, autocommit=True) as connection:
        connection.execute(f'SET search_path = "{url.rpartition("=")[2]}"')
        cursor = connection.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []


def mysql_ask(url: str, sql: str) -> list[tuple[object, ...]]:
    """What another session sees, without our code."""
    database = url.rpartition("/")[2]
    with closing(
        pymysql.connect(host="127.0.0.1", user="root", password="", database=database, autocommit=True)
    ) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        return list(cursor.fetchall())
