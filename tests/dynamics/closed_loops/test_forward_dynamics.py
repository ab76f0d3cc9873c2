"""Forward dynamics with loops closed, and the forces that close them: the equations of motion, books, equivalent models."""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, Motor, robots
from linkwise.dynamics.closed_loops.kkt import independent_closure
from linkwise.errors import ArgumentError, ModelError
from linkwise.spatial.transform import translation
from support.random_linkages import bennett, closed_state, cut, near_zero, parallelogram, random_loop
from support.random_mechanisms import random_pose

pytestmark = pytest.mark.usefixtures("uncompiled")

MIXED = ["revolute", "prismatic", "screw", "revolute", "prismatic", "revolute", "prismatic"]

CASES = {
    "full": lambda: random_loop(1, "full", MIXED),
    "point": lambda: random_loop(3, "point", ["revolute", "prismatic", "revolute", "screw", "revolute"]),
    "bennett, full": bennett,
    "bennett, hinge": lambda: bennett("hinge"),
    "parallelogram": lambda: (parallelogram(), np.array([0.7, -0.7, 0.7])),
    "four_bar": lambda: beside_zero("four_bar"),
    "slider_crank": lambda: beside_zero("slider_crank"),
}
"""By name: a mechanism of this module alone, and a closed configuration."""


def beside_zero(name: str) -> tuple[Mechanism, np.ndarray]:
    mech = robots.load(name).replace()
    return mech, near_zero(mech)


@cache
def case(name: str) -> tuple[Mechanism, np.ndarray]:
    return CASES[name]()


def both(mech: Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """qdd, and the forces that close the loops: by NumPy, which needs no compiling and computes the same graph."""
    return mech.kernel("closed_forward_dynamics", backend="numpy")(q, qd, tau)


def solved(mech: Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """qdd, J' f and J by the whole system [M -J'; J 0], every closure equation in it, in the least squares sense."""
    tree, jac = cut(mech), mech.kernel("closure_jacobian")(q)
    held = tree.inverse_dynamics(q, qd, np.zeros(mech.nv))
    zero = np.zeros((len(jac), len(jac)))
    whole = np.block([[tree.mass_matrix(q), -jac.T], [jac, zero]])
    right = np.concatenate([tau - held, -mech.kernel("closure_bias")(q, qd)])
    found = np.linalg.lstsq(whole, right, rcond=1e-11)[0]
    return found[: mech.nv], jac.T @ found[mech.nv :], jac


@pytest.mark.parametrize("name", CASES)
def test_the_equations_of_motion(name: str) -> None:
    mech, q = case(name)
    for seed in range(3):
        qd, tau = closed_state(mech, q, seed)
        qdd, forces = both(mech, q, qd, tau)
        other, held, jac = solved(mech, q, qd, tau)
        size = 1.0 + np.abs(other).max()
        errors = [
            np.abs(qdd - other).max() / size,
            np.abs(jac.T @ forces - held).max() / (1.0 + np.abs(held).max()),
            np.abs(jac @ qdd + mech.kernel("closure_bias")(q, qd)).max() / size,
            np.abs(cut(mech).inverse_dynamics(q, qd, qdd) - tau - jac.T @ forces).max() / (1.0 + np.abs(held).max()),
        ]
        print(name, errors)
        # rounding times the condition of the system, which is up to 1e3 here; seen: 3e-14
        assert max(errors) < 1e-11


@pytest.mark.parametrize("name", ["bennett, full", "bennett, hinge", "four_bar", "parallelogram"])
def test_of_what_is_not_determined_it_is_the_least(name: str) -> None:
    mech, q = case(name)
    known, state = independent_closure(mech), closed_state(mech, q, 1)
    _, forces = both(mech, q, *state)
    jac = mech.kernel("closure_jacobian")(q) / known.sizes[:, None]
    size = np.abs(forces * known.sizes).max()
    assert known.rank == mech.nv - 1 < len(known.sizes)
    *_, across = np.split(np.linalg.svd(jac)[0], [known.rank], axis=1)
    assert np.abs(across.T @ (forces * known.sizes)).max() < 1e-12 * size, "no part that pushes nothing"
    if "bennett" not in name:
        assert not forces[2:].any()
        assert forces[:2].all()


def test_a_wrench_on_the_tool() -> None:
    mech, q = case("point")
    qd, tau = closed_state(mech, q, 4)
    wrench = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])
    given = tau + mech.jacobian(q, frame="body").T @ wrench
    pushed = mech.kernel("forward_dynamics_external", backend="numpy")(q, qd, tau, wrench)
    qdd, expected = both(mech, q, qd, given)
    assert np.abs(pushed - qdd).max() < 1e-12 * (1 + np.abs(pushed).max())
    forces = mech.kernel("constraint_forces_external", backend="numpy")(q, qd, tau, wrench)
    assert np.abs(forces - expected).max() < 1e-11 * (1 + np.abs(forces).max())
    assert np.abs(pushed - both(mech, q, qd, tau)[0]).max() > 1e-2


