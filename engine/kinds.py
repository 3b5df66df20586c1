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
    "too_many_items": "A list is longer than `max_items`.",
    "max_rounds": "A LOOP reached its limit of rounds.",
    "output_schema": "What CODE returned does not fit its `output_schema`.",
}

_CALLS = {
    "unknown_workflow": "There is no such workflow, or no published version of it.",
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

_CODE = {
    "memory_limit": "The code needed more memory than its limit.",
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

GROUPS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Engine": _ENGINE,
        "Expressions": _EXPRESSIONS,
        "Data": _DATA,
        "Sub-workflows": _CALLS,
        "HTTP and connections": _CONNECTIONS,
        "Databases": _DATABASES,
        "Code": _CODE,
    }
)
"""Kinds with their meaning, by what they concern."""

KINDS: Mapping[str, str] = MappingProxyType(
    {kind: text for group in GROUPS.values() for kind, text in group.items()}
)
"""All kinds with their meaning."""
