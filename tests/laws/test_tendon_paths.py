"""Springs along paths around spheres and cylinders and over pulleys: beside MuJoCo, finite differences and each other."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise import LinearSpringDamper, Link, Mechanism, Pulley, WrapCylinder, WrapSphere, robots
from linkwise.dynamics.recursions import line_slope
from linkwise.errors import ArgumentError, FileError, ModelError
from linkwise.files.formats.mjcf import writer
from linkwise.spatial.transform import translation
from support.mujoco_model import tendon_jacobian
from support.random_mechanisms import (
    column_by_column,
    direct,
    random_mechanism,
    random_pose,
    random_state,
    relative,
    variant,
)

ROUNDING = 2e-12
"""That of `test_springs`: what solves with a mass matrix of the condition 1e3 to 1e4."""


def paths(first: str, last: str, seed: int = 0) -> list[list[Any]]:
    """Around a sphere, with and without a side, and through one; around a cylinder; over pulleys."""
    rng = np.random.default_rng(seed)
    a, b, c, d = (rng.normal(size=3) * 1.5 for _ in range(4))
    frame = random_pose(rng)
    return [
        [("base", a), WrapSphere(first, 0.9, (0.1, 0.2, 0.0)), (last, b)],
        [("base", a), WrapSphere(first, 0.4, side=(0.3, 0.5, -0.2)), (last, c)],
        [("base", b), WrapSphere(last, 0.3, (0.0, 0.1, 0.2), side=(0.0, 0.1, 0.3)), (first, d)],
        [(first, c), WrapCylinder("base", 0.7, frame, side=(last, (4.0, 0.1, 0.4))), (last, a)],
        [
            Pulley(2.0),
            ("base", d),
            WrapCylinder(first, 0.5, frame, side=(1.0, 0.2, 0.3)),
            (last, b),
            (last, c),
            Pulley(0.7),
            (first, a),
            (last, d),
        ],
    ]


def tendons(mech: Mechanism, **law: float) -> Mechanism:
    """The mechanism with a spring along each path, between its first and last links."""
    law = law or {"stiffness": 20.0, "rest": 0.5, "damping": 1.0, "force": 0.3}
    names = mech.link_names
    return mech.replace(springs=[LinearSpringDamper(points, **law) for points in paths(names[0], names[-1])])


def is_wrapped(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    """Which paths are longer than they would be without what they wrap."""
    result = []
    for element in mech.springs:
        bare = LinearSpringDamper([x for x in element.points if not isinstance(x, (WrapSphere, WrapCylinder))])  # type: ignore[attr-defined]
        lengths = [float(line_slope(mech, each, q)[0]) for each in (element, bare)]
        result.append(lengths[0] > lengths[1] * (1.0 + 1e-9))
    return np.array(result)


@pytest.mark.parametrize("name", ["joints 1", "floating rotors 1", "coupled 1", "freedoms 3"])
def test_both_dynamics_and_lagrange(name: str) -> None:
    mech = tendons(variant(name), stiffness=20.0, rest=0.5, damping=1.0, inertia=0.4)
    wrapped, errors = np.zeros(5, dtype=bool), []
    for seed in range(3):
        q, qd, qdd = random_state(mech, seed)
        wrapped |= is_wrapped(mech, q)
        tau = direct(mech, "inverse_dynamics", q, qd, qdd)
        errors.append(relative(direct(mech, "forward_dynamics", q, qd, tau), qdd))
        errors.append(relative(direct(mech, "lagrange_dynamics", q, qd, qdd), tau))
    print(errors, wrapped)
    assert wrapped.sum() >= 2
    assert max(errors) < ROUNDING


@pytest.mark.parametrize("name", ["joints 1", "freedoms 3"])
def test_derivatives(name: str) -> None:
    """Against Richardson's differences, also of the energy: 1e-11 is what they are good for at these steps."""
    mech = tendons(variant(name))
    plain, errors = mech.replace(springs=()), []
    for seed in range(3):
        q, qd, qdd = random_state(mech, seed)

        def moved(step: np.ndarray, state: Any = (q, qd, qdd)) -> np.ndarray:
            return direct(mech, "inverse_dynamics", mech.integrate(state[0], step, 1.0), *state[1:])

        def stored(step: np.ndarray, at: np.ndarray = q) -> np.ndarray:
            place = mech.integrate(at, step, 1.0)
            return np.asarray(direct(mech, "potential_energy", place) - direct(plain, "potential_energy", place))

        by_q = direct(mech, "inverse_dynamics_derivatives", q, qd, qdd)[0]
        errors.append(relative(by_q, column_by_column(moved, mech.nv, 1e-3)))
        weights = np.linspace(-1.0, 2.0, mech.nv)
        if not mech.manifold_joints:  # (in reverse mode, by the coordinates themselves)
            back = mech.kernel("inverse_dynamics", backend="numpy").vjp(q, qd, qdd, weights)[0]
            assert relative(back, weights @ by_q) < 1e-12
        slope = column_by_column(stored, mech.nv, 1e-3)
        errors.append(relative(slope, direct(mech, "spring_torque", q, np.zeros(mech.nv))))
    print(errors)
    assert max(errors) < 1e-9


