from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from interlace.engine.protocols import CodeRunner, Services
from interlace.nodes.code import Code, CodeConfig
from interlace.resources.sandbox import CodeResult, Limits, Sandbox
from tests.nodes.runs import NodeRun, check, run_node


class Runner:
    """The real sandbox behind the protocol; notes what it was asked for."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.asked: dict[str, Any] = {}

    async def run(
        self, code: str, inputs: Mapping[str, Any], *, seconds: float, memory_mb: int, output_mb: float,
        fast: bool = False, packages: Sequence[str] = (), network: bool = False,
    ) -> CodeResult:  # fmt: skip
        self.asked = {
            "seconds": seconds,
            "memory_mb": memory_mb,
            "output_mb": output_mb,
            "fast": fast,
            "packages": packages,
            "network": network,
        }
        limits = Limits(seconds=seconds, memory_mb=memory_mb, output_mb=output_mb)
        return await self.sandbox.run(
            code, inputs, limits=limits, fast=fast, packages=packages, network=network
        )


@pytest.fixture
async def runner() -> AsyncIterator[Runner]:
    sandbox = Sandbox()
    try:
        status = await sandbox.check()
        if not status.available:
            pytest.skip(f"no sandbox here: {status.reason}")
        yield Runner(sandbox)
    finally:
        await sandbox.close()


async def run_code(
    runner: Runner, code: str, inputs: dict[str, Any] | None = None, given: Any = None, **config: Any
) -> NodeRun:
    return await run_node(
        "CODE",
        {"code": code, "inputs": inputs or {}, **config},
        given,
        services=Services({CodeRunner: runner}),
    )


async def test_the_returned_fields_are_the_outputs(runner: Runner) -> None:
    code = "def main(orders, factor=2):\n    print('summing', len(orders))\n    return {'total': sum(orders) * factor, 'list': [None, True]}"
    run = await run_code(runner, code, {"orders": "{{ inputs.orders }}"}, {"orders": [1, 2]})
    meta = run.outputs.pop("meta")
    assert run.outputs == {"total": 6, "list": [None, True]}
    assert meta["stdout"] == "summing 2\n"
    assert meta["stderr"] == ""
    assert meta["cpu_ms"] >= 0
    assert runner.asked == {
        "seconds": 60,
        "memory_mb": 512,
        "output_mb": 10,
        "fast": False,
        "packages": [],
        "network": False,
    }


async def test_the_fast_sandbox(runner: Runner) -> None:
    run = await run_code(
        runner, "def main(a):\n    return {'b': a + 1}", {"a": 1}, sandbox="fast", limits={"seconds": 5}
    )
    assert run["b"] == 2
    assert (runner.asked["fast"], runner.asked["seconds"]) == (True, 5)


async def test_the_user_s_exception_is_the_kind(runner: Runner) -> None:
    run = await run_code(runner, "def main():\n    raise ValueError('too small')")
    assert run.kind == "ValueError"
    assert "too small" in run.message
    assert "line 2" in run.message


async def test_limits(runner: Runner) -> None:
    run = await run_code(runner, "def main():\n    while True: pass", limits={"seconds": 0.5})
    assert run.kind == "timeout"


@pytest.mark.parametrize("value", ["[1]", "'x'", "None"])
async def test_something_else_than_an_object(runner: Runner, value: str) -> None:
    run = await run_code(runner, f"def main():\n    return {value}")
    assert run.kind == "bad_result"


async def test_meta_is_taken(runner: Runner) -> None:
    run = await run_code(runner, "def main():\n    return {'meta': 1}")
    assert (run.kind, run.message) == (
        "bad_result",
        "main() returned a field 'meta', which is taken; give it another name",
    )


async def test_the_output_schema_is_enforced(runner: Runner) -> None:
    schema = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert (await run_code(runner, "def main():\n    return {'n': 1}", output_schema=schema))["n"] == 1
    run = await run_code(runner, "def main():\n    return {'n': 'x', 'm': 1}", output_schema=schema)
    assert run.kind == "output_schema"
    assert "result.n: must be a whole number, got text 'x'." in run.message
    assert "result.m: is not expected here." in run.message


@pytest.mark.parametrize(
    ("code", "inputs", "findings"),
    [
        ("def main(a, b=1): return {}", {"a": 1}, []),
        ("def main(**all): return {}", {"x": 1}, []),
        ("async def main(a): return {}", {"a": 1}, []),
        ("import x\nmain = x.main", {"a": 1}, []),
        ("from x import main", {}, []),
        ("if True:\n    def main(a): return {}", {"a": 1}, []),
        ("def main(a): return {}", "{{ inputs }}", []),
        ("def main(:\n  pass", {}, [("code_syntax", "config.code", "line 1: invalid syntax: 'def main(:'.")]),
        ("x = 1\ny = (", {}, [("code_syntax", "config.code", "line 2: '(' was never closed: 'y = ('.")]),
        ("a\0b", {}, [("code_syntax", "config.code", None)]),
        ("x = " + "(" * 5000 + ")" * 5000, {}, [("code_syntax", "config.code", None)]),
        ("def mian(): return {}", {}, [("code_main", "config.code", "the code defines no function `main`.")]),
        ("def f():\n    def main(): pass", {}, [("code_main", "config.code", "the code defines no function `main`.")]),
        ("\ndef main(a, /, b, *, c): return {}", {"b": 1}, [
            ("code_inputs", "config.inputs", "main() on line 2 needs 'a', which is not among the inputs."),
            ("code_inputs", "config.inputs", "main() on line 2 needs 'c', which is not among the inputs."),
        ]),
        ("def main(): return {}", {"a": 1}, [("code_inputs", "config.inputs.a", "main() on line 1 has no parameter 'a', so this input is not used.")]),
        ("def main(a): return {}\ndef main(b): return {}", {"b": 1}, []),
    ],
)  # fmt: skip
def test_static_check(code: str, inputs: Any, findings: list[Any]) -> None:
    found = [(f.code, f.field, f.message) for f in check("CODE", {"code": code, "inputs": inputs})]
    assert [entry[:2] for entry in found] == [entry[:2] for entry in findings]
    assert [entry[2] for entry, wanted in zip(found, findings, strict=True) if wanted[2]] == [
        entry[2] for entry in findings if entry[2]
    ]


def test_static_check_never_runs_the_code(tmp_path: Any) -> None:
    code = f"open({str(tmp_path / 'ran')!r}, 'w')\ndef main(): return {{}}"
    assert not check("CODE", {"code": code})
    assert not (tmp_path / "ran").exists()


def test_an_unused_input_is_a_warning_and_fast_has_no_packages() -> None:
    assert [f.severity for f in check("CODE", {"code": "def main(): return {}", "inputs": {"a": 1}})] == [
        "warning"
    ]
    found = check("CODE", {"code": "def main(): return {}", "sandbox": "fast", "packages": ["numpy"]})
    assert [f.field for f in found] == ["config.packages"]


def test_effects() -> None:
    config = {"code": "def main(): return {}"}
    assert Code(CodeConfig.model_validate(config)).effect() == "none"
    assert Code(CodeConfig.model_validate({**config, "network": True})).effect() == "once"


@pytest.mark.parametrize(
    "change",
    [
        {"language": "js"},
        {"sandbox": "none"},
        {"limits": {"seconds": 0}},
        {"limits": {"cores": 2}},
        {"code": ""},
    ],
)
def test_bad_configs(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(change))):
        CodeConfig.model_validate({"code": "def main(): return {}", **change})
