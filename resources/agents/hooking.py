"""Hooks at work: what the lists of organisations and of the agent say to one call."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import re2

from interlace.engine.errors import NodeError
from interlace.engine.json_text import STRICT
from interlace.resources.agents.hooks import Allow, Ask, Deny, Hook, Note, Redact, Rewrite, Webhook
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.tools.tool import ToolContext, ToolResult

FAILED = "hook_failed"
_MAX_ANSWER = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What hooks say before a call.

    Args:
        arguments: what is to be called with; as given where no hook changed them.
        denied: why the call is not made; None where it may be.
        ask: why a person has to agree first; None where no hook asks for that.
    """

    arguments: Mapping[str, Any]
    denied: str | None = None
    ask: str | None = None


@dataclass(slots=True)
class _Asked:
    arguments: dict[str, Any]
    denied: str | None = None
    ask: str | None = None
    over: bool = False


class Hooks:
    """Lists of hooks in the order in which they are asked: organisations' first, then the agent's.

    A denial ends everything. `allow` skips what follows in its own list, so that an agent's cannot lift an
    organisation's. Within a list, lower priorities come first.
    """

    def __init__(self, *lists: Sequence[Hook]) -> None:
        self._lists = [sorted(hooks, key=lambda hook: hook.priority) for hooks in lists if hooks]

    def __bool__(self) -> bool:
        """Whether there is any hook."""
        return bool(self._lists)

    async def start(self, ctx: ToolContext) -> list[str]:
        """What is added to the system prompt of a session.

        Raises:
            NodeError: `hook_denied`, `hook_failed`.
        """
        notes = []
        for hook in (hook for hooks in self._lists for hook in hooks if hook.event == "session_start"):
            if isinstance(hook, Note):
                notes.append(hook.text)
            elif isinstance(hook, Webhook):
                answer = await _answer(hook, {"event": hook.event}, ctx)
                if answer.get("decision") == "deny":
                    said = str(answer.get("message") or "a hook does not let this session begin")
                    raise NodeError(said, kind="hook_denied", retryable=False)
                if answer.get("note"):
                    notes.append(str(answer["note"]))
        return notes

    async def before(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        ctx: ToolContext,
        *,
        part_of: tuple[str, str] | None = None,
    ) -> Verdict:
        """What the hooks say to a call that a model chose; `part_of` as `Tool` has it."""
        asked = _Asked(dict(arguments))
        for hooks in self._lists:
            asked.over = False
            for hook in hooks:
                if hook.event == "pre_tool_use" and hook.fits(tool, asked.arguments, part_of=part_of):
                    await _apply(hook, tool, asked, ctx)
                if asked.denied is not None:
                    return Verdict(arguments=asked.arguments, denied=asked.denied)
                if asked.over:
                    break
        return Verdict(arguments=asked.arguments, ask=asked.ask)

    async def after(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        result: ToolResult,
        ctx: ToolContext,
        *,
        part_of: tuple[str, str] | None = None,
    ) -> ToolResult:
        """The result as the model may read it.

        Raises:
            NodeError: `hook_failed`: a webhook did not answer, and nothing may be read without it.
        """
        for hook in (hook for hooks in self._lists for hook in hooks if hook.event == "post_tool_use"):
            if not hook.fits(tool, arguments, part_of=part_of):
                continue
            if isinstance(hook, Redact):
                result = _redacted(hook, result)
            elif isinstance(hook, Webhook):
                told = {
                    "event": hook.event, "tool": tool, "arguments": dict(arguments), "result": result.value,
                    "text": result.text, "is_error": result.is_error,
                }  # fmt: skip
                answer = await _answer(hook, told, ctx)
                if answer.get("decision") == "deny":
                    said = str(answer.get("message") or "a hook keeps this result back")
                    result = ToolResult(value=None, text=said, is_error=True)
                elif "result" in answer:
                    text = answer["result"] if isinstance(answer["result"], str) else None
                    result = replace(result, value=answer["result"], text=text)
        return result


