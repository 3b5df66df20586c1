"""`secrets.<name>`, and what keeps the values that a run read out of all that it records."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from interlace.engine.errors import ExpressionError
from interlace.engine.protocols import Environment

_SHORTEST = 4
"""Shorter values are everywhere: hiding them would spoil texts and hide nothing."""


class Secrets(Mapping[str, str]):
    """The secrets of one run: read from the environment one by one, when a field needs them.

    Values that nodes reveal by other ways are told to `hide`.
    """

    def __init__(self, environment: Environment | None = None) -> None:
        self._environment = environment
        self._masks: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if self._environment is None:
            raise KeyError(name)
        value = self._environment.secret(name)
        self.hide(name, value)
        return value

    def hide(self, name: str, value: str) -> None:
        """Count a value as read: it is redacted from now on."""
        if len(value) >= _SHORTEST:
            self._masks.update(dict.fromkeys(_forms(value), f"[secrets.{name}]"))

    def __iter__(self) -> Iterator[str]:
        raise ExpressionError("secrets cannot be listed; name the one you need")

    def __len__(self) -> int:
        raise ExpressionError("secrets cannot be counted; name the one you need")

    def redact(self, value: Any) -> Any:
        """JSON data with every secret that this run has read replaced by its name; the same object when none was."""
        return self._redacted(value) if self._masks else value

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            for form, mask in self._masks.items():
                if form in value:
                    value = value.replace(form, mask)
            return value
        if isinstance(value, dict):
            return {self._redacted(key): self._redacted(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._redacted(entry) for entry in value) if value else value
        return value


def _forms(value: str) -> Iterator[str]:
    """The value as it may stand in URLs, in JSON, as hex, and inside longer base64 (`user:password`) at any offset."""
    raw = value.encode("utf-8", "surrogatepass")
    yield from (
        value,
        quote(value, safe="", errors="surrogatepass"),
        quote_plus(value, errors="surrogatepass"),
    )
    yield from (
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        raw.hex(),
        raw.hex().upper(),
    )
    for offset in range(3):
        encoded = b64encode(b"\0" * offset + raw).decode()
        whole = encoded[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]
        if len(whole) >= _SHORTEST:
            yield whole
