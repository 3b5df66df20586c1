"""Python code that somebody brings along: whether it can be used, and its text without blanks at line ends."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings


def parsed(source: str) -> ast.Module | str:
    """The syntax tree, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{getattr(error, 'msg', None) or error} (line {getattr(error, 'lineno', None) or 1})"


def fault_of(source: str) -> str | None:
    """Why Python code is no module with a function `main`, None where it is."""
    tree = parsed(source)
    if isinstance(tree, str):
        return tree
    mains = [
        one
        for one in tree.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == "main"
    ]
    return None if mains else "it has no function main"


def tidy_code(source: str) -> str:
    """The code without blanks at the ends of its lines and empty lines around it; texts over several lines stay."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            if token.start[0] != token.end[0]:
                kept.update(range(token.start[0], token.end[0]))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return source
    made = [line if number in kept else line.rstrip() for number, line in enumerate(lines, 1)]
    return "\n".join(made).strip("\n") + "\n"


def foreign_imports(source: str) -> tuple[str, list[str], list[str]]:
    """The code without imports outside the standard library that nothing in it uses; those, and those that it uses.

    Code that cannot be read, and imports inside functions, stay as they are.
    """
    tree = parsed(source)
    if isinstance(tree, str):
        return source, [], []
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = source.replace("\r\n", "\n").split("\n")
    dropped: list[str] = []
    needed: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias, alias.name.split(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [(alias, node.module.split(".")[0]) for alias in node.names]
        else:
            continue
        unused = [
            alias
            for alias, module in names
            if module not in sys.stdlib_module_names
            and (alias.asname or alias.name.split(".")[0]) not in used
        ]
        needed += [
            module for alias, module in names if module not in sys.stdlib_module_names and alias not in unused
        ]
        if (
            unused
            and node in tree.body
            and node.end_lineno == node.lineno
            and ";" not in lines[node.lineno - 1]
        ):
            dropped += [alias.name for alias in unused]
            node.names = [alias for alias in node.names if alias not in unused]
            lines[node.lineno - 1] = ast.unparse(node) if node.names else ""
    return "\n".join(lines), dropped, sorted(set(needed))
