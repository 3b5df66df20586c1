"""The `interlace` command. What a command needs is imported when it runs, so that every start is quick."""

from __future__ import annotations

import os

import typer

from interlace.server.cli import (
    agents,
    approvals,
    backing,
    connectors,
    databases,
    garbage,
    importing,
    keeping,
    knowledge,
    mcp,
    models,
    operate,
    organisations,
    people,
    pins,
    replay,
    runs,
    schedule,
    secrets,
    skills,
    tools,
    tracing,
    variables,
    webhook,
    workflows,
)
from interlace.server.cli import chat as chatting
from interlace.server.cli import run as running
from interlace.server.cli import serve as serving
from interlace.server.cli import worker as working

app = typer.Typer(
    name="interlace",
    help="Typed, durable workflows on Prefect.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serving.serve)
app.command()(working.worker)
app.command()(running.run)
app.command()(running.validate)
app.command("import")(importing.import_file)
app.command()(chatting.chat)
app.command("test-node")(running.run_node)
app.command()(operate.nodes)
app.command()(operate.doctor)
app.command()(operate.version)
app.command()(backing.backup)
app.command()(backing.restore)
runs.app.command()(tracing.trace)
runs.app.command()(replay.replay)
runs.app.command()(replay.diff)
runs.app.command()(replay.check)
runs.app.command()(keeping.delete)
runs.app.command()(keeping.prune)
workflows.app.command()(pins.pin)
workflows.app.command()(pins.unpin)
workflows.app.command()(pins.pins)
workflows.app.command()(variables.variables)
app.add_typer(runs.app, name="runs")
app.add_typer(workflows.app, name="workflows")
app.add_typer(approvals.app, name="approvals")
app.add_typer(schedule.app, name="schedule")
app.add_typer(webhook.app, name="webhook")
app.add_typer(models.app, name="models")
app.add_typer(connectors.app, name="connectors")
app.add_typer(operate.user, name="user")
app.add_typer(organisations.org, name="org")
app.add_typer(people.audit, name="audit")
app.add_typer(secrets.app, name="secrets")
app.add_typer(databases.app, name="databases")
app.add_typer(mcp.app, name="mcp")
app.add_typer(knowledge.app, name="kb")
app.add_typer(skills.app, name="skills")
app.add_typer(agents.app, name="agents")
app.add_typer(tools.app, name="tools")


def main() -> None:
    """Run the command line."""
    garbage.pause()
    os.environ.setdefault("DO_NOT_TRACK", "1")
    app()
