"""The triggers of a document: their fields, and what they give to runs."""

from __future__ import annotations

import pytest

from interlace.engine.triggers import CronTrigger, WebhookTrigger, automatic
from tests.engine.validate.conftest import Examine, Found


def flow(triggers: str, inputs: str = "{type: object}") -> str:
    return (
        f"name: test\ninputs: {inputs}\ntriggers: {triggers}\nnodes: [{{id: start, type: START}}, {{id: end, type: END}}]\n"
        "edges: [start -> end]\n"
    )


@pytest.mark.parametrize(
    ("trigger", "code", "field"),
    [
        ("{type: crno}", "bad_trigger", "type"), ("{}", "bad_trigger", "type"), ("{type: [cron]}", "bad_trigger", "type"),
        ("{type: webhook, inputs: [a]}", "wrong_type", "inputs"),
        ('{type: webhook, inputs: {a: "{{ trigger.body. }}"}}', "expression_syntax", "inputs.a"),
        ('{type: webhook, inputs: {a: [{b: "{{ node.x }}"}]}}', "unknown_name", "inputs.a[0].b"),
        ('{type: webhook, inputs: {a: "{{ secrets.x }}"}}', "secret_leak", "inputs.a"),
        ('{type: webhook, idempotency: {key: "{{ inputs.x }}"}}', "unknown_name", "idempotency.key"),
        ("{type: webhook, idempotency: {}}", "bad_value", "idempotency"),
        ("{type: webhook, methods: [FETCH]}", "bad_value", "methods[0]"),
        ("{type: webhook, signature: {type: hmac}}", "bad_value", "signature"),
        ("{type: webhook, signature: {type: githb}}", "bad_value", "signature.type"),
        ("{type: webhook, response: {timeout: 2 days}}", "bad_duration", "response.timeout"),
        ("{type: cron}", "missing_field", "cron"), ('{type: cron, cron: "61 * * * *"}', "bad_value", "cron"),
        ('{type: cron, cron: "0 0 31 2 *"}', "bad_value", "cron"),
        ('{type: cron, cron: "@daily", timezone: Europe/Berln}', "bad_value", "timezone"),
        ('{type: cron, cron: "@daily", timezon: UTC}', "unknown_field", "timezon"),
        ('{type: cron, cron: "@daily", missed_limit: 0}', "out_of_range", "missed_limit"),
        ("{type: event}", "missing_field", "workflow"), ("{type: event, workflow: a, on: []}", "out_of_range", "on"),
        ("{type: event, workflow: test}", "event_loop", "workflow"),
    ],
)  # fmt: skip
def test_a_bad_trigger_is_told_at_its_place(found: Found, trigger: str, code: str, field: str) -> None:
    place = f"triggers[0].{field}"
    assert found(flow(f"[{trigger}]")) == [(code, None, place, 3)]


def test_mistyped_names_have_their_nearest(examine: Examine) -> None:
    fixes = [
        examine(flow(f"[{trigger}]")).problems[-1].fix
        for trigger in (
            "{type: webhok}",
            "{type: webhook, signature: {type: githb}}",
            '{type: cron, crom: "@daily"}',
        )
    ]
    assert fixes == ["Did you mean 'webhook'?", "Did you mean 'github'?", "Did you mean 'cron'?"]


def test_two_triggers_of_one_id(found: Found) -> None:
    text = flow(
        '[{type: cron, cron: "@daily", id: a}, {type: webhook, id: a}, {type: webhook}, {type: webhook}]'
    )
    assert found(text) == [("duplicate_trigger", None, "triggers[1].id", 3)]


@pytest.mark.parametrize(
    ("inputs", "bad"),
    [
        ("", True), (", inputs: {n: text}", True), (", inputs: {n: 3}", False), (', inputs: {n: "{{ trigger.n }}"}', False),
        (", inputs: {n: 3, m: 4}", True),
    ],
)  # fmt: skip
def test_what_a_clock_gives_fits_the_inputs(found: Found, inputs: str, bad: bool) -> None:
    schema = "{type: object, required: [n], additionalProperties: false, properties: {n: {type: integer}, d: {default: 1}}}"
    wanted = [("trigger_inputs", None, "triggers[0].inputs", 3)] if bad else []
    assert found(flow(f'[{{type: cron, cron: "@daily"{inputs}}}]', schema)) == wanted
    # The body of a request gives what it likes.
    assert found(flow(f"[{{type: webhook{inputs}}}]", schema)) == []


def test_right_triggers_are_silent(found: Found) -> None:
    triggers = (
        '[{type: manual}, {type: chat}, {type: cron, cron: "0 8 * * MON", timezone: Asia/Tokyo, jitter: 5m, overlap: queue},'
        ' {type: webhook, id: in, signature: {type: stripe, secret: STRIPE}, idempotency: {key: "{{ trigger.body.id }}"},'
        ' inputs: {a: "{{ trigger.body.a }}"}}, {type: event, workflow: other, on: [failed]}]'
    )
    assert found(flow(triggers)) == []


def test_keys_are_ids_or_places() -> None:
    kept = automatic(
        [
            {"type": "manual"}, {"type": "cron", "cron": "@daily"}, {"type": "webhook", "id": "orders"},
            {"type": "cron", "cron": "@hourly", "timezone": "Asia/Tokyo"}, {"type": "cron", "unreadable": True},
            {"type": "webhook"},
        ]
    )  # fmt: skip
    assert list(kept) == ["cron-1", "orders", "cron-2", "webhook-2"]
    assert isinstance(kept["cron-2"], CronTrigger)
    assert isinstance(kept["orders"], WebhookTrigger)
    assert (kept["cron-2"].timezone, kept["orders"].methods) == ("Asia/Tokyo", ["POST"])
