"""Symbols with names that mean something elsewhere: handled in every form, or refused by name.

All names stand in one mechanism, each for another number, so that two that are mistaken for each other change the result.
"""

from __future__ import annotations

import ctypes
import pickle
import subprocess
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise.equations.derive import derive
from linkwise.equations.tape_to_sympy import steps, to_sympy
from linkwise.errors import ArgumentError
from linkwise.expr.node import parameter
from linkwise.expr.sympy.from_sympy import from_sympy
from linkwise.kernel import Kernel
from linkwise.kernel.tape import Tape
from support.compilers import C, needs_c
from support.kernels_in_sympy import names, real
from support.random_mechanisms import relative

PYTHON = ["lambda", "for", "None", "self", "__import__", "exec('x')", "np", "float", "print"]
SYMPY = ["I", "E", "S", "N", "O", "Q", "pi", "zoo", "Matrix", "gamma", "oo"]
C_AND_OTHERS = ["double", "register", "restrict", "main", "sin", "fn", "__global__", "jit", "x_2_"]
PRINTED = ["x1", "t1", "c2", "s12", "M11", "tau", "tau9", "parameters", "XX1", "qd", "q"]
TEXT = [
    "link mass",
    "θ₁",
    "αβ",
    "α",
    "alpha",
    "масса",
    "質量",
    "1st",
    "a-b",
    "a_b",
    "a b",
    "$x$",
    "\\alpha",
    "{x}",
    "%d",
]
MORE_TEXT = ['"quoted"', "'q'", "_", "é", "x^2", "#", "&", "*/", "/*", "//", "m" * 200]
HOSTILE = [*PYTHON, *SYMPY, *C_AND_OTHERS, *PRINTED, *TEXT, *MORE_TEXT]

EXACT = 2e-13
"""A few thousand roundings of numbers of the size of the result."""


@cache
def arm() -> lw.Mechanism:
    """Seven links in a plane, each with eleven numbers: length, mass, centre of mass and tensor."""
    given = iter(lw.symbols(HOSTILE))
    links = []
    while (first := next(given, None)) is not None:
        length, mass, x, y, z, xx, yy, zz, xy, yz, xz = chain([first], (next(given, 0.0) for _ in range(10)))
        links.append(lw.Link.dh(a=length, convention="standard", mass=mass, com=(x, y, z), inertia=(xx, yy, zz, xy, yz, xz)))
    return lw.Mechanism(links, gravity=(0, -9.81, 0), name="hostile")


@cache
def kernel(name: str = "inverse_dynamics") -> Kernel:
    return arm().kernel(name, backend="numpy")


def values() -> dict[str, float]:
    """A number for each name that the mechanism has."""
    rng = np.random.default_rng(2)
    return dict(zip(arm().symbols, rng.uniform(0.3, 1.5, len(arm().symbols)).tolist(), strict=True))


def state() -> list[np.ndarray]:
    return list(np.random.default_rng(3).uniform(-2, 2, (3, arm().n)))


def wanted() -> np.ndarray:
    """From the mechanism with numbers: no name is left."""
    links = [
        link.replace(physical=False, mass=link.body.mass, com=link.body.com, inertia=link.body.tensor, dh_row=link.dh_row)
        for link in arm().links
    ]
    return arm().replace(links=links).substitute(values()).kernel("inverse_dynamics", backend="numpy")(*state())


def point() -> dict[str, float]:
    """A number for each element of the inputs, by its name."""
    return dict(zip(names(kernel().tape), [*np.concatenate(state()), *values().values()], strict=True))


def test_a_kernel_takes_them_in_order() -> None:
    assert set(arm().symbols) == set(HOSTILE)
    assert relative(kernel()(*state(), list(values().values())), wanted()) < EXACT


def test_they_are_pickled() -> None:
    again = pickle.loads(pickle.dumps(arm()))
    assert again == arm()
    assert again.symbols == arm().symbols
    assert again.links[0].after[0, 3] is parameter("lambda")


@pytest.mark.parametrize("evaluate", [False, True])
def test_to_sympy_and_back(evaluate: bool) -> None:
    tape = kernel("gravity_torque").tape
    made = to_sympy(tape, real(names(tape)), evaluate=evaluate)["tau"]
    assert {symbol.name for symbol in made.free_symbols} <= {*names(tape)}
    given = {"x": np.array([parameter(name) for name in names(tape)], dtype=object)}
    again = Kernel(Tape.from_graph("again", given, {"tau": from_sympy(made)[:, 0]}), "numpy")
    numbers = np.random.default_rng(4).uniform(0.3, 1.5, tape.input_count)
    assert relative(again(numbers), kernel("gravity_torque")(numbers[: arm().n], numbers[arm().n :])) < EXACT


