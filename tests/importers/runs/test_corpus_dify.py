"""Files of the corpus, run: outputs worked out by hand from the file itself; how stands at each test."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.importers import corpus
from tests.importers.running import workshop
from tests.importers.standin import StandIn

pytestmark = pytest.mark.skipif(not corpus.HERE, reason="the corpus is not here")


def text(number: str, **replaced: str) -> str:
    return corpus.text(corpus.DIFY, number, replaced)


def shown(number: str, node: str) -> str:
    """A piece of a node's prompt, by which its request is known."""
    nodes = corpus.data(corpus.DIFY, number)["workflow"]["graph"]["nodes"]
    [found] = [one["data"]["prompt_template"] for one in nodes if one["id"] == node]
    prompt = next(one["text"] for one in found if one["role"] == "system")
    return max((line.strip() for line in prompt.splitlines() if "{{" not in line), key=len)


async def test_045_branches_side_by_side() -> None:
    """`switch` = 1 leads to Code 1 and Code 2, anything else to Code 2 and Code 3; the END reads all, a skipped one is null."""
    async with workshop() as shop:
        assert await shop.run(text("045"), {"switch": 1}) == {"1": "Code 1", "2": "Code 2", "3": None}
        assert await shop.run(text("045"), {"switch": 2}) == {"1": None, "2": "Code 2", "3": "Code 3"}


async def test_046_an_answer_by_template_or_at_once() -> None:
    """`blocking` = 1: LLM, its text through a template; else LLM 2, its text as it is. Both ENDs give `query` and `text`."""
    async with workshop({"text": "Hi there"}) as shop:
        given = {"query": "Say hi", "blocking": 1}
        assert await shop.run(text("046"), given) == {"query": "Say hi", "text": "Hi there"}
        assert shop.ran() == ["start", "if_else", "llm", "template", "end"]
        assert await shop.run(text("046"), {**given, "blocking": 0}) == {
            "query": "Say hi",
            "text": "Hi there",
        }
        assert shop.ran() == ["start", "if_else", "llm_2", "end_2"]


async def test_050_a_loop_that_counts_to_its_condition() -> None:
    """`num` begins at 1, each round adds 1, and the loop breaks when it is at least 5."""
    async with workshop() as shop:
        assert await shop.run(text("050")) == {"num": 5}


async def test_052_an_iteration_that_flattens() -> None:
    """1, 2, 3 → [n, 2n] each; `flatten_output` makes one list of the pairs."""
    async with workshop() as shop:
        assert await shop.run(text("052")) == {"output": [1, 2, 2, 4, 3, 6]}


async def test_053_answers_inside_a_loop() -> None:
    """`i` is 1 and 2 in the two rounds, each answered with a line end after it; then the answer outside reads the last one."""
    async with workshop() as shop:
        assert await shop.run(text("053"), {"message": "q"}) == {"answer": "1\n2\nq + 2"}


async def test_057_answers_in_their_order() -> None:
    """The model speaks first, but the first answer's text stands first."""
    async with workshop({"text": "bar"}) as shop:
        found = await shop.run(text("057"), {"message": "q"})
        assert found == {"answer": "--- answer 1 ---\n\nfoo\n--- answer 2 ---\n\nbar\n"}


async def test_062_a_completion_app() -> None:
    """The instructions hold the chosen database and, right after the full stop, what was typed."""
    async with workshop({"text": "SELECT 1"}) as shop:
        found = await shop.run(text("062"), {"A": "Snowflake", "default_input": "count all"})
        assert found == {"text": "SELECT 1"}
        [message] = shop.asked()
        written = corpus.data(corpus.DIFY, "062")["model_config"]["pre_prompt"]
        assert message["content"] == written.replace("{{A}}", "Snowflake").replace(
            "{{default_input}}", "count all"
        )


async def test_063_a_chat_app() -> None:
    """The instructions are the system message, what the person says the user's."""
    async with workshop({"text": "Why React?"}) as shop:
        assert await shop.run(text("063"), {"message": "Begin"}) == {"answer": "Why React?"}
        system, user = shop.asked()
        assert system["content"].startswith(
            "Your task is to generate a series of thoughtful, open-ended questions"
        )
        assert (user["role"], user["content"]) == ("user", "Begin")


@pytest.mark.parametrize(
    ("several", "label", "sign"),
    [("True", "multisentiment_is_true", "Input Text:"), ("False", "multisentiment_is_false", "input_text:")],
)
async def test_091_two_prompts_by_a_choice(several: str, label: str, sign: str) -> None:
    """`Multisentiment` chooses the model's prompt; each shows one example turn before the text itself."""
    async with workshop({"text": "[]"}) as shop:
        given = {"input_text": "Nice pizza", "Multisentiment": several, "Categories": "taste"}
        assert await shop.run(text("091"), given) == {"text": "[]"}
        assert label in shop.ran()
        messages = shop.asked()
        assert [one["role"] for one in messages] == ["system", "user", "assistant", "user"]
        assert messages[-1]["content"].startswith(f"{sign} Nice pizza")
        assert messages[-1]["content"].rstrip().endswith("categories: taste")


