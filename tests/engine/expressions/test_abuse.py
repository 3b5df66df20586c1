"""Every case ends within a second of CPU and 200 MB, in a thread, with an error or a harmless result."""

from __future__ import annotations

import pathlib
import threading
import time

import pytest

from interlace.engine.expressions import ExpressionError, Missing, compile_template, compile_text

TEN = "0123456789"
EXPRESSIONS = [
    "9 ** 9 ** 9",
    "9 ** 99999999",
    "2 ** 63 * 2",
    "2.0 ** 99999",
    "(-8) ** 0.5",
    "10 ** -400",
    "0 ** -1",
    "1e308 * 10",
    "1 // 0",
    "1 % 0",
    "9223372036854775807 + 1",
    "9223372036854775807 * 9223372036854775807",
    "'a' * 10 ** 9",
    "'a' * 10 ** 15",
    "'ab' * -5",
    "[0] * 10 ** 9",
    "[[0] * 1000] * 1000 * 1000",
    "([[[0] * 1000] * 1000] * 1000) | tojson",
    "([[['x' * 1000] * 100] * 100] * 100) | string",
    "[[[['x' * 1000] * 100] * 100] * 100]",
    "range(10 ** 9)",
    "range(-10 ** 18, 10 ** 18)",
    "range(0, 100000) | list | length",
    "'a' | center(10 ** 9)",
    "'a' | center(10 ** 18)",
    "'a' | indent(10 ** 9)",
    "'a' | wordwrap(0)",
    "'a' | truncate(10 ** 18)",
    "'a' | truncate(-5)",
    "'a' | replace('', 'x' * 1000000)",
    "('a' * 1000000) | replace('a', 'x' * 1000)",
    "('a' * 1000000) | replace('', 'xxxxxxxxxxxxxxxxxxxxxxxxx')",
    "'a' | replace('a', 'aa')" + " | replace('a', 'aa')" * 100,
    "('a ' * 5000000) | split | length",
    "range(100000) | join('x' * 1000)",
    "range(100000) | map('string') | join('x' * 10000)",
    "range(100000) | batch(1) | length",
    "range(100000) | batch(10 ** 12)",
    "[1] | slice(10 ** 12)",
    "[1] | batch(10 ** 5, 'x') | length",
    "range(100000) | sort | unique | groupby(0)",
    "range(100000) | map('string') | unique | length",
    "range(100000) | zip(range(100000), range(100000)) | length",
    "[range(100000), range(100000)] | map('sum')",
    "[range(100000)] * 1000 | map('length')",
    "('a' * 20000000) | regex_findall('a') | length",
    "('a' * 3000000) | regex_replace('a', 'bb') | length",
    "('a' * 100000) | regex_replace('', 'x' * 100000)",
    "('a' * 100000) | regex_replace('(a*)', '\\\\1\\\\1\\\\1\\\\1' * 100)",
    "('a' * 30000) | regex_match('(a+)+b')",
    "('a' * 30000) | regex_search('(a|aa)+$b')",
    "'a' | regex_match('((a{1000}){1000}){1000}')",
    "'a' | regex_match('(' * 500 + ')' * 500)",
    "'a' | regex_match('(?=a)a')",
    "[1] | jmespath('" + "|".join(["[@,@][]"] * 100) + "')",
    "[1] | jmespath('" + "|".join(["[@,@]"] * 100) + "')",
    "'ab' | jmespath('" + "|".join(["join(``, [@,@])"] * 60).replace("``", '`""`') + "')",
    "[1] | jmespath('" + "|".join(["[@,@]"] * 60) + "|to_string(@)')",
    "[1] | jmespath('(" + "|".join(["[@,@]"] * 40) + ")==(" + "|".join(["[@,@]"] * 40) + ")')",
    "[1] | jmespath('" + "[" * 900 + "')",
    "[1] | jmespath('" + "!" * 1900 + "@')",
    "('[' * 100000) | fromjson",
    "('[' * 100000 + ']' * 100000) | fromjson | tojson",
    "'1e999' | number",
    "'1e999' | fromjson",
    "('9' * 100000) | number",
    "('9' * 5000) | int(0)",
    "'z' * 70 | int(base=36)",
    "1 | round(10 ** 9)",
    "1 | round(-10 ** 9)",
    "1.5 | round(300)",
    "1 | number_format(10 ** 9)",
    "1e300 | number_format(50)",
    "'2026-01-01' | format_date('%1000000000d')",
    "'2026-01-01' | format_date('%Y' * 1000000)",
    "'2026-01-01' | format_date('%')",
    "'2026-01-01' | add_time(years=10 ** 18)",
    "'2026-01-01' | add_time(days=10 ** 18, seconds=1e300)",
    "10 ** 18 | to_datetime",
    "'9999-12-31T23:59:59Z' | to_tz('Asia/Tokyo')",
    "'0001-01-01T00:00:00Z' | to_tz('America/New_York')",
    "'0001-01-01T00:00:00+14:00' | timestamp",
    "''.__class__.__mro__[1].__subclasses__",
    "[].__class__",
    "{}['__class__']",
    "now.__globals__",
    "('' | attr('__class__')).x",
    "[{}] | map(attribute='__class__.__init__.__globals__')",
    "'{0.__class__}' | replace('0', '1')",
    "inputs.obj.secret",
    "inputs.obj | string",
    "inputs.obj | tojson",
    "inputs.obj ~ ''",
    "[inputs.obj] | join",
    "inputs.obj == inputs.obj",
    "inputs.obj | length",
    "inputs.obj > 1",
    "inputs.obj.__dict__",
    "(" * 4000 + "1" + ")" * 4000,
    "[" * 4000 + "]" * 4000,
    "not " * 2000 + "1",
    "-" * 8000 + "1",
    "1" + " + 1" * 2000,
    "'a'" + " ~ 'a'" * 1300,
    "1" + " < 1" * 2000,
    "a" + ".b" * 4000,
    "a" + "[0]" * 2500,
    "a" + "|upper" * 1300,
    "1 if 1 else " * 600 + "1",
    "{" + "'a':{" * 1500 + "}" * 1500,
    "'" + "\\" * 8000 + "'",
    "inputs.big " + "~ inputs.big " * 500,
    "[" + "inputs.big ~ 'x'," * 300 + "]",
    "[" + "inputs.big | trim | length," * 250 + "]",
    "[" + "'zz' in inputs.big," * 350 + "]",
    "[" + "inputs.big," * 600 + "]",
    "inputs.big == inputs.big ~ ''",
    "inputs.deep == inputs.deep2",
    "inputs.deep | tojson",
    "inputs.deep | flatten(10 ** 9) | length",
    "'\ud800' | hash",
    "'a' * 20000000 | upper | lower | trim | replace('a', 'b')",
    "('😀' * 20000000) | upper",
]
TEMPLATES = [
    "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
    "{% for a in range(100000) %}{% for b in range(100000) %}{{ a ~ b }}{% endfor %}{% endfor %}",
    "{% for a in range(100000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{ a }}{% endfor %}",
    "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(1) }}",
    "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(1) }}",
    "{% macro m(n) %}{{ (m(n + 1) | upper) if n < 10000 else '' }}{% endmacro %}{{ m(1) }}",
    "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(1000) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x='😀') %}{% for i in range(1000) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(1000) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | flatten(99) | length }}",
    "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}",
    "{% set n = namespace(x={}) %}{% set n.x = {'a': n} %}{% set n.self = n %}{{ n }}",
    "{% set n = namespace(a=1) %}{% set n.n = n %}{{ n | tojson }}",
    "{% set n = namespace(a=1) %}{% set n.n = n %}{{ n == dict(a=1, n=n) }}",
    "{% for i in range(100000) %}{% set x = 'a' * 20000 %}{% endfor %}",
    "{% for i in range(100000) %}{{ 'x' * 30000 }}{% endfor %}",
    "{% for i in range(100000) %}{% set x = range(100000) %}{% endfor %}",
    "{% for i in range(100000) %}{% if 'b' is matching '(a+)+' %}{% endif %}{% endfor %}",
    "{% for i in range(100000) %}{{ i | title }}{% endfor %}",
    "{% filter replace('a', 'aaaaaaaaaa') | replace('a', 'aaaaaaaaaa') | replace('a', 'aaaaaaaaaa') %}{{ 'a' * 100000 }}{% endfilter %}",
    "{% if a %}" + "{% elif a %}" * 2500 + "{% endif %}",
    "{% if 1 %}" * 1500 + "{% endif %}" * 1500,
    "{% for x in y %}" * 800 + "{% endfor %}" * 800,
    "{{ 1 }}" * 4600,
    "{{ " + "(" * 9000 + "1",
    "{% set a = 1 %}" * 2000 + "{{ a }}",
    "{% macro m() %}{{ caller() }}{% endmacro %}" + "{% call m() %}" * 300 + "{% endcall %}" * 300,
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os.system('id') }}",
    "{{ self.__init__ }}{{ loop }}",
    "{{ __value(0) }}",
    "{{ __output }}",
    "{% set __value = 1 %}",
    "{% for x in [1] %}{{ loop.__class__ }}{% endfor %}",
    "{% macro m() %}{% endmacro %}{{ m.__class__ }}{{ m.name }}",
    "{% set x = namespace %}{{ x }}",
]


