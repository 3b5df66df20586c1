"""`interlace runs trace`: what agents did in a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from interlace.server.cli.output import JsonFlag, emit_json, run_async, say
from interlace.server.cli.runs import RunId, find_run

_WIDTH = 100


def trace(run_id: RunId, as_json: JsonFlag = False) -> None:
    """What agents did, step by step: model calls with their tokens by source, tool calls, approvals, delegates."""

    async def work() -> dict[str, Any]:
        from interlace.flows.trace import agent_trace
        from interlace.server.cli.session import runs

        async with runs() as opened:
            return await agent_trace(opened.store, await find_run(opened.store, run_id))

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    if not found["agents"]:
        say("No agent has worked in this run.")
        return
    for agent in found["agents"]:
        ended = f", {agent['stop_reason']}" if agent["stop_reason"] else ""
        say(f"{agent['path']}  {agent['status']}{ended}")
        for line in _lines(agent["steps"], "  "):
            say(line)
    say(_total(found["totals"]))


def _lines(steps: list[dict[str, Any]], indent: str) -> Iterator[str]:
    for step in steps:
        if step["kind"] == "model":
            yield f"{indent}{step['step']}  {_model(step)}"
            continue
        yield f"{indent}{step['step']}  {_tool(step)}"
        for approval in step["approvals"]:
            answer = f"{approval['action']} by {approval['by']}" if approval["action"] else "waits"
            yield f"{indent}     {approval['title']}: {answer}"
        yield from _lines(step["steps"], f"{indent}  ")


def _model(step: Mapping[str, Any]) -> str:
    usage, sources = step["usage"], step["prompt_tokens"] or {}
    by_source = ", ".join(f"{name} {tokens}" for name, tokens in sources.items() if tokens)
    purpose = "" if step["purpose"] == "turn" else f" ({step['purpose']})"
    told = f" = {by_source}" if by_source else ""
    calls = ", ".join(str(call.get("name")) for call in step["tool_calls"])
    said = f"calls {calls}" if calls else _short(step["text"])
    return (
        f"{step['model']}{purpose}  {usage.get('latency_ms', 0):.0f} ms  {usage.get('input_tokens', 0)} tokens in{told},"
        f" {usage.get('output_tokens', 0)} out{_money(usage)}: {said}"
    )


def _tool(step: Mapping[str, Any]) -> str:
    took = "" if step["elapsed_ms"] is None else f"  {step['elapsed_ms']:.0f} ms"
    hooks = f"  hooks: {', '.join(step['hooks'])}" if step["hooks"] else ""
    result = step["text"] if step["text"] is not None else step["result"]
    shown = "" if step["outcome"] in ("running", "waiting") else f" → {_short(result)}"
    return f"{step['name']}  {step['outcome']}{took}{hooks}: {_short(step['arguments'])}{shown}"


def _total(totals: Mapping[str, Any]) -> str:
    return (
        f"{totals['model_calls']} model calls, {totals['tool_calls']} tool calls, {totals['input_tokens']} tokens in,"
        f" {totals['output_tokens']} out{_money(totals)}; models {totals['latency_ms']:.0f} ms, tools {totals['tool_ms']:.0f} ms"
    )


def _money(usage: Mapping[str, Any]) -> str:
    cost = usage.get("cost")
    return "" if not cost else f", {cost:.6g} {usage.get('currency') or ''}".rstrip()


def _short(value: Any) -> str:
    from interlace.server.encoding import to_json

    text = value if isinstance(value, str) else to_json(value).decode()
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
