"""Stacks: each mechanism as it is alone, broadcast like any batch, and what cannot be stacked named."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithm import find
from linkwise.errors import ArgumentError
from linkwise.looped.kernel import data_of
from linkwise.looped.stack import Stack
from support.random_mechanisms import afloat, parts, random_mechanism, random_state, with_rotors


def alike(count: int, seed: int = 0) -> list[lw.Mechanism]:
    """Mechanisms with other lengths, axes, masses and gravity, on free bases, with rotors on their links."""
    kinds, parents = ["revolute", "ball", "prismatic", "screw", "revolute"], [-1, 0, 1, 1, 3]
    first = with_rotors(afloat(random_mechanism(seed, kinds, parents, ["general"] * 5)), seed)
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        links = [link.replace(mass=rng.uniform(0.5, 4.0), before=_turned(link.before, rng)) for link in first.links]
        result.append(first.replace(links=links, gravity=rng.normal(size=3)).with_payload(rng.uniform(0.1, 1.0)))
    return result


def _turned(pose: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    c, s = np.cos(angle := rng.uniform(-1, 1)), np.sin(angle)
    turned = np.eye(4)
    turned[:2, :2], turned[:3, 3] = [[c, -s], [s, c]], rng.uniform(-0.3, 0.3, 3)
    return np.asarray(pose @ turned)


CALLS: list[tuple[str, int, dict[str, Any]]] = [
    ("forward_kinematics", 1, {}),
    ("jacobian", 1, {"link": 2, "frame": "body"}),
    ("inverse_dynamics", 3, {}),
    ("forward_dynamics", 3, {}),
    ("mass_matrix", 1, {}),
    ("inverse_dynamics_derivatives", 3, {}),
    ("momentum", 2, {"about": "com"}),
    ("regressor", 3, {}),
]


@pytest.mark.parametrize(("name", "count", "options"), CALLS)
def test_each_row_is_the_mechanism_alone(name: str, count: int, options: dict[str, Any]) -> None:
    """To the last bit: both go through the same steps, on constants from memory or in lanes."""
    mechanisms = alike(11)
    state = random_state(mechanisms[0], 1, (11,))[:count]
    found = getattr(lw.stack(mechanisms), name)(*state, **options)
    for k, mechanism in enumerate(mechanisms):
        wanted = mechanism.kernel(name, tier="looped", **options)(*(value[k] for value in state))
        for one, two in zip(parts(found), parts(wanted), strict=True):
            assert np.array_equal(one[k], two), (name, k)


def test_wrenches_and_single_precision() -> None:
    mechanisms = alike(3)
    q, qd, qdd = random_state(mechanisms[0], 2)
    arms = lw.stack(mechanisms)
    external = {"part2": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3], "tool": lw.Wrench([0.0, 0.0, -5.0], frame="world")}
    found = arms.inverse_dynamics(q, qd, qdd, external=external)
    assert np.abs(found - [m.inverse_dynamics(q, qd, qdd, external) for m in mechanisms]).max() < 1e-12
    single = arms.kernel("inverse_dynamics")._rows.ufunc()(
        *(x.astype(np.float32) for x in (arms.kernel("inverse_dynamics").numbers, q, qd, qdd))
    )  # type: ignore[attr-defined]
    assert single.dtype == np.float32
    assert np.abs(single - arms.inverse_dynamics(q, qd, qdd)).max() < 1e-3


def test_shapes_are_broadcast() -> None:
    mechanisms = alike(6)
    q = random_state(mechanisms[0], 3, (4, 1, 1))[0]
    arms = lw.stack([mechanisms[:3], mechanisms[3:]])
    assert (arms.shape, len(arms)) == ((2, 3), 6)
    found = arms.mass_matrix(q)
    assert found.shape == (4, 2, 3, *found.shape[3:])
    assert np.array_equal(found[2, 1, 0], mechanisms[3].kernel("mass_matrix", tier="looped")(q[2, 0, 0]))
    assert np.array_equal(pickle.loads(pickle.dumps(arms)).mass_matrix(q), found)
    assert "forward_dynamics" in dir(arms)


def test_threads_change_nothing() -> None:
    arms = lw.stack(alike(8))
    state = random_state(arms.mechanisms[0], 4, (3000, 8))
    alone = arms.inverse_dynamics(*state)
    with lw.set_threads(2):
        assert np.array_equal(arms.inverse_dynamics(*state), alone)


def test_what_cannot_be_stacked() -> None:
    arm, puma, bars = lw.robots.planar_2r(), lw.robots.puma560(), lw.robots.four_bar()
    coupled = arm.replace(links=[arm.links[0], arm.links[1].replace(mimic=lw.Mimic("link1", 2.0))])
    cases: list[tuple[Any, str]] = [
        (lambda: lw.stack([]), "stack: there is no mechanism"),
        (lambda: lw.stack([arm, 3]), "stack: 3 is not a mechanism"),
        (lambda: lw.stack("arm"), "stack: .* is not a mechanism"),
        (lambda: lw.stack([[arm], [arm, arm]]), "stack: rows of '1' and '2'"),
        (lambda: lw.stack([arm, puma]).mass_matrix([0, 0]), "'puma560' differs from 'planar_2r'"),
        (lambda: lw.stack([bars, bars]).mass_matrix([0, 0, 0]), "'four_bar'.*closed loops"),
        (lambda: lw.stack([coupled]).mass_matrix([0]), "'planar_2r'.*follow others"),
        (lambda: lw.stack([arm]).kernel("integrate"), "no algorithm 'integrate'"),
        (lambda: lw.stack([arm]).jacobian([0, 0], link="hand"), "'hand'"),
        (lambda: lw.stack([arm, arm]).mass_matrix(np.zeros((3, 2))), r"stack \(2,\), q \(3,\)"),
        (lambda: lw.stack([arm]).inverse_dynamics([0, 0]), "'qd' and 'qdd' are missing"),
    ]
    for call, message in cases:
        with pytest.raises(ArgumentError, match=message):
            call()
    with pytest.raises(AttributeError, match="'simulate'"):
        lw.stack([arm]).simulate  # noqa: B018
    assert isinstance(lw.stack([arm]), Stack)


def test_axes_of_which_some_have_no_common_normal_at_hand() -> None:
    """A mechanism whose axes are nearly parallel stacks with one whose axes are not: none has the shorter arithmetic."""

    def arm(twist: float) -> lw.Mechanism:
        lead = np.eye(4)
        lead[1:3, 1:3], lead[:3, 3] = [[np.cos(twist), -np.sin(twist)], [np.sin(twist), np.cos(twist)]], [0.1, 0.3, 0.2]
        return lw.Mechanism([lw.Link(before=lead, mass=1.0, com=(0.1, 0.2, 0.3), name=name) for name in "abc"])

    skew, near = arm(0.7), arm(1e-7)
    arms, state = lw.stack([skew, near]), random_state(skew, 0)
    tables = [data_of(one, find("inverse_dynamics"), {}).ints["bodies"] for one in (skew, near)]
    assert not np.array_equal(*tables)
    wanted = [one.kernel("inverse_dynamics", tier="looped")(*state) for one in (skew, near)]
    assert np.abs(arms.inverse_dynamics(*state) - wanted).max() <= 1e-13 * np.abs(wanted).max()
    rows = arms.kernel("inverse_dynamics")
    again = pickle.loads(pickle.dumps(rows._rows))
    assert np.array_equal(again(rows.numbers, *state)[0], arms.inverse_dynamics(*state))
