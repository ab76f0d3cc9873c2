"""The public face: light to import, every name documented, every example in a docstring true."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import linkwise
from linkwise.errors import EXTRAS

HEAVY = ("matplotlib", "sympy", "scipy", "llvmlite", "rich", "click", "platformdirs", "pinocchio", "mujoco", "pandas", "jax")
"""Libraries that are imported where they are used."""

LIBRARIES = {f"linkwise.arrays.{name}": name for name in ("torch", "jax", "dask", "xarray")}
LIBRARIES["linkwise.arrays.traced_function"] = "torch"
"""What modules import at once: they are only imported when an array of their library has come."""

MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(linkwise.__path__, "linkwise.")
    if not name.endswith("__main__") and (name not in LIBRARIES or importlib.util.find_spec(LIBRARIES[name]))
)


def in_a_fresh_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_brings_nothing_heavy() -> None:
    loaded = in_a_fresh_process("import sys, linkwise; print(*sys.modules)").split()
    assert "linkwise" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_describing_and_computing_bring_nothing_heavy() -> None:
    """A kernel that is in the cache runs without LLVM being loaded; a table needs no library."""
    code = """
import sys, linkwise as lw
arm = lw.robots.load("planar_2r")
repr(arm)
arm.forward_kinematics([0.0, 0.0])
print(*sys.modules)
"""
    in_a_fresh_process(code)
    loaded = in_a_fresh_process(code).split()
    heavy = {name for name in HEAVY if name in loaded} - {"platformdirs"}
    assert heavy <= (set() if sys.platform == "linux" else {"llvmlite"})


def test_importing_is_quick() -> None:
    """0.2 s at most where nothing else runs, as the median of five; three times that here, where tests run beside."""
    code = "import numpy, time; t = time.perf_counter(); import linkwise; print(time.perf_counter() - t)"
    times = sorted(float(in_a_fresh_process(code)) for _ in range(5))
    print(f"median {times[2]:.3f} s without NumPy")
    assert times[2] < 0.6
    start = time.perf_counter()
    in_a_fresh_process("import linkwise")
    print(f"{time.perf_counter() - start:.3f} s with Python and NumPy")


def test_no_warning_and_no_output_at_import() -> None:
    assert in_a_fresh_process("import linkwise") == ""


@pytest.mark.parametrize("name", MODULES)
def test_each_module_imports_alone(name: str) -> None:
    """In this process; that one needs no other first is seen by importing it where nothing of Linkwise is loaded."""
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), f"{name} has no docstring"


def test_no_module_needs_another_to_be_imported_first() -> None:
    """Each package in turn with all of Linkwise forgotten. What is in a package is always imported after the package, and
    ``linkwise`` itself imports nothing, so that no other order can come about.
    """
    first = [name for name in MODULES if name.count(".") == 1]
    code = f"""
import sys, importlib
for name in {first!r}:
    for loaded in [key for key in sys.modules if key.split(".")[0] == "linkwise"]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""
    assert in_a_fresh_process(code) == ""


EXTRA_MODULES = ("linkwise.plot.notebook_figure", "linkwise.server.opcua.", "linkwise.arrays.")
"""Modules of which each needs an extra, and which are imported where it is used; every other imports without any."""


def test_every_other_module_imports_where_no_extra_is_installed() -> None:
    """So each command runs, or says in a line what to install, in an installation of the required libraries alone."""
    optional = sorted({re.split(r"[<>=[]", library)[0] for extra in EXTRAS.values() for library in extra})
    code = f"""
import sys, importlib
sys.modules.update(dict.fromkeys({[*optional, "imageio_ffmpeg", "jax", "pinocchio", "mujoco"]!r}))
for name in {[name for name in MODULES if not name.startswith(EXTRA_MODULES)]!r}:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""
    assert in_a_fresh_process(code) == ""


def test_every_public_name_is_there_and_documented() -> None:
    assert len(set(linkwise.__all__)) == len(linkwise.__all__)
    for name in linkwise.__all__:
        value = getattr(linkwise, name)
        assert (inspect.getdoc(value) or "").strip(), f"linkwise.{name} has no docstring"
        assert name in dir(linkwise)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        linkwise.nonsense  # noqa: B018
    assert linkwise.__version__


def test_every_public_method_is_documented() -> None:
    for kind in (linkwise.Mechanism, linkwise.Link, linkwise.Motor, linkwise.Inertia):
        for name, member in inspect.getmembers(kind):
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                assert (inspect.getdoc(member) or "").strip(), f"{kind.__name__}.{name} has no docstring"


def documented(module: ModuleType) -> list[doctest.DocTest]:
    """The examples of a module, those of decorated functions too; in SpaceLib's modules all its names are at hand."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = dict(vars(module))
    if module.__name__.startswith("linkwise.spacelib"):
        names = {**vars(importlib.import_module("linkwise.spacelib")), "np": np, **names}
    found = {test.name: test for test in finder.find(module, globs=names)}
    for name, value in list(vars(module).items()):
        inner = inspect.unwrap(value) if inspect.isfunction(value) else value
        if inner is not value and inner.__globals__ is vars(module):
            title = f"{module.__name__}.{name}"
            found.update((test.name, test) for test in finder.find(inner, title, module, names))
    return [test for test in found.values() if test.examples]


@pytest.mark.parametrize("name", [*MODULES, "linkwise"])
def test_examples(name: str) -> None:
    """Every example in a docstring gives what it shows."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.FAIL_FAST)
    with np.printoptions(precision=8, suppress=False, linewidth=75, threshold=1000):
        for test in documented(importlib.import_module(name)):
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", ["linkwise.export.ports", "linkwise.model.joints.joint"])
def test_examples_of_a_file_that_is_run_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pytest and doctest run a file: as a second module, in whose tables nothing has registered itself."""
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    alone = importlib.util.spec_from_file_location("alone", found.origin)
    assert alone is not None
    assert alone.loader is not None
    module = importlib.util.module_from_spec(alone)
    monkeypatch.setitem(sys.modules, "alone", module)
    alone.loader.exec_module(module)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.FAIL_FAST)
    for test in documented(module):
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 0


def test_there_are_examples() -> None:
    count = sum(len(documented(importlib.import_module(name))) for name in MODULES)
    print(f"{count} docstrings with examples")
    assert count >= 25


def test_teeth() -> None:
    """An example that is wrong fails."""
    module = ModuleType("wrong")
    module.__doc__ = ">>> 1 + 1\n3\n"
    runner = doctest.DocTestRunner(verbose=False)
    for test in documented(module):
        runner.run(test, out=lambda text: None)
    assert runner.failures == 1


def test_documented_parameters_exist() -> None:
    """No section "Parameters" names an argument that the function does not have, as after a rename."""
    stale = []
    for path in sorted(Path(linkwise.__path__[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or node.args.kwarg or node.args.vararg:
                continue
            section = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")[2]
            section = re.split(r"\n\n\w[\w ]*\n-{3,}", section)[0]
            documented = re.findall(r"^(\w+(?:, \w+)*)(?: :.*)?$", section, re.MULTILINE)
            known = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            named = {name for names in documented for name in names.split(", ")}
            stale += [f"{path.name}:{node.lineno}: {node.name}: {name}" for name in sorted(named - known)]
    assert stale == []
