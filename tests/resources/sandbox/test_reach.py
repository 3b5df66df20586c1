"""What an operator or a node opens on purpose: packages and the network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from interlace.resources.sandbox import CodeError, Limits, Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = Limits(seconds=10)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    folder = tmp_path_factory.mktemp("packages")
    for name in ("demo", "other-one"):
        module = folder / name / f"{name.replace('-', '_')}.py"
        module.parent.mkdir()
        module.write_text(f"NAME = {name!r}\n")
    packages = {name: folder / name for name in ("demo", "other-one")}
    made = Sandbox(engine="bwrap", packages=packages, network=True)
    status = await made.check()
    if not status.available:
        pytest.skip(f"bubblewrap does not run here: {status.reason}")
    yield made
    await made.close()


async def test_package_that_is_asked_for(opened: Sandbox) -> None:
    code = "import demo\ndef main():\n    return {'name': demo.NAME, 'file': demo.__file__}"

    result = await opened.run(code, {}, limits=LIMITS, packages=["demo"])

    assert result.value == {"name": "demo", "file": "/packages/demo/demo.py"}


async def test_packages_together(opened: Sandbox) -> None:
    code = "import demo, other_one\ndef main():\n    return {'names': [demo.NAME, other_one.NAME]}"

    result = await opened.run(code, {}, limits=LIMITS, packages=["other-one", "demo", "demo"])

    assert result.value == {"names": ["demo", "other-one"]}


@pytest.mark.parametrize("packages", [[], ["other-one"]])
async def test_package_that_is_not_asked_for_is_not_there(packages: list[str], opened: Sandbox) -> None:
    with pytest.raises(CodeError) as caught:
        await opened.run("import demo\ndef main():\n    return {}", {}, limits=LIMITS, packages=packages)

    assert caught.value.kind == "ModuleNotFoundError"


async def test_package_cannot_be_changed(opened: Sandbox) -> None:
    code = "def main():\n    open('/packages/demo/demo.py', 'a').write('x')"

    with pytest.raises(CodeError) as caught:
        await opened.run(code, {}, limits=LIMITS, packages=["demo"])

    assert caught.value.kind in ("OSError", "PermissionError"), "read-only, and it belongs to somebody else"


@pytest.mark.parametrize("fast", [False, True])
async def test_package_that_the_operator_does_not_allow(fast: bool, opened: Sandbox) -> None:
    with pytest.raises(
        CodeError, match="'numpy' is not on the operator's list \\(allowed: demo, other-one\\)"
    ) as caught:
        await opened.run("def main():\n    return {}", {}, limits=LIMITS, packages=["numpy"], fast=fast)

    assert caught.value.kind == "package_not_allowed"


FETCH = """
import socket
def main(port):
    with socket.create_connection(("127.0.0.1", port), 3) as connection:
        connection.sendall(b"ping")
        return {"answer": connection.recv(100).decode()}
"""


async def test_network_only_when_granted(opened: Sandbox) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(4) + b" pong")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        result = await opened.run(FETCH, {"port": port}, limits=LIMITS, network=True)
        with pytest.raises(CodeError) as caught:
            await opened.run(FETCH, {"port": port}, limits=LIMITS)

    assert result.value == {"answer": "ping pong"}
    assert caught.value.kind == "PermissionError"


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "socket.socketpair(type=socket.SOCK_DGRAM)",
        "os.fork()",
        "open('/etc/passwd')",
        "open('/etc/shadow')",
    ],
)
async def test_network_opens_nothing_else(attempt: str, opened: Sandbox) -> None:
    with pytest.raises(CodeError) as caught:
        await opened.run(f"import os, socket\ndef main():\n    {attempt}", {}, limits=LIMITS, network=True)

    assert caught.value.kind in ("PermissionError", "FileNotFoundError")


async def test_network_with_names_and_certificates(opened: Sandbox) -> None:
    code = "import socket, ssl\ndef main():\n    ssl.create_default_context()\n    return {'x': socket.getaddrinfo('localhost', 80)[0][4][0]}"

    result = await opened.run(code, {}, limits=LIMITS, network=True)

    assert result.value in ({"x": "127.0.0.1"}, {"x": "::1"})


async def test_many_kinds_of_reach_keep_few_zygotes(opened: Sandbox, tmp_path: Path) -> None:
    code = "def main():\n    return {}"

    for packages in ([], ["demo"], ["other-one"], ["demo", "other-one"]):
        for network in (False, True):
            assert (await opened.run(code, {}, limits=LIMITS, packages=packages, network=network)).value == {}
