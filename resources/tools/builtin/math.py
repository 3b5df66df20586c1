"""Tools that calculate."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from pydantic import Field

from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.tools.arithmetic import Number, exact, written
from interlace.resources.tools.calculation import MAX_LENGTH, calculate
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool
from interlace.resources.tools.units import convert

_WHOLE_BITS = 63
_MOST_VALUES = 100_000
_SHOWN_FRACTION = 60

_LARGEST = 1.7976931348623157e308
NUMBER: Schema = {
    "type": "object",
    "properties": {
        "value": {"type": "number"}, "text": {"type": "string"}, "exact": {"type": "boolean"}, "fraction": {"type": "string"},
    },
    "required": ["value", "text", "exact"],
}  # fmt: skip


def shown(value: Number) -> dict[str, Any]:
    """A number as JSON: `value` as near as JSON has it, `text` in full, `fraction` where decimals never end.

    `exact` says that nothing was rounded on the way; a `value` beyond what JSON's numbers hold is not exact.
    """
    text = written(value)
    near = _as_json(value)
    exact = isinstance(value, Fraction) and abs(near) < _LARGEST
    found: dict[str, Any] = {"value": near, "text": text, "exact": exact}
    if isinstance(value, Fraction) and value.denominator != 1 and Fraction(text) != value:
        fraction = f"{value.numerator}/{value.denominator}"
        if len(fraction) <= _SHOWN_FRACTION:
            found["fraction"] = fraction
    return found


def _as_json(value: Number) -> int | float:
    value = Fraction(value)
    if value.denominator == 1 and abs(value) < 2**_WHOLE_BITS:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST


class CalculatorArguments(Arguments):
    """What is calculated."""

    expression: str = Field(
        max_length=MAX_LENGTH, description="For example `(12.5 + 7) * 3`, `2^64`, `sqrt(2)`, `15% * 80`."
    )
    variables: dict[Annotated[str, Field(pattern=r"^[A-Za-z_]\w{0,40}$")], float] | None = Field(
        None, description="Values of names in the expression."
    )


class Calculator(TypedTool[CalculatorArguments]):
    """Exact arithmetic."""

    name = "calculator"
    description = (
        "Calculate exactly. Operators + - * / // % ^ !, functions such as sqrt, ln, log10, sin, round, min, max, gcd, comb;"
        " constants pi and e. Use it for all arithmetic."
    )
    category: ClassVar[Category] = "math"
    result = NUMBER

    async def call(self, arguments: CalculatorArguments, ctx: ToolContext) -> ToolResult:
        """Calculate."""
        del ctx
        given = {name: exact(Fraction(repr(value))) for name, value in (arguments.variables or {}).items()}
        value = shown(calculate(arguments.expression, given))
        text = value["text"] if value["exact"] and "fraction" not in value else f"≈ {value['text']}"
        return ToolResult(value=value, text=text + (f" = {value['fraction']}" if "fraction" in value else ""))


class ConvertArguments(Arguments):
    """A value and two units."""

    value: float = Field(description="How much.")
    unit: str = Field(max_length=40, description="Its unit, as km, lb, °C, kWh, GiB, mph.")
    to: str = Field(max_length=40, description="The wanted unit, of the same kind.")


class ConvertUnits(TypedTool[ConvertArguments]):
    """Units."""

    name = "convert_units"
    description = (
        "Convert between units of length, mass, area, volume, time, speed, data, energy, power, pressure, force,"
        " frequency, angle or temperature. No currencies."
    )
    category: ClassVar[Category] = "math"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {**NUMBER["properties"], "unit": {"type": "string"}, "kind": {"type": "string"}},
        "required": ["value", "text", "exact", "unit", "kind"],
    }

    async def call(self, arguments: ConvertArguments, ctx: ToolContext) -> ToolResult:
        """Convert."""
        del ctx
        given = exact(Fraction(repr(arguments.value)))
        value, kind = convert(given, arguments.unit, arguments.to)
        found = {**shown(value), "unit": arguments.to, "kind": kind}
        return ToolResult(value=found, text=f"{found['text']} {arguments.to}")


class StatisticsArguments(Arguments):
    """The numbers."""

    values: list[float] = Field(min_length=1, max_length=_MOST_VALUES, description="The numbers.")
    percentiles: list[Annotated[float, Field(ge=0, le=100)]] | None = Field(
        None, max_length=50, description="Further percentiles, 0 to 100."
    )


class Statistics(TypedTool[StatisticsArguments]):
    """Figures of a list."""

    name = "statistics"
    description = (
        "Describe a list of numbers: count, sum, mean, median, mode, standard deviation, variance, minimum, maximum,"
        " quartiles and percentiles."
    )
    category: ClassVar[Category] = "math"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "count": {"type": "integer"}, "sum": {"type": "number"}, "mean": {"type": "number"}, "median": {"type": "number"},
            "mode": {"type": "array", "items": {"type": "number"}}, "stdev": {"type": ["number", "null"]},
            "variance": {"type": ["number", "null"]}, "min": {"type": "number"}, "max": {"type": "number"},
            "q1": {"type": "number"}, "q3": {"type": "number"}, "percentiles": {"type": "object"},
        },
        "required": ["count", "sum", "mean", "median", "min", "max"],
    }  # fmt: skip

    async def call(self, arguments: StatisticsArguments, ctx: ToolContext) -> ToolResult:
        """Describe the list."""
        del ctx
        values = sorted(arguments.values)
        exact_values = [Fraction(repr(value)) for value in values]
        total = sum(exact_values, Fraction(0))
        mean = total / len(values)
        variance = None
        if len(values) > 1:
            variance = sum(((value - mean) ** 2 for value in exact_values), Fraction(0)) / (len(values) - 1)
        found: dict[str, Any] = {
            "count": len(values), "sum": _as_json(total), "mean": _as_json(mean),
            "median": _as_json(Fraction(statistics.median(exact_values))), "mode": _modes(values),
            "stdev": None if variance is None else _root(variance),
            "variance": None if variance is None else _as_json(variance),
            "min": _as_json(exact_values[0]), "max": _as_json(exact_values[-1]),
            "q1": _percentile(exact_values, 25), "q3": _percentile(exact_values, 75),
        }  # fmt: skip
        if arguments.percentiles:
            found["percentiles"] = {f"{p:g}": _percentile(exact_values, p) for p in arguments.percentiles}
        return ToolResult(value=found)


def _root(variance: Fraction) -> float:
    try:
        return float(Decimal(variance.numerator / variance.denominator).sqrt())
    except OverflowError:
        raise NodeError(
            "the numbers are too large for their spread", kind="too_large", retryable=False
        ) from None


def _modes(values: Sequence[float]) -> list[int | float]:
    counts = Counter(values)
    most = max(counts.values())
    return (
        [_as_json(Fraction(repr(value))) for value, count in counts.items() if count == most][:10]
        if most > 1
        else []
    )


def _percentile(values: Sequence[Fraction], percent: float) -> int | float:
    """Between the two nearest values in proportion, as spreadsheets do."""
    place = (len(values) - 1) * Fraction(repr(percent)) / 100
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return _as_json(values[low] + (values[high] - values[low]) * (place - low))
