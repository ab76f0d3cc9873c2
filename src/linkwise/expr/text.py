"""An expression as one line of text."""

from __future__ import annotations

from linkwise.expr.node import Expr
from linkwise.expr.order import schedule

_BINDING = {"add": 1, "sub": 1, "neg": 2, "mul": 3, "div": 3}
_SIGN = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / "}
LONGEST = 2000
"""Longer expressions are cut: a graph with shared parts can be exponentially longer as text."""


def text(expression: Expr) -> str:
    """Write an expression in infix form, with no more brackets than needed; cut after `LONGEST` characters."""
    written: dict[Expr, tuple[str, int]] = {}
    for node in schedule([expression]):
        line, binding = _one(node, [written[arg] for arg in node.args])
        written[node] = (line if len(line) <= LONGEST else line[:LONGEST] + "...", binding)
    return written[expression][0]


def _one(node: Expr, args: list[tuple[str, int]]) -> tuple[str, int]:
    if node.op == "const":
        return f"{node.value:.12g}", 4 if node.value >= 0 else 2
    if node.op == "symbol":
        return str(node.value), 4
    if node.op not in _BINDING:
        return f"{node.op}({', '.join(written for written, _ in args)})", 4
    own = _BINDING[node.op]
    if node.op == "neg":
        return f"-{_bracketed(args[0], own)}", own
    right = own + 1 if node.op in {"sub", "div"} else own
    return f"{_bracketed(args[0], own)}{_SIGN[node.op]}{_bracketed(args[1], right)}", own


def _bracketed(part: tuple[str, int], least: int) -> str:
    return part[0] if part[1] >= least else f"({part[0]})"
