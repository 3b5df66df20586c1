"""A process that ingests and is killed: `python ingesting.py HOME DOCUMENTS`. It tells each document that is done."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from interlace.engine.principal import LOCAL
from interlace.flows import ingestion
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.documents.source import Source


async def main(home: Path, documents: int) -> None:
    ingestion.LEASE_SECONDS = 1.0  # type: ignore[misc]
    platform = await Platform.open(Settings(home=home))
    await platform.knowledge.add("handbook", {}, by=LOCAL)
    for number in range(documents):
        text = f"# Part {number}\n\nThe valve number {number} costs {number + 10} euros.\n"
        await platform.knowledge.put("handbook", Source(content=text.encode(), name=f"{number}.md"), by=LOCAL)
    await platform.ingestion.drain()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
