"""What the pages of runs, approvals, triggers and settings show: real workflows, and runs of them on the tests' server."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import httpx2

from interlace.resources.models.testing import ScriptedModels
from tests.loopback import Loopback
from tests.web.conftest import Server

TEXT = {"type": "string"}
GREETING = {
    "name": "Greeting", "inputs": {"type": "object", "required": ["name"], "properties": {"name": TEXT}},
    "nodes": [
        {"id": "start", "type": "START"},
        {"id": "greet", "type": "TEMPLATE", "label": "Greet", "config": {"template": "Hello {{ inputs.name }}"}},
        {"id": "done", "type": "END", "config": {"outputs": {"text": "{{ greet.text }}"}}},
    ],
    "edges": ["start -> greet", "greet -> done"],
}  # fmt: skip
MONTH_END: dict[str, Any] = {
    "name": "Month-end close",
    "inputs": {
        "type": "object", "required": ["orders"],
        "properties": {
            "orders": {"type": "array", "items": {"type": "number"}, "description": "Amounts of the month"},
            "customer": {"type": "string", "default": "Ada"},
        },
    },
    "nodes": [
        {"id": "start", "type": "START"},
        {
            "id": "each", "type": "ITERATION", "label": "Every order",
            "config": {"items": "{{ inputs.orders }}", "output": "{{ line.text }}"},
            "body": {"nodes": [{"id": "line", "type": "TEMPLATE", "config": {"template": "{{ index + 1 }}. {{ item }} EUR"}}], "edges": []},
        },
        {"id": "total", "type": "LIST_OPERATION", "label": "Total", "config": {"input": "{{ inputs.orders }}", "operations": [{"sum": True}]}},
        {"id": "report", "type": "TEMPLATE", "label": "Long report", "config": {"template": "{{ 'line of the report, ' * 900 }}"}},
        {
            "id": "large", "type": "CONDITION", "label": "Large month?",
            "config": {"cases": [{"id": "large", "when": "total.result > 1000"}]},
        },
        {"id": "alarm", "type": "TEMPLATE", "label": "Tell finance", "config": {"template": "{{ total.result }} EUR is a lot"}},
        {"id": "letter", "type": "SUB_WORKFLOW", "label": "Letter", "config": {"workflow": "Greeting", "inputs": {"name": "{{ inputs.customer }}"}}},
        {
            "id": "end", "type": "END",
            "config": {"outputs": {"total": "{{ total.result }}", "lines": "{{ each.results }}", "letter": "{{ letter.text }}", "report": "{{ report.text }}"}},
        },
    ],
    "edges": [
        {"from": "start", "to": "each"}, {"from": "start", "to": "report"}, {"from": "each", "to": "total"},
        {"from": "total", "to": "large"}, {"from": "large", "handle": "large", "to": "alarm"},
        {"from": "large", "handle": "else", "to": "letter"}, {"from": "alarm", "to": "letter"},
        {"from": "report", "to": "end"}, {"from": "letter", "to": "end"},
    ],
}  # fmt: skip


def fetch(url: str) -> dict[str, Any]:
    """A workflow that fails after a retry."""
    retry = {"max": 1, "delay": 0.05}
    return {
        "name": "Exchange rates",
        "nodes": [
            {"id": "start", "type": "START"},
            {"id": "rates", "type": "HTTP", "label": "Get rates", "config": {"method": "GET", "url": f"{url}/status/503"}, "retry": retry},
            {"id": "done", "type": "END", "config": {"outputs": {"status": "{{ rates.status_code }}"}}},
        ],
        "edges": ["start -> rates", "rates -> done"],
    }  # fmt: skip


def approval(name: str = "Pay invoice", **more: Any) -> dict[str, Any]:
    """A workflow that asks somebody."""
    form = {
        "type": "object", "required": ["cost_centre"],
        "properties": {
            "cost_centre": {"type": "string", "enum": ["Sales", "Research", "Operations"], "title": "Cost centre"},
            "note": {"type": "string", "title": "Note to the books"},
        },
    }  # fmt: skip
    message = (
        "**{{ inputs.vendor }}** asks for **{{ inputs.amount }} EUR**.\n\n| item | amount |\n|---|---|\n| Licences | 1,200 |\n"
        "| Support | {{ inputs.amount - 1200 }} |\n\n- due in *14 days*\n- [contract](https://example.com/contract)"
    )
    config = {
        "title": "Pay {{ inputs.amount }} EUR to {{ inputs.vendor }}?",
        "message": message,
        "form": form,
        **more,
    }
    return {
        "name": name,
        "inputs": {"type": "object", "properties": {"amount": {"type": "number", "default": 1900}, "vendor": {"type": "string", "default": "Lovelace Ltd"}}},
        "nodes": [
            {"id": "start", "type": "START"},
            {"id": "ask", "type": "HUMAN", "label": "Ask finance", "config": config},
            {"id": "done", "type": "END", "config": {"outputs": {"action": "{{ ask.action }}", "by": "{{ ask.by }}"}}},
        ],
        "edges": ["start -> ask", *[f"ask.{handle} -> done" for handle in ("approve", "reject", "timeout")]],
    }  # fmt: skip


def agent() -> dict[str, Any]:
    """An agent that calculates with a tool."""
    return {
        "name": "Ask the analyst", "inputs": {"type": "object", "properties": {"question": {"type": "string"}}},
        "nodes": [
            {"id": "start", "type": "START"},
            {
                "id": "analyst", "type": "AGENT", "label": "Analyst",
                "config": {"instructions": "Calculate before you answer.", "prompt": "{{ inputs.question }}", "model": "desk/small", "tools": ["calculator"]},
            },
            {"id": "done", "type": "END", "config": {"outputs": {"answer": "{{ analyst.text }}"}}},
        ],
        "edges": ["start -> analyst", "analyst -> done"],
    }  # fmt: skip


RULES = [
    {"when": {"has_tool_result": True}, "reply": "Together that is 2,412 EUR."},
    {"when": {"has_tools": True}, "reply": {"tool_calls": [{"name": "calculator", "arguments": {"expression": "1206 * 2"}}]}},
    {"reply": "Good."},
]  # fmt: skip


@dataclass
class Seeded:
    """Ids of what is there."""

    server: Server
    runs: dict[str, str] = field(default_factory=dict)
    workflows: dict[str, str] = field(default_factory=dict)
    asked: str = ""
    schedule: str = ""
    webhook: str = ""

    def publish(self, document: dict[str, Any]) -> str:
        """Store and publish a document; gives the workflow's id."""
        made = self.server.call("POST", "/api/v1/workflows", {"document": document, "publish": True})
        self.workflows[document["name"]] = made["id"]
        return str(made["id"])

    def run(self, name: str, inputs: dict[str, Any] | None = None) -> str:
        """Run a workflow to its end, or to where it waits; gives the run's id."""
        started = self.server.call(
            "POST", f"/api/v1/workflows/{self.workflows[name]}/run", {"inputs": inputs or {}}
        )
        self.settled(started["run_id"])
        self.runs[name] = started["run_id"]
        return str(started["run_id"])

    def ended(self, run_id: str) -> str:
        """Wait until a run has ended, by its events; gives its status."""
        return self.settled(run_id, {"succeeded", "failed", "cancelled"})

    def settled(
        self, run_id: str, statuses: Collection[str] = ("succeeded", "failed", "cancelled", "suspended")
    ) -> str:
        """Wait until a run has ended or waits for somebody; gives its status."""
        headers = {"authorization": f"Bearer {self.server.key}", "accept": "text/event-stream"}
        url = f"{self.server.url}/api/v1/runs/{run_id}/events"
        with httpx2.stream("GET", url, headers=headers, timeout=30) as answer:
            for line in answer.iter_lines():
                status = line.removeprefix("event: run.")
                if status in statuses:
                    return status
        raise AssertionError(f"the events of run {run_id} ended before it did")

    def request(self, run_id: str) -> str:
        """The open request of a run."""
        found = self.server.call("GET", f"/api/v1/approvals?run_id={run_id}")["items"]
        return str(found[0]["id"])


