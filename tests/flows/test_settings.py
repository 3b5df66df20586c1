from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from interlace.engine.errors import NodeError
from interlace.flows.environment import ProcessEnvironment
from interlace.flows.settings import Settings


def test_arguments_win_over_variables_and_they_over_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "interlace.toml").write_text(
        'port = 1\nhost = "a"\nenvironment = "prod"\nhttp_allow = ["10.0.0.0/8"]\n[environments.prod]\nregion = "eu"\n'
    )
    monkeypatch.setenv("INTERLACE_PORT", "2")
    monkeypatch.setenv("INTERLACE_HTTP_ALLOW", "127.0.0.1, api:8080")
    settings = Settings(host="b")
    assert (settings.host, settings.port, settings.environment) == ("b", 2, "prod")
    assert settings.http_allow == ["127.0.0.1", "api:8080"]
    monkeypatch.setenv("INTERLACE_ENV_LEVEL", "high")
    assert ProcessEnvironment(settings).settings() == {"region": "eu", "LEVEL": "high", "level": "high"}


def test_secrets_are_masked() -> None:
    settings = Settings(database_url="postgresql://u:hidden@h/d", prefect_auth="u:hidden")  # type: ignore[arg-type]
    assert "hidden" not in str(settings.masked())
    assert "hidden" not in repr(settings)


@pytest.mark.parametrize(("name", "value"), [("PORT", "70000"), ("MAX_RUNS", "0"), ("PREFECT", "maybe")])
def test_values_that_make_no_sense(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"INTERLACE_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()):
        Settings()


def test_secrets_come_from_the_process_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLACE_SECRETS_API_TOKEN", "x")
    environment = ProcessEnvironment(Settings())
    assert environment.secret("api_token") == "x"
    with pytest.raises(NodeError, match="INTERLACE_SECRETS_OTHER"):
        environment.secret("other")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("true", True), ("false", False), ("HTTP, CODE", ["HTTP", "CODE"]), ("CODE", ["CODE"])],
)
def test_which_nodes_prefect_shows(
    monkeypatch: pytest.MonkeyPatch, text: str, wanted: bool | list[str]
) -> None:
    monkeypatch.setenv("INTERLACE_PREFECT_NODES", text)
    assert Settings().prefect_nodes == wanted
