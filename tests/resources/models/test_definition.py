from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from interlace.resources.models.definition import ModelSettings, ProviderDefinition
from interlace.resources.models.testing import Script
from tests.docs.pages import ROOT, blocks

GUIDE = ROOT / "docs" / "guide"


def block(page: str, name: str) -> str:
    return next(found.text for found in blocks(GUIDE / page) if found.name == name)


def test_the_guide_shows_a_provider_and_a_script_that_are_right(tmp_path: Path) -> None:
    provider = ProviderDefinition.model_validate(yaml.safe_load(block("models.md", "provider.yaml")))
    assert provider.roles["embedding"] == "vectors"
    script = tmp_path / "script.yaml"
    script.write_text(block("testing-models.md", "script.yaml"))
    assert len(Script.load(script).rules) == 5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "a/b"}, "name"),
        ({"base_url": "llm.example.com"}, "http or https address"),
        ({"base_url": "https://user:pass@llm.example.com"}, "do not belong into the address"),
        ({"models": [{"name": "m"}, {"name": "m"}]}, "two models are called 'm'"),
        ({"roles": {"general": "none"}}, "not among the models"),
        ({"roles": {"clever": "m"}}, "roles"),
        ({"retrys": 2}, "retrys"),
        ({"models": [{"name": "m", "price": {"input": 1, "currency": "euro"}}]}, "currency"),
    ],
)
def test_what_is_no_provider_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ProviderDefinition.model_validate({"name": "p", "models": [{"name": "m"}], **wrong})


def test_keys_are_shown_nowhere() -> None:
    given = {"name": "p", "api_key": "sk-shown", "headers": {"X": "also-secret", "Y": {"secret": "NAME"}}}
    settings = ModelSettings.model_validate({"providers": [given], "roles": {"general": "p/m"}})
    shown = str(settings.masked()) + repr(settings)
    assert "sk-shown" not in shown
    assert "also-secret" not in shown
    assert "NAME" in str(settings.masked())
    with pytest.raises(ValidationError) as caught:
        ProviderDefinition.model_validate({**given, "retries": -1, "api_key": ["sk-shown"]})
    assert "sk-shown" not in str(caught.value)
