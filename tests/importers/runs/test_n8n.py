"""n8n workflows of our own, run: what comes out is what n8n's rules imply, worked out by hand."""

from __future__ import annotations

from tests.importers.n8n_files import (
    called,
    conditions,
    keep_and_set,
    manual,
    node,
    python,
    rule,
    set_,
    workflow,
)
from tests.importers.running import workshop
from tests.importers.standin import StandIn

THREE = python("Three", "return [{'json': {'n': i, 'kind': 'odd' if i % 2 else 'even'}} for i in (1, 2, 3)]")


async def test_set_makes_fields_and_keeps_others() -> None:
    text = workflow(
        [
            called("first", "last"),
            keep_and_set("Name", full="={{ $json.first }} {{ $json.last.toUpperCase() }}", **{"a.b": 1}),
        ],
        "Go -> Name",
    )
    async with workshop() as shop:
        assert await shop.run(text, {"first": "Ada", "last": "Byron"}) == {
            "result": {"first": "Ada", "last": "Byron", "full": "Ada BYRON", "a": {"b": 1}}
        }


async def test_if_sends_one_item_one_way() -> None:
    text = workflow(
        [called("amount"), node("If", "if", 2, **conditions(rule("={{ $json.amount }}", "gt", 100, "number"))), set_("Big", size="big"), set_("Small", size="small")],
        "Go -> If", "If.0 -> Big", "If.1 -> Small",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"amount": 500}) == {"big": {"size": "big"}, "small": None}
        assert await shop.run(text, {"amount": 5}) == {"big": None, "small": {"size": "small"}}


async def test_items_are_filtered_and_gathered() -> None:
    text = workflow(
        [manual(), THREE, node("Odd", "filter", 2, **conditions(rule("={{ $json.kind }}", "equals", "odd"))), node("All", "aggregate", 1, aggregate="aggregateAllItemData")],
        "Go -> Three", "Three -> Odd", "Odd -> All",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text) == {
            "result": {"data": [{"n": 1, "kind": "odd"}, {"n": 3, "kind": "odd"}]}
        }


async def test_nothing_runs_without_items() -> None:
    text = workflow(
        [manual(), THREE, node("None", "filter", 2, **conditions(rule("={{ $json.n }}", "gt", 9, "number"))), node("All", "aggregate", 1, aggregate="aggregateAllItemData")],
        "Go -> Three", "Three -> None", "None -> All",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text) == {"result": None}
        assert "all" not in shop.ran()


async def test_an_answer_that_is_a_list_becomes_items() -> None:
    with StandIn(
        {
            "GET /users": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}],
            "GET /users/1": {"mail": "ada@x"},
            "GET /users/2": {"mail": "bob@x"},
        }
    ) as api:
        text = workflow(
            [manual(), node("Users", "httpRequest", 4.2, url=f"{api.url}/users", options={}),
             node("User", "httpRequest", 4.2, url=f"={api.url}/users/{{{{ $json.id }}}}", options={}),
             set_("Line", line="={{ $('Users').item.json.name }} <{{ $json.mail }}>")],
            "Go -> Users", "Users -> User", "User -> Line",
        )  # fmt: skip
        async with workshop() as shop:
            assert await shop.run(text) == {"result": [{"line": "Ada <ada@x>"}, {"line": "Bob <bob@x>"}]}
        assert [request.path for request in api.requests] == ["/users", "/users/1", "/users/2"]


async def test_an_answer_that_is_an_object_is_one_item() -> None:
    with StandIn({"POST /echo": lambda request: {"got": request.body}}) as api:
        body = {
            "parameters": [{"name": "q", "value": "={{ $json.q }}"}, {"name": "n", "value": "={{ 1 + 1 }}"}]
        }
        text = workflow(
            [called("q"), node("Send", "httpRequest", 4.2, method="POST", url=f"{api.url}/echo", sendBody=True, bodyParameters=body, options={}), set_("Out", q="={{ $json.got.q }}", n="={{ $json.got.n }}")],
            "Go -> Send", "Send -> Out",
        )  # fmt: skip
        async with workshop() as shop:
            assert await shop.run(text, {"q": "x"}) == {"result": [{"q": "x", "n": 2}]}


