"""Every algebraic function of SpaceLib on symbols: exact there, and at random numbers what the numeric function gives."""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import linkwise.spacelib as sl
from linkwise.errors import ArgumentError, MissingExtraError
from linkwise.expr import Expr, evaluate, symbol
from linkwise.spacelib.names import NAMES

RNG = np.random.default_rng(11)
X, Y, Z, U, REV, PRI = sl.X, sl.Y, sl.Z, sl.U, sl.Rev, sl.Pri


def numbers(*shape: int) -> Any:
    """Random numbers, nested lists of them."""
    return RNG.uniform(0.3, 1.5, shape).round(3).tolist()


def point() -> list[Any]:
    return [*numbers(3), 1]


def line() -> list[Any]:
    return [*numbers(3, 2), [1, 0]]


def rotation() -> list[list[float]]:
    """A rotation, no angle of which is near a lock."""
    q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    q = q if np.linalg.det(q) > 0 else -q
    return q.tolist() if (np.abs(q) < 0.9).all() else rotation()  # type: ignore[no-any-return]


def position() -> list[Any]:
    return [*([*row, shift] for row, shift in zip(rotation(), numbers(3), strict=True)), [0, 0, 0, 1]]


def velocity() -> list[Any]:
    x, y, z, u, v, w = numbers(6)
    return [[0, -z, y, u], [z, 0, -x, v], [-y, x, 0, w], [0, 0, 0, 0]]


def acceleration() -> list[Any]:
    return [*numbers(3, 4), [0, 0, 0, 0]]


def action() -> list[Any]:
    x, y, z, u, v, w = numbers(6)
    return [[0, -z, y, u], [z, 0, -x, v], [-y, x, 0, w], [-u, -v, -w, 0]]


def inertia() -> list[list[float]]:
    """A symmetric, positive definite matrix."""
    points = RNG.uniform(-1, 1, (8, 4))
    made = points.T @ points
    return (0.5 * (made + made.T)).tolist()  # type: ignore[no-any-return]


ANGLES = [numbers(3) for _ in range(3)]
J, W, H = inertia(), velocity(), acceleration()
CARDAN, EULER = (Y, X, Z), (Z, X, Z)