async def _apply(hook: Hook, tool: str, asked: _Asked, ctx: ToolContext) -> None:
    match hook:
        case Allow():
            asked.over = True
        case Deny():
            asked.denied = hook.message
        case Ask():
            asked.ask = asked.ask or hook.message
        case Rewrite():
            asked.arguments = _rewritten(hook, asked.arguments)
        case Webhook():
            told = {"event": hook.event, "tool": tool, "arguments": asked.arguments}
            try:
                answer = await _answer(hook, told, ctx)
            except NodeError as error:
                asked.denied = error.message
                return
            if isinstance(answer.get("arguments"), dict):
                asked.arguments = answer["arguments"]
            said = answer.get("message")
            if answer.get("decision") == "deny":
                asked.denied = str(said or "a hook does not allow this call")
            elif answer.get("decision") == "ask":
                asked.ask = asked.ask or str(said or "a hook asks for a confirmation")
        case _:
            raise AssertionError(hook)


def _rewritten(hook: Rewrite, arguments: Mapping[str, Any]) -> dict[str, Any]:
    made = copy.deepcopy(dict(arguments))
    for path, value in hook.set.items():
        *outer, last = _place(path, arguments).split(".")
        place = made
        for part in outer:
            inner = place.get(part)
            place[part] = inner = inner if isinstance(inner, dict) else {}
            place = inner
        place[last] = copy.deepcopy(value)
    for path in hook.remove:
        *outer, last = _place(path, arguments).split(".")
        place = made
        for part in outer:
            inner = place.get(part)
            place = inner if isinstance(inner, dict) else {}
        place.pop(last, None)
    return made


def _place(path: str, arguments: Mapping[str, Any]) -> str:
    """A path as this call has it: a meta-tool takes in `parameters` what an action takes itself as a tool of its own."""
    bare = path.removeprefix("parameters.")
    return path if "subcommand" in arguments or "parameters" in arguments else bare


def _redacted(hook: Redact, result: ToolResult) -> ToolResult:
    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return re2.sub(hook.pattern, lambda _: hook.replacement, value)
        if isinstance(value, Mapping):
            return {clean(key): clean(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [clean(entry) for entry in value]
        return value

    text = None if result.text is None else clean(result.text)
    return replace(
        result,
        value=clean(result.value),
        text=text,
        citations=tuple(clean(entry) for entry in result.citations),
    )


async def _answer(hook: Webhook, told: Mapping[str, Any], ctx: ToolContext) -> dict[str, Any]:
    """What the server says; where it says nothing, `on_error` decides.

    Raises:
        NodeError: `hook_failed`.
    """
    headers = {
        **hook.headers,
        "content-type": "application/json",
        **{k: str(v) for k, v in hook.secret_headers.items()},
    }
    told = {**told, "run_id": ctx.run.id, "path": ctx.path, "user_id": ctx.principal.user_id}
    request = HttpRequest(
        method="POST", url=hook.url, headers=headers, body=json.dumps(told, ensure_ascii=False, default=str).encode(),
        timeout=hook.timeout, max_body=_MAX_ANSWER, follow_redirects=False, repeatable=True,
    )  # fmt: skip
    try:
        response = await ctx.service(HttpClient).send(request)
    except NodeError as error:
        return _without(hook, error.kind)
    if not 200 <= response.status < 300:  # noqa: PLR2004 - HTTP's boundaries
        return _without(hook, f"http_{response.status}")
    try:
        answer = json.loads(response.body, **STRICT) if response.body.strip() else {}
    except ValueError:
        return _without(hook, "no JSON")
    return answer if isinstance(answer, dict) else _without(hook, "no JSON object")


def _without(hook: Webhook, why: str) -> dict[str, Any]:
    """What counts where the server says nothing; where it is stays with those who may change the hook."""
    if hook.on_error == "allow":
        return {}
    raise NodeError(
        f"a hook's server gives no usable answer ({why}), so this is not done", kind=FAILED, retryable=False
    )
