"""`/api/v1/templates`: workflows to start from, which come with the installation."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter

from interlace.engine.document import Document
from interlace.engine.source import load_file
from interlace.server.demo import examples_folder
from interlace.server.problems import ApiError
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1/templates", tags=["workflows"])


@router.get("", dependencies=[needs("workflows:read")])
async def list_templates() -> dict[str, Any]:
    """Every template: what it is for, what it needs, its node types; first what needs nothing, the smallest first."""
    found = [_summary(name, document) for name, (document, _) in _templates().items()]
    return {"items": sorted(found, key=lambda one: (len(one["needs"]), len(one["nodes"])))}


@router.get("/{template}", dependencies=[needs("workflows:read")])
async def get_template(template: str) -> dict[str, Any]:
    """One template with its document as YAML and as an object."""
    found = _templates().get(template)
    if found is None:
        raise ApiError(404, "not_found", f"no template {template!r}; known: {', '.join(_templates())}")
    document, text = found
    plain = document.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {**_summary(template, document), "yaml": text, "document": plain}


@cache
def _templates() -> dict[str, tuple[Document, str]]:
    found = {}
    for path in (
        *sorted((examples_folder() / "templates").glob("*.yaml")),
        *sorted(examples_folder().glob("*.yaml")),
    ):
        found[path.stem] = load_file(path).require(), path.read_text("utf-8")
    return found


def _summary(name: str, document: Document) -> dict[str, Any]:
    about: dict[str, Any] = (document.ui.model_extra or {}).get("template") or {}
    kinds = list(dict.fromkeys(spec.type for spec, _ in document.walk() if spec.type not in ("START", "END")))
    return {
        "id": name, "name": document.name, "description": document.description, "group": about.get("group", "examples"),
        "needs": about.get("needs", []), "nodes": kinds, "inputs": document.inputs,
    }  # fmt: skip
