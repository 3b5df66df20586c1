"""What holds for every built-in tool: names, words, schemas; and what the registry finds."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import jsonschema
import orjson
import pytest

from interlace.engine.errors import InterlaceError, NodeError
from interlace.engine.kinds import KINDS
from interlace.resources.models.tokens import count_tools
from interlace.resources.tools import BuiltinTools, Category, builtin_tools
from interlace.resources.tools.builtin.math import Calculator
from interlace.resources.tools.typed import Arguments, check_arguments, compact, problems_with

NAMES = list(builtin_tools())


def test_there_are_all_families() -> None:
    tools = builtin_tools()
    assert 30 <= len(tools) <= 40
    known = {tool.category for tool in tools.list()}
    assert known == {"math", "time", "text", "data", "files", "code", "web", "mail", "documents", "knowledge"}
    assert known <= set(get_args(Category))
    assert {tool.name for tool in tools.list("files")} == {
        "write_file", "read_file", "list_files", "search_files", "edit_file", "delete_file",
    }  # fmt: skip
    assert "unknown_tool" in KINDS


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_is_described_and_short(name: str) -> None:
    tool = builtin_tools().find(name)
    assert tool.name == name
    assert tool.name.replace("_", "").isalnum()
    assert tool.description.endswith(".")
    schema = dict(tool.parameters_schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator.check_schema(getattr(tool, "result"))  # noqa: B009
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    text = orjson.dumps(schema).decode()
    assert not any(noise in text for noise in ('"title":', "$defs", "$ref", '"default":null', '"null"'))
    function = {"name": name, "description": tool.description, "parameters": schema}
    assert count_tools([{"type": "function", "function": function}]) <= 370


def test_what_would_go_round_an_agents_scope_is_not_for_agents() -> None:
    shown = {tool.name for tool in builtin_tools().for_agents()}
    assert set(NAMES) - shown == {"kb_list", "kb_search"}
    assert {tool.name for tool in builtin_tools().for_agents({"math", "knowledge"})} == {
        "calculator", "convert_units", "statistics",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("calculater", "calculator"),
        ("Web-Fetch", "web_fetch"),
        ("email", "send_email"),
        ("read file", "read_file"),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest(wrong: str, meant: str) -> None:
    with pytest.raises(NodeError, match=f"did you mean '{meant}'") as caught:
        builtin_tools().find(wrong)
    assert caught.value.kind == "unknown_tool"


def test_a_name_like_no_other_is_answered_by_all() -> None:
    with pytest.raises(NodeError, match=r"there are add_time, business_days, .*write_file"):
        builtin_tools().find("zzz")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InterlaceError, match="two tools are called 'calculator'"):
        BuiltinTools().add(Calculator())


def test_importing_the_registry_loads_no_family() -> None:
    code = (
        "import sys; import interlace.resources.tools;"
        "sys.exit(any(name.startswith('interlace.resources.tools.builtin') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_arguments_are_checked_by_name_and_type() -> None:
    tool = Calculator()
    check_arguments(tool, {"expression": "1", "variables": None})
    with pytest.raises(NodeError) as caught:
        check_arguments(tool, {"expresion": "1", "variables": {"x": "one"}})
    assert caught.value.kind == "bad_arguments"
    assert "expresion is not expected here. Did you mean 'expression'?" in caught.value.message
    assert "expression is required" in caught.value.message
    assert "variables.x must be a number" in caught.value.message
    found = problems_with(tool, {"expression": 5}, "config.arguments")
    assert [(p.code, p.field) for p in found] == [("tool_arguments", "config.arguments.expression")]


async def test_arguments_that_only_the_model_knows_to_be_wrong_are_named() -> None:
    with pytest.raises(NodeError, match=r"send_email cannot be called so: to\.0: String should match"):
        builtin_tools().find("send_email").read({"to": ["nobody"], "subject": "x", "text": "y"})  # type: ignore[attr-defined]


def test_a_schema_is_made_short_without_a_loss() -> None:
    class Inner(Arguments):
        title: str = "x"

    class Outer(Arguments):
        one: Inner
        other: Inner | None = None
        either: int | str | None = None

    inner = {"properties": {"title": {"default": "x", "type": "string"}}, "type": "object"}
    assert compact(Outer.model_json_schema()) == {
        "type": "object", "additionalProperties": False, "required": ["one"],
        "properties": {
            "one": inner, "other": inner, "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        },
    }  # fmt: skip
