"""Every function with every argument empty, ragged, of a wrong shape, not finite, or no number: the package's own error."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import Expr, symbol
from linkwise.spacelib import ORIGIN, Pri, Row, X, Y, Z, cardatom, cardatow, dhtom, jtoj, linpvect, plane2
from linkwise.spacelib.names import NAMES

POINT = np.array([1.0, 2.0, 3.0, 1.0])
M = np.asarray(cardatom([0.1, 0.2, 0.3], X, Y, Z, POINT))
W = np.asarray(cardatow([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], X, Y, Z, POINT))
OTHER = np.array([3.0, -1.0, 0.5, 1.0])


def each(names: str, value: Any) -> dict[str, Any]:
    """One value for several arguments."""
    return {name: value for name in names.split()}  # noqa: C420


BY_NAME: dict[str, Any] = {
    **each("theta d b a alpha q phi h pitch qp qpp r g m x y", 0.5),
    **each("gx gy gz fx fy fz cx cy cz jxy jyz jxz xg yg zg beta", 0.1),
    **each("jxx jyy jzz", 1.0),
    **{"jtype": Pri, "i": X, "j": Y, "k": Z, "a1": X, "a2": Y, "n": 2, "sign": 1, "sig": 1, "dim": 3, "id": 3},
    **{"u": [0.0, 0.6, 0.8], "v": [1.0, 2.0, 3.0], "v1": [1.0, 2.0, 3.0], "v2": [0.0, 1.0, 0.0]},
    **{"P": POINT, "O": POINT, "P1": POINT, "P2": OTHER, "P3": ORIGIN, "Q": M, "M": M, "R": M[:3, :3], "A": M, "B": M},
    **each("W H0 H1 W0 W1 G L L1 L2 Wp", W),
    **{"H": W @ W, "F": W - W.T, "J": jtoj(1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3), "A1": M, "A2": M},
    **{"l": linpvect(POINT, [1, 2, 3]), "l1": linpvect(POINT, [1, 2, 3]), "l2": linpvect(OTHER, [1, 0, 0])},
    **{"pl": plane2(POINT, [1, 2, 3]), "pl1": plane2(POINT, [1, 2, 3]), "pl2": plane2(OTHER, [1, 0, 0]), "test": True},
    **{"imax": 2, "jmax": 3, "min": 0.0, "max": 1.0, "rng": 1, "im": 2, "jm": 2, "rows": 4, "cols": 4, "val": 2},
    **{"idim": 4, "jdim": 4, "nsol": 1, "vpr": -1, "tolerance": 1e-6, "mod": 2.0, "s": "text", "out": 1, "grpout": 1},
    **{"type": Row, "var": [[1] * 6, [0] * 6]},
}
ANGLES = {**each("q qp qpp", [0.1, 0.2, 0.3]), "m": M}
OF_ANGLES = (
    "cardator cardatom cardatow cardatoh cardatog cardatol cardtowp cardtoom cardtome cardompt mtocarda wtocarda htocarda "
    "omegapto_matrix"
)
OWN: dict[str, dict[str, Any]] = {
    **each(OF_ANGLES, ANGLES),
    **{row.function: ANGLES for row in NAMES if row.group == "Fixed conventions"},
    **each("cross dot dot2 dot3 mod modulus", {"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0]}),
    **each("rotat2 rotat24 rotat34 traslat2 traslat24 makel2 vactowh2 vactowh3", {"a": Z}),
    "inva": {"alpha": 0.1, "i": X, "j": Y, "k": Z},
    "invers": {"m": M},
    "clearmat": {"m": 2, "n": 2},
    "prmat": {"m": M},
    "solve_l": {"b": POINT},
    "linears": {"H": M, "jmax": 3, "imax": 4},
    "moltmv3": {"A": M[:3, :3]},
    "mcopy34": {"A": M[:3, :3]},
    "vmcopy": {"v": POINT},
    "vcopy": {"v": POINT},
    "crosstom": {"A1": [1.0, 2.0, 3.0], "A2": [0.0, 1.0, 0.0]},
}

FUNCTIONS = {row.function: row.value for row in NAMES if callable(row.value)}


def parameters(name: str) -> dict[str, Any]:
    """The arguments of a call of a function that is right, by name."""
    return {key: OWN.get(name, {}).get(key, BY_NAME.get(key)) for key in inspect.signature(FUNCTIONS[name]).parameters}


class Nothing:
    """Something that is not a number and no array."""


WRONG: list[Any] = [
    [],
    [[]],
    [[[]]],
    [[1.0, 2.0], [3.0]],
    [[1.0], 2.0, [[3.0]]],
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros((0, 4, 4)),
    np.zeros((4, 0)),
    np.ones(2),
    np.ones(7),
    np.ones((2, 5)),
    np.ones((5, 3, 2)),
    np.full((2, 3, 4, 5), 1.0),
    math.nan,
    math.inf,
    [1.0, math.nan, 0.0],
    [1.0, -math.inf, 0.0, 1.0],
    np.full((4, 4), math.nan),
    np.full((3, 3), math.inf),
    10**400,
    [10**400] * 3,
    1e400,
    1 + 2j,
    np.ones(3, dtype=complex),
    "x",
    "1.0",
    b"x",
    ["a", "b", "c"],
    [None] * 3,
    [[None] * 4] * 4,
    None,
    True,
    [True, False, True],
    {},
    {"x": 1.0},
    {1.0, 2.0, 3.0},
    Nothing(),
    [Nothing()] * 3,
    Nothing,
    len,
    iter([1.0, 2.0, 3.0]),
    np.array("2020-01-01", dtype="datetime64[D]"),
    np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]),
    np.ma.masked_array([1.0, 2.0, 3.0], mask=[True, False, False]),
    Fraction(1, 3),
    sympy.nan,
    sympy.oo,
    sympy.I,
    [sympy.nan, 1, 2],
    [sympy.Symbol("x"), symbol("y"), 1.0],
    [sympy.Symbol("x"), "a", 1.0],
    [sympy.Symbol("x"), None, 1.0],
    -1,
    99,
    2.5,
    np.float64(-3.0),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_right_call(name: str, capsys: Any) -> None:
    """What is changed in the other test is right before."""
    FUNCTIONS[name](**parameters(name))
    capsys.readouterr()


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if parameters(name)])
def test_one_wrong_argument(name: str, capsys: Any) -> None:
    """The call is refused with the package's error, or has a result of finite numbers, symbols, or NaN where it says so."""
    for key, wrong in product(parameters(name), WRONG):
        outcome = outcome_of(name, key, wrong)
        assert outcome == "", (key, wrong, outcome)
    capsys.readouterr()


