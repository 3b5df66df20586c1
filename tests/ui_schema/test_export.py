"""The generated schemas: current, valid, and of use to an editor."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from interlace.engine.document import Document
from interlace.ui_schema.export import DIALECT, FOLDER, main, schemas

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
SCHEMAS = schemas()
DOCUMENT = SCHEMAS["document.json"]
TYPES = sorted(name for name in SCHEMAS if name.startswith("nodes/"))


def test_the_files_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_drift_is_found_and_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "ui_schema"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (folder / "nodes" / "HTTP.json").write_text("{}\n")
    (folder / "nodes" / "GONE.json").write_text("{}\n")
    (folder / "document.json").unlink()
    assert main(["--check"], folder) == 1
    named = capsys.readouterr().err
    assert [name in named for name in ("nodes/HTTP.json", "nodes/GONE.json", "document.json", "nodes/END.json")] == [
        True, True, True, False,
    ]  # fmt: skip
    assert main([], folder) == 0
    assert main(["--check"], folder) == 0
    assert not (folder / "nodes" / "GONE.json").exists()


def test_the_document_schema_is_valid_and_has_its_words() -> None:
    jsonschema.Draft202012Validator.check_schema(DOCUMENT)
    assert DOCUMENT["$schema"] == DIALECT
    for name, model in {"Document": DOCUMENT, **DOCUMENT["$defs"]}.items():
        for key, field in model["properties"].items():
            meant = {**DOCUMENT["$defs"].get(field.get("$ref", "").rpartition("/")[2], {}), **field}
            assert meant.get("title"), f"{name}.{key}"
            assert str(meant.get("description", "")).endswith("."), f"{name}.{key}"


@pytest.mark.parametrize("name", TYPES)
def test_type_schemas_are_valid(name: str) -> None:
    entry = SCHEMAS[name]
    assert json.loads((FOLDER / name).read_text("utf-8")) == entry
    for part in ("config", "output"):
        jsonschema.Draft202012Validator.check_schema(entry[part])
    jsonschema.validate(entry["example"], entry["config"])
    assert set(entry) >= {"type", "description", "group", "icon", "effects", "timeout_seconds", "handles"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_files_as_people_write_them_fit(path: Path) -> None:
    data = yaml.safe_load(path.read_text("utf-8"))
    jsonschema.validate(data, DOCUMENT)
    for node in nodes(data):
        if node.get("config") and "body" not in node["config"]:
            jsonschema.validate(node["config"], SCHEMAS[f"nodes/{node['type']}.json"]["config"])


def nodes(container: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for node in container["nodes"]:
        yield node
        if "body" in node:
            yield from nodes(node["body"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"nodes": []},
        {"name": "", "nodes": []},
        {"name": "a", "nodes": [{"id": "1a", "type": "START"}]},
        {"name": "a", "nodes": [], "edges": ["a to b"]},
        {"name": "a", "nodes": [], "edges": [{"from": "a"}]},
        {"name": "a", "nodes": [], "edge": []},
    ],
)
def test_wrong_documents_do_not_fit(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, DOCUMENT)


def test_the_schema_and_the_model_agree_on_fields() -> None:
    aliases = {info.alias or name for name, info in Document.model_fields.items()}
    assert set(DOCUMENT["properties"]) == aliases
    assert DOCUMENT["additionalProperties"] is False
