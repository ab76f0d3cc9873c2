"""Formulas become MathML while the site is built: browsers draw it themselves, and nothing is fetched to do so."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def mathml(formula: str, display: str) -> str:
    """LaTeX as MathML; what cannot be read is an error that names the formula."""
    from latex2mathml.converter import convert

    try:
        return str(convert(formula, display=display))
    except Exception as error:
        raise ValueError(f"a formula cannot be read: {formula!r}: {type(error).__name__}: {error}") from error


def inline(writer: Any, node: nodes.Element) -> None:
    """A formula in a line of text."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """A formula on a line of its own."""
    anchor = f' id="{node["ids"][0]}"' if node["ids"] else ""
    writer.body.append(f'<div class="formula"{anchor}>{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