def outcome_of(name: str, key: str, wrong: Any) -> str:
    """What is bad about how a function takes a wrong argument; nothing where it is as it should be."""
    try:
        result = FUNCTIONS[name](**parameters(name) | {key: wrong})
    except ArgumentError as error:
        return "" if str(error).startswith((name, "i, j, k are")) or name in SHORT else str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if finite(name, result) else repr(result)


SHORT = {row.function for row in NAMES if row.group in ("Fixed conventions", "Further names of C and Maple", "Printing")}
WITH_NAN = {"intersec", "interlpl", "inter2pl"}


def finite(name: str, result: Any) -> bool:
    """Whether all numbers of a result are finite; symbols count as such."""
    parts = result if isinstance(result, tuple) else (result,)
    for part in parts:
        items = np.ravel(np.asarray(part, dtype=object)).tolist()
        numbers = [item for item in items if not isinstance(item, (Expr, sympy.Basic, str)) and item is not None]
        if name not in WITH_NAN and not all(math.isfinite(item) for item in numbers):
            return False
    return True


@pytest.mark.parametrize("name", ["modulus", "mod", "dot2", "vector"])
@pytest.mark.parametrize("empty", [[], np.zeros((3, 0)), np.zeros((0,))])
def test_vectors_without_elements(name: str, empty: Any) -> None:
    call: Callable[..., Any] = FUNCTIONS[name]
    with pytest.raises(ArgumentError, match=f"^{name}: "):
        call(empty, *([empty] if name == "dot2" else [1.0] if name == "vector" else []))


def test_whole_numbers_in_floats() -> None:
    """An axis or a kind of joint that was read from a file is a float; its value counts."""
    for kind in (0.0, np.float64(0.0), np.array(0.0), np.array([0.0]), np.int8(0), sympy.Integer(0)):
        assert np.array_equal(dhtom(kind, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6), dhtom(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
