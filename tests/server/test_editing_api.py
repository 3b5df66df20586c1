"""What the editor asks: drafts, text and back, fixes, renaming, comparing, previews, versions, runs up to a node."""

from __future__ import annotations

import copy
from typing import Any

import httpx2

ORDERS: dict[str, Any] = {
    "name": "Orders",
    "inputs": {"type": "object", "required": ["amounts"], "properties": {"amounts": {"type": "array", "items": {"type": "number"}}}},
    "nodes": [
        {"id": "start", "type": "START"},
        {
            "id": "each", "type": "ITERATION", "config": {"items": "{{ inputs.amounts }}", "output": "{{ line.text }}"},
            "body": {"nodes": [{"id": "line", "type": "TEMPLATE", "config": {"template": "{{ index }}: {{ item }}"}}], "edges": []},
        },
        {"id": "sum", "type": "LIST_OPERATION", "config": {"input": "{{ inputs.amounts }}", "operations": [{"sum": True}]}},
        {"id": "end", "type": "END", "config": {"outputs": {"lines": "{{ each.results }}", "sum": "{{ sum.result }}"}}},
    ],
    "edges": [{"from": "start", "to": "each"}, {"from": "each", "to": "sum"}, {"from": "sum", "to": "end"}],
}  # fmt: skip


async def stored(api: httpx2.AsyncClient, document: Any = ORDERS) -> str:
    found: str = (await api.post("/api/v1/workflows", json={"document": document})).json()["id"]
    return found


async def test_a_draft_is_kept_though_it_is_not_valid_and_never_written_over_unseen(
    api: httpx2.AsyncClient,
) -> None:
    path = f"/api/v1/workflows/{await stored(api)}/draft"
    assert (await api.get(path)).json() == {"draft": None}
    broken = {"name": "Orders", "nodes": [{"id": "a", "type": "NOTHING"}], "edges": []}
    first = await api.put(path, json={"document": broken, "base_version": 1})
    one = first.json()["draft"]["revision"]
    second = await api.put(path, json={"document": ORDERS, "seen": one})
    assert second.json()["draft"]["revision"] == one + 1
    for seen in (None, one, one + 7):
        late = await api.put(path, json={"document": broken, "seen": seen})
        assert (late.status_code, late.json()["code"]) == (409, "draft_conflict")
        assert late.json()["current"]["document"] == ORDERS
    assert (await api.get(path)).json()["draft"]["document"] == ORDERS
    assert (await api.delete(path, params={"seen": one})).status_code == 409
    assert (await api.delete(path, params={"seen": one + 1})).status_code == 204
    assert (await api.get(path)).json() == {"draft": None}
    # A draft that begins anew is not the one that was seen, though as many changes were made to it.
    await api.put(path, json={"document": ORDERS})
    assert (await api.put(path, json={"document": broken, "seen": one})).status_code == 409
    assert (await api.delete(path)).status_code == 204


async def test_a_version_ends_only_the_draft_that_its_author_has_seen(api: httpx2.AsyncClient) -> None:
    path = f"/api/v1/workflows/{await stored(api)}"
    draft = await api.put(f"{path}/draft", json={"document": {**ORDERS, "description": "theirs"}})
    revision = draft.json()["draft"]["revision"]
    for seen in (None, revision - 1):
        late = await api.post(f"{path}/versions", json={"document": ORDERS, "seen": seen, "publish": True})
        assert (late.status_code, late.json()["code"]) == (409, "draft_conflict")
        assert late.json()["current"]["document"]["description"] == "theirs"
    assert (await api.get(path)).json()["published_version"] is None
    assert (await api.get(f"{path}/draft")).json()["draft"]["revision"] == revision
    mine = {**ORDERS, "description": "mine"}
    made = await api.post(f"{path}/versions", json={"document": mine, "seen": revision})
    assert (made.status_code, made.json()["version"]) == (201, 2)
    assert (await api.get(f"{path}/draft")).json() == {"draft": None}


async def test_a_document_becomes_a_version_of_its_workflow_and_may_rename_it(
    api: httpx2.AsyncClient,
) -> None:
    workflow = await stored(api)
    await api.put(f"/api/v1/workflows/{workflow}/draft", json={"document": ORDERS})
    made = await api.post(
        f"/api/v1/workflows/{workflow}/versions", json={"document": {**ORDERS, "name": "Bookings"}, "note": "new name", "publish": True}
    )  # fmt: skip
    assert (made.status_code, made.json()["id"], made.json()["version"]) == (201, workflow, 2)
    found = (await api.get(f"/api/v1/workflows/{workflow}")).json()
    assert (found["name"], found["published_version"]) == ("Bookings", 2)
    assert (await api.get(f"/api/v1/workflows/{workflow}/draft")).json() == {"draft": None}
    assert (await api.get("/api/v1/workflows/Orders")).status_code == 404
    await stored(api, {**ORDERS, "name": "Taken"})
    taken = await api.post(
        f"/api/v1/workflows/{workflow}/versions", json={"document": {**ORDERS, "name": "Taken"}}
    )
    assert (taken.status_code, taken.json()["code"]) == (409, "conflict")
    bad = await api.post(f"/api/v1/workflows/{workflow}/versions", json={"document": {**ORDERS, "edges": []}})
    assert (bad.status_code, bad.json()["code"]) == (422, "validation")


