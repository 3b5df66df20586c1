"""The memory of a text of 20 MB that goes through 20 nodes: `python -m bench.payload` prints MB over the base (Linux)."""

from __future__ import annotations

import asyncio

from bench import workloads
from bench.engine import engine
from bench.measure import peak, reset_peak, resident


async def measure() -> float:
    """The most memory of the run, its input included, over the memory before it."""
    async with engine() as opened:
        pinned = await opened.pinned(workloads.payload())
        await opened.run(pinned, {"seed": workloads.SEED})
        base = resident()
        reset_peak()
        text = "x" * workloads.PAYLOAD_BYTES
        outputs = await opened.run(pinned, {"seed": text})
        if outputs["text"] != text:
            raise AssertionError("the text did not arrive whole")
        return peak() - base


if __name__ == "__main__":
    print(asyncio.run(measure()))