async def test_103_a_form_that_asks_for_a_login() -> None:
    """Without a token the message has to be a login: `svcvit` gets in, anything else sees the form. With one the model answers."""
    source = text("103")
    async with workshop({"text": "Hello!"}) as shop:
        refused = await shop.run(source, {"message": "hello"})
        assert refused["answer"].startswith('初次使用，请登录员工账号和密码哦。\n\n<form data-format="json">')
        assert refused["answer"].endswith("Login</button>\n</form>")
        login = json.dumps({"username": "svcvit", "password": "x"})
        assert await shop.run(source, {"message": login}) == {"answer": "登录成功，我们聊点什么？"}
        wrong = json.dumps({"username": "someone", "password": "x"})
        assert await shop.run(source, {"message": wrong}) == refused
        known = corpus.edited(
            source, lambda data: data["workflow"]["conversation_variables"][0].update(value="token")
        )
        assert await shop.run(known, {"message": "hello"}) == {"answer": "Hello!"}


async def test_122_a_book_in_pieces() -> None:
    """Pieces of int(1000·6·4/3) = 8,000 letters that overlap by 100: 9,000 letters give [0:8000] and [7900:9000].

    Four models work on each piece; the last one's texts are joined with a blank.
    """
    source = "a" * 8000 + "b" * 1000
    rules = [
        {"when": {"system": shown("122", "1717916961837")}, "reply": {"text": "TERMS"}},
        {"when": {"system": shown("122", "1717916984996")}, "reply": {"text": "FAULTS"}},
        {"when": {"system": shown("122", "1717916991709")}, "reply": [{"text": "first"}, {"text": "second"}]},
        {"when": {"system": shown("122", "1717916977413")}, "reply": {"text": "RAW"}},
    ]
    async with workshop(rules=rules) as shop:
        assert await shop.run(text("122"), {"input_text": source}) == {"final": "first second"}
        prompts = [one[0]["content"] for one in shop.conversations()]
        assert len(prompts) == 8
        assert "a" * 8000 in prompts[0]
        assert "b" not in prompts[0].split("<输入文本>")[1].split("<示例>")[0]
        assert "a" * 100 + "b" * 1000 in prompts[4]
        assert "TERMS" in prompts[1]
        assert "RAW" in prompts[2]
        assert "FAULTS" in prompts[3]


async def test_132_a_couplet_as_a_page() -> None:
    """The code takes the JSON out of what the model says, turns the banner round, and writes 福 unless a summary is wanted."""
    said = '好的：{"top": "春回大地", "bottom": "福满人间", "banner": "喜迎新春", "summary": "春"} 请看'
    [node] = [
        one
        for one in corpus.data(corpus.DIFY, "132")["workflow"]["graph"]["nodes"]
        if one["data"]["type"] == "template-transform"
    ]
    page = node["data"]["template"].replace("\r\n", "\n")
    values = {"top": "春回大地", "bottom": "福满人间", "reversed_banner": "春新迎喜"}
    async with workshop({"text": said}) as shop:
        given = {"theme": "春", "count": "五言"}
        for switch, summary in (("开启", "春"), ("不开启", "福")):
            expected = page
            for name, value in {**values, "summary": summary}.items():
                expected = expected.replace("{{ " + name + " }}", value)
            found = await shop.run(text("132"), {**given, "enabled_summary": switch})
            assert found["output"].replace("\r\n", "\n") == expected


async def test_136_a_picture_in_an_answer() -> None:
    """What the model says is cut after each mark into lines of a picture, which stands in the answer as Base64."""
    rules = [
        {"when": {"system": shown("136", "llm")}, "reply": {"text": "山高，水长。"}},
        {"when": {"system": shown("136", "1732362896572")}, "reply": {"text": "Path"}},
    ]
    async with workshop(rules=rules) as shop:
        answer = (await shop.run(text("136"), {"message": "路"}))["answer"]
    before, _, rest = answer.partition("![山高，水长。](data:image/svg+xml;base64,")
    picture = base64.b64decode(rest.partition(")")[0]).decode()
    assert before == "别着急，再等会，我正在努力瞎编中，你倒数 10 下就好了·····\n\n"
    assert '<tspan x="50%" dy="0">山高，</tspan>\n  <tspan x="50%" dy="1.2em">水长。</tspan>' in picture
    assert [line.strip() for line in picture.splitlines() if line.strip() in ("路", "Path")] == ["路", "Path"]


