"""What a skill is: Markdown with a name and a description, and the files that belong to it. Nothing of it is ever run."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from interlace.engine.errors import NodeError

WRONG: Final = "skill_definition"
MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1024
MAX_BODY: Final = 200_000
MAX_FILES: Final = 200
MAX_FILE: Final = 2_000_000
MAX_TOTAL: Final = 8_000_000
MAIN: Final = "SKILL.md"
_MAX_PATH = 255
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))}
)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class SkillFile(_Part):
    """A file of a skill: a script, a reference, a template. Text where it is UTF-8, else base64."""

    path: str = Field(description="Path below the skill's folder, with `/`.")
    text: str | None = None
    base64: str | None = None
    executable: bool = Field(False, description="Kept for the export; nothing is run here.")

    @field_validator("path")
    @classmethod
    def _safe(cls, path: str) -> str:
        return safe_path(path)

    @model_validator(mode="after")
    def _one(self) -> SkillFile:
        if (self.text is None) == (self.base64 is None):
            raise ValueError("give one of text and base64")
        if self.base64 is not None:
            try:
                base64.b64decode(self.base64, validate=True)
            except (binascii.Error, ValueError):
                raise ValueError("base64 is not valid") from None
        if self.size > MAX_FILE:
            raise ValueError(f"{self.path!r} has {self.size:,} bytes; {MAX_FILE:,} are allowed")
        return self

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode() if self.text is not None else base64.b64decode(self.base64 or "")

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.content)

    @classmethod
    def of(cls, path: str, content: bytes, *, executable: bool = False) -> SkillFile:
        """A file of these bytes."""
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return cls(path=path, base64=base64.b64encode(content).decode(), executable=executable)
        return cls(path=path, text=text, executable=executable)


class Skill(_Part):
    """A skill in the Agent Skills format: what stands in `SKILL.md`, and the files beside it."""

    name: str = Field(max_length=MAX_NAME, description="What agents read it by; any script.")
    description: str = Field(
        min_length=1, max_length=MAX_DESCRIPTION, description="What it is for and when to use it."
    )
    body: str = Field("", max_length=MAX_BODY, description="The instructions, in Markdown.")
    license: str | None = Field(None, max_length=500)
    compatibility: str | None = Field(
        None, max_length=500, description="What it needs from where it is used."
    )
    allowed_tools: str | None = Field(
        None, max_length=2000, description="Tools that its author expects; it opens none."
    )
    metadata: dict[str, Any] = Field(default_factory=dict)
    extra: dict[str, Any] = Field(
        default_factory=dict, description="What else stands in the front matter; kept for the export."
    )
    files: tuple[SkillFile, ...] = Field((), max_length=MAX_FILES)

    @field_validator("name")
    @classmethod
    def _named(cls, name: str) -> str:
        return checked_name(name)

    @field_validator("description")
    @classmethod
    def _described(cls, description: str) -> str:
        if not description.strip():
            raise ValueError("a description says what the skill is for; agents choose by it")
        return description.strip()

    @model_validator(mode="after")
    def _fits(self) -> Skill:
        seen: set[str] = {MAIN.lower()}
        for file in self.files:
            if (key := file.path.lower()) in seen:
                raise ValueError(f"two files are called {file.path!r}")
            seen.add(key)
        for path in seen:
            if any(other.startswith(f"{path}/") for other in seen):
                raise ValueError(f"{path!r} is a file and a folder")
        if (total := sum(file.size for file in self.files)) > MAX_TOTAL:
            raise ValueError(f"the files have {total:,} bytes together; {MAX_TOTAL:,} are allowed")
        return self


def checked_name(name: str) -> str:
    """A name as it is kept: NFC, and usable as a folder's name everywhere.

    Raises:
        ValueError: it cannot be one.
    """
    name = unicodedata.normalize("NFC", name)
    bad = not name or name != name.strip() or not name.isprintable() or _FORBIDDEN.search(name)
    if bad or name.startswith(".") or name.endswith(".") or name.partition(".")[0].lower() in _DEVICES:
        raise ValueError(
            f'{name!r} cannot be the name of a skill: printable characters of any script, none of <>:"/\\|?*,'
            " no dot and no space at the ends"
        )
    return name


def same(name: str) -> str:
    """What two names have in common that people would take for one."""
    return unicodedata.normalize("NFKC", name).casefold()


def safe_path(path: str) -> str:
    """A relative path that stays below its folder, on every system.

    Raises:
        ValueError: it does not.
    """
    path = unicodedata.normalize("NFC", path)
    parts = path.split("/")
    fine = 0 < len(path) <= _MAX_PATH and "\\" not in path and path.isprintable()
    if not fine or any(not _safe_part(part) for part in parts):
        raise ValueError(f"{path!r} is no path below the skill's folder")
    return path


def _safe_part(part: str) -> bool:
    if part in ("", ".", "..") or part != part.strip() or part.endswith("."):
        return False
    return _FORBIDDEN.search(part) is None and part.partition(".")[0].lower() not in _DEVICES


def read_definition(definition: Mapping[str, Any] | Skill) -> Skill:
    """A definition, checked.

    Raises:
        NodeError: `skill_definition`, naming each field that is wrong.
    """
    if isinstance(definition, Skill):
        return definition
    try:
        return Skill.model_validate(definition)
    except ValidationError as error:
        said = "; ".join(
            f"{'.'.join(str(part) for part in entry['loc']) or 'skill'}: {entry['msg'].removeprefix('Value error, ')}"
            for entry in error.errors()
        )
        raise NodeError(f"this is no skill: {said}", kind=WRONG, retryable=False) from None
