"""Other clients: of another user, and without an event loop."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from interlace.engine.principal import LOCAL
from tests.server.openai.conftest import World
from tests.server.openai.test_completions import said, user

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_another_user_shares_nothing(world: World) -> None:
    store = world.platform.store
    ann = await store.users.create("ann", by=LOCAL)
    _, key = await store.keys.create("anns", owner=ann.id)
    theirs = world.client(api_key=key)
    assert [model.id async for model in theirs.models.list()] == ["auto"]
    with pytest.raises(openai.NotFoundError):
        await theirs.chat.completions.create(model="guide", messages=[user("x")])
    mine: Any = await world.client().chat.completions.create(model="auto", messages=[user("secret")])
    text = mine.choices[0].message.content
    other: Any = await theirs.chat.completions.create(
        model="auto", messages=[user("secret"), said(text), user("more")]
    )
    assert other.x_interlace["session"] != mine.x_interlace["session"]


async def test_the_sync_client(world: World) -> None:
    def ask() -> tuple[str | None, str]:
        with openai.OpenAI(base_url=f"{world.url}/v1", api_key=world.key, max_retries=0) as client:
            whole = client.chat.completions.create(model="guide", messages=[user("sync")])
            stream = client.chat.completions.create(model="guide", messages=[user("slow sync")], stream=True)
            pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
        return whole.choices[0].message.content, "".join(pieces)

    whole, streamed = await asyncio.to_thread(ask)
    assert whole == "heard u:sync"
    assert streamed == "slowly " * 30
