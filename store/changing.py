"""Changes of kept variables within a commit: each is computed from the values that stand there, while they are held.

Both databases do the same in one transaction: the rows are made where there are none and locked, `Changing.settle`
computes, the new values are written, and the event that tells of them takes the place that was left for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from interlace.engine.errors import StoreError
from interlace.engine.variables import Change, Written
from interlace.store.encoding import decode, encode
from interlace.store.errors import TooLargeError
from interlace.store.payloads import Payloads
from interlace.store.references import Externalizer
from interlace.store.statements import Operation

if TYPE_CHECKING:
    from interlace.store.links import Links

EventRow = tuple[str, int, float, str, str, int, str]
"""run_id, seq, at, type, path, attempt, data."""
Key = tuple[str, str]
"""Whose variable it is, and its name."""
MAX_BYTES: Final = 1_000_000
"""Of one variable as JSON: all of it is read and written at each change."""
FILE: Final = "file:"
"""What the owner part of a key begins with where the workflow is a file, not a stored one."""

ENSURE: Final = (
    "INSERT INTO variables (workflow_id, name, value, version, updated_at)"
    " SELECT {of}, {name}, 'null', 0, 0 WHERE substr({of}, 1, 5) = 'file:'"
    " OR EXISTS (SELECT 1 FROM workflows WHERE id = {of} AND deleted_at IS NULL) ON CONFLICT DO NOTHING"
)
"""A row to be locked; version 0 was never written."""
READ: Final = "SELECT value, version FROM variables WHERE workflow_id = {of} AND name = {name}"
WRITE: Final = "UPDATE variables SET value = {value}, version = {version}, updated_at = {at} WHERE workflow_id = {of} AND name = {name}"


@dataclass(slots=True)
class Value:
    """A variable as it stands in the transaction."""

    text: str
    version: int


@dataclass(slots=True)
class Settled:
    """What a change comes to."""

    values: list[tuple[str, int, float, str, str]] = field(default_factory=list)
    """(value, version, at, owner part of the key, name) of what is to be written."""
    operations: list[Operation] = field(default_factory=list)
    hooks: list[Callable[[], None]] = field(default_factory=list)


class Changing:
    """One change, and the place of its event.

    Args:
        change: what computes it.
        of: whose variables they are: the id of a workflow, or `file_key`.
        place: the event without type and data; `events[index]` is where it goes.
    """

    def __init__(
        self, change: Change, of: str, place: EventRow, events: list[EventRow], *, payloads: Payloads, links: Links
    ) -> None:  # fmt: skip
        self._change = change
        self._of = of
        self._place = place
        self._events = events
        self._index = len(events)
        self._payloads = payloads
        self._links = links
        events.append(place)

    @property
    def keys(self) -> list[Key]:
        """The variables that have to be held."""
        return [(self._of, name) for name in self._change.names]

    def settle(self, found: dict[Key, Value]) -> Settled:
        """Compute from what was found, which is brought up to date; a key that is not there is of a workflow that is gone."""
        held = [key for key in self.keys if key in found]
        latest = {key[1]: decode(found[key].text) for key in held if found[key].version}
        written = self._change.compute(latest if held else None)
        try:
            return self._recorded(written, found)
        except StoreError as error:
            return self._recorded(self._change.refuse(error), found)

    def _recorded(self, written: Written, found: dict[Key, Value]) -> Settled:
        run_id, seq, now, _, path, attempt, _ = self._place
        settled, encoder, data = Settled(), Externalizer(self._payloads), dict(written.data)
        new = {(self._of, name): self._text(name, value) for name, value in written.values.items()}
        versions = {key[1]: found[key].version + 1 for key in new}
        if versions:
            data["kept"] = versions
        text = encoder.data(data).decode()
        for key, value in new.items():
            found[key] = Value(value, versions[key[1]])
            settled.values.append((value, versions[key[1]], now, *key))
        for stored in encoder.fresh:
            settled.operations.extend(self._links.of(run_id, stored, now))
            settled.hooks.append(stored.secure)
        self._events[self._index] = (run_id, seq, now, written.kind, path, attempt, text)
        return settled

    @staticmethod
    def _text(name: str, value: Any) -> str:
        text = encode(value)
        if len(text) > MAX_BYTES:
            raise TooLargeError(
                f"variable {name!r} would have {len(text):,} bytes as JSON; {MAX_BYTES:,} are allowed for one that is kept:"
                " keep long lists in a database, by a DATABASE node"
            )
        return text.decode()


def keys_of(changes: Iterable[Changing]) -> list[Key]:
    """All variables of some changes, in the order in which everybody locks them."""
    return sorted({key for change in changes for key in change.keys})


def as_values(rows: Mapping[Key, tuple[str, int] | None]) -> dict[Key, Value]:
    """Rows that were found, by key."""
    return {key: Value(*row) for key, row in rows.items() if row is not None}


def file_key(owner: str, name: str) -> str:
    """Whose variables they are where a file is run: those of its owner's file of that name."""
    return f"{FILE}{owner}:{name}"
