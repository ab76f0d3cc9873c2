"""The example that derives a two-link arm's equations with SpaceLib's functions on symbols: what it finds is right."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import linkwise as lw

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "14_symbolic_two_link.py"


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that the example leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("desk"))
        yield runpy.run_path(str(EXAMPLE))


def test_no_difference_from_the_book_nor_from_the_mechanism(derived: dict[str, Any]) -> None:
    assert sympy.simplify(derived["tau"] - derived["book"]) == sympy.zeros(2, 1)
    assert sympy.simplify(derived["M"] - derived["masses"]) == sympy.zeros(2, 2)
    rest = derived["theirs"] - derived["tau"].subs(derived["numbers"])
    assert sympy.simplify(sympy.nsimplify(rest, rational=True)) == sympy.zeros(2, 1)


def test_numbers_of_a_general_arm(derived: dict[str, Any]) -> None:
    """At random numbers the equations are what the recursion computes: some twenty operations, numbers up to 100."""
    rng = np.random.default_rng(3)
    symbols = [*derived["q"], *derived["qd"], *derived["qdd"]]
    letters = [derived[name] for name in ("a", "m", "r", "I")]
    for _ in range(5):
        parameters = rng.uniform(0.2, 1.5, (4, 2))
        motion = rng.uniform(-2, 2, (3, 2))
        links = [
            lw.Link.dh(a=a, convention="standard", mass=m, com=(r - a, 0, 0), inertia=(0, i, i, 0, 0, 0))
            for a, m, r, i in parameters.T
        ]
        arm = lw.Mechanism(links, gravity=(0, -9.81, 0))
        at = dict(zip([s for pair in letters for s in pair], parameters.ravel(), strict=True)) | {derived["g"]: 9.81}
        found = derived["tau"].subs(at | dict(zip(symbols, motion.ravel(), strict=True)))
        np.testing.assert_allclose(np.array(found, dtype=float).ravel(), arm.inverse_dynamics(*motion), rtol=0, atol=1e-12)


def test_energy(derived: dict[str, Any]) -> None:
    """The power of the efforts is the change of kinetic energy and of the weights' potential, for any motion."""
    q, qd, qdd = (sympy.Matrix(derived[name]) for name in ("q", "qd", "qdd"))
    m, r, a, g = (derived[name] for name in "mrag")
    height = (sympy.sin(q[0]) * r[0], sympy.sin(q[0]) * a[0] + sympy.sin(q[0] + q[1]) * r[1])
    energy = (qd.T * derived["M"] * qd)[0] / 2 + g * (m[0] * height[0] + m[1] * height[1])
    change = sum(sympy.diff(energy, q[k]) * qd[k] + sympy.diff(energy, qd[k]) * qdd[k] for k in range(2))
    assert sympy.simplify(change - (derived["tau"].T * qd)[0]) == 0


def test_written_equations_are_whole(derived: dict[str, Any]) -> None:
    text = "".join(derived["equations"])
    assert len(derived["equations"]) == 7
    assert text.count("{") == text.count("}")
    assert not any(word in text for word in ("qd", "nan", "Piecewise", "Matrix"))


def test_eulers_equations(derived: dict[str, Any]) -> None:
    p, s, t, A, B, C, cx, cy, cz = (derived[name] for name in ("p", "s", "t", "A", "B", "C", "cx", "cy", "cz"))
    wanted = [(cx + (B - C) * s * t) / A, (cy + (C - A) * p * t) / B, (cz + (A - B) * p * s) / C]
    assert [sympy.simplify(got - want) for got, want in zip(derived["acceleration"], wanted, strict=True)] == [0, 0, 0]


def test_top(derived: dict[str, Any]) -> None:
    """Steady precession carries round the angular momentum: A P sin(theta) across the axis, C (S + P cos(theta)) along."""
    theta, P, S, A, C = (derived[name] for name in ("theta", "P", "S", "A", "C"))
    wanted = P * sympy.sin(theta) * (C * S + (C - A) * P * sympy.cos(theta))
    assert [sympy.simplify(got - want) for got, want in zip(derived["torque"], (wanted, 0, 0), strict=True)] == [0, 0, 0]
