"""Who answers requests, and whether a request is theirs to answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlace.engine.errors import InterlaceError
from interlace.store.visibility import Asker
from interlace.store.wait_row import Wait


class NotAllowed(InterlaceError):  # noqa: N818 - the name says what it is
    """This person may not answer."""

    code = "forbidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who answers, within one owner's scope."""

    name: str
    owner: Asker = "local"
    roles: frozenset[str] = field(default_factory=frozenset)
    groups: frozenset[str] = field(default_factory=frozenset)

    def is_asked(self, wait: Wait) -> bool:
        """Whether a request names this person, a role or a group of theirs.

        One that names nobody asks everybody of its owner.
        """
        if not wait.assignees:
            return True
        return not self.titles.isdisjoint(wait.assignees)

    @property
    def titles(self) -> frozenset[str]:
        """What requests name this person by."""
        return frozenset(
            {self.name, *(f"role:{role}" for role in self.roles), *(f"group:{name}" for name in self.groups)}
        )

    def check(self, wait: Wait) -> None:
        """Raise where the request is not this person's to answer.

        Raises:
            NotAllowed: somebody else is asked, or it is this person's own run.
        """
        if not self.is_asked(wait):
            raise NotAllowed(f"{self.name} is not asked; the request goes to {', '.join(wait.assignees)}")
        if not wait.allow_self and wait.starter is not None and self.name == wait.starter:
            raise NotAllowed(
                f"{self.name} started the run and may not answer its request; somebody else must"
            )
