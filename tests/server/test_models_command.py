"""`interlace models …` in processes of their own, against a scripted server."""

from __future__ import annotations

from interlace.resources.models.testing import ScriptedModels
from tests.server.command import Command

FLOW = """
name: ask
nodes:
  - {id: start, type: START}
  - {id: answer, type: LLM, config: {prompt: Hello}}
  - {id: done, type: END, config: {outputs: {text: "{{ answer.text }}"}}}
edges: [start -> answer, answer -> done]
"""


def test_a_provider_is_added_tried_and_removed(command: Command) -> None:
    with ScriptedModels("Hi there.", api_key="sk-1234567") as server:
        command.environment["THE_KEY"] = "sk-1234567"
        options = [
            "--url",
            server.url,
            "--model",
            "scripted",
            "--role",
            "general=scripted",
            "--key-from",
            "THE_KEY",
        ]
        added = command("models", "add", "mine", *options)
        assert added.code == 0, added.err
        assert server.requests == []
        tried = command("models", "test", "mine")
        assert (tried.code, "said 'Hi there.'" in tried.err) == (0, True)
        listed = command("models", "list").out
    assert "mine/scripted" in listed
    assert "sk-1234567" not in added.out + added.err + listed
    assert command("models", "remove", "mine").code == 0
    gone = command("models", "show", "mine", "--json")
    assert (gone.code, gone.json["error"]["type"]) == (2, "not_found")


def test_usage_and_budgets(command: Command) -> None:
    with ScriptedModels("Hi there.") as server:
        command.environment |= {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "scripted"}
        flow = command.write("ask.yaml", FLOW)
        assert command("run", flow, "--json").json["outputs"] == {"text": "Hi there."}
        [total] = command("models", "usage", "--json").json["items"]
        assert (total["group"], total["calls"], total["failed"]) == ("scripted", 1, 0)
        assert command("models", "budgets", "set", "installation", "1", "tokens", "--period", "day").code == 0
        refused = command("run", flow, "--json")
    assert (refused.code, refused.json["error"]["type"]) == (1, "budget_exceeded")
    assert len(server.requests) == 1


def test_interlace_toml_names_providers_of_the_installation(command: Command) -> None:
    with ScriptedModels("From the file.") as server:
        command.write(
            "interlace.toml",
            f'[models]\nroles = {{general = "local/scripted"}}\n[[models.providers]]\nname = "local"\nbase_url = "{server.url}"\n'
            'models = [{name = "scripted"}, {name = "scripted-mini"}]\n',
        )
        flow = command.write("ask.yaml", FLOW)
        assert command("run", flow, "--json").json["outputs"] == {"text": "From the file."}
        shown = command("models", "show", "local")
    assert "local/scripted-mini" in shown.out
    assert "installation" in shown.out


def test_mistakes_are_said(command: Command) -> None:
    assert command("models", "add").code == 2
    wrong = command("models", "add", "x", "--url", "ftp://a")
    assert (wrong.code, "base_url" in wrong.err) == (2, True)
    assert command("models", "add", "x", "--role", "general").code == 2
    assert command("models", "add", "x", "--key-from", "NOT_SET_AT_ALL").code == 2
    assert command("models", "usage", "--by", "colour").code == 2
