"""The container file, the compose file and the proxies' examples: what they say of us is so, and the usual mistakes are not made."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlace.flows.settings import Settings
from interlace.server.api.files import MAX_BYTES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SETTINGS = {f"INTERLACE_{name.upper()}" for name in Settings.model_fields}
OUTSIDE = "INTERLACE_NAME_OUTSIDE"
"""A variable of the compose file itself."""


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(None, 1)[0], re.sub(r"\s+", " ", line.split(None, 1)[1])) for line in lines]


def of(name: str) -> list[str]:
    return [value for found, value in instructions() if found == name]


def test_images_are_pinned() -> None:
    images = [value.split()[0] for value in of("FROM")] + [service["image"] for service in SERVICES.values()]
    for image in images:
        name, _, tag = image.partition(":")
        assert name, image
        assert re.match(r"\d+\.\d+", tag), f"{image}: a tag with a number, never `latest`"


def test_the_container_runs_as_nobody_and_says_how_it_is() -> None:
    user = of("USER")[-1]
    assert user not in ("root", "0")
    assert any("useradd --system --uid 10001 --gid interlace" in run for run in of("RUN"))
    kinds = [kind for kind, _ in instructions()]
    assert kinds.index("USER") < kinds.index("ENTRYPOINT")
    assert "RUN" not in kinds[kinds.index("USER") :], "what follows runs as the user alone"
    assert "ADD" not in kinds
    assert "SHELL" not in kinds
    for name in ("ENTRYPOINT", "CMD", "VOLUME"):
        assert of(name)[-1].startswith("["), f"{name} in its exec form, which passes signals on"
    assert of("STOPSIGNAL") == ["SIGTERM"]
    assert "/health/live" in of("HEALTHCHECK")[0]
    for run in of("RUN"):
        assert "sudo" not in run
        assert "curl" not in run
        if "pip install" in run:
            assert "--no-cache-dir" in run
        if "requirements.lock" in run:
            assert "--require-hashes" in run


def test_what_is_copied_is_there() -> None:
    for value in of("COPY"):
        words = [word for word in value.split() if not word.startswith("--")]
        if "--from=" in value:
            continue
        for source in words[:-1]:
            assert (ROOT / source).exists(), source
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", ".interlace"} <= set(ignored), (
        "no home, no history and no environment gets into an image"
    )
    assert all(
        "--hash=" in block
        for block in re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text())
        if "==" in block
    )


def test_settings_exist() -> None:
    said = set(
        re.findall(
            r"INTERLACE_[A-Z_]+", "".join((DEPLOY / n).read_text() for n in ("Containerfile", "compose.yaml"))
        )
    )
    for_the_build = {"INTERLACE_REQUIRE_WEB"}
    assert said - {OUTSIDE} - for_the_build <= SETTINGS, said - SETTINGS
    assert len(said) > 10


def test_the_settings_are_valid(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in SERVICES["server"]["environment"].items():
        monkeypatch.setenv(name, str(value).replace("${" + OUTSIDE + ":-localhost}", "flows.example.com"))
    settings = Settings(host="0.0.0.0")
    assert settings.public_url == "https://flows.example.com"
    assert settings.prefect == "external"
    (network,) = COMPOSE["networks"]["inside"]["ipam"]["config"]
    assert settings.proxies == [network["subnet"]], "the proxy is believed, and nobody else"
    assert ipaddress.ip_network(network["subnet"]).is_private


def test_nothing_secret_stands_in_the_file() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    assert not re.search(r"(?i)password:\s*[^\s{/]", text)
    for service in SERVICES.values():
        for name, value in (service.get("environment") or {}).items():
            assert not re.search(r"PASSWORD$|SECRET_KEY$|_AUTH$|DATABASE_URL$", name), name
            assert "@" not in str(value), name
    for name, secret in COMPOSE["secrets"].items():
        assert secret["file"] == f"./secrets/{name}"
    used = {name for service in SERVICES.values() for name in service.get("secrets", [])}
    assert used == set(COMPOSE["secrets"])
    assert "master_key" not in SERVICES["prefect"]["secrets"], "Prefect decrypts nothing"


def test_an_image_has_the_web_ui() -> None:
    assert "INTERLACE_REQUIRE_WEB=1" in (DEPLOY / "Containerfile").read_text()


def test_services_are_closed_and_wait_for_each_other() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"], (
        "all else is inside"
    )
    for name, service in SERVICES.items():
        assert service["restart"] == "unless-stopped"
        assert service["networks"] == ["inside"]
        for other, wanted in service.get("depends_on", {}).items():
            assert wanted["condition"] == "service_healthy"
            assert "healthcheck" in SERVICES[other] or other == "server", f"{name} waits for {other}"
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or (DEPLOY / source).exists(), volume
    for name in ("server", "worker", "prefect"):
        assert SERVICES[name]["read_only"] is True
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in SERVICES[name]["security_opt"]


def test_the_end_is_waited_for() -> None:
    drain = float(re.search(r"INTERLACE_DRAIN=(\d+)", (DEPLOY / "Containerfile").read_text())[1])  # type: ignore[index]
    grace = float(SERVICES["server"]["stop_grace_period"].removesuffix("s"))
    assert grace > drain + 10, "SIGKILL comes after everything was let go in order"


@pytest.mark.parametrize(("file", "unbuffered", "size"), [
    ("nginx.conf", "proxy_buffering off", r"client_max_body_size (\d+)m"),
    ("Caddyfile", "flush_interval -1", r"max_size (\d+)MB"),
])  # fmt: skip
def test_proxies_pass_streams_and_uploads(file: str, unbuffered: str, size: str) -> None:
    text = (DEPLOY / file).read_text()
    assert unbuffered in text
    found = re.search(size, text)
    assert found is not None
    assert int(found[1]) * 1_000_000 >= MAX_BYTES, "an upload that we take passes the proxy too"
    assert "31536000" in text
    assert "/health/ready" in text or file == "nginx.conf"


def test_traefik_and_nginx_are_well_formed() -> None:
    found = yaml.safe_load((DEPLOY / "traefik.yaml").read_text())["http"]
    router = found["routers"]["interlace"]
    assert router["service"] in found["services"]
    assert set(router["middlewares"]) <= set(found["middlewares"])
    assert not any("buffering" in one for one in found["middlewares"].values()), "it gathers whole answers"
    assert found["services"]["interlace"]["loadBalancer"]["responseForwarding"]["flushInterval"] == "1ms"
    text = (DEPLOY / "nginx.conf").read_text()
    assert text.count("{") == text.count("}") + text.count("`http { … }`") * 0
    for line in text.splitlines():
        bare = line.strip()
        assert not bare or bare.startswith("#") or bare.endswith(("{", "}", ";")), line
    for wanted in (
        "X-Forwarded-For $remote_addr",
        "X-Forwarded-Proto $scheme",
        "Host $host",
        "proxy_http_version 1.1",
    ):
        assert f"proxy_set_header {wanted};" in text or f"{wanted};" in text
