"""n8n's pagination as ours."""

from __future__ import annotations

import re
from typing import Final

from interlace.importers.foreign import Json, number, objects, text, whole
from interlace.importers.n8n.fields import Fields

_NEXT: Final = re.compile(r"^=?\s*\{\{\s*\$response\.body((?:\.\w+|\[\"?'?\w+'?\"?\])+)\s*\}\}\s*$")
_PAGE: Final = re.compile(r"\$pageCount(?:\s*\+\s*(\d+))?")
_SCALED: Final = re.compile(r"\$pageCount\s*\*\s*(\d+)|(\d+)\s*\*\s*\$pageCount")


def paging(given: Json, fields: Fields) -> Json | None:
    """The pages of a request, None where there are none or where they cannot be carried over."""
    mode = text(given.get("paginationMode"))
    if not given or mode == "off":
        return None
    limits: Json = {}
    most = whole(given.get("maxRequests"))
    if given.get("limitPagesFetched") is True and most and most > 0:
        limits["max_pages"] = most
    pause = number(given.get("requestInterval"))
    if pause and pause > 0:
        limits["delay"] = pause / 1000
    if mode == "responseContainsNextURL":
        found = _NEXT.match(text(given.get("nextURL")))
        if found is not None:
            return {"type": "next_link", "next": _jmespath(found[1]), **limits}
        _lost(fields, "the next URL is computed", given)
        return None
    return _by_parameter(given, fields, limits)


def _by_parameter(given: Json, fields: Fields, limits: Json) -> Json | None:
    for entry in objects(
        given.get("parameters", {}).get("parameters") if isinstance(given.get("parameters"), dict) else None
    ):
        value, name = text(entry.get("value")), text(entry.get("name"))
        place = {"qs": "query", "headers": "header", "body": "body"}.get(
            text(entry.get("type")) or "qs", "query"
        )
        cursor = _NEXT.match(value)
        if cursor is not None:
            return {
                "type": "cursor",
                "cursor": _jmespath(cursor[1]),
                "parameter": name,
                **({"place": place} if place != "query" else {}),
                **limits,
            }
        scaled = _SCALED.search(value)
        if scaled is not None and place == "query":
            step = int(scaled[1] or scaled[2])
            return {"type": "offset", "parameter": name, "limit": step, "limit_parameter": "limit", **limits}
        page = _PAGE.search(value)
        if page is not None and place == "query":
            return {"type": "page", "parameter": name, "start": int(page[1] or 0), **limits}
    _lost(fields, "how a page is asked for is computed", given)
    return None


def _lost(fields: Fields, why: str, given: Json) -> None:
    fields.lost(
        f"pagination {text(given.get('nextURL')) or text(given.get('paginationMode'))}",
        f"{why}; only the first page is fetched",
    )


def _jmespath(keys: str) -> str:
    names = re.findall(r"\w+", keys)
    return ".".join(name if name.isidentifier() else f'"{name}"' for name in names)
