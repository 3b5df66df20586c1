"""SQL of a database node: values become parameters, wherever the file pastes them in."""

from __future__ import annotations

import re
from typing import Final

from interlace.importers.expressions import Part, Ref, constant, grouped, mixed
from interlace.importers.foreign import text
from interlace.importers.n8n.context import Site, param
from interlace.importers.n8n.file import N8nNode

_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_MARK: Final = re.compile("\ue000(\\d+)\ue001")
"""What stands for an expression while quotes are looked for."""
_NUMBERED: Final = re.compile(r"\$(\d+)(?!\w)(?::\w+)?")


def statement(node: N8nNode, site: Site) -> str:
    """The statement; n8n evaluates its expressions whether or not the field is marked as one."""
    fields = site.fields(node)
    parts = fields.parts("=" + text(node.parameters.get("query")).removeprefix("="))
    refs = [part for part in parts if isinstance(part, Ref)]
    marks = iter(range(len(refs)))
    source = "".join(f"\ue000{next(marks)}\ue001" if isinstance(part, Ref) else part for part in parts)
    given = _replacements(node, site)
    if given is not None:
        source = _NUMBERED.sub(lambda match: _numbered(match, given, refs), source)
    return mixed(_spread(_TOKEN.sub(lambda match: _quoted(match[0], refs), source), refs))


def _numbered(match: re.Match[str], given: list[Ref], refs: list[Ref]) -> str:
    """`$1` as the first of the values that the node gives."""
    place = int(match[1]) - 1
    if not 0 <= place < len(given):
        return match[0]
    refs.append(given[place])
    return f"\ue000{len(refs) - 1}\ue001"


def _replacements(node: N8nNode, site: Site) -> list[Ref] | None:
    """The values for `$1`, `$2`, …: a list, or texts with commas between them; None where there are none."""
    written = param(node, "options", "queryReplacement")
    if not text(written):
        return None
    fields = site.fields(node)
    if text(written).startswith("="):
        value = fields.value(written)
        if value.kind == "list" or (value.kind == "any" and len(fields.parts(written)) == 1):
            return (
                [
                    Ref(
                        f"({grouped(value.code)} if {grouped(value.code)} is sequence else [{value.code}])[{place}]"
                    )
                    for place in range(20)
                ]
                if value.kind == "any"
                else [Ref(f"{grouped(value.code)}[{place}]") for place in range(20)]
            )
    groups: list[list[Part]] = [[]]
    for part in fields.parts(written):
        if isinstance(part, Ref):
            groups[-1].append(part)
            continue
        first, *rest = part.split(",")
        groups[-1].append(first)
        groups.extend([one] for one in rest)
    return [_joined([part.strip() if isinstance(part, str) else part for part in group]) for group in groups]


def _joined(parts: list[Part]) -> Ref:
    kept = [part for part in parts if part != ""]
    if len(kept) == 1 and isinstance(kept[0], Ref):
        return kept[0]
    return Ref(
        " ~ ".join(grouped(part.code) if isinstance(part, Ref) else constant(part) for part in kept) or "''",
        is_text=True,
    )


def _quoted(token: str, refs: list[Ref]) -> str:
    """A text in quotes that holds expressions as one expression; comments without theirs."""
    if _MARK.search(token) is None or token.startswith('"'):
        return token
    if not token.startswith("'"):
        return _MARK.sub("…", token)
    inner = _spread(token[1:-1].replace("''", "'"), refs)
    code = " ~ ".join(f"({part.code})" if isinstance(part, Ref) else constant(part) for part in inner)
    refs.append(Ref(code if len(inner) > 1 else f"{code} | string", is_text=True))
    return f"\ue000{len(refs) - 1}\ue001"


def _spread(source: str, refs: list[Ref]) -> list[Part]:
    """A text with marks as its pieces."""
    made: list[Part] = []
    for index, piece in enumerate(_MARK.split(source)):
        if index % 2:
            made.append(refs[int(piece)])
        elif piece:
            made.append(piece)
    return made
