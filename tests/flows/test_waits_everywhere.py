"""Requests in parallel branches, iterations, loops and sub-workflows, each with a restart between question and answer."""

from __future__ import annotations

from interlace.flows.report import run_report, why
from interlace.store.run_row import FINAL
from tests.flows.waiting import BOB, Home, answer, begin, end_of, pending

PARALLEL = """
name: Parallel
nodes:
  - {id: start, type: START}
  - {id: legal, type: HUMAN, config: {title: Legal}}
  - {id: money, type: HUMAN, config: {title: Money}}
  - {id: note, type: TEMPLATE, config: {template: done}}
  - {id: both, type: TEMPLATE, join: all, config: {template: "{{ legal.action }} {{ money.action }}"}}
  - {id: done, type: END, config: {outputs: {text: "{{ both.text }}", note: "{{ note.text }}"}}}
edges:
  - start -> legal
  - start -> money
  - start -> note
  - legal.approve -> both
  - money.approve -> both
  - both -> done
  - note -> done
"""

EACH = """
name: Each
nodes:
  - {id: start, type: START}
  - id: each
    type: ITERATION
    config: {items: [a, b, c], parallel: 3, output: "{{ item }}-{{ ask.action }}"}
    body:
      nodes: [{id: ask, type: HUMAN, config: {title: "Take {{ item }}?"}}]
  - {id: done, type: END, config: {outputs: {all: "{{ each.results }}"}}}
edges: [start -> each, each -> done]
"""

LOOP = """
name: Again
nodes:
  - {id: start, type: START}
  - id: again
    type: LOOP
    config: {variables: {n: 0}, max_rounds: 5}
    body:
      nodes:
        - {id: ask, type: HUMAN, config: {title: "Once more after {{ n }}?", actions: [more, enough]}}
        - {id: add, type: VARIABLE_ASSIGN, config: {assignments: [{variable: n, op: increment}]}}
      edges:
        - ask.more -> add
        - ask.enough -> $break
  - {id: done, type: END, config: {outputs: {n: "{{ again.n }}", reason: "{{ again.reason }}"}}}
edges: [start -> again, again -> done]
"""

CHILD = """
name: child
inputs: {type: object, properties: {what: {type: string}}}
nodes:
  - {id: start, type: START}
  - {id: ask, type: HUMAN, config: {title: "Do {{ inputs.what }}?"}}
  - {id: done, type: END, config: {outputs: {said: "{{ ask.action }}"}}}
edges: [start -> ask, ask.approve -> done, ask.reject -> done, ask.timeout -> done]
"""

PARENT = """
name: parent
nodes:
  - {id: start, type: START}
  - {id: sub, type: SUB_WORKFLOW, config: {workflow: child, inputs: {what: it}}}
  - {id: own, type: HUMAN, config: {title: Own}}
  - {id: done, type: END, join: all, config: {outputs: {child: "{{ sub.said }}", own: "{{ own.action }}"}}}
edges: [start -> sub, start -> own, sub -> done, own.approve -> done]
"""

SKIPPED = """
name: Skipped
nodes:
  - {id: start, type: START}
  - {id: size, type: CONDITION, config: {cases: [{id: large, when: "1 > 2"}]}}
  - {id: ask, type: HUMAN, config: {title: Never}}
  - {id: done, type: END, config: {outputs: {asked: "{{ ask.action | default('no') }}"}}}
edges: [start -> size, size.large -> ask, size.else -> done, ask.approve -> done]
"""


async def test_both_of_two_parallel_requests_count(home: Home) -> None:
    run_id = await begin(home.platform, PARALLEL)
    platform = await home.restart()
    legal, money = await pending(platform)
    assert {legal.title, money.title} == {"Legal", "Money"}
    await answer(platform, money)
    await platform.runner.turn(run_id)
    platform = await home.restart()
    assert (await platform.store.runs.get(run_id)).status == "suspended"
    await answer(platform, legal, person=BOB)
    result = await end_of(platform, run_id)
    assert (result.status, result.outputs) == ("succeeded", {"text": "approve approve", "note": "done"})


async def test_every_item_of_a_parallel_iteration_asks_for_itself(home: Home) -> None:
    run_id = await begin(home.platform, EACH)
    report = await run_report(home.platform.store, home.platform.documents, run_id)
    assert {report["nodes"][path]["status"] for path in ("each", "each[1].ask")} == {"suspended"}
    waits = {wait.title: wait for wait in await pending(home.platform)}
    assert set(waits) == {"Take a?", "Take b?", "Take c?"}
    for title, action in (("Take c?", "reject"), ("Take a?", "approve"), ("Take b?", "reject")):
        platform = await home.restart()
        await answer(platform, waits[title], action)
        await platform.runner.turn(run_id)
    result = await end_of(platform, run_id)
    assert result.outputs == {"all": ["a-approve", "b-reject", "c-reject"]}


