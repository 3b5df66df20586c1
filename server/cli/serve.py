"""`interlace serve`: everything in one process, and Prefect's server as its child."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=0, max=64, help="Worker processes beside this one.")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Run the first example and show its report.")] = False,
    once: Annotated[bool, typer.Option("--once", help="With --demo: end when the example has run.")] = False,
) -> None:
    """Serve the API and the pages, run workflows, and keep Prefect's server and host running."""
    from interlace.flows.settings import Settings
    from interlace.server.demo import with_examples
    from interlace.server.serving import Serving

    chosen: dict[str, Any] = {"host": host, "port": port, "workers": workers}
    settings = with_examples(Settings(**{name: value for name, value in chosen.items() if value is not None}))
    raise typer.Exit(Serving(settings, demo=demo, once=once).run())
