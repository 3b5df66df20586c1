"""What tools cost in every prompt: `python -m bench.agents.tokens [--corpus FOLDER] [--mcp FOLDER] [--write]`.

Real catalogues are stored in a platform of its own, and the tools of a turn are resolved as a chat does it, with whole
schemas and with meta-tools. Counted is what stays in the prompt (o200k): for whole schemas all of them, for a meta-tool
what it says of its resources (stub and the names in its enum); its fixed part is counted once and stated on its own.

`INTERLACE_CORPUS` names the folder with `openapi/`, `sql/` and `tool_retrieval/`; `INTERLACE_MCP_DUMPS` one with the
lists of tools that `bench.agents.dump` wrote.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import structlog

from bench import results
from bench.agents.sets import folder, lines
from bench.agents.texts import SKILLS, skill_text
from bench.results import Row
from interlace.agents.resolve import Turn, resolve_tools
from interlace.agents.toolset import ToolSet
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.connectors.definition import Connector
from interlace.resources.connectors.openapi import import_openapi
from interlace.resources.models.tokens import count
from interlace.resources.skills.definition import Skill
from interlace.resources.tools.tool import Tool

SECTION = "Tools in the prompt"
TEXT = (
    "Written by `python -m bench.agents.tokens --write`: tokens (o200k) that stay in every prompt. `limit` is the cost with"
    " whole schemas or texts; `target` is the published figure of the system that the idea comes from, or half of it where"
    " it is not about skills, databases and GitHub's server. A meta-tool's fixed part is counted once, in the rows below."
)
FIXED = 250
APIS = ("github-ghes-2.18.json.gz", "stripe-2020-10.json.gz", "jira-platform-v3.json.gz")
FIVE = (*APIS, "box.json.gz", "sendgrid-v3.json.gz")
ENUMS = {"connector": "connector", "database": "database", "mcp": "server", "read_skill": "name"}
Fill = Callable[[Platform, Path], Awaitable[None]]


def whole_cost(tools: Sequence[Tool], notes: Sequence[str] = ()) -> int:
    """Tokens of tools as they stand on the wire, and of notes in the system prompt."""
    return count(orjson.dumps([spec.wire() for spec in ToolSet(tools).specs()]).decode()) + sum(
        map(count, notes)
    )


def stub_cost(tool: Any) -> int:
    """What a meta-tool says of its resources: its catalogue, and the names in its enum."""
    names = tool.parameters_schema["properties"][ENUMS[tool.name]].get("enum", [])
    return count(tool.catalogue) + count(json.dumps(names, ensure_ascii=False))


def fixed_cost(tool: Any) -> int:
    """What it costs besides."""
    note = getattr(tool, "note", "")
    return whole_cost([tool], [note] if note else []) - stub_cost(tool)


async def costs(fill: Fill, category: str) -> tuple[int, int, int]:
    """Tokens of one catalogue: with whole schemas, of the stub, and of the meta-tool's fixed part."""
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home) / "home", prefect="off", database_allow=[home])
        platform = await Platform.open(settings)
        try:
            platform.visible._patience = 60.0  # noqa: SLF001 - the figures are those of a turn that knows its tables
            await fill(platform, Path(home))
            plain = platform.sources
            every = replace(
                plain.how, skills="inline", connectors="legacy", databases="legacy", mcp="legacy", threshold=1_000_000
            )  # fmt: skip
            whole = await resolve_tools(Turn(by=LOCAL), replace(plain, how=every))
            own = [tool for tool in whole.active.values() if tool.category == category]
            short = await resolve_tools(
                Turn(by=LOCAL), replace(plain, how=replace(plain.how, threshold=1_000_000))
            )
            (tool,) = [tool for tool in short.active.values() if tool.category == category]
            print(f"\n{getattr(tool, 'catalogue', '')}\n")
            return (
                whole_cost(own, whole.notes) if own or whole.notes else 0,
                stub_cost(tool),
                fixed_cost(tool),
            )
        finally:
            await platform.close()