class Live:
    """An object of the program that got among the values."""

    secret = "s"

    def __str__(self) -> str:
        return "A LIVE OBJECT"

    __repr__ = __str__


def nested(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


class Names:
    def __init__(self) -> None:
        self.inputs = {"obj": Live(), "big": "b" * 1_000_000, "deep": nested(900), "deep2": nested(900)}

    def lookup(self, root: str) -> object:
        return self.inputs if root == "inputs" else Missing("not here")


def memory(field):
    """Read a figure of this process, in MB; 0 where the system has none."""
    status = pathlib.Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def outcome(compile_it, source):
    """Run a case in a thread of its own; give what it made or raised, its CPU time and the memory it took in MB."""
    result: list[object] = []
    reset = pathlib.Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    before = memory("VmRSS")

    def work() -> None:
        start = time.thread_time()
        try:
            value = compile_it(source).evaluate(NAMES)
        except ExpressionError as error:
            value = error
        result.extend([value, time.thread_time() - start])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert result, "the thread died of another error"
    return [*result, memory("VmHWM") - before]


NAMES = Names()


def check(compile_it, source):
    value, seconds, megabytes = outcome(compile_it, source)
    assert seconds < 3, f"{seconds:.2f} s of CPU"
    assert megabytes < 200, f"{megabytes:.0f} MB"
    if isinstance(value, ExpressionError):
        assert str(value)
        assert not value.retryable
        assert "A LIVE OBJECT" not in str(value)
    else:
        assert "A LIVE OBJECT" not in str(value)[:1000] if isinstance(value, str) else True


@pytest.mark.parametrize("source", EXPRESSIONS, ids=lambda s: s[:40])
def test_expressions(source):
    check(compile_text, "{{ " + source + " }}")


@pytest.mark.parametrize("source", TEMPLATES, ids=lambda s: s[:60])
def test_templates(source):
    check(compile_template, source)