def seed(server: Server, web: Loopback, models: ScriptedModels) -> Seeded:
    """Runs that succeeded, failed, wait, were started by others, and used a model; triggers, a budget, a secret."""
    seeded = Seeded(server)
    for document in (GREETING, MONTH_END, fetch(web.url), approval(), agent()):
        seeded.publish(document)
    price = {"input": 2.0, "output": 8.0, "currency": "EUR"}
    definition = {
        "name": "desk",
        "base_url": models.url,
        "models": [{"name": "small", "price": price}],
        "roles": {"general": "small"},
    }
    server.call("POST", "/api/v1/models", {"definition": definition})
    seeded.run("Month-end close", {"orders": [310, 420, 95.5]})
    seeded.run("Month-end close", {"orders": [310, 920, 95.5], "customer": "Grace"})
    seeded.run("Exchange rates")
    seeded.run("Ask the analyst", {"question": "What do two orders of 1,206 EUR cost?"})
    seeded.asked = seeded.request(seeded.run("Pay invoice"))
    greeting = {"workflow": seeded.workflows["Greeting"]}
    clock = {
        "cron": "0 */6 * * *",
        "timezone": "Europe/Berlin",
        "name": "Six-hourly",
        "inputs": {"name": "clock"},
    }
    seeded.schedule = server.call("POST", "/api/v1/schedules", {**greeting, **clock})["id"]
    seeded.webhook = server.call("POST", "/api/v1/webhooks", {**greeting, "name": "Shop"})["id"]
    budget = {"scope": "installation", "period": "month", "unit": "EUR", "most": 250}
    server.call("PUT", "/api/v1/usage/budgets", budget)
    server.call("PUT", "/api/v1/secrets/SHOP_KEY", {"value": "s3cr3t-value"})
    return seeded
