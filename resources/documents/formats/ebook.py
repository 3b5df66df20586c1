"""Books (epub)."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from interlace.resources.documents.archive import open_archive, read
from interlace.resources.documents.document import Position
from interlace.resources.documents.formats import html
from interlace.resources.documents.limits import damaged, encrypted, too_large
from interlace.resources.documents.outline import Outline

_ENCRYPTION = "META-INF/encryption.xml"
_TEXTS = (".xhtml", ".html", ".htm", ".xml", ".opf", ".ncx")
_DC = "{http://purl.org/dc/elements/1.1/}"


def extract_epub(content: bytes, outline: Outline) -> None:
    """Chapters in the order of the spine.

    Raises:
        DocumentFault: damaged, encrypted (DRM) or too large.
    """
    with open_archive(content, outline.limits) as archive:
        names = set(archive.namelist())
        if locked := _locked(archive, names):
            raise encrypted(f"the book is protected: {locked!r} and others in it are encrypted")
        container = xml(read(archive, "META-INF/container.xml"), "META-INF/container.xml")
        root = next((e.get("full-path") for e in container.iter("{*}rootfile")), None)
        if not root:
            raise damaged("the book names no package file")
        package = xml(read(archive, root), root)
        outline.meta(_metadata(package))
        folder = posixpath.dirname(root)
        files = {i.get("id"): i.get("href") or "" for i in package.iter("{*}item")}
        spine = [files.get(item.get("idref"), "") for item in package.iter("{*}itemref")]
        if len(spine) > outline.limits.pages:
            raise too_large(f"{len(spine):,} chapters; {outline.limits.pages:,} are allowed")
        outline.meta({"pages": len(spine)})
        for number, href in enumerate(spine, 1):
            name = posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))
            if name not in names:
                outline.warnings.append(f"chapter {number} ({href!r}) is missing in the book")
                continue
            _chapter(archive.read(name), name, outline)


def _locked(archive: ZipFile, names: set[str]) -> str | None:
    """The first text that is encrypted, if any is; fonts are often mangled, and nobody reads them here."""
    if _ENCRYPTION not in names:
        return None
    listed = xml(read(archive, _ENCRYPTION), _ENCRYPTION)
    uris = [unquote(e.get("URI") or "") for e in listed.iter("{*}CipherReference")]
    return next((uri for uri in uris if uri.lower().endswith(_TEXTS)), None)


def _chapter(content: bytes, name: str, outline: Outline) -> None:
    tree = html.parse(content)
    title = tree.findtext(".//title") or posixpath.basename(name)
    outline.reset()
    body = tree.find("body")
    html.walk(tree if body is None else body, outline, Position(section=" ".join(title.split())))


def _metadata(package: Any) -> dict[str, Any]:
    def first(name: str) -> str | None:
        return next((e.text.strip() for e in package.iter(_DC + name) if e.text and e.text.strip()), None)

    authors = [e.text.strip() for e in package.iter(_DC + "creator") if e.text]
    return {
        "title": first("title"), "author": ", ".join(authors), "created": first("date"), "publisher": first("publisher"),
        "declared_language": first("language"), "description": first("description"),
    }  # fmt: skip


def xml(content: bytes, name: str) -> Any:
    """The tree of an XML file, no entity resolved and nothing fetched.

    Raises:
        DocumentFault: it is not well formed.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise damaged(f"{name!r} in the file is broken XML ({error})") from None
