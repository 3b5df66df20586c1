"""JavaScript translated to Python gives what JavaScript gives; what is not certain is refused."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from typing import Any

import pytest

from interlace.importers.javascript.python import NotPython, read, translated, with_main
from interlace.importers.javascript.python.expressions import Code, Writer
from interlace.importers.javascript.syntax import Js, Name
from tests.importers.javascript.programs import CASES, ITEMS


class Items:
    """A host with one name of its own."""

    def value(self, js: Js, writer: Writer) -> Code | None:
        if isinstance(js, Name) and js.name == "items" and writer.scope.find("items") is None:
            return Code("items", "list")
        return None


def python(source: str) -> str:
    main = "def main(items):\n    return js_plain(program(items))"
    return translated(read(source), Items(), parameters=["items"], main=main)


def run(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(python(source), names)
    try:
        return names["main"](copy.deepcopy(ITEMS))
    except Exception as error:
        return f"THROWN {error}"


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_it_gives_what_javascript_gives(source: str, expected: Any) -> None:
    assert run(source) == expected


@pytest.mark.skipif(shutil.which("node") is None, reason="no engine of JavaScript here")
def test_the_expected_values_are_those_of_an_engine() -> None:
    programs = ", ".join(f"(items) => {{ {source}\n }}" for source, _ in CASES)
    script = (
        f"const given = {json.dumps(ITEMS)}; const run = (f) => {{ try {{ const r = f(structuredClone(given));"
        " return r === undefined ? null : r } catch (e) { return 'THROWN ' + e.message } };"
        f" console.log(JSON.stringify([{programs}].map(run)))"
    )
    done = subprocess.run(
        ["node", "-e", script],
        capture_output=True,
        text=True,
        check=True,
        env={"TZ": "UTC", "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )
    assert json.loads(done.stdout) == [expected for _, expected in CASES]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("return await fetch('http://x')", "fetch"),
        ("class A {} return 1", "class"),
        ("return this.helpers.httpRequest({})", "this"),
        ("function* g() { yield 1 } return 1", "generator"),
        ("a: for (;;) { break a }", "not expected"),
        ("return /\\p{L}/u.test('x')", "properties"),
        ("return new Promise(r => setTimeout(r, 5))", "Promise"),
        ("return unknown.thing", "unknown"),
        ("const x = 1; x.toLocaleString()", "toLocaleString"),
        ("switch (1) { case 1: let a = 1; case 2: return 2 }", "falls"),
        ("throw 'text'", "throw"),
        ("return (", "not expected"),
        ("return new Intl.NumberFormat()", "new"),
        ("return `${", "not closed"),
    ],
)
def test_what_is_not_certain_is_refused(source: str, why: str) -> None:
    with pytest.raises(NotPython, match=why):
        python(source)


def test_only_the_rules_that_are_needed_stand_below() -> None:
    made = python("const n = 1; return n + 1")
    assert "def js_sort" not in made
    assert "def js_plain" in made
    assert python("return items.map(i => i.json)") == python("return items.map(i => i.json)")


def test_the_module_crypto_needs_no_loading() -> None:
    assert len(run("return require('crypto').randomUUID()")) == 36
    assert (
        run("const crypto = require('crypto'); return crypto.createHash('sha1').update('a').digest('hex')")[
            :6
        ]
        == "86f7e4"
    )


def test_a_main_with_parameters() -> None:
    names: dict[str, Any] = {}
    exec(
        with_main(
            "const half = n => n / 2;\nfunction main({n, words = 'none'}) { return {h: half(n), w: words.length} }",
            Items(),
            ["n"],
        ),
        names,
    )
    assert names["main"](n=8) == {"h": 4, "w": 4}
    exec(with_main("function main(a, b) { return {sum: a + b} }", Items(), ["a", "b"]), names)
    assert names["main"](a=1, b="x") == {"sum": "1x"}
    with pytest.raises(NotPython, match="no function main"):
        with_main("const main = 1", Items(), [])


@pytest.mark.parametrize(
    "program",
    [
        read("return [{json: {}}]"),
        read("return {a: 1}"),
        read("if (a) { return {b: 1} } else { return [{json: 1}] }"),
        read("try { return {a: 1} } catch (e) { throw e }"),
    ],
)
def test_programs_that_give_one_item(program: Any) -> None:
    assert program.single


@pytest.mark.parametrize(
    "program",
    [
        read("return []"),
        read("if (a) return {b: 1}"),
        read("return list"),
        read("return [...list]"),
        read("for (const x of y) { return [] } return {a: 1}"),
    ],
)
def test_programs_that_may_give_more_or_less(program: Any) -> None:
    assert not program.single