SAMPLES: dict[str, list[list[Any]]] = {
    # section 3.1
    "dhtom": [[REV, *numbers(6)], [PRI, *numbers(6)]],
    "dhtomstd": [numbers(4)],
    "extract": [[rotation()], [position()]],
    "mtoscrew": [[position()]],
    "screwtom": [[numbers(3), 0.7, point(), 0.3], [numbers(3), 0.7, 0.3, point()]],
    "rotat": [[numbers(3), 0.7]],
    "rotat2": [[a, 0.7] for a in (X, Y, Z)],
    "rotat24": [[X, 0.7, point()]],
    "rotat34": [[Y, 0.7, point()]],
    "traslat": [[numbers(3), 0.4]],
    "traslat2": [[Y, 0.4]],
    "traslat24": [[Z, 0.4, point()], [U, 0.4, point()]],
    # section 3.2
    "gtom": [numbers(3)],
    "gtomgapt": [[numbers(3, 3)], [H]],
    "makel": [[REV, numbers(3), 0.2, point()], [PRI, numbers(3), 0.2, point()]],
    "makel2": [[REV, X, 0.2, point()], [REV, Z, 0.2, point()]],
    "wtol": [[W]],
    "wtovel": [[W]],
    "veactowh": [[REV, 0.4, 0.9], [PRI, 0.4, 0.9]],
    "vactowh2": [[REV, X, 0.4, 0.9], [PRI, Y, 0.4, 0.9]],
    "vactowh3": [[REV, X, 0.4, 0.9, point()], [PRI, Y, 0.4, 0.9, point()]],
    "coriolis": [[H, acceleration(), W, velocity()]],
    # section 3.3 and 5
    "dyn_eq": [
        [J, velocity(), action(), mask]
        for mask in ([[1] * 6, [0] * 6], [[0] * 6, [1] * 6], [[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]])
    ],
    "actom": [numbers(6)],
    "jtoj": [[2.0, 0.9, 0.8, 0.7, 0.01, 0.02, 0.03, *numbers(3)]],
    "PseDot": [[W, action()]],
    # section 3.4
    "normskew": [[numbers(3, 3), 1], [numbers(4, 4), -1]],
    "mami": [[W, position()]],
    "miam": [[W, position()]],
    "miamit": [[J, position()]],
    "mamt": [[J, position()]],
    "grad": [[0.7]],
    "deg": [[0.7]],
    "rad": [[40.0]],
    "invers": [[position()]],
    "mtov": [[numbers(3, 3)], [H]],
    "vtom": [[numbers(3)]],
    "skew": [[H, J], [numbers(2, 2), numbers(2, 2)]],
    "tracljlt": [[velocity(), J, velocity()]],
    # section 3.5
    "cardator": [[ANGLES[0], *CARDAN], [ANGLES[0], *EULER]],
    "rtocarda": [[rotation(), *CARDAN], [rotation(), *EULER]],
    "cardatom": [[ANGLES[0], *CARDAN, point()]],
    "mtocarda": [[position(), *CARDAN], [position(), *EULER]],
    "cardatow": [[*ANGLES[:2], *CARDAN, point()], [*ANGLES[:2], *EULER, point()]],
    "wtocarda": [[position(), W, *CARDAN], [position(), W, *EULER]],
    "cardtoom": [[*ANGLES[:2], *CARDAN]],
    "cardtome": [[*ANGLES[:2], *CARDAN], [*ANGLES, *EULER]],
    "cardatoh": [[*ANGLES, *CARDAN, point()], [*ANGLES, *EULER, point()]],
    "htocarda": [[position(), W, H, *CARDAN], [position(), W, H, *EULER]],
    "cardatog": [[*ANGLES, *CARDAN], [*ANGLES, *EULER]],
    "cardompt": [[*ANGLES, *CARDAN], [*ANGLES, *EULER]],
    "cardatol": [[ANGLES[0], *CARDAN], [ANGLES[0], *EULER]],
    "cardtowp": [[ANGLES[0], *CARDAN], [ANGLES[0], *EULER]],
    "inva": [[0.3, 0.5, 1, X, Y, Z], [0.3, 0.5, -1, Y, X, Z], [0.3, 0.5, 1, Z, X, Z]],
    # section 3.6
    "framep": [[point(), point(), point(), X, Y], [point(), point(), point(), Z, Y]],
    "frame4p": [[point(), point(), point(), Y, Z]],
    "framev": [[numbers(3), numbers(3), Y, X]],
    "frame4v": [[point(), numbers(3), numbers(3), X, Z]],
    # section 3.7
    "angle": [[point(), point(), point()]],
    "dist": [[point(), point()]],
    "distp": [[point(), point()]],
    "intermed": [[point(), 0.4, point(), 0.7]],
    "middle": [[point(), point()]],
    "vect": [[point(), point()]],
    "line2p": [[point(), point()]],
    "linpvect": [[point(), numbers(3)]],
    "intersec": [[line(), line()]],
    "projponl": [[point(), line()], [line(), point()]],
    "distpp": [[numbers(4), point()]],
    "project": [[point(), numbers(4)]],
    "plane": [[point(), point(), point()]],
    "plane2": [[point(), numbers(3)]],
    "inter2pl": [[numbers(4), numbers(4)]],
    "interlpl": [[line(), numbers(4)]],
    # section 3.8
    "molt": [[numbers(2, 3), numbers(3, 2)]],
    "rmolt": [[numbers(2, 3), 0.4]],
    "ssum": [[numbers(2, 3), numbers(2, 3)]],
    "sub": [[numbers(4), numbers(4)]],
    "crossmto": [[numbers(3, 3), numbers(3, 3)]],
    "crosstom": [[numbers(3), numbers(3)], [numbers(3, 3), numbers(3, 3)]],
    "transp": [[numbers(2, 3)]],
    "pseudinv": [[numbers(3, 2)]],
    "cross": [[numbers(3), numbers(3)]],
    "dot": [[numbers(3), numbers(3)]],
    "dot3": [[numbers(3), numbers(3)]],
    "dot2": [[numbers(5), numbers(5)]],
    "mod": [[numbers(3)]],
    "modulus": [[numbers(5)]],
    "unitv": [[numbers(3)]],
    "vector": [[numbers(3), 0.7]],
    # section 3.9 and 4
    "mcopy": [[numbers(2, 3)]],
    "mmcopy": [[numbers(3, 4), 2, 3]],
    "mvcopy": [[numbers(3, 4), 3, 4, 2, 0]],
    "vmcopy": [[numbers(3), 3, 2, 0, numbers(3, 4), 3, 4]],
    "solve_l": [[numbers(3, 3), numbers(3)]],
    "minvers": [[numbers(3, 3)]],
    "linears": [[[[3.1, 0.6, 1.2], [0.4, 0.9, 0.7]], 2, 3, 2, 2, 1, [-1]]],  # the first pivot is the greatest
}
"""Arguments of every algebraic function. Numbers with a point become symbols; whole numbers stay what they are."""

NUMERIC = {
    "normal": "an iteration",
    "normal3": "an iteration",
    "normal_g": "an iteration",
    "jrand": "random numbers",
    "aaxis": "an axis code gives numbers",
    "clearmat": "sizes give numbers",
    "idmat": "sizes give numbers",
    "fprintm": "printing",
    "printm": "printing",
    "prmat": "printing",
}
"""What takes no symbols, or has no argument that could be one."""

SYMPY_ONLY = {"linears"}
"""Whether a Linkwise expression is zero cannot be known."""

OF_ANY_SIZE = {
    *("molt", "ssum", "sub", "transp", "pseudinv", "dot2", "mod", "modulus", "vector"),
    *("mmcopy", "mvcopy", "vmcopy", "solve_l", "minvers", "linears"),
}
"""What has no shape of its own that could be wrong, but for a number where an array is meant."""

