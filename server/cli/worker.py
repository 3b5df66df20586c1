"""`interlace worker`: one more process that takes runs of the same database and Prefect server."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def worker(
    pool: Annotated[
        list[str] | None,
        typer.Option(
            "--pool", help="Pool whose runs are taken; may be given again. The default pool if not given."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most runs at the same time.")] = None,
    name: Annotated[
        str | None, typer.Option(help="Name among the hosts; machine and number if not given.")
    ] = None,
    tied: Annotated[bool, typer.Option("--tied", hidden=True, help="End when standard input ends.")] = False,
) -> None:
    """Take runs from the pools of the database that INTERLACE_DATABASE_URL names, until Ctrl-C or SIGTERM.

    Exit code: 0 ended in order, 1 failed, 2 settings that do not fit, 3 the database does not answer.
    """
    from interlace.flows.settings import Settings
    from interlace.server.working import Working

    chosen: dict[str, Any] = {"pools": pool or None, "max_runs": limit, "name": name}
    settings = Settings(**{key: value for key, value in chosen.items() if value is not None})
    raise typer.Exit(Working(settings, tied=tied).run())