async def test_004_news_that_are_read_and_printed() -> None:
    """The list is fetched, the model picks three, each page is fetched and written anew; the texts, joined by a line of 14 signs
    and with all blanks as one, are sent to a printer. The END reads the files of that answer: JSON is none."""
    picked = [{"title": "A", "url": "https://x/a\n"}, {"title": "B", "url": "https://x/b"}]
    rules = [
        {"when": {"system": shown("004", "1731657269402")}, "reply": {"data": picked}},
        {
            "when": {"system": shown("004", "1731657813535")},
            "reply": [{"text": "Page  A\n1"}, {"text": "Page B"}],
        },
    ]
    routes: dict[str, Any] = {
        "GET /api/hotlist/36Ke": {"data": [1]}, "GET /https://x/a": "<p>a</p>", "GET /https://x/b": "<p>b</p>", "POST /generate_doc": {"ok": True},
    }  # fmt: skip
    with StandIn(routes) as api:
        places = {
            "https://api.vvhan.com": api.url,
            "https://r.jina.ai": api.url,
            "http://192.168.0.141:5001": api.url,
        }
        async with workshop(rules=rules) as shop:
            assert await shop.run(corpus.text(corpus.DIFY, "004", places)) == {"output": []}
        [sent] = api.asked("/generate_doc")
        assert sent.body == {"title": "24小时新闻资讯速览", "content": "Page A 1 ============== Page B"}


async def test_023_a_search_answered_piece_by_piece() -> None:
    """Each hit is summarised; the answer inside the iteration is the template's text, whose `\\n` stand there as they are."""

    def contents(request: Any) -> Any:
        return {"highlights": request.body["ids"]}

    hits = [{"title": "One", "url": "u1"}, {"url": "u2"}]
    rules = [
        {"when": {"system": shown("023", "1721478635205")}, "reply": {"text": "better"}},
        {"when": {"user": "u1"}, "reply": {"text": "S1"}},
        {"when": {"user": "u2"}, "reply": {"text": "S2"}},
    ]
    with StandIn({"POST /search": {"results": hits}, "POST /contents": contents}) as api:
        async with workshop(rules=rules) as shop:
            shop.secrets |= {"exa_ai_key": "k1", "http_key": "k2"}
            found = await shop.run(
                corpus.text(corpus.DIFY, "023", {"https://api.exa.ai": api.url}), {"message": "cats"}
            )
        [asked] = api.asked("/search")
        assert (asked.body["query"], asked.body["numResults"], asked.body["contents"]["text"]) == (
            "cats",
            6,
            True,
        )
        assert asked.body["startPublishedDate"][:4].isdigit()
    tail = r"\n\n---\n\n"
    lines = [
        f"NO.{n} [{title}]({url})\nSummary: S{n}\n" + r"\n\n" + f"\n{n}/2\n{tail}"
        for n, title, url in ((1, "One", "u1"), (2, "无标题", "u2"))
    ]
    assert found["answer"] == "".join(lines)


async def test_035_a_list_that_a_model_writes_into_a_body() -> None:
    """The text of the model stands in the JSON body without quotes: it is part of the JSON."""
    rows = [["Li", 30, "Doctor", "Wu", 41, "Lawyer"]]
    with StandIn({"POST /create_excel": {"file": "x.xlsx"}}) as api:
        async with workshop({"data": rows}) as shop:
            found = await shop.run(corpus.text(corpus.DIFY, "035", {"http://192.168.0.134:9000": api.url}))
        [sent] = api.asked("/create_excel")
        assert sent.body == {"fields": ["姓名", "年龄", "职业", "姓名A", "年龄A", "职业A"], "values": rows}
        assert json.loads(found["body"]) == {"file": "x.xlsx"}


@pytest.mark.parametrize(
    ("request_", "first", "second", "ends"),
    [
        ("Summarize", "summarize", None, "end"),
        ("Reply ", "reply_to_emails", None, "end_2"),
        ("Improve writings ", "improve_writings_or_polish", "shorten", "end_5"),
    ],
)
async def test_077_what_to_do_with_a_letter(request_: str, first: str, second: str | None, ends: str) -> None:
    """A classifier reads what was asked for, a second one how to polish; each class has its own model and end."""
    said = [{"id": name, "confidence": 0.9, "reason": "r"} for name in (first, second) if name]
    async with workshop(*({"data": one} for one in said), {"text": "Done"}) as shop:
        found = await shop.run(
            text("077"), {"Input_Text": "Dear Ann", "user_request": request_, "how_polish": "Shorten"}
        )
        assert found == {"text": "Done"}
        assert shop.ran()[-1] == ends
        assert "<Email>Dear Ann" in shop.asked()[0]["content"]
