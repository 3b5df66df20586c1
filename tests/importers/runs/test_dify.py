"""Dify apps of our own, run: what comes out is what Dify's rules imply, worked out by hand."""

from __future__ import annotations

import yaml

from tests.importers.dify_files import code, compare, end, export, field, llm, node, start, template
from tests.importers.running import workshop
from tests.importers.standin import StandIn


async def test_code_and_a_template_with_python_methods() -> None:
    text = export(
        [start(field("names", "paragraph")), code("c", "def main(a):\n    return {'list': [n.strip() for n in a.split(',')]}", {"list": "array[string]"}, a=["s", "names"]),
         template("t", "{% for n in items %}{{ loop.index }}. {{ n.upper() }}{% if not loop.last %}; {% endif %}{% endfor %} ({{ items|length }}, {{ items[0].replace('a', 'o') }})", items=["c", "list"]),
         end(out=["t", "output"])],
        "s -> c", "c -> t", "t -> e",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"names": "ada, bob"}) == {"out": "1. ADA; 2. BOB (2, odo)"}


async def test_branches_and_the_first_value_that_ran() -> None:
    cases = [
        {
            "case_id": "true",
            "logical_operator": "and",
            "conditions": [
                compare(["s", "n"], "≥", "10", "number"),
                compare(["s", "n"], "<", "100", "number"),
            ],
        },
        {
            "case_id": "x2",
            "logical_operator": "or",
            "conditions": [compare(["s", "word"], "contains", "big"), compare(["s", "word"], "empty")],
        },
    ]
    text = export(
        [start(field("n", "number"), field("word", required=False)), node("if", "if-else", cases=cases), template("a", "two digits"), template("b", "word"), template("c", "rest"),
         node("g", "variable-aggregator", output_type="string", variables=[["a", "output"], ["b", "output"], ["c", "output"]]), end(out=["g", "output"])],
        "s -> if", "if:true -> a", "if:x2 -> b", "if:false -> c", "a -> g", "b -> g", "c -> g", "g -> e",
    )  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text, {"n": 10}) == {"out": "two digits"}
        assert await shop.run(text, {"n": 100, "word": "so big"}) == {"out": "word"}
        assert await shop.run(text, {"n": 5}) == {"out": "word"}
        assert await shop.run(text, {"n": 5, "word": "small"}) == {"out": "rest"}


async def test_an_http_answer_is_text_and_a_bad_status_is_no_failure() -> None:
    with StandIn(
        {
            "POST /x": lambda request: (
                418,
                {"got": request.body, "h": request.headers["x-key"], "q": request.query},
            )
        }
    ) as api:
        call = node(
            "h", "http-request", method="post", url=f"{api.url}/x", headers="X-Key:k{{#s.word#}}", params="p:{{#s.word#}}", authorization={"type": "no-auth"},
            body={"type": "json", "data": [{"type": "text", "value": '{"word": "{{#s.word#}}!", "n": {{#s.n#}}}'}]},
        )  # fmt: skip
        parse = code(
            "c",
            "import json\ndef main(body, status):\n    return {'got': json.loads(body), 'status': status}",
            {"got": "object", "status": "number"},
            body=["h", "body"],
            status=["h", "status_code"],
        )
        text = export(
            [
                start(field("word"), field("n", "number")),
                call,
                parse,
                end(got=["c", "got"], status=["c", "status"]),
            ],
            "s -> h",
            "h -> c",
            "c -> e",
        )
        async with workshop() as shop:
            found = await shop.run(text, {"word": "hi", "n": 3})
        assert found == {"got": {"got": {"word": "hi!", "n": 3}, "h": "khi", "q": {"p": "hi"}}, "status": 418}


async def test_failures_take_their_branch_or_a_default() -> None:
    boom = code("c", "def main():\n    raise ValueError('no luck')", {"x": "string"})
    boom["data"]["error_strategy"] = "fail-branch"
    text = export([start(), boom, template("t", "{{ why }}", why=["c", "error_message"]), end("ok", x=["c", "x"]), end("bad", why=["t", "output"])],
                  "s -> c", "c:success-branch -> ok", "c:fail-branch -> t", "t -> bad")  # fmt: skip
    async with workshop() as shop:
        assert "no luck" in (await shop.run(text))["why"]
        boom["data"] |= {
            "error_strategy": "default-value",
            "default_value": [{"key": "x", "type": "string", "value": "instead"}],
        }
        text = export([start(), boom, end(x=["c", "x"])], "s -> c", "c -> e")
        assert await shop.run(text) == {"x": "instead"}


