"""The environment Prefect runs under, on both sides of its API.

A user's own `~/.prefect` and `PREFECT_*` variables never reach the embedded server, and the client reads none of
them for a connection of ours: everything Prefect keeps stands under our home.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from interlace.store.home import make_home

VERSION = "3.9.1"

# Never sent anywhere: Prefect's SDK reads DO_NOT_TRACK when it is imported, its server reads the other one.
_SILENT = {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}

# Measured on two cores: batches of the recorder alone take a task run from 18 to 4 ms of server CPU.
_SERVER = {
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TRIGGERS_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(30 * 86_400),
    "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": "P3D",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_LOGGING_COLORS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # Relative, so that the UI also works through a tunnel or under another name.
    "PREFECT_SERVER_UI_API_URL": "/api",
}

_CLIENT = {
    "PREFECT_CLIENT_CSRF_SUPPORT_ENABLED": "false",
    "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false",
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    # Run logs are shipped in bulk by us; Prefect's own lines would cost more than the run they describe.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
}


def server_environment(home: Path, *, auth: str | None, overrides: Mapping[str, str]) -> dict[str, str]:
    """Give the embedded server's whole environment.

    Args:
        home: our home; Prefect keeps its files in `home/prefect`.
        auth: `user:password` the API and the UI ask for, or None.
        overrides: `PREFECT_*` settings of the operator; they win.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    folder = prefect_home(home)
    database = folder / "prefect.db"
    places = {
        "PREFECT_HOME": str(folder),
        "PREFECT_PROFILES_PATH": str(folder / "profiles.toml"),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{database}",
    }
    secret = {"PREFECT_SERVER_API_AUTH_STRING": auth, "PREFECT_API_AUTH_STRING": auth} if auth else {}
    return {**inherited, **_SERVER, **_SILENT, **places, **secret, **overrides}


def client_environment(home: Path, *, api_url: str, auth: str | None, ca_file: Path | None) -> dict[str, str]:
    """Give the settings under which Prefect's client talks to `api_url`, as environment variables."""
    folder = prefect_home(home)
    certificates = ca_file or (None if api_url.startswith("https:") else small_ca(folder))
    return {
        **_CLIENT,
        **_SILENT,
        "PREFECT_HOME": str(folder),
        "PREFECT_PROFILES_PATH": str(folder / "profiles.toml"),
        "PREFECT_API_URL": api_url,
        **({"PREFECT_API_AUTH_STRING": auth} if auth else {}),
        **({"PREFECT_API_SSL_CERT_FILE": str(certificates)} if certificates else {}),
    }


def import_environment(home: Path) -> dict[str, str]:
    """Give the variables that have to stand in the environment when Prefect is imported."""
    folder = prefect_home(home)
    quiet = folder / "client-logging.yml"
    if not quiet.exists():
        # Prefect's own configuration takes over the root logger and uvicorn's of the process it is imported into.
        quiet.write_text(
            "version: 1\ndisable_existing_loggers: false\nloggers: {prefect: {level: CRITICAL}}\n"
        )
    return {
        **_SILENT,
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
        "PREFECT_HOME": str(folder),
        "PREFECT_PROFILES_PATH": str(folder / "profiles.toml"),
        "PREFECT_LOGGING_SETTINGS_PATH": str(quiet),
    }


def prefect_home(home: Path) -> Path:
    """Give Prefect's folder under our home, made if it is missing."""
    folder = home.resolve() / "prefect"
    make_home(folder.parent)
    # Inputs of runs stand in Prefect's database.
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def small_ca(folder: Path) -> Path:
    """Give a CA file of one certificate.

    Prefect's client loads a CA bundle for every client it makes, plain HTTP or not: 40 ms of CPU per run for the
    whole bundle, nothing for one certificate.
    """
    path = folder / "one-ca.pem"
    if not path.exists():
        import certifi  # noqa: PLC0415 - only the first start of a home needs it

        end = "-----END CERTIFICATE-----\n"
        bundle = Path(certifi.where()).read_text(encoding="ascii", errors="ignore")
        first = bundle[bundle.index("-----BEGIN CERTIFICATE-----") : bundle.index(end) + len(end)]
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(first, encoding="ascii")
        draft.replace(path)
    return path
