"""n8n's AI nodes with the nodes that hang on them: model, memory, tools, output parser."""

from __future__ import annotations

from typing import Final

from interlace.importers.build import spread
from interlace.importers.builtin_tools import N8N_TOOLS
from interlace.importers.expressions import constant, path
from interlace.importers.foreign import Json, at, mapping, number, objects, text, whole
from interlace.importers.n8n.context import Site, param
from interlace.importers.n8n.fields import unwrapped
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Branch, Each, Outcome, Ways
from interlace.importers.n8n.nodes.integrations import connector, unknown
from interlace.importers.n8n.nodes.schemas import parsed, schema_of, sound, typed
from interlace.importers.n8n.values import Flow, Value, record, single
from interlace.importers.naming import slug, unique

_ROLES: Final = {"system": "system", "user": "user", "assistant": "assistant", "human": "user", "ai": "assistant",
                 "SystemMessagePromptTemplate": "system", "HumanMessagePromptTemplate": "user", "AIMessagePromptTemplate": "assistant"}  # fmt: skip
_TYPES: Final = {"string": "string", "number": "number", "boolean": "boolean", "date": "string"}


def _helpers(node: N8nNode, site: Site, kind: str) -> list[N8nNode]:
    names = site.ctx.file.helpers.get(node.name, {}).get(kind, [])
    return [site.ctx.file.nodes[name] for name in names]


def _model(node: N8nNode, site: Site) -> Json:
    """Settings of the model that hangs on a node; which model answers is a role's business here."""
    made: Json = {}
    for helper in _helpers(node, site, "ai_languageModel")[:1]:
        named = text(
            unwrapped(
                helper.parameters.get("model")
                or helper.parameters.get("modelName")
                or helper.parameters.get("modelId")
            )
        )
        _said(helper, named or helper.kind, site)
        made = model_options(mapping(helper.parameters.get("options")))
    return made


def _said(node: N8nNode, named: str, site: Site) -> None:
    site.ctx.say(
        "changed", "model_role",
        f"n8n asks {named or node.kind}; here the model of the node's role answers. Write `model:` at the node for another.", node,
    )  # fmt: skip


def model_options(options: Json) -> Json:
    """Temperature and length of an answer."""
    made: Json = {}
    temperature = number(options.get("temperature"))
    if temperature is not None:
        made["temperature"] = max(0, min(temperature, 2))
    longest = whole(
        options.get("maxTokens") or options.get("maxTokensToSample") or options.get("maxOutputTokens")
    )
    if longest is not None and longest > 0:
        made["max_tokens"] = longest
    return made


def _schema(node: N8nNode, site: Site) -> Json | None:
    for helper in _helpers(node, site, "ai_outputParser"):
        site.ctx.say("carried", "node", "The parser is the node's `output_schema`.", helper)
        if helper.kind == "outputParserItemList":
            return {
                "type": "object",
                "required": ["items"],
                "properties": {"items": {"type": "array", "items": {"type": "string"}}},
            }
        written = helper.parameters.get("inputSchema") or helper.parameters.get("jsonSchema")
        if text(helper.parameters.get("schemaType")) == "manual" or (
            written and not helper.parameters.get("jsonSchemaExample")
        ):
            return sound(parsed(written), helper, site)
        return sound(schema_of(parsed(helper.parameters.get("jsonSchemaExample"))), helper, site)
    return None


def _prompt(node: N8nNode, site: Site) -> str:
    given = node.parameters
    fields = site.fields(node)
    if given.get("promptType") == "auto" or (not given.get("text") and not given.get("prompt")):
        asked = site.scope.current().get("chatInput")
        return (
            "{{ " + f"{asked.code} | string" + " }}" if asked.kind != "text" else "{{ " + asked.code + " }}"
        )
    return fields.words(given.get("text") or given.get("prompt")) or "{{ '' }}"