async def skills(platform: Platform, home: Path) -> None:
    """Ten skills of 2,000 tokens."""
    del home
    for name, description in SKILLS:
        await platform.skills.add(
            Skill(name=name, description=description, body=skill_text(name, 2000)), by=LOCAL
        )


def connectors(corpus: Path, names: Sequence[str], actions: int | None = None) -> Fill:
    """APIs from their descriptions, whole or their first actions."""

    async def fill(platform: Platform, home: Path) -> None:
        del home
        for name in names:
            text = gzip.decompress((corpus / "openapi" / name).read_bytes()).decode()
            made = import_openapi(text, name=name.partition("-")[0].partition(".")[0]).connector
            if actions is not None:
                made = Connector.model_validate(
                    {**made.model_dump(by_alias=True), "actions": made.actions[:actions]}
                )
            await platform.connectors.add(made, by=LOCAL)

    return fill


def database(name: str, script: Callable[[], str], description: str) -> Fill:
    """A SQLite file made by a script."""

    async def fill(platform: Platform, home: Path) -> None:
        path = home / f"{name}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script())
        definition = {"dialect": "sqlite", "database": str(path), "description": description}
        await platform.store.resources.add("database", name, definition, by=LOCAL)

    return fill


def thirty_tables() -> str:
    """30 tables with 200 columns, as a company has them."""
    nouns = (
        "customer", "address", "contact", "order", "order_line", "product", "category", "supplier", "warehouse", "stock_movement", "shipment", "invoice", "invoice_line", "payment", "refund", "employee", "department", "role", "timesheet", "project", "task", "comment", "attachment", "audit_entry", "currency", "tax_rate", "price_list", "promotion", "campaign", "newsletter",
    )  # fmt: skip
    columns = ("id", "name", "status", "created_at", "updated_at", "owner_id", "amount", "note")
    made = []
    for at, noun in enumerate(nouns):
        kept = columns[: 7 if at < 20 else 6]
        made.append(f'CREATE TABLE "{noun}" ({", ".join(f"{name} TEXT" for name in kept)});')
    return "\n".join(made)


def server(name: str, tools: Sequence[dict[str, Any]], description: str = "") -> Fill:
    """An MCP server with accepted tools."""

    async def fill(platform: Platform, home: Path) -> None:
        del home
        added = await platform.mcp.add(
            name, {"url": "https://mcp.example.com/mcp", "description": description}, by=LOCAL
        )
        kept = {tool["name"]: (str(at), tool) for at, tool in enumerate(tools)}
        await platform.store.mcp_tools.accept(added.id, kept, by=LOCAL)

    return fill


async def builtin(corpus: Path | None) -> list[Row]:
    """30 built-in tools, of which a request is shown six; and a hub of all of them and a few meta-tools."""
    request = "How many days are there between the two dates in this CSV file, and what is their average?"
    with tempfile.TemporaryDirectory() as home:
        platform = await Platform.open(Settings(home=Path(home) / "home", prefect="off"))
        try:
            await skills(platform, Path(home))
            turn = Turn(by=LOCAL, request=request)
            thirty = list(platform.sources.builtin.for_agents())[:30]

            class Thirty:
                def for_agents(self) -> list[Tool]:
                    return thirty

            few = await resolve_tools(turn, replace(platform.sources, builtin=Thirty()))  # type: ignore[arg-type]
            shown = [tool for tool in few.active.values() if tool.category != "skills"]
            if corpus is not None:
                await server("seal", _seal(corpus)[:30])(platform, Path(home))
            direct = replace(platform.sources, how=replace(platform.sources.how, mcp="legacy"))
            all_tools = await resolve_tools(turn, direct)
            total = len(all_tools.active) + len(all_tools.unloaded)
        finally:
            await platform.close()
    before, after = whole_cost(thirty), whole_cost(shown)
    saved = 1 - after / before
    return [
        Row(
            "B1", f"30 built-in tools: {len(shown) - 1} selected and `request_tools`", after, "tokens", target="saves ≥ 60 %",
            met=saved >= 0.6, limit=before, ratio=after / before,
        ),
        Row("B2", f"a hub of {total} tools: shown", len(all_tools.active), "tools", target="8 to 10", met=len(all_tools.active) <= 10),
    ]  # fmt: skip


