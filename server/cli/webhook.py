"""`interlace webhook …`: addresses that start workflows, and what came to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, table

if TYPE_CHECKING:
    from interlace.flows.platform import Platform
    from interlace.store.trigger_row import Trigger

app = typer.Typer(help="Addresses that start workflows.", no_args_is_help=True)
Webhook = Annotated[str, typer.Argument(help="Id of the webhook.")]


@app.command("list")
def list_webhooks(
    workflow: Annotated[
        str | None, typer.Option("--workflow", "-w", help="Only those of this workflow.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """The webhooks and their addresses, which whoever knows them may call."""

    async def work() -> list[dict[str, Any]]:
        from interlace.server.api.webhooks import webhook_json
        from interlace.server.cli.session import platform

        async with platform() as opened:
            of = None if workflow is None else (await opened.store.workflows.get(workflow)).id
            page = await opened.store.triggers.list("webhook", owner="local", workflow_id=of, limit=limit)
            return [await webhook_json(opened, item) for item in page.items]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (item["id"], item["name"], "paused" if item["paused"] else item["url"], (item["signature"] or {}).get("type", ""),
         item["error"] or "")
        for item in found
    ]  # fmt: skip
    table(["id", "name", "address", "signature", "error"], rows, empty="No webhooks.")


@app.command()
def add(  # noqa: PLR0917 - one parameter an option
    workflow: Annotated[str, typer.Argument(help="Name or id of a published workflow.")],
    signature: Annotated[
        str | None, typer.Option(help="github, stripe, slack, shopify, standard, gitlab or twilio.")
    ] = None,
    secret: Annotated[
        str | None, typer.Option(help="Name of the stored secret; one of its own if not given.")
    ] = None,
    key_header: Annotated[
        str | None, typer.Option(help="Header that tells a delivery that comes again.")
    ] = None,
    wait: Annotated[str | None, typer.Option(help="Answer with the outputs, within so long.")] = None,
    name: Annotated[str | None, typer.Option(help="A name for people.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make a webhook beside those of the workflow's document."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.triggers.own import Own, read
        from interlace.server.api.webhooks import webhook_json
        from interlace.server.cli.session import platform

        fields: dict[str, Any] = {}
        if signature is not None:
            fields["signature"] = {"type": signature, **({} if secret is None else {"secret": secret})}
        if key_header is not None:
            fields["idempotency"] = {"header": key_header}
        if wait is not None:
            fields["response"] = {"mode": "wait", "timeout": wait}
        async with platform() as opened:
            made = await Own(opened).add(workflow, read("webhook", fields), by=LOCAL, name=name)
            secrets = opened.triggers.webhooks.secrets
            shown = (
                await secrets.set_signing(made, None, 0) if signature is not None and secret is None else None
            )
            await secrets.ensure_tokens()
            found = await webhook_json(opened, await opened.store.triggers.get(made.id))
            return found if shown is None else {**found, "secret": shown}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    note(f"✓ {found['id']} starts {workflow}")
    say(found["url"])
    if "secret" in found:
        note(f"  its sender signs with this secret, which is not shown again: {found['secret']}")


@app.command()
def show(webhook: Webhook, as_json: JsonFlag = False) -> None:
    """One webhook."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.server.api.webhooks import webhook_json

        return await webhook_json(opened, found)

    found = _with(webhook, work, as_json=as_json)
    if as_json:
        emit_json(found)
        return
    say(f"{found['name']}  {', '.join(found['methods'])}  ({found['source']})")
    say(str(found["url"]))
    if found["error"]:
        say(f"error: {found['error']}")


