"""Stored agents: whoever sees one may use it, and only its keepers read what it is told."""

from __future__ import annotations

import pytest
from tests.store.people import People, make_people

from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL
from interlace.resources.agents.agents import Agents, keeps
from interlace.resources.agents.definition import Agent, read_definition, read_text
from interlace.resources.secrets import MasterKeys, Secrets
from interlace.store import Store
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError

HOOK = {
    "event": "pre_tool_use", "do": "webhook", "url": "https://guard.example.com/a",
    "secret_headers": {"authorization": "Bearer h00k-secret"},
}  # fmt: skip
TRADER = {"name": "trader", "description": "Trades", "instructions": "You are secretive.", "hooks": [HOOK]}


@pytest.fixture
async def people(store: Store) -> People:
    return await make_people(store)


@pytest.fixture
def agents(store: Store) -> Agents:
    return Agents(store, Secrets(store, MasterKeys(store.payloads.root.parent)))


async def test_an_agent_is_kept_changed_and_removed(agents: Agents, store: Store) -> None:
    made = await agents.add(TRADER, by=LOCAL)
    assert "h00k-secret" not in str(made.definition)
    with pytest.raises(ConflictError):
        await agents.add(TRADER, by=LOCAL)
    _, used = await agents.use("trader", by=LOCAL)
    assert used.hooks[0].secret_headers == {"authorization": "Bearer h00k-secret"}  # type: ignore[union-attr]
    _, shown = await agents.definition("trader", by=LOCAL)
    renamed = await agents.update("trader", {**shown, "name": "商人", "hooks": shown["hooks"]}, by=LOCAL)
    assert renamed.id == made.id
    hidden: dict[str, str] = {}
    _, used = await agents.use("商人", by=LOCAL, hide=hidden.__setitem__)
    assert (used.name, list(hidden.values())) == ("商人", ["Bearer h00k-secret"])
    assert [stub.name for stub in await agents.catalogue(by=LOCAL)] == ["商人"]
    await agents.update("商人", {"name": "商人", "builder": True}, by=LOCAL)
    assert await agents.catalogue(by=LOCAL) == []
    await agents.switch("商人", active=False, by=LOCAL)
    with pytest.raises(NodeError, match="that you may use") as caught:
        await agents.use("商人", by=LOCAL)
    assert caught.value.kind == "resource_not_found"
    await agents.remove("商人", by=LOCAL)
    with pytest.raises(NodeError, match="no agent '商人'"):
        await agents.use("商人", by=LOCAL)


async def test_who_uses_a_shared_agent_does_not_read_it(agents: Agents, store: Store, people: People) -> None:
    made = await agents.add(TRADER, by=people.ann)
    await store.market.publish(made.id, "org", by=people.ann, org_id=people.acme)
    _, used = await agents.use("trader", by=people.ben)
    assert used.instructions == "You are secretive."
    with pytest.raises(ForbiddenError, match="shared with you"):
        await agents.definition("trader", by=people.ben)
    assert keeps(made, people.ann)
    for stranger in (people.cid, people.dee):
        with pytest.raises(NotFoundError):
            await agents.definition("trader", by=stranger)
        with pytest.raises(NodeError):
            await agents.use("trader", by=stranger)
        assert await agents.catalogue(by=stranger) == []
    # Subscribers of the market are users as well.
    await store.market.publish(made.id, "market", by=people.ann)
    await store.market.review(made.id, approve=True, by=LOCAL)
    await store.market.subscribe(made.id, by=people.dee)
    assert (await agents.use("trader", by=people.dee))[1].instructions
    with pytest.raises(ForbiddenError):
        await agents.definition("trader", by=people.dee)
    with pytest.raises(ForbiddenError):
        await agents.update("trader", {"name": "trader"}, by=people.dee)
    lines = [
        line for who in (people.ann, people.dee, LOCAL) for line in (await store.audit.list(by=who)).items
    ]
    assert any(line.action == "resource.add" for line in lines)
    assert "secretive" not in str(lines)


