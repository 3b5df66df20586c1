"""Mails (eml)."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Callable
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Any

from interlace.resources.documents.document import Position
from interlace.resources.documents.formats import html
from interlace.resources.documents.formats.text import declared, extract_text
from interlace.resources.documents.limits import DocumentFault, damaged
from interlace.resources.documents.outline import Outline

_MOST_ATTACHMENTS = 100
_UNQUOTED = re.compile(r"\bfilename=([^\s\";][^\s;]*)", re.IGNORECASE)

Nested = Callable[[bytes, str, str, Outline], None]


def extract_eml(content: bytes, outline: Outline, nested: Nested) -> None:
    """Header fields, the text (or else the HTML) of the body, then attachments that can be read.

    `nested` extracts one attachment into an outline.

    Raises:
        DocumentFault: it has no header.
    """
    message = email.message_from_bytes(content, policy=email.policy.default)
    if not message.keys():
        raise damaged("the mail has no header")
    outline.meta(_header(message))
    outline.heading(str(message["subject"] or "(no subject)"), 1, Position(section="message"))
    body = message.get_body(preferencelist=("plain", "html"))
    if body is not None:
        data = _bytes(body)
        if body.get_content_type() == "text/html":
            tree = html.parse(data)
            html.walk(tree, outline, Position(section="message"))
        else:
            extract_text(data, outline)
    names = []
    for number, part in enumerate(message.iter_attachments()):
        if number >= _MOST_ATTACHMENTS:
            outline.warnings.append(f"attachments after the first {_MOST_ATTACHMENTS} are left out")
            break
        name = _name(part, number + 1)
        names.append(name)
        _attachment(part, name, outline, nested)
    outline.meta({"attachments": names})


def _attachment(part: Any, name: str, outline: Outline, nested: Nested) -> None:
    inner = Outline(outline.limits)
    try:
        nested(_bytes(part), name, part.get_content_type(), inner)
    except DocumentFault as fault:
        outline.warnings.append(f"attachment {name!r}: {fault.message}")
        return
    outline.reset()
    place = Position(section=name)
    outline.heading(name, 1, place)
    for block in inner.blocks:
        if block.kind == "heading":
            outline.heading(block.text, block.level + 1, place)
        elif block.kind == "table":
            outline.table(block.rows, place)
        elif block.kind == "item":
            outline.item(block.text, block.level, ordered=block.ordered, position=place)
        elif block.kind == "code":
            outline.code(block.text, block.language, place)
        else:
            outline.paragraph(block.text, place)


def _bytes(part: Any) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload(0)
        return bytes(inner.as_bytes())
    content = part.get_payload(decode=True) or b""
    charset = part.get_content_charset()
    if part.get_content_maintype() == "text" and charset:
        text = declared(bytes(content), charset)
        if text is not None:
            return text.encode("utf-8", "replace")
    return bytes(content)


def _name(part: Any, number: int) -> str:
    """What an attachment is called, without folders; a name that is not quoted ends at its first slash for the parser."""
    name = str(part.get_filename() or "")
    headers = (str(value) for key, value in part.raw_items() if key.lower() == "content-disposition")
    written = _UNQUOTED.search(" ".join(headers))
    if written is not None and len(written[1]) > len(name):
        name = written[1]
    name = "".join(letter for letter in name if letter.isprintable())
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2].strip()
    return last if last.strip(". ") else f"attachment {number}"


def _header(message: EmailMessage) -> dict[str, Any]:
    created = None
    if message["date"]:
        try:
            created = parsedate_to_datetime(str(message["date"])).isoformat()
        except ValueError:
            created = str(message["date"])
    sender = str(message["from"] or "")
    return {
        "title": str(message["subject"] or ""), "author": sender, "from": sender, "to": str(message["to"] or ""),
        "cc": str(message["cc"] or ""), "created": created, "message_id": str(message["message-id"] or ""),
    }  # fmt: skip