@app.command()
def deliveries(
    webhook: Webhook,
    dead: Annotated[bool, typer.Option("--dead", help="Only those that could start no run.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """What came to a webhook."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.server.api.webhooks import delivery_json

        page = await opened.store.deliveries.list(found.id, status="dead" if dead else None, limit=limit)
        return {"items": [delivery_json(item) for item in page.items]}

    found = _with(webhook, work, as_json=as_json)
    if as_json:
        emit_json(found)
        return
    from interlace.flows.report import instant_text

    rows = [
        (item["id"], instant_text(item["received_at"]), item["status"], item["size"], item["run_id"] or item["error"] or "")
        for item in found["items"]
    ]  # fmt: skip
    table(["id", "received", "status", "bytes", "run or reason"], rows, empty="Nothing came yet.")


@app.command()
def redeliver(
    webhook: Webhook,
    delivery: Annotated[str, typer.Argument(help="Id of the delivery.")],
    as_json: JsonFlag = False,
) -> None:
    """Start a run with a delivery's request again, and wait for its end."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        accepted = await opened.triggers.webhooks.redeliver(found, delivery)
        await opened.runner.idle()
        assert accepted.run_id is not None
        status = (await opened.store.runs.get(accepted.run_id)).status
        return {
            "delivery": accepted.delivery_id,
            "redelivers": delivery,
            "run_id": accepted.run_id,
            "status": status,
        }

    found = _with(webhook, work, as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note(f"✓ run {found['run_id']} is {found['status']}")


@app.command("rotate-token")
def rotate_token(webhook: Webhook, as_json: JsonFlag = False) -> None:
    """Give the webhook a new address; the one before takes nothing any more."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.server.api.webhooks import webhook_json

        await opened.triggers.webhooks.secrets.new_token(found)
        return await webhook_json(opened, await opened.store.triggers.get(found.id))

    found = _with(webhook, work, as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        say(str(found["url"]))


@app.command("rotate-secret")
def rotate_secret(
    webhook: Webhook,
    keep_previous: Annotated[str, typer.Option(help="How long the one before counts as well.")] = "1d",
    value_from: Annotated[
        typer.FileText | None, typer.Option("--from", help="File with the secret; - reads standard input.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Set the secret that requests are signed with; one is made and shown if none is given."""
    given = None if value_from is None else value_from.read().strip()

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.engine.durations import parse_duration

        seconds = float(parse_duration(keep_previous))
        return {"secret": await opened.triggers.webhooks.secrets.set_signing(found, given, seconds)}

    found = _with(webhook, work, as_json=as_json)
    if as_json:
        emit_json(found)
    elif given is None:
        say(found["secret"])
    else:
        note("✓ set")


@app.command()
def pause(webhook: Webhook, as_json: JsonFlag = False) -> None:
    """Answer 503 until the webhook is resumed."""
    _pause(webhook, paused=True, as_json=as_json)


@app.command()
def resume(webhook: Webhook, as_json: JsonFlag = False) -> None:
    """Take requests again."""
    _pause(webhook, paused=False, as_json=as_json)


def _pause(webhook: str, *, paused: bool, as_json: bool) -> None:
    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.triggers.own import Own
        from interlace.server.api.webhooks import webhook_json

        return await webhook_json(opened, await Own(opened).pause(found, paused=paused, by=LOCAL))

    found = _with(webhook, work, as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note("✓ paused" if paused else "✓ resumed")


@app.command()
def remove(webhook: Webhook, as_json: JsonFlag = False) -> None:
    """Remove a webhook that does not stand in a document, with its deliveries; its runs stay."""

    async def work(opened: Platform, found: Trigger) -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.triggers.own import Own

        await Own(opened).remove(found, by=LOCAL)
        return {"id": found.id, "removed": True}

    found = _with(webhook, work, as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note("✓ removed")


def _with(
    webhook: str, work: Callable[[Platform, Trigger], Awaitable[dict[str, Any]]], *, as_json: bool
) -> dict[str, Any]:
    """Do something with one webhook."""

    async def opened_work() -> dict[str, Any]:
        from interlace.server.cli.session import platform

        async with platform() as opened:
            return await work(opened, await opened.store.triggers.get(webhook, owner="local", kind="webhook"))

    return run_async(opened_work(), as_json=as_json)