async def test_switch_sends_items_many_ways_and_merge_appends() -> None:
    rules = {
        "values": [
            {
                "conditions": conditions(rule("={{ $json.kind }}", "equals", "odd"))["conditions"],
                "outputKey": "odd",
            }
        ]
    }
    text = workflow(
        [manual(), THREE, node("Which", "switch", 3, rules=rules, options={"fallbackOutput": "extra"}), keep_and_set("O", tag="o"), keep_and_set("E", tag="e"), node("Both", "merge", 3)],
        "Go -> Three", "Three -> Which", "Which.0 -> O", "Which.1 -> E", "O -> Both.0", "E -> Both.1",
    )  # fmt: skip
    async with workshop() as shop:
        found = (await shop.run(text))["result"]
        assert [(item["n"], item["tag"]) for item in found] == [(1, "o"), (3, "o"), (2, "e")]


async def test_merge_by_fields_and_by_position() -> None:
    left = python("Left", "return [{'json': {'id': 1, 'a': 'x'}}, {'json': {'id': 2, 'a': 'y'}}]")
    right = python("Right", "return [{'json': {'id': 2, 'b': 'q'}}, {'json': {'id': 3, 'b': 'r'}}]")
    by_field = node("Join", "merge", 3, mode="combine", fieldsToMatchString="id", joinMode="enrichInput1")
    text = workflow(
        [manual(), left, right, by_field], "Go -> Left", "Go -> Right", "Left -> Join.0", "Right -> Join.1"
    )
    async with workshop() as shop:
        assert await shop.run(text) == {"result": [{"id": 1, "a": "x"}, {"id": 2, "a": "y", "b": "q"}]}
        by_position = node("Join", "merge", 3, mode="combine", combineBy="combineByPosition")
        text = workflow(
            [manual(), left, right, by_position],
            "Go -> Left",
            "Go -> Right",
            "Left -> Join.0",
            "Right -> Join.1",
        )
        assert await shop.run(text) == {
            "result": [{"id": 2, "a": "x", "b": "q"}, {"id": 3, "a": "y", "b": "r"}]
        }


async def test_batches_go_through_the_body_and_come_out_at_the_end() -> None:
    text = workflow(
        [manual(), THREE, node("Loop", "splitInBatches", 3, options={}), set_("Twice", twice=("number", "={{ $json.n * 2 }}"), of="={{ $('Loop').item.json.kind }}"), node("Sum", "summarize", 1, fieldsToSummarize={"values": [{"field": "twice", "aggregation": "sum"}]})],
        "Go -> Three", "Three -> Loop", "Loop.1 -> Twice", "Twice -> Loop", "Loop.0 -> Sum",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text) == {"result": [{"sum_twice": 12}]}


async def test_a_circle_that_polls_until_done() -> None:
    states = iter(["queued", "running", "done"])
    with StandIn({"GET /job": lambda request: {"state": next(states), "value": 7}}) as api:
        text = workflow(
            [manual(), node("Ask", "httpRequest", 1, url=f"{api.url}/job", options={}), node("Done?", "if", 2, **conditions(rule("={{ $json.state }}", "equals", "done"))),
             node("Pause", "wait", 1.1, amount=0), set_("Value", value="={{ $json.value }}")],
            "Go -> Ask", "Ask -> Done?", "Done?.0 -> Value", "Done?.1 -> Pause", "Pause -> Ask",
        )  # fmt: skip
        async with workshop() as shop:
            assert await shop.run(text) == {"result": {"value": 7}}
        assert len(api.requests) == 3