def test_a_batch_is_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # (this one is compiled)
    mech, q = case("point")[0].replace(), case("point")[1]
    states = [closed_state(mech, q, seed) for seed in range(9)]
    qd, tau = (np.array(part) for part in zip(*states, strict=True))
    many = mech.forward_dynamics(np.tile(q, (9, 1)), qd, tau)
    assert all(np.array_equal(row, mech.forward_dynamics(q, *state)) for row, state in zip(many, states, strict=True))
    plain, forces = both(mech, np.tile(q, (9, 1)), qd, tau)
    assert np.allclose(many, plain, rtol=0, atol=1e-11 * np.abs(many).max())
    compiled = mech.kernel("constraint_forces")(np.tile(q, (9, 1)), qd, tau)
    assert np.allclose(compiled, forces, rtol=0, atol=1e-11 * np.abs(forces).max())


# ── books and other models ────────────────────────────────────────────────────────────────────────

LENGTHS, FRAME = (0.2, 0.6, 0.4), 0.5
BODIES = (
    {"mass": 1.1, "com": (0.09, 0.02, 0.0), "inertia": (0.01, 0.01, 0.011)},
    {"mass": 2.3, "com": (0.31, -0.04, 0.0), "inertia": (0.03, 0.045, 0.072)},
    {"mass": 1.7, "com": (0.17, 0.03, 0.0), "inertia": (0.02, 0.02, 0.031)},
)
GRAVITY = 9.81


def four_bar(motor: Motor | None = None) -> Mechanism:
    """Crank, coupler and rocker in the plane x y."""
    links = [
        Link(name="crank", parent="base", motor=motor, **BODIES[0]),
        Link(name="coupler", before=translation(LENGTHS[0], 0, 0), **BODIES[1]),
        Link(name="rocker", parent="base", before=translation(FRAME, 0, 0), **BODIES[2]),
    ]
    pin = Loop("hinge", "coupler", "rocker", translation(LENGTHS[1], 0, 0), translation(LENGTHS[2], 0, 0), "pin")
    return Mechanism(links, loops=[pin], gravity=(0, -GRAVITY, 0), name="four-bar")


def assembled(crank: float) -> np.ndarray:
    """Its open position for an angle of the crank, by the law of cosines."""
    end = LENGTHS[0] * np.array([np.cos(crank), np.sin(crank)])
    apart = np.array([FRAME, 0.0]) - end
    far = np.hypot(*apart)
    at_end = np.arccos((LENGTHS[1] ** 2 + far**2 - LENGTHS[2] ** 2) / (2 * LENGTHS[1] * far))
    coupler = np.arctan2(apart[1], apart[0]) + at_end
    tip = end + LENGTHS[1] * np.array([np.cos(coupler), np.sin(coupler)])
    return np.array([crank, coupler - crank, np.arctan2(tip[1], tip[0] - FRAME)])


