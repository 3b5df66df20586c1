"""Every code that a problem of a document can have: one table, from which severity and documentation come."""

from __future__ import annotations

from dataclasses import dataclass

from interlace.engine.problems import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """What a code means, and how severe it is unless the finding says otherwise."""

    meaning: str
    severity: Severity = "error"


_TEXT = {
    "syntax": Code("The text is neither YAML nor JSON."),
    "encoding": Code("The text is not UTF-8, or holds characters that no document may hold."),
    "unreadable_file": Code("The file cannot be opened."),
    "too_large": Code("The document is larger than the limit."),
    "too_deep": Code("Values are nested deeper than the limit."),
    "repeated_key": Code("A key stands twice in one mapping."),
    "bad_key": Code("A key of a mapping is no text, as where an expression stands without quotes."),
    "yaml_tag": Code("YAML tags are not allowed."),
    "yaml_alias": Code("A YAML alias has no anchor, holds itself, or stands for too many values."),
    "not_finite": Code("Infinity, NaN and numbers beyond 64-bit floats are no JSON values."),
    "not_a_document": Code("The text is no mapping."),
}

_SHAPE = {
    "bad_edge": Code("An edge in short form cannot be read."),
    "body_twice": Code("A container has a body both in the node and in its config."),
    "unknown_field": Code("A field of that name does not exist here."),
    "missing_field": Code("A required field is missing."),
    "wrong_type": Code("A value has another type than its field takes."),
    "bad_value": Code("A value is not one of those allowed."),
    "out_of_range": Code("A number, text or list is too small, too large, too short or too long."),
    "bad_id": Code("An id does not match [A-Za-z_][A-Za-z0-9_]*, at most 64 characters."),
    "bad_duration": Code("A duration is not 500ms, 30s, 10m, 2h, 3d or a number of seconds."),
    "bad_schema": Code("A JSON Schema is not valid."),
    "bad_default": Code("A default value does not match its type."),
    "bad_trigger": Code("A trigger has no known type."),
}

_STRUCTURE = {
    "no_start": Code("The workflow has no START."),
    "several_starts": Code("The workflow has more than one START."),
    "no_end": Code("The workflow has no END."),
    "duplicate_id": Code(
        "Two nodes have the same id; ids are unique in the whole document, bodies included."
    ),
    "reserved_id": Code("The id is a name of the expression language."),
    "unknown_type": Code("There is no node type of that name."),
    "start_or_end_in_body": Code("START and END do not stand in bodies."),
    "unexpected_body": Code("A node that is no container has a body."),
    "missing_body": Code("A container has no body."),
    "empty_body": Code("The body of a container has no nodes."),
    "unknown_node": Code("An edge begins or ends at a node that does not exist."),
    "edge_across_bodies": Code("An edge joins nodes of different bodies."),
    "edge_into_start": Code("An edge ends at START."),
    "edge_from_end": Code("An edge begins at END."),
    "unknown_handle": Code("An edge leaves from a handle that its source does not have."),
    "break_outside_body": Code("$break and $continue are targets inside bodies only."),
    "duplicate_edge": Code("The same edge stands twice.", "warning"),
    "error_edge_without_branch": Code(
        "An edge leaves from `error`, but the node's on_error is not `branch`."
    ),
    "branch_without_error_edge": Code("on_error is `branch`, but no edge leaves from `error`."),
    "continue_not_allowed": Code("The type does not allow on_error: continue."),
    "unused_default_output": Code("default_output is only used with on_error: continue.", "warning"),
    "cycle": Code("Edges form a cycle; only LOOP repeats."),
    "unreachable": Code("No path leads from START to the node."),
    "side_branch": Code("A path ends at a node that is no END.", "warning"),
    "unconnected_handle": Code("No edge leaves from a handle of a branching node.", "warning"),
    "unconnected_else": Code("No edge leaves from `else`.", "warning"),
    "never_runs": Code(
        "The node waits for edges that are never taken in one run: it is always skipped.", "warning"
    ),
}

_REFERENCES = {
    "expression_syntax": Code("An expression cannot be read."),
    "unknown_filter": Code("An expression uses a filter that does not exist."),
    "unknown_test": Code("An expression uses a test that does not exist."),
    "unknown_function": Code("An expression calls a function that does not exist."),
    "expression_type": Code("An operator, filter or function gets a value of a type it does not take."),
    "unknown_name": Code("An expression reads a name that is neither a node nor a name of the language."),
    "not_upstream": Code("An expression reads a node that does not run before."),
    "own_output": Code("A node reads its own output."),
    "bad_comparison": Code("A comparison cannot hold, or cannot be made, between values of these types."),
    "unknown_output": Code("An expression reads a field that the node, or the value, does not have."),
    "unknown_input": Code("The workflow declares no input of that name."),
    "missing_input": Code("A required input of the called workflow is not given."),
    "unknown_variable": Code("The workflow declares no variable of that name."),
    "misplaced_name": Code("item, index or loop is read where there is none."),
    "possibly_missing": Code("A node that may be skipped is read without a default.", "warning"),
    "secret_leak": Code("A secret flows into a field that may be shown, logged or sent."),
    "name_taken": Code("A name inside a body hides another one."),
}

_RUN = {
    "variable_race": Code("Two nodes that no path orders use one variable, and at least one sets it."),
    "variable_type": Code("A value of another type than the variable's is assigned."),
    "output_conflict": Code("Two ENDs that can both run set the same output."),
    "unknown_workflow": Code("There is no workflow of that name."),
    "unbound_resource": Code("Whoever saves the workflow may not use a resource that it names.", "warning"),
    "recursion": Code("The workflow calls itself, directly or through others."),
    "call_depth": Code("Workflows call each other more than 10 levels deep."),
    "duplicate_trigger": Code("Two triggers have the same id."),
    "trigger_inputs": Code("The inputs that a trigger gives do not fit the workflow's."),
    "event_loop": Code("The end of a workflow's run starts the workflow again.", "warning"),
    "chat_message": Code("A chat workflow does not declare the input `message`.", "warning"),
    "chat_answer": Code("No END of a chat workflow gives the output `answer`.", "warning"),
    "no_pool_here": Code(
        "The node does not run in a pool of its own: it only waits, holds other nodes, or begins or ends the run."
    ),
    "failure_loop": Code("settings.on_failure names the workflow itself.", "warning"),
}

GROUPS: dict[str, dict[str, Code]] = {
    "Text": _TEXT,
    "Shape": _SHAPE,
    "Structure": _STRUCTURE,
    "References and expressions": _REFERENCES,
    "Variables, outputs, calls": _RUN,
}
"""The codes by what they concern."""

CODES: dict[str, Code] = {name: code for group in GROUPS.values() for name, code in group.items()}
"""All codes of the validator itself; node types add their own through `Node.check`."""
