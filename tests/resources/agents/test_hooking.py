"""Hooks at work: denials end everything, organisations come first, servers that do not answer close the door."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from interlace.engine.errors import NodeError
from interlace.engine.node import RunInfo
from interlace.engine.principal import LOCAL, Principal
from interlace.resources.agents.definition import read_hooks
from interlace.resources.agents.hooking import Hooks
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.http.testing import Received, Reply, serve
from interlace.resources.tools import ToolResult
from interlace.resources.tools.naming import tool_name


class Context:
    """What a call acts with. Implements `ToolContext`."""

    def __init__(self, http: HttpClient) -> None:
        self.run = RunInfo(id="run-1")
        self.path = "agent"
        self.http = http
        self.principal: Principal = LOCAL
        self.idempotency_key = "k"

    def service(self, protocol: Any) -> Any:
        assert protocol is HttpClient
        return self.http

    def hide(self, name: str, value: str) -> None: ...

    def now(self) -> float:
        return 0.0

    def emit(self, kind: str, data: Mapping[str, Any]) -> None: ...


@pytest.fixture
async def ctx() -> AsyncIterator[Context]:
    http = HttpClient(allow=AllowList.parse("127.0.0.0/8"))
    yield Context(http)
    await http.close()


def pre(do: str, **more: Any) -> dict[str, Any]:
    return {"event": "pre_tool_use", "do": do, **more}


async def test_matching_order_and_rewriting(ctx: Context) -> None:
    hooks = Hooks(
        read_hooks(
            [
                pre("deny", match="shop__delete_*", message="never"),
                pre(
                    "rewrite",
                    match="shop__*",
                    priority=1,
                    set={"parameters.limit": 10, "a.b": [1]},
                    remove=["secret", "x.y"],
                ),
                pre(
                    "ask",
                    match="shop__order",
                    where={"parameters.amount": r"^\d{4,}$"},
                    message="large order",
                ),
                pre("deny", where={"url": r"//internal\."}),
            ]
        )
    )
    given = {"parameters": {"limit": 500, "amount": 1000}, "secret": "s"}
    verdict = await hooks.before("shop__order", given, ctx)
    assert verdict.arguments == {"parameters": {"limit": 10, "amount": 1000}, "a": {"b": [1]}}
    assert (verdict.denied, verdict.ask) == (None, "large order")
    assert given == {"parameters": {"limit": 500, "amount": 1000}, "secret": "s"}, (
        "the caller's are left alone"
    )
    assert (await hooks.before("shop__delete_all", {}, ctx)).denied == "never"
    assert (await hooks.before("shop__order", {"parameters": {"amount": 999}}, ctx)).ask is None
    assert (await hooks.before("http", {"url": "http://internal.test"}, ctx)).denied is not None
    assert await hooks.before("other", {"a": 1}, ctx) == await Hooks().before("other", {"a": 1}, ctx)
    assert bool(hooks)
    assert not Hooks((), ())


MINE, THEIRS = "shop", "shop@4be4ea98"


@pytest.mark.parametrize(
    ("label", "action"), [(MINE, "delete_all"), (THEIRS, "delete_all"), (MINE, "削除"), (THEIRS, "削除")]
)
async def test_a_rule_holds_whatever_a_connector_is_called_by(ctx: Context, label: str, action: str) -> None:
    """A nearer resource of that name, letters that names of tools lack, and either mode: it is the same action."""
    hooks = Hooks(read_hooks([pre("deny", match=f"shop__{action}")]))
    meta = {"subcommand": "execute", "connector": label, "action": action}
    assert (await hooks.before("connector", meta, ctx)).denied is not None
    own = tool_name(label, action)
    assert (await hooks.before(own, {}, ctx, part_of=(label, action))).denied is not None
    for other in ("shopping", "shop@4be4ea9", "workshop"):
        assert (await hooks.before("connector", {**meta, "connector": other}, ctx)).denied is None


async def test_parameters_are_rewritten_in_both_modes(ctx: Context) -> None:
    hooks = Hooks(
        read_hooks([pre("rewrite", set={"parameters.currency": "EUR"}, remove=["parameters.note"])])
    )
    meta = {"subcommand": "execute", "parameters": {"note": "x"}}
    assert (await hooks.before("connector", meta, ctx)).arguments["parameters"] == {"currency": "EUR"}
    assert (await hooks.before("shop__order", {"note": "x"}, ctx)).arguments == {"currency": "EUR"}


async def test_allow_ends_its_own_list_alone(ctx: Context) -> None:
    allow, deny = read_hooks([pre("allow", priority=1), pre("deny")])
    assert (await Hooks([deny, allow]).before("t", {}, ctx)).denied is None
    assert (await Hooks([deny], [allow]).before("t", {}, ctx)).denied is not None
    assert (await Hooks([allow], [deny]).before("t", {}, ctx)).denied is not None


async def test_results_are_redacted_everywhere(ctx: Context) -> None:
    hooks = Hooks(
        read_hooks([{"event": "post_tool_use", "do": "redact", "pattern": r"\d{4}-\d{4}", "match": "crm*"}])
    )
    result = ToolResult(
        value={"cards": ["1234-5678", 5], "1111-2222": None},
        text="card 1234-5678",
        citations=({"quote": "9999-0000"},),
    )
    clean = await hooks.after("crm", {}, result, ctx)
    assert clean.value == {"cards": ["[redacted]", 5], "[redacted]": None}
    assert (clean.text, clean.citations) == ("card [redacted]", ({"quote": "[redacted]"},))
    assert await hooks.after("other", {}, result, ctx) is result


async def test_a_server_decides(ctx: Context) -> None:
    answers: dict[str, Any] = {}
    seen: list[dict[str, Any]] = []

    def answer(request: Received) -> Reply:
        seen.append({**json.loads(request.body), "auth": request.headers.get("authorization")})
        return Reply.of(answers[seen[-1]["event"]])

    async with serve(answer) as server:
        hook = {"do": "webhook", "url": server.url, "secret_headers": {"authorization": "t"}}
        hooks = Hooks(
            read_hooks([{**hook, "event": e} for e in ("session_start", "pre_tool_use", "post_tool_use")])
        )
        answers["session_start"] = {"note": "Be brief."}
        assert await hooks.start(ctx) == ["Be brief."]
        answers["session_start"] = {"decision": "deny", "message": "closed on Sundays"}
        with pytest.raises(NodeError, match="closed on Sundays") as caught:
            await hooks.start(ctx)
        assert caught.value.kind == "hook_denied"
        answers["pre_tool_use"] = {"decision": "ask", "message": "sure?", "arguments": {"n": 2}}
        verdict = await hooks.before("t", {"n": 1}, ctx)
        assert (verdict.arguments, verdict.ask, verdict.denied) == ({"n": 2}, "sure?", None)
        answers["pre_tool_use"] = {"decision": "deny"}
        assert (await hooks.before("t", {}, ctx)).denied is not None
        answers["post_tool_use"] = {"result": {"ok": True}}
        changed = await hooks.after("t", {}, ToolResult(value=1, text="one"), ctx)
        assert (changed.value, changed.text) == ({"ok": True}, None)
        answers["post_tool_use"] = {"decision": "deny", "message": "kept back"}
        kept = await hooks.after("t", {"n": 1}, ToolResult(value="secret"), ctx)
        assert (kept.value, kept.text, kept.is_error) == (None, "kept back", True)
    assert seen[-1] == {
        "event": "post_tool_use", "tool": "t", "arguments": {"n": 1}, "result": "secret", "text": None, "is_error": False,
        "run_id": "run-1", "path": "agent", "user_id": "local", "auth": "t",
    }  # fmt: skip


@pytest.mark.parametrize(
    "reply", [Reply(500, b"broken"), Reply(200, b"no json"), Reply(200, b"[1]"), Reply(302, b"")]
)
async def test_a_server_that_does_not_answer_closes_the_door(ctx: Context, reply: Reply) -> None:
    async with serve(lambda _: reply) as server:
        strict = read_hooks([pre("webhook", url=server.url)])
        verdict = await Hooks(strict).before("t", {}, ctx)
        assert verdict.denied is not None
        assert "no usable answer" in verdict.denied
        assert server.url not in verdict.denied
        lax = read_hooks([pre("webhook", url=server.url, on_error="allow")])
        assert (await Hooks(lax).before("t", {}, ctx)).denied is None
        after = read_hooks([{"event": "post_tool_use", "do": "webhook", "url": server.url}])
        with pytest.raises(NodeError) as caught:
            await Hooks(after).after("t", {}, ToolResult(value=1), ctx)
        assert caught.value.kind == "hook_failed"


async def test_hooks_reach_no_closed_address(ctx: Context) -> None:
    metadata = read_hooks([pre("webhook", url="http://169.254.169.254/latest")])
    denied = (await Hooks(metadata).before("t", {}, ctx)).denied
    assert denied is not None
    assert "blocked_address" in denied


@pytest.mark.parametrize(
    ("match", "tool", "arguments", "wanted"),
    [
        (
            "shop__delete_*",
            "connector",
            {"subcommand": "execute", "connector": "shop", "action": "delete_order"},
            True,
        ),
        (
            "shop__delete_*",
            "connector",
            {"subcommand": "execute", "connector": "shop", "action": ["delete_order"]},
            True,
        ),
        (
            "shop__delete_*",
            "connector",
            {"subcommand": "execute", "connector": "shop", "action": "get_order"},
            False,
        ),
        (
            "shop__delete_*",
            "connector",
            {"subcommand": "discover", "connector": "shop", "action": "delete_order"},
            False,
        ),
        (
            "connector",
            "connector",
            {"subcommand": "execute", "connector": "shop", "action": "get_order"},
            True,
        ),
        ("github__*", "mcp", {"subcommand": "call", "server": "github", "tool": "push"}, True),
        ("books__query", "database", {"subcommand": "query", "database": "books", "sql": "SELECT 1"}, True),
        ("店__注文*", "connector", {"subcommand": "execute", "connector": "店", "action": "注文する"}, True),
    ],
)
def test_a_rule_for_an_action_holds_whichever_way_it_is_called(
    match: str, tool: str, arguments: dict[str, Any], wanted: bool
) -> None:
    (hook,) = read_hooks([{"event": "pre_tool_use", "match": match, "do": "deny"}])
    assert hook.fits(tool, arguments) is wanted


@pytest.mark.parametrize("path", ["amount", "parameters.amount"])
def test_a_pattern_over_a_parameter_holds_whichever_way_it_is_given(path: str) -> None:
    (hook,) = read_hooks([{"event": "pre_tool_use", "match": "shop__*", "where": {path: "^9"}, "do": "deny"}])
    meta = {"subcommand": "execute", "connector": "shop", "action": "buy"}
    assert hook.fits("shop__buy", {"amount": "90"})
    assert hook.fits("connector", {**meta, "parameters": {"amount": "90"}})
    assert not hook.fits("shop__buy", {"amount": "1"})
    assert not hook.fits("connector", {**meta, "parameters": {"amount": "1"}})