def test_joint_wrenches_carry_what_the_joints_take() -> None:
    """The moment about each axis is the effort of inverse dynamics, whatever the tendons wrap."""
    mech = random_mechanism(2, ["revolute"] * 4, [-1, 0, 1, 1], motors=False)
    mech = tendons(mech)
    for seed in range(3):
        q, qd, qdd = random_state(mech, seed)
        wrenches, poses = direct(mech, "joint_wrenches", q, qd, qdd), direct(mech, "link_poses", q)
        taken = []
        for link, wrench, pose in zip(mech.links, wrenches, poses, strict=True):
            frame = pose @ np.linalg.inv(link.after)
            axis = frame[:3, :3] @ link.axis
            taken.append(axis @ (wrench[3:] - np.cross(frame[:3, 3], wrench[:3])))
        assert relative(np.array(taken), direct(mech, "inverse_dynamics", q, qd, qdd)) < 1e-12


@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("parents", [(-1, 0, 1, 2), (-1, 0, 0, 2), (-1, 0, 1, 1)])
def test_is_that_of_mujoco(parents: tuple[int, ...], through: bool) -> None:
    """Lengths, slopes, passive forces and accelerations of what the writer makes of a random tree.

    Paths through a sphere are apart: MuJoCo finds where they touch to 1e-5 or better.
    """
    mech = random_mechanism(sum(parents), ["revolute", "revolute", "prismatic", "revolute"], parents, motors=False)
    law: dict[str, Any] = {"stiffness": 30.0, "rest": 0.6, "damping": 2.0, "slack": 0.3}
    chosen = paths(mech.link_names[0], mech.link_names[-1], 1)
    chosen = chosen[2:3] if through else [*chosen[:2], *chosen[3:]]
    mech = mech.replace(springs=[LinearSpringDamper(points, **law) for points in chosen])
    model = mujoco.MjModel.from_xml_string(writer.render(mech))
    data, rng = mujoco.MjData(model), np.random.default_rng(4)
    errors, wrapped = np.zeros(4), np.zeros(len(chosen), dtype=int)
    for _ in range(40):
        data.qpos[:] = q = rng.uniform(-3.0, 3.0, 4)
        data.qvel[:] = qd = rng.normal(size=4)
        mujoco.mj_forward(model, data)
        seen = [line_slope(mech, element, q) for element in mech.springs]
        wrapped += is_wrapped(mech, q)
        now = [
            relative(np.array([s[0] for s in seen], dtype=float), data.ten_length),
            relative(np.array([s[1] for s in seen], dtype=float), tendon_jacobian(model, data)),
            relative(-direct(mech, "spring_torque", q, qd), data.qfrc_passive),
            relative(direct(mech, "forward_dynamics", q, qd, np.zeros(4)), data.qacc),
        ]
        errors = np.maximum(errors, now)
    print(errors, wrapped)
    assert wrapped.all()
    assert errors[0] < (1e-11 if through else 1e-14)
    assert errors[1:].max() < (2e-5 if through else ROUNDING)


def test_a_batch_is_a_loop_and_both_back_ends_agree() -> None:
    mech = tendons(variant("joints 1"))
    state = random_state(mech, 1, (9,))
    for name in ("spring_torque", "forward_dynamics", "potential_energy"):
        kernel, slow = mech.kernel(name), mech.kernel(name, backend="numpy")
        args = (*state[:2], state[2])[: len(kernel.tape.inputs)]
        batch = kernel(*args)
        for k in range(9):
            assert np.array_equal(batch[k], kernel(*(value[k] for value in args)))
        assert relative(batch, slow(*args)) < ROUNDING


