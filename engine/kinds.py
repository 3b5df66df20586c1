"""Every `error.type` that the product itself gives to a failed node or run: one table, from which documentation comes.

Two families are open: `http_<status>` for the answer of a web server, and the class name of an exception that the
code of a CODE node raised (`ValueError`). Plug-ins may add kinds of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ENGINE = {
    "timeout": "An attempt, a run or a server took longer than it may.",
    "cancelled": "The run, or the called workflow, was cancelled.",
    "internal": "A node type has a fault; the workflow is not to blame.",
    "node_error": "A node failed and its type gave no kind.",
    "unknown_outcome": "An attempt with effects `once` was interrupted; nobody knows whether it did its work.",
    "not_confirmed": "A person did not confirm the node (`confirm: true`), or nobody did in time; it did not run.",
    "no_end_reached": "The run came to its end without reaching an END node.",
    "output_conflict": "Two END nodes that ran set the same output.",
    "not_json": "A node's outputs have no JSON form, so they cannot be recorded.",
    "record_mismatch": "An offline replay asks for something else than the recorded run did.",
    "unknown_variable": "The workflow declares no variable of that name.",
    "variable_type": "The assigned value does not have the variable's type.",
}

_EXPRESSIONS = {
    "expression": "An expression failed; the message says how.",
    "expression_limit": "An expression took too many steps, or its result is too large.",
    "missing": "A value that is not there reached a field, an operator or a text; `default(…)` covers it.",
    "syntax": "An expression cannot be read.",
    "wrong_type": "An operator, filter, function or field got a value of a type it does not take.",
    "bad_comparison": "Two values have no order, or one cannot be looked for in the other.",
    "division_by_zero": "A division by zero.",
    "bad_date": "A value is no date, or its pattern or time zone is not valid.",
    "bad_json": "A text is not JSON.",
    "bad_regex": "A regular expression is not valid, or lacks the named group.",
    "bad_jmespath": "A JMESPath expression is not valid or failed.",
    "unknown_filter": "A filter name that was computed does not exist.",
    "unknown_test": "A test name that was computed does not exist.",
    "unknown_hash": "There is no hash of that name.",
}

_MCP = {
    "mcp_definition": "An MCP server's definition, or its place in the operator's catalogue, is wrong.",
    "mcp_unavailable": "An MCP server is switched off, or its program cannot be confined.",
    "mcp_unauthorized": "An MCP server wants authorization, or wants it again.",
    "mcp_error": "An MCP server refused a request, or answered what the protocol does not know.",
    "mcp_tool_error": "The tool of an MCP server says that it failed; the message holds its words.",
    "tool_not_found": "The server has no tool of that name; the nearest ones are named.",
    "tool_changed": "A tool is described otherwise than it was accepted; somebody has to look and accept it again.",
    "mail": "A mail could not be handed over; the message holds the server's words.",
    "bad_arguments": "The arguments do not fit the tool's or action's schema.",
    "resource_not_found": "There is no such resource that the run's user may use: none of that name, or another's, or one that is switched off.",
}

_DATA = {
    "type": "A value has another type than the step takes.",
    "cast": "A value cannot be made the wanted type.",
    "parse": "A text is not what it is parsed as.",
    "format": "A value cannot be written in the wanted format.",
    "rename": "Two fields would get the same name.",
    "schema": "A value does not fit the step's JSON Schema.",
    "length": "Lists that go together have different lengths.",
    "invalid_json": "A template of format json made no JSON.",
    "nothing_ran": "None of the branches that are put together ran.",
    "missing_setting": "The environment has no setting of that name.",
    "missing_secret": "There is no secret of that name.",
    "secret_key": "Secrets cannot be decrypted: the master key is missing, or is another one.",
    "too_many_items": "A list is longer than `max_items`.",
    "max_rounds": "A LOOP reached its limit of rounds.",
    "output_schema": "What CODE returned does not fit its `output_schema`.",
}

_CALLS = {
    "unknown_workflow": "The workflow has no such version, or none that is published, or its file cannot be read.",
    "validation": "The inputs do not fit the called workflow, or that workflow is not valid.",
    "too_deep": "Workflows call each other more than 10 levels deep.",
    "child_failed": "The called workflow failed and gave no kind.",
}

_CONNECTIONS = {
    "connection": "The other side cannot be reached, or the connection broke.",
    "overloaded": "The other side has no room for another request now.",
    "rate_limit": "The other side asks for fewer requests.",
    "blocked_address": "The address is not public and no operator opened it, or it is never reachable.",
    "bad_url": "The address is not a usable http or https URL.",
    "bad_header": "A header's name or value cannot be sent.",
    "bad_body": "The body cannot be written as asked.",
    "bad_auth": "The credentials cannot be used as they are.",
    "oauth": "No access token could be fetched.",
    "bad_response": "The answer cannot be read, or does not fit `response_schema`.",
    "bad_redirect": "A redirect leads nowhere.",
    "insecure_redirect": "A redirect leads from https to http.",
    "too_many_redirects": "More than five redirects.",
    "too_large": "The answer is larger than the limit.",
    "callback_timeout": "The other side did not call back in time.",
    "pagination": "The pages of a list cannot be followed.",
}

_CONNECTORS = {
    "connector_definition": "A stored connector cannot be read; it has to be imported again.",
    "unknown_action": "The connector has no such action.",
    "bad_parameter": "The parameters do not fit the action.",
    "no_base_url": "The connector does not say where its API is.",
    "missing_credentials": "The connector needs credentials that nobody has given.",
    "circuit_open": "The API failed several times in a row and is left alone for a while.",
}

_DATABASES = {
    "database_url": "The database URL cannot be used.",
    "sql_refused": "The statement is not allowed: not one statement, not of this operation, or not of the allowed parts.",
    "sql_error": "The database does not accept the statement.",
    "parameters": "The parameters do not fit the statement.",
    "identifier": "A name of a table or column cannot be used.",
    "constraint": "The database refused the rows: duplicate, missing or not allowed values.",
    "deadlock": "The statement waited for a lock and was rolled back.",
    "serialization": "Another transaction changed the same rows; rolled back.",
    "permission": "The database user may not do this.",
}

_TOOLS = {
    "unknown_tool": "There is no built-in tool of that name; the nearest one is named.",
    "tool_error": "A tool did its work and answers with a failure; the message holds its words.",
    "bad_expression": "An arithmetic expression cannot be read, or has no value.",
    "unknown_unit": "There is no unit of that name.",
    "bad_unit": "Two units measure different things.",
    "bad_cron": "A text is no cron expression, or one that is never due.",
    "bad_path": "A text is no path of a file in the run's folder.",
    "file_not_found": "The run's folder has no such file; the nearest one is named.",
    "file_not_text": "A file of the run is no UTF-8 text.",
    "folder_full": "A file, or all files of the run together, would be larger than the limits.",
    "file_busy": "Other calls of the run change the same file all the time.",
    "no_match": "The text that is to be replaced does not stand in the file, or not just once.",
    "no_run": "A tool that works on the files of a run was called outside of one.",
}

_CODE = {
    "memory_limit": "The code, or a statement on DuckDB, needed more memory than its limit.",
    "output_limit": "The result or the printed text is larger than its limit.",
    "bad_input": "The inputs have no JSON form.",
    "bad_result": "The code returned no JSON object.",
    "missing_input": "An input of `main` has no value.",
    "missing_main": "The code has no function `main`.",
    "killed": "The code's process ended without a result.",
    "not_supported": "This sandbox cannot do what was asked.",
    "package_not_allowed": "The operator does not offer that package.",
    "network_not_allowed": "The operator does not let code use the network.",
    "sandbox_unavailable": "No sandbox works on this machine; `interlace doctor` says why.",
}

_MODELS = {
    "no_model": "No model is set up for what was asked.",
    "ambiguous_model": "A model's name alone fits several.",
    "budget_exceeded": "The budget of the user, the organisation or the installation is used up; nothing was asked.",
    "quota_exceeded": "The account at the model's provider has no credit left.",
    "context_length": "The messages are longer than the model can read.",
    "empty_answer": "The model ended its answer without a word.",
    "refused": "The model, or its provider's filter, refused to answer.",
    "output_truncated": "The answer was cut off at its limit of tokens.",
    "invalid_output": "The answer does not fit the wanted schema, after one repair too.",
    "missing_parameters": "Required values are not in the text, and the handle `missing` leads nowhere.",
    "bad_attachment": "A file cannot be given to a model.",
}

_DOCUMENTS = {
    "bad_file": "What a field names as its file is none: no upload, no reference, no URL, no base64.",
    "document_damaged": "The file is not what its format asks for.",
    "document_encrypted": "The file needs a password.",
    "document_unsupported": "The file is of a format that cannot be read.",
    "document_empty": "The file is empty, or holds no text.",
    "document_scanned": "The file holds pictures of pages and no text.",
    "document_too_large": "The file, or what is packed in it, is larger than the limits, or takes too much time.",
    "document_unsafe": "The file holds what only attacks need, as XML entities.",
    "document_pages": "The file has no such pages.",
    "ocr_unavailable": "Text recognition was asked for and is not installed here.",
}

_KNOWLEDGE = {
    "knowledge_definition": "A knowledge base is not defined as one can be.",
    "knowledge_query": "A knowledge base cannot be asked this: the query is empty, or top_k is out of range.",
    "knowledge_filter": "The filter on metadata is not valid.",
}

_AGENTS = {
    "agent_definition": "An agent, or a list of hooks, is not defined as one can be.",
    "skill_definition": "A skill, or the file that it comes in, is not as one can be.",
    "hook_denied": "A hook does not let it be done; the message is the hook's.",
    "hook_failed": "A hook's server gave no usable answer, and nothing is done without one.",
}

GROUPS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Engine": _ENGINE,
        "Expressions": _EXPRESSIONS,
        "Data": _DATA,
        "Sub-workflows": _CALLS,
        "HTTP and connections": _CONNECTIONS,
        "Connectors": _CONNECTORS,
        "Databases": _DATABASES,
        "Code": _CODE,
        "Tools": _TOOLS,
        "Documents": _DOCUMENTS,
        "Knowledge bases": _KNOWLEDGE,
        "Agents and skills": _AGENTS,
        "MCP and other resources": _MCP,
        "Models": _MODELS,
    }
)
"""Kinds with their meaning, by what they concern."""

KINDS: Mapping[str, str] = MappingProxyType(
    {kind: text for group in GROUPS.values() for kind, text in group.items()}
)
"""All kinds with their meaning."""