async def test_split_out_sort_limit_and_unique() -> None:
    source = python(
        "Source",
        "return [{'json': {'tags': [{'t': 'b', 'w': 1}, {'t': 'a', 'w': 3}, {'t': 'b', 'w': 1}, {'t': 'c', 'w': 2}]}}]",
    )
    text = workflow(
        [manual(), source, node("Split", "splitOut", 1, fieldToSplitOut="tags"), node("Unique", "removeDuplicates", 1),
         node("Sort", "sort", 1, sortFieldsUi={"sortField": [{"fieldName": "w", "order": "descending"}]}), node("Two", "limit", 1, maxItems=2)],
        "Go -> Source", "Source -> Split", "Split -> Unique", "Unique -> Sort", "Sort -> Two",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text) == {"result": [{"t": "a", "w": 3}, {"t": "c", "w": 2}]}


async def test_a_webhook_that_answers() -> None:
    text = workflow(
        [node("Hook", "webhook", 2, httpMethod="POST", path="x", responseMode="responseNode"), set_("Greet", hello="=Hello {{ $json.body.name || 'you' }}"),
         node("Answer", "respondToWebhook", 1.1, respondWith="json", responseBody='={ "said": "{{ $json.hello }}", "to": {{ JSON.stringify($(\'Hook\').item.json.body) }} }', options={"responseCode": 201})],
        "Hook -> Greet", "Greet -> Answer",
    )  # fmt: skip
    async with workshop() as shop:
        ended = await shop.result(text, {"body": {"name": "Ada"}})
        assert ended.response == {
            "status": 201,
            "headers": {},
            "body": {"said": "Hello Ada", "to": {"name": "Ada"}},
        }
        ended = await shop.result(text, {"body": {}})
        assert ended.outputs == {"response": {"said": "Hello you", "to": {}}}


async def test_failures_go_on_or_take_their_own_way() -> None:
    with StandIn({"GET /bad": (500, {"no": 1})}) as api:
        go_on = node(
            "Call",
            "httpRequest",
            4.2,
            url=f"{api.url}/bad",
            options={},
            raw={"onError": "continueRegularOutput"},
        )
        text = workflow(
            [manual(), go_on, set_("After", failed="={{ $json.error ? 'yes' : 'no' }}")],
            "Go -> Call",
            "Call -> After",
        )
        async with workshop() as shop:
            assert await shop.run(text) == {"result": [{"failed": "yes"}]}
            own_way = node(
                "Call",
                "httpRequest",
                4.2,
                url=f"{api.url}/bad",
                options={},
                raw={"onError": "continueErrorOutput"},
            )
            text = workflow(
                [manual(), own_way, set_("Fine", ok=True), set_("Broken", why="={{ $json.error.type }}")],
                "Go -> Call",
                "Call.0 -> Fine",
                "Call.1 -> Broken",
            )
            assert (await shop.run(text))["broken"] == {"why": "http_500"}


async def test_retries() -> None:
    answers = iter([(503, {}), (503, {}), {"ok": True}])
    with StandIn({"GET /flaky": lambda request: next(answers)}) as api:
        call = node(
            "Call",
            "httpRequest",
            4.2,
            url=f"{api.url}/flaky",
            options={},
            raw={"retryOnFail": True, "maxTries": 3, "waitBetweenTries": 0},
        )
        async with workshop() as shop:
            assert await shop.run(workflow([manual(), call], "Go -> Call")) == {"result": [{"ok": True}]}


async def test_pages_are_fetched() -> None:
    pages = {"1": [1, 2], "2": [3], "3": []}
    with StandIn({"GET /list": lambda request: pages[request.query["page"]]}) as api:
        pagination = {
            "pagination": {
                "pagination": {
                    "paginationMode": "updateAParameterInEachRequest",
                    "parameters": {
                        "parameters": [{"type": "qs", "name": "page", "value": "={{ $pageCount + 1 }}"}]
                    },
                }
            }
        }
        text = workflow(
            [manual(), node("All", "httpRequest", 4.2, url=f"{api.url}/list", options=pagination)],
            "Go -> All",
        )
        async with workshop() as shop:
            assert await shop.run(text) == {"result": [1, 2, 3]}


