from __future__ import annotations

from pathlib import Path

import pytest

from interlace.engine.problems import Problem
from interlace.engine.source import load
from interlace.engine.validate import CODES, check
from tests.engine.validate.kinds import make_registry

TESTS = "".join(path.read_text() for path in Path(__file__).parent.parent.rglob("test_*.py"))


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_tested_and_explained(code: str) -> None:
    assert f'"{code}"' in TESTS
    assert CODES[code].meaning.endswith(".")
    assert CODES[code].severity in {"error", "warning"}


def test_problems_come_in_the_order_of_the_text() -> None:
    text = "name: x\nnodes:\n  - {id: b, type: NOPE}\n  - {id: a, type: NOPE}\n"
    lines = [problem.line for problem in check(load(text), make_registry()).problems]
    assert lines == sorted(lines)


def test_a_validation_knows_whether_it_blocks() -> None:
    text = "name: x\nnodes: [{id: start, type: START}, {id: side, type: TEMPLATE, config: {template: x}}, {id: end, type: END}]\n"
    found = check(load(text + "edges: [start -> side, start -> end]\n"), make_registry())
    assert found.valid
    assert [problem.code for problem in found.problems] == ["side_branch"]
    found.require()
    assert isinstance(found.problems[0], Problem)


def test_a_broken_text_has_its_problem_and_no_types() -> None:
    found = check(load("name: ["), make_registry())
    assert not found.valid
    assert found.types == {}


def test_problems_that_others_find_take_their_place_in_the_text() -> None:
    text = "name: x\nnodes:\n  - {id: b, type: NOPE}\n  - {id: a, type: NOPE}\n"
    found = check(load(text), make_registry())
    warning = Problem(code="unbound_resource", message="there is none", severity="warning", node="b", line=3)
    more = found.with_more([warning])
    assert [problem.line for problem in more.problems] == sorted(
        [*(problem.line for problem in found.problems), 3]
    )
    assert warning in more.problems
    assert more.errors == found.errors
