"""The `interlace` command. What a command needs is imported when it runs, so that every start is quick."""

from __future__ import annotations

import os

import typer

from interlace.server.cli import approvals, garbage, operate, runs, workflows
from interlace.server.cli import run as running
from interlace.server.cli import serve as serving

app = typer.Typer(
    name="interlace",
    help="Typed, durable workflows on Prefect.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serving.serve)
app.command()(running.run)
app.command()(running.validate)
app.command("test-node")(running.run_node)
app.command()(operate.nodes)
app.command()(operate.doctor)
app.command()(operate.version)
app.add_typer(runs.app, name="runs")
app.add_typer(workflows.app, name="workflows")
app.add_typer(approvals.app, name="approvals")
app.add_typer(operate.user, name="user")


def main() -> None:
    """Run the command line."""
    garbage.pause()
    os.environ.setdefault("DO_NOT_TRACK", "1")
    app()
