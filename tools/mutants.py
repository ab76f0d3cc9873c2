"""Mutation testing: change one operator, number or condition of a source line, and see whether a test fails.

    python tools/mutants.py record src/linkwise/{dynamics,kinematics,solve,expr} --tests tests/{dynamics,laws}
    python tools/mutants.py judge src/linkwise/{dynamics,kinematics,solve,expr} --count 200 --seed 1

``record`` runs the tests once under coverage.py (the package ``coverage``), and notes which test executes which
line and how long each takes.
``judge`` draws lines at random from the folders, each with one random change, and runs the tests that execute the changed
line against it, the quickest first, until one fails or ``--budget`` seconds of tests (as recorded) are over. A line that
runs only when its module is imported meets the tests that execute anything of its file. A mutant is killed by a failure;
one that takes longer than ``--limit`` seconds counts apart. Each result is a line of ``--results``: a run that was stopped
goes on from there. The work is done in copies of the checkout, in a temporary folder; `--checkout` names another one.
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

import coverage
import pytest

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


def changes(path: Path, root: Path) -> list[Mutant]:
    """Every change that a file offers: operators, numbers, conditions, signs."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    name = path.relative_to(root).as_posix()
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


def sample(folders: list[Path], root: Path, count: int, seed: int) -> list[Mutant]:
    """``count`` random lines of the folders, each with one random change."""
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            for mutant in changes(path.resolve(), root):
                lines.setdefault((mutant.path, mutant.line), []).append(mutant)
    rng = random.Random(seed)
    return [rng.choice(lines[line]) for line in rng.sample(sorted(lines), min(count, len(lines)))]


# Within pytest: this file is a plugin, which records coverage by test, or runs a list of tests in its order.

RECORD, SELECT = "MUTANTS_RECORD", "MUTANTS_SELECT"
"""Environment variables: the folder that coverage goes into; the file with the names of the tests to run."""

recorder = pytest.StashKey[coverage.Coverage]()
durations = pytest.StashKey[dict[str, float]]()


