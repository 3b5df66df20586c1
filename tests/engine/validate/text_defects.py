"""Defects of expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlace.engine.validate import validate
from tests.engine.validate.seeding import Seed, leaves, maker, put


def _text(kind: str, text: str, code: str, *, secret: bool = False, outside: bool = False) -> None:
    """A mutation that replaces a text with expressions by another one.

    `secret`: only where no secret may stand; `outside`: only in the node's own scope.
    """

    def make(seed: Seed) -> Iterator[Any]:
        for name, field, path in seed.texts():
            if (secret and field.marker.secret) or (outside and field.scope != "node"):
                continue
            data = seed.copy()
            put(data, name, path, text)
            yield data, code, name, path

    make.__name__ = kind
    maker(make)


_text("unknown_root", "{{ zz_ghost.text | default('x') }}", "unknown_name")
_text("unknown_filter", "{{ run.id | zz_filter }}", "unknown_filter")
_text("unknown_function", "{{ zz_function() }}", "unknown_function")
_text("broken_syntax", "{{ run.id", "expression_syntax")
_text("missing_operand", "{{ run.id + }}", "expression_syntax")
_text("secret_in_a_text", "{{ secrets.token }}", "secret_leak", secret=True)
_text("undeclared_variable", "{{ vars.zz_variable }}", "unknown_variable")
_text("item_outside_a_body", "{{ item }}", "misplaced_name", outside=True)
_text("loop_outside_a_body", "{{ loop.round }}", "misplaced_name", outside=True)


@maker
def rename_a_reference(seed: Seed) -> Iterator[Any]:
    """The root of a reference to a node is misspelt where it stands."""
    ids = {node["id"] for node in seed.top()}
    for name, field, path in seed.texts():
        text = next(text for where, text in leaves(field.value, field.path) if where == path)
        for other in ids:
            if f"{{{{ {other}." in text:
                data = seed.copy()
                put(data, name, path, text.replace(f"{{{{ {other}.", f"{{{{ {other}_zz."))
                yield data, "unknown_name", name, path


@maker
def own_output(seed: Seed) -> Iterator[Any]:
    for name, field, path in seed.texts():
        if field.scope == "node":
            data = seed.copy()
            put(data, name, path, f"{{{{ {name}.error }}}}")
            yield data, "own_output", name, path


@maker
def read_what_comes_later(seed: Seed) -> Iterator[Any]:
    ends = seed.of_type("END")
    for name, field, path in seed.texts():
        if field.scope == "node" and name not in ends:
            data = seed.copy()
            put(data, name, path, f"{{{{ {ends[0]}.x }}}}")
            yield data, "not_upstream", name, path


@maker
def undeclared_input(seed: Seed) -> Iterator[Any]:
    inputs = seed.data.get("inputs", {})
    if inputs.get("properties") and not inputs.get("additionalProperties"):
        for name, _, path in seed.texts():
            data = seed.copy()
            put(data, name, path, "{{ inputs.zz_input }}")
            yield data, "unknown_input", name, path


@maker
def unknown_output_field(seed: Seed) -> Iterator[Any]:
    types = validate(seed.document, seed.registry).types
    for name, _, path in seed.texts():
        for other in seed.ancestors(name):
            schema = types.get(other, {})
            if schema.get("properties") and not schema.get("additionalProperties"):
                data = seed.copy()
                put(data, name, path, f"{{{{ {other}.zz_field }}}}")
                yield data, "unknown_output", name, path
                break
