"""Properties that all Office formats have."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def core_properties(properties: Any) -> dict[str, Any]:
    """Title, author and dates of docx, pptx or xlsx."""
    last = getattr(properties, "last_modified_by", None) or getattr(properties, "lastModifiedBy", None)
    return {
        "title": text(properties.title),
        "author": text(getattr(properties, "author", None) or getattr(properties, "creator", None))
        or text(last),
        "subject": text(properties.subject),
        "keywords": text(properties.keywords),
        "created": moment(properties.created),
        "modified": moment(properties.modified),
    }


def text(value: object) -> str | None:
    """A text without surrounding blanks, None when it is empty."""
    return (str(value).strip() or None) if value is not None else None


def moment(value: object) -> str | None:
    """ISO 8601 of a date."""
    return value.isoformat() if isinstance(value, datetime) else None
