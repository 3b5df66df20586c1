"""Tools that read and write text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from interlace.engine import reshaping
from interlace.engine.errors import NodeError
from interlace.engine.expressions import Missing, SyntaxProblem, compile_template
from interlace.engine.expressions.budget import refill
from interlace.engine.expressions.filters.data import regex
from interlace.engine.schema import Schema
from interlace.resources.tools.differing import line_diff
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

MAX_TEXT = 2_000_000
_MOST_TOKENS = 1_000_000
_MOST_PIECES = 50_000
_LONG = 100_000
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"['’]")  # noqa: RUF001

Text = Annotated[str, Field(max_length=MAX_TEXT)]
Pattern = Annotated[
    str, Field(max_length=1000, description="Regular expression (RE2: no look-around, no back-references).")
]
STRING: Schema = {"type": "string"}


class Given:
    """Values as the names of a template. Implements `Names`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def lookup(self, root: str) -> object:
        """The value of a name."""
        return self._values[root] if root in self._values else Missing(f"there is no value {root!r}")


class ExtractArguments(Arguments):
    """A text, and what is looked for."""

    text: Text
    pattern: Pattern
    ignore_case: bool = False
    limit: int = Field(100, ge=1, le=10_000, description="Most matches.")


class RegexExtract(TypedTool[ExtractArguments]):
    """Matches."""

    name = "regex_extract"
    description = (
        "Find what matches a regular expression. Each match is an object of its named groups, its one group, the list of its"
        " groups, or the whole match."
    )
    category: ClassVar[Category] = "text"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {"matches": {"type": "array", "items": {}}, "more": {"type": "boolean"}},
        "required": ["matches", "more"],
    }

    async def call(self, arguments: ExtractArguments, ctx: ToolContext) -> ToolResult:
        """Find; RE2 takes time that grows with the text and no faster."""
        del ctx
        refill()
        compiled = regex(arguments.pattern, ignore_case=arguments.ignore_case)
        found: list[Any] = []
        for match in compiled.finditer(arguments.text):
            if len(found) == arguments.limit:
                return ToolResult(value={"matches": found, "more": True})
            named, groups = match.groupdict(), match.groups()
            found.append(
                named or (match.group(0) if not groups else groups[0] if len(groups) == 1 else list(groups))
            )
        return ToolResult(value={"matches": found, "more": False})


class ReplaceArguments(Arguments):
    """A text, what is replaced, and by what."""

    text: Text
    pattern: Pattern
    replacement: str = Field("", max_length=10_000, description=r"\1 or \g<name> is a group.")
    ignore_case: bool = False


class RegexReplace(TypedTool[ReplaceArguments]):
    """Replacing."""

    name = "regex_replace"
    description = "Replace every match of a regular expression in a text."
    category: ClassVar[Category] = "text"
    result = STRING

    async def call(self, arguments: ReplaceArguments, ctx: ToolContext) -> ToolResult:
        """Replace."""
        del ctx
        replace = reshaping.replace(
            arguments.pattern, arguments.replacement, ignore_case=arguments.ignore_case
        )
        text = replace(arguments.text, Given({}))
        return ToolResult(value=text, text=text)


class DiffArguments(Arguments):
    """Two texts."""

    before: Text
    after: Text
    context: int = Field(3, ge=0, le=50, description="Equal lines around each change.")


class TextDiff(TypedTool[DiffArguments]):
    """Differences of texts."""

    name = "text_diff"
    description = "Compare two texts line by line; gives a unified diff."
    category: ClassVar[Category] = "text"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {"diff": STRING, "added": {"type": "integer"}, "removed": {"type": "integer"}},
        "required": ["diff", "added", "removed"],
    }

    async def call(self, arguments: DiffArguments, ctx: ToolContext) -> ToolResult:
        """Compare, long texts in a thread."""
        del ctx
        before, after = arguments.before, arguments.after
        if len(before) + len(after) > _LONG:
            diff, added, removed = await asyncio.to_thread(
                line_diff, before, after, context=arguments.context
            )
        else:
            diff, added, removed = line_diff(before, after, context=arguments.context)
        return ToolResult(
            value={"diff": diff, "added": added, "removed": removed},
            text=diff or "The texts have the same lines.",
        )


class TemplateArguments(Arguments):
    """A template and its values."""

    template: str = Field(
        max_length=100_000,
        description="Jinja: {{ name }}, {% for item in items %}…{% endfor %}, filters with |.",
    )
    values: dict[str, Any] = Field({}, description="What the names stand for.")
    html: bool = Field(False, description="Escape values for HTML.")


class RenderTemplate(TypedTool[TemplateArguments]):
    """Templates."""

    name = "render_template"
    description = "Fill a Jinja template with values: letters, reports, repeated rows."
    category: ClassVar[Category] = "text"
    result = STRING

    async def call(self, arguments: TemplateArguments, ctx: ToolContext) -> ToolResult:
        """Render, within the limits of steps and size that every template has."""
        del ctx
        try:
            template = compile_template(arguments.template, autoescape=arguments.html)
        except SyntaxProblem as problem:
            raise NodeError(
                f"the template cannot be read: {problem}", kind="syntax", retryable=False
            ) from None
        text = str(template.evaluate(Given(arguments.values)))
        return ToolResult(value=text, text=text)


class SplitArguments(Arguments):
    """A text, and how it is cut."""

    text: Text
    by: Literal["separator", "lines", "sentences", "characters", "tokens"] = "lines"
    separator: str = Field(",", min_length=1, max_length=100, description="For `separator`.")
    size: int = Field(1000, ge=1, le=1_000_000, description="Of a piece, for `characters` and `tokens`.")
    overlap: int = Field(0, ge=0, le=100_000, description="What a piece repeats of the one before.")
    keep_empty: bool = False