async def test_text_and_object_are_turned_into_each_other(api: httpx2.AsyncClient) -> None:
    made = (await api.post("/api/v1/workflows/convert", json={"document": ORDERS})).json()
    assert made["valid"]
    back = (await api.post("/api/v1/workflows/convert", json={"document": made["yaml"]})).json()
    assert back["document"] == made["document"]
    assert back["inside"]["each"]["item"] == {"type": "number"}
    assert back["handles"]["each"] == ["out", "error"]
    assert back["types"]["line"]["properties"] == {"text": {"type": "string"}}
    half = (await api.post("/api/v1/workflows/convert", json={"document": "name: [\n"})).json()
    assert (half["document"], half["complete"], half["problems"][0]["code"]) == (None, False, "syntax")


async def test_a_problem_is_fixed_and_only_by_what_helps(api: httpx2.AsyncClient) -> None:
    wrong = copy.deepcopy(ORDERS)
    wrong["nodes"][1]["body"]["nodes"][0]["config"]["template"] = "{{ inputs.amout }}"
    wrong["inputs"]["properties"]["amount"] = {"type": "number"}
    found = (await api.post("/api/v1/workflows/validate", json={"document": wrong})).json()
    [problem] = [one for one in found["problems"] if one["severity"] == "error"]
    asked = {name: problem[name] for name in ("code", "node", "field", "message", "fix")}
    fixed = (await api.post("/api/v1/workflows/fix", json={"document": wrong, "problem": asked})).json()[
        "fixes"
    ]
    assert fixed[0]["label"] == "Replace 'amout' with 'amount'"
    assert (await api.post("/api/v1/workflows/validate", json={"document": fixed[0]["document"]})).json()[
        "valid"
    ]
    other = {
        "code": "unknown_workflow",
        "node": "t",
        "field": "config.workflow",
        "message": "There is no workflow 'x'.",
    }
    assert (await api.post("/api/v1/workflows/fix", json={"document": wrong, "problem": other})).json() == {
        "fixes": []
    }


async def test_a_node_is_renamed_with_its_references(api: httpx2.AsyncClient) -> None:
    done = await api.post(
        "/api/v1/workflows/rename-node", json={"document": ORDERS, "old": "line", "new": "row"}
    )
    each = done.json()["document"]["nodes"][1]
    assert (each["config"]["output"], each["body"]["nodes"][0]["id"]) == ("{{ row.text }}", "row")
    refused = await api.post(
        "/api/v1/workflows/rename-node", json={"document": ORDERS, "old": "line", "new": "sum"}
    )
    assert refused.status_code == 400
    assert "taken" in refused.json()["detail"]


async def test_documents_are_compared_in_meaning_and_as_text(api: httpx2.AsyncClient) -> None:
    after = {**ORDERS, "description": "More"}
    found = (await api.post("/api/v1/workflows/compare", json={"before": ORDERS, "after": after})).json()
    assert found["diff"]["document"] == [{"path": "description", "before": None, "after": "More"}]
    assert "description: More" in found["after"]
    assert "description" not in found["before"]


async def test_expressions_are_shown_with_the_data_of_a_run(api: httpx2.AsyncClient) -> None:
    ran = (
        await api.post(
            "/api/v1/runs", params={"wait": "20s"}, json={"document": ORDERS, "inputs": {"amounts": [3, 4]}}
        )
    ).json()

    async def shown(text: str, **more: Any) -> Any:
        body = {"document": ORDERS, "text": text, "run_id": ran["run_id"], **more}
        return (await api.post("/api/v1/workflows/preview", json=body)).json()

    assert (await shown("{{ sum.result + 1 }}"))["value"] == 8
    assert (await shown("{{ item }} of {{ line.text }}", path="each[1].line"))["value"] == "4 of 1: 4"
    assert (await shown("item", kind="expression", path="each.line"))["value"] == 3
    assert (await shown("{{ inputs.amounts }}", values={"inputs": {"amounts": [1]}}))["value"] == [1]
    assert "secrets are not shown" in (await shown("{{ secrets.key }}"))["error"]
    unseen = (await shown("{{ nothing.here }}"))["error"]
    assert unseen.endswith("nothing has no data of a run yet; run the workflow to see it")
    assert not (await shown("{{ sum. }}"))["ok"]
    assert not (await shown("{{ ''.__class__ }}"))["ok"]
    assert not (
        await shown(
            "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
            kind="template",
        )
    )["ok"]