def test_long_chains_fall_back_to_straight_lines() -> None:
    """Of 40 bodies the rest is looped; what the tendons act on is not, and is right."""
    chain = random_mechanism(3, ["revolute"] * 40, list(range(-1, 39)), ["general"] * 40, motors=False)
    points = [("part0", (0.5, 0, 0)), WrapSphere("part1", 0.2, side=(0.3, 0, 0)), ("part2", (0.1, 0.6, 0))]
    mech = chain.replace(springs=[LinearSpringDamper(points, 5.0, 0.1)])
    kernel = mech.kernel("inverse_dynamics")
    assert (chain.kernel("inverse_dynamics").tier, kernel.tier) == ("looped", "straight")
    q, qd, qdd = random_state(mech, 1)
    added = kernel(q, qd, qdd) - chain.inverse_dynamics(q, qd, qdd)
    assert relative(added, np.asarray(mech.spring_torque(q, qd), dtype=float)) < 1e-9  # (differences of efforts of 1e4)
    with pytest.raises(ArgumentError, match="springs between links"):
        mech.kernel("inverse_dynamics", tier="looped")


def test_locked_attached_and_cut(tmp_path: Path) -> None:
    one, rng = robots.puma560(), np.random.default_rng(6)
    springs = [LinearSpringDamper(points, 50.0, 0.2, 1.0) for points in paths("link2", "link5", 3)]
    arm = one.replace(springs=springs)
    q, qd = rng.normal(size=(2, 6))
    torque = direct(arm, "spring_torque", q, qd)
    both = robots.planar_2r().attach(arm, to="link1", at=translation(0.1, 0.2, 0.3), prefix="g_")
    found = direct(both, "spring_torque", np.concatenate([[0.3, 0.4], q]), np.concatenate([[0.0, 0.0], qd]))
    assert relative(found[2:], torque) < 1e-13
    assert both.springs[0].links == ("link1", "g_link2", "g_link5")
    held = arm.lock({"link3": q[2]})
    still = qd * [1, 1, 0, 1, 1, 1]
    found = direct(held, "spring_torque", np.delete(q, 2), np.delete(still, 2))
    assert relative(found, np.delete(direct(arm, "spring_torque", q, still), 2)) < 1e-13
    above = arm.subtree("link3", q)
    assert len(above.springs) == len(springs)
    outside = direct(arm, "spring_torque", q, np.append([0, 0], qd[2:]))[2:]
    assert relative(direct(above, "spring_torque", q[2:], qd[2:]), outside) < 1e-13
    k = lw.symbols("k")
    symbolic = one.replace(springs=[LinearSpringDamper(springs[0].points, k)])
    assert symbolic.substitute({k: 50.0}) == one.replace(springs=[LinearSpringDamper(springs[0].points, 50.0)])
    assert pickle.loads(pickle.dumps(arm)) == arm
    assert hash(arm.springs[1]) != hash(arm.springs[2])
    lw.save(arm, tmp_path / "arm.toml")
    assert lw.load(tmp_path / "arm.toml") == arm
    assert "the line between base and link2 and link5" in str(arm)