class SplitText(TypedTool[SplitArguments]):
    """Cutting."""

    name = "split_text"
    description = "Cut a text into a list: at a separator, by lines, by sentences, or into pieces of a size."
    category: ClassVar[Category] = "text"
    result: ClassVar[Schema] = {"type": "array", "items": STRING}

    async def call(self, arguments: SplitArguments, ctx: ToolContext) -> ToolResult:
        """Cut."""
        del ctx
        pieces = (
            await asyncio.to_thread(_split, arguments) if len(arguments.text) > _LONG else _split(arguments)
        )
        if not arguments.keep_empty:
            pieces = [piece for piece in pieces if piece.strip()]
        if len(pieces) > _MOST_PIECES:
            raise NodeError(
                f"the text falls into {len(pieces):,} pieces; {_MOST_PIECES:,} are allowed",
                kind="too_large",
                retryable=False,
            )
        return ToolResult(value=pieces)


def _split(arguments: SplitArguments) -> list[str]:
    text, size = arguments.text, arguments.size
    if arguments.by == "separator":
        return text.split(arguments.separator)
    if arguments.by == "lines":
        return text.splitlines()
    if arguments.by == "sentences":
        from interlace.resources.knowledge.sentences import sentences  # noqa: PLC0415 - of another room

        return [sentence.text for sentence in sentences(text)]
    if arguments.overlap >= size:
        raise NodeError("overlap has to be less than size", kind="bad_arguments", retryable=False)
    step = size - arguments.overlap
    if arguments.by == "characters":
        return [text[at : at + size] for at in range(0, max(len(text) - arguments.overlap, 1), step)]
    vocabulary = _vocabulary(text, "")
    tokens = vocabulary.encode_ordinary(text)
    starts = range(0, max(len(tokens) - arguments.overlap, 1), step)
    return [vocabulary.decode(tokens[at : at + size]) for at in starts]


class TokensArguments(Arguments):
    """A text, and the model that would read it."""

    text: Text
    model: str = Field("", max_length=200, description="Name of the model; the newest vocabulary by default.")


class CountTokens(TypedTool[TokensArguments]):
    """Sizes of texts."""

    name = "count_tokens"
    description = "Count the tokens, characters, words and lines of a text."
    category: ClassVar[Category] = "text"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in ("tokens", "characters", "words", "lines")},
        "required": ["tokens", "characters", "words", "lines"],
    }

    async def call(self, arguments: TokensArguments, ctx: ToolContext) -> ToolResult:
        """Count, in a thread: the vocabulary is loaded at its first use."""
        del ctx
        text = arguments.text
        tokens = await asyncio.to_thread(
            lambda: len(_vocabulary(text, arguments.model).encode_ordinary(text))
        )
        found = {
            "tokens": tokens, "characters": len(text), "words": len(text.split()), "lines": len(text.splitlines()),
        }  # fmt: skip
        return ToolResult(value=found)


def _vocabulary(text: str, model: str) -> Any:
    from interlace.resources.models.tokens import encoding_of  # noqa: PLC0415 - the vocabulary takes 0.3 s to load

    if len(text) > _MOST_TOKENS:
        raise NodeError(
            f"the text has {len(text):,} characters; {_MOST_TOKENS:,} are counted at most",
            kind="too_large",
            retryable=False,
        )
    return encoding_of(model)


class CaseArguments(Arguments):
    """A text, and how it is to be written."""

    text: Text
    to: Literal["lower", "upper", "title", "sentence", "snake", "kebab", "camel", "pascal", "slug", "trim"]


class ChangeCase(TypedTool[CaseArguments]):
    """Upper, lower, and names."""

    name = "change_case"
    description = "Write a text in lower, upper, title or sentence case, as snake_case, kebab-case, camelCase or PascalCase, or as a URL slug."
    category: ClassVar[Category] = "text"
    result = STRING

    async def call(self, arguments: CaseArguments, ctx: ToolContext) -> ToolResult:
        """Write."""
        del ctx
        text = _case(arguments.text, arguments.to)
        return ToolResult(value=text, text=text)


def _case(text: str, to: str) -> str:
    plain: Callable[[str], str] | None = {
        "lower": str.lower, "upper": str.upper, "title": _title, "sentence": lambda t: t[:1].upper() + t[1:].lower(),
        "trim": lambda t: " ".join(t.split()), "slug": _slug,
    }.get(to)  # fmt: skip
    if plain is not None:
        return plain(text)
    words = [word.lower() for word in _WORD.findall(_spaced(_APOSTROPHES.sub("", text)))]
    if to in ("snake", "kebab"):
        return ("_" if to == "snake" else "-").join(words)
    joined = "".join(word.capitalize() for word in words)
    return joined if to == "pascal" else joined[:1].lower() + joined[1:]


def _spaced(text: str) -> str:
    """With a blank where a new word begins inside a name: `HTTPServer` is `HTTP Server`."""
    made = []
    for at, mark in enumerate(text):
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if mark.isupper() and (
            before.islower() or before.isdigit() or (before.isupper() and after.islower())
        ):
            made.append(" ")
        made.append(mark)
    return "".join(made)


def _title(text: str) -> str:
    return re.sub(r"\w[\w'’]*", lambda found: found[0][:1].upper() + found[0][1:].lower(), text)  # noqa: RUF001


def _slug(text: str) -> str:
    """Letters of every script stay; accents of Latin ones go."""
    import unicodedata  # noqa: PLC0415 - only here

    spread = unicodedata.normalize("NFKD", text)
    plain = "".join(mark for mark in spread if not ("\u0300" <= mark <= "\u036f"))
    return re.sub(r"[^\w]+", "-", unicodedata.normalize("NFC", plain).lower()).replace("_", "-").strip("-")
