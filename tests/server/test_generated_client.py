"""A client that another project's generator makes of our OpenAPI document runs a workflow and answers its request.

`pip install openapi-python-client` into an environment of its own (it wants an older typer), on the PATH or named by
INTERLACE_TEST_CLIENT_GENERATOR.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import create_app
from tests.flows.waiting import ASK
from tests.server.served import served

PACKAGE = "interlace_generated"


@pytest.fixture
def package(platform: Platform, tmp_path: Path) -> Iterator[Any]:
    generator = os.environ.get("INTERLACE_TEST_CLIENT_GENERATOR") or shutil.which("openapi-python-client")
    if generator is None:
        pytest.skip("openapi-python-client is not installed")
    pytest.importorskip("httpx", reason="generated clients use httpx")
    document, config = tmp_path / "openapi.json", tmp_path / "config.json"
    document.write_text(json.dumps(create_app(platform).openapi()))
    config.write_text(json.dumps({"package_name_override": PACKAGE, "post_hooks": []}))
    made = subprocess.run(
        [generator, "generate", "--path", document, "--output-path", tmp_path / "made", "--config", config],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    said = made.stdout + made.stderr
    assert "Unable to parse" not in said, said
    sys.path.insert(0, str(tmp_path / "made"))
    yield importlib.import_module
    sys.path.remove(str(tmp_path / "made"))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.mark.timeout(300)
async def test_a_generated_client_runs_and_answers(package: Any, tmp_path: Path) -> None:
    def used(url: str, key: str) -> None:
        with package(f"{PACKAGE}.client").AuthenticatedClient(
            base_url=url, token=key, raise_on_unexpected_status=True, httpx_args={"trust_env": False}
        ) as client:
            use(client)

    def use(client: Any) -> None:
        models = package(f"{PACKAGE}.models")

        def call(tag: str, name: str, *args: Any, **kwargs: Any) -> Any:
            return package(f"{PACKAGE}.api.{tag}.{name}").sync(*args, client=client, **kwargs)

        # Store and publish, start, look, answer, look again.
        body = models.Push(
            document=ASK if isinstance(ASK, str) else models.PushDocumentType0.from_dict(ASK), publish=True
        )
        pushed = call("workflows", "workflows_push", body=body)
        assert isinstance(pushed, models.Pushed)
        assert pushed.published is True
        started = call("workflows", "run_workflow", pushed.id, body=models.StartStored(), wait="20s")
        assert isinstance(started, models.Started)
        assert started.status == "suspended"
        report = call("runs", "get_run", started.run_id)
        assert isinstance(report, models.RunReport)
        assert report.workflow_id == pushed.id
        (request,) = call("approvals", "list_approvals", run_id=started.run_id).items
        assert isinstance(request, models.Approval)
        answer = models.AnswerBody(action=request.actions[0])
        answered = call("approvals", "answer_approval", request.id, body=answer)
        assert isinstance(answered, models.Approval)
        assert (answered.status, answered.answered_by) == ("answered", "generated")
        again = call("approvals", "answer_approval", request.id, body=answer)
        assert isinstance(again, models.Problem)
        assert again.code == "already_answered"
        for _ in range(200):
            report = call("runs", "get_run", started.run_id)
            if report.status == "succeeded":
                break
        assert report.status == "succeeded"
        missing = call("runs", "get_run", "none")
        assert isinstance(missing, models.Problem)
        assert (missing.status, missing.code) == (404, "not_found")
        assert started.run_id in [run.id for run in call("runs", "list_runs").items]

    async with served(Settings(home=tmp_path / "other", prefect="off")) as (app, url):
        _, key = await app.state.platform.store.keys.create("generated")
        await asyncio.to_thread(used, url, key)
