"""What a node's converter works with: the draft, the report, and what the file's references stand for here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from interlace.importers.build import Draft, Graph, Step
from interlace.importers.dify.file import DifyFile, DifyNode, selector
from interlace.importers.dify.system import system_value
from interlace.importers.expressions import Part, Ref, constant, mixed, path, worded
from interlace.importers.foreign import Json, text
from interlace.importers.report import Level, Report

IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_REFERENCE: Final = re.compile(r"\{\{#\s*([^#{}]+?)\s*#\}\}")


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of node is carried over.

    `convert` adds the steps to a graph and gives the id that edges lead to; edges leave from the node's own id.
    `output` is what one of its outputs is called here: the keys after the node's id.
    """

    convert: Callable[[DifyNode, Context, Graph], str]
    output: Callable[[DifyNode, Sequence[str], Context], Ref]
    handle: Callable[[DifyNode, str], str | None] | None = None
    fallback: str = "step"


@dataclass(slots=True, kw_only=True)
class Context:
    """One conversion."""

    file: DifyFile
    draft: Draft
    report: Report
    kinds: dict[str, Kind] = field(default_factory=dict)
    joined_answers: bool = False
    """Whether several answers of one run become one text, as they may all be given."""
    separate_ends: bool = False
    """Whether the outputs of each END get names of their own, as several may run."""
    gathered: bool = False
    """Whether answers are appended to a variable, as some are given inside a body."""

    def say(self, level: Level, code: str, message: str, node: DifyNode | None = None) -> None:
        """Add a remark to the report."""
        self.report.add(
            level,
            code,
            message,
            source=node.title if node else None,
            node=node.name or None if node else None,
        )

    def step(self, node: DifyNode, kind: str, config: Json) -> Step:
        """The step of a node, with what every kind has."""
        label = node.title if node.title != node.name else None
        note = text(node.data.get("desc")).strip() or None
        return Step(
            id=node.name,
            type=kind,
            config=config,
            label=label,
            note=note,
            position=node.position,
            source=node.title,
        )

    def kind(self, node: DifyNode) -> Kind:
        """How a node is carried over."""
        return self.kinds.get(node.kind) or self.kinds[""]

    # -- references ----------------------------------------------------------------------------------------------------

    def ref(self, value: Any, node: DifyNode | None = None) -> Ref:
        """What a value selector stands for.

        Args:
            value: `[node id, key, …]`, or the same with dots.
            node: who reads it, for the report.
        """
        keys = selector(value)
        if not keys:
            return Ref("none")
        root, rest = keys[0], keys[1:]
        if rest and rest[0].startswith("sys."):
            root, rest = "sys", [rest[0].removeprefix("sys."), *rest[1:]]
        if root == "sys" and rest:
            return system_value(
                rest, self.draft, self.file, lambda words: self.say("changed", "system_variable", words, node)
            )
        if root == "conversation" and rest:
            return self._variable(rest, node)
        if root == "env" and rest:
            return self._setting(rest[0], node, secret=False)
        source = self.file.nodes.get(root)
        if source is None or source.kind == "note":
            self.say(
                "changed",
                "dangling_reference",
                f"It reads {'.'.join(keys)}, which does not exist; nothing is read.",
                node,
            )
            return Ref("none")
        return self.kind(source).output(source, rest, self)

    def _variable(self, rest: list[str], node: DifyNode | None) -> Ref:
        if not IDENTIFIER.fullmatch(rest[0]):
            return Ref("none")
        if rest[0] not in self.draft.variables:
            self.say(
                "changed", "undeclared_variable",
                f"The conversation variable {rest[0]!r} is not declared in the file; it is declared as one of any type.", node,
            )  # fmt: skip
            self.draft.variables[rest[0]] = {"type": "any", "scope": "session"}
        kind = self.draft.variables[rest[0]].get("type")
        return Ref(path("vars", *rest), is_text=kind == "string" and len(rest) == 1)

    def _setting(self, name: str, node: DifyNode | None, *, secret: bool) -> Ref:
        entry = next((one for one in self.file.environment if one.get("name") == name), {})
        if entry.get("value_type") == "secret":
            if secret:
                self.say(
                    "decision", "set_secret", f"Set the secret {name}: interlace secrets set {name}", node
                )
                return Ref(path("secrets", name), is_text=True)
            self.say(
                "decision", "secret_as_setting",
                f"The secret {name} is used where it could be shown, which secrets may not be. The node reads the setting"
                f" {name} instead: set it, or move the value into a header or an authentication.", node,
            )  # fmt: skip
            return Ref(f"{path('env', name)} | default('')", is_text=True)
        value = entry.get("value")
        self.say(
            "decision", "set_setting",
            f"Set {name} for each environment, as in interlace.toml under [environments.dev]; until then the value of the"
            f" file is used: {text(value)[:80]!r}.", node,
        )  # fmt: skip
        plain = value if isinstance(value, str | int | float | bool) else ""
        return Ref(f"{path('env', name)} | default({constant(plain)})", is_text=isinstance(plain, str))

    # -- texts ---------------------------------------------------------------------------------------------------------

    def parts(
        self, words: Any, node: DifyNode | None = None, *, secret: bool = False, context: Ref | None = None
    ) -> list[Part]:
        """A text with `{{#…#}}` in it as its pieces.

        Args:
            words: the text.
            node: who reads it, for the report.
            secret: whether the field may hold secrets.
            context: what `{{#context#}}` stands for.
        """
        source, position = text(words), 0
        pieces: list[Part] = []
        for match in _REFERENCE.finditer(source):
            pieces.append(source[position : match.start()])
            pieces.append(self._reference(match[1], node, secret=secret, context=context))
            position = match.end()
        pieces.append(source[position:])
        return pieces

    def _reference(self, name: str, node: DifyNode | None, *, secret: bool, context: Ref | None) -> Ref:
        if name == "context":
            return context or Ref("''", is_text=True)
        if name in ("histories", "query"):
            return self.ref(["sys", name], node)
        if name.startswith("env."):
            return self._setting(name.removeprefix("env."), node, secret=secret)
        return self.ref(name, node)

    def worded(
        self, words: Any, node: DifyNode | None = None, *, secret: bool = False, context: Ref | None = None
    ) -> str:
        """A text for a field that takes texts only."""
        return worded(self.parts(words, node, secret=secret, context=context))

    def mixed(self, words: Any, node: DifyNode | None = None, *, secret: bool = False) -> str:
        """A text for a field that takes any value."""
        return mixed(self.parts(words, node, secret=secret))
