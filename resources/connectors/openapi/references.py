"""`$ref`: what it points to inside the description. Nothing outside is ever fetched."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from interlace.resources.connectors.schemas import unescaped

MAX_HOPS = 32


class Unresolved(Exception):  # noqa: N818 - a finding on its way into the report
    """A reference leads nowhere, in a circle, or out of the description."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class References:
    """Resolves references of one description."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        base = root.get("$self") or root.get("$id")
        self._base = base if isinstance(base, str) else ""

    def pointer(self, ref: str) -> str:
        """The JSON pointer of a reference to this description.

        Raises:
            Unresolved: it leads elsewhere.
        """
        document, _, fragment = ref.partition("#")
        if document and document != self._base.partition("#")[0]:
            raise Unresolved(
                "remote_reference",
                f"it refers to {ref!r}, which is another file; put it into this one and import again.",
            )
        if fragment and not fragment.startswith("/"):
            raise Unresolved("anchor", f"it refers to the anchor {ref!r}, which cannot be followed.")
        return unquote(fragment)

    def at(self, pointer: str) -> Any:
        """The value at a JSON pointer.

        Raises:
            Unresolved: there is none.
        """
        found: Any = self.root
        for step in pointer.split("/")[1:]:
            key = unescaped(step)
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                raise Unresolved("missing_reference", f"it refers to '#{pointer}', which is not there.")
        return found

    def follow(self, value: Any) -> dict[str, Any]:
        """The object itself where it is a reference (to a parameter, a body, a path item, …), else as it is.

        What stands beside `$ref` overrides what is found, as 3.1 allows for summaries and descriptions.

        Raises:
            Unresolved: it leads nowhere or in a circle, or no object is there.
        """
        beside: dict[str, Any] = {}
        for _ in range(MAX_HOPS):
            if not isinstance(value, dict):
                raise Unresolved("malformed", f"an object is needed, here is {type(value).__name__}.")
            ref = value.get("$ref")
            if not isinstance(ref, str):
                return {**value, **beside} if beside else value
            beside = {key: entry for key, entry in value.items() if key != "$ref"} | beside
            value = self.at(self.pointer(ref))
        raise Unresolved("circular_reference", f"its reference {ref!r} leads in a circle.")