def by_multipliers(q: np.ndarray, crank_speed: float, tau: float) -> tuple[np.ndarray, np.ndarray]:
    """Angular accelerations of the three bodies and the force of the coupler on the rocker, with 40 digits.

    Each body has three coordinates x, y, theta of its centre of mass, each pin two equations (E. J. Haug, *Computer Aided
    Kinematics and Dynamics of Mechanical Systems*, 1989, chapter 6). The closed position is found anew with all digits.
    """
    with mpmath.workdps(40):
        num = mpmath.mpf
        lengths, frame = [num(str(x)) for x in LENGTHS], num(str(FRAME))

        def gap(coupler: object, rocker: object) -> list[object]:
            rows = []
            for trig in (mpmath.cos, mpmath.sin):
                there = (frame if trig is mpmath.cos else num(0)) + lengths[2] * trig(rocker)
                rows.append(lengths[0] * trig(num(float(q[0]))) + lengths[1] * trig(coupler) - there)
            return rows

        coupler, rocker = mpmath.findroot(gap, (float(q[0] + q[1]), float(q[2])), tol=1e-35)
        angles = [num(float(q[0])), coupler, rocker]
        coms = [[num(str(x)) for x in body["com"]] for body in BODIES]

        def arm(k: int, x: object) -> tuple[object, object]:
            """From the centre of mass of body k to the point (x, 0) on it."""
            dx, dy = x - coms[k][0], -coms[k][1]
            c, s = mpmath.cos(angles[k]), mpmath.sin(angles[k])
            return c * dx - s * dy, s * dx + c * dy

        zero = num(0)
        pins = [(None, (0, zero)), ((0, lengths[0]), (1, zero)), (None, (2, zero)), ((1, lengths[1]), (2, lengths[2]))]
        jac, turning = mpmath.zeros(8, 9), mpmath.zeros(8, 9)
        for row, ends in enumerate(pins):
            for sign, end in zip((-1, 1), ends, strict=True):
                if end is not None:
                    k, (rx, ry) = end[0], arm(*end)
                    jac[2 * row, 3 * k] = jac[2 * row + 1, 3 * k + 1] = num(sign)
                    jac[2 * row, 3 * k + 2], jac[2 * row + 1, 3 * k + 2] = -sign * ry, sign * rx
                    turning[2 * row, 3 * k + 2], turning[2 * row + 1, 3 * k + 2] = -sign * rx, -sign * ry
        drive = mpmath.zeros(1, 9)
        drive[0, 2] = num(1)
        square = mpmath.matrix([*jac.tolist(), *drive.tolist()])
        speeds = mpmath.lu_solve(square, mpmath.matrix([0] * 8 + [num(crank_speed)]))
        whole, right = mpmath.zeros(17, 17), mpmath.zeros(17, 1)
        for k, body in enumerate(BODIES):
            mass, moment = num(str(body["mass"])), num(str(body["inertia"][2]))
            for j, value in enumerate((mass, mass, moment)):
                whole[3 * k + j, 3 * k + j] = value
            right[3 * k + 1] = -mass * num(str(GRAVITY))
        right[2] += num(tau)
        for i in range(8):
            for j in range(9):
                whole[9 + i, j], whole[j, 9 + i] = jac[i, j], -jac[i, j]
            right[9 + i] = -sum(turning[i, j] * speeds[j] ** 2 for j in range(9))
        found = mpmath.lu_solve(whole, right)
        return np.array([float(found[3 * k + 2]) for k in range(3)]), np.array([float(found[15]), float(found[16])])


