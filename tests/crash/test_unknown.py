"""An attempt that must not be made twice, killed while its request is on its way: nobody knows, and that is what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlace.flows.answering import Given
from interlace.flows.request import Request
from tests.crash.child import ADA
from tests.crash.counter import Counter
from tests.crash.homes import Home, make_home
from tests.crash.workers import Workers, accepting, unfinished, until
from tests.flows.documents import chain

pytestmark = pytest.mark.timeout(200)


def _asked(home: Home) -> list[str]:
    sql = "SELECT id FROM waits WHERE status = 'pending' AND phase = 'unknown'"
    return [row[0] for row in home.rows(sql)]


@pytest.mark.parametrize(
    ("policy", "action", "status", "calls"),
    [
        ("ask", "happened", "succeeded", 1),
        ("ask", "not_happened", "succeeded", 2),
        ("ask", "fail", "failed", 1),
        ("fail", None, "failed", 1),
        ("retry", None, "succeeded", 2),
    ],
)
async def test_once(
    policy: str, action: str | None, status: str, calls: int, tmp_path: Path, counter: Counter
) -> None:
    case = f"once-{policy}-{action}"
    post = {
        "id": "pay", "type": "HTTP", "on_unknown": policy,
        "config": {"method": "POST", "url": f"{counter.base(case)}/hold"},
    }  # fmt: skip
    home = await make_home(tmp_path / "shared", None, chain(post, name="pay"))
    workers = Workers(home, tmp_path)
    counter.release.clear()
    try:
        async with accepting(home) as platform:
            pinned = await platform.documents.stored("pay", "published", owner="local")
            await platform.runner.create(pinned, Request(idempotency_key=case))
            workers.begin(0)
            counter.wait_for(case, "hold")
            workers.kill(0)
            counter.release.set()
            workers.begin(0)
            if action is not None:
                until(lambda: bool(_asked(home)), 30, "nobody was asked")
                assert counter.counts(case) == {"hold": 1}, "nothing is done before the answer"
                (wait,) = _asked(home)
                form = {"outputs": {"status_code": 200}} if action == "happened" else {}
                await platform.waits.answer(wait, Given(action=action, form=form), ADA)
            until(lambda: unfinished(home) == 0, 30, "the run is stuck")
        assert workers.end(0) == 0
    finally:
        counter.release.set()
        workers.close()
    (run,) = home.runs(case).values()
    assert run["status"] == status
    assert status == "succeeded" or '"unknown_outcome"' in str(run["error"])
    assert len(set(counter.keys[case]["hold"])) == 1, "the idempotency key is the same"
    assert counter.counts(case) == {"hold": calls}
    told = [event.type for event in home.events(case) if event.path == "pay"]
    assert ("node.unknown" in told) is (policy != "retry")
