"""Stored skills: who sees them, one of each name, active ones alone for agents."""

from __future__ import annotations

import pytest
from tests.store.people import make_people

from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL
from interlace.resources.skills.definition import Skill, SkillFile
from interlace.resources.skills.skills import Skills
from interlace.store import Store
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError


def skill(name: str, body: str = "Ask first.") -> Skill:
    return Skill(name=name, description=f"About {name}", body=body, files=(SkillFile.of("a.md", b"more"),))


async def names(skills: Skills, by: object) -> list[str]:
    return [stub.name for stub in await skills.visible(by=by)]  # type: ignore[arg-type]


async def test_a_skill_is_kept_changed_switched_off_and_removed(store: Store) -> None:
    skills = Skills(store)
    (made,) = await skills.add(skill("返金"), by=LOCAL)
    assert (await skills.find("返金", by=LOCAL))[1] == skill("返金")
    (stub,) = await skills.visible(by=LOCAL)
    assert (stub.id, stub.description, stub.files) == (made.id, "About 返金", 1)
    assert "Ask first." in await skills.read("返金", by=LOCAL)
    assert "## File a.md" in await skills.read(made.id, by=LOCAL)
    changed = await skills.update("返金", skill("Refunds", "Never."), by=LOCAL, expected_version=1)
    assert (changed.id, changed.name, await names(skills, LOCAL)) == (made.id, "Refunds", ["Refunds"])
    assert "Never." in await skills.read("refunds", by=LOCAL)
    await skills.switch("Refunds", active=False, by=LOCAL)
    assert await names(skills, LOCAL) == []
    with pytest.raises(NodeError, match="no skill 'Refunds' that you may use") as caught:
        await skills.read("Refunds", by=LOCAL)
    assert caught.value.kind == "resource_not_found"
    assert (await skills.find("Refunds", by=LOCAL))[1].body == "Never."
    await skills.remove("Refunds", by=LOCAL)
    with pytest.raises(NotFoundError):
        await skills.find("Refunds", by=LOCAL)


async def test_names_are_refused_where_both_would_be_seen(store: Store) -> None:
    people = await make_people(store)
    skills = Skills(store)
    await skills.add(skill("refunds"), by=people.ann, org_id=people.acme, visibility="org")
    for name in ("refunds", "Refunds", "\uff52efunds"):
        with pytest.raises(ConflictError, match="you see a skill"):
            await skills.add(skill(name), by=people.ben)
    await skills.add(skill("refunds"), by=people.dee)
    await skills.add(skill("travel"), by=people.ben)
    with pytest.raises(ConflictError, match="you see a skill"):
        await skills.update("travel", skill("REFUNDS"), by=people.ben)
    with pytest.raises(ConflictError, match="two of the skills"):
        await skills.add([skill("one"), skill("One")], by=people.ben)
    with pytest.raises(ConflictError):
        await skills.add([skill("one"), skill("refunds")], by=people.ben)
    assert await names(skills, people.ben) == ["refunds", "travel"], "all or none"
    with pytest.raises(ForbiddenError):
        await skills.add([skill("one"), skill("refunds")], by=people.ben, replace=True)
    replaced = await skills.add([skill("one"), skill("Travel", "By train.")], by=people.ben, replace=True)
    assert [resource.version for resource in replaced] == [1, 2]
    assert await names(skills, people.ben) == ["Travel", "one", "refunds"]


async def test_publishing_brings_no_second_one_of_a_name(store: Store) -> None:
    people = await make_people(store)
    skills = Skills(store)
    (anns,) = await skills.add(skill("refunds"), by=people.ann)
    (bens,) = await skills.add(skill("refunds", "Bens."), by=people.ben)
    await store.market.publish(anns.id, "org", by=people.ann, org_id=people.acme)
    with pytest.raises(ConflictError, match="rename one of them"):
        await store.market.publish(bens.id, "org", by=people.ben, org_id=people.acme)
    # Ben sees both now, and his own counts.
    assert "Bens." in await skills.read("refunds", by=people.ben)
    assert await names(skills, people.ben) == ["refunds"]
    await store.market.publish(bens.id, "market", by=people.ben)
    await store.market.review(bens.id, approve=True, by=LOCAL)
    with pytest.raises(ConflictError):
        await store.market.subscribe(bens.id, by=people.ann)
    await store.market.subscribe(bens.id, by=people.dee)
    assert "Bens." in await skills.read("refunds", by=people.dee)
    await store.market.unpublish(bens.id, by=people.ben)
    assert await names(skills, people.dee) == [], "access ends at once"


async def test_what_waits_for_review_is_seen_by_its_owner_alone(store: Store) -> None:
    people = await make_people(store)
    skills = Skills(store)
    (made,) = await skills.add(skill("leave"), by=people.ben, org_id=people.acme, visibility="org")
    assert (await names(skills, people.ben), await names(skills, people.ann)) == (["leave"], [])
    await store.market.review(made.id, approve=True, by=people.ann)
    assert await names(skills, people.ann) == ["leave"]
    assert await names(skills, people.cid) == await names(skills, people.dee) == []
    await skills.update("leave", skill("leave", "Changed by an admin."), by=people.ann)
    await store.market.review(made.id, approve=False, by=people.ann)
    assert await names(skills, people.ann) == []
