"""`interlace models …`: providers of language models, what they cost, and budgets."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlace.server.cli.output import FAILED, USAGE, JsonFlag, emit_json, note, run_async, say, stop, table

if TYPE_CHECKING:
    from interlace.resources.models.admin import ModelAdmin
    from interlace.resources.models.definition import ProviderDefinition

app = typer.Typer(help="Language models, what they cost, and budgets.", no_args_is_help=True)
budget = typer.Typer(help="Budgets: how much models may cost.", no_args_is_help=True)
app.add_typer(budget, name="budgets")
Name = Annotated[str, typer.Argument(help="Name of the provider.")]


@contextlib.asynccontextmanager
async def _admin() -> AsyncIterator[ModelAdmin]:
    from interlace.resources.models.admin import ModelAdmin
    from interlace.server.cli.session import platform

    async with platform() as opened:
        yield ModelAdmin(opened.store, opened.secrets, opened.models)


@app.command("list")
def list_models(as_json: JsonFlag = False) -> None:
    """The providers and their models."""

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            return await admin.providers(by=LOCAL)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [row for provider in found for row in _rows(provider)]
    empty = "No models. Set OPENAI_API_KEY, or add a provider with `interlace models add`."
    table(["model", "roles", "context", "price in/out", "from", "address"], rows, empty=empty)


def _rows(provider: dict[str, Any]) -> list[tuple[object, ...]]:
    by_model: dict[str, list[str]] = {}
    for role, name in provider["roles"].items():
        by_model.setdefault(name, []).append(role)
    known = {model["name"]: model for model in provider["models"]}
    rows: list[tuple[object, ...]] = []
    for name in dict.fromkeys([*known, *by_model, *(["*"] if provider["any_model"] else [])]):
        model = known.get(name, {})
        price = model.get("price")
        rows.append((
            f"{provider['name']}/{name}", " ".join(by_model.get(name, ())), model.get("context_window"),
            f"{price['input']:g}/{price['output']:g} {price['currency']}" if price else "",
            provider["source"], provider["base_url"],
        ))  # fmt: skip
    return rows


@app.command()
def show(name: Name, as_json: JsonFlag = False) -> None:
    """One provider; its key is not shown."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            return await admin.show(name, by=LOCAL)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
        return
    table(["model", "roles", "context", "price in/out", "from", "address"], _rows(found), empty="No models.")
    say(
        f"\nkey: {'set' if found['api_key']['set'] else 'none'}  time-out: {found['timeout']:g} s  retries: {found['retries']}"
    )


@app.command()
def add(  # noqa: PLR0917 - one parameter an option
    name: Annotated[str | None, typer.Argument(help="Name of the provider; not with --file.")] = None,
    url: Annotated[str | None, typer.Option(help="Base URL of the API, ending in /v1; OpenAI's if not given.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A model; repeat it. Without any, every name is let through.")] = None,
    role: Annotated[list[str] | None, typer.Option(help="What a model is for: general=NAME, fast=NAME, embedding=NAME.")] = None,
    key_from: Annotated[str | None, typer.Option(help="Environment variable that holds the API key; - reads standard input.")] = None,
    secret: Annotated[str | None, typer.Option(help="Name of the stored secret that holds the API key.")] = None,
    file: Annotated[Path | None, typer.Option(help="YAML or JSON file of the whole provider; - reads standard input.")] = None,
    as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Add a provider. Its key goes into the secret store; nothing is asked of it before `interlace models test`."""
    data: dict[str, Any] = {}
    if file is not None:
        data = _read(file)
    elif name is None:
        stop("give a name, or --file", USAGE)
    else:
        data = {"name": name, "models": [{"name": entry} for entry in model or ()], "any_model": not model}
        data["roles"] = dict(_pair(entry) for entry in role or ())
    if url is not None:
        data["base_url"] = url
    if secret is not None:
        data["api_key"] = {"secret": secret}
    elif key_from is not None:
        data["api_key"] = _key(key_from)
    definition = _definition(data)

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            return await admin.add(definition, by=LOCAL)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    else:
        note(f"✓ {found['name']} is stored; `interlace models test {found['name']}` tries it")


def _pair(text: str) -> tuple[str, str]:
    before, sign, after = text.partition("=")
    if not sign or not after:
        stop(f"--role {text!r}: write role=model, such as general=gpt-5-mini", USAGE)
    return before, after


def _key(source: str) -> str:
    import os
    import sys

    found = sys.stdin.readline().strip() if source == "-" else os.environ.get(source, "")
    if not found:
        stop(f"there is no key in {'standard input' if source == '-' else source}", USAGE)
    return found


def _read(file: Path) -> dict[str, Any]:
    import sys

    import yaml

    try:
        found = yaml.safe_load(sys.stdin.read() if str(file) == "-" else file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        stop(f"{file}: {error}", USAGE)
    if not isinstance(found, dict):
        stop(f"{file}: a provider is an object with name, base_url, models, …", USAGE)
    return found


def _definition(data: dict[str, Any]) -> ProviderDefinition:
    from pydantic import ValidationError

    from interlace.resources.models.definition import ProviderDefinition

    try:
        return ProviderDefinition.model_validate(data)
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}"
            for entry in error.errors(include_input=False)
        ]
        stop("; ".join(lines), USAGE)


@app.command("test")
def try_provider(
    name: Name,
    model: Annotated[str | None, typer.Option(help="The model that is asked for a word.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask a provider for its models, and one of them for a word; that costs a few tokens."""

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            return await admin.test(name, by=LOCAL, model=model)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    elif found["ok"]:
        listed = "" if found["listed"] is None else f"; it lists {len(found['listed'])} models"
        asked = (
            ""
            if found["model"] is None
            else f"{found['model']} said {found['text']!r} in {found['latency_ms']:.0f} ms"
        )
        note(f"✓ {asked}{listed}")
    else:
        note(f"✗ {found['error']['message']} [{found['error']['type']}]")
    if not found["ok"]:
        raise typer.Exit(FAILED)


@app.command()
def remove(name: Name, as_json: JsonFlag = False) -> None:
    """Remove a stored provider and its key."""

    async def work() -> None:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            await admin.remove(name, by=LOCAL)

    run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"removed": name})
    else:
        note(f"✓ {name} is removed")


