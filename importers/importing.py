"""The one entrance: the text of another product's file in, a document and a report out. Pure and inert."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlace.engine.registry import Registry
from interlace.engine.source.reading import Unreadable, read
from interlace.importers import dify, fim_one, n8n
from interlace.importers.build import Draft, assemble
from interlace.importers.guard import fitted, guarded, noted, ordered, settled
from interlace.importers.report import Entry, Imported, NotImported, Report

MAX_BYTES: Final = 20_000_000

Convert = Callable[[Any, Report], Draft]
"""A product's converter: the data of a file in, a draft out.

It raises `NotImported` where the data is no workflow of that product.
"""

FORMATS: Final[dict[str, str]] = {"dify": "Dify", "n8n": "n8n", "fim-one": "FIM One"}
_RECOGNIZE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "dify": dify.recognizes, "n8n": n8n.recognizes, "fim-one": fim_one.recognizes,
}  # fmt: skip
_CONVERT: Final[Mapping[str, Convert]] = {
    "dify": dify.convert, "n8n": n8n.convert, "fim-one": fim_one.convert,
}  # fmt: skip
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def import_text(text: str, *, registry: Registry, source: str = "auto", name: str = "") -> Imported:
    """Turn another product's file into a document.

    Args:
        text: the file's text, JSON or YAML.
        registry: the node types, against which the document is checked.
        source: `dify`, `n8n`, `fim-one`, or `auto` to find out.
        name: what the workflow is called if the file does not say.

    A damaged file, or one of another kind, gives a result with `ok` false and the reason in its report.
    """
    report = Report()
    try:
        data = _data(text)
        product = _product(data, source)
        draft = _CONVERT[product](data, report)
        if not draft.name.strip():
            draft.name = name
        fitted(draft, registry, report)
        document = assemble(draft, report)
        names = {step.id: step.source for step in draft.graph.walk() if step.source is not None}
        document = settled(ordered(document, registry, report, names), registry, report, names)
        document = guarded(document, registry)
        noted(document, registry, report, names)
    except NotImported as error:
        entry = Entry(level="error", code=error.reason, message=str(error), source_node=error.node)
        kept = [one for one in report.entries if one.level == "error"]
        return Imported(product=source, document=None, report=(*kept, entry))
    return Imported(product=product, document=document, report=tuple(report.entries))


def _data(text: str) -> Any:
    if len(text) > MAX_BYTES:
        raise NotImported(f"the file is larger than {MAX_BYTES:,} characters", code="too_large")
    cleaned = _CONTROL.sub("", text.removeprefix("\ufeff"))
    if not cleaned.strip():
        raise NotImported("the file is empty", code="damaged")
    try:
        return read(cleaned)
    except Unreadable as error:
        where = f"line {error.line}: " if error.line else ""
        raise NotImported(f"the file is damaged: {where}{error.message}", code="damaged") from None
    except RecursionError:
        raise NotImported("the file is damaged: it is nested too deep", code="damaged") from None


def _product(data: Any, source: str) -> str:
    if source != "auto":
        if source not in FORMATS:
            raise NotImported(
                f"no format {source!r}; known: auto, {', '.join(FORMATS)}", code="unknown_format"
            )
        return source
    for product, recognizes in _RECOGNIZE.items():
        if recognizes(data):
            return product
    if isinstance(data, dict) and data.get("schema") == "interlace/v1":
        raise NotImported("this is a document of Interlace already; there is nothing to import")
    raise NotImported(
        "this is no workflow of a product that can be imported: a Dify file has `app` and `workflow` or `model_config`, an"
        " n8n file `nodes` and `connections`, a FIM One file `workflow.blueprint` or `blueprint`"
    )