def _seal(corpus: Path) -> list[dict[str, Any]]:
    return [
        {"name": t["name"], "description": t["description"], "input_schema": t["inputSchema"]}
        for t in lines(corpus / "tool_retrieval" / "seal_tools.tools.jsonl")
    ]


def cases(corpus: Path | None, dumps: Path | None) -> list[tuple[str, str, Fill, str, int | None]]:
    """Name, what it is, how it is filled, its category, and the most tokens; None for catalogues nobody published."""
    found: list[tuple[str, str, Fill, str, int | None]] = [
        ("S1", "10 skills of 2,000 tokens", skills, "skills", 300),
        ("D1", "a database of 30 tables, 200 columns", database("company", thirty_tables, "The company's books"), "database", 80),
    ]  # fmt: skip
    if corpus is not None:
        found += [
            (
                "C1",
                "5 connectors of 15 actions, of real APIs",
                connectors(corpus, FIVE, 15),
                "connector",
                125,
            ),
            ("C2", "3 APIs whole: GitHub, Stripe, Jira", connectors(corpus, APIS), "connector", None),
        ]
        for name, file in (("chinook", "chinook_sqlite.sql.gz"), ("northwind", "northwind_sqlite.sql.gz")):
            found.append(
                (
                    "D2" if name == "chinook" else "D3", name.title(),
                    database(name, lambda file=file: gzip.decompress((corpus / "sql" / file).read_bytes()).decode("utf-8-sig"), ""),  # type: ignore[misc]
                    "database", 80,
                )
            )  # fmt: skip
        found.append(
            ("M1", "1,273 tools of Seal-Tools as one server", server("seal", _seal(corpus)), "mcp", 100)
        )
    for at, file in enumerate(sorted(dumps.glob("*.json")) if dumps is not None else (), 2):
        tools = json.loads(file.read_text("utf-8"))
        what = f"MCP server {file.stem}, {len(tools)} tools"
        found.append((f"M{at}", what, server(file.stem, tools), "mcp", 100))
    return found


async def measure(corpus: Path | None, dumps: Path | None) -> list[Row]:
    """All rows, printed as they come."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    rows, fixed = [], {}
    for name, what, fill, category, most in cases(corpus, dumps):
        whole, stub, own = await costs(fill, category)
        fixed[category] = max(fixed.get(category, 0), own)
        rows.append(
            Row(
                name, what, stub, "tokens", target="" if most is None else f"≤ {most}",
                met=None if most is None else stub <= most, limit=whole, ratio=stub / whole,
            )
        )  # fmt: skip
        print("  ".join(text or "-" for text in results.cells(rows[-1])), flush=True)
    rows += await builtin(corpus)
    rows += [
        results.at_most("F", f"the fixed part of the tool for category {category}", own, FIXED, "tokens")
        for category, own in fixed.items()
    ]
    return rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.agents.tokens", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="folder with openapi/, sql/ and tool_retrieval/")
    parser.add_argument("--mcp", type=Path, help="folder with lists of tools of MCP servers")
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    corpus = folder(given.corpus, "INTERLACE_CORPUS", "openapi")
    dumps = folder(given.mcp, "INTERLACE_MCP_DUMPS", ".")
    rows = asyncio.run(measure(corpus and corpus.resolve(), dumps and dumps.resolve()))
    print("\n".join("  ".join(text or "-" for text in results.cells(row)) for row in rows))
    if given.write:
        results.write_section(SECTION, TEXT, rows, load)
    raise SystemExit(1 if any(row.met is False for row in rows) else 0)


if __name__ == "__main__":
    main()
