"""Sessions with real servers: programs and HTTP, broken in every way, begun again by themselves."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from tests.resources.mcp.programs import DEADLINE, HttpProgram, children, entry, pool, target, until

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient
from interlace.resources.mcp import Catalog, HttpServer, McpPool
from interlace.resources.mcp.pool import Target

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(120)]


def remote(program: HttpProgram, **changes: object) -> Target:
    server = HttpServer.model_validate({"url": program.url, **changes})
    return Target(key="remote", name="shop", server=server)


async def test_a_program_is_greeted_listed_and_called() -> None:
    async with pool() as mcp:
        greeting = await mcp.greeting(target())
        assert (greeting.name, greeting.version, greeting.instructions) == ("shop", "1.2", "Sells tea.")
        tools = await mcp.tools(target())
        assert set(tools) == {"add", "create_issue", "die", "slow", "fail", "look"}
        assert tools["add"].hint("readOnlyHint")
        result = await mcp.call(target(), "add", {"a": 2, "b": 40})
        assert (result.structured, result.text, result.is_error) == ({"result": 42}, "42", False)


async def test_a_call_is_held_against_the_description_that_was_looked_at() -> None:
    """Not against another one that the server gives by now."""
    async with pool() as mcp:
        looked_at = (await mcp.tools(target()))["add"]
        other = replace(looked_at, input_schema={**looked_at.input_schema, "required": ["a", "b", "c"]})
        with pytest.raises(NodeError, match="c") as caught:
            await mcp.call(target(), "add", {"a": 1, "b": 1}, known=other)
        assert caught.value.kind == "bad_arguments"
        assert (await mcp.call(target(), "add", {"a": 1, "b": 1}, known=looked_at)).text == "2"


async def test_one_program_serves_many_calls_and_ends_with_the_pool() -> None:
    before = children()
    async with pool() as mcp:
        results = await asyncio.gather(*(mcp.call(target(), "add", {"a": n, "b": 1}) for n in range(20)))
        assert [result.text for result in results] == [str(n + 1) for n in range(20)]
        seen = await asyncio.gather(*(mcp.call(target(), "look", {}) for _ in range(2)))
        assert len({str(result.structured and result.structured["pid"]) for result in seen}) == 1
        assert len(children() - before) == 1
    assert children() <= before


async def test_a_program_that_dies_in_mid_call_says_its_last_words_and_the_next_call_works() -> None:
    async with pool() as mcp:
        await mcp.call(target(), "add", {"a": 1, "b": 1})
        with pytest.raises(NodeError) as caught:
            await mcp.call(target(), "die", {"code": 3})
        assert caught.value.kind == "connection"
        assert not caught.value.outcome_known
        assert "disk on fire, bailing out" in caught.value.message
        assert (await mcp.call(target(), "add", {"a": 2, "b": 2})).text == "4"


async def test_a_program_that_died_while_idle_is_started_again_without_a_word() -> None:
    before = children()
    async with pool() as mcp:
        await mcp.call(target(), "add", {"a": 1, "b": 1})
        (child,) = children() - before
        os.kill(child, signal.SIGKILL)
        await until(lambda: not mcp.connected("one"))
        assert (await mcp.call(target(), "add", {"a": 2, "b": 2})).text == "4"


async def test_a_killed_http_server_gives_a_clear_error_and_the_next_call_works(program: HttpProgram) -> None:
    async with pool() as mcp:
        where = remote(program)
        assert (await mcp.call(where, "add", {"a": 1, "b": 2})).text == "3"
        call = asyncio.create_task(mcp.call(where, "slow", {"seconds": 60}))
        await asyncio.sleep(0.5)
        await program.kill()
        with pytest.raises(NodeError) as caught:
            async with asyncio.timeout(DEADLINE):
                await call
        assert caught.value.kind == "connection"
        assert not caught.value.outcome_known
        with pytest.raises(NodeError) as down:
            await mcp.call(where, "add", {"a": 1, "b": 2})
        assert down.value.outcome_known
        assert str(program.port) in down.value.message
        await program.start()
        assert (await mcp.call(where, "add", {"a": 5, "b": 2})).text == "7"


async def test_a_restart_between_calls_is_not_noticed(program: HttpProgram) -> None:
    async with pool() as mcp:
        where = remote(program)
        for round_ in range(3):
            assert (await mcp.call(where, "add", {"a": round_, "b": 0})).text == str(round_)
            await program.kill()
            await program.start()
        assert (await mcp.call(where, "add", {"a": 9, "b": 0})).text == "9"


async def test_progress_is_told_and_a_cancelled_call_leaves_the_session_whole(tmp_path: Path) -> None:
    done = tmp_path / "done"
    told: list[tuple[float, float | None, str | None]] = []
    started = asyncio.Event()

    async def progress(step: float, total: float | None, message: str | None) -> None:
        told.append((step, total, message))
        started.set()

    catalog = Catalog(servers={"shop": entry(write=[tmp_path])})
    async with pool(catalog) as mcp:
        where = target(SHOP_DONE=str(done))
        await mcp.call(where, "slow", {"seconds": 0.1}, progress=progress)
        assert told == [(step, 4, f"step {step}") for step in range(4)]
        done.unlink()
        started.clear()
        call = asyncio.create_task(mcp.call(where, "slow", {"seconds": 60}, progress=progress))
        await asyncio.wait_for(started.wait(), DEADLINE)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await mcp.call(where, "add", {"a": 1, "b": 1})).text == "2"
        assert not done.exists()


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "words"),
    [
        ("ad", {}, "tool_not_found", "did you mean add"),
        ("add", {"a": 1}, "bad_arguments", "b"),
        ("add", {"a": "x", "b": 1}, "bad_arguments", "arguments.a"),
    ],
)
async def test_wrong_calls_are_told_before_anything_is_sent(
    tool: str, arguments: dict[str, object], kind: str, words: str
) -> None:
    async with pool() as mcp:
        with pytest.raises(NodeError) as caught:
            await mcp.call(target(), tool, arguments)
        assert caught.value.kind == kind
        assert words in caught.value.message


async def test_an_error_of_the_tool_is_a_result() -> None:
    async with pool() as mcp:
        result = await mcp.call(target(), "fail", {"reason": "no such order"})
        assert result.is_error
        assert "fail" in result.text


async def test_a_server_that_says_nothing_times_out(program: HttpProgram) -> None:
    async with pool() as mcp:
        with pytest.raises(NodeError) as caught:
            await mcp.call(remote(program, timeout=0.5), "slow", {"seconds": 30})
        assert caught.value.kind == "timeout"
        assert not caught.value.outcome_known


async def test_a_refused_address_is_never_reached() -> None:
    http = HttpClient()
    mcp = McpPool(http, Catalog())
    server = HttpServer(url="http://127.0.0.1:1/mcp")
    with pytest.raises(NodeError) as caught:
        await mcp.tools(Target(key="k", name="inside", server=server))
    assert "127.0.0.1" in caught.value.message
    await mcp.close()
    await http.close()


async def test_an_idle_session_is_ended() -> None:
    before = children()
    async with pool(idle=0.2) as mcp:
        await mcp.call(target(), "add", {"a": 1, "b": 1})
        await until(lambda: not children() - before)
        assert (await mcp.call(target(), "add", {"a": 1, "b": 1})).text == "2"


async def test_a_program_that_never_speaks_gives_its_standard_error() -> None:
    catalog = Catalog(
        servers={"shop": entry(command=["/bin/sh", "-c", "echo licence expired >&2; exit 7"], arguments={})}
    )
    async with pool(catalog) as mcp:
        with pytest.raises(NodeError) as caught:
            async with asyncio.timeout(DEADLINE):
                await mcp.tools(target())
        assert "licence expired" in caught.value.message
        assert caught.value.outcome_known


async def test_a_program_sees_what_its_entry_says_and_no_more(tmp_path: Path) -> None:
    secret = tmp_path / "home" / "secret"
    secret.parent.mkdir()
    secret.write_text("hush")
    async with pool(refused=(secret.parent,)) as mcp:
        asked = ["/etc/passwd", "/etc/shadow", str(secret), str(Path(__file__).parents[3] / "pyproject.toml")]
        where = target(SHOP_TOKEN="t0ken", SHOP_SECRET_FILE=":".join(asked))
        seen = (await mcp.call(where, "look", {})).structured
        assert seen is not None
        assert seen["token"] == "t0ken"
        assert seen["home"] == "/home/mcp"
        assert seen["seen"] == ""


async def test_no_entry_shows_the_platforms_home(tmp_path: Path) -> None:
    catalog = Catalog(servers={"shop": entry(read=[tmp_path])})
    async with pool(catalog, refused=(tmp_path / "home",)) as mcp:
        with pytest.raises(NodeError, match="the platform keeps its data there"):
            await mcp.tools(target())
