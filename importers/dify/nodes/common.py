"""What several kinds of Dify nodes share: outputs by a table, error policies, model settings, JSON Schemas of types."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from interlace.importers.build import Step
from interlace.importers.dify.context import Context
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.system import FILE
from interlace.importers.expressions import Ref, is_simple, path
from interlace.importers.foreign import Json, at, listed, mapping, number, objects, text, whole

Output = Callable[[DifyNode, Sequence[str], Context], Ref]
_TYPES: Final[dict[str, Json]] = {
    "string": {"type": "string"}, "number": {"type": "number"}, "integer": {"type": "integer"}, "boolean": {"type": "boolean"},
    "bool": {"type": "boolean"}, "object": {"type": "object"}, "file": FILE, "secret": {"type": "string"}, "any": {},
    "select": {"type": "string"},
}  # fmt: skip
_FAILURE: Final = {"error_message": "message", "error_type": "type"}
_KNOWN_SETTINGS: Final = frozenset({"temperature", "max_tokens", "stop"})


def outputs(table: Mapping[str, tuple[str, ...]], *, texts: frozenset[str] = frozenset({"text"})) -> Output:
    """How a kind's outputs are read: Dify's name → the keys after our id.

    Args:
        table: the names; one that is missing is read under its own name.
        texts: Dify's names of the outputs that are certainly texts.
    """

    def output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
        del ctx
        if not keys:
            return Ref(node.name)
        if keys[0] in _FAILURE:
            return Ref(f"{path(node.name, 'error', _FAILURE[keys[0]])} | default('')", is_text=True)
        found = table.get(keys[0], (keys[0],))
        return Ref(path(node.name, *found, *keys[1:]), is_text=keys[0] in texts and len(keys) == 1)

    return output


def apply_policies(step: Step, node: DifyNode, ctx: Context) -> None:
    """Error strategy, default values and retries of a node."""
    strategy = text(node.data.get("error_strategy"))
    if strategy == "fail-branch":
        step.on_error = "branch"
    elif strategy == "default-value":
        step.on_error = "continue"
        values: Json = {}
        for entry in objects(node.data.get("default_value")):
            _put(
                values, ctx.kind(node).output(node, [text(entry.get("key"))], ctx), node.name, _default(entry)
            )
        step.default_output = values or None
    retry = mapping(node.data.get("retry_config"))
    if retry.get("retry_enabled") is True:
        delay = (number(retry.get("retry_interval")) or 0) / 1000
        step.retry = {
            "max": max(0, min(whole(retry.get("max_retries")) or 0, 100)),
            **({"delay": delay} if delay > 0 else {}), "backoff": 1,
        }  # fmt: skip


def _put(values: Json, ref: Ref, root: str, value: Any) -> None:
    if not is_simple(ref.code) or not ref.code.startswith(f"{root}."):
        return
    keys = ref.code.removeprefix(f"{root}.").split(".")
    for key in keys[:-1]:
        values = values.setdefault(key, {})
    values[keys[-1]] = value


def _default(entry: Json) -> Any:
    value, kind = entry.get("value"), text(entry.get("type"))
    if isinstance(value, str) and kind not in ("string", ""):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def model_settings(data: Any, node: DifyNode, ctx: Context) -> Json:
    """The settings of a model that our nodes have; which model answers is a role's business here."""
    model = mapping(data)
    named = "/".join(
        part
        for part in (text(model.get("provider")), text(model.get("name")) or text(model.get("model")))
        if part
    )
    if named:
        ctx.say(
            "changed", "model_role",
            f"Dify asks {named}; here the model of the node's role answers. Write `model:` at the node for another.", node,
        )  # fmt: skip
    given = mapping(model.get("completion_params"))
    made: Json = {}
    temperature = number(given.get("temperature"))
    if temperature is not None:
        made["temperature"] = max(0, min(temperature, 2))
    longest = whole(given.get("max_tokens"))
    if longest is not None and longest > 0:
        made["max_tokens"] = longest
    stop = [one for one in listed(given.get("stop")) if isinstance(one, str) and one]
    if stop:
        made["stop"] = stop[:4]
    rest = sorted(
        name
        for name, value in given.items()
        if name not in _KNOWN_SETTINGS and value not in (None, "", 0, False)
    )
    if rest:
        ctx.say(
            "changed",
            "model_settings",
            f"Settings of the model that have no counterpart were left out: {', '.join(rest)}.",
            node,
        )
    return made


def schema_of(kind: Any, *, children: Any = None) -> Json:
    """The JSON Schema of one of Dify's types, as `string` or `array[object]`."""
    name = text(kind).strip().lower()
    if name.startswith("array"):
        inner = name.removeprefix("array").strip("[]")
        return {"type": "array", **({"items": schema_of(inner)} if inner and inner != "any" else {})}
    schema = dict(_TYPES.get(name, {}))
    fields = mapping(children)
    if name == "object" and fields:
        schema["properties"] = {
            key: schema_of(at(child, "type"), children=at(child, "children")) for key, child in fields.items()
        }
    return schema


def nullable(schema: Json) -> Json:
    """The schema with null allowed: Dify lets a typed output be none."""
    kind = schema.get("type")
    return {**schema, "type": [kind, "null"]} if isinstance(kind, str) else schema
