"""Real descriptions: every operation becomes an action or is reported, and nothing else is made of them."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema
import pytest

from interlace.resources.connectors.definition import Connector
from interlace.resources.connectors.openapi import export_openapi, import_openapi
from interlace.resources.connectors.schemas import parameters_schema, references, response_schema
from tests.resources.connectors import corpus

pytestmark = corpus.needs_corpus
METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}
ACTIONS = {
    "box.json.gz": 296, "digitalocean-external-refs.yaml": 0, "github-ghes-2.18.json.gz": 511, "jira-platform-v3.json.gz": 468,
    "oai-tags-3.2.yaml": 4, "oai-uber.json": 5, "openai.yaml.gz": 288, "openfga.json": 24, "realworld-conduit.yaml": 19,
    "sendgrid-v3.json.gz": 334, "spotify.yaml": 96, "stripe-2020-10.json.gz": 361, "weather-gov.yaml": 58,
}  # fmt: skip


def operations(spec: dict[str, Any]) -> set[str]:
    """Counted by the raw text alone."""
    found = set()
    for path, item in spec["paths"].items():
        found |= {f"{method.upper()} {path}" for method in METHODS & set(item)}
        found |= {f"{method} {path}" for method in item.get("additionalOperations", {})}
    return found


def test_the_whole_corpus_is_looked_at() -> None:
    assert sorted(ACTIONS) == corpus.FILES


@pytest.mark.parametrize("name", corpus.FILES)
def test_no_operation_is_lost(name: str) -> None:
    wanted = operations(corpus.plain(name))
    found = import_openapi(corpus.text(name))
    made = [f"{action.method} {action.path}" for action in found.connector.actions]
    left_out = {e.place: e.message for e in found.entries if e.message.startswith("left out: ")}
    assert sorted([*made, *left_out]) == sorted(place.partition("#")[0] for place in wanted)
    assert found.operations == len(wanted)
    assert len(found.connector.actions) == ACTIONS[name]
    if name.startswith("digitalocean"):
        assert all("another file" in why and ".yml" in why for why in left_out.values())


@pytest.mark.parametrize("name", corpus.FILES)
def test_schemas_are_valid_and_whole(name: str) -> None:
    connector = import_openapi(corpus.text(name)).connector
    for action in connector.actions:
        for schema in (parameters_schema(connector, action), response_schema(connector, action)):
            assert set(references(schema)) <= set(schema.get("$defs", {}))
            plain = {key: value for key, value in schema.items() if key != "$defs"}
            jsonschema.Draft202012Validator.check_schema(plain)
    for schema in connector.schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", corpus.FILES)
def test_an_export_imports_as_the_same_connector(name: str) -> None:
    first = import_openapi(corpus.text(name)).connector
    second = import_openapi(json.dumps(export_openapi(first))).connector
    assert (
        second.model_copy(
            update={"name": first.name, "source": first.source, "description": first.description}
        )
        == first
    )
    assert Connector.model_validate_json(first.model_dump_json(by_alias=True)) == first


@pytest.mark.parametrize("name", ["stripe-2020-10.json.gz", "github-ghes-2.18.json.gz"])
def test_names_do_not_depend_on_the_order_of_the_text(name: str) -> None:
    spec = corpus.plain(name)
    turned = {**spec, "paths": dict(reversed(spec["paths"].items()))}
    first, second = (import_openapi(json.dumps(one)).connector for one in (spec, turned))
    assert {(a.method, a.path): a.name for a in first.actions} == {
        (a.method, a.path): a.name for a in second.actions
    }


def test_the_largest_is_read_quickly() -> None:
    content = corpus.text("stripe-2020-10.json.gz")
    started = time.process_time()
    import_openapi(content)
    assert time.process_time() - started < 5


def test_credentials_and_addresses_are_taken_over() -> None:
    found = {
        name: import_openapi(corpus.text(name)).connector
        for name in ("box.json.gz", "realworld-conduit.yaml", "weather-gov.yaml")
    }
    box, conduit, weather = found.values()
    assert (box.auth.type, box.base_url) == ("oauth2_code", "https://api.box.com/2.0")
    assert (conduit.auth.type, conduit.base_url) == ("api_key", "https://api.realworld.show/api")
    assert (weather.auth.type, getattr(weather.auth, "name", "")) == ("api_key", "User-Agent")
    assert not conduit.find("Login").authenticate  # type: ignore[union-attr]
    assert conduit.find("CreateArticle").authenticate  # type: ignore[union-attr]
    assert conduit.find("CreateArticle").requires_confirmation  # type: ignore[union-attr]
    assert not conduit.find("GetArticles").requires_confirmation  # type: ignore[union-attr]
