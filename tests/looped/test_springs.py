"""Springs, dampers and end stops on joints in loops over bodies: as straight-line code, stacked, and which are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from support.random_mechanisms import afloat, parts, random_mechanism, random_state

EXACT = 1e-13
"""Relative to the largest number, one at least, times the growth of rounding where M is solved with."""


def sprung(*, tendon: bool = False, scale: float = 1.0) -> lw.Mechanism:
    """A tree with springs and stops on single joints, one with an open limit and two on one joint; a tendon over three."""
    mech = random_mechanism(3, ["revolute", "prismatic", "ball", "revolute", "screw"], [-1, 0, 1, 1, 3], ["general"] * 5)
    a, b, c, d = mech.names
    springs: list[Any] = [
        lw.Spring(a, stiffness=20.0 * scale, rest=0.1, damping=3.0, force=1.0),
        lw.EndStop(b, stiffness=100.0, damping=5.0 * scale, limits=(-0.2, 0.3 * scale)),
        lw.EndStop(c, stiffness=50.0, limits=(-np.inf, 0.1)),
        lw.Spring(c, damping=1.0),
        lw.EndStop(d, restitution=0.5, limits=(-0.1, 0.1)),  # (rigid: acts in `simulate` alone)
    ]
    if tendon:
        springs.append(lw.Spring({a: 1.0, c: -2.0, d: 0.5}, stiffness=30.0, rest=0.2, damping=2.0))
    return mech.replace(springs=springs)


def relative(results: Any, wanted: Any) -> float:
    size = max(1.0, *(np.abs(b).max() for b in parts(wanted)))
    return max(np.abs(a - b).max() for a, b in zip(parts(results), parts(wanted), strict=True)) / size


def state_of(mech: lw.Mechanism, kernel: Any, rows: tuple[int, ...]) -> list[np.ndarray]:
    known = dict(zip(("q", "qd", "qdd"), random_state(mech, 1, rows), strict=True))
    rng = np.random.default_rng(2)
    return [known.get(name, rng.normal(size=(*rows, *shape))) for name, shape in kernel.tape.inputs.items()]


@pytest.mark.parametrize("name", ["spring_torque", "inverse_dynamics", "potential_energy", "forward_dynamics"])
def test_as_the_straight_line_and_a_batch_as_a_loop(name: str) -> None:
    for mech in (sprung(), afloat(sprung(tendon=True), 2)):
        kernel = mech.kernel(name, tier="looped")
        state = state_of(mech, kernel, (9,))
        results, wanted = kernel(*state), mech.kernel(name, backend="numpy")(*state)
        growth = np.linalg.cond(mech.kernel("mass_matrix", backend="numpy")(state[0])).max() if "forward" in name else 10.0
        assert relative(results, wanted) < EXACT * growth / 10.0
        for k in (0, 7, 8):
            assert np.array_equal(results[k], kernel(*(value[k] for value in state)))


def test_derivatives() -> None:
    """Of springs on single joints, one of which follows another."""
    links = [link.replace(mimic=lw.Mimic("part0", -1.5, 0.2)) if link.name == "part3" else link for link in sprung().links]
    coupled = sprung().replace(links=links)
    kernel = coupled.kernel("inverse_dynamics_derivatives", tier="looped")
    state = state_of(coupled, kernel, (3,))
    assert relative(kernel(*state), coupled.kernel("inverse_dynamics_derivatives", backend="numpy")(*state)) < EXACT


def test_stacks_and_the_choice_by_size() -> None:
    """Each row is the mechanism alone to the last bit; numbers of springs may differ, their joints may not."""
    mechanisms = [sprung(scale=scale) for scale in (1.0, 0.5, 2.0)]
    state = random_state(mechanisms[0], 4, (3,))
    rows = lw.stack(mechanisms).inverse_dynamics(*state)
    for k, mech in enumerate(mechanisms):
        assert np.array_equal(rows[k], mech.kernel("inverse_dynamics", tier="looped")(*(value[k] for value in state)))
    other = mechanisms[0].replace(springs=mechanisms[0].springs[1:])
    for rest in ([other], [mechanisms[0].replace(springs=())]):
        with pytest.raises(ArgumentError, match="springs on the same joints"):
            lw.stack([mechanisms[0], *rest]).inverse_dynamics(*state)
    chain = random_mechanism(3, ["revolute"] * 40, list(range(-1, 39)), ["general"] * 40)
    chain = chain.replace(springs=[lw.Spring(name, stiffness=1.0) for name in chain.names])
    assert chain.kernel("inverse_dynamics").tier == "looped"


def test_what_stays_with_the_straight_line() -> None:
    line = lw.LinearSpringDamper([("base", (0, 0, 1)), ("part1", (0.5, 0, 0))], stiffness=100.0)
    heavy = lw.Spring("part0", inertia=0.1)

    class Cubic(lw.Spring):
        def tension(self, length: Any, rate: Any) -> Any:
            return super().tension(length, rate) + length**3

    cases = [
        (sprung().replace(springs=[line]), "inverse_dynamics", "springs between links"),
        (sprung().replace(springs=[line]), "joint_wrenches", "springs between links"),
        (sprung().replace(springs=[Cubic("part0")]), "inverse_dynamics", "springs of a type from outside"),
        (sprung().replace(springs=[lw.Spring("part0", 3.0, slack=0.1)]), "inverse_dynamics", "springs with slack"),
        (
            sprung().replace(springs=[lw.Spring("part0", nonlinear_stiffness=(0.0, 2.0))]),
            "spring_torque",
            "nonlinear stiffness",
        ),
        (sprung(tendon=True), "inverse_dynamics_derivatives", "springs over several joints"),
        (sprung().replace(springs=[heavy]), "forward_dynamics", "springs with inertias"),
        (sprung().replace(springs=[heavy]), "mass_matrix", "springs with inertias"),
    ]
    for mech, name, message in cases:
        with pytest.raises(ArgumentError, match=message):
            mech.kernel(name, tier="looped")
