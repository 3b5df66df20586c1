"""The expression language: parsing, references, typing, renaming and evaluation.

Jinja's expression syntax through a parser of ours. The tree serves references, typing and renaming; evaluation follows
rules of its own for comparison and missing values. Values are plain data; nothing here reads an attribute of an object.
"""

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.compiled import Compiled, compile_expression, compile_text, compile_value
from interlace.engine.expressions.filters.dates import restore_clock, use_clock
from interlace.engine.expressions.infer import Finding, Inferred, infer
from interlace.engine.expressions.kinds import compile_template, rename_root
from interlace.engine.expressions.references import Reference
from interlace.engine.expressions.syntax import SyntaxProblem
from interlace.engine.expressions.tokens import WORDS
from interlace.engine.expressions.values import JsonValue, Missing, Names, NodeOutputs, NullOutputs

__all__ = [
    "WORDS",
    "Compiled",
    "ExpressionError",
    "Finding",
    "Inferred",
    "JsonValue",
    "Missing",
    "Names",
    "NodeOutputs",
    "NullOutputs",
    "Reference",
    "SyntaxProblem",
    "compile_expression",
    "compile_template",
    "compile_text",
    "compile_value",
    "infer",
    "rename_root",
    "restore_clock",
    "use_clock",
]
