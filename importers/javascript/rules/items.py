"""n8n's items: objects with their data under `json`."""

from typing import Any

from interlace.importers.javascript.rules.values import Error, js_missing, js_plain, undefined


def js_wrapped(entries: Any) -> list[Any]:
    """Data as items."""
    return [{"json": entry} for entry in entries or []]


def js_items(result: Any) -> list[Any]:
    """The data of what a program returned: items, data, or a list of either."""
    if js_missing(result):
        return []
    made = []
    for entry in result if isinstance(result, list) else [result]:
        if not isinstance(entry, dict):
            raise Error("The program has to return objects")
        made.append(js_plain(entry["json"] if isinstance(entry.get("json"), dict) else entry))
    return made


def js_first(entries: Any) -> Any:
    return entries[0] if entries else undefined


def js_last(entries: Any) -> Any:
    return entries[-1] if entries else undefined