OF_ANYTHING = {"rmolt", "mcopy"}
"""What takes numbers and arrays alike."""

CASES = [pytest.param(name, args, id=f"{name}-{k}") for name, cases in SAMPLES.items() for k, args in enumerate(cases)]


@pytest.mark.parametrize(("name", "args"), CASES)
def test_sympy_result_is_the_numeric_one_at_random_numbers(name: str, args: list[Any]) -> None:
    found, stand_in = symbols(lambda name: sympy.Symbol(name, real=True))
    made = flat(getattr(sl, name)(*replaced(args, stand_in)))
    assert not any(isinstance(item, float) for item in made)
    at = sympy.lambdify(list(found), made, modules="math", cse=True)
    close(at(*found.values()), flat(getattr(sl, name)(*args)))


@pytest.mark.parametrize(("name", "args"), CASES)
def test_linkwise_result_is_the_numeric_one_at_random_numbers(name: str, args: list[Any]) -> None:
    found, stand_in = symbols(symbol)
    if name in SYMPY_ONLY:
        with pytest.raises(ArgumentError, match="holds Linkwise expressions"):
            getattr(sl, name)(*replaced(args, stand_in))
        return
    made = flat(getattr(sl, name)(*replaced(args, stand_in)))
    assert any(isinstance(item, Expr) for item in made)
    close(evaluate(made, found), flat(getattr(sl, name)(*args)))


@pytest.mark.parametrize(("name", "args"), CASES)
def test_nan_is_refused(name: str, args: list[Any]) -> None:
    for place, arg in enumerate(args):
        if has_numbers(arg):
            with pytest.raises(ArgumentError, match=f"^{name}: .* is nan"):
                getattr(sl, name)(*args[:place], with_nan(arg), *args[place + 1 :])


@pytest.mark.parametrize(("name", "args"), CASES)
def test_wrong_shape_is_refused(name: str, args: list[Any]) -> None:
    for place, arg in enumerate(args):
        array = "one" if name in OF_ANYTHING else 1.0 if name in OF_ANY_SIZE else np.zeros((2, 7))
        wrong = array if isinstance(arg, list) else "one"
        with pytest.raises(ArgumentError, match=f"^{name}: "):
            getattr(sl, name)(*args[:place], wrong, *args[place + 1 :])


def test_no_function_is_forgotten() -> None:
    assert SAMPLES.keys().isdisjoint(NUMERIC)
    assert SAMPLES.keys() | NUMERIC.keys() == {name.function for name in NAMES if name.matlab}


def symbols(make: Callable[[str], Any]) -> tuple[dict[Any, float], Callable[[float], Any]]:
    """What each symbol stands for, and what makes them: one for each number, with a sign for its opposite."""
    found: dict[Any, float] = {}
    known: dict[float, Any] = {}

    def stand_in(value: float) -> Any:
        size = abs(value)
        if size not in known:
            known[size] = make(f"x{len(known)}")
            found[known[size]] = size
        return known[size] if value >= 0 else -known[size]

    return found, stand_in


def replaced(value: Any, stand_in: Callable[[float], Any]) -> Any:
    """The arguments with something else in the place of each number with a point."""
    if isinstance(value, list):
        return [replaced(item, stand_in) for item in value]
    return stand_in(value) if isinstance(value, float) else value


def with_nan(value: Any) -> Any:
    """An argument whose first number with a point is NaN."""
    left = [math.nan]
    return replaced(value, lambda number: left.pop() if left else number)


def has_numbers(value: Any) -> bool:
    return any(has_numbers(item) for item in value) if isinstance(value, list) else isinstance(value, float)


def flat(value: Any) -> list[Any]:
    """All the scalars of a result, or of a tuple of results."""
    if isinstance(value, tuple):
        return [item for part in value for item in flat(part)]
    return list(value.ravel()) if isinstance(value, np.ndarray) else [value]


def close(got: Any, wanted: Any) -> None:
    """Equal to rounding: some hundred operations of numbers up to 100, each off by half a unit in the last place."""
    wanted = np.asarray(wanted, dtype=float)
    np.testing.assert_allclose(np.asarray(got, dtype=float), wanted, rtol=0, atol=1e-12 * max(1.0, np.abs(wanted).max()))


def test_without_sympy_it_is_said_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own symbols need none; SymPy's do, wherever they go."""
    x, q = sympy.Symbol("x"), symbol("q")
    monkeypatch.setitem(sys.modules, "sympy", None)
    assert evaluate([sl.deg(q)], {q: math.pi}) == [180.0]
    for call in (lambda: sl.deg(x), lambda: sl.rotat2(Z, x), lambda: sl.intersec(line(), [[x, 1], [0, 1], [0, 1], [1, 0]])):
        with pytest.raises(MissingExtraError, match=r'need SymPy: pip install "sympy>=1.12"'):
            call()