def agent(node: N8nNode, site: Site) -> Outcome:
    """AGENT with its instructions, question, tools and answer's schema in line."""
    options = mapping(node.parameters.get("options"))
    fields = site.fields(node)
    _model(node, site)
    schema = _schema(node, site)
    config: Json = {
        "instructions": fields.words(options.get("systemMessage")) or None, "prompt": _prompt(node, site), "tools": _tools(node, site),
        "output_schema": schema,
    }  # fmt: skip
    rounds = whole(options.get("maxIterations"))
    if rounds and rounds > 0:
        config["limits"] = {"iterations": rounds}
    for helper in _helpers(node, site, "ai_memory"):
        site.ctx.say(
            "changed",
            "memory",
            "The agent remembers the session it runs in; the window of the file was left out.",
            helper,
        )
    step = site.add(node, "AGENT", spread(config))
    return Outcome(
        record(
            {
                "output": typed(path(step.id, "data"), schema)
                if schema
                else Value(path(step.id, "text"), "text")
            }
        )
    )


def _tools(node: N8nNode, site: Site) -> list[str]:
    made = []
    for helper in _helpers(node, site, "ai_tool"):
        known = N8N_TOOLS.get(helper.kind)
        if known is not None:
            made.append(known)
            site.ctx.say("carried", "node", f"The tool is the built-in {known!r}.", helper)
        else:
            site.ctx.say(
                "decision", "bind_tool",
                f"Give the agent a tool for what {helper.name!r} ({helper.kind}) did: a connector's action, an MCP server's tool or a"
                " published workflow, under `tools`.", helper,
            )  # fmt: skip
    return list(dict.fromkeys(made))


def chain(node: N8nNode, site: Site) -> Outcome:
    """LLM: messages of the chain, and the question last."""
    fields = site.fields(node)
    messages = [
        {
            "role": _ROLES.get(text(entry.get("type")) or "system", "system"),
            "content": fields.words(entry.get("message")),
        }
        for entry in objects(param(node, "messages", "messageValues"))
    ]
    messages.append({"role": "user", "content": _prompt(node, site)})
    schema = _schema(node, site)
    config = {**_said_as(messages), **_model(node, site), "output_schema": schema}
    step = site.add(node, "LLM", spread(config))
    if schema:
        name = "output" if node.version >= 1.2 else "response"  # noqa: PLR2004 - the name changed there
        return Outcome(record({name: typed(path(step.id, "data"), schema)}))
    answer = Value(path(step.id, "text"), "text")
    if node.version < 1.4:  # noqa: PLR2004 - one level deeper before
        return Outcome(record({"response": record({"text": answer}), "text": answer}))
    return Outcome(record({"text": answer, "response": record({"text": answer})}))


def _said_as(messages: list[Json]) -> Json:
    roles = [message["role"] for message in messages]
    if roles == ["user"]:
        return {"prompt": messages[0]["content"]}
    if roles == ["system", "user"]:
        return {"system": messages[0]["content"], "prompt": messages[1]["content"]}
    return {"messages": messages}


def summarization(node: N8nNode, site: Site) -> Outcome:
    """LLM that summarises a text in one go; n8n splits long ones first."""
    item = site.scope.current()
    source = item.get("text") if item.fields and "text" in item.fields else item
    code = source.code if source.kind == "text" else f"{source.code} | tojson"
    if _helpers(node, site, "ai_document"):
        code = f"{item.code} | tojson"
    config = {
        "system": "Write a concise summary of what the user sends.",
        "prompt": "{{ " + code + " }}",
        **_model(node, site),
    }
    site.ctx.say(
        "changed",
        "summary",
        "The text is summarised in one call; n8n splits long texts and joins the summaries.",
        node,
    )
    step = site.add(node, "LLM", spread(config))
    answer = Value(path(step.id, "text"), "text")
    return Outcome(record({"response": record({"text": answer}), "output": record({"text": answer})}))


