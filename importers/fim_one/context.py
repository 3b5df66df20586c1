"""What a node's converter works with: the draft, the report, and what the file's references stand for here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from interlace.importers import jinja
from interlace.importers.build import Draft, Graph, Step
from interlace.importers.expressions import (
    Part,
    Ref,
    constant,
    failing,
    grouped,
    is_valid,
    mixed,
    path,
    worded,
)
from interlace.importers.fim_one.file import FimFile, FimNode
from interlace.importers.foreign import Json, number, text
from interlace.importers.naming import slug
from interlace.importers.neat import neat
from interlace.importers.report import Level, Report

_REFERENCE: Final = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_DOTTED: Final = re.compile(r"[\w-]+(?:\.[\w-]+|\[\d+\])*")
_SECRET: Final = re.compile(r"TOKEN|SECRET|PASSWORD|KEY|CREDENTIAL", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of node is carried over.

    `convert` adds the step; `output` says what the node's output is, with the keys that follow; `handle` turns a handle of
    the file into one of ours.
    """

    convert: Callable[[FimNode, Context, Graph], None]
    output: Callable[[FimNode, Sequence[str | int], Context], Ref]
    handle: Callable[[FimNode, str], str] | None = None
    fallback: str = "step"


@dataclass(slots=True, kw_only=True)
class Context:
    """One conversion."""

    file: FimFile
    draft: Draft
    report: Report
    kinds: dict[str, Kind] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)
    """By the id of a node in a body: the container whose results stand for it outside."""
    container: str | None = None
    """The container whose body is being made."""
    locals: dict[str, str] = field(default_factory=dict)
    """Names of the body that is being made, as expressions."""
    bodies: dict[str, list[str]] = field(default_factory=dict)
    """By container: the nodes of its body."""

    def say(self, level: Level, code: str, message: str, node: FimNode | None = None) -> None:
        """Add a remark to the report."""
        self.report.add(
            level,
            code,
            message,
            source=node.label if node else None,
            node=node.name or None if node else None,
        )

    def kind(self, node: FimNode) -> Kind:
        """How a node is carried over."""
        return self.kinds.get(node.kind) or self.kinds[""]

    def step(self, node: FimNode, kind: str, config: Json) -> Step:
        """The step of a node, with what every kind has."""
        label = node.label if node.label != node.name else None
        step = Step(
            id=node.name, type=kind, config=config, label=label, position=node.position, source=node.label
        )
        strategy = text(node.data.get("error_strategy")).lower().replace("-", "_")
        if strategy == "continue":
            step.on_error = "continue"
        elif strategy == "fail_branch":
            step.on_error = "branch"
        limit = number(node.data.get("timeout_ms"))
        if limit and limit > 0:
            step.timeout = limit / 1000
        return step

    # -- references ----------------------------------------------------------------------------------------------------

    def ref(self, name: str, node: FimNode | None = None, *, secret: bool = False) -> Ref:
        """What a dotted name stands for.

        Args:
            name: `input.NAME`, `NODE.output`, a variable, …
            node: who reads it, for the report.
            secret: whether the field may hold secrets.
        """
        keys = [key for key in re.split(r"[.\[\]]+", name.strip().strip("{} ").strip()) if key]
        if not keys:
            return Ref("none")
        root, rest = keys[0], keys[1:]
        if root in self.locals:
            return Ref(path(self.locals[root], *_numbered(rest)))
        if root in ("input", "inputs", "start") and root not in self.file.nodes and rest:
            return self.input(rest)
        source = self.file.nodes.get(root)
        if source is not None:
            return self._of_node(source, rest, node, secret=secret)
        return self._bare(root, rest, node, secret=secret)

    def input(self, keys: Sequence[str | int]) -> Ref:
        """An input of the workflow."""
        name = str(keys[0])
        self.draft.need_input(name, {"default": ""})
        return Ref(
            path("inputs", *_numbered(keys)),
            is_text=self.draft.inputs[name].get("type") == "string" and len(keys) == 1,
        )

    def _of_node(self, source: FimNode, rest: list[str], node: FimNode | None, *, secret: bool) -> Ref:
        if source.kind == "START":
            return self.input(rest) if rest else Ref("inputs")
        if source.kind == "ENV" and rest and _SECRET.search(rest[0]) and secret:
            return self.secret(rest[0], node)
        outer = self.inside.get(source.id)
        if outer is not None and outer != self.container:
            container = self.file.nodes[outer]
            return self.kind(container).output(container, [source.id, *rest], self)
        if rest and rest[0] == "error":
            return Ref(f"{path(source.name, 'error', *rest[1:])} | default('')")
        named = text(source.data.get("output_variable"))
        keys = rest[1:] if rest and rest[0] in ("output", "result", named) and rest[0] else rest
        direct = keys is not rest or not rest
        return self.kind(source).output(source, _numbered(keys) if direct else ["", *_numbered(rest)], self)

    def secret(self, name: str, node: FimNode | None) -> Ref:
        """A secret slot."""
        self.say("decision", "set_secret", f"Set the secret {name}: interlace secrets set {name}", node)
        return Ref(path("secrets", name), is_text=True)

    def _bare(self, root: str, rest: list[str], node: FimNode | None, *, secret: bool) -> Ref:
        """A name without a node: a variable, an input, an output by its own name, or a setting."""
        if root in self.draft.variables:
            return Ref(path("vars", root, *_numbered(rest)))
        if root in self.draft.inputs:
            return self.input([root, *rest])
        owner = next(
            (one for one in self.file.nodes.values() if text(one.data.get("output_variable")) == root), None
        )
        if owner is not None:
            return self._of_node(owner, ["output", *rest], node, secret=secret)
        setting = (
            root.removeprefix("env_")
            if root.startswith("env_")
            else rest[0]
            if root == "env" and rest
            else ""
        )
        if setting and secret and _SECRET.search(setting):
            return self.secret(setting, node)
        if setting:
            self.say(
                "decision",
                "set_setting",
                f"Set {setting} for each environment, as in interlace.toml under [environments.dev].",
                node,
            )
            return Ref(path("env", setting))
        self.say(
            "changed",
            "dangling_reference",
            f"It reads {root!r}, which does not exist; nothing is read.",
            node,
        )
        return Ref("none")

    def variable(self, value: Any, node: FimNode) -> Ref:
        """A `*_variable` field: a dotted name, bare or in braces; anything else is a text."""
        words = text(value).strip()
        inner = words.removeprefix("{{").removesuffix("}}").strip()
        if not inner:
            return Ref("none")
        if _DOTTED.fullmatch(inner) and (words.startswith("{{") or "{{" not in words):
            return self.ref(inner, node)
        return Ref(
            " ~ ".join(
                constant(part) if isinstance(part, str) else grouped(part.code)
                for part in self.parts(words, node)
            ),
            is_text=True,
        )

    def parts(self, words: Any, node: FimNode | None = None, *, secret: bool = False) -> list[Part]:
        """A text with `{{…}}` in it as its pieces."""
        source, position = text(words), 0
        made: list[Part] = []
        for match in _REFERENCE.finditer(source):
            made.append(source[position : match.start()])
            inner = match[1]
            made.append(
                self.ref(inner, node, secret=secret)
                if _DOTTED.fullmatch(inner)
                else self.expression(inner, node)
            )
            position = match.end()
        made.append(source[position:])
        return made

    def worded(self, words: Any, node: FimNode | None = None) -> str:
        """A text for a field that takes texts only."""
        return worded(self.parts(words, node))

    def any(self, value: Any, node: FimNode | None = None, *, secret: bool = False) -> Any:
        """A value for a field that takes any; structures keep their shape."""
        if isinstance(value, dict):
            return {str(key): self.any(inner, node, secret=secret) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.any(inner, node, secret=secret) for inner in value]
        return mixed(self.parts(value, node, secret=secret)) if isinstance(value, str) else value

    def expression(
        self, source: Any, node: FimNode | None = None, *, own: frozenset[str] = frozenset()
    ) -> Ref:
        """A bare expression; one that cannot be read fails when it is evaluated.

        Args:
            source: the expression, in Python's way of writing.
            node: who has it, for the report.
            own: names that the field itself gives, as `item`.
        """
        words = _REFERENCE.sub(lambda match: match[1], text(source)).strip()
        if not words:
            return Ref("none")
        try:
            code = jinja.rewrite(
                _dotted(words, own), lambda name: name if name in own else self._named(name, node)
            )
        except jinja.NotTranslated as error:
            return self._lost(words, str(error), node)
        return Ref(neat(code)) if is_valid(code) else self._lost(words, "it cannot be read", node)

    def _named(self, name: str, node: FimNode | None) -> str:
        """A name of an expression; dots were written so that they belong to it."""
        return self.ref(name.replace(_DOT, "."), node).code

    def _lost(self, words: str, why: str, node: FimNode | None) -> Ref:
        self.say(
            "decision",
            "expression",
            f"An expression was not translated ({why}), and fails when it is evaluated: {words[:300]}",
            node,
        )
        return Ref(failing(f"an expression that was not translated ({why}): {words}"))


_DOT: Final = "\u01c0"
"""Stands for a dot inside a name; a letter, so that it is part of one."""
_PATH: Final = re.compile(r"(?<![\w.'\"\])])([A-Za-z_][\w-]*)((?:\.[A-Za-z_]\w*)+)(?!\s*\()")


def _dotted(words: str, own: frozenset[str]) -> str:
    """The expression with the dots of names marked, except inside texts: `fetch.status` is one name of the file."""
    made = []
    for index, piece in enumerate(re.split(r"('[^']*'|\"[^\"]*\")", words)):
        made.append(
            piece
            if index % 2
            else _PATH.sub(lambda match: match[0] if match[1] in own else match[0].replace(".", _DOT), piece)
        )
    return "".join(made)


def _numbered(keys: Sequence[str | int]) -> list[str | int]:
    return [int(key) if isinstance(key, str) and key.isdigit() else key for key in keys]


def named(node: FimNode, field_name: str, fallback: str) -> str:
    """A name of something that has to be bound: what the file says, else the node's label."""
    return text(node.data.get(field_name)).strip() or slug(node.label) or fallback
