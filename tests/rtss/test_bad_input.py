"""Whatever is given, the functions of the toolbox answer, or refuse with the package's own errors."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise import rtss
from linkwise.errors import ArgumentError, LinkwiseError, ModelError

T = np.eye(4)
TWO = rtss.rt_twolink()
Q = [0.1, 0.2]
GOOD: dict[str, list[Any]] = {
    "rt_eul2tr": [0.1, 0.2, 0.3],
    "rt_rpy2tr": [0.1, 0.2, 0.3],
    "rt_tr2eul": [T],
    "rt_tr2rpy": [T],
    "rt_diff2tr": [np.ones(6)],
    "rt_ftrans": [T, np.ones(6)],
    "rt_tr2diff": [T, T],
    "rt_tr2jac": [T],
    "rt_accel": [TWO, Q, Q, Q],
    "rt_coriolis": [TWO, Q, Q],
    "rt_rne": [TWO, Q, Q, Q, [0, 0, 1], np.ones(6)],
    "rt_gravload": [TWO, Q, [0, 0, 1]],
    "rt_inertia": [TWO, Q],
    "rt_itorque": [TWO, Q, Q],
    "rt_friction": [TWO, Q],
    "rt_nofriction": [TWO, "all"],
    "rt_ikine": [TWO, T, Q, [1, 1, 0, 0, 0, 0]],
    "rt_fkine": [TWO, Q],
    "rt_jacob0": [TWO, Q],
    "rt_jacobn": [TWO, Q],
    "rt_maniplty": [TWO, Q, "y"],
    "rt_link": [[0, 1, 0, 0], "standard"],
    "rt_poses": ["puma560"],
    "rt_perturb": [TWO, 0.1, 0],
    "rt_quaternion": [[1, 0, 0], 0.2],
    "rt_qinterp": [rtss.rt_quaternion([1, 0, 0, 0]), rtss.rt_quaternion([1, 0, 0], 0.5), 0.5],
    "rt_robot": [[[0, 1, 0, 0]], "n", "m", "c"],
    "rt_fdyn": [rtss.rt_nofriction(TWO, "all"), 0.0, [0.0, 0.01], None, Q, Q],
    "rt_ctraj": [T, T, 3],
    "rt_jtraj": [Q, Q, 5, Q, Q],
    "rt_trinterp": [T, T, 0.5],
    "rt_oa2tr": [[0, 1, 0], [0, 0, 1]],
    "rt_rotvec": [[1, 0, 0], 0.2],
    "rt_rotx": [0.1],
    "rt_tr2rot": [T],
    "rt_transl": [1, 2, 3],
    "rt_trnorm": [T],
    "rt_unit": [[1, 2, 3]],
    "rt_showlink": [TWO],
    "from_mechanism": [lw.robots.planar_2r()],
}
BAD: list[Any] = [
    [[1, 2], [3]],
    [1, [2, 3]],
    None,
    "word",
    [],
    [np.inf] * 2,
    [np.inf] * 6,
    [np.inf] * 18,
    np.full((4, 4), np.inf),
    [1j, 1],
    [10**400] * 2,
    10**400,
    1e308,
    {},
    object(),
    [sympy.Symbol("x")] * 2,
    lw.symbols("x"),
    np.zeros((0, 2)),
    np.zeros((3, 3, 3)),
    np.array([1, 2], dtype="M8[s]"),
    -1,
    1.5,
    float(2**63),
]


@pytest.mark.parametrize("name", GOOD)
def test_only_the_packages_own_errors(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    function, arguments = getattr(rtss, name), GOOD[name]
    function(*arguments)
    for k in range(len(arguments)):
        for bad in BAD:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # (1e308 overflows, and the result says so)
                with contextlib.suppress(LinkwiseError):
                    function(*arguments[:k], bad, *arguments[k + 1 :])
    capsys.readouterr()


INFINITE: list[Callable[[], Any]] = [
    lambda: rtss.rt_fkine(TWO, [np.inf, 0]),
    lambda: rtss.rt_jacob0(TWO, [[0, 0], [0, -np.inf]]),
    lambda: rtss.rt_jacobn(TWO, [np.inf, 0]),
    lambda: rtss.rt_maniplty(TWO, [np.inf, 0]),
    lambda: rtss.rt_rne(TWO, Q, [np.inf, 0], Q),
    lambda: rtss.rt_rne(TWO, [np.inf] * 6),
    lambda: rtss.rt_accel(TWO, Q, Q, [0, np.inf]),
    lambda: rtss.rt_inertia(TWO, [np.inf, 0]),
    lambda: rtss.rt_coriolis(TWO, Q, [np.inf, 0]),
    lambda: rtss.rt_gravload(TWO, [np.inf, 0]),
    lambda: rtss.rt_itorque(TWO, Q, [np.inf, 0]),
    lambda: rtss.rt_friction(TWO, [np.inf, 0]),
    lambda: rtss.rt_cinertia(rtss.rt_puma560(), [np.inf] * 6),
]


@pytest.mark.parametrize("call", INFINITE)
def test_infinite_coordinates_are_refused_and_nan_stays_in_its_row(call: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match=r"is -?inf at"):
        call()
    found = rtss.rt_fkine(TWO, [[np.nan, 0.0], [0.0, 0.0]])
    assert np.isnan(found[0, 0, 3])
    assert np.isfinite(found[1]).all()


@pytest.mark.parametrize(
    "field", ["alpha", "A", "theta", "D", "offset", "m", "Jm", "G", "B", "sigma", "Tc", "qlim", "r", "I"]
)
@pytest.mark.parametrize("symbol", [sympy.Symbol("x"), lw.symbols("x")], ids=["sympy", "linkwise"])
def test_symbols_are_refused_throughout(field: str, symbol: Any) -> None:
    link = rtss.rt_link([0, 1, 0, 0])
    before = dict(vars(link))
    for value in (symbol, [symbol, 0, 0], np.array([symbol, 1.0, 1.0], dtype=object)):
        with pytest.raises(ModelError) as caught:
            setattr(link, field, value)
        assert [problem.field for problem in caught.value.problems] == [field]
    assert vars(link) == before
    with pytest.raises(LinkwiseError):
        rtss.rt_link([0, symbol, 0, 0])
    with pytest.raises(ArgumentError, match="has symbols"):
        rtss.from_mechanism(lw.robots.planar_2r().symbolic("lengths"))


@pytest.mark.parametrize("word", ["modified", "standard", "mod", "stand", "Modified"])
def test_a_convention_is_no_name(word: str) -> None:
    for make in (lambda: rtss.rt_robot([[0, 1, 0, 0]], word), lambda: rtss.rt_robot(TWO, name=word)):
        with pytest.raises(ArgumentError, match=f"name is '{word}'"):
            make()
    robot = rtss.rt_robot([[0, 1, 0, 0]], "mo", convention="mod")
    robot.name = word
    assert (robot.name, robot.mdh) == (word, 1)
    assert rtss.from_mechanism(lw.robots.planar_2r().replace(name=word)).name == word


def test_a_quaternion_raised_to_a_large_power() -> None:
    third = rtss.rt_quaternion([0, 0, 1], 2 * np.pi / 3)
    assert np.allclose((third ** (3 * 10**9 + 1)).d, third.d, rtol=0, atol=1e-5)  # 3e9 times the rounding of the angle
    assert np.array_equal((third**7).d.round(12), (third * third * third * third * third * third * third).d.round(12))
    assert (third**0).d.tolist() == [1, 0, 0, 0]
    with pytest.raises(ArgumentError, match="not finite"):
        rtss.rt_quaternion([2, 0, 0, 0]) ** 10**5
