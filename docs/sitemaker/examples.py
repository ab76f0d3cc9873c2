"""The numbered examples as pages: what each does, and its text."""

from __future__ import annotations

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def described(path: Path) -> tuple[str, str, str]:
    """The first sentence of an example's docstring, the rest of it, and the code below it."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    told = ast.get_docstring(tree) or path.stem
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip() + "\n"
    head, _, rest = told.partition("\n\n")
    return " ".join(head.split()), rest, code


def title(path: Path) -> str:
    """``04_run_a_motion`` is called "04 Run a motion"."""
    number, _, words = path.stem.partition("_")
    words = re.sub(r"\b(c|lagrange|robo|puma)\b", lambda match: match[0].capitalize(), words.replace("_", " ")).replace(
        "Puma", "PUMA"
    )
    return f"{number} {words[:1].upper()}{words[1:]}"


def pages() -> dict[str, str]:
    """A page for each numbered example, and one that lists them."""
    made: dict[str, str] = {}
    listed = [
        "# Examples",
        "",
        "Each runs as it stands: `python examples/01_first_arm.py`. The tests run them all.",
        "",
        "| example | |",
        "|---|---|",
    ]
    names = sorted(FOLDER.glob("[0-9]*.py"))
    for path in names:
        head, rest, code = described(path)
        listed.append(f"| [{title(path)}]({path.stem}.md) | {head.replace('|', chr(92) + '|')} |")
        made[f"examples/{path.stem}.md"] = "\n".join(
            [f"# {title(path)}", "", head, "", rest, "", f"`python examples/{path.name}`", "", "```python", code + "```", ""]
        )
    toctree = ["", "```{toctree}", ":hidden:", "", *(path.stem for path in names), "```", ""]
    made["examples/index.md"] = "\n".join(listed + toctree)
    return made
