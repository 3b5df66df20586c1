"""Values as text in paths, queries, headers, cookies and forms, by OpenAPI's styles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from interlace.engine.errors import NodeError
from interlace.resources.connectors.definition import Encoding, Parameter
from interlace.resources.http.body import field_text

_RESERVED = ":/?#[]@!$&'()*+,;="
_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "|"}


def path_value(parameter: Parameter, value: Any) -> str:
    """A value in a path, percent-encoded.

    Raises:
        NodeError: `bad_parameter`: it is empty, or would change the path (`.`, `..`).
    """
    style = parameter.style or "simple"
    explode = bool(parameter.explode)
    if parameter.media_type is not None:
        return _quoted(field_text(value))
    if style == "matrix":
        text = _matrix(parameter.wire, value, explode=explode)
    elif style == "label":
        text = "." + _joined(value, "." if explode else ",", explode=explode, reserved=False)
    else:
        text = _joined(value, ",", explode=explode, reserved=parameter.allow_reserved)
    if text in ("", ".", "..") or "/../" in f"/{text}/":
        raise NodeError(
            f"parameter {parameter.name!r} is {value!r}, which a path cannot hold.",
            kind="bad_parameter",
            retryable=False,
        )
    return text


def query_pairs(parameter: Parameter, value: Any) -> list[str]:
    """`name=value` pairs of a query parameter, percent-encoded."""
    if parameter.media_type is not None:
        return [f"{_quoted(parameter.wire)}={_quoted(field_text(value), reserved=parameter.allow_reserved)}"]
    return list(
        styled_pairs(
            parameter.wire,
            value,
            parameter.style or "form",
            parameter.explode,
            reserved=parameter.allow_reserved,
        )
    )


def querystring(parameter: Parameter, value: Any) -> str:
    """The whole query string out of one value."""
    if parameter.media_type is not None and "urlencoded" not in parameter.media_type:
        return _quoted(value if isinstance(value, str) else field_text(value))
    if isinstance(value, str):
        return _quoted(value, reserved=True)
    if not isinstance(value, dict):
        raise _no_object(parameter.name)
    return "&".join(pair for key, entry in value.items() for pair in styled_pairs(key, entry, "form", None))


def header_value(parameter: Parameter, value: Any) -> str:
    """The value of a header."""
    if parameter.media_type is not None:
        return field_text(value)
    return _joined(value, ",", explode=bool(parameter.explode), plain=True)


def cookie_value(parameter: Parameter, value: Any) -> str:
    """The value of a cookie, encoded so that it ends where it should."""
    text = (
        field_text(value)
        if parameter.media_type is not None
        else _joined(value, ",", explode=False, plain=True)
    )
    return quote(text, safe="!#$&'()*+-./:<=>?@[]^_`{|}~")


def form_pairs(name: str, value: Any, encoding: Encoding | None) -> list[str]:
    """`name=value` pairs of a form's field: lists repeat the name, objects are JSON unless a style is set."""
    if encoding is not None and (encoding.style is not None or encoding.explode is not None):
        return list(
            styled_pairs(
                name, value, encoding.style or "form", encoding.explode, reserved=encoding.allow_reserved
            )
        )
    values = value if isinstance(value, list) else [value]
    return [f"{_quoted(name)}={_quoted(field_text(entry))}" for entry in values if entry is not None]


def styled_pairs(
    name: str, value: Any, style: str, explode: bool | None, *, reserved: bool = False
) -> Iterator[str]:
    """`name=value` pairs in one style; null is left out."""
    explode = style == "form" if explode is None else explode
    if value is None:
        return
    if style == "deepObject" and isinstance(value, (dict, list)):
        yield from _deep(_quoted(name), value, reserved=reserved)
    elif isinstance(value, dict):
        yield from _object(name, value, style, explode=explode, reserved=reserved)
    elif isinstance(value, list):
        texts = [_quoted(field_text(entry), reserved=reserved) for entry in value if entry is not None]
        if explode:
            yield from (f"{_quoted(name)}={text}" for text in texts)
        elif texts:
            yield f"{_quoted(name)}=" + _DELIMITERS.get(style, ",").join(texts)
    else:
        yield f"{_quoted(name)}={_quoted(field_text(value), reserved=reserved)}"


def _object(name: str, value: dict[str, Any], style: str, *, explode: bool, reserved: bool) -> Iterator[str]:
    pairs = [
        (_quoted(str(key)), _quoted(field_text(entry), reserved=reserved))
        for key, entry in value.items()
        if entry is not None
    ]
    if explode:
        yield from (f"{key}={text}" for key, text in pairs)
    elif pairs:
        delimiter = _DELIMITERS.get(style, ",")
        yield f"{_quoted(name)}=" + delimiter.join(part for pair in pairs for part in pair)


def _deep(name: str, value: Any, *, reserved: bool) -> Iterator[str]:
    """`filter[a][b]=1`, lists by index: servers that know this style read it so, the standard leaves it open."""
    if value is None:
        return
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _deep(f"{name}[{_quoted(str(key))}]", entry, reserved=reserved)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _deep(f"{name}[{index}]", entry, reserved=reserved)
    else:
        yield f"{name}={_quoted(field_text(value), reserved=reserved)}"


def _matrix(name: str, value: Any, *, explode: bool) -> str:
    if explode and isinstance(value, dict):
        return "".join(f";{_quoted(str(key))}={_quoted(field_text(entry))}" for key, entry in value.items())
    if explode and isinstance(value, list):
        return "".join(f";{_quoted(name)}={_quoted(field_text(entry))}" for entry in value)
    return f";{_quoted(name)}={_joined(value, ',', explode=False, reserved=False)}"


def _joined(value: Any, delimiter: str, *, explode: bool, reserved: bool = False, plain: bool = False) -> str:
    def written(entry: Any) -> str:
        text = field_text(entry)
        return text if plain else _quoted(text, reserved=reserved)

    if isinstance(value, dict):
        pairs = [(written(str(key)), written(entry)) for key, entry in value.items()]
        if explode:
            return delimiter.join(f"{key}={text}" for key, text in pairs)
        return ",".join(part for pair in pairs for part in pair)
    if isinstance(value, list):
        return delimiter.join(written(entry) for entry in value)
    return written(value)


def _quoted(text: str, *, reserved: bool = False) -> str:
    return quote(text, safe=_RESERVED.replace("&", "").replace("#", "").replace("+", "") if reserved else "")


def _no_object(name: str) -> NodeError:
    return NodeError(f"parameter {name!r} needs an object or a text.", kind="bad_parameter", retryable=False)