def pytest_configure(config: pytest.Config) -> None:
    """Start to record, in every process of the run."""
    if folder := os.environ.get(RECORD):
        sources = os.environ["MUTANTS_SOURCES"].split(os.pathsep)
        config.stash[durations] = {}
        config.stash[recorder] = coverage.Coverage(f"{folder}/coverage.{os.getpid()}", source=sources, config_file=False)
        config.stash[recorder].set_option("run:disable_warnings", ["no-data-collected"])
        config.stash[recorder].start()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write what was recorded."""
    if recorder in config.stash:
        config.stash[recorder].stop()
        config.stash[recorder].get_data().write()
        text = json.dumps(config.stash[durations])
        Path(os.environ[RECORD], f"durations.{os.getpid()}.json").write_text(text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Each test, with its fixtures, is a context of its own."""
    if recorder not in item.config.stash:
        return (yield)
    start = time.monotonic()
    item.config.stash[recorder].switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        item.config.stash[recorder].switch_context("")
        item.config.stash[durations][item.nodeid] = time.monotonic() - start


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of the list alone, in its order."""
    if file := os.environ.get(SELECT):
        order = {name: k for k, name in enumerate(json.loads(Path(file).read_text()))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def run_tests(checkout: Path, arguments: list[str], limit: float | None = None, **environment: str) -> int | None:
    """The exit status of pytest in a checkout; None if it took longer than the limit."""
    path = os.pathsep.join([str(checkout / "src"), str(Path(__file__).parent)])
    variables = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants", "-p", "no:cacheprovider", *arguments]
    try:
        return subprocess.run(
            command, cwd=checkout, env=variables, stdout=subprocess.DEVNULL, stderr=None, timeout=limit, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return None


def record(options: argparse.Namespace) -> None:
    """Run the tests once, and write which tests execute each line (``lines``) and how long each takes (``seconds``)."""
    lines: dict[str, dict[int, list[str]]] = {}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = os.pathsep.join(str(path.resolve()) for path in options.folders)
        tests = [str(path) for path in options.tests]
        run_tests(options.checkout, ["-n", str(options.jobs), *tests], **{RECORD: folder, "MUTANTS_SOURCES": sources})
        for path in Path(folder).glob("coverage.*"):
            data = coverage.CoverageData(str(path))
            data.read()
            for file in data.measured_files():
                of_file = lines.setdefault(str(Path(file).relative_to(options.checkout)), {})
                for line, names in data.contexts_by_lineno(file).items():
                    of_file.setdefault(line, []).extend(filter(None, names))
        for path in Path(folder).glob("durations.*"):
            seconds |= json.loads(path.read_text())
    options.coverage.write_text(json.dumps({"lines": lines, "seconds": seconds}))
    print(f"{len(seconds)} tests, {sum(seconds.values()):.0f} s, {sum(map(len, lines.values()))} lines")


def executed_lines(path: Path, line: int) -> range:
    """Lines of the smallest statement around one, of a compound statement its head.

    There are none outside of functions: they run in whichever test imports the module first.
    """
    lines = range(0)
    within = range(0)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno or node.lineno
            if line <= last and (not lines or last - node.lineno < len(lines)):
                lines = range(node.lineno, last + 1)
            elif line > last and isinstance(node, ast.FunctionDef):
                within = range(last, node.end_lineno or last)
    return lines if within else within


def tests_of(mutant: Mutant, root: Path, lines: dict, seconds: dict[str, float], budget: float) -> list[str]:
    """The tests to run against a mutant: those that execute it, the quickest first, within the budget."""
    of_file = lines.get(mutant.path, {})
    names = {name for line in executed_lines(root / mutant.path, mutant.line) for name in of_file.get(str(line), ())}
    names = names or set(itertools.chain.from_iterable(of_file.values()))
    ordered = sorted((name for name in names if name in seconds), key=lambda name: (seconds[name], name))
    total = itertools.accumulate(seconds[name] for name in ordered)
    return [name for name, until in zip(ordered, total, strict=True) if until <= budget] or ordered[:1]


def judge(mutant: Mutant, checkout: Path, tests: list[str], limit: float) -> dict[str, object]:
    """Run the tests against a mutant in a copy of the checkout."""
    path = checkout / mutant.path
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    line = lines[mutant.line - 1]
    lines[mutant.line - 1] = line[: mutant.column] + mutant.new + line[mutant.column + len(mutant.old) :]
    start, result = time.monotonic(), "no test"
    if tests:
        path.write_text("".join(lines), encoding="utf-8")
        try:
            with tempfile.NamedTemporaryFile("w", suffix=".json") as names:
                json.dump(tests, names)
                names.flush()
                files = sorted({name.split("::")[0] for name in tests})
                status = run_tests(checkout, ["-x", *files], limit, **{SELECT: names.name})
        finally:
            path.write_text(source, encoding="utf-8")
        result = {None: "time", 0: "lives", 5: "no test"}.get(status, "killed")  # (5: none was collected)
    return {**asdict(mutant), "tests": len(tests), "result": result, "seconds": round(time.monotonic() - start, 1)}


def judge_all(options: argparse.Namespace) -> None:
    """Draw mutants, judge those that have no result yet, print how many live."""
    results = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    done = {(r["path"], r["line"], r["column"]) for r in results}
    folders = [path.resolve() for path in options.folders]
    mutants = sample(folders, options.checkout, options.count, options.seed)
    executed = json.loads(options.coverage.read_text())
    with tempfile.TemporaryDirectory() as temporary:
        free: SimpleQueue[Path] = SimpleQueue()
        for k in range(options.jobs):
            copy = Path(temporary) / str(k)
            ignored = shutil.ignore_patterns(".git", ".venv", "build", "out", "__pycache__")
            shutil.copytree(options.checkout, copy, ignore=ignored)
            free.put(copy)

        def work(mutant: Mutant) -> None:
            tests = tests_of(mutant, options.checkout, executed["lines"], executed["seconds"], options.budget)
            checkout = free.get()
            try:
                result = judge(mutant, checkout, tests, options.limit)
            finally:
                free.put(checkout)
            results.append(result)
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
            print(f"{mutant.path}:{mutant.line}: {mutant.old!r} -> {mutant.new!r}: {result['result']}", flush=True)

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(work, (m for m in mutants if (m.path, m.line, m.column) not in done)))
    for kind in ("lives", "no test", "time", "killed"):
        print(f"{kind}: {sum(r['result'] == kind for r in results)} of {len(results)}")


def main() -> int:
    """Record which tests execute each line, or judge mutants."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("record", "judge"))
    parser.add_argument("folders", nargs="+", type=Path, help="source folders or files")
    parser.add_argument("--checkout", type=lambda text: Path(text).resolve(), default=Path(__file__).resolve().parents[1])
    parser.add_argument("--tests", nargs="+", type=Path, default=[Path("tests")], help="of the checkout, for record")
    parser.add_argument("--coverage", type=Path, default=Path("coverage.json"), help="written by record, read by judge")
    parser.add_argument("--results", type=Path, default=Path("mutants.jsonl"), help="results of judge, added to")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests, as recorded, for one mutant")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one mutant")
    options = parser.parse_args()
    (record if options.step == "record" else judge_all)(options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
