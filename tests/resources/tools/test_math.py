"""Arithmetic: exact, bounded, and never an evaluator of Python."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlace.engine.errors import NodeError
from interlace.resources.tools.arithmetic import written
from interlace.resources.tools.builtin.math import shown
from interlace.resources.tools.calculation import calculate
from interlace.resources.tools.units import convert, units_of
from tests.resources.tools.calling import call, fault, value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(12.5 + 7) * 3", "58.5"), ("0.1 + 0.2", "0.3"), ("2^64", "18446744073709551616"), ("-2^2", "-4"),
        ("2^3^2", "512"), ("2**-3", "0.125"), ("7 // 2", "3"), ("-7 // 2", "-4"), ("-7 % 3", "2"), ("15% * 80", "12"),
        ("10 % 3", "1"), ("5!", "120"), ("sqrt(16/9) * 3", "4"), ("√16", "4"), ("3 \u00d7 4 \u00f7 2 \u2212 1", "5"), ("1_000 + .5", "1000.5"),
        ("round(2.675, 2)", "2.68"), ("round(-2.5)", "-3"), ("floor(-1.5) + ceil(1.2)", "0"), ("log2(1024)", "10"),
        ("log(1000, 10)", "3"), ("cbrt(-27)", "-3"), ("gcd(12, 18) + lcm(4, 6)", "18"), ("comb(5, 2)", "10"),
        ("max(1, 2.5, -3)", "2.5"), ("avg(1, 2, 3)", "2"), ("hypot(3, 4)", "5"), ("0^0", "1"), ("1e-3", "0.001"),
        ("sqrt(2)", "1.414213562373095048801688724209698"), ("pi", "3.141592653589793238462643383279503"),
        ("exp(1)", "2.718281828459045235360287471352662"), ("1/3", "0.3333333333333333333333333333333333"),
    ],
)  # fmt: skip
def test_values(text: str, wanted: str) -> None:
    assert written(calculate(text)) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("1/0", "division_by_zero", "by zero"), ("0^-1", "division_by_zero", ""), ("5 % (2-2)", "division_by_zero", ""),
        ("9**9**9", "too_large", "4,000 digits"), ("99999!", "bad_expression", "0 to 1500"), ("1e99999", "too_large", ""),
        ("exp(exp(exp(9)))", "too_large", ""), ("2.5!", "bad_expression", "whole"), ("sqrt(-1)", "bad_expression", "negative"),
        ("ln(0)", "bad_expression", "above 0"), ("", "bad_expression", "empty"), ("1 +", "bad_expression", "too early"),
        ("(1", "bad_expression", "not closed"), ("1 2", "bad_expression", "character 3"), ("x + 1", "bad_expression", "no value 'x'"),
        ("foo(1)", "bad_expression", "no function 'foo'"), ("sqrt(1, 2)", "bad_expression", "2 numbers"),
        ("__import__('os')", "bad_expression", "cannot stand"), ("a.b", "bad_expression", ""), ("1 == 1", "bad_expression", "conditions"),
        ("(" * 100 + "1" + ")" * 100, "bad_expression", "levels deep"), ("1" * 2001, "bad_expression", "characters"),
        ("2^" * 200 + "1", "bad_expression", "levels deep"),
    ],
)  # fmt: skip
def test_what_has_no_value_says_why(text: str, kind: str, words: str) -> None:
    with pytest.raises(NodeError) as caught:
        calculate(text)
    assert (caught.value.kind, words in caught.value.message) == (kind, True), caught.value.message


@given(st.text(alphabet="0123456789.+-*/%^!(),eE xπ√ sqrtexplnfactcombminround", max_size=60))
@settings(max_examples=600, deadline=None)
def test_no_text_takes_long_and_every_failure_is_explained(text: str) -> None:
    started = time.process_time()
    try:
        found = shown(calculate(text, {"x": Fraction(3)}))
        assert isinstance(found["text"], str)
        float(found["value"])
    except NodeError as error:
        assert error.kind in ("bad_expression", "too_large", "division_by_zero")  # noqa: PT017
        assert error.message  # noqa: PT017
    assert time.process_time() - started < 2


@given(st.fractions(), st.fractions(), st.sampled_from("+-*/"))
@settings(max_examples=200, deadline=None)
def test_fractions_stay_exact(left: Fraction, right: Fraction, sign: str) -> None:
    if sign == "/" and not right:
        return
    text = f"({left.numerator}/{left.denominator}) {sign} ({right.numerator}/{right.denominator})"
    wanted = {"+": left + right, "-": left - right, "*": left * right, "/": left / right if right else None}[
        sign
    ]
    assert calculate(text) == wanted


async def test_the_tool_tells_what_is_exact() -> None:
    assert await value("calculator", expression="rate * 3", variables={"rate": 0.1}) == {
        "value": 0.3, "text": "0.3", "exact": True,
    }  # fmt: skip
    third = await call("calculator", expression="1/3")
    assert third.value["fraction"] == "1/3"
    assert third.text == "≈ 0.3333333333333333333333333333333333 = 1/3"
    huge = await value("calculator", expression="exp(1000)")
    assert huge == {
        "value": 1.7976931348623157e308,
        "text": "1.970071114017046993888879352243323E+434",
        "exact": False,
    }


@pytest.mark.parametrize(
    ("amount", "unit", "to", "wanted"),
    [
        (100, "km", "mi", "62.13711922373339696174341843633182"), (37, "°C", "F", "98.6"), (-40, "F", "C", "-40"),
        (0, "K", "C", "-273.15"), (1, "GiB", "MB", "1073.741824"), (1, "feet", "cm", "30.48"), (3, "hours", "min", "180"),
        (1, "kWh", "J", "3600000"), (1, "Mbit", "kB", "125"), (1, "m²", "cm2", "10000"), (5, "ms", "s", "0.005"),
        (1, "atm", "mmHg", "760"), (1, "lb", "g", "453.59237"), (100, "km/h", "m/s", "27.77777777777777777777777777777778"),
    ],
)  # fmt: skip
async def test_units(amount: float, unit: str, to: str, wanted: str) -> None:
    assert (await value("convert_units", value=amount, unit=unit, to=to))["text"] == wanted


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_there_and_back_is_where_one_was(data: st.DataObject) -> None:
    units = data.draw(st.sampled_from(list(units_of().values())))
    first, second = data.draw(st.sampled_from(units)), data.draw(st.sampled_from(units))
    start = data.draw(st.fractions(min_value=-1000, max_value=1000))
    there, _ = convert(start, first, second)
    assert convert(there, second, first)[0] == start


async def test_units_that_do_not_go_together() -> None:
    assert await fault("convert_units", value=1, unit="kg", to="m") == (
        "bad_unit", "'kg' is a unit of mass and 'm' a unit of length; choose two of one kind",
    )  # fmt: skip
    kind, words = await fault("convert_units", value=1, unit="killometre", to="m")
    assert kind == "unknown_unit"
    assert "'killometre'" in words


async def test_figures_of_a_list() -> None:
    found = await value("statistics", values=[1, 2, 2, 3.5, 10], percentiles=[90])
    assert found == {
        "count": 5, "sum": 18.5, "mean": 3.7, "median": 2, "mode": [2], "stdev": pytest.approx(3.63318), "variance": 13.2,
        "min": 1, "max": 10, "q1": 2, "q3": 3.5, "percentiles": {"90": 7.4},
    }  # fmt: skip
    one = await value("statistics", values=[0.1])
    assert (one["mean"], one["stdev"], one["mode"]) == (0.1, None, [])
    assert (await value("statistics", values=[0.1] * 10))["sum"] == 1
    assert (await fault("statistics", values=[]))[0] == "bad_arguments"
