"""How paging is written in configs, and what it becomes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, BeforeValidator, Field

from interlace.engine.document import Model
from interlace.engine.durations import Seconds
from interlace.engine.fields import Expression, In
from interlace.resources.http.pagination import Cursor, Limits, NextLink, Numbered, Place, Rule


def _path(text: str) -> str:
    try:
        jmespath.compile(text)
    except JMESPathError as error:
        raise ValueError(f"{text!r} is no JMESPath expression: {error}") from None
    return text


JmesPath = Annotated[str, AfterValidator(_path)]


class Paging(Model):
    """What all ways of paging share."""

    items: JmesPath | None = Field(
        None,
        title="Items",
        description="JMESPath to the list in each page's body; leave it out where the body is the list.",
        examples=["data.items"],
    )
    max_pages: int = Field(
        1000, ge=1, le=100_000, title="Most pages", description="Stop after this many pages.", examples=[10]
    )
    max_items: int | None = Field(
        None, ge=1, title="Most items", description="Stop with this many items.", examples=[500]
    )
    until: Annotated[str | None, Expression("expression", lazy=True), In("item")] = Field(
        None,
        title="Until",
        description="Stop after the page for which this is true. `item` is the page: its `body`, `items`, `status_code` and"
        " `headers`; `index` counts pages from 0.",
        examples=["item.body.done"],
    )
    retries: int = Field(
        3,
        ge=0,
        le=20,
        title="Retries of a page",
        description="How often one page is tried again after a passing failure, without starting over; Retry-After is"
        " honoured up to a minute.",
        examples=[5],
    )
    delay: Seconds = Field(
        0.0,
        title="Pause",
        description="Pause between pages.",
        examples=["1s"],
        json_schema_extra={"unit": "s"},
    )

    def limits(self) -> Limits:
        """When to stop."""
        return Limits(
            max_pages=self.max_pages, max_items=self.max_items, retries=self.retries, delay=self.delay
        )


class LinkPaging(Paging):
    """Each page names the URL of the next."""

    type: Literal["next_link"] = Field(
        title="Type", description="Each page names the URL of the next.", examples=["next_link"]
    )
    next: JmesPath | None = Field(
        None,
        title="Next link",
        description="JMESPath to the URL in the body; without it the Link header with rel=next is followed.",
        examples=["links.next"],
    )

    def rule(self) -> Rule:
        """How pages follow each other."""
        return NextLink(path=self.next)


class CursorPaging(Paging):
    """Each page gives a mark with which the next is asked for."""

    type: Literal["cursor"] = Field(
        title="Type", description="Each page gives a mark for the next.", examples=["cursor"]
    )
    cursor: JmesPath = Field(
        title="Cursor",
        description="JMESPath to the mark in the body; none there: the last page.",
        examples=["meta.next_cursor"],
    )
    parameter: str = Field(
        "cursor", title="Parameter", description="Name under which the mark is sent back.", examples=["after"]
    )
    place: Place = Field(
        "query",
        title="Place",
        description="Where the mark is sent; in a JSON body the name may be a dotted path.",
        examples=["body"],
    )

    def rule(self) -> Rule:
        """How pages follow each other."""
        return Cursor(path=self.cursor, parameter=self.parameter, place=self.place)


class PagePaging(Paging):
    """Pages have numbers; an empty one is the last."""

    type: Literal["page"] = Field(title="Type", description="Pages have numbers.", examples=["page"])
    parameter: str = Field(
        "page", title="Parameter", description="Name of the page number.", examples=["page"]
    )
    start: int = Field(1, ge=0, title="First page", description="Number of the first page.", examples=[0])
    size_parameter: str | None = Field(
        None,
        title="Size parameter",
        description="Name of the page size, if it is sent.",
        examples=["per_page"],
    )
    size: int | None = Field(None, ge=1, title="Size", description="Items a page.", examples=[100])
    place: Place = Field(
        "query", title="Place", description="Where the numbers are sent.", examples=["query"]
    )

    def rule(self) -> Rule:
        """How pages follow each other."""
        return Numbered(
            parameter=self.parameter, start=self.start, by_items=False,
            size_parameter=self.size_parameter, size=self.size, place=self.place,
        )  # fmt: skip


class OffsetPaging(Paging):
    """Pages begin at the number of items received so far; an empty one is the last."""

    type: Literal["offset"] = Field(
        title="Type", description="Pages begin at the number of items received so far.", examples=["offset"]
    )
    parameter: str = Field("offset", title="Parameter", description="Name of the offset.", examples=["skip"])
    start: int = Field(0, ge=0, title="First offset", description="The first offset.", examples=[0])
    limit_parameter: str = Field(
        "limit",
        title="Limit parameter",
        description="Name of the page size, sent where `limit` is set.",
        examples=["limit"],
    )
    limit: int | None = Field(
        None,
        ge=1,
        title="Limit",
        description="Items a page; the server's own default without it.",
        examples=[100],
    )
    place: Place = Field(
        "query", title="Place", description="Where the numbers are sent.", examples=["query"]
    )

    def rule(self) -> Rule:
        """How pages follow each other."""
        return Numbered(
            parameter=self.parameter, start=self.start, by_items=True,
            size_parameter=self.limit_parameter, size=self.limit, place=self.place,
        )  # fmt: skip


def _named(value: Any) -> Any:
    """`next_link` stands for `{type: next_link}`, where nothing else is needed."""
    return {"type": value} if isinstance(value, str) else value


AnyPaging = LinkPaging | CursorPaging | PagePaging | OffsetPaging
PagingSetting = Annotated[AnyPaging, Field(discriminator="type"), BeforeValidator(_named)]
