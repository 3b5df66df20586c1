"""Skills made up for measuring: names and descriptions as organisations write them, texts of a given length."""

from __future__ import annotations

from typing import Final

from interlace.resources.models.tokens import first

SKILLS: Final = (
    ("returns", "How to take back goods that a customer does not want: deadlines, who pays, and when a refund is made."),
    ("invoice-check", "Check incoming invoices against orders and deliveries, and what to do when they differ."),
    ("onboarding", "Everything that has to happen in the first two weeks of a new colleague."),
    ("incident-response", "What to do when a service is down: who is told, what is written down, when it is over."),
    ("tone-of-voice", "How we write to customers: short sentences, no jargon, in the language they wrote to us in."),
    ("quarterly-report", "Collect, check and lay out the figures of a quarter for the board."),
    ("vendor-review", "Review a new supplier: questions, documents to ask for, and who decides in the end."),
    ("travel-expenses", "Rules for trips: what is paid, which receipts are needed, how they are handed in."),
    ("release-notes", "Write release notes from merged changes: grouping, wording, and what is left out."),
    ("data-deletion", "Delete the data of a person who asks for it, in all systems, and prove it afterwards."),
)  # fmt: skip


def skill_text(name: str, tokens: int) -> str:
    """Instructions of so many tokens."""
    steps = [
        f"{number}. In step {number} of {name} look at case {number * 7 % 31}, compare it with rule {number * 3 % 17}, write down what"
        f" differs, and go on only when a second person has agreed to it."
        for number in range(1, tokens)
    ]
    return first("\n".join(steps), tokens)
