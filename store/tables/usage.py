"""What models were asked, what it cost, and how much may be spent."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Index, Table, Text, UniqueConstraint

from interlace.store.tables.metadata import metadata

model_calls = Table(
    "model_calls",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", Double, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("org_id", Text),
    Column("run_id", Text),
    Column("path", Text, nullable=False, server_default=""),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    Column("reasoning_tokens", BigInteger, nullable=False),
    # Billionths of a unit of the currency: whole numbers, so that sums are exact.
    Column("cost_nano", BigInteger),
    Column("currency", Text),
    Column("latency_ms", Double, nullable=False),
    Column("error", Text),
    Index("model_calls_user", "user_id", "at"),
    Index("model_calls_org", "org_id", "at"),
    Index("model_calls_at", "at"),
    Index("model_calls_run", "run_id"),
)

budgets = Table(
    "budgets",
    metadata,
    Column("id", Text, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("period", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("most_nano", BigInteger, nullable=False),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("scope", "period", "unit", name="budgets_one"),
)