async def test_a_kept_secret_does_not_go_elsewhere(agents: Agents, store: Store, people: People) -> None:
    made = await agents.add(TRADER, by=people.ann)
    await store.market.publish(made.id, "org", by=people.ann, org_id=people.acme)
    _, shown = await agents.definition("trader", by=people.ann)
    moved = [{**shown["hooks"][0], "url": "https://evil.example.com"}]
    with pytest.raises(NodeError, match="was not given for https://evil"):
        await agents.update("trader", {**shown, "hooks": moved}, by=people.ann)
    path = [{**shown["hooks"][0], "url": "https://guard.example.com/b"}]
    await agents.update("trader", {**shown, "hooks": path}, by=people.ann)
    # An admin of the organisation changes the agent, and does not reach for the owner's secrets with it.
    await store.organisations.add(people.acme, people.ben.user_id, "admin", by=people.ann)
    ben = await store.users.principal(people.ben.user_id)
    anns = [{**HOOK, "secret_headers": {"x": {"secret": "ANNS"}}}]
    with pytest.raises(NodeError, match="the secret 'ANNS'"):
        await agents.update("trader", {**shown, "hooks": anns}, by=ben)
    await agents.update("trader", {**shown, "hooks": [HOOK]}, by=ben)


async def test_hooks_of_organisations_hold_for_their_members(
    agents: Agents, store: Store, people: People
) -> None:
    deny = {"event": "pre_tool_use", "match": "mail__*", "do": "deny", "message": "No mail."}
    await agents.set_org_hooks("acme", [deny], by=people.ann)
    assert await agents.org_hooks("acme", by=people.ann) == [deny]
    for who, error in ((people.ben, ForbiddenError), (LOCAL, ForbiddenError), (people.cid, NotFoundError)):
        with pytest.raises(error):
            await agents.org_hooks("acme", by=who)
        with pytest.raises(error):
            await agents.set_org_hooks("acme", [], by=who)
    assert await agents.hooks(None, by=people.ben)
    assert not await agents.hooks(None, by=people.dee)
    with pytest.raises(NodeError, match="name a secret of the organisation"):
        await agents.set_org_hooks("acme", [HOOK], by=people.ann)
    secrets = Secrets(store, MasterKeys(store.payloads.root.parent))
    await secrets.put("GUARD", "g-secret", by=people.ann, org_id=people.acme)
    named = {**HOOK, "secret_headers": {"authorization": {"secret": "GUARD"}}}
    await agents.set_org_hooks("acme", [named], by=people.ann)
    hidden: dict[str, str] = {}
    assert await agents.hooks(None, by=people.ben, hide=hidden.__setitem__)
    assert hidden == {"GUARD": "g-secret"}
    assert "g-secret" not in str(await agents.org_hooks("acme", by=people.ann))


def test_an_agent_is_read_from_a_file() -> None:
    yaml = "name: trader\ninstructions: |\n  Line one.\n  Line two.\ntool_categories: [web]\n"
    assert read_text(yaml) == Agent(
        name="trader", instructions="Line one.\nLine two.\n", tool_categories=("web",)
    )
    markdown = "---\ndescription: Trades\nlimits: {iterations: 3}\n---\n\nYou are *you*.\n"
    agent = read_text(markdown, name="trader")
    assert (agent.name, agent.instructions, agent.limits.iterations) == ("trader", "You are *you*.", 3)
    assert read_text('{"name": "j", "kb_ids": ["a"]}').kb_ids == ("a",)


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ({}, "name"),
        ({"name": "a", "hook": []}, "hook"),
        ({"name": "a", "tool_categories": ["nope"]}, "tool_categories"),
        ({"name": "a", "hooks": [{"event": "pre_tool_use", "do": "run"}]}, "hooks.0"),
        ({"name": "a", "hooks": [{"event": "post_tool_use", "do": "deny"}]}, "this hook is for pre_tool_use"),
        (
            {"name": "a", "hooks": [{"event": "session_start", "match": "x", "do": "note", "text": "t"}]},
            "nothing to match",
        ),
        ({"name": "a", "hooks": [{"event": "post_tool_use", "do": "redact", "pattern": "("}]}, "not valid"),
        ({"name": "a", "hooks": [{"event": "pre_tool_use", "do": "deny", "where": {"a": "("}}]}, "not valid"),
        ({"name": "a", "hooks": [{**HOOK, "url": "file:///etc/passwd"}]}, "http or https"),
        ({"name": "a", "hooks": [{**HOOK, "url": "https://u:p@example.com"}]}, "without user and password"),
    ],
)
def test_what_is_no_agent_says_why(definition: dict[str, object], said: str) -> None:
    with pytest.raises(NodeError, match=said) as caught:
        read_definition(definition)
    assert caught.value.kind == "agent_definition"
