"""`interlace backup` and `interlace restore`."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from interlace.server.cli.output import USAGE, JsonFlag, emit_json, note, run_async, say, stop


def backup(
    file: Annotated[
        Path | None,
        typer.Argument(help="The file to write; interlace-<time>.tar.gz in this folder, if not given."),
    ] = None,
    with_keys: Annotated[
        bool,
        typer.Option(
            "--with-keys", help="Put the keys that open secrets into it too; keep it as safe as them."
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write everything that is kept into one file, also while a server works: workflows, runs, values, people, secrets."""
    to = file or Path(time.strftime("interlace-%Y%m%d-%H%M%S.tar.gz"))

    async def work() -> dict[str, Any]:
        import asyncio

        from interlace.flows.settings import Settings
        from interlace.store.backup import make_backup

        settings = Settings()
        made = await asyncio.to_thread(
            make_backup,
            to,
            url=_url(settings),
            home=settings.home.resolve(),
            payloads=settings.payloads,
            keys=with_keys,
        )
        return _shown(made) | {"file": str(to), "bytes": to.stat().st_size}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    say(found["file"])
    note(f"✓ {found['rows']} rows, {found['payloads']} values, {found['bytes'] / 1e6:.1f} MB")
    if not with_keys:
        note(
            "  without keys: secrets in it open only with this installation's master key (secret.key in the home)"
        )


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `interlace backup` wrote.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only read it to its end, and compare every checksum.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make home and database from a backup, of either kind of database; no server may run meanwhile."""
    if not file.is_file():
        stop(f"there is no file {str(file)!r}", USAGE)

    async def work() -> dict[str, Any]:
        import asyncio

        from interlace.flows.settings import Settings
        from interlace.server.lock import HomeLock, Taken
        from interlace.store.backup import check_backup, restore_backup
        from interlace.store.backup.archive import BackupError

        if check:
            return _shown(await asyncio.to_thread(check_backup, file))
        settings = Settings()
        home = settings.home.resolve()
        try:
            with HomeLock(home):
                made = await asyncio.to_thread(
                    restore_backup,
                    file,
                    url=_url(settings),
                    home=home,
                    payloads=settings.payloads,
                    force=force,
                )
        except Taken:
            raise BackupError(f"a server of the home {str(home)!r} runs; end it first") from None
        return _shown(made)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found["created_at"]))
    note(
        f"✓ {'good' if check else 'restored'}: {found['rows']} rows and {found['payloads']} values of {made}"
    )
    if not check and not found["keys"]:
        note(
            "  it holds no keys: put the old secret.key into the home, or set INTERLACE_SECRET_KEY, before you start a server"
        )


def _url(settings: Any) -> str | None:
    return None if settings.database_url is None else str(settings.database_url.get_secret_value())


def _shown(made: Any) -> dict[str, Any]:
    values = asdict(made)
    del values["parts"]
    return values | {"rows": sum(made.tables.values())}
