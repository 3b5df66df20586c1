"""Packed formats (docx, xlsx, pptx, odt, epub): read with limits before any library sees them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator

from interlace.resources.documents.limits import DocumentFault, DocumentLimits, damaged, encrypted, too_large

_PIECE = 1 << 16
_XML = (".xml", ".rels", ".xhtml", ".opf", ".ncx", ".html", ".htm")
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_HEAD = 1 << 16


def open_archive(content: bytes, limits: DocumentLimits) -> zipfile.ZipFile:
    """The archive, after every member was unpacked once and counted.

    Sizes in the directory are not trusted: a bomb lies in them.

    Raises:
        DocumentFault: damaged, encrypted, too large, or it declares XML entities.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise damaged(f"the file is a broken archive ({error})") from None
    if len(members) > limits.entries:
        raise too_large(f"the file packs {len(members):,} entries; {limits.entries:,} are allowed")
    left = limits.unpacked_mb * 1_000_000
    for member in members:
        if member.flag_bits & 1:
            raise encrypted("the file is an encrypted archive")
        left -= _measure(archive, member, left, limits)
    return archive


def _measure(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int, limits: DocumentLimits) -> int:
    size = 0
    is_xml = member.filename.lower().endswith(_XML)
    try:
        with archive.open(member) as stream:
            head = stream.read(_HEAD)
            size = len(head)
            if is_xml and _ENTITY.search(head):
                raise DocumentFault(
                    "document_unsafe",
                    f"{member.filename!r} in the file declares XML entities, which documents do not need and attacks do;"
                    " it is not read",
                )
            while size <= left and (piece := stream.read(_PIECE)):
                size += len(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise damaged(f"{member.filename!r} in the file cannot be unpacked ({error})") from None
    if size > left:
        raise too_large(
            f"unpacked, the file is larger than {limits.unpacked_mb:,} MB (its {len(archive.infolist())} entries"
            " expand without measure)"
        )
    return size


def members(archive: zipfile.ZipFile) -> Iterator[str]:
    """Names of the packed files."""
    yield from archive.namelist()


def read(archive: zipfile.ZipFile, name: str) -> bytes:
    """One packed file.

    Raises:
        DocumentFault: there is none of that name.
    """
    try:
        return archive.read(name)
    except KeyError:
        raise damaged(f"{name!r} is missing in the file") from None
