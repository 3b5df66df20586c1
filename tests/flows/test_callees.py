from __future__ import annotations

from pathlib import Path
from typing import Any

from interlace.engine.source import load
from interlace.flows.callees import check_with_callees
from interlace.flows.node_types import node_types
from interlace.flows.platform import Platform
from interlace.store import Store
from tests.flows.documents import GREETING, chain, sub

REGISTRY = node_types()


async def _codes(text: str, store: Store | None, folder: Path | None = None) -> set[str]:
    found = await check_with_callees(
        load(text), REGISTRY, store=store, folder=None if folder is None else str(folder)
    )
    return {problem.code for problem in found.problems if problem.severity == "error"}


async def test_stored_workflows_are_known(platform: Platform, push: Any) -> None:
    await push(GREETING)
    store = platform.store
    assert await _codes(chain(sub("s", "greeting", inputs={"name": "x"})), store) == set()
    assert await _codes(chain(sub("s", "greeting")), store) == {"missing_input"}
    assert await _codes(chain(sub("s", "greeting", inputs={"name": [1]})), store) == {"wrong_type"}
    assert await _codes(chain(sub("s", "nobody")), store) == {"unknown_workflow"}
    wrong = chain(sub("s", "greeting", inputs={"name": "x"}), outputs={"t": "{{ s.txt }}"})
    assert await _codes(wrong, store) == {"unknown_output"}


async def test_without_a_store_calls_by_name_are_taken_as_they_stand(tmp_path: Path) -> None:
    assert await _codes(chain(sub("s", "anything"), outputs={"t": "{{ s.x }}"}), None) == set()
    (tmp_path / "leaf.json").write_text(GREETING)
    assert await _codes(chain(sub("s", "./leaf.json")), None, tmp_path) == {"missing_input"}
    assert await _codes(chain(sub("s", "./none.json")), None, tmp_path) == {"unknown_workflow"}
    assert await _codes(chain(sub("s", "./leaf.json", inputs={"name": "x"})), None) == {"unknown_workflow"}


async def test_indirect_recursion_is_found(platform: Platform, push: Any) -> None:
    await push(chain(name="a"))
    await push(chain(sub("s", "a"), name="b"))
    assert await _codes(chain(sub("s", "b"), name="a"), platform.store) == {"recursion"}
