"""The text of a function, to be unfolded below its description."""

from __future__ import annotations

import ast
import html
import inspect
import textwrap
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

SOURCE = Path(__file__).resolve().parents[2] / "src"
LONGEST = 120
"""Lines of source that are shown on the page; of a longer function only the place is given."""


def source(thing: Any) -> str:
    """Where something is written, and of a function its text without the docstring, as reStructuredText."""
    thing = inspect.unwrap(plain(thing))
    try:
        file = Path(inspect.getsourcefile(thing) or "").resolve().relative_to(SOURCE).as_posix()
        lines, start = inspect.getsourcelines(thing)
    except (TypeError, OSError, ValueError):
        return ""
    place = f"{file}, line {start}"
    if inspect.isclass(thing) or len(lines) > LONGEST:
        return raw(f'<p class="source">Source: <code>{html.escape(place)}</code></p>')
    shown = highlight(undocumented("".join(lines)), PythonLexer(), HtmlFormatter(cssclass="highlight"))
    # (furo colours what is inside a "highlight")
    return raw(f'<details class="source"><summary>Source: <code>{html.escape(place)}</code></summary>\n{shown}</details>')


def plain(member: Any) -> Any:
    """The function in a property, a class method or the like."""
    for inner in ("fget", "__func__", "func", "method"):
        found = getattr(member, inner, None)
        if callable(found):
            return plain(found)
    return member


def undocumented(text: str) -> str:
    """The source of a function without its docstring, not indented."""
    indent = text[: len(text) - len(text.lstrip())]
    # (lines within a text in quotes may stand further left than the function)
    body = ast.parse(f"class _:\n{text}").body[0].body[0] if indent else ast.parse(text).body[0]  # type: ignore[attr-defined]
    lines = text.splitlines(keepends=True)
    if isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(body) is not None:
        shift, docstring = bool(indent), body.body[0]
        lines[docstring.lineno - 1 - shift : (docstring.end_lineno or 0) - shift] = []
    return "".join(line.removeprefix(indent) for line in lines)


def raw(text: str) -> str:
    """HTML in reStructuredText. It is not searched."""
    return ".. raw:: html\n\n" + textwrap.indent(text, "   ", lambda line: True)
