"""kill -9 at every write of a run with every kind of node, in turn: nothing is lost, stuck, or done twice."""

from __future__ import annotations

import random

import pytest

from tests.crash.faults import PAYLOAD_POINTS, POINTS
from tests.crash.matrix import Kill, Matrix, Score

pytestmark = pytest.mark.timeout(900)
SEED = 20_261_130
MARGIN = 10
"""How many events a run has hangs a little on which of its waits end while others are at work: it rests, or does not."""


def _events(matrix: Matrix, *points: str, step: int = 1) -> list[list[Kill]]:
    """One kill a case, at the commit of every `step`th event."""
    numbers = range(1, matrix.writes + MARGIN + 1, step)
    return [[Kill(number=number, point=point)] for number in numbers for point in points]


def _twice(matrix: Matrix, count: int) -> list[list[Kill]]:
    """Killed, and killed again while it goes on."""
    chance = random.Random(SEED)
    return [
        [
            Kill(number=chance.randint(1, matrix.writes), point=chance.choice(POINTS)),
            Kill(number=chance.randint(1, max(2, matrix.writes // 2)), point=chance.choice(POINTS)),
        ]
        for _ in range(count)
    ]  # fmt: skip


def _check(score: Score, kills: int) -> None:
    print(score)
    assert score.faults == []
    assert score.kills >= kills, score


def test_sqlite_at_every_commit(sqlite_matrix: Matrix) -> None:
    """A commit holds two events on average; before and after in turn. `-m slow` has every point of each event."""
    numbers = range(1, sqlite_matrix.writes + MARGIN + 1, 2)
    series = [[Kill(number=number, point=("before", "after")[number // 2 % 2])] for number in numbers]
    _check(sqlite_matrix.run(series), (sqlite_matrix.writes - MARGIN) // 2)


def test_sqlite_around_payloads_and_acceptance(sqlite_matrix: Matrix) -> None:
    payloads = [[Kill(number=1, point=point, payload=True)] for point in PAYLOAD_POINTS]
    _check(sqlite_matrix.run([*payloads, [Kill(point="accepted")]]), 4)


def test_sqlite_killed_again(sqlite_matrix: Matrix) -> None:
    _check(sqlite_matrix.run(_twice(sqlite_matrix, 10)), 10)


def test_postgres_evenly_spread(postgres_matrix: Matrix) -> None:
    series = [*_events(postgres_matrix, "before", step=20), *_events(postgres_matrix, "after", step=20)]
    _check(
        postgres_matrix.run([*series, [Kill(point="accepted")], *_twice(postgres_matrix, 2)]), len(series) - 2
    )


@pytest.mark.slow
def test_sqlite_everything(sqlite_matrix: Matrix) -> None:
    series = [*_events(sqlite_matrix, *POINTS), *_twice(sqlite_matrix, 100)]
    _check(sqlite_matrix.run(series), 3 * (sqlite_matrix.writes - MARGIN) + 100)


@pytest.mark.slow
def test_postgres_everything(postgres_matrix: Matrix) -> None:
    payloads = [[Kill(number=1, point=point, payload=True)] for point in PAYLOAD_POINTS]
    series = [*_events(postgres_matrix, *POINTS), *payloads, *_twice(postgres_matrix, 50)]
    _check(postgres_matrix.run(series), 3 * (postgres_matrix.writes - MARGIN))
