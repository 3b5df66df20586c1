"""What requests ask for besides the conversation: honoured, passed to a workflow that takes it, or refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from interlace.agents.client_tools import read_tools
from interlace.engine.document import Document
from interlace.engine.errors import NodeError
from interlace.flows.stateless import Entry
from interlace.server.openai.errors import WireError, refused

MEANS_NOTHING: Final[dict[str, tuple[Any, ...]]] = {
    "n": (1,), "logprobs": (False,), "top_logprobs": (0,), "frequency_penalty": (0,), "presence_penalty": (0,),
    "logit_bias": ({},), "seed": (), "top_p": (1,), "stop": ([], ""), "service_tier": ("auto", "default"),
    "modalities": (["text"],), "audio": (), "prediction": (), "reasoning_effort": (), "verbosity": ("medium",),
    "web_search_options": (), "functions": ([],), "function_call": ("none", "auto"), "parallel_tool_calls": (True,),
    "store": (True, False), "moderation": (), "truncation": ("disabled", "auto"), "include": ([],),
    "max_tool_calls": (), "prompt": (), "reasoning": ({},), "context_management": ([],), "prompt_cache_retention": (),
}  # fmt: skip
"""Parameters that are known and not honoured, with the values that ask for what happens anyway."""
ABOUT_THE_CALLER: Final = frozenset({
    "user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_options",
})  # fmt: skip
"""Parameters that say something to the operator and change no answer; `metadata` is kept and given back."""
_MOST_TOKENS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


@dataclass(slots=True, kw_only=True)
class Wish:
    """What is asked for, as both APIs of the format say it.

    Args:
        told: what the application says to the model.
        entries: the conversation.
        tools: the client's, as `{name, description, parameters}`.
        schema: JSON Schema that the answer is to fit.
        given: all other parameters by name.
    """

    told: str
    entries: list[Entry]
    tools: list[dict[str, Any]] = field(default_factory=list)
    schema: dict[str, Any] | None = None
    given: dict[str, Any] = field(default_factory=dict)


def asked_of(wish: Wish, document: Document | None) -> dict[str, Any]:
    """What a turn is asked for: of an agent, or of a workflow where it declares an input of that name.

    Raises:
        WireError: something is asked for that is not honoured.
    """
    inputs = {} if document is None else document.inputs.get("properties", {})
    passed = {
        name: value for name, value in wish.given.items()
        if document is not None and value is not None and name in inputs and name not in _OWN
    }  # fmt: skip
    rest = {name: value for name, value in wish.given.items() if name not in passed}
    asked: dict[str, Any] = {"inputs": passed} if passed else {}
    if wish.told:
        asked["system"] = wish.told
    _tools(wish, document, inputs, asked)
    _numbers(rest, document, asked)
    if wish.schema is not None:
        if document is not None:
            raise refused(
                "response_format", "the outputs of a workflow have the form that the workflow gives them"
            )
        asked["output_schema"] = wish.schema
    if document is not None and any(entry.files for entry in wish.entries) and "files" not in inputs:
        raise refused("messages", f"workflow {document.name!r} takes no files: it has no input `files`")
    _check_rest(rest)
    return asked


_OWN = frozenset({"message", "history", "files", "system", "tools"})


def _tools(wish: Wish, document: Document | None, inputs: Mapping[str, Any], asked: dict[str, Any]) -> None:
    choice = wish.given.get("tool_choice")
    if choice not in (None, "auto", "none"):
        raise refused("tool_choice", "which tool is called is the agent's to decide: auto or none")
    if not wish.tools or choice == "none":
        return
    if document is not None and "tools" not in inputs:
        raise refused(
            "tools", f"workflow {document.name!r} takes no tools of the client: it has no input `tools`"
            " (an AGENT node takes them as `client_tools`)",
        )  # fmt: skip
    try:
        read_tools(wish.tools)
    except NodeError as error:
        raise WireError(400, error.message, code="invalid_value", param="tools") from None
    asked["tools"] = wish.tools


def _numbers(given: Mapping[str, Any], document: Document | None, asked: dict[str, Any]) -> None:
    most = next((given[name] for name in _MOST_TOKENS if given.get(name) is not None), None)
    temperature = given.get("temperature")
    for name, value in (("max_tokens", most), ("temperature", temperature)):
        if value is None or (document is not None and name == "temperature" and value == 1):
            continue
        if document is not None:
            raise refused(
                name,
                f"the models of workflow {document.name!r} are set up in it; it has no input {name!r} to take this",
            )
        asked[name] = value


def _check_rest(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if (
            value is None
            or name in ABOUT_THE_CALLER
            or name in _MOST_TOKENS
            or name in ("temperature", "tool_choice")
        ):
            continue
        if name not in MEANS_NOTHING:
            raise WireError(
                400, f"Unrecognized request argument supplied: {name}", code="unknown_parameter", param=name
            )
        if value not in MEANS_NOTHING[name]:
            fine = " or ".join(repr(one) for one in MEANS_NOTHING[name])
            raise refused(
                name, f"{name!r} is not honoured by agents and workflows" + (f"; leave it out, or send {fine}" if fine else ""),
                "unsupported_value",
            )  # fmt: skip


def functions(tools: Sequence[Any], *, flat: bool) -> list[dict[str, Any]]:
    """The client's tools; in the Responses API their fields stand beside the type.

    Raises:
        WireError: one is no function: tools of a provider run at none of the agent's models.
    """
    found = []
    for index, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, Mapping) else None
        about = (tool if flat else tool.get("function")) if kind == "function" else None
        if not isinstance(about, Mapping) or not isinstance(about.get("name"), str):
            raise refused(
                f"tools.{index}", f"tools of type {kind!r} are not offered here: only functions, which the client carries out;"
                " agents bring their own tools", "unsupported_value",
            )  # fmt: skip
        found.append({
            "name": about["name"], "description": about.get("description") or "",
            "parameters": about.get("parameters") or {"type": "object", "properties": {}},
        })  # fmt: skip
    return found


def schema_of(form: Any, param: str, *, flat: bool) -> dict[str, Any] | None:
    """The JSON Schema that a format asks for; None for text.

    Raises:
        WireError: there is no such format.
    """
    kind = form.get("type") if isinstance(form, Mapping) else None
    if form is None or kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    about = form if flat else form.get("json_schema")
    if (
        kind != "json_schema"
        or not isinstance(about, Mapping)
        or not isinstance(about.get("schema"), Mapping)
    ):
        raise refused(param, "a format is text, json_object, or json_schema with a schema", "invalid_value")
    return dict(about["schema"])
