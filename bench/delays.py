"""A loopback HTTP server that answers every request after 50 ms: `python -m bench.delays` prints its port."""

from __future__ import annotations

import asyncio

SECONDS = 0.05
ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"ok": true}'


class Delayed(asyncio.Protocol):
    """One connection, kept open; requests have no body."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._seen = b""

    def data_received(self, data: bytes) -> None:
        self._seen += data
        while b"\r\n\r\n" in self._seen:
            _, _, self._seen = self._seen.partition(b"\r\n\r\n")
            asyncio.get_running_loop().call_later(SECONDS, self._transport.write, ANSWER)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Delayed, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
