"""How far from holding: the real distance and angle, up to half a turn, where some residuals would vanish again."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots
from linkwise.solve.compiled_problem import system_of
from linkwise.solve.constraints import Aligned, Closed, Configuration, Constraint, LookAt, Orientation, Pose
from linkwise.solve.problem import ConstraintProblem
from linkwise.spatial.rotation import rotation_about
from support.constraint_residuals import KINDS, PAIRED, between, held, lacking
from support.random_mechanisms import numpy_call, random_state, variant

ANGLES = (0.0, 1e-9, 1e-4, 0.5, np.pi / 2, 3.0, np.pi - 1e-3, np.pi - 1e-6, np.pi)

ARM = robots.puma560()
Q = np.array([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])


def told(mech: Mechanism, constraint: Constraint, q: np.ndarray) -> tuple[float, float]:
    distance, angle = constraint.errors(Configuration(mech, np.asarray(q)), constraint.numbers)
    return float(np.sqrt(float(distance))), float(np.sqrt(float(angle)))


def residual(mech: Mechanism, constraint: Constraint, q: np.ndarray) -> np.ndarray:
    return np.asarray(constraint.equations(Configuration(mech, np.asarray(q)), constraint.numbers).residual, dtype=float)


@pytest.mark.parametrize("name", ["joints 2", "floating 0", "coupled 2"])
@pytest.mark.parametrize("kind", KINDS)
def test_they_are_those_of_plain_numpy(name: str, kind: str) -> None:
    mech = variant(name)
    if (kind in PAIRED and mech.n < 2) or ("base" in kind and mech.floating):
        kind = "pose"
    q, other = random_state(mech, 5)[0], random_state(mech, 6)[0]
    constraint = held(mech, kind, q, np.random.default_rng([KINDS.index(kind), 29]))
    at, away = told(mech, constraint, q), told(mech, constraint, other)
    # rounding of a few operations on lengths of some m; a cosine near 1 is not used
    assert max(at) < 1e-13
    assert max(lacking(mech, constraint, q)) < 1e-13
    assert np.allclose(away, lacking(mech, constraint, other), rtol=0, atol=1e-12)
    assert max(away) > 1e-5


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0.3, -2.0, 0.4)])
def test_the_angle_of_an_axis(axis: tuple[float, ...], angle: float) -> None:
    rotation = numpy_call(ARM, "forward_kinematics", Q)[:3, :3]
    now = rotation @ axis / np.linalg.norm(axis)
    aside = np.cross(now, [0.2, 0.5, -0.7])
    wanted = rotation_about(aside / np.linalg.norm(aside), angle) @ now
    rounding = 1e-15 * 10  # (of products of six rotations)
    assert abs(told(ARM, Aligned("tool", axis, 5.0 * wanted), Q)[1] - angle) < rounding
    eye = np.array([0.1, 0.0, -0.2])
    seen = numpy_call(ARM, "forward_kinematics", Q)[:3, 3] + rotation @ eye
    assert abs(told(ARM, LookAt("tool", seen + 0.7 * wanted, axis, eye), Q)[1] - angle) < 10 * rounding
    folded = min(angle, np.pi - angle)
    assert abs(told(ARM, Aligned("tool", axis, wanted, either_way=True), Q)[1] - folded) < rounding


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("kind", ["full", "hinge", "point"])
def test_the_angle_of_a_loop(kind: str, angle: float) -> None:
    mech = Mechanism([Link(name="a", axis=(1, 0, 0)), Link(name="b", axis=(0, 0, 1), parent="a")])
    shift = np.eye(4)
    shift[:3, 3] = [0.0, 0.3, 0.4]
    constraint = Closed(Loop(kind, "base", "b", second_frame=shift))
    distance, turned = told(mech, constraint, np.array([angle, 0.0]))
    assert abs(distance - 0.5) < 1e-15
    # of a whole turn cos(t/2) is half the root of 1 + trace, which is rounded by 4e-16
    rounding = 1e-15 + (4e-16 / max(np.cos(angle / 2), 1e-8) if kind == "full" else 0.0)
    assert abs(turned - (0.0 if kind == "point" else angle)) < rounding
    about_z = told(mech, constraint, np.array([0.0, angle]))[1]
    assert abs(about_z - (angle if kind == "full" else 0.0)) < rounding


def opposite() -> list[Constraint]:
    T = numpy_call(ARM, "forward_kinematics", np.zeros(6))
    R, p = T[:3, :3], T[:3, 3]
    made: list[Constraint] = [Aligned("tool", [0, 0, 1], -R[:, 2]), Aligned("tool", [1, 2, 3], -R @ [1, 2, 3])]
    made += [LookAt("tool", p - 0.5 * R[:, 1], [0, 1, 0]), LookAt("tool", p)]
    for flip in (np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])):
        turned = T.copy()
        turned[:3, :3] = R @ flip
        made += [Pose("tool", turned), Orientation("tool", R @ flip)]
        made += [Orientation("tool", R @ flip, mask, frame) for mask in np.eye(3) for frame in ("world", "body")]
        frame = np.eye(4)
        frame[:3, :3] = flip
        made.append(Closed(Loop("full", "base", "link6", turned)))
        if flip[2, 2] < 0:
            made.append(Closed(Loop("hinge", "base", "link6", turned)))
    return made


@pytest.mark.parametrize("constraint", opposite(), ids=lambda c: type(c).__name__)
def test_what_is_half_a_turn_away_does_not_hold(constraint: Constraint) -> None:
    arm = ARM.replace(links=[link.replace(name=f"link{k}") for k, link in enumerate(ARM.links, 1)])
    q = np.zeros(6)
    assert abs(told(arm, constraint, q)[1] - np.pi) < 2e-4  # (of a whole pose the cosine is at least 5e-5)
    assert np.linalg.norm(residual(arm, constraint, q)) > 1.0


def test_a_line_has_no_opposite() -> None:
    z = numpy_call(ARM, "forward_kinematics", Q)[:3, 2]
    assert told(ARM, Aligned("tool", [0, 0, 1], -z, either_way=True), Q)[1] < 1e-15
    assert np.abs(residual(ARM, Aligned("tool", [0, 0, 1], -z, either_way=True), Q)).max() < 1e-15


def test_the_distance_of_a_target_does_not_count() -> None:
    T = numpy_call(ARM, "forward_kinematics", Q)
    for far in (1e-6, 1.0, 1e6, 1e45):
        aside = told(ARM, LookAt("tool", T[:3, 3] + far * (T[:3, :3] @ [0.0, 0.6, 0.8])), Q)[1]
        # rounding of the position, 1e-16 m, seen from a distance of 1e-6 m
        assert abs(aside - np.arctan2(0.6, 0.8)) < 1e-9


def test_a_target_at_the_eye_is_not_looked_at() -> None:
    T = numpy_call(ARM, "forward_kinematics", Q)
    for off in (0.0, 1e-12, 5e-10):
        itself = LookAt("tool", T[:3, 3] + off * T[:3, 2])
        assert told(ARM, itself, Q)[1] == np.pi
        assert np.linalg.norm(residual(ARM, itself, Q)) > 1.0


def test_the_size_of_a_direction_does_not_count() -> None:
    made = [Aligned("tool", [0, 0, 1], np.array([0.3, -0.4, 1.2]) * size).numbers for size in (1e-100, 1.0, 1e100)]
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[1], made[2])
    assert between(made[0], np.array([0.3, -0.4, 1.2])) < 1e-15


def test_they_add_up_over_constraints() -> None:
    T = numpy_call(ARM, "forward_kinematics", Q)
    both = [Aligned("tool", [0, 0, 1], T[:3, 0]), Aligned("tool", [1, 0, 0], -T[:3, 0])]
    task = ConstraintProblem(ARM, both)
    square = task.errors(Q, np.concatenate([c.numbers for c in both]))[1]
    assert abs(square - (np.pi**2 / 4 + np.pi**2)) < 1e-13


def test_tasks_that_differ_in_numbers_share_what_is_compiled() -> None:
    def system(constraint: Constraint) -> object:
        return system_of(ARM, [constraint])

    assert system(Aligned("tool", [0, 0, 2], [1, 0, 0])) is system(Aligned("tool", [0, 0, 1], [[0, 1, 0], [0, 0, 3]]))
    assert system(Aligned("tool", [0, 0, -0.0 + 1], [1, 0, 0])) is system(Aligned("tool", [-0.0, 0, 1], [1, 0, 0]))
    assert system(Aligned("tool", [0, 0, 1], [1, 0, 0])) is not system(Aligned("tool", [0, 1, 0], [1, 0, 0]))
    assert system(Aligned("tool", [0, 0, 1], [1, 0, 0])) is not system(
        Aligned("tool", [0, 0, 1], [1, 0, 0], either_way=True)
    )
    assert system(Aligned("tool", [0, 0, 1], [1, 0, 0])) is not system(Aligned(5, [0, 0, 1], [1, 0, 0]))
    assert system(LookAt("tool", [1, 2, 3])) is system(LookAt("tool", np.ones((4, 3))))
    assert system(LookAt("tool", [1, 2, 3])) is not system(LookAt("tool", [1, 2, 3], point=[0, 0, 0.1]))
    assert system(Pose("tool", np.eye(4))) is not system(Pose("tool", np.eye(4), at=np.eye(4)))


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_stand_beside_each_other(kind: str) -> None:
    constraint = held(variant("joints 2"), kind, random_state(variant("joints 2"), 5)[0], np.random.default_rng(3))
    assert constraint.numbers.dtype == np.float64
    assert constraint.numbers.ndim == 1
    hash(constraint.key)
    assert type(constraint).__name__ in repr(constraint)