async def test_what_a_node_of_a_run_was_given(api: httpx2.AsyncClient) -> None:
    ran = (
        await api.post(
            "/api/v1/runs", params={"wait": "20s"}, json={"document": ORDERS, "inputs": {"amounts": [3, 4]}}
        )
    ).json()
    found = (await api.get(f"/api/v1/runs/{ran['run_id']}/given/sum")).json()["fields"]
    assert found[0] == {
        "field": "config.input",
        "source": "{{ inputs.amounts }}",
        "value": [3, 4],
        "error": None,
    }
    missing = await api.get(f"/api/v1/runs/{ran['run_id']}/given/summ")
    assert missing.status_code == 404
    assert "did you mean 'sum'" in missing.json()["detail"]
    document = (await api.get(f"/api/v1/runs/{ran['run_id']}/document", params={"yaml": True})).json()
    assert document["document"]["name"] == "Orders"
    assert document["yaml"].startswith("schema: interlace/v1\n")


async def test_a_draft_is_run_up_to_a_node_as_a_test(api: httpx2.AsyncClient) -> None:
    workflow = await stored(api)
    path = f"/api/v1/workflows/{workflow}/run"
    draft = {
        **ORDERS,
        "nodes": [
            *ORDERS["nodes"][:3],
            {"id": "end", "type": "END", "config": {"outputs": {"only": "{{ sum.result }}"}}},
        ],
    }
    ran = (
        await api.post(
            path, params={"wait": "20s"}, json={"document": draft, "inputs": {"amounts": [2]}, "test": True}
        )
    ).json()
    assert ran["outputs"] == {"only": 2}
    part = (
        await api.post(
            path,
            params={"wait": "20s"},
            json={"document": draft, "inputs": {"amounts": [2]}, "test": True, "until": "line"},
        )
    ).json()
    assert part["outputs"] == {}
    nodes = (await api.get(f"/api/v1/runs/{part['run_id']}")).json()["nodes"]
    assert nodes["each[0].line"]["status"] == "succeeded"
    assert "sum" not in nodes
    listed = (await api.get("/api/v1/runs", params={"workflow_id": workflow})).json()["items"]
    assert {run["id"] for run in listed} == {ran["run_id"], part["run_id"]}, listed
    assert all(run["test"] for run in listed)
    await api.put(
        f"/api/v1/workflows/{workflow}/pins/sum",
        json={"outputs": {"result": 9, "first": 1, "last": 2, "count": 1}},
    )
    pinned = (
        await api.post(
            path,
            params={"wait": "20s"},
            json={"document": {**draft, "description": "new"}, "inputs": {"amounts": [2]}, "test": True},
        )
    ).json()
    assert pinned["outputs"] == {"only": 9}
    for body in ({"document": draft}, {"version": "latest", "until": "sum"}):
        refused = await api.post(path, json={**body, "inputs": {"amounts": [1]}})
        assert (refused.status_code, refused.json()["code"]) == (422, "bad_request")
    unknown = await api.post(
        path, json={"version": "latest", "until": "summ", "test": True, "inputs": {"amounts": [1]}}
    )
    assert "did you mean 'sum'" in unknown.json()["problems"][0]["message"]
    tested = await api.post(
        f"/api/v1/workflows/{workflow}/test-node",
        json={"node": "sum", "inputs": {"amounts": [5, 6]}, "document": draft},
    )
    assert tested.json()["outputs"]["result"] == 11


async def test_templates_are_there_to_start_from(api: httpx2.AsyncClient) -> None:
    found = (await api.get("/api/v1/templates")).json()["items"]
    assert len(found) >= 12
    assert all(one["description"] and one["nodes"] for one in found)
    one = (await api.get("/api/v1/templates/greeting")).json()
    pushed = await api.post("/api/v1/workflows", json={"document": one["document"]})
    assert pushed.status_code == 201
    assert (await api.get("/api/v1/templates/nothing")).status_code == 404


async def test_forms_of_all_types_come_with_what_they_share(api: httpx2.AsyncClient) -> None:
    found = (await api.get("/api/v1/nodes")).json()
    assert {"retry", "timeout", "on_error", "wait"} <= set(found["shared"]["properties"])
    assert "max_concurrency" in found["settings"]["properties"]
    llm = next(one for one in found["items"] if one["type"] == "LLM")
    assert llm["config"]["properties"]["model"]["ui"]["widget"] == "model"
    assert "widget" not in llm["config"]["properties"]["model"]