def classifier(node: N8nNode, site: Site, flow: Flow) -> Ways:
    """CLASSIFIER with a handle for each category; the item goes on as it is, with its sentiment where that was asked."""
    assert flow.one is not None
    entries = objects(param(node, "categories", "categories"))
    sentiment = node.kind == "sentimentAnalysis"
    if sentiment:
        written = text(param(node, "options", "categories")) or "Positive, Neutral, Negative"
        entries = [{"category": name.strip()} for name in written.split(",") if name.strip()]
    used: set[str] = {"else", "error"}
    fields = site.fields(node)
    classes = [
        spread({
            "id": unique(slug(text(entry.get("category")), longest=30) or f"class_{index}", used),
            "name": fields.words(entry.get("category")), "description": fields.words(entry.get("description")),
        })
        for index, entry in enumerate(entries, 1)
    ] or [{"id": "any", "name": "any"}]  # fmt: skip
    if _model(node, site):
        site.ctx.say("changed", "model_settings", "A classifier takes no settings of its model.", node)
    config: Json = {"input": fields.words(node.parameters.get("inputText")) or "{{ '' }}", "classes": classes}
    if param(node, "options", "multiClass") is True:
        config["multiple"] = True
    step = site.add(node, "CLASSIFIER", config)
    outputs = {}
    for index, entry in enumerate(classes):
        found = record({"category": Value(constant(entry["name"]), "text")})
        item = record({"sentimentAnalysis": found}, flow.one) if sentiment else flow.one
        outputs[index] = single(item, (step.id, entry["id"]))
    if text(param(node, "options", "fallback")) == "other":
        return Ways({**outputs, len(classes): single(flow.one, (step.id, "else"))})
    return Ways(outputs, ((step.id, "else"),))


def extractor(node: N8nNode, site: Site) -> Outcome:
    """PARAMETER_EXTRACTOR with the attributes or the schema of the node."""
    given = node.parameters
    fields: Json = {}
    required = []
    for entry in objects(param(node, "attributes", "attributes")):
        name = text(entry.get("name"))
        fields[name] = spread(
            {
                "type": _TYPES.get(text(entry.get("type")), "string"),
                "description": text(entry.get("description")),
            }
        )
        if entry.get("required") is True:
            required.append(name)
    schema: Json = {"type": "object", "required": required, "properties": fields}
    if text(given.get("schemaType")) == "manual":
        schema = mapping(parsed(given.get("inputSchema"))) or schema
    elif text(given.get("schemaType")) == "fromJson":
        schema = {**schema_of(parsed(given.get("jsonSchemaExample"))), "required": []}
    _model(node, site)
    is_object = schema.get("type") == "object" and bool(schema.get("properties"))
    if not is_object:
        schema = {"type": "object", "properties": {"output": sound(schema, node, site) or {}}}
    config = {
        "input": site.fields(node).words(given.get("text")) or "{{ '' }}", "schema": schema,
        "instructions": site.fields(node).words(param(node, "options", "systemPromptTemplate")),
    }  # fmt: skip
    step = site.add(node, "PARAMETER_EXTRACTOR", spread(config))
    return Outcome(record({"output": Value(path(step.id, "data", *([] if is_object else ["output"])))}))