@app.command()
def usage(
    by: Annotated[str, typer.Option(help="user, org, provider, model, run, node or day.")] = "model",
    days: Annotated[float, typer.Option(min=0.01, max=3660, help="How far back.")] = 30,
    as_json: JsonFlag = False,
) -> None:
    """What models were asked and what it cost, of everybody."""
    groups = ("user", "org", "provider", "model", "run", "node", "day")
    if by not in groups:
        stop(f"--by {by!r}: choose one of {', '.join(groups)}", USAGE)

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            return await admin.usage(by=LOCAL, group_by=by, days=days, every=True)  # type: ignore[arg-type]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [
        (_group(item["group"], by), item["calls"], item["failed"], item["input_tokens"], item["output_tokens"],
         "" if item["cost"] is None else f"{item['cost']:.4f} {item['currency']}")
        for item in found
    ]  # fmt: skip
    table([by, "calls", "failed", "tokens in", "tokens out", "cost"], rows, empty="No model was asked.")


def _group(value: str | None, by: str) -> str:
    import time

    if by == "day" and value is not None:
        return time.strftime("%Y-%m-%d", time.gmtime(float(value)))
    return value or "-"


@budget.command("list")
def list_budgets(as_json: JsonFlag = False) -> None:
    """All budgets, with what is spent of them."""

    async def work() -> list[dict[str, Any]]:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            return await admin.budgets(by=LOCAL)

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"items": found})
        return
    rows = [(b["id"], b["scope"], b["period"], f"{b['spent']:g}", f"{b['most']:g}", b["unit"]) for b in found]
    table(["id", "of", "period", "spent", "most", "unit"], rows, empty="No budgets.")


@budget.command("set")
def set_budget(
    scope: Annotated[str, typer.Argument(help="installation, user:ID or org:ID.")],
    most: Annotated[float, typer.Argument(min=0, help="What may be spent in a period.")],
    unit: Annotated[str, typer.Argument(help="tokens, or a currency such as USD.")] = "USD",
    period: Annotated[str, typer.Option(help="day or month, of UTC.")] = "month",
    as_json: JsonFlag = False,
) -> None:
    """Set, or change, a budget. Calls that would go over it are refused before they are made."""
    if period not in {"day", "month"}:
        stop(f"--period {period!r}: choose day or month", USAGE)

    async def work() -> str:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            return await admin.set_budget(scope, period, unit, most, by=LOCAL)  # type: ignore[arg-type]

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"id": found})
    else:
        note(f"✓ {scope} may spend {most:g} {unit} a {period}")


@budget.command("remove")
def remove_budget(
    budget_id: Annotated[str, typer.Argument(metavar="ID", help="The budget's id.")],
    as_json: JsonFlag = False,
) -> None:
    """Remove a budget."""

    async def work() -> None:
        from interlace.engine.principal import LOCAL

        async with _admin() as admin:
            await admin.remove_budget(budget_id, by=LOCAL)

    run_async(work(), as_json=as_json)
    if as_json:
        emit_json({"removed": budget_id})
    else:
        note("✓ the budget is removed")
