"""`SKILL.md`: read and written, and a skill as an agent reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlace.engine.errors import NodeError
from interlace.resources import front_matter
from interlace.resources.skills.definition import WRONG, Skill, SkillFile, read_definition

_KNOWN = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
MAX_EMBEDDED = 60_000
"""Characters of files that stand in the text of a skill; what is longer is named alone."""


def parse(text: str, files: Iterable[SkillFile] = (), *, folder: str | None = None) -> Skill:
    """The skill of a `SKILL.md`; where it has no name, the folder's.

    Raises:
        NodeError: `skill_definition`.
    """
    front, body = front_matter.split(text, kind=WRONG)
    tools = front.get("allowed-tools")
    made: dict[str, Any] = {
        "name": front.get("name", folder), "description": front.get("description"), "body": body,
        "license": front.get("license"), "compatibility": front.get("compatibility"),
        "allowed_tools": " ".join(map(str, tools)) if isinstance(tools, list) else tools,
        "metadata": front.get("metadata") or {},
        "extra": {key: value for key, value in front.items() if key not in _KNOWN},
    }  # fmt: skip
    missing = [key for key in ("name", "description") if made[key] is None]
    if missing:
        raise NodeError(
            f"the front matter of SKILL.md has no {' and no '.join(missing)}", kind=WRONG, retryable=False
        )
    return read_definition({**made, "files": tuple(files)})


def write(skill: Skill) -> str:
    """The `SKILL.md` of a skill."""
    front: dict[str, Any] = {
        "name": skill.name, "description": skill.description, "license": skill.license,
        "compatibility": skill.compatibility, "metadata": skill.metadata or None, "allowed-tools": skill.allowed_tools,
        **{key: value for key, value in skill.extra.items() if key not in _KNOWN},
    }  # fmt: skip
    return front_matter.join({key: value for key, value in front.items() if value is not None}, skill.body)


def whole(skill: Skill) -> str:
    """The skill as an agent reads it: the instructions, then the texts of its files; what is too long is named alone."""
    parts = [f"# Skill: {skill.name}\n\n{skill.description}", skill.body]
    left = MAX_EMBEDDED
    for file in skill.files:
        if file.text is None:
            parts.append(f"## File {file.path} ({file.size:,} bytes, not text)")
        elif len(file.text) > left:
            parts.append(f"## File {file.path} ({file.size:,} bytes, too long to be shown here)")
        else:
            left -= len(file.text)
            parts.append(f"## File {file.path}\n\n{_fenced(file.path, file.text)}")
    return "\n\n".join(part for part in parts if part)


def _fenced(path: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{path.rpartition('.')[2] if '.' in path else ''}\n{text}{end}{fence}"
