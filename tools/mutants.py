"""Mutation testing: change one operator, number or condition of a source line, and see whether a test fails.

    python tools/mutants.py --count 200 --seed 1 src/linkwise/{dynamics,kinematics,solve,expr}
    python tools/mutants.py --resume mutants.jsonl            go on with a run that was stopped

Lines are drawn at random from the folders named, each with one random change. A mutant runs against, in this order and up
to the first failure: the tests of its module, of its package, `tests/laws`, and the tests of the other packages in `CORE`.
It is killed by a failure, an error, or by a stage that takes longer than ``--limit``. Each result is a line of
``--resume`` (mutants.jsonl unless named), and the share of living mutants is printed at the end. The work is done in
copies of the checkout, in a temporary folder.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]

CORE = ("spatial", "expr", "kinematics", "dynamics", "solve", "inverse_kinematics", "loops")
"""Packages whose tests meet every mutant that is still alive."""

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.MatMult: ("@", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
"""How each operator is written, and what it is changed into."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file: ``old`` at a position of a line becomes ``new``."""

    path: str
    line: int
    column: int
    old: str
    new: str


def changes(path: Path) -> list[Mutant]:
    """Every change that a file offers: operators, numbers, conditions, signs."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    name = path.relative_to(ROOT).as_posix()
    mutants: list[Mutant] = []

    def add(line: int, column: int, old: str, new: str) -> None:
        column = len(lines[line - 1].encode()[:column].decode())  # ast counts bytes
        if lines[line - 1][column:].startswith(old):
            mutants.append(Mutant(name, line, column, old, new))

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> None:
        old, new = OPERATORS.get(type(operator), ("", ""))
        if old and left.end_lineno == right.lineno and left.end_col_offset is not None:
            text = lines[right.lineno - 1].encode()[left.end_col_offset : right.col_offset].decode()
            if old in text and "#" not in text:
                add(right.lineno, left.end_col_offset + len(text[: text.index(old)].encode()), old, new)

    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.BinOp(left=left, op=operator, right=right):
                between(left, right, operator)
            case ast.Compare(left=left, ops=operators, comparators=others):
                for one, operator, other in zip([left, *others], operators, others, strict=False):
                    between(one, other, operator)
            case ast.BoolOp(op=operator, values=values):
                for one, other in itertools.pairwise(values):
                    between(one, other, operator)
            case ast.UnaryOp(op=ast.USub()):
                add(node.lineno, node.col_offset, "-", "+")
            case ast.UnaryOp(op=ast.Not()):
                add(node.lineno, node.col_offset, "not ", "")
            case ast.If(test=test) | ast.IfExp(test=test) if test.lineno == test.end_lineno:
                old = ast.get_source_segment(source, test) or ""
                add(test.lineno, test.col_offset, old, f"(not ({old}))")
            case ast.Constant(value=bool() as value):
                add(node.lineno, node.col_offset, str(value), str(not value))
            case ast.Constant(value=int() | float() as value):
                old = ast.get_source_segment(source, node) or ""
                add(node.lineno, node.col_offset, old, repr(value + 1) if value in (0, 1) else repr(value * 2))
    return mutants


def drawn(folders: list[Path], count: int, seed: int) -> list[Mutant]:
    """``count`` random lines of the folders, each with one random change."""
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            for mutant in changes(path.resolve()):
                lines.setdefault((mutant.path, mutant.line), []).append(mutant)
    rng = random.Random(seed)
    return [rng.choice(lines[line]) for line in rng.sample(sorted(lines), min(count, len(lines)))]


def stages(mutant: Mutant) -> list[list[str]]:
    """The tests that a mutant meets, the likeliest to fail first."""
    module = Path(mutant.path).relative_to("src/linkwise").with_suffix("")
    package = Path("tests", module.parts[0])
    mirrored = Path("tests", *module.parent.parts, f"test_{module.name}.py")
    nearest = next((p for p in (mirrored, mirrored.parent) if (ROOT / p).exists()), package)
    others = [str(p) for name in CORE if (ROOT / (p := Path("tests", name))).exists() and p != package]
    chosen = [[str(nearest)], [str(package), f"--deselect={nearest}"], ["tests/laws"], others]
    return [stage for stage in chosen if (ROOT / stage[0]).exists() and stage[1:] != [f"--deselect={stage[0]}"]]


def judge(mutant: Mutant, checkout: Path, limit: float, most: int) -> dict[str, object]:
    """Run the tests against a mutant in a copy of the checkout, and say which stage killed it, if any."""
    path = checkout / mutant.path
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    line = lines[mutant.line - 1]
    lines[mutant.line - 1] = line[: mutant.column] + mutant.new + line[mutant.column + len(mutant.old) :]
    path.write_text("".join(lines), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    start, killed = time.monotonic(), ""
    try:
        for stage in stages(mutant)[:most]:
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *stage]
            try:
                run = subprocess.run(
                    command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=limit, check=False
                )
            except subprocess.TimeoutExpired:
                killed = f"{stage[0]}: timeout"
                break
            if run.returncode not in (0, 5):  # (5: no tests were collected)
                failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                killed = failed[0][:200] if failed else f"{stage[0]}: exit status {run.returncode}"
                break
    finally:
        path.write_text(source, encoding="utf-8")
    return {**asdict(mutant), "killed": killed, "seconds": round(time.monotonic() - start, 1)}


def main() -> int:
    """Draw mutants, judge those that have no result yet, print the share that lives."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="source folders or files")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for one stage of one mutant")
    parser.add_argument("--stages", type=int, default=4, help="how many of the stages a mutant meets at most")
    parser.add_argument("--resume", type=Path, default=Path("mutants.jsonl"), help="file of results, added to")
    options = parser.parse_args()
    results = [json.loads(line) for line in options.resume.read_text().splitlines()] if options.resume.exists() else []
    done = {(r["path"], r["line"], r["column"]) for r in results}
    mutants = [m for m in drawn(options.folders, options.count, options.seed) if (m.path, m.line, m.column) not in done]
    with tempfile.TemporaryDirectory() as temporary:
        free: SimpleQueue[Path] = SimpleQueue()
        for k in range(options.jobs):
            copy = Path(temporary) / str(k)
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "build", "out", "__pycache__"))
            free.put(copy)

        def work(mutant: Mutant) -> None:
            checkout = free.get()
            try:
                result = judge(mutant, checkout, options.limit, options.stages)
            finally:
                free.put(checkout)
            results.append(result)
            with options.resume.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
            print(
                f"{mutant.path}:{mutant.line}: {mutant.old!r} -> {mutant.new!r}: {result['killed'] or 'LIVES'}", flush=True
            )

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(work, mutants))
    living = [r for r in results if not r["killed"]]
    print(f"{len(living)} of {len(results)} mutants live ({len(living) / max(len(results), 1):.1%})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
