"""Names of actions and arguments: readable in any script, stable, never empty."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container

MAX_NAME = 64

_OTHER = re.compile(r"[^\w-]+")
_DIGEST = 8


def clean_name(text: str) -> str:
    """The text as a name: letters, digits, `_` and `-` of any script, at most 64 characters; may be empty.

    A longer text keeps its beginning and gets a digest of the whole, so that two long names stay two.
    """
    name = _OTHER.sub("_", unicodedata.normalize("NFKC", text)).strip("_-")
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - _DIGEST - 1]}_{_digest(text)}"


def action_name(method: str, path: str, given: str | None = None) -> str:
    """The name of an action: what the author gave where that leaves anything, else method and path."""
    name = clean_name(given or "")
    if name.strip("_-"):
        return name
    words = [word.strip("{}") for word in re.split(r"[/?&=]+", path) if word.strip("{}")]
    return clean_name("_".join([method.lower(), *words])) or f"action_{_digest(method + path)}"


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    number, free = 2, name
    while free in taken:
        tail = f"_{number}"
        free = name[: MAX_NAME - len(tail)] + tail
        number += 1
    return free


def ascii_name(name: str) -> str:
    """The name as model providers take it (`[A-Za-z0-9_-]`, at most 64): what is lost is made up for by a digest."""
    plain = re.sub(
        r"[^A-Za-z0-9_-]+", "_", unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    )
    plain = plain.strip("_")
    if plain == name and len(name) <= MAX_NAME:
        return name
    head = plain[: MAX_NAME - _DIGEST - 1]
    return f"{head}_{_digest(name)}" if head else f"x_{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