def open_ai(node: N8nNode, site: Site) -> Outcome:
    """The node of OpenAI: chat and texts as LLM, an assistant as AGENT, images and files as a CONNECTOR slot."""
    resource = text(node.parameters.get("resource")) or (
        "text" if node.package.endswith("langchain") else "chat"
    )
    operation = text(node.parameters.get("operation"))
    if resource not in ("text", "chat", "assistant") or operation in (
        "classify",
        "edit",
        "moderate",
        "create",
        "deleteAssistant",
        "list",
    ):
        return connector(node, site)
    if resource == "assistant":
        return _assistant(node, site)
    fields = site.fields(node)
    entries = (
        objects(param(node, "messages", "values"))
        or objects(param(node, "messages", "messages"))
        or objects(param(node, "prompt", "messages"))
    )
    entries = entries or objects(param(node, "responses", "values"))
    messages = [
        {
            "role": _ROLES.get(text(entry.get("role")) or "user", "user"),
            "content": fields.words(entry.get("content")),
        }
        for entry in entries
    ]
    if not messages:
        messages = [{"role": "user", "content": fields.words(node.parameters.get("prompt")) or "{{ '' }}"}]
    named = text(unwrapped(node.parameters.get("modelId") or node.parameters.get("model")))
    _said(node, named or "OpenAI", site)
    as_json = node.parameters.get("jsonOutput") is True or at(
        node.parameters, "options", "responseFormat"
    ) in ("json_object", "json")
    options = {**mapping(node.parameters.get("options"))}
    config = {
        **_said_as(messages),
        **model_options(options),
        "output_schema": {"type": "object"} if as_json else None,
    }
    step = site.add(node, "LLM", spread(config))
    return Outcome(_reply(step.id, as_json=as_json and node.package.endswith("langchain")))


def _reply(step: str, *, as_json: bool) -> Value:
    """An answer in the shape in which n8n gives it."""
    answer = Value(path(step, "data")) if as_json else Value(path(step, "text"), "text")
    message = record({"role": Value("'assistant'", "text"), "content": answer})
    return record({
        "index": Value("0", "number"), "message": message, "finish_reason": Value(path(step, "finish_reason"), "text"),
        "text": Value(path(step, "text"), "text"), "output": Value(f"[{{'content': [{{'text': {answer.code}}}]}}]", "list"),
    })  # fmt: skip


def _assistant(node: N8nNode, site: Site) -> Outcome:
    name = (
        slug(text(mapping(node.parameters.get("assistantId")).get("cachedResultName")) or "assistant")
        or "assistant"
    )
    site.ctx.say(
        "decision", "bind_agent", f"Make an agent {name!r} with the instructions of the assistant.", node
    )
    step = site.add(node, "AGENT", {"agent": name, "prompt": _prompt(node, site)})
    return Outcome(record({"output": Value(path(step.id, "text"), "text")}))


def retrieval(node: N8nNode, site: Site) -> Outcome:
    """Questions to a vector store as KB_RETRIEVAL; everything else about such stores has no counterpart as a step."""
    if text(node.parameters.get("mode")) not in ("load", "") or "vectorStore" not in node.kind:
        return unknown(node, site)
    names: set[str] = set()
    slot = unique(slug(node.name) or "knowledge", names)
    site.ctx.say("decision", "bind_knowledge_base", f"Put a knowledge base in place of {slot!r}.", node)
    top = whole(node.parameters.get("topK"))
    config = spread(
        {
            "knowledge_bases": [slot],
            "query": site.fields(node).words(node.parameters.get("prompt")),
            "top_k": top,
        }
    )
    step = site.add(node, "KB_RETRIEVAL", config)
    return Outcome(Value(path(step.id, "chunks"), "items"), listed=True)


KINDS: Final[dict[str, Each | Branch]] = {
    "agent": Each(convert=agent), "chainLlm": Each(convert=chain), "chainSummarization": Each(convert=summarization),
    "informationExtractor": Each(convert=extractor), "textClassifier": Branch(convert=classifier), "sentimentAnalysis": Branch(convert=classifier),
    "openAi": Each(convert=open_ai), "openAiAssistant": Each(convert=_assistant), "chainRetrievalQa": Each(convert=agent),
    "conversationalAgent": Each(convert=agent),
    **{f"vectorStore{name}": Each(convert=retrieval, lists=True) for name in ("InMemory", "Pinecone", "Qdrant", "Supabase", "PGVector", "Weaviate", "Milvus")},
}  # fmt: skip
