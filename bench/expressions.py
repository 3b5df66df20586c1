"""CPU time of the expression language beside minijinja and Jinja2: `python bench/expressions.py`."""

from __future__ import annotations

import gc
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import minijinja

from interlace.engine.expressions import Compiled, compile_template, compile_text, compile_value, infer
from interlace.engine.expressions.text import parse_text

VALUES: dict[str, Any] = {
    "a": {"text": "alpha", "n": 5},
    "b": {"text": "beta"},
    "c": {"text": "gamma"},
    "n": {"amount": 1500},
    "rows": [{"name": f"item {i}", "price": i * 1.5} for i in range(1000)],
}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}}
SCHEMAS = {
    "a": TEXT,
    "b": TEXT,
    "c": TEXT,
    "n": {"type": "object", "properties": {"amount": {"type": "number"}}},
}
SOURCES = {
    "three references": "(a.text ~ b.text ~ c.text ~ 'n7')[-24:]",
    "reference": "a.text",
    "comparison": "n.amount > 1000",
    "default and filter": "(a.gone | default('x')) | upper",
}
TABLE = "{% for r in rows if r.price > 10 %}{{ loop.index }}. {{ r.name }}: {{ r.price | round(1) }}\n{% endfor %}"


class Names:
    """Names from the table above."""

    def lookup(self, root: str) -> object:
        return VALUES[root]


def microseconds(work: Callable[[], object], rounds: int) -> float:
    """Give the CPU time of one call: the best of five series."""
    best = float("inf")
    gc.collect()
    for _ in range(5):
        start = time.process_time()
        for _ in range(rounds):
            work()
        best = min(best, time.process_time() - start)
    return best / rounds * 1e6


def uncached(text: str) -> Compiled:
    """Compile a text as if it were seen for the first time."""
    return Compiled(text, parse_text(text))


def expressions() -> None:
    names = Names()
    environment = minijinja.Environment(pycompat=False, undefined_behavior="strict", fuel=1_000_000)
    print(
        f"{'expression':22}{'parse':>8}{'first':>8}{'infer':>8}{'run':>8}{'minijinja':>11}{'ratio':>7}{'Jinja2 compile':>16}"
    )
    for title, source in SOURCES.items():
        text = "{{ " + source + " }}"
        fresh = uncached
        compiled = compile_text(text)
        parse = microseconds(lambda f=fresh, t=text: f(t).references, 2000)  # type: ignore[misc]
        first = microseconds(lambda f=fresh, t=text: f(t).evaluate(names), 2000)  # type: ignore[misc]
        typed = microseconds(lambda c=compiled: infer(c, SCHEMAS.get), 5000)  # type: ignore[misc]
        run = microseconds(lambda c=compiled: c.evaluate(names), 20000)  # type: ignore[misc]
        peer = microseconds(lambda s=source: environment.eval_expr(s, **VALUES), 5000)  # type: ignore[misc]
        print(
            f"{title:22}{parse:8.2f}{first:8.2f}{typed:8.2f}{run:8.2f}{peer:11.2f}{peer / run:7.1f}{jinja2_compile(text):16.0f}"
        )


def jinja2_compile(text: str) -> float:
    """Give the time to compile and render a text with Jinja2, where it is installed."""
    if importlib.util.find_spec("jinja2") is None:
        return float("nan")
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - not a dependency

    return microseconds(
        lambda: ImmutableSandboxedEnvironment(cache_size=0).from_string(text).render(**VALUES), 20
    )


def templates() -> None:
    compiled = compile_template(TABLE)
    ours = microseconds(lambda: compiled.evaluate(Names()), 5)
    environment = minijinja.Environment(pycompat=False, undefined_behavior="strict", fuel=1_000_000)
    plain = microseconds(lambda: environment.render_str(TABLE, **VALUES), 5)
    print(f"\ntable of 1,000 rows: {ours / 1000:.2f} ms; minijinja without our rules: {plain / 1000:.2f} ms")


def validation() -> None:
    start = time.process_time()
    for number in range(10_000):
        source = f"{{{{ (a.text ~ b.text ~ c.text ~ 'n{number}')[-24:] }}}}"
        compiled = compile_value({"template": source, "format": "text"})
        assert len(compiled.references) == 3
        assert not infer(compiled, SCHEMAS.get).findings
    print(
        f"10,000 nodes x 3 references, parse + references + infer: {time.process_time() - start:.2f} s of CPU"
    )


if __name__ == "__main__":
    expressions()
    templates()
    validation()