async def test_an_agent_chain_answers_with_data() -> None:
    parser = node(
        "Parser", "@n8n/n8n-nodes-langchain.outputParserStructured", 1.2, jsonSchemaExample='{"city": "Rome"}'
    )
    chain = node(
        "Ask",
        "@n8n/n8n-nodes-langchain.chainLlm",
        1.5,
        promptType="define",
        text="=Where is {{ $json.what }}?",
        messages={"messageValues": [{"message": "Be short"}]},
        hasOutputParser=True,
    )
    model = node(
        "Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi", 1, model="gpt-4o", options={"temperature": 0}
    )
    text = workflow([called("what"), chain, model, parser, set_("Out", city="={{ $json.output.city }}")], "Go -> Ask", "Ask -> Out",
                    helpers=("Model ai_languageModel Ask", "Parser ai_outputParser Ask"))  # fmt: skip
    async with workshop({"text": '{"city": "Pisa"}'}) as shop:
        assert await shop.run(text, {"what": "the tower"}) == {"result": {"city": "Pisa"}}
        assert shop.models is not None
        messages = shop.models.requests[-1].body["messages"]
        assert messages[0]["content"].startswith("Be short")
        assert messages[1] == {"role": "user", "content": "Where is the tower?"}


async def test_triggers_that_lead_apart() -> None:
    text = workflow(
        [manual("By hand"), node("Daily", "scheduleTrigger", 1.2, rule={"interval": [{"field": "days", "triggerAtHour": 6}]}), set_("Hand", by="hand"), set_("Clock", by="clock")],
        "By hand -> Hand", "Daily -> Clock",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text) == {"hand": {"by": "hand"}, "clock": None}
        assert await shop.run(text, {"started_by": "daily"}) == {"hand": None, "clock": {"by": "clock"}}


async def test_an_expression_that_was_not_translated_fails_and_says_so() -> None:
    text = workflow([called("a"), set_("Out", b="={{ $json.a.localeCompare('x') }}")], "Go -> Out")
    async with workshop() as shop:
        ended = await shop.result(text, {"a": "y"})
        assert ended.error is not None
        assert (
            "was not translated (the method 'localeCompare'): $json.a.localeCompare('x')"
            in ended.error["message"]
        )


async def test_code_for_each_item_and_execute_once() -> None:
    each = node(
        "Each",
        "code",
        2,
        language="python",
        mode="runOnceForEachItem",
        pythonCode="return {'json': {'m': _item['json']['n'] + 10}}",
    )
    once = set_("Once", first="={{ $json.m }}")
    once["executeOnce"] = True
    text = workflow([manual(), THREE, each, once], "Go -> Three", "Three -> Each", "Each -> Once")
    async with workshop() as shop:
        assert await shop.run(text) == {"result": {"first": 11}}


async def test_html_is_read_by_selectors() -> None:
    page = "<html><title> News </title><li class='e x'><a href='/1'>One <b>1</b></a></li><li class='e'><a href='/2'>Two</a></li><div id='m'><p>a</p><p>b</p></div></html>"
    values = [
        {"key": "title", "cssSelector": "title"}, {"key": "links", "cssSelector": "li.e > a", "returnValue": "attribute", "attribute": "href", "returnArray": True},
        {"key": "inner", "cssSelector": "li.x a", "returnValue": "html"}, {"key": "ps", "cssSelector": "#m p, h1", "returnArray": True}, {"key": "none", "cssSelector": "a[href='/3']"},
    ]  # fmt: skip
    with StandIn({"GET /": page}) as api:
        text = workflow(
            [manual(), node("Get", "httpRequest", 4.2, url=f"{api.url}/", options={}), node("Read", "html", 1.2, operation="extractHtmlContent", extractionValues={"values": values}, options={})],
            "Go -> Get", "Get -> Read",
        )  # fmt: skip
        async with workshop() as shop:
            assert await shop.run(text) == {
                "result": [
                    {
                        "title": "News",
                        "links": ["/1", "/2"],
                        "inner": "One <b>1</b>",
                        "ps": ["a", "b"],
                        "none": "",
                    }
                ]
            }