def hanging() -> Mechanism:
    """A pendulum on a rope over a roll on the ground."""
    link = Link(name="arm", mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    roll = WrapCylinder("base", 0.2, translation(0.0, 0.3, 0.0))
    rope = LinearSpringDamper([("base", (-1.0, 0.2, 0)), roll, ("arm", (0.9, 0.1, 0))], 40.0, 1.6, 0.8)
    return Mechanism([link], gravity=(0, -2.0, 0), springs=[rope])


def test_equilibrium_linearisation_and_simulation() -> None:
    """At rest the torque is none; the linearisation is the slope; what the damper takes closes the account of energy."""
    mech = hanging()
    rest = mech.static_equilibrium([0.2])
    assert rest.success
    assert is_wrapped(mech, rest.q).all()
    assert abs(mech.inverse_dynamics(rest.q, [0.0], [0.0])).max() < 1e-10
    step = 1e-5
    slope = [mech.forward_dynamics(rest.q + s, [0.0], [0.0])[0] for s in (-step, step)]
    assert abs(mech.linearize(rest.q).A[1, 0] - (slope[1] - slope[0]) / (2 * step)) < 1e-6
    out = lw.simulate(mech, [1.2], t=(2.0, 1e-3), energies=True)
    wrapped = [is_wrapped(mech, q)[0] for q in out.q[::100]]
    print(f"{np.abs(out.energy_error).max():.1e}, {sum(wrapped)} of {len(wrapped)} wrapped")
    assert {*wrapped} == {True, False}
    assert out.energy is not None
    assert out.energy[-1] < out.energy[0] - 0.1
    assert np.abs(out.energy_error).max() < 1e-6


def test_equations_have_the_wrapping() -> None:
    """In cases; a path through a cylinder is a message, for its iteration would be too long to write out."""
    mech = hanging()
    e = mech.equations()
    written = sympy.lambdify([*e.q, *e.qd], e.springs)
    for q in (0.3, 1.2):
        assert abs(written(q, 0.7).item() - mech.spring_torque([q], [0.7]).item()) < 1e-12
    through = [("base", (-1.0, 0.2, 0)), WrapCylinder("base", 0.2, side=(0, 0.1, 0)), ("arm", (0.9, 0.1, 0))]
    with pytest.raises(ArgumentError, match="springs written out has"):
        _ = mech.replace(springs=[LinearSpringDamper(through, 1.0)]).equations().springs


A, B = ("a", (0, 0, 0)), ("base", (1, 0, 0))
BALL = WrapSphere("a", 0.1)
BESIDE = WrapSphere("a", 0.1, side=("b", (0, 0, 1)))
MALFORMED: list[tuple[Callable[[], Any], str]] = [
    (lambda: WrapSphere("", 0.1), "link"),
    (lambda: WrapSphere("a", 0.0), "radius"),
    (lambda: WrapSphere("a", -0.1), "radius"),
    (lambda: WrapSphere("a", np.nan), "radius"),
    (lambda: WrapSphere("a", lw.symbols("r")), "radius"),
    (lambda: WrapSphere("a", 0.1, (0, 0)), "center"),
    (lambda: WrapSphere("a", 0.1, side=(0, 0, lw.symbols("h"))), "side"),
    (lambda: WrapSphere("a", 0.1, side=("b", (0, 0))), "side"),
    (lambda: WrapSphere("a", 0.1, side=("", (0, 0, 1))), "side"),
    (lambda: Mechanism([Link(name="a")], springs=[LinearSpringDamper([A, BESIDE, B], 1.0)]), "points"),
    (lambda: WrapCylinder(None, 0.1), "link"),
    (lambda: WrapCylinder("a", 0.1, np.ones((4, 4))), "frame"),
    (lambda: WrapCylinder("a", 0.1, translation(0, 0, lw.symbols("h"))), "frame"),
    (lambda: WrapCylinder("a", 0.1, side="left"), "side"),
    (lambda: Pulley(0.0), "divisor"),
    (lambda: Pulley(-2.0), "divisor"),
    (lambda: Pulley("2"), "divisor"),
    (lambda: LinearSpringDamper([BALL, A, B], 1.0), "points"),
    (lambda: LinearSpringDamper([A, B, BALL], 1.0), "points"),
    (lambda: LinearSpringDamper([A, BALL, BALL, B], 1.0), "points"),
    (lambda: LinearSpringDamper([A, BALL], 1.0), "points"),
    (lambda: LinearSpringDamper([A, Pulley(2.0), B], 1.0), "points"),
    (lambda: LinearSpringDamper([A, B, Pulley(2.0)], 1.0), "points"),
    (lambda: LinearSpringDamper([A, B, Pulley(2.0), Pulley(2.0), A, B], 1.0), "points"),
    (lambda: LinearSpringDamper([A, BALL, ("a", (1, 0, 0))], 1.0), "points"),
    (lambda: LinearSpringDamper([A, 0.1, B], 1.0), "points"),
    (lambda: Mechanism([Link(name="b")], springs=[LinearSpringDamper([A, BALL, B], 1.0)]), "points"),
]


@pytest.mark.parametrize("case", range(len(MALFORMED)))
def test_malformed(case: int) -> None:
    make, field = MALFORMED[case]
    with pytest.raises(ModelError) as raised:
        make()
    assert {problem.field for problem in raised.value.problems} == {field}


TOML = """format = "linkwise 1"
[[link]]
name = "a"
[[linear_spring_damper]]
links = ["base", "a"]
points = [[0, 0, 1], [0, 0, 0]]
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('wraps = [{after = 1, kind = "ball", link = "a", radius = 1}]', "kind is 'ball'"),
        ('wraps = [{after = 1, kind = "sphere", link = "a", radius = 0}]', "radius is 0"),
        ('wraps = [{after = 9, kind = "sphere", link = "a", radius = 1}]', "after is 9"),
        ('wraps = [{after = 0, kind = "sphere", link = "a", radius = 1}]', "points is"),
        ('wraps = [{after = 1, kind = "sphere", link = "a", radius = 1, frame = {xyz = [1, 2, 3]}}]', "frame is"),
        ('wraps = [{after = 1, kind = "cylinder", link = "b", radius = 1}]', "points is 'b'"),
        ('wraps = {after = 1, kind = "cylinder", link = "b", radius = 1}', "expected a list of tables"),
        ("wraps = [3]", "wraps 1 is 3"),
        ('wraps = [{after = 1, kind = "cylinder", link = "a", radius = 1, side_link = "base"}]', "side_link is 'base'"),
        ("pulleys = [{after = 0}]", "has no"),
        ("pulleys = [{after = 0, divisor = -1}]", "divisor is -1"),
    ],
)
def test_malformed_files(line: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        lw.loads(TOML + line + "\n")
