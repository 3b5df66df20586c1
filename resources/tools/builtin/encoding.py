"""Tools for encodings and digests."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import html
from typing import Annotated, ClassVar, Literal
from urllib.parse import quote, unquote_to_bytes

from pydantic import Field

from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

Text = Annotated[str, Field(max_length=2_000_000)]
Encoding = Literal["base64", "base64url", "hex", "url", "html"]
STRING: Schema = {"type": "string"}
_SHOWN = 60


class EncodeArguments(Arguments):
    """A text, and how it is written."""

    text: Text
    encoding: Encoding
    decode: bool = Field(False, description="Read the encoding instead of writing it.")
    charset: str = Field(
        "utf-8", max_length=40, description="Bytes of the plain text, as utf-8, shift_jis, latin-1."
    )


class EncodeText(TypedTool[EncodeArguments]):
    """Encodings."""

    name = "encode_text"
    description = (
        "Encode a text as base64, base64url, hex, URL percent-encoding or HTML entities, or decode it."
    )
    category: ClassVar[Category] = "text"
    result = STRING

    async def call(self, arguments: EncodeArguments, ctx: ToolContext) -> ToolResult:
        """Encode or decode."""
        del ctx
        charset = _charset(arguments.charset)
        if arguments.encoding == "html":
            text = html.unescape(arguments.text) if arguments.decode else html.escape(arguments.text)
        elif arguments.decode:
            try:
                text = _decoded(arguments.text, arguments.encoding).decode(charset)
            except UnicodeDecodeError:
                raise _bad(f"what is encoded is no {charset} text; try another charset") from None
        else:
            try:
                text = _encoded(arguments.text.encode(charset), arguments.encoding)
            except UnicodeEncodeError as error:
                raise _bad(f"{charset} has no character {arguments.text[error.start]!r}") from None
        return ToolResult(value=text, text=text)


def _charset(name: str) -> str:
    try:
        info = codecs.lookup(name)
        is_text: bool = getattr(info, "_is_text_encoding", True)  # zlib, rot13 and alike are codecs too
    except (LookupError, ValueError):
        is_text = False
    if not is_text or info.name in ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"):
        raise _bad(f"there is no charset {name!r}; try utf-8, utf-16, latin-1, cp1252, shift_jis or gb18030")
    return info.name


def _encoded(content: bytes, encoding: Encoding) -> str:
    if encoding == "url":
        return quote(content, safe="")
    if encoding == "hex":
        return content.hex()
    return (
        base64.b64encode(content) if encoding == "base64" else base64.urlsafe_b64encode(content).rstrip(b"=")
    ).decode()


def _decoded(text: str, encoding: Encoding) -> bytes:
    if encoding == "url":
        return unquote_to_bytes(text.replace("+", " "))
    plain = "".join(text.split())
    try:
        if encoding == "hex":
            return bytes.fromhex(plain.removeprefix("0x"))
        plain = plain.replace("-", "+").replace("_", "/").rstrip("=")
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise _bad(f"{text[:_SHOWN]!r} is not {encoding}") from None


class HashArguments(Arguments):
    """A text, and a digest's name."""

    text: Text
    algorithm: Literal["sha256", "sha512", "sha384", "sha1", "md5", "sha3_256", "blake2b"] = "sha256"


class HashText(TypedTool[HashArguments]):
    """Digests."""

    name = "hash_text"
    description = "Give the digest of a text (UTF-8) in hexadecimal digits, SHA-256 by default."
    category: ClassVar[Category] = "text"
    result = STRING

    async def call(self, arguments: HashArguments, ctx: ToolContext) -> ToolResult:
        """Digest."""
        del ctx
        made = hashlib.new(
            arguments.algorithm, arguments.text.encode("utf-8", "surrogatepass"), usedforsecurity=False
        )
        return ToolResult(value=made.hexdigest(), text=made.hexdigest())


def _bad(message: str) -> NodeError:
    return NodeError(message, kind="parse", retryable=False)
