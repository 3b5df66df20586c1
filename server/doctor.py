"""What `interlace doctor` looks at: everything an installation needs, each with the way to mend it."""

from __future__ import annotations

import os
import platform as machine
import sys
from importlib.metadata import version
from typing import Any

from interlace.engine.errors import InterlaceError
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.client import Unreachable, find_server
from interlace.server.exposure import Exposed, check_names
from interlace.server.guard import is_local
from interlace.store.migration import HEAD

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
    checks += [_exposure(settings), *_optional(settings)]
    return {
        "ok": all(check["state"] != "failed" for check in checks), "checks": checks, "settings": settings.masked(),
    }  # fmt: skip


async def look_at(opened: Platform) -> list[dict[str, Any]]:
    """The checks of an installation that is open, as a server has it."""
    settings = opened.settings
    return [
        _python(), _home(settings), *await _platform(opened), _prefect(settings), _lists(settings),
    ]  # fmt: skip


async def _platform(opened: Platform) -> list[dict[str, Any]]:
    where = "SQLite in the home" if opened.settings.database_url is None else "as INTERLACE_DATABASE_URL says"
    registry, status = opened.registry, await opened.sandbox.check()
    return [
        _check("database", "ok", f"{where}, tables of version {HEAD}"),
        await _owner(opened),
        _keys(opened),
        *await _pools(opened),
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


async def _pools(opened: Platform) -> list[dict[str, Any]]:
    """Who takes runs now, and which pools nobody serves though runs wait for them."""
    hosts = await opened.store.hosts.living()
    shown = "; ".join(f"{host.name} ({', '.join(host.pools) or 'none'})" for host in hosts)
    checks = [
        _check("hosts", "ok", shown or "none runs now: `interlace serve` or `interlace worker` takes runs")
    ]
    served = {pool for host in hosts for pool in host.pools}
    wanted = await opened.store.runs.wanted_pools()
    for pool, count in sorted(wanted.items(), key=lambda entry: entry[0] or ""):
        name = opened.served.name(pool)
        if name not in served and (pool is not None or hosts):
            fix = f"start a host of it: interlace worker --pool {name}"
            checks.append(
                _check("pool", "warning", f"{count} runs wait for pool {name!r}, which nobody serves", fix)
            )
    return checks


async def _owner(opened: Platform) -> dict[str, Any]:
    """Whether somebody can sign in who runs the installation."""
    owner = await opened.store.users.get(LOCAL.user_id)
    if owner.has_password:
        return _check("owner", "ok", "has a password")
    keys = [key for key in await opened.store.keys.list() if key.revoked_at is None]
    fix = "give the owner one: interlace user password owner"
    if keys:
        return _check(
            "owner",
            "ok",
            f"has no password, and {len(keys)} key{'' if len(keys) == 1 else 's'}; a link signs in: interlace user link",
        )
    return _check("owner", "warning", "has neither a password nor a key", fix)


def _keys(opened: Platform) -> dict[str, Any]:
    """Where the master key of secrets comes from."""
    settings = opened.settings
    if settings.secret_key is not None or settings.secret_key_file is not None:
        return _check("master key", "ok", "from the settings")
    path = settings.home.resolve() / "secret.key"
    if not path.is_file():
        return _check("master key", "ok", f"is made at the first secret ({path})")
    if settings.database_url is not None:
        fix = "give every process the same key: INTERLACE_SECRET_KEY or INTERLACE_SECRET_KEY_FILE"
        return _check(
            "master key", "warning", f"stands in this home only ({path}), other machines have none", fix
        )
    mode = path.stat().st_mode & 0o077
    if mode:
        return _check("master key", "warning", f"{path} may be read by others", f"chmod 600 {path}")
    return _check("master key", "ok", f"{path}; `interlace backup --with-keys` puts it into backups")


def _exposure(settings: Settings) -> dict[str, Any]:
    """Whether `serve` would listen beyond this machine, and how it is protected there."""
    try:
        check_names(settings)
    except Exposed as error:
        return _check("exposure", "failed", str(error), "export INTERLACE_HOSTS=flows.example.com")
    if is_local(settings.host):
        return _check("exposure", "ok", f"{settings.host} is reached from this machine only")
    if (settings.public_url or "").startswith("https://"):
        return _check("exposure", "ok", f"{settings.host}, behind {settings.public_url}")
    fix = "put a proxy with TLS before it and set INTERLACE_PUBLIC_URL=https://…; the guide has examples"
    return _check(
        "exposure",
        "warning",
        f"{settings.host} is reached without TLS: passwords and keys can be read on the way",
        fix,
    )


def _optional(settings: Settings) -> list[dict[str, Any]]:
    """What is there only where it is set."""
    checks = []
    if settings.oidc:
        checks.append(
            _check("sign-in", "ok", ", ".join(f"{name} ({p.issuer})" for name, p in settings.oidc.items()))
        )
    if not settings.password_login and not settings.oidc:
        fix = "set [oidc.<name>] in interlace.toml, or INTERLACE_PASSWORD_LOGIN=true"
        checks.append(
            _check(
                "sign-in",
                "warning",
                "passwords are off and no provider is set; only keys and links work",
                fix,
            )
        )
    where = settings.otlp_endpoint or "off (INTERLACE_OTLP_ENDPOINT)"
    checks.append(_check("telemetry", "ok", f"traces {where}, metrics {settings.metrics}"))
    mail = (
        "set"
        if settings.smtp_url is not None
        else "off (INTERLACE_SMTP_URL): invitations and requests are not mailed"
    )
    checks.append(_check("mail", "ok", mail))
    return checks


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
