"""Schemas of objects as fields of HTML forms, and what was filled in as values."""

from __future__ import annotations

import html
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from starlette.datastructures import FormData, UploadFile

from interlace.engine.errors import InvalidDocument
from interlace.engine.inputs import parse_text
from interlace.engine.problems import Problem

PREFIX: Final = "f."
"""Before the names of fields, so that they never meet those of the page's own."""
_TYPES: Final = {"date": "date", "date-time": "text", "email": "email", "uri": "url", "time": "time"}
_LONG = 120
Save = Callable[[UploadFile], Awaitable[dict[str, Any]]]


def rendered(
    schema: Mapping[str, Any], values: Mapping[str, Any], problems: Mapping[str, str], *, checked: bool = True
) -> str:
    """The fields of a form; `checked` lets the browser see to what is required."""
    required = set(schema.get("required", ())) if checked else set()
    return "".join(
        _field(name, _resolved(part, schema), values.get(name, part.get("default") if isinstance(part, Mapping) else None),
               problems.get(name), required=name in required)
        for name, part in schema.get("properties", {}).items()
    )  # fmt: skip


def has_files(schema: Mapping[str, Any]) -> bool:
    """Whether a form takes uploads."""
    return any(_file_kind(_resolved(part, schema)) for part in schema.get("properties", {}).values())


def _resolved(part: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    ref = part.get("$ref") if isinstance(part, Mapping) else None
    if isinstance(ref, str) and ref.startswith("#/$defs/"):
        found = root.get("$defs", {}).get(ref.removeprefix("#/$defs/"), {})
        return {**found, **{key: value for key, value in part.items() if key != "$ref"}}
    return part if isinstance(part, Mapping) else {}


def _file_kind(schema: Mapping[str, Any]) -> str | None:
    if schema.get("format") == "file":
        return "one"
    items = schema.get("items")
    return "many" if isinstance(items, Mapping) and items.get("format") == "file" else None


def _field(name: str, schema: Mapping[str, Any], given: Any, problem: str | None, *, required: bool) -> str:
    key = html.escape(f"{PREFIX}{name}", quote=True)
    label = html.escape(str(schema.get("title") or name))
    described = []
    hint = ""
    if schema.get("description"):
        hint = f'<p class="hint" id="h-{key}">{html.escape(str(schema["description"]))}</p>'
        described.append(f"h-{key}")
    wrong = ""
    if problem is not None:
        wrong = f'<p class="wrong" id="w-{key}">{html.escape(problem)}</p>'
        described.append(f"w-{key}")
    attributes = f' id="{key}" name="{key}"' + (" required" if required else "")
    if described:
        attributes += f' aria-describedby="{" ".join(described)}"'
    if problem is not None:
        attributes += ' aria-invalid="true"'
    star = " *" if required else ""
    if schema.get("type") == "boolean" and "enum" not in schema:
        mark = " checked" if given is True else ""
        box = f'<input type="checkbox" value="true"{attributes.replace(" required", "")}{mark}>'
        return f'<input type="hidden" name="{key}" value="false"><label>{box} {label}</label>{hint}{wrong}'
    return f'<label for="{key}">{label}{star}</label>{hint}{_control(schema, given, attributes)}{wrong}'


def _control(schema: Mapping[str, Any], given: Any, attributes: str) -> str:
    kind = _file_kind(schema)
    if kind is not None:
        return f'<input type="file"{attributes}{" multiple" if kind == "many" else ""}>'
    if "enum" in schema:
        return _select(schema["enum"], given, attributes)
    text = html.escape(_text(given), quote=True)
    name = schema.get("type")
    if name in ("number", "integer"):
        limits = "".join(
            f' {attribute}="{schema[key]}"'
            for key, attribute in (("minimum", "min"), ("maximum", "max"))
            if key in schema
        )
        step = "1" if name == "integer" else "any"
        return f'<input type="number" step="{step}" value="{text}"{limits}{attributes}>'
    if name == "string" and (
        schema.get("format") in _TYPES or int(schema.get("maxLength", _LONG + 1)) <= _LONG
    ):
        length = f' maxlength="{schema["maxLength"]}"' if "maxLength" in schema else ""
        return f'<input type="{_TYPES.get(schema.get("format", ""), "text")}" value="{text}"{length}{attributes}>'
    return f"<textarea{attributes}>{text}</textarea>"


def _select(choices: Sequence[Any], given: Any, attributes: str) -> str:
    options = [] if " required" in attributes and given is not None else ['<option value=""></option>']
    for choice in choices:
        text = html.escape(_text(choice), quote=True)
        mark = " selected" if choice == given else ""
        options.append(f'<option value="{text}"{mark}>{text}</option>')
    return f"<select{attributes}>{''.join(options)}</select>"


def _text(given: Any) -> str:
    return "" if given is None else given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


async def filled(
    schema: Mapping[str, Any], form: FormData, save: Save
) -> tuple[dict[str, Any], dict[str, str], dict[str, Any]]:
    """What was filled in: values by name, problems by name, and what the fields show again. Empty fields are left out."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    shown: dict[str, Any] = {}
    for name, part in schema.get("properties", {}).items():
        kind = _file_kind(_resolved(part, schema))
        given = [
            entry for entry in form.getlist(f"{PREFIX}{name}") if not isinstance(entry, str) or entry != ""
        ]
        if kind is not None:
            uploads = [entry for entry in given if isinstance(entry, UploadFile) and entry.filename]
            if uploads:
                saved = [await save(upload) for upload in uploads]
                values[name] = saved if kind == "many" else saved[0]
            continue
        texts = [entry for entry in given if isinstance(entry, str)]
        if not texts:
            continue
        shown[name] = texts[-1]
        try:
            values[name] = shown[name] = parse_text(schema, name, texts[-1].replace("\r\n", "\n"))
        except InvalidDocument as error:
            problems[name] = error.problems[0].message
    return values, problems, shown


def by_field(problems: Sequence[Problem], root: str) -> tuple[dict[str, str], list[str]]:
    """Problems by the field that they are about, and those of none."""
    fields: dict[str, str] = {}
    others: list[str] = []
    for problem in problems:
        place = (problem.field or "").removeprefix(root).lstrip(".")
        name = place.partition(".")[0].partition("[")[0]
        if name:
            fields.setdefault(name, problem.message)
        else:
            others.append(problem.message)
    return fields, others
