"""W6t: from a question in a chat session to the first piece of the answer on the wire, in a running server.

The model answers at once, so all of it is ours: the request, the session, the run and its journal, finding every tool that
the user sees (Auto), the model's connection, the stream. The model's own time, well below a millisecond, is taken off.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from bench.agents.loop import busy, server
from bench.measure import Figures, Sample
from bench.results import Row
from bench.server import Client, serving

TARGET_MS = 100.0
_WARM_UP = 3


def first_piece(home: Path, session: str) -> float:
    """Milliseconds until the stream of an answer has its first piece; the stream is read to its end."""
    info = json.loads((home / "server.json").read_text("utf-8"))
    parts = urlsplit(info["url"])
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    key = (home / "owner.key").read_text("ascii").strip()
    headers = {
        "authorization": f"Bearer {key}",
        "content-type": "application/json",
        "accept": "text/event-stream",
    }
    connection.connect()
    began = time.perf_counter()
    connection.request(
        "POST", f"/api/v1/sessions/{session}/messages", json.dumps({"content": "How are you?"}), headers
    )
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    found = None
    while line := answer.readline():
        if found is None and line.startswith(b"event: node.delta"):
            found = (time.perf_counter() - began) * 1000
    connection.close()
    assert found is not None, "nothing was streamed"
    return found


async def w6t(reps: int) -> list[Row]:
    """Chat turns one after another, each in a session of its own."""
    async with server() as url:
        provider = {
            "name": "bench", "base_url": f"{url}/v1", "models": [{"name": "scripted"}], "roles": {"general": "scripted"},
        }  # fmt: skip
        more = {
            "INTERLACE_MODELS": json.dumps({"providers": [provider]}), "INTERLACE_HTTP_ALLOW": "127.0.0.1/32",
        }  # fmt: skip
        async with serving(more=more) as home:
            client = Client.of(home)
            sessions = [client.post("/api/v1/sessions", {})["id"] for _ in range(_WARM_UP + max(reps, 20))]
            client.close()
            samples = []
            for session in sessions:
                before = await busy(url)
                taken = await asyncio.to_thread(first_piece, home, session)
                own = (await busy(url) - before) * 1000
                samples.append(Sample(taken - own, 0.0))
    figures = Figures(ours=samples[_WARM_UP:])
    what = "chat turn (Auto) in a running server: ms from the question to the first piece of the answer, beyond the model's own, p50"
    return [
        Row("W6t", what, figures.wall, target=f"< {TARGET_MS:g} ms", met=figures.wall < TARGET_MS, best=figures.best)
    ]  # fmt: skip


FIRST_TOKEN = {"W6t": w6t}

if __name__ == "__main__":
    from bench import results

    for row in asyncio.run(w6t(int(sys.argv[1]) if len(sys.argv) > 1 else 30)):
        print("  ".join(text or "-" for text in results.cells(row)))
