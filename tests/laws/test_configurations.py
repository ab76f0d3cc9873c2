"""Words of a configuration change only where the arm passes through a singular position, and tell all solutions apart."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.inverse_kinematics.branches.configuration import labels_of

#: Arms of each family, and the coordinate that is held: a spherical wrist with parallel axes (with and without an offset at
#: the shoulder), three parallel axes, a prismatic joint, a spherical shoulder with one of seven joints held, none of these.
ARMS = (
    ("puma560", None),
    ("kr16", None),
    ("ur5", None),
    ("stanford", None),
    ("panda", 6),
    ("panda", 4),
    ("gen3_lite", None),
)

HALVINGS = 60


def _determinant(arm: Mechanism, q: np.ndarray, fixed: int | None) -> np.ndarray:
    rates = np.array(arm.jacobian(q))
    return np.linalg.det(rates if fixed is None else np.delete(rates, fixed, axis=-1))


@pytest.mark.parametrize(("name", "fixed"), ARMS)
def test_words_change_at_singular_positions_only(name: str, fixed: int | None) -> None:
    arm = robots.load(name)
    labels = labels_of(arm, "tool", fixed)
    rng = np.random.default_rng(3)
    path = np.cumsum(rng.normal(size=(400, arm.n)) * 0.2, axis=0) + rng.uniform(-1.5, 1.5, arm.n)
    signs = np.sign(labels.values(path))
    size = np.abs(_determinant(arm, path, fixed)).max()
    places, which = np.nonzero(np.diff(signs, axis=0))
    assert len(places) > 20
    a, b = path[places].copy(), path[places + 1].copy()
    rows = np.arange(len(places))
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        before = np.sign(labels.values(middle))[rows, which] == signs[places, which]
        a, b = np.where(before[:, None], middle, a), np.where(before[:, None], b, middle)
    left = np.abs(_determinant(arm, a, fixed)).max() / size
    print(f"{name}: determinant where a word changes {left:.1e} of its greatest, {len(places)} changes of {labels.names}")
    assert left < 1e-13  # the halvings end at neighbouring numbers, where the determinant is rounding
    change = np.diff(np.sign(_determinant(arm, path, fixed)))
    assert np.isin(np.flatnonzero(change), places).all()  # and no singular surface is crossed without a change


@pytest.mark.parametrize("name", ["puma560", "ur5", "kr16"])
def test_words_tell_eight_solutions_apart(name: str) -> None:
    arm = robots.load(name)
    q = np.random.default_rng(5).uniform(-2.5, 2.5, (200, 6))
    solutions = arm.all_inverse_kinematics(arm.forward_kinematics(q), limits=False)
    words = solutions.configuration
    eight = np.flatnonzero(solutions.count == 8)
    assert len(eight) > 50
    for k in eight:
        assert len({tuple(words[part][k][:8]) for part in ("shoulder", "elbow", "wrist")} | set()) == 3
        assert len(set(zip(*(words[part][k][:8] for part in words), strict=True))) == 8
