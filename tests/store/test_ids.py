from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from interlace.store.ids import uuid7


def test_ids_sort_by_time_and_are_version_7() -> None:
    before = time.time_ns() // 1_000_000
    ids = [uuid7() for _ in range(5000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 5000
    parsed = uuid.UUID(ids[0])
    assert str(parsed) == ids[0]
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert before <= parsed.int >> 80 <= time.time_ns() // 1_000_000 + 1


def test_threads_get_ids_of_their_own() -> None:
    with ThreadPoolExecutor(4) as threads:
        ids = list(threads.map(lambda _: uuid7(), range(4000)))
    assert len(set(ids)) == 4000
