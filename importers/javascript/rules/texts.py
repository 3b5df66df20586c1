"""Texts."""

import base64
import hashlib
import unicodedata
import urllib.parse
from typing import Any

from interlace.importers.javascript.rules.values import js_missing, js_number, js_text, undefined


def js_words(value: Any, method: str) -> str:
    """The text that a method is called on."""
    if isinstance(value, str):
        return value
    if js_missing(value):
        raise TypeError(f"Cannot read properties of {js_text(value)} (reading '{method}')")
    raise TypeError(f"{method} is not a function")


def js_trim(words: Any) -> str:
    return js_words(words, "trim").strip()


def js_trim_start(words: Any) -> str:
    return js_words(words, "trimStart").lstrip()


def js_trim_end(words: Any) -> str:
    return js_words(words, "trimEnd").rstrip()


def js_lower(words: Any) -> str:
    return js_words(words, "toLowerCase").lower()


def js_upper(words: Any) -> str:
    return js_words(words, "toUpperCase").upper()


def js_starts_with(words: Any, start: Any, place: Any = 0) -> bool:
    return js_words(words, "startsWith").startswith(js_text(start), int(place))


def js_ends_with(words: Any, end: Any) -> bool:
    return js_words(words, "endsWith").endswith(js_text(end))


def js_substring(words: Any, start: Any = 0, end: Any = undefined) -> str:
    size = len(js_words(words, "substring"))
    first, last = (
        max(0, min(int(number), size)) if (number := js_number(place)) == number else 0
        for place in (start, size if end is undefined else end)
    )
    return str(words[min(first, last) : max(first, last)])


def js_substr(words: Any, start: Any, count: Any = undefined) -> str:
    place = int(js_number(start))
    place = max(len(words) + place, 0) if place < 0 else place
    return str(words[place:] if count is undefined else words[place : place + max(int(js_number(count)), 0)])


def js_char_at(words: Any, place: Any = 0) -> str:
    return words[int(place)] if 0 <= place < len(words) else ""


def js_char_code(words: Any, place: Any = 0) -> Any:
    return ord(words[int(place)]) if 0 <= place < len(words) else float("nan")


def js_from_char_codes(*codes: Any) -> str:
    return "".join(chr(int(code)) for code in codes)


def js_pad_start(words: Any, size: Any, by: Any = " ") -> str:
    missing = int(js_number(size)) - len(words)
    return str(words) if missing <= 0 or not by else (js_text(by) * missing)[:missing] + words


def js_pad_end(words: Any, size: Any, by: Any = " ") -> str:
    missing = int(js_number(size)) - len(words)
    return str(words) if missing <= 0 or not by else words + (js_text(by) * missing)[:missing]


def js_repeat(words: Any, count: Any) -> str:
    return js_words(words, "repeat") * int(js_number(count))


def js_normalize(words: Any, form: Any = "NFC") -> str:
    return unicodedata.normalize(form, words)


def js_locale_compare(one: Any, other: Any) -> int:
    left, right = (
        (unicodedata.normalize("NFKD", text).casefold(), text.swapcase()) for text in (one, js_text(other))
    )
    return (left > right) - (left < right)


def js_encode(value: Any) -> str:
    return urllib.parse.quote(js_text(value), safe="!'()*~-._")


def js_encode_uri(value: Any) -> str:
    return urllib.parse.quote(js_text(value), safe="!'()*~-._;,/?:@&=+$#")


def js_decode(value: Any) -> str:
    return urllib.parse.unquote(js_text(value), errors="strict")


def js_to_base64(value: Any) -> str:
    return base64.b64encode(js_text(value).encode("latin-1")).decode()


def js_from_base64(value: Any) -> str:
    return base64.b64decode(js_text(value)).decode("latin-1")


class Buffer:
    """The bytes of a text."""

    def __init__(self, value: Any, encoding: Any = "utf8") -> None:
        if encoding == "base64":
            self.bytes = base64.b64decode(value + "=" * (-len(value) % 4))
        else:
            self.bytes = bytes.fromhex(value) if encoding == "hex" else js_text(value).encode()

    def text(self, encoding: Any = "utf8") -> str:
        if encoding == "base64":
            return base64.b64encode(self.bytes).decode()
        return self.bytes.hex() if encoding == "hex" else self.bytes.decode(errors="replace")


class Hash:
    """A hash that texts are added to."""

    def __init__(self, name: Any) -> None:
        self.hash = hashlib.new(name)


def js_update(owner: Any, value: Any) -> Any:
    owner.hash.update(value.bytes if isinstance(value, Buffer) else js_text(value).encode())
    return owner


def js_digest(owner: Any, encoding: Any = undefined) -> Any:
    if encoding == "base64":
        return base64.b64encode(owner.hash.digest()).decode()
    return owner.hash.hexdigest() if encoding == "hex" else Buffer(owner.hash.hexdigest(), "hex")
