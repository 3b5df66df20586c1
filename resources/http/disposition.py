"""What a downloaded file is called."""

from __future__ import annotations

import mimetypes
import re
from urllib.parse import unquote, urlsplit

from interlace.resources.http.message import HttpResponse

LONGEST = 200

_EXTENDED = re.compile(r";\s*filename\*\s*=\s*([\w.-]+)'[^']*'([^;\s]+)", re.IGNORECASE)
_PLAIN = re.compile(r";\s*filename\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^;\s]+))", re.IGNORECASE)
_UNFIT = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\/]+")


def file_name(response: HttpResponse) -> str:
    """A name by Content-Disposition, else by the URL's last segment, else `download`; safe in any folder."""
    name = _declared(response.header("content-disposition") or "")
    if not name:
        name = unquote(urlsplit(response.url).path.rpartition("/")[2])
    name = _UNFIT.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip(" .")
    name = name[-LONGEST:] or "download"
    if "." not in name:
        name += mimetypes.guess_extension(response.media_type) or ""
    return name


def _declared(disposition: str) -> str:
    extended = _EXTENDED.search(disposition)
    if extended is not None:
        try:
            return unquote(extended.group(2), encoding=extended.group(1), errors="replace")
        except LookupError:
            pass
    plain = _PLAIN.search(disposition)
    if plain is None:
        return ""
    return re.sub(r"\\(.)", r"\1", plain.group(1)) if plain.group(1) is not None else plain.group(2)
