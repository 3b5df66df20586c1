"""What `interlace doctor` looks at: everything an installation needs, each with the way to mend it."""

from __future__ import annotations

import os
import platform as machine
import sys
from importlib.metadata import version
from typing import Any

from interlace.engine.errors import InterlaceError
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.client import Unreachable, find_server

State = str


async def diagnose() -> dict[str, Any]:
    """`{ok, checks: [{name, state, detail, fix}], settings}`."""
    settings = Settings()
    checks = [_python(), _home(settings)]
    try:
        opened = await Platform.open(settings)
    except InterlaceError as error:
        checks.append(
            _check("database", "failed", str(error), "check INTERLACE_DATABASE_URL and INTERLACE_HOME")
        )
    else:
        try:
            checks += await _platform(opened)
        finally:
            await opened.close()
    checks.append(await _server(settings))
    checks.append(_prefect(settings))
    checks.append(_lists(settings))
    return {
        "ok": all(check["state"] != "failed" for check in checks), "checks": checks, "settings": settings.masked(),
    }  # fmt: skip


async def _platform(opened: Platform) -> list[dict[str, Any]]:
    where = "SQLite in the home" if opened.settings.database_url is None else "as INTERLACE_DATABASE_URL says"
    registry, status = opened.registry, await opened.sandbox.check()
    return [
        _check("database", "ok", where),
        _check("node types", "ok", f"{len(registry)}: {', '.join(registry)}"),
        *(
            _check("plug-in", "warning", f"{name} cannot be loaded: {why}", "mend or uninstall it")
            for name, why in registry.failures.items()
        ),
        _check(
            "code sandbox",
            "ok" if status.available else "failed",
            status.reason or f"engine {status.engine}",
            status.fix,
        ),
    ]


def _check(name: str, state: State, detail: str, fix: str | None = None) -> dict[str, Any]:
    return {"name": name, "state": state, "detail": detail, "fix": fix}


def _python() -> dict[str, Any]:
    detail = f"{machine.python_version()} on {machine.system()} {machine.machine()}"
    return _check("python", "ok" if sys.version_info >= (3, 11) else "failed", detail, None)


def _home(settings: Settings) -> dict[str, Any]:
    home = settings.home.resolve()
    parent = next(path for path in (home, *home.parents) if path.exists())
    if os.access(parent, os.W_OK):
        return _check("home", "ok", str(home))
    return _check("home", "failed", f"{home} cannot be written", "set INTERLACE_HOME to a folder that can")


async def _server(settings: Settings) -> dict[str, Any]:
    try:
        client = await find_server(settings)
    except Unreachable as error:
        fix = "read its log; if it stays so, end its process and start `interlace serve` again"
        return _check("server", "failed", str(error), fix)
    if client is None:
        return _check("server", "ok", "none runs for this home; commands work on their own")
    async with client:
        return _check("server", "ok", f"running at {client.url}")


def _prefect(settings: Settings) -> dict[str, Any]:
    installed = version("prefect")
    where = {"embedded": "started by serve", "external": settings.prefect_api_url, "off": "switched off"}[
        settings.prefect
    ]
    if settings.prefect == "external" and not settings.prefect_api_url:
        return _check("prefect", "failed", "external, but no API is named", "set INTERLACE_PREFECT_API_URL")
    return _check("prefect", "ok", f"{installed}, {where}")


def _lists(settings: Settings) -> dict[str, Any]:
    opened = [f"HTTP {entry}" for entry in settings.http_allow] + [
        f"database {e}" for e in settings.database_allow
    ]
    return _check(
        "allow-lists",
        "ok",
        ", ".join(opened) or "closed: no private HTTP target and no database may be reached",
    )