@pytest.mark.parametrize("crank", [0.3, 2.0, 4.4])
def test_a_four_bar_by_lagrange_multipliers_in_cartesian_coordinates(crank: float) -> None:
    mech, q = four_bar(), assembled(crank)
    speed, effort = 3.0, 2.5
    lead = np.linalg.svd(mech.kernel("closure_jacobian")(q))[2][-1]
    qd = lead * (speed / lead[0])
    qdd = mech.forward_dynamics(q, qd, [effort, 0.0, 0.0])
    turning, force = by_multipliers(q, speed, effort)
    error = np.abs([qdd[0] - turning[0], qdd[0] + qdd[1] - turning[1], qdd[2] - turning[2]]).max()
    f = mech.kernel("constraint_forces")(q, qd, [effort, 0.0, 0.0])
    angle = q[0] + q[1]  # F1 is on the coupler
    world = np.array([np.cos(angle) * f[0] - np.sin(angle) * f[1], np.sin(angle) * f[0] + np.cos(angle) * f[1]])
    print(error, np.abs(turning).max(), np.abs(world - force).max(), np.abs(force).max())
    # double precision against 40 digits: rounding times the condition, about 1e2
    assert error < 1e-12 * (1 + np.abs(turning).max())
    assert np.abs(world - force).max() < 1e-12 * (1 + np.abs(force).max())


def test_a_parallelogram_is_joints_that_follow() -> None:
    """The loop makes the other two angles follow the crank; so do joints that are told to, and there is no loop then."""
    loop, follows = parallelogram(), parallelogram(coupled=True)
    for angle, rate, effort in [(0.7, 2.0, 3.0), (-1.2, 0.5, -4.0), (2.5, -3.0, 0.0)]:
        q, qd, tau = np.array([1.0, -1.0, 1.0]) * angle, np.array([1.0, -1.0, 1.0]) * rate, np.array([effort, 0.0, 0.0])
        qdd = loop.forward_dynamics(q, qd, tau)
        alone = follows.forward_dynamics([angle], [rate], [effort])[0]
        assert np.abs(qdd - alone * np.array([1.0, -1.0, 1.0])).max() < 1e-12 * (1 + abs(alone))


def test_it_does_not_matter_where_a_loop_is_cut() -> None:
    """A hinge that closes a loop is a turning joint of a longer chain whose end is closed fully."""
    hinge, q = random_loop(12, "hinge", MIXED[:6], motor=False)
    (loop,) = hinge.loops
    turning = Link(name="last", parent=loop.first, before=loop.first_frame)
    full = Mechanism([*hinge.links, turning], loops=[Loop("full", "last", loop.second, None, loop.second_frame)])
    poses = dict(zip(hinge.link_names, hinge.link_poses(q), strict=True))
    turn = np.linalg.solve(poses[loop.first] @ loop.first_frame, poses[loop.second] @ loop.second_frame)
    there = np.append(q, np.arctan2(turn[1, 0], turn[0, 0]))
    qd, tau = closed_state(full, there, 3)
    tau[-1] = 0.0
    one, two = both(hinge, q, qd[:-1], tau[:-1])[0], both(full, there, qd, tau)[0]
    print(np.abs(one - two[:-1]).max(), np.abs(two).max())
    assert np.abs(one - two[:-1]).max() < 1e-12 * (1 + np.abs(two).max())


def test_a_joint_that_follows_in_a_loop() -> None:
    """The closure equations hold for the joints, the efforts for the coordinates."""
    from linkwise import Mimic

    rng = np.random.default_rng(8)
    body = {"mass": 1.0, "com": (0.1, 0.05, -0.1), "inertia": (0.02, 0.03, 0.025)}
    names = [f"l{k}" for k in range(6)]
    links = [Link(name=name, before=random_pose(rng), axis=rng.normal(size=3), **body) for name in names]
    links[4] = links[4].replace(mimic=Mimic("l1", 1.5))
    tree = Mechanism(links)
    q = rng.uniform(-1, 1, tree.nq)
    mech = tree.replace(loops=[Loop("point", "l5", "base", None, np.asarray(tree.forward_kinematics(q, link="l5")))])
    free = tree.replace(links=[link.replace(mimic=None) for link in links], loops=mech.loops)
    qd, tau = closed_state(mech, q, 2)
    spread = np.insert(np.eye(5), 4, 1.5 * np.eye(5)[1], axis=0)
    jac, held = free.kernel("closure_jacobian")(spread @ q), cut(free)
    matrix = spread.T @ held.mass_matrix(spread @ q) @ spread
    bias = spread.T @ held.inverse_dynamics(spread @ q, spread @ qd, np.zeros(6))
    table = np.block([[matrix, -(jac @ spread).T], [jac @ spread, np.zeros((3, 3))]])
    right = np.concatenate([tau - bias, -free.kernel("closure_bias")(spread @ q, spread @ qd)])
    expected = np.linalg.solve(table, right)
    qdd, forces = both(mech, q, qd, tau)
    assert np.abs(qdd - expected[:5]).max() < 1e-12 * (1 + np.abs(expected).max())
    assert np.abs(forces - expected[5:]).max() < 1e-12 * (1 + np.abs(expected).max())


