"""Answers that fit a JSON Schema: asked for as strictly as the model can, checked here, repaired once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from interlace.engine.chat import CallSite, ChatModel, ChatRequest, ChatResult, Message, OnDelta
from interlace.engine.errors import NodeError
from interlace.engine.json_schema import problems_of
from interlace.engine.problems import Problem
from interlace.resources.models.extraction import candidates

_SHOWN: Final = 10
_WRAPPED: Final = "value"


@dataclass(frozen=True, slots=True)
class Structured:
    """Data that fits the schema, and the answer it stood in; its usage counts the repair too."""

    data: Any
    result: ChatResult


async def ask_for_data(
    model: ChatModel,
    request: ChatRequest,
    schema: Mapping[str, Any],
    *,
    site: CallSite,
    on_delta: OnDelta | None = None,
    allow_truncated: bool = False,
) -> Structured:
    """Ask for a value that fits a schema.

    The provider is asked to hold the model to the schema; where it cannot, to JSON; where it cannot do that either, the
    value is looked for in the text. Whatever came is checked here, and what does not fit is sent back once with what is
    wrong.

    Raises:
        NodeError: `invalid_output`, `output_truncated`, `refused`, or as `ChatModel.chat`.
    """
    wrapped = not _is_object(schema)
    wanted = _wrap(schema) if wrapped else dict(schema)
    asked = request.model_copy(update={"output_schema": wanted})
    result = await model.chat(asked, site=site, on_delta=on_delta)
    for repaired in (False, True):
        check_complete(result, allow_truncated=allow_truncated)
        found, data, problems = _fitting(result.text, wanted)
        if found:
            return Structured(data[_WRAPPED] if wrapped else data, result)
        if repaired:
            raise NodeError(_complaint(result, problems), kind="invalid_output", retryable=False)
        again = asked.model_copy(
            update={"messages": (*asked.messages, result.message(), _repair(result, problems))}
        )
        used = result.usage
        result = await model.chat(again, site=site)
        result = result.model_copy(update={"usage": used + result.usage})
    raise AssertionError("the loop returns or raises")


def check_complete(result: ChatResult, *, allow_truncated: bool) -> None:
    """Raise where an answer is a refusal, or only the beginning of one.

    Raises:
        NodeError: `refused`, `output_truncated`.
    """
    who = _who(result)
    if result.refusal is not None or result.finish_reason == "content_filter":
        said = result.refusal or "a filter of the provider stopped the answer"
        raise NodeError(f"{who} refused: {said}", kind="refused", retryable=False)
    if result.finish_reason == "length" and not allow_truncated:
        raise NodeError(
            f"the answer of {who} was cut off after {result.usage.output_tokens} tokens; raise max_tokens, or set"
            " allow_truncated to take what there is",
            kind="output_truncated", retryable=False,
        )  # fmt: skip


def check_said(result: ChatResult) -> None:
    """Raise where an answer holds no word and calls no tool.

    Raises:
        NodeError: `empty_answer`.
    """
    if not result.text.strip() and not result.tool_calls:
        raise NodeError(
            f"{_who(result)} ended with {result.finish_reason!r} and said nothing; ask again, or another model",
            kind="empty_answer",
        )


def _who(result: ChatResult) -> str:
    return f"model {result.provider}/{result.model}"


def _fitting(text: str, schema: Mapping[str, Any]) -> tuple[bool, Any, list[Problem]]:
    """The first value in a text that fits; else what is wrong with the first one."""
    first: list[Problem] = []
    for value in candidates(text):
        problems = problems_of(schema, value, "answer", code="output")
        if not problems:
            return True, value, []
        first = first or problems
    return False, None, first


def _repair(result: ChatResult, problems: list[Problem]) -> Message:
    if not result.text.strip():
        said = "You gave no answer."
    elif not problems:
        said = "That is not JSON."
    else:
        lines = [f"- {problem.field}: {problem.message}" for problem in problems[:_SHOWN]]
        said = "That does not fit the JSON Schema:\n" + "\n".join(lines)
    return Message(role="user", content=f"{said}\nAnswer again with the corrected JSON object only.")


def _complaint(result: ChatResult, problems: list[Problem]) -> str:
    who = f"model {result.provider}/{result.model}"
    if not problems:
        return f"{who} gave no JSON, after one repair too; it wrote: {result.text[:200]!r}"
    shown = "; ".join(f"{problem.field}: {problem.message}" for problem in problems[:3])
    return f"the answer of {who} does not fit the schema, after one repair too: {shown}"


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object" or ("type" not in schema and "properties" in schema)


def _wrap(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object around a schema of anything else: providers take objects only."""
    inner = {name: value for name, value in schema.items() if name != "$defs"}
    made: dict[str, Any] = {
        "type": "object", "properties": {_WRAPPED: inner}, "required": [_WRAPPED], "additionalProperties": False,
    }  # fmt: skip
    return made | ({"$defs": schema["$defs"]} if "$defs" in schema else {})
