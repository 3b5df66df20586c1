"""What stands in the place of something that could not be imported: a CODE node that fails and says what it was."""

from __future__ import annotations

import json
from typing import Any

_LONGEST = 20_000


def failing_code(message: str, original: str = "", *, language: str = "") -> dict[str, Any]:
    """The config of a CODE node that fails with a message; the original stands below it as a comment."""
    lines = [
        "def main(**inputs):",
        f"    raise NotImplementedError({json.dumps(message, ensure_ascii=False)})",
    ]
    if original:
        kept = original if len(original) <= _LONGEST else original[:_LONGEST] + "\n… (cut)"
        heading = f"The original{f', in {language}' if language else ''}:"
        lines += ["", "", f"# {heading}", *(f"# {line}".rstrip() for line in kept.splitlines())]
    return {"code": "\n".join(lines) + "\n"}


def settings_text(data: Any) -> str:
    """The settings of a foreign node, readable and in a stable order."""
    try:
        return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True)[:_LONGEST]
    except (TypeError, ValueError, RecursionError):
        return ""
