"""The modules of Linkwise that algorithms can reach, by what they say that they import, inside functions too; one a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "linkwise"


def module_name(path: Path) -> str:
    parts = ["linkwise", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in ROOT.rglob("*.py")}


def imported(name: str) -> Iterator[str]:
    """Modules that a module imports, and the packages that they are in, but for the whole package itself."""
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        words: list[str] = []
        if isinstance(node, ast.Import):
            words = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            words = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for word in words:
            parts = word.split(".")
            heads = (".".join(parts[:k]) for k in range(2, len(parts) + 1))
            yield from (head for head in heads if head in FILES)


def reachable() -> list[str]:
    """All that the modules with algorithms lead to, themselves included."""
    seen = {name for name in FILES if name.split(".")[1:2] in (["algorithm"], ["dynamics"], ["kinematics"])}
    waiting = list(seen)
    while waiting:
        new = set(imported(waiting.pop())) - seen
        seen |= new
        waiting += new
    return sorted(seen)


if __name__ == "__main__":
    print("\n".join(reachable()))