async def test_an_iteration_flattens_lists() -> None:
    inner = code(
        "c", "def main(n):\n    return {'pair': [n, n * 10]}", {"pair": "array[number]"}, n=["it", "item"]
    )
    inner["parentId"] = "it"
    loop = node(
        "it",
        "iteration",
        iterator_selector=["l", "list"],
        output_selector=["c", "pair"],
        output_type="array[number]",
        start_node_id="its",
        is_parallel=True,
        parallel_nums=2,
    )
    source = code("l", "def main():\n    return {'list': [1, 2]}", {"list": "array[number]"})
    begin = node("its", "iteration-start", parent="it")
    text = export(
        [start(), source, loop, begin, inner, end(out=["it", "output"])],
        "s -> l",
        "l -> it",
        "its -> c",
        "it -> e",
    )
    async with workshop() as shop:
        assert await shop.run(text) == {"out": [1, 10, 2, 20]}


async def test_a_loop_with_variables_and_a_way_out() -> None:
    loop = node(
        "lo", "loop", loop_count=10, logical_operator="and", break_conditions=[compare(["lo", "n"], "≥", "4", "number")], start_node_id="los",
        loop_variables=[{"label": "n", "var_type": "number", "value_type": "constant", "value": "1"}, {"label": "words", "var_type": "array[string]", "value_type": "constant", "value": "[]"}],
    )  # fmt: skip
    say = template("t", "n={{ n }}", parent="lo", n=["lo", "n"])
    items = [{"variable_selector": ["lo", "words"], "operation": "append", "input_type": "variable", "value": ["t", "output"]},
             {"variable_selector": ["lo", "n"], "operation": "+=", "input_type": "constant", "value": 1}]  # fmt: skip
    assign = node("as", "assigner", parent="lo", version="2", items=items)
    text = export([start(), loop, node("los", "loop-start", parent="lo"), say, assign, end(n=["lo", "n"], words=["lo", "words"])],
                  "s -> lo", "los -> t", "t -> as", "lo -> e")  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text) == {"n": 4, "words": ["n=1", "n=2", "n=3"]}


async def test_loop_end_breaks_the_loop() -> None:
    loop = node(
        "lo",
        "loop",
        loop_count=5,
        logical_operator="and",
        break_conditions=[],
        start_node_id="los",
        loop_variables=[{"label": "n", "var_type": "number", "value_type": "constant", "value": "0"}],
    )
    assign = node(
        "as",
        "assigner",
        parent="lo",
        version="2",
        items=[{"variable_selector": ["lo", "n"], "operation": "+=", "input_type": "constant", "value": 1}],
    )
    check = node(
        "if",
        "if-else",
        parent="lo",
        cases=[
            {
                "case_id": "true",
                "logical_operator": "and",
                "conditions": [compare(["lo", "n"], "=", "3", "number")],
            }
        ],
    )
    text = export([start(), loop, node("los", "loop-start", parent="lo"), assign, check, node("le", "loop-end", parent="lo"), end(n=["lo", "n"])],
                  "s -> lo", "los -> as", "as -> if", "if:true -> le", "lo -> e")  # fmt: skip
    async with workshop() as shop:
        assert await shop.run(text) == {"n": 3}


async def test_a_chat_with_memory_variables_and_answers_in_a_row() -> None:
    variables = [{"name": "seen", "value_type": "array[string]", "value": []}]
    remember = node(
        "as",
        "assigner",
        version="2",
        items=[
            {
                "variable_selector": ["conversation", "seen"],
                "operation": "append",
                "input_type": "variable",
                "value": ["sys", "query"],
            }
        ],
    )
    text = export(
        [start(), remember, node("a1", "answer", answer="You said {{#sys.query#}}."), llm("l", ("system", "Reply to {{#sys.query#}}")),
         node("a2", "answer", answer="{{#l.text#}} ({{#conversation.seen#}})")],
        "s -> as", "as -> a1", "a1 -> l", "l -> a2", mode="advanced-chat", conversation_variables=variables,
    )  # fmt: skip
    async with workshop({"text": "Fine."}) as shop:
        assert await shop.run(text, {"message": "hello"}) == {"answer": 'You said hello.Fine. (["hello"])'}
        assert shop.models is not None
        assert shop.models.requests[-1].body["messages"] == [{"role": "system", "content": "Reply to hello"}]
        assert shop.models.requests[-1].body["temperature"] == 0.7


async def test_answers_of_branches() -> None:
    check = node(
        "if",
        "if-else",
        cases=[
            {
                "case_id": "true",
                "logical_operator": "and",
                "conditions": [compare(["sys", "query"], "start with", "hi")],
            }
        ],
    )
    text = export(
        [start(), check, node("a1", "answer", answer="Hi!"), node("a2", "answer", answer="What?")],
        "s -> if",
        "if:true -> a1",
        "if:false -> a2",
        mode="advanced-chat",
    )
    async with workshop() as shop:
        assert await shop.run(text, {"message": "hi there"}) == {"answer": "Hi!"}
        assert await shop.run(text, {"message": "bye"}) == {"answer": "What?"}


