"""Filters that work on text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from minijinja import Markup

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import charge, checked_text, reserve_items, reserve_text
from interlace.engine.expressions.values import described, to_text

_HASHES: Final = {
    name: getattr(hashlib, name) for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
}


def text_of(value: object, name: str) -> str:
    """Give the text of a scalar.

    Raises:
        ExpressionError: null, a list or a mapping, which a text filter does not take.
    """
    if isinstance(value, str):
        # Text marked as HTML would escape what it is combined with.
        return value if value.__class__ is str else str.__str__(value)
    if isinstance(value, bool | int | float):
        return to_text(value)
    raise ExpressionError(f"the filter '{name}' takes text, not {described(value)}", kind="wrong_type")


def count_of(value: object, name: str) -> int:
    """Give a whole number that an argument is."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ExpressionError(
        f"the filter '{name}' takes a whole number, not {described(value)}", kind="wrong_type"
    )


def _recased(text: str) -> str:
    """Pay for changing case: beyond ASCII it takes twelve bytes a character while it works."""
    if not text.isascii():
        charge(len(text) * 12)
    return text


def upper(value: Any) -> str:
    """Upper case."""
    return checked_text(_recased(text_of(value, "upper")).upper())


def lower(value: Any) -> str:
    """Lower case."""
    return checked_text(_recased(text_of(value, "lower")).lower())


def trim(value: Any, chars: Any = None) -> str:
    """Without white space, or the given characters, at both ends."""
    return text_of(value, "trim").strip(None if chars is None else text_of(chars, "trim"))


def string(value: Any) -> str:
    """The text of any value: JSON for lists and mappings."""
    return checked_text(to_text(value))


def replace(value: Any, old: Any, new: Any, count: Any = -1) -> str:
    """With every `old` (or the first `count`) replaced by `new`."""
    text, before, after = text_of(value, "replace"), text_of(old, "replace"), text_of(new, "replace")
    limit = count_of(count, "replace")
    if len(after) > len(before):
        found = text.count(before)
        found = found if limit < 0 else min(found, limit)
        reserve_text(len(text) + found * (len(after) - len(before)))
    return checked_text(text.replace(before, after, limit))


def split(value: Any, separator: Any = None, maximum: Any = -1) -> list[str]:
    """The parts between separators (white space by default)."""
    text = text_of(value, "split")
    between = None if separator is None else text_of(separator, "split")
    if between == "":
        raise ExpressionError("the filter 'split' needs a separator that is not empty", kind="wrong_type")
    if len(text) > 512:  # noqa: PLR2004 - fewer characters cannot make a large list
        reserve_items(text.count(between) + 1 if between else len(text) // 2)
    return text.split(between, count_of(maximum, "split"))


def truncate(value: Any, length: Any = 255, killwords: Any = True, end: Any = "…", leeway: Any = 0) -> str:
    """At most `length` characters, `end` included; `killwords=false` cuts between words."""
    text, tail = text_of(value, "truncate"), text_of(end, "truncate")
    limit = count_of(length, "truncate")
    if len(text) <= limit + count_of(leeway, "truncate"):
        return text
    cut = text[: max(limit - len(tail), 0)]
    if not killwords and " " in cut:
        cut = cut.rsplit(" ", 1)[0]
    return (cut + tail)[: max(limit, 0)]


def center(value: Any, width: Any = 80) -> str:
    """In the middle of `width` characters."""
    text, columns = text_of(value, "center"), count_of(width, "center")
    reserve_text(columns)
    return text.center(columns)


def slugify(value: Any, separator: Any = "-") -> str:
    """Lower-case words joined by hyphens, for addresses; letters of every script are kept."""
    text = unicodedata.normalize("NFKD", text_of(value, "slugify"))
    plain = "".join(character for character in text if not unicodedata.combining(character))
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", plain).lower())
    joint = text_of(separator, "slugify")
    reserve_text(len(plain) + len(words) * len(joint))
    return joint.join(words)


def wordcount(value: Any) -> int:
    """How many words the text has."""
    return len(split(value))


def escape(value: Any) -> Markup:
    """With HTML's special characters escaped."""
    return value if isinstance(value, Markup) else Markup(html.escape(to_text(value)))


def safe(value: Any) -> Markup:
    """Marked as HTML that must not be escaped again."""
    return Markup(to_text(value))


def url_encoded(value: Any) -> str:
    """Percent-encoded for an address; a mapping becomes a query string."""
    if isinstance(value, Mapping):
        return urlencode(
            {key: to_text(part) for key, part in value.items() if part is not None}, quote_via=quote
        )
    return quote(text_of(value, "urlencode"), safe="/")


def digest(value: Any, algorithm: Any = "sha256") -> str:
    """The hash in hexadecimal; lists and mappings are hashed as JSON."""
    name = text_of(algorithm, "hash").lower().replace("-", "")
    if name not in _HASHES:
        raise ExpressionError(f"no hash {algorithm!r}; known: {', '.join(_HASHES)}", kind="unknown_hash")
    return str(_HASHES[name](to_text(value).encode()).hexdigest())


def b64encode(value: Any, urlsafe: Any = False) -> str:
    """The UTF-8 bytes in base 64."""
    data = to_text(value).encode()
    return checked_text((base64.urlsafe_b64encode(data) if urlsafe else base64.b64encode(data)).decode())


def b64decode(value: Any) -> str:
    """The UTF-8 text that base 64 (either alphabet, padding optional) stands for."""
    text = text_of(value, "b64decode").strip().translate({ord("-"): "+", ord("_"): "/"})
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        return data.decode()
    except (binascii.Error, ValueError) as error:
        raise ExpressionError(
            f"the filter 'b64decode' got text that is not base 64 of UTF-8: {error}"
        ) from error
