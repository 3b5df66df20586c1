"""Skills as folders and zip files, read as if an enemy had packed them. Nothing is unpacked to disk, nothing is run."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from interlace.engine.errors import NodeError
from interlace.resources.skills.definition import (
    MAIN,
    MAX_FILE,
    MAX_FILES,
    MAX_TOTAL,
    WRONG,
    Skill,
    SkillFile,
    safe_path,
)
from interlace.resources.skills.markdown import parse, write

MAX_SKILLS = 100
MAX_ARCHIVE = 20_000_000
"""Bytes of a zip file, and of everything in it together."""
_ENTRIES = 5_000
_PIECE = 1 << 16
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "__MACOSX", ".DS_Store", "Thumbs.db", "node_modules"}
)
_EXECUTABLE = 0o111
_MEMBER_TIME = (2020, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Found:
    content: bytes
    executable: bool


def read_any(content: bytes, *, name: str = "") -> list[Skill]:
    """The skills of a zip file, or of one `SKILL.md`.

    Args:
        content: the bytes.
        name: the file's name, whose stem names a skill that has no name of its own.

    Raises:
        NodeError: `skill_definition`: it is neither, or holds what it must not.
    """
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return read_zip(content, name=name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong("the file is neither a zip file nor a text of Markdown") from None
    return [parse(text, folder=None if name in ("", MAIN) else Path(name).stem)]


def read_zip(content: bytes, *, name: str = "") -> list[Skill]:
    """The skills of a zip file: every folder with a `SKILL.md`. Sizes that the zip states are not trusted.

    Raises:
        NodeError: `skill_definition`: it is damaged or encrypted, unpacks to too much, leads out of its folder, or
            holds links.
    """
    if len(content) > MAX_ARCHIVE:
        raise _wrong(f"the zip file has {len(content):,} bytes; {MAX_ARCHIVE:,} are allowed")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = _members(archive)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        raise _wrong(f"the zip file cannot be read ({error})") from None
    return _skills(found, Path(name).stem or None)


def read_folder(folder: Path) -> list[Skill]:
    """The skills of a folder on this machine: itself, or every folder below it with a `SKILL.md`. Links are refused.

    Raises:
        NodeError: `skill_definition`.
    """
    found: dict[str, _Found] = {}
    left = MAX_ARCHIVE
    try:
        for path in _walk(folder):
            if len(found) >= _ENTRIES:
                raise _wrong(f"{str(folder)!r} holds more than {_ENTRIES:,} files")
            size = path.stat().st_size
            if (left := left - size) < 0:
                raise _wrong(f"{str(folder)!r} holds more than {MAX_ARCHIVE:,} bytes")
            mode = path.stat().st_mode
            found[path.relative_to(folder).as_posix()] = _Found(path.read_bytes(), bool(mode & _EXECUTABLE))
    except OSError as error:
        raise _wrong(f"{str(error.filename or folder)!r} cannot be read: {error.strerror or error}") from None
    return _skills(found, folder.resolve().name)


def files_of(skill: Skill) -> dict[str, SkillFile]:
    """All files of the skill's folder by path, `SKILL.md` first."""
    main = SkillFile(path=MAIN, text=write(skill))
    return {MAIN: main, **{file.path: file for file in skill.files}}


def write_zip(skills: Iterable[Skill]) -> bytes:
    """A zip file with one folder a skill; the same skills give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for skill in skills:
            for path, file in files_of(skill).items():
                member = zipfile.ZipInfo(f"{skill.name}/{path}", _MEMBER_TIME)
                member.compress_type = zipfile.ZIP_DEFLATED
                member.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
                archive.writestr(member, file.content)
    return packed.getvalue()


def write_folder(skill: Skill, parent: Path) -> Path:
    """Write the skill's folder below a folder on this machine; gives it.

    Raises:
        FileExistsError: there is something of that name already.
    """
    folder = parent / skill.name
    folder.mkdir(parents=True)
    for path, file in files_of(skill).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        if file.executable:
            place.chmod(0o755)
    return folder


def _walk(folder: Path) -> Iterable[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _LEFT_OUT:
            continue
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            yield from _walk(path)
        elif stat.S_ISREG(mode):
            yield path
        else:
            raise _wrong(f"{str(path)!r} is a link or no file; a skill holds files alone")


def _members(archive: zipfile.ZipFile) -> dict[str, _Found]:
    members = archive.infolist()
    if len(members) > _ENTRIES:
        raise _wrong(f"the zip file has {len(members):,} entries; {_ENTRIES:,} are allowed")
    found: dict[str, _Found] = {}
    left = MAX_ARCHIVE
    for member in members:
        mode = member.external_attr >> 16
        if member.is_dir() or not _LEFT_OUT.isdisjoint(member.filename.split("/")):
            continue
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise _wrong(
                f"{member.filename!r} in the zip file is a link or no file; a skill holds files alone"
            )
        if member.flag_bits & 1:
            raise _wrong("the zip file is encrypted")
        try:
            path = safe_path(member.orig_filename)
        except ValueError as error:
            raise _wrong(f"in the zip file, {error}") from None
        if path in found:
            raise _wrong(f"the zip file holds {path!r} twice")
        content = _unpacked(archive, member, left)
        left -= len(content)
        found[path] = _Found(content, bool(mode & _EXECUTABLE))
    return found


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int) -> bytes:
    pieces, size = [], 0
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > min(left, MAX_FILE):
                raise _wrong(
                    f"unpacked, {member.filename!r} or the whole zip file is too large:"
                    f" {MAX_FILE:,} bytes a file and {MAX_ARCHIVE:,} together are allowed"
                )
            pieces.append(piece)
    return b"".join(pieces)


def _skills(found: Mapping[str, _Found], top: str | None) -> list[Skill]:
    roots = sorted(path.removesuffix(MAIN) for path in found if path == MAIN or path.endswith(f"/{MAIN}"))
    # A SKILL.md deeper in a skill's folder is a file of that skill.
    roots = [root for root in roots if not any(root != other and root.startswith(other) for other in roots)]
    if not roots:
        raise _wrong(f"there is no {MAIN} in it")
    if len(roots) > MAX_SKILLS:
        raise _wrong(f"it holds {len(roots)} skills; {MAX_SKILLS} are allowed at once")
    return [_skill(found, root, top) for root in roots]


def _skill(found: Mapping[str, _Found], root: str, top: str | None) -> Skill:
    inside = {path.removeprefix(root): file for path, file in found.items() if path.startswith(root)}
    main = inside.pop(MAIN)
    if len(inside) > MAX_FILES or sum(len(file.content) for file in inside.values()) > MAX_TOTAL:
        raise _wrong(
            f"the skill at {root or '/'} has more than {MAX_FILES} files, or than {MAX_TOTAL:,} bytes of them"
        )
    try:
        text = main.content.decode("utf-8-sig")
        files = [
            SkillFile.of(path, file.content, executable=file.executable)
            for path, file in sorted(inside.items())
        ]
    except UnicodeDecodeError:
        raise _wrong(f"{root}{MAIN} is not UTF-8 text") from None
    except ValueError as error:
        raise _wrong(f"the skill at {root or '/'}: {error}") from None
    folder = root.rstrip("/").rpartition("/")[2] or top
    try:
        return parse(text, files, folder=folder)
    except NodeError as error:
        raise _wrong(f"{root}{MAIN}: {error.message}") from None


def _wrong(message: str) -> NodeError:
    return NodeError(message, kind=WRONG, retryable=False)