def test_the_same_loop_twice_changes_nothing() -> None:
    mech, q = case("point")
    twice = mech.replace(loops=[*mech.loops, *mech.loops])
    qd, tau = closed_state(mech, q, 5)
    (one, once), (two, shared) = both(mech, q, qd, tau), both(twice, q, qd, tau)
    assert np.abs(one - two).max() < 1e-12 * (1 + np.abs(one).max())
    assert np.abs(shared.reshape(2, -1).sum(axis=0) - once).max() < 1e-11 * (1 + np.abs(once).max())


def test_links_without_mass_where_loops_let_nothing_move_alone() -> None:
    """M of the tree is singular; [M -J'; J 0] is not, and the accelerations are the limit of ever smaller masses."""
    mech, q = four_bar(), assembled(0.8)
    light = mech.replace(links=[mech.links[0], mech.links[1], mech.links[2].replace(mass=0.0, com=(0, 0, 0), inertia=0.0)])
    with pytest.raises(ModelError, match="joint 'rocker': inertia is 0"):
        cut(light).forward_dynamics(q, np.zeros(3), np.zeros(3))
    qd, tau = closed_state(mech, q, 1)
    qdd, forces = both(light, q, qd, tau)
    jac = mech.kernel("closure_jacobian")(q)[:2]
    whole = np.block([[cut(light).mass_matrix(q), -jac.T], [jac, np.zeros((2, 2))]])
    held = cut(light).inverse_dynamics(q, qd, np.zeros(3))
    expected = np.linalg.solve(whole, np.concatenate([tau - held, -mech.kernel("closure_bias")(q, qd)[:2]]))
    assert np.abs(qdd - expected[:3]).max() < 1e-12 * (1 + np.abs(expected).max())
    assert np.abs(forces[:2] - expected[3:]).max() < 1e-12 * (1 + np.abs(expected).max())
    nothing = mech.replace(links=[link.replace(mass=0.0, com=(0, 0, 0), inertia=0.0) for link in mech.links])
    with pytest.raises(ModelError, match="joint 'rocker': inertia is 0"):
        nothing.forward_dynamics(q, qd, tau)


# ── what is not answered ──────────────────────────────────────────────────────────────────────────


def test_states_that_are_not_closed_are_not_answered() -> None:
    mech, q = four_bar(), assembled(0.8)
    qd, tau = closed_state(mech, q, 1)
    tip = np.array([0.0, 0.0, 1.0])
    asked = (
        (q, qd, True),
        (q + 1e-8 * tip, qd, True),
        (q, qd * (1 + 1e-3), True),
        (q, 0 * qd, True),
        (q, 1e-14 * np.ones(3), True),
        (q + 1e-3 * tip, qd, False),
        (q, qd + 1e-3 * tip, False),
        (np.zeros(3), 0 * qd, False),
    )
    for position, speeds, known in asked:
        with np.errstate(all="ignore"):
            qdd, forces = both(mech, position, speeds, tau)
            for made in (qdd, forces[:2]):
                assert np.isfinite(made).all() if known else np.isnan(made).all(), (position, speeds)