def test_intermediate_names_are_not_those_of_symbols() -> None:
    tape = kernel().tape
    assignments, results = steps(tape, real(names(tape)))
    assert not {symbol.name for symbol, _ in assignments} & {*names(tape)}
    assert relative(evaluated(assignments, results), wanted()) < EXACT


def evaluated(assignments: Any, results: Any) -> np.ndarray:
    """What assignments and results give at `point`, read back with `from_sympy`."""
    known: dict[Any, Any] = {sympy.Symbol(name, real=True): value for name, value in point().items()}
    for name, right in assignments:
        assert name not in known, name
        known[name] = from_sympy(right, known)
    return np.asarray(from_sympy(results["tau"], known), dtype=float)[:, 0]


@pytest.mark.parametrize("form", ["recursive", "explicit", "harmonic"])
def test_printed_forms(form: str) -> None:
    """What is printed has the right value, and every name in a form that can be told from all others."""
    made = derive(arm(), "gravity_torque", form)
    assert made.residual < EXACT
    for text in (made.to_text(), made.to_markdown(), made.to_latex()):
        assert text
    latex = made.to_latex()
    assert latex.isascii()
    assert latex.count("{") == latex.count("}") or "{x}" in made.to_text()


def test_the_recursive_form_is_read_back() -> None:
    assert relative(evaluated(*derive(arm(), "inverse_dynamics").to_sympy()), wanted()) < EXACT


def test_python_source_runs() -> None:
    space: dict[str, Any] = {}
    exec(kernel().to_python(), space)
    found = space["inverse_dynamics"](*state(), np.array(list(values().values())))
    assert relative(np.ravel(found), wanted()) < EXACT


@needs_c
def test_c_source_compiles_and_runs(tmp_path: Path) -> None:
    source, library = tmp_path / "made.c", tmp_path / "made.so"
    source.write_text(kernel().to_c(), encoding="ascii")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0", "-fPIC", "-shared"]
    done = subprocess.run([str(C), *flags, "-o", library, source, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    function = ctypes.CDLL(str(library)).inverse_dynamics
    function.restype = None
    tau = np.zeros(arm().n)
    arrays = [*state(), np.array(list(values().values())), tau]
    function(*(np.ascontiguousarray(array).ctypes.data_as(ctypes.c_void_p) for array in arrays))
    assert relative(tau, wanted()) < EXACT


@pytest.mark.parametrize("language", ["to_jax", "to_cuda", "to_rust"])
def test_other_sources_have_ascii_identifiers(language: str) -> None:
    made = str(getattr(kernel(), language)())
    code = "\n".join(line for line in made.splitlines() if not line.lstrip().startswith(("#", "//", "*", "///")))
    assert code.isascii()


def test_substitute_takes_any_name() -> None:
    left = arm().substitute({"link mass": 2.0, "θ₁": 0.5}).substitute(pi=3.0, S=1.0)
    assert set(arm().symbols) - set(left.symbols) == {"link mass", "θ₁", "pi", "S"}
    with pytest.raises(ArgumentError, match="'nobody'"):
        arm().substitute(nobody=1.0)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\tb", "a\x00", "\u202e", "\ud800", " a", "m" * 201, 3, None])
def test_names_that_are_none_are_refused(name: object) -> None:
    with pytest.raises(ArgumentError, match="is not a name of a symbol"):
        lw.symbols([name])  # type: ignore[list-item]


def test_equal_names_are_one_symbol_and_others_are_not() -> None:
    a, b, again = lw.symbols(["m", "m ".strip(), "M"])
    assert a is b
    assert again is not a
    assert lw.symbols("m, m") == (a, a)


@pytest.mark.parametrize("form", ["recursive", "explicit", "harmonic"])
@pytest.mark.parametrize("name", ["q1", "qd2", "qdd1", "tau1"])
def test_a_symbol_called_as_a_coordinate_or_a_result_is_refused_where_it_would_be_printed(name: str, form: str) -> None:
    """Two things of one name in one equation cannot be told apart."""
    links = [lw.Link.dh(a=0.5, convention="standard", mass=mass) for mass in (1.0, lw.symbols(name))]
    with pytest.raises((ArgumentError, lw.errors.ModelError), match=f"'{name}'"):
        derive(lw.Mechanism(links, gravity=(0, -9.81, 0)), "inverse_dynamics", form)
