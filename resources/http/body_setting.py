"""How request bodies are written in configs, and what they become."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from interlace.engine.document import Model
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.protocols import FileValue
from interlace.resources.http.body import (
    Encoded,
    Part,
    field_text,
    form_body,
    json_body,
    media_type,
    multipart_body,
)

Load = Callable[[str], Awaitable[bytes]]
"""Gives the bytes of a file by its reference."""

DEFAULT_MEDIA_TYPE = "application/octet-stream"


class NoBody(Model):
    """No body."""

    type: Literal["none"] = Field("none", title="Type", description="No body.", examples=["none"])

    async def build(self, load: Load) -> Encoded:
        """Nothing."""
        del load
        return Encoded(content=None)


class JsonBody(Model):
    """A JSON value."""

    type: Literal["json"] = Field(title="Type", description="A JSON value.", examples=["json"])
    content: Dynamic[Data] = Field(
        title="Content",
        description="The value, with expressions anywhere in it.",
        examples=[{"id": "{{ inputs.id }}"}],
    )

    async def build(self, load: Load) -> Encoded:
        """The bytes of the evaluated value."""
        del load
        return json_body(self.content)


class FormBody(Model):
    """A form, URL-encoded."""

    type: Literal["form"] = Field(title="Type", description="A form, URL-encoded.", examples=["form"])
    fields: Dynamic[dict[str, Data]] = Field(
        title="Fields",
        description="Values by name; a list repeats the name, null leaves it out.",
        examples=[{"q": "{{ inputs.q }}"}],
    )

    async def build(self, load: Load) -> Encoded:
        """The bytes of the evaluated fields."""
        del load
        return form_body(self.fields)


class MultipartBody(Model):
    """A form that can carry files."""

    type: Literal["multipart"] = Field(
        title="Type", description="A form that can carry files.", examples=["multipart"]
    )
    fields: Dynamic[dict[str, Data]] = Field(
        title="Fields",
        description="Values by name; a file value is sent as a file, a list repeats the name, null leaves it out.",
        examples=[{"title": "Invoice", "file": "{{ inputs.document }}"}],
    )

    async def build(self, load: Load) -> Encoded:
        """The bytes of the evaluated fields, files loaded."""
        pairs = [
            (name, item)
            for name, value in self.fields.items()
            for item in (value if isinstance(value, (list, tuple)) else (value,))
            if item is not None
        ]
        return multipart_body([await _part(name, item, load) for name, item in pairs])


class RawBody(Model):
    """A text as it is."""

    type: Literal["raw"] = Field(title="Type", description="A text as it is.", examples=["raw"])
    content: Dynamic[str] = Field(
        title="Content", description="The text.", examples=["<order>{{ inputs.id }}</order>"]
    )
    media_type: str = Field(
        "text/plain; charset=utf-8",
        title="Media type",
        description="What the text is; the Content-Type header.",
        examples=["application/xml"],
    )

    async def build(self, load: Load) -> Encoded:
        """The bytes of the evaluated text."""
        del load
        return Encoded(content=self.content.encode(), media_type=media_type(self.media_type))


class FileBody(Model):
    """A file's bytes."""

    type: Literal["file"] = Field(title="Type", description="A file's bytes.", examples=["file"])
    file: Dynamic[Data] = Field(title="File", description="A file value.", examples=["{{ inputs.document }}"])

    async def build(self, load: Load) -> Encoded:
        """The bytes of the file."""
        ref, _, kind = _file(self.file)
        return Encoded(content=await load(ref), media_type=media_type(kind))


_CONTENT = {"json": "content", "raw": "content", "form": "fields", "multipart": "fields", "file": "file"}
_OTHER_NAMES = ("content", "value", "data", "text", "fields")


def _normal(value: Any) -> Any:
    """Also read `none`, `{json: …}` (one key: the type) and `{type: json, json: …}`."""
    if isinstance(value, str):
        return {"type": value}
    if not isinstance(value, Mapping):
        return value
    if "type" not in value:
        name = next(iter(value), None)
        known = len(value) == 1 and isinstance(name, str) and name in _CONTENT
        return {"type": name, _CONTENT[str(name)]: value[name]} if known else value
    wanted = _CONTENT.get(str(value["type"]))
    if wanted is None or wanted in value:
        return value
    given = [name for name in (*_OTHER_NAMES, str(value["type"])) if name in value]
    if len(given) != 1:
        return value
    return {wanted if name == given[0] else name: entry for name, entry in value.items()}


BodySetting = Annotated[
    NoBody | JsonBody | FormBody | MultipartBody | RawBody | FileBody,
    Field(discriminator="type"),
    BeforeValidator(_normal),
]


async def _part(name: str, value: Any, load: Load) -> Part:
    if not _is_file(value):
        return Part(name=name, content=field_text(value).encode())
    ref, filename, kind = _file(value)
    return Part(name=name, content=await load(ref), filename=filename, media_type=kind)


def _is_file(value: Any) -> bool:
    return isinstance(value, FileValue) or (isinstance(value, Mapping) and {"ref", "sha256"} <= value.keys())


def _file(value: Any) -> tuple[str, str, str]:
    """Reference, name and media type of a file value.

    Raises:
        NodeError: `bad_body`, it is none.
    """
    if isinstance(value, FileValue):
        return value.ref, value.name, value.media_type
    if not _is_file(value):
        raise NodeError(
            f"the body needs a file value (name, media_type, size, sha256, ref), got {type(value).__name__}.",
            kind="bad_body",
            retryable=False,
        )
    return (
        str(value["ref"]),
        str(value.get("name") or "file"),
        str(value.get("media_type") or DEFAULT_MEDIA_TYPE),
    )