def test_a_hinge_closed_the_other_way_round_is_not_answered() -> None:
    """Opposed axes meet the equations of a hinge too."""
    links = [
        Link(name="a", parent="base", axis=(1, 0, 0), mass=1.0, com=(0, 0.1, 0), inertia=(0.1, 0.1, 0.1)),
        Link(name="b", parent="base", mass=1.0, com=(0, 0.1, 0), inertia=(0.1, 0.1, 0.1)),
    ]
    mech = Mechanism(links, loops=[Loop("hinge", "a", "b")])
    still = np.zeros(2)
    assert np.isfinite(mech.forward_dynamics([0.0, 0.4], still, still)).all()
    with np.errstate(all="ignore"):
        assert np.isnan(mech.forward_dynamics([np.pi, 0.4], still, still)[1])  # the other cannot move in any case


def test_a_singular_position_is_not_answered_and_one_beside_it_is() -> None:
    mech, still = parallelogram(), np.zeros(3)
    with np.errstate(all="ignore"):
        assert np.isnan(mech.forward_dynamics(still, still, still)).all()
        assert np.isnan(both(mech, still, still, still)[1][:2]).all()
    one = np.array([1.0, -1.0, 1.0])
    beside = mech.forward_dynamics(1e-4 * one, still, still)
    exact = parallelogram(coupled=True).forward_dynamics([1e-4], [0.0], [0.0])[0] * one
    print(np.abs(beside - exact).max())
    assert np.abs(beside - exact).max() < 1e-16 / 1e-8 * 1e2 * (1 + np.abs(exact).max())  # rounding over the sine squared


def test_loops_that_cannot_be_closed() -> None:
    short = four_bar().replace(loops=[Loop("point", "coupler", "rocker", translation(5.0, 0, 0), None, "pin")])
    with pytest.raises(ModelError) as caught:
        short.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    said = str(caught.value)
    assert said.startswith("mechanism 'four-bar': loops is ['pin']; expected loops that can be closed (the best of many")
    with pytest.raises(ArgumentError, match=r"'planar_2r'.*constraint_forces"):
        robots.planar_2r().kernel("constraint_forces")


def test_a_planar_linkage_standing_askew_moves_as_it_did() -> None:
    """Turned as a whole, and its pin described in axes that lie anyhow: three equations, of which two are independent."""
    rng, (mech, _) = np.random.default_rng(6), case("four_bar")
    place, axes, (pin,) = random_pose(rng), random_pose(rng), mech.loops
    axes[:3, 3] = 0.0
    loop = Loop("point", pin.first, pin.second, pin.first_frame @ axes, pin.second_frame, "pin")
    askew = mech.replace(base=place, gravity=place[:3, :3] @ mech.gravity, loops=[loop])
    q = near_zero(mech)
    qd, tau = closed_state(mech, q, 2)
    (qdd, forces), (turned, found) = both(mech, q, qd, tau), both(askew, q, qd, tau)
    assert (independent_closure(askew).rank, independent_closure(askew).rows) == (2, (0, 1, 2))
    assert np.abs(turned - qdd).max() < 1e-11 * (1 + np.abs(qdd).max())
    assert np.abs(axes[:3, :3] @ found - forces[:3]).max() < 1e-11 * (1 + np.abs(forces).max())


def test_a_loop_that_closes_nothing() -> None:
    """Two links on one axis are pinned to each other there already."""
    body = {"mass": 1.0, "com": (0.1, 0.05, 0.0), "inertia": (0.01, 0.01, 0.01)}
    links = [Link(name=name, parent="base", **body) for name in "ab"]
    mech = Mechanism(links, loops=[Loop("hinge", "a", "b")], gravity=(0, -9.81, 0))
    q, qd, tau = np.array([0.1, 0.2]), np.array([1.0, 2.0]), np.array([0.3, 0.4])
    qdd, forces = both(mech, q, qd, tau)
    assert np.allclose(qdd, cut(mech).forward_dynamics(q, qd, tau), rtol=0, atol=1e-12)
    assert not forces.any()
