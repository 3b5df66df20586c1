"""Units and their factors to the first one of their kind, exact by definition where there is a definition."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from interlace.engine.errors import NodeError
from interlace.engine.problems import nearest

_TABLE: Final[Mapping[str, str]] = {
    "length": "m 1|km 1000|cm 1/100|mm 1/1000|um µm micron 1/1000000|nm 1/1000000000|in inch 127/5000|ft foot feet 381/1250"
    "|yd yard 1143/1250|mi mile 201168/125|nmi nautical_mile 1852|ly light_year 9460730472580800|au 149597870700",
    "mass": "kg 1|g gram 1/1000|mg 1/1000000|ug µg 1/1000000000|t tonne 1000|lb lbs pound 45359237/100000000"
    "|oz ounce 45359237/1600000000|st stone 317514659/50000000|ton_us 45359237/50000|ton_uk 317514659/312500|ct carat 1/5000",
    "area": "m2 m² sqm 1|km2 km² 1000000|cm2 cm² 1/10000|mm2 mm² 1/1000000|ha hectare 10000|a are 100"
    "|ft2 ft² sqft 145161/1562500|in2 in² 16129/25000000|yd2 yd² 1306449/1562500|mi2 mi² 40468564224/15625"
    "|acre ac 316160658/78125|tsubo 400/121",
    "volume": "l liter litre 1|ml 1/1000|cl 1/100|dl 1/10|m3 m³ 1000|cm3 cm³ cc 1/1000|gal gal_us gallon 473176473/125000000"
    "|gal_uk 454609/100000|qt quart 473176473/500000000|pt pint 473176473/1000000000|cup 473176473/2000000000"
    "|floz fl_oz 473176473/16000000000|tbsp 473176473/32000000000|tsp 157725491/32000000000|ft3 ft³ 55306341/1953125"
    "|in3 in³ 2048383/125000000|bbl barrel 9936705933/62500000",
    "time": "s sec second 1|ms 1/1000|us µs 1/1000000|ns 1/1000000000|min minute 60|h hr hour 3600|d day 86400|wk week 604800"
    "|month 2629746|yr year 31556952",
    "speed": "m/s mps 1|km/h kmh kph 5/18|mph mi/h 1397/3125|kn knot 463/900|ft/s fps 381/1250|c 299792458",
    "data": "B byte 1|bit 1/8|kB 1000|MB 1000000|GB 1000000000|TB 1000000000000|PB 1000000000000000|KiB 1024|MiB 1048576"
    "|GiB 1073741824|TiB 1099511627776|PiB 1125899906842624|kbit 125|Mbit 125000|Gbit 125000000",
    "energy": "J joule 1|kJ 1000|MJ 1000000|cal 523/125|kcal 4184|Wh 3600|kWh 3600000|MWh 3600000000|eV 1602176634/10000000000000000000000000000"
    "|BTU btu 52752792631/50000000",
    "power": "W watt 1|kW 1000|MW 1000000|GW 1000000000|hp 37284993579113511/50000000000000|PS 588399/800",
    "pressure": "Pa 1|hPa 100|kPa 1000|MPa 1000000|bar 100000|mbar 100|atm 101325|mmHg torr 20265/152|psi 8896443230521/1290320000",
    "force": "N newton 1|kN 1000|lbf 8896443230521/2000000000000|kgf 196133/20000|dyn 1/100000",
    "frequency": "Hz 1|kHz 1000|MHz 1000000|GHz 1000000000|rpm 1/60",
    "angle": "deg ° degree 1|turn 360|grad gon 9/10|arcmin 1/60|arcsec 1/3600|rad 5729577951308232087679815481410517/100000000000000000000000000000000",
    "temperature": "K kelvin 1|C °C celsius 1|F °F fahrenheit 5/9|R rankine 5/9",
}  # fmt: skip
_ZERO: Final[Mapping[str, Fraction]] = {"C": Fraction(27315, 100), "F": Fraction(45967, 180)}
"""What a scale's zero is in kelvin."""


def _units() -> dict[str, tuple[str, str, Fraction]]:
    found = {}
    for kind, text in _TABLE.items():
        for entry in text.split("|"):
            *names, factor = entry.split()
            for name in names:
                found[unicodedata.normalize("NFKC", name)] = (kind, names[0], Fraction(factor))
    return found


_UNITS: Final = _units()
_LOOSE: Final = {name.lower(): entry for name, entry in reversed(_UNITS.items())}


def convert(value: Fraction, unit: str, wanted: str) -> tuple[Fraction, str]:
    """A value in another unit of the same kind, and the kind.

    Raises:
        NodeError: `unknown_unit`, `bad_unit` where the two measure different things.
    """
    kind, name, factor = _find(unit)
    other_kind, other, other_factor = _find(wanted)
    if kind != other_kind:
        raise NodeError(
            f"{unit!r} is {_article(kind)} and {wanted!r} {_article(other_kind)}; choose two of one kind",
            kind="bad_unit", retryable=False,
        )  # fmt: skip
    return (value * factor + _zero(name) - _zero(other)) / other_factor, kind


def units_of() -> dict[str, list[str]]:
    """The units by kind, each by its short name."""
    return {
        kind: [entry.split()[0] for entry in text.split("|")] for kind, text in _TABLE.items()
    }  # fmt: skip


def _zero(name: str) -> Fraction:
    return _ZERO.get(name, Fraction(0))


def _find(unit: str) -> tuple[str, str, Fraction]:
    name = unicodedata.normalize("NFKC", unit.strip())
    for tried in (name, name.replace(" ", "_")):
        singular = tried[:-1] if len(tried) > 3 and tried.endswith("s") else tried  # noqa: PLR2004 - hours, not ms
        for form in (tried, singular):
            found = _UNITS.get(form) or _LOOSE.get(form.lower())
            if found is not None:
                return found
    guess = nearest(name, _UNITS)
    hint = f"did you mean {guess!r}?" if guess else f"kinds are {', '.join(_TABLE)}"
    raise NodeError(f"there is no unit {unit!r}; {hint}", kind="unknown_unit", retryable=False)


def _article(kind: str) -> str:
    return f"a unit of {kind}"