async def test_one_yes_is_for_one_round_only(home: Home) -> None:
    run_id = await begin(home.platform, LOOP)
    for number, action in enumerate(("more", "more", "enough")):
        platform = await home.restart()
        [wait] = await pending(platform)
        assert (wait.title, wait.path) == (f"Once more after {number}?", f"again#{number}.ask")
        await answer(platform, wait, action)
        await platform.runner.turn(run_id)
    result = await end_of(platform, run_id)
    assert result.outputs == {"n": 2, "reason": "break"}


async def _parent(home: Home) -> str:
    pinned = await home.platform.documents.from_text(CHILD)
    pushed = await home.platform.store.workflows.push("child", pinned.text)
    await home.platform.store.workflows.publish(pushed.workflow_id)
    run_id = await begin(home.platform, PARENT)
    await home.platform.runner.idle()
    return run_id


async def test_a_child_that_waits_suspends_its_parent(home: Home) -> None:
    run_id = await _parent(home)
    platform = await home.restart()
    [child] = await platform.store.runs.children(run_id)
    assert [(await platform.store.runs.get(r)).status for r in (run_id, child.id)] == [
        "suspended",
        "suspended",
    ]
    assert child.id in (await why(platform.store, platform.documents, run_id, "sub"))["why"]
    waits = {wait.title: wait for wait in await pending(platform)}
    await answer(platform, waits["Do it?"])
    await platform.runner.idle()
    assert (await platform.store.runs.get(child.id)).status == "succeeded"
    platform = await home.restart()
    assert (await platform.store.runs.get(run_id)).status == "suspended"
    await answer(platform, waits["Own"])
    result = await end_of(platform, run_id)
    assert result.outputs == {"child": "approve", "own": "approve"}
    assert len(await platform.store.runs.children(run_id)) == 1


async def test_a_parent_answered_first_waits_for_its_child(home: Home) -> None:
    run_id = await _parent(home)
    platform = await home.restart()
    waits = {wait.title: wait for wait in await pending(platform)}
    await answer(platform, waits["Own"])
    await platform.runner.idle()
    platform = await home.restart()
    await answer(platform, waits["Do it?"], "reject")
    result = await end_of(platform, run_id)
    assert result.outputs == {"child": "reject", "own": "approve"}


async def test_a_child_that_ended_unheard_is_found(home: Home) -> None:
    run_id = await _parent(home)
    platform = home.platform
    waits = {wait.title: wait for wait in await pending(platform)}
    platform.runner.ended.clear()  # as if the process died between the child's end and the parent's hearing of it
    await answer(platform, waits["Do it?"])
    await answer(platform, waits["Own"])
    await platform.runner.idle()
    assert (await platform.store.runs.get(run_id)).status == "suspended"
    platform = await home.restart()
    await home.later(0)
    assert (await end_of(platform, run_id)).outputs == {"child": "approve", "own": "approve"}


async def test_cancelling_a_suspended_parent_cancels_its_child_and_requests(home: Home) -> None:
    run_id = await _parent(home)
    platform = await home.restart()
    [child] = await platform.store.runs.children(run_id)
    assert await platform.runner.cancel(run_id)
    for run in (run_id, child.id):
        assert (await platform.store.runs.get(run)).status == "cancelled"
    assert await pending(platform) == []


async def test_a_failing_branch_cancels_the_child_that_waits(home: Home) -> None:
    pinned = await home.platform.documents.from_text(CHILD)
    pushed = await home.platform.store.workflows.push("child", pinned.text)
    await home.platform.store.workflows.publish(pushed.workflow_id)
    text = PARENT.replace("own.approve -> done", "own.approve -> bad, bad -> done").replace(
        "  - {id: done,",
        "  - {id: bad, type: CODE, config: {code: 'def main(): return 1/0'}}\n  - {id: done,",
    )
    run_id = await begin(home.platform, text)
    await home.platform.runner.idle()
    platform = await home.restart()
    waits = {wait.title: wait for wait in await pending(platform)}
    await answer(platform, waits["Own"])
    assert (await end_of(platform, run_id)).status == "failed"
    await home.later(0)
    [child] = await platform.store.runs.children(run_id)
    assert child.status in FINAL
    assert await pending(platform) == []


async def test_a_skipped_request_asks_nobody(home: Home) -> None:
    run_id = await begin(home.platform, SKIPPED)
    assert (await end_of(home.platform, run_id)).outputs == {"asked": "no"}
    assert (await home.platform.store.waits.list(status=None)).items == []
