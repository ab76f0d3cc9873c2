"""Ranges, distances, the centre of mass, postures, limit margins, manipulability: rates by differences, errors, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, Shape, robots
from linkwise.errors import ArgumentError, ModelError
from linkwise.kernel import Kernel, trace
from linkwise.solve.constraints import (
    Aligned,
    CenterOfMass,
    Clear,
    Closed,
    Configuration,
    Constraint,
    Coordinate,
    Distance,
    Follows,
    LimitMargin,
    LookAt,
    Manipulability,
    Orientation,
    Pose,
    Position,
    Posture,
)
from linkwise.spatial.rotation import rotation_x

ARM = robots.puma560()
CORNERS = [[0.2, -0.1], [0.3, 0.1], [0.1, 0.1], [0.2, 0.05]]
ROD = ARM.with_shapes([Shape.rod(name, (-0.1, 0, 0), (0.1, 0, 0), 0.02) for name in ARM.link_names[1:]])

#: A ball joint, a revolute one, and one that floats.
LIMB = Mechanism([Link(joint="ball", name="hip"), Link(name="knee"), Link(joint="floating", name="foot")])

Q = np.array([0.3, 0.7, -2.0, 0.4, 0.9, 0.2])
"""Where every range below is left."""

RANGES: dict[str, tuple[Mechanism, Constraint]] = {
    "box": (ARM, Position("tool", lower=[-1, 1, 1], upper=[0, 2, np.inf], point=[0.1, 0.2, 0.3])),
    "turn": (ARM, Orientation("tool", rotation_x(2.0), upper=0.4)),
    "cone": (ARM, Aligned("tool", [0, 1, 1], [1, 0, 0], upper=0.1)),
    "field of view": (ARM, LookAt("tool", [1, 1, 0], point=[0, 0, 0.1], upper=0.1)),
    "coordinate": (ARM, Coordinate(1, lower=1.0, upper=2.0)),
    "distance": (ARM, Distance("tool", "link2", 0.1, point=[0.1, 0, 0], other_point=[0, 0.2, 0])),
    "distance to the world": (ARM, Distance("tool", "world", upper=0.3, other_point=[1, 1, 1])),
    "center of mass": (ARM, CenterOfMass([0.5, 0.1, 0.2])),
    "center of mass in a box": (ARM, CenterOfMass(lower=[0.5, 0.1, 0.2])),
    "center of mass above": (ARM, CenterOfMass(above=CORNERS, margin=0.02)),
    "posture": (ARM, Posture(np.zeros(6))),
    "limit margin": (ARM, LimitMargin(0.45)),
    "manipulability": (ARM, Manipulability("tool", 5.0)),
}


def evaluated(mech: Mechanism, constraint: Constraint) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
    """Residual, rates and errors of a constraint, as a function of q, in plain NumPy."""
    count = len(constraint.equations(Configuration(mech, mech.neutral), constraint.numbers).angles)

    def run(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
        view = Configuration(mech, q)
        equations = constraint.equations(view, p)
        return equations.residual, equations.rates, np.array(constraint.errors(view, p), dtype=object)

    outputs = {"residual": (count,), "rates": (count, mech.nv), "errors": (2,)}
    inputs = {"numbers": constraint.numbers.shape, "q": (mech.nq,)}
    kernel = Kernel(trace(run, "range", inputs, outputs), backend="numpy")
    return lambda q: kernel(constraint.numbers, q)


@pytest.mark.parametrize("name", RANGES)
def test_the_rates_are_the_derivative_and_the_errors_what_is_lacking(name: str) -> None:
    mech, constraint = RANGES[name]
    at = evaluated(mech, constraint)
    residual, rates, errors = at(Q)
    assert np.abs(residual).max() > 1e-3
    step = 1e-6
    for k, unit in enumerate(np.eye(mech.nv)):
        slope = (at(Q + step * unit)[0] - at(Q - step * unit)[0]) / (2 * step)
        # (central differences: the square of the step, and rounding over the step)
        assert np.abs(rates[:, k] + slope).max() < 1e-8 * max(1.0, float(np.abs(residual).max()))
    assert abs(errors.sum() - residual @ residual) < 1e-13 * max(1.0, float(residual @ residual))


def test_intervals_say_how_far_it_is_to_each_bound() -> None:
    view = Configuration(ARM, Q)
    box = Position("tool", lower=[0, 0, 0], upper=[1, 1, np.inf])
    interval = box.equations(view, box.numbers).interval
    assert interval is not None
    here = ARM.forward_kinematics(Q)[:3, 3]
    assert np.abs(interval.low.astype(float) + here).max() < 1e-15
    assert np.abs(interval.high[:2].astype(float) - (1 - here[:2])).max() < 1e-15
    assert np.abs(interval.rates.astype(float) - ARM.jacobian(Q)[:3]).max() < 1e-15 * 10


def test_the_pairs_of_shapes_are_intervals_too() -> None:
    ball = Shape("world", "sphere", 0.1, origin=(0.6, 0.5, 0.3))
    clear = Clear(0.05, [ball])
    interval = clear.interval(Configuration(ROD, Q), clear.numbers)
    least = ROD.clearance(Q, [ball]).least
    assert abs(float(np.max(interval.low.astype(float))) - (0.05 - least)) < 1e-14
    tightest = int(np.argmax(interval.low.astype(float)))
    step = 1e-6
    for k, unit in enumerate(np.eye(6)):
        slope = (ROD.clearance(Q + step * unit, [ball]).least - ROD.clearance(Q - step * unit, [ball]).least) / (2 * step)
        assert abs(float(interval.rates[tightest, k]) - slope) < 1e-8


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Position("tool"), "p, with a mask, and lower and upper exclude each other"),
    (lambda: Position("tool", [0, 0, 0], lower=[0, 0, 0]), "exclude each other"),
    (lambda: Position("tool", lower=[0, 0, 0], mask=[1, 1, 0]), "exclude each other"),
    (lambda: Position("tool", lower=[1, 0, 0], upper=[0, 1, 1]), "lower is .*; expected no more than upper"),
    (lambda: Position("tool", lower=[1, 0]), r"lower has the shape \(2,\); expected \(\.\.\., 3\)"),
    (lambda: Position("tool", lower=[np.nan, 0, 0]), "lower is .*; expected numbers up to"),
    (lambda: Orientation("tool", np.eye(3), upper=-0.1), "upper is -0.1; expected angles from 0 to pi"),
    (lambda: Orientation("tool", np.eye(3), mask=[1, 1, 0], upper=0.1), "mask is .*; expected none beside upper"),
    (lambda: Aligned("tool", [0, 0, 1], [0, 0, 1], upper=4.0), "upper is 4.0"),
    (lambda: LookAt("tool", [0, 0, 1], upper="wide"), "upper holds"),
    (lambda: Coordinate(0), "value, and lower and upper exclude each other"),
    (lambda: Coordinate(0, 1.0, upper=2.0), "value, and lower and upper exclude each other"),
    (lambda: Distance("tool", "world"), "value, and lower and upper exclude each other"),
    (lambda: Distance("tool", "world", -1.0), "value is"),
    (lambda: Distance("tool", "world", "x"), "value holds"),  # type: ignore[arg-type]
    (CenterOfMass, "p, lower and upper, and above exclude each other"),
    (lambda: CenterOfMass(above=[[0, 0], [1, 1], [2, 2]]), "above is .*; expected points that are not in a line"),
    (lambda: CenterOfMass(above=[0, 0, 1]), r"above has the shape \(3,\)"),
    (lambda: CenterOfMass(above=CORNERS, margin=-1.0), "margin is -1.0"),
    (lambda: LimitMargin(0.6), "share is 0.6; expected numbers"),
    (lambda: Manipulability("tool", -1.0), "lower is -1.0"),
    (lambda: Posture(1.0), "q is 1.0; expected joint coordinates"),
    (lambda: Pose("tool", np.eye(4), weight=-1.0), "weight is -1.0; expected numbers"),
    (lambda: Follows(0, 1, weight=[1.0, -1.0]), "weight is"),
    (lambda: Closed(Loop("point", "base", "link2"), priority=-1), "priority is -1; expected a whole number from 0"),
    (lambda: Clear(0.1, priority=True), "priority is True"),
    (lambda: Aligned("tool", [0, 0, 1], [0, 0, 1], priority=1.5), "priority is 1.5"),
    (lambda: ARM.solve(Posture([0.0, 1.0])), r"Posture: q has the shape \(2,\); expected \(\.\.\., 6\)"),
    (lambda: LIMB.solve(Posture(np.zeros(12))), "Posture: the quaternion of 'hip' has the length 0; expected 1"),
    (lambda: ARM.solve(Distance("tool", "nowhere", 1.0)), "nowhere"),
    (lambda: Mechanism([Link(name="world")]).solve(Distance("world", 0, 1.0)), "is a link of .*its index, 0"),
    (lambda: ARM.replace(floating=True).solve(Manipulability("tool", 1.0)), "floating base"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:24] for _, message in REFUSED])
def test_what_cannot_be_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


def test_a_centre_of_mass_needs_a_mass() -> None:
    with pytest.raises(ModelError, match="a mass on one link"):
        robots.load("planar_2r").without_friction().replace(
            links=[link.replace(mass=0.0, inertia=0.0) for link in robots.planar_2r().links]
        ).solve(CenterOfMass([0, 0, 0]))


def test_distances_of_a_batch_without_tasks() -> None:
    assert ARM.solve(Distance("tool", "world", np.zeros(0))).q.shape == (0, ARM.n)


def limb_at(rng: np.random.Generator) -> np.ndarray:
    """Coordinates of `LIMB`, its quaternions of any length but zero."""
    return rng.normal(size=LIMB.nq)


def test_a_posture_holds_orientations_and_places(uncompiled: None) -> None:
    """Rates by central differences of a step of 1e-6, with an error of 1e-10; a quaternion and its opposite are one."""
    rng = np.random.default_rng(4)
    wanted, q = limb_at(rng), LIMB.integrate(LIMB.neutral, rng.normal(size=LIMB.nv), 1.0)
    for target in (wanted, np.where(np.arange(LIMB.nq) < 4, -wanted, wanted)):
        posture = Posture(target)

        def residual(q: np.ndarray, posture: Posture = posture) -> np.ndarray:
            return np.asarray(posture.equations(Configuration(LIMB, q), posture.q).residual, dtype=float)

        beside = [LIMB.integrate(q, step, 1.0) for step in 1e-6 * np.vstack([np.eye(LIMB.nv), -np.eye(LIMB.nv)])]
        values = np.array([residual(row) for row in beside])
        rates = -(values[: LIMB.nv] - values[LIMB.nv :]).T / 2e-6
        equations = posture.equations(Configuration(LIMB, q), posture.q)
        assert np.abs(rates - np.asarray(equations.rates, dtype=float)).max() < 1e-8
        far, turned = posture.errors(Configuration(LIMB, q), posture.q)
        assert far > 0.1
        assert turned > 0.1
    solution = LIMB.solve(Posture(wanted))
    assert solution.success
    assert solution.constraint_errors.max() < 1e-9
    for at in LIMB.manifold_joints:
        a, b = (row[at.q][at.joint.quaternion] for row in (solution.q, wanted))
        assert abs(a @ b) / np.linalg.norm(b) == pytest.approx(1.0, abs=1e-12)
    free = LIMB.solve(Posture([0.7]))  # (joint coordinates alone leave orientations)
    assert free.success
    assert np.array_equal(free.q[:11], LIMB.neutral[:11])


def test_what_has_the_weight_zero_need_not_hold(uncompiled: None) -> None:
    arm = robots.planar_3r()
    mask = [1, 1, 0]
    goal = Position("tool", [1.5, 1.0, 0.0], mask=mask)
    both = arm.solve([goal, Coordinate(2, 0.3, weight=[0.0, 1.0], priority=0)])
    assert both.success.tolist() == [True, True]
    assert both.holds.tolist() == [[True, False], [True, True]]
    assert both.position_error.max() < 1e-9
    alone = arm.solve(Position("tool", [9.0, 0.0, 0.0], mask=mask, weight=[0.0, 1.0], priority=0))
    assert alone.reason[0] == "converged"
    assert not alone.success[1]