async def test_a_classifier_and_an_extractor() -> None:
    classes = [{"id": "1", "name": "Order"}, {"id": "2", "name": "Complaint"}]
    ask = node(
        "q",
        "question-classifier",
        query_variable_selector=["s", "text"],
        classes=classes,
        model={},
        instructions="",
    )
    extract = node(
        "p",
        "parameter-extractor",
        query=["s", "text"],
        model={},
        instruction="",
        parameters=[{"name": "what", "type": "string", "required": True}, {"name": "n", "type": "number"}],
    )
    text = export([start(field("text")), ask, extract, end("o", what=["p", "what"], n=["p", "n"], ok=["p", "__is_success"]), end("c", kind=["q", "class_name"])],
                  "s -> q", "q:1 -> p", "p -> o", "q:2 -> c")  # fmt: skip
    order = {"text": '{"id": "order", "confidence": 0.9, "reason": "asks"}'}
    async with workshop(order, {"text": '{"what": "valve", "n": null}'}) as shop:
        found = await shop.run(text, {"text": "one valve"})
        assert found == {"what": "valve", "n": 0, "ok": 1}
    complaint = {"text": '{"id": "complaint", "confidence": 0.9, "reason": "angry"}'}
    async with workshop(complaint) as shop:
        assert await shop.run(text, {"text": "broken"}) == {"kind": "Complaint"}


async def test_a_list_operator() -> None:
    source = code(
        "l", "def main():\n    return {'list': ['pear', 'fig', 'plum', 'apple']}", {"list": "array[string]"}
    )
    chosen = node("f", "list-operator", variable=["l", "list"], item_var_type="string", filter_by={"enabled": True, "conditions": [{"key": "", "comparison_operator": "contains", "value": "p"}]},
                  order_by={"enabled": True, "key": "", "value": "desc"}, limit={"enabled": True, "size": 2}, extract_by={"enabled": False})  # fmt: skip
    text = export(
        [start(), source, chosen, end(list=["f", "result"], first=["f", "first_record"])],
        "s -> l",
        "l -> f",
        "f -> e",
    )
    async with workshop() as shop:
        assert await shop.run(text) == {"list": ["plum", "pear"], "first": "plum"}


async def test_a_prompt_in_jinja_and_structured_output() -> None:
    prompt = {
        "role": "user",
        "edition_type": "jinja2",
        "jinja2_text": "{% for w in ws %}- {{ w }}\n{% endfor %}",
        "text": "",
    }
    ask = llm("l", ("system", "List {{#s.n#}}"), structured_output_enabled=True, structured_output={"schema": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}},
              prompt_config={"jinja2_variables": [{"variable": "ws", "value_selector": ["c", "ws"]}]})  # fmt: skip
    ask["data"]["prompt_template"].append(prompt)
    source = code("c", "def main():\n    return {'ws': ['a', 'b']}", {"ws": "array[string]"})
    text = export(
        [start(field("n", "number")), source, ask, end(n=["l", "structured_output", "n"])],
        "s -> c",
        "c -> l",
        "l -> e",
    )
    async with workshop({"text": '{"n": 2}'}) as shop:
        assert await shop.run(text, {"n": 7}) == {"n": 2}
        assert shop.models is not None
        messages = shop.models.requests[-1].body["messages"]
        assert messages[0]["content"].startswith("List 7")
        assert messages[-1]["content"] == "- a\n- b\n"


async def test_environment_variables_keep_their_value_until_they_are_set() -> None:
    variables = [{"name": "BASE", "value_type": "string", "value": "north"}]
    text = export(
        [start(), template("t", "{{ b }}", b=["env", "BASE"]), end(out=["t", "output"])],
        "s -> t",
        "t -> e",
        environment_variables=variables,
    )
    async with workshop() as shop:
        assert await shop.run(text) == {"out": "north"}


async def test_an_app_without_a_graph() -> None:
    settings = {"pre_prompt": "Translate into {{lang}}.", "user_input_form": [{"select": {"variable": "lang", "label": "lang", "required": True, "options": ["de", "fr"]}}],
                "model": {"provider": "openai", "name": "gpt-4o", "completion_params": {"max_tokens": 50}}}  # fmt: skip
    text = yaml.safe_dump({"app": {"name": "T", "mode": "chat"}, "model_config": settings})
    async with workshop({"text": "Hallo"}) as shop:
        assert await shop.run(text, {"message": "Hello", "lang": "de"}) == {"answer": "Hallo"}
        assert shop.models is not None
        body = shop.models.requests[-1].body
        assert body["messages"] == [
            {"role": "system", "content": "Translate into de."},
            {"role": "user", "content": "Hello"},
        ]
        assert body["max_tokens"] == 50
