"""What a file is, by its content first: names and media types are what somebody claims."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath

from interlace.resources.documents.limits import DocumentFault, damaged, encrypted

BY_SUFFIX = {
    ".pdf": "pdf", ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".pptx": "pptx", ".pptm": "pptx", ".ppsx": "pptx",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".odt": "odt", ".html": "html", ".htm": "html", ".xhtml": "html",
    ".md": "markdown", ".markdown": "markdown", ".csv": "csv", ".tsv": "csv", ".txt": "text", ".text": "text",
    ".log": "text", ".epub": "epub", ".eml": "eml",
}  # fmt: skip
BY_TYPE = {
    "application/pdf": "pdf", "text/html": "html", "application/xhtml+xml": "html", "text/markdown": "markdown",
    "text/csv": "csv", "text/tab-separated-values": "csv", "text/plain": "text", "message/rfc822": "eml",
    "application/epub+zip": "epub", "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}  # fmt: skip
FORMATS = tuple(dict.fromkeys(BY_SUFFIX.values()))
_PARTS = (("word/document.xml", "docx"), ("ppt/presentation.xml", "pptx"), ("xl/workbook.xml", "xlsx"))
_MIMES = {"application/epub+zip": "epub", "application/vnd.oasis.opendocument.text": "odt"}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OTHERS = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"), (b"\x1f\x8b", "a gzip file"),
    (b"Rar!", "a RAR archive"), (b"7z\xbc\xaf", "a 7z archive"), (b"{\\rtf", "an RTF file"), (b"\x7fELF", "a program"),
    (b"MZ", "a program"), (b"BZh", "a bzip2 file"), (b"II*\0", "a TIFF image"), (b"MM\0*", "a TIFF image"),
)  # fmt: skip
_HTML = re.compile(rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)  # fmt: skip
_MAIL = re.compile(rb"\A(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*){2,}", re.MULTILINE)
_MAIL_FIELDS = re.compile(rb"^(?:from|to|subject|date|message-id|mime-version|received):", re.IGNORECASE | re.MULTILINE)  # fmt: skip
_HEAD = 4096
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""Of UTF-16 and UTF-32, texts that have zero bytes."""
_KNOWN = "pdf, docx, pptx, xlsx, odt, html, md, csv, txt, epub and eml can be read"


def sniff(content: bytes, name: str = "", media_type: str = "") -> str:
    """The format of a file.

    Raises:
        DocumentFault: empty, encrypted (an Office file with a password), or of a format that cannot be read.
    """
    if not content.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise DocumentFault("document_empty", f"the file {name!r} is empty")
    head = content[:_HEAD]
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _archive(content, name)
    if head.startswith(_OLE):
        return _ole(content, name)
    for magic, what in _OTHERS:
        if head.startswith(magic):
            raise _unsupported(name, what)
    return _textual(head, name, _claimed(name, media_type))


def _textual(head: bytes, name: str, claimed: str | None) -> str:
    if claimed in ("docx", "pptx", "xlsx", "odt", "epub", "pdf"):
        if _is_binary(head):
            raise damaged(f"the file {name!r} is called {claimed}, but its content is something else")
        claimed = None
    if _is_binary(head):
        raise _unsupported(name, "of an unknown binary format")
    if _HTML.match(head):
        return "html"
    if claimed is not None:
        return claimed
    if _MAIL.match(head) and len(_MAIL_FIELDS.findall(head)) >= 2:  # noqa: PLR2004 - one line `Date: …` is no mail
        return "eml"
    return "text"


def _claimed(name: str, media_type: str) -> str | None:
    by_name = BY_SUFFIX.get(PurePosixPath(name).suffix.lower())
    return by_name or BY_TYPE.get(media_type.partition(";")[0].strip().lower())


def _is_binary(head: bytes) -> bool:
    if head.startswith(_MARKS):
        return False
    return b"\0" in head


def _archive(content: bytes, name: str) -> str:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = set(archive.namelist())
        if "mimetype" in names and archive.getinfo("mimetype").file_size < _HEAD:
            found = _MIMES.get(archive.read("mimetype").decode("ascii", "replace").strip())
            if found is not None:
                return found
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError) as error:
        raise damaged(f"the file {name!r} is a broken archive ({error})") from None
    for part, kind in _PARTS:
        if part in names:
            return kind
    if "META-INF/container.xml" in names:
        return "epub"
    raise _unsupported(name, "an archive")


def _ole(content: bytes, name: str) -> str:
    if "EncryptedPackage".encode("utf-16-le") in content or "EncryptionInfo".encode("utf-16-le") in content:
        raise encrypted(f"the file {name!r} is protected by a password")
    raise _unsupported(name, "an old binary Office file; save it as docx, xlsx or pptx")


def _unsupported(name: str, what: str) -> DocumentFault:
    return DocumentFault("document_unsupported", f"the file {name!r} is {what}; {_KNOWN}")
