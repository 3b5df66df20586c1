"""Whatever stands in a document, validation answers with problems; and it stays linear."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlace.engine.document import Document
from interlace.engine.registry import Registry
from interlace.engine.source import Source, load
from interlace.engine.validate import check, validate
from tests.engine.validate.kinds import make_registry

REGISTRY: Registry = make_registry()
IDS = st.sampled_from(["start", "end", "a", "b", "c", "item", "vars", "$break", "zz"])
TYPES = st.sampled_from([*REGISTRY, "NOPE"])
TEXTS = st.sampled_from(
    [
        "{{ a.text }}", "{{ b }}", "{{ vars.v }}", "{{ inputs.x.y }}", "{{ secrets.k }}", "{{ item[0] }}", "{{ a. }}", "{{ n + 1 }}",
        "{{ a.body[b.x] }}", "a.b > 1", "{% for x in a %}{{ x }}{% endfor %}", "{% if", "x", "", "{{ index ~ loop.round }}", "{{ vars }}",
        "{{ c.error.message | default('') }}", "{{ (a or b).text }}", "{{ [a, b] | map(attribute='text') | list }}",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | TEXTS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "type", "properties", "default", "$ref", "x.y"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        "template", "cases", "title", "form", "actions", "url", "headers", "items", "output", "parallel", "variables", "until",
        "max_rounds", "assignments", "values", "workflow", "inputs", "outputs", "input", "filter", "response_schema", "zz",
    ]
)  # fmt: skip
CASES = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from(["x", "y", "else", "error"]), "when": TEXTS}), max_size=3
)
ASSIGNMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "variable": st.sampled_from(["v", "n", "zz"]),
            "op": st.sampled_from(["set", "append", "merge"]),
            "value": VALUES,
        }
    ),
    max_size=2,
)
CONFIGS = st.one_of(
    st.dictionaries(FIELDS, VALUES, max_size=4),
    st.fixed_dictionaries({"template": TEXTS}),
    st.fixed_dictionaries({"cases": CASES, "mode": st.sampled_from(["first", "every"])}),
    st.fixed_dictionaries({"url": TEXTS, "headers": st.dictionaries(st.just("h"), TEXTS)}),
    st.fixed_dictionaries({"items": TEXTS, "output": VALUES, "parallel": st.sampled_from([1, 5, "{{ a }}"])}),
    st.fixed_dictionaries({"variables": st.dictionaries(st.sampled_from(["n", "a"]), VALUES), "max_rounds": st.just(3), "until": TEXTS}),
    st.fixed_dictionaries({"assignments": ASSIGNMENTS}),
    st.fixed_dictionaries({"values": st.lists(TEXTS, max_size=3)}),
    st.fixed_dictionaries({"outputs": st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2)}),
)  # fmt: skip
EDGES = st.lists(
    st.fixed_dictionaries(
        {"from": IDS, "to": IDS, "handle": st.sampled_from(["out", "out", "x", "else", "error", "approve"])}
    ),
    max_size=8,
)


def bodies(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"nodes": st.lists(nodes(depth), max_size=5), "edges": EDGES})


def nodes(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    optional: dict[str, Any] = {
        "join": st.just("all"), "on_error": st.sampled_from(["continue", "branch"]), "disabled": st.just(True),
        "wait": st.fixed_dictionaries({"until": TEXTS}), "default_output": st.just({"text": 1}),
    }  # fmt: skip
    if depth:
        optional["body"] = bodies(depth - 1)
    return st.fixed_dictionaries(
        {"id": IDS.filter(lambda name: "$" not in name), "type": TYPES, "config": CONFIGS}, optional=optional
    )


DOCUMENTS = st.builds(
    lambda body, variables, inputs: {"name": "junk", **body, "variables": variables, "inputs": inputs},
    bodies(2),
    st.dictionaries(
        st.sampled_from(["v", "n"]),
        st.fixed_dictionaries({"type": st.sampled_from(["number", "array", "any"]), "default": VALUES}),
    ),
    st.dictionaries(st.sampled_from(["type", "properties", "required", "$defs"]), VALUES, max_size=2),
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(DOCUMENTS)
def test_junk_never_crashes_the_validator(data: dict[str, Any]) -> None:
    text = json.dumps(data, indent=1)
    source: Source = load(text)
    found = check(source, REGISTRY)
    for problem in found.problems:
        assert problem.message.endswith((".", "?", "…"))
        assert problem.line is None or 1 <= problem.line <= text.count("\n") + 1
    if source.document is not None:
        plain = validate(source.document, REGISTRY)
        assert {(p.code, p.node, p.field) for p in plain.problems} == {
            (p.code, p.node, p.field) for p in found.problems
        }


_NUMBERS = itertools.count()


def _layered(count: int) -> Document:
    """Each node reads the three before it; no two texts are alike, so that no cache helps."""
    made: list[dict[str, Any]] = [{"id": "start", "type": "START"}]
    edges = [{"from": "start", "to": "n0"}]
    for index in range(count):
        before = [f"n{other}" for other in range(max(0, index - 3), index)]
        edges += [{"from": other, "to": f"n{index}"} for other in before]
        text = " ".join(f"{{{{ {other}.text }}}}" for other in before) + f" {next(_NUMBERS)}"
        made.append({"id": f"n{index}", "type": "TEMPLATE", "config": {"template": text}})
    made.append({"id": "end", "type": "END"})
    return Document.model_validate(
        {"name": "x", "nodes": made, "edges": [*edges, {"from": f"n{count - 1}", "to": "end"}]}
    )


def _cost(count: int) -> float:
    best = float("inf")
    for _ in range(3):
        document = _layered(count)
        start = time.process_time()
        assert validate(document, REGISTRY).problems == ()
        best = min(best, time.process_time() - start)
    return best


def test_cost_grows_with_the_size_only() -> None:
    small, large = _cost(150), _cost(1500)
    assert large < small * 25


def test_thousands_of_mistakes_are_found_without_delay() -> None:
    document = _layered(600)
    broken = document.model_copy(
        update={
            "nodes": [
                n.model_copy(update={"config": {"template": "{{ ghost }}"}}) if n.type == "TEMPLATE" else n
                for n in document.nodes
            ]
        }
    )
    start = time.process_time()
    found = validate(broken, REGISTRY)
    assert len(found.problems) == 600
    assert time.process_time() - start < 20 * _cost(600)
