"""The machine's clock."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Real time. Implements `Clock`."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Pause."""
        await asyncio.sleep(seconds)
