"""A kernel of a mechanism with symbols is the same whatever was computed in the process before."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from linkwise.expr.canonicalize import made_anew
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import parameter, symbol
from linkwise.kernel import trace

NAMES = ("made_anew_a", "made_anew_b", "made_anew_c")


def function(q: np.ndarray) -> np.ndarray:
    """With expressions of parameters alone, some of them twice, among others."""
    a, b, c = map(parameter, NAMES)
    one, other = a * b, b * c + a
    return np.array([q[0] * one + q[1] * other, (one + c) * q[1] * q[0], other * one * 2.0, c, 3.0], dtype=object)


def digest() -> str:
    return trace(function, "f", {"q": (2,)}, {"y": (5,)}, parameters=list(map(parameter, NAMES))).digest


@pytest.mark.parametrize("seed", range(4))
def test_same_tape_whatever_is_alive(seed: int) -> None:
    wanted = digest()
    random = Random(seed)
    kept: list[Any] = [parameter(name) for name in random.sample(NAMES, 3)]
    kept.append(kept[0] * kept[1] * 2.0)
    kept += [kept[2] * kept[1] + kept[0], kept[0] * kept[2] + kept[1]]
    assert digest() == wanted


def test_same_values() -> None:
    q = np.array([symbol("q0"), symbol("q1")], dtype=object)
    old = [parameter(name) for name in NAMES]
    made, new = made_anew(list(function(q)), old)
    given = dict(zip(q, (0.3, -0.7), strict=True))
    wanted = evaluate(list(function(q)), given | dict(zip(old, (1.1, 2.2, 3.3), strict=True)))
    assert evaluate(made, given | dict(zip(new, (1.1, 2.2, 3.3), strict=True))) == pytest.approx(wanted, rel=1e-15)
    assert made[3] is new[2]
    assert made[4] == 3.0
