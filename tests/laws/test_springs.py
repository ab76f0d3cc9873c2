"""Springs, dampers and end stops: work, energy and derivatives, beside Lagrange's equations and finite differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import BallSpring, ConstantForce, EndStop, LinearSpringDamper, Link, Mechanism, Spring, robots
from linkwise.dynamics.recursions import spring_efforts
from linkwise.errors import ArgumentError, ModelError
from linkwise.spatial.transform import translation
from support.random_mechanisms import COUPLED, FLOATING, SEVERAL, column_by_column, direct, random_state, relative, variant

NAMES = ("joints 0", "joints 1", "rotors 3", *COUPLED, *FLOATING[:2], *SEVERAL)
ROUNDING = 2e-12
"""Seen: 7e-13, what solves with a mass matrix of the condition 1e3 to 1e4."""


def sprung(name: str) -> Mechanism:
    """A variant with a spring and damper on its first coordinate, a tendon over all, an end stop that is touched, lines
    between the base and the links: one with a rest, one through three points, one with a linear force, two with inertia; a
    constant force, and springs and end stops on ball joints."""
    mech = variant(name)
    rng = np.random.default_rng(3)
    names = [coordinate for link in mech.links for coordinate in link.coordinate_names]
    first, last = mech.link_names[0], mech.link_names[-1]
    balls = [at.name for at in mech.manifold_joints if at.joint.is_rotation]
    return mech.replace(
        springs=[
            Spring(names[0], stiffness=30.0, rest=0.3, damping=2.0, force=0.7),
            Spring(
                {each: float(rng.normal()) for each in names},
                stiffness=5.0,
                rest=0.1,
                damping=0.4,
                name="tendon",
                inertia=0.6,
            ),
            EndStop(names[-1], 1000.0, 50.0, limits=(-0.1, 0.1)),
            *(Spring(names[-1], 20.0, rest, 0.3, slack=0.2) for rest in (-3.0, -0.1, 3.0)),
            Spring(names[0], 2.0, rest=0.1, slack=0.1, nonlinear_stiffness=(-3.0, 4.0)),
            LinearSpringDamper([("base", (0.1, 0.2, 3.0)), (last, (0.1, 0.2, 0.3))], 20.0, 0.5, 1.0, 0.3),
            LinearSpringDamper(
                [("base", (0, 2, 0)), (first, (0.4, 0, 0.1)), (first, (0, 0, 0.2)), (last, (0, 1, 0))], 9.0, inertia=0.4
            ),
            LinearSpringDamper([("base", (2.0, 0, 0)), (last, (0, 0, 0))], 4.0, name="linear"),
            ConstantForce(last, (3.0, -2.0, 5.0), (0.1, 0.2, 0.3)),
            *(BallSpring(name, 6.0, (0.6, 0.0, 0.8, 0.0)) for name in balls),
            *(EndStop(name, 20.0, 3.0, limits=(0.0, 0.1)) for name in balls),
        ]
    )


@pytest.mark.parametrize("name", NAMES[::2])
def test_both_dynamics_and_lagrange(name: str) -> None:
    mech = sprung(name)
    q, qd, qdd = random_state(mech, 1)
    tau = direct(mech, "inverse_dynamics", q, qd, qdd)
    assert relative(tau, direct(mech.replace(springs=()), "inverse_dynamics", q, qd, qdd)) > 1e-3
    errors = [
        relative(direct(mech, "forward_dynamics", q, qd, tau), qdd),
        relative(direct(mech, "lagrange_dynamics", q, qd, qdd), tau),
    ]
    print(errors)
    assert max(errors) < ROUNDING


@pytest.mark.parametrize("name", ["joints 0", "rotors 3", "freedoms 3"])
def test_derivatives(name: str) -> None:
    """Against Richardson's differences: 1e-11 is what they are good for at these steps."""
    mech = sprung(name)
    q, qd, qdd = random_state(mech, 2)
    tau = direct(mech, "inverse_dynamics", q, qd, qdd)
    for algorithm, state in (("inverse_dynamics", (qd, qdd)), ("forward_dynamics", (qd, tau))):
        by_q, by_qd, _ = direct(mech, f"{algorithm}_derivatives", q, *state)

        def moved(step: np.ndarray, algorithm: str = algorithm, state: Any = state) -> np.ndarray:
            return direct(mech, algorithm, mech.integrate(q, step, 1.0), *state)

        def faster(step: np.ndarray, algorithm: str = algorithm, state: Any = state) -> np.ndarray:
            return direct(mech, algorithm, q, state[0] + step, state[1])

        errors = [
            relative(by_q, column_by_column(moved, mech.nv, 1e-3)),
            relative(by_qd, column_by_column(faster, mech.nv, 1e-3)),
        ]
        print(errors)
        assert max(errors) < 1e-9


@pytest.mark.parametrize("name", ["joints 1", "freedoms 3", FLOATING[0]])
def test_efforts_are_the_slope_of_the_energy(name: str) -> None:
    mech = sprung(name)
    plain = mech.replace(springs=())
    q, _, _ = random_state(mech, 4)

    def stored(step: np.ndarray) -> np.ndarray:
        at = mech.integrate(q, step, 1.0)
        return np.asarray(direct(mech, "potential_energy", at) - direct(plain, "potential_energy", at))

    slope = column_by_column(stored, mech.nv, 1e-3)
    error = relative(slope, direct(mech, "spring_torque", q, np.zeros(mech.nv)))
    print(f"{error:.1e}")
    assert error < 1e-9  # differences of energies of 100 J


def test_locked_attached_and_separated() -> None:
    mech = sprung("freedoms 3")
    q, qd, _ = random_state(mech, 5)
    joint = next(link.coordinate_name for link in mech.links if len(link.coordinate_names) == 1)
    at = mech.names.index(joint)
    place, speed = mech.nq - mech.n + at, mech.nv - mech.n + at
    held = mech.lock({joint: q[place]})
    still = qd.copy()
    still[speed] = 0.0
    found = direct(held, "spring_torque", np.delete(q, place), np.delete(still, speed))
    assert relative(found, np.delete(direct(mech, "spring_torque", q, still), speed)) < 1e-13
    pair = robots.planar_2r().attach(robots.planar_2r().replace(springs=[Spring("link2", 3.0)]), prefix="g_")
    assert pair.springs[0].joints == (("g_link2", 1.0),)  # type: ignore[attr-defined]
    one, rng = robots.puma560(), np.random.default_rng(6)
    line = [("base", rng.normal(size=3)), ("link2", rng.normal(size=3)), ("link5", rng.normal(size=3))]
    arm = one.replace(springs=[LinearSpringDamper(line, 50.0, 0.2, 1.0)])
    q, qd = rng.normal(size=(2, 6))
    torque = arm.spring_torque(q, qd)
    both = robots.planar_2r().attach(arm, to="link1", at=translation(0.1, 0.2, 0.3), prefix="g_")
    found = both.spring_torque(np.concatenate([[0.3, 0.4], q]), np.concatenate([[0.0, 0.0], qd]))
    assert relative(found[2:], torque) < 1e-13
    above = arm.subtree("link3", q)
    assert relative(above.spring_torque(q[2:], qd[2:]), arm.spring_torque(q, np.append([0, 0], qd[2:]))[2:]) < 1e-13
    assert not one.replace(springs=[LinearSpringDamper(line[:2], 1.0)]).subtree("link3").springs
    assert mech.substitute({}) == mech


def test_potentials_locked_attached_and_at_rest(tmp_path: Any) -> None:
    """A weight that is borne on an arm, and a ball joint with a spring: what is left of them, and the slope at no turn."""
    links = [Link(name="a"), Link(name="b", joint="ball", joint_name="wrist", mass=2.0, inertia=[1, 1, 1], com=(0, 0, 0.1))]
    springs = [BallSpring("wrist", 5.0), ConstantForce("b", (0, 0, 2 * 9.81), (0, 0, 0.1))]
    arm = Mechanism(links, springs=springs)
    assert np.allclose(direct(arm, "inverse_dynamics", arm.neutral, np.zeros(4), np.zeros(4)), 0.0, atol=1e-14)
    by_q = direct(arm, "inverse_dynamics_derivatives", arm.neutral, np.zeros(4), np.zeros(4))[0]
    assert np.allclose(by_q, np.diag([5.0, 5.0, 5.0, 0.0]), atol=1e-14)
    assert arm.lock({"wrist": [1, 0, 0, 0]}).springs == (springs[1],)
    assert arm.lock({"a": 0.3}).springs == arm.subtree("b").springs == arm.springs
    assert robots.planar_2r().attach(arm, prefix="g_").springs[1].links == ("g_b",)
    assert arm.replace(links=links[:1], springs=()).attach(arm.subtree("b"), prefix="g_").springs[0].joint == "g_wrist"  # type: ignore[attr-defined]
    lw.save(arm, tmp_path / "arm.toml")
    assert lw.load(tmp_path / "arm.toml") == arm
    assert "springs on wrist, link b (a constant force)" in str(arm)


def test_end_stops_of_ball_joints(tmp_path: Path) -> None:
    """The axis is pushed back into the cone with k x + d x dx/dt, x how far it leans beyond; twist costs nothing."""
    hip = Link(name="thigh", joint="ball", limits=(0.0, 0.5), mass=1.0, com=(0.1, 0.0, -0.3), inertia=(0.1, 0.2, 0.15))
    leg = Mechanism([hip], springs=[EndStop("thigh", 40.0, 8.0), BallSpring("thigh", 2.0)], gravity=(0, 0, 0))
    stop = leg.replace(springs=leg.springs[:1])
    twist, lean = np.array([np.cos(0.4), 0, 0, np.sin(0.4)]), np.array([np.cos(0.35), np.sin(0.35), 0, 0])
    assert np.abs(stop.spring_torque(twist, [0.3, 0.2, 0.1])).max() < 1e-15
    found = stop.spring_torque(lean, [1.5, 0.4, 0.3])
    assert np.abs(found - [40.0 * 0.2 + 8.0 * 0.2 * 1.5, 0.0, 0.0]).max() < 1e-14
    assert abs(stop.potential_energy(lean) - 0.5 * 40.0 * 0.2**2) < 1e-15
    elastic = stop.replace(springs=[EndStop("thigh", 40.0)])
    swung = lw.simulate(elastic, [1.0, 0, 0, 0], [1.0, 0.5, 0.2], t=(1.0, 0.01), method="dop853", energies=True)
    assert np.abs(swung.energy_error).max() < 1e-8, "the tolerance of the steps"
    assert swung.potential.max() > 0.01
    path = tmp_path / "leg.toml"
    lw.save(leg, path)
    again = lw.load(path)
    assert {type(spring) for spring in again.springs} == {EndStop, BallSpring}
    assert np.array_equal(again.spring_torque(lean, [1.0, 2.0, 3.0]), leg.spring_torque(lean, [1.0, 2.0, 3.0]))
    with pytest.raises(ModelError, match="limits is None; expected two numbers"):
        Mechanism([hip.replace(limits=None)], springs=[EndStop("thigh", 1.0)])
    with pytest.raises(ModelError, match=r"restitution is 0\.5"):
        leg.replace(springs=[EndStop("thigh", restitution=0.5)])


@pytest.mark.parametrize("law", [{"rest": 0.1}, {"damping": 2.0}, {"slack": 0.3}, {"force": 1.0}, {"inertia": 0.5}, {}])
def test_where_the_points_of_a_line_coincide(law: dict[str, float]) -> None:
    """A line without direction pulls nowhere; a stiffness with rest 0 has its slope there too, and a slack rope has none."""
    slide = Mechanism([Link(name="x", joint="prismatic", mass=1.0)], gravity=(0, 0, 0))
    mech = slide.replace(springs=[LinearSpringDamper([("base", (0, 0, 0)), ("x", (0, 0, 0))], 5.0, **law)])
    for backend in ("llvm", "numpy"):
        assert mech.kernel("spring_torque", backend=backend)([0.0], [3.0]).tolist() == [0.0]
    assert spring_efforts(mech, np.array([0.0]), np.array([3.0])).tolist() == [0.0]
    assert mech.inverse_dynamics([0.0], [3.0], [0.0]).tolist() == [0.0]
    assert not mech.joint_wrenches([0.0], [3.0], [0.0]).any()
    slope = mech.inverse_dynamics_derivatives([0.0], [0.0], [0.0])[0].item()
    if "rest" in law or "force" in law:
        assert abs(slope) > 1e16
    else:
        assert abs(slope - (0.0 if "slack" in law else 5.0)) < 1e-14


def test_simulation_keeps_the_account_of_energy() -> None:
    """A swinging arm with springs loses what its dampers take, to the fourth power of the step of the record."""
    arm = robots.planar_2r().replace(
        springs=[
            Spring("link1", 200.0, damping=1.0),
            Spring({"link1": 1.0, "link2": -1.0}, 50.0),
            LinearSpringDamper([("base", (0, 0.5, 0)), ("link2", (0.5, 0.1, 0))], 30.0, 0.2, 0.5),
        ]
    )
    errors = []
    for step in (2e-3, 1e-3):
        out = lw.simulate(arm, [0.5, 0.2], t=(1.0, step), energies=True)
        assert out.energy is not None
        assert out.energy[-1] < out.energy[0] - 0.1
        errors.append(float(np.abs(out.energy_error).max()))
    print(errors)
    assert errors[1] < 1e-6
    assert errors[0] / errors[1] > 8.0


def test_end_stops_hold_and_give_back() -> None:
    stop = EndStop("link", stiffness=1e4)
    link = Link(name="link", limits=(-0.5, 0.5), mass=1.0, inertia=(0.5, 0.5, 1.0))
    arm = Mechanism([link], gravity=(0, 0, 0), springs=[stop])
    out = lw.simulate(arm, [0.0], [1.0], t=(2.0, 1e-4))
    assert abs(np.abs(out.q).max() - (0.5 + 1.0 / np.sqrt(1e4))) < 1e-6  # the depth at which k x^2 = I w^2
    assert abs(abs(out.qd[-1, 0]) - 1.0) < 1e-6  # without damping nothing is lost
    damped = arm.replace(springs=[EndStop("link", stiffness=1e4, damping=5e3)])
    assert abs(lw.simulate(damped, [0.0], [1.0], t=(2.0, 1e-4)).qd[-1, 0]) < 0.9


def test_vibrations_and_equilibria() -> None:
    """A mass on a spring: sqrt(k/m); its rest sinks by m g / k."""
    slide = Mechanism([Link(name="x", joint="prismatic", mass=2.0)], springs=[Spring("x", 50.0, rest=0.1)])
    rest = slide.static_equilibrium([0.0])
    assert rest.success
    assert rest.stable
    assert abs(rest.q[0] - (0.1 - 2.0 * 9.81 / 50.0)) < 1e-9
    assert abs(slide.modes(rest.q).frequencies[0] - 5.0) < 1e-12
    assert np.allclose(slide.linearize(rest.q).A, [[0, 1], [-25, 0]], atol=1e-12)


def test_springs_in_a_loop() -> None:
    """A four-bar with a spring: forward after inverse dynamics, loops closed."""
    bars = robots.four_bar().replace(springs=[Spring(robots.four_bar().names[0], stiffness=7.0, rest=0.2)])
    linkage = bars.linkage([bars.names[0]])
    q = linkage.trace([0.7]).q[0]
    still = np.zeros(bars.nv)
    taken = bars.forward_dynamics(q, still, still) - bars.replace(springs=()).forward_dynamics(q, still, still)
    assert np.abs(taken).max() > 1e-3
    effort = -bars.spring_torque(q, still)
    moved = bars.replace(springs=()).forward_dynamics(q, still, effort)
    assert relative(bars.forward_dynamics(q, still, still), moved) < 1e-10


MALFORMED = [
    (lambda: Spring("", 1.0), "joints"),
    (lambda: Spring({}, 1.0), "joints"),
    (lambda: Spring("a", -1.0), "stiffness"),
    (lambda: Spring("a", 1.0, damping=-1.0), "damping"),
    (lambda: Spring("a", 1.0, nonlinear_stiffness=3.0), "nonlinear_stiffness"),
    (lambda: Spring("a", 1.0, nonlinear_stiffness=(1.0, np.inf)), "nonlinear_stiffness"),
    (lambda: Spring("a", 1.0, nonlinear_stiffness=(1.0, lw.symbols("c"))), "nonlinear_stiffness"),
    (lambda: EndStop("a", 1.0, limits=(1.0, 0.0)), "limits"),
    (lambda: EndStop("a", float("nan")), "stiffness"),
    (lambda: Mechanism([Link(name="a")], springs=[Spring("b", 1.0)]), "joints"),
    (lambda: Mechanism([Link(name="a")], springs=[EndStop("a", 1.0)]), "limits"),
    (lambda: Mechanism([Link(name="a", joint="ball")], springs=[Spring("a", 1.0)]), "joints"),
    (lambda: Mechanism([Link(name="a")], springs="stiff"), "springs"),
    (lambda: LinearSpringDamper([("a", (0, 0, 0))], 1.0), "points"),
    (lambda: LinearSpringDamper([("a", (0, 0, 0)), ("a", (1, 0, 0))], 1.0), "points"),
    (lambda: LinearSpringDamper([("a", (0, 0)), ("base", (1, 0, 0))], 1.0), "points"),
    (lambda: LinearSpringDamper([(3, (0, 0, 0)), ("base", (1, 0, 0))], 1.0), "points"),
    (lambda: LinearSpringDamper("ab", 1.0), "points"),
    (lambda: LinearSpringDamper([("a", (0, 0, lw.symbols("h"))), ("base", (1, 0, 0))], 1.0), "points"),
    (lambda: LinearSpringDamper([("a", (0, 0, 0)), ("base", (1, 0, 0))], 1.0, rest=-0.1), "rest"),
    (lambda: LinearSpringDamper([("a", (0, 0, 0)), ("base", (1, 0, 0))], np.nan), "stiffness"),
    (lambda: ConstantForce("a", (1, 2)), "force"),
    (lambda: ConstantForce("a", (1, 2, lw.symbols("f"))), "force"),
    (lambda: ConstantForce(None, (1, 2, 3)), "link"),
    (lambda: Mechanism([Link(name="a")], springs=[ConstantForce("base", (1, 2, 3))]), "link"),
    (lambda: BallSpring("a", -1.0), "stiffness"),
    (lambda: BallSpring("a", 1.0, (1, 1, 0, 0)), "rest"),
    (lambda: BallSpring("a", 1.0, (1, 0, 0)), "rest"),
    (lambda: Mechanism([Link(name="a")], springs=[BallSpring("a", 1.0)]), "joint"),
    (lambda: Mechanism([Link(name="a")], springs=[LinearSpringDamper([("b", (0, 0, 0)), ("a", (1, 0, 0))])]), "points"),
]


@pytest.mark.parametrize(("make", "field"), MALFORMED)
def test_malformed(make: Any, field: str) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    assert [problem.field for problem in caught.value.problems] == [field]  # (once)


def test_identified_beside_springs() -> None:
    """What springs take is known: the same values as without them, and predictions that count them."""
    arm = robots.planar_2r().replace(
        springs=[
            Spring("link1", 20.0, 0.3, 1.0),
            LinearSpringDamper([("base", (0, 2, 0)), ("link2", (0.5, 0, 0))], 30.0, 0.5),
        ]
    )
    motion = np.random.default_rng(7).normal(size=(3, 200, 2))
    tau = arm.inverse_dynamics(*motion)
    found = lw.identification.identify(arm, *motion, tau)
    plain = lw.identification.identify(arm.replace(springs=()), *motion, tau - arm.spring_torque(*motion[:2]))
    assert np.abs(found.values - plain.values).max() < 1e-12
    assert relative(found.predict(*motion), tau) < 1e-12


def test_a_closed_form_that_would_leave_them_out_is_refused() -> None:
    arm = robots.planar_2r().replace(springs=[Spring("link1", 1.0)])
    with pytest.raises(ArgumentError, match="springs"):
        arm.derive("inverse_dynamics", form="explicit")


def test_symbols_and_files(tmp_path: Any) -> None:
    k = lw.symbols("k")
    arm = robots.planar_2r().replace(springs=[Spring("link1", stiffness=k)])
    assert arm.symbols == ("k",)
    assert arm.substitute(k=3.0).springs[0].stiffness == 3.0  # type: ignore[attr-defined]
    springs = [
        Spring("link1", 2.0, rest=0.5, name="one"),
        Spring({"link1": 1.0, "link2": 0.5}, 3.0),
        LinearSpringDamper(
            [("base", (0, 0, 1)), ("link1", (0.5, 0, 0)), ("link2", (0, 0.1, 0))], 7.0, 0.1, 0.2, 0.3, "line"
        ),
        EndStop("link2", 9.0, 1.0, (-1, 2)),
        ConstantForce("link2", (0, 0, 9.81), (0.1, 0, 0), "borne"),
    ]
    full = robots.planar_2r().replace(springs=springs)
    lw.save(full, tmp_path / "arm.toml")
    assert lw.load(tmp_path / "arm.toml") == full
    text = (tmp_path / "arm.toml").read_text()
    degrees = text.replace("format =", 'angles = "deg"\nformat =')
    (tmp_path / "deg.toml").write_text(degrees)
    read = lw.load(tmp_path / "deg.toml").springs
    assert read[0].rest == np.radians(0.5)  # type: ignore[attr-defined]
    assert np.allclose(read[3].limits, np.radians([-1, 2]))  # type: ignore[attr-defined]
    (tmp_path / "bad.toml").write_text(text.replace('joints = "link1"', 'joints = "elbow"'))
    with pytest.raises(lw.errors.FileError, match=r"spring 1: joints is 'elbow'"):
        lw.load(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_text(
        text.replace('links = ["base", "link1", "link2"]', 'links = ["base", "elbow", "link2"]')
    )
    with pytest.raises(lw.errors.FileError, match=r"linear_spring_damper 1: points is 'elbow'"):
        lw.load(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_text(text.replace('links = ["base", "link1", "link2"]', 'links = ["base", "link1"]'))
    with pytest.raises(lw.errors.FileError, match="2 points, one on each"):
        lw.load(tmp_path / "bad.toml")
    with pytest.raises(lw.errors.FileError, match="its springs"):
        lw.save(full, tmp_path / "arm.urdf")


def test_kernels_in_base_parameters_leave_springs_to_the_effort() -> None:
    arm = robots.planar_2r().replace(springs=[Spring("link1", 10.0, rest=0.1)])
    base, q, qd = arm.base_bodies(), np.array([0.5, 0.2]), np.array([0.3, -0.4])
    for name, state in (("gravity_torque", (q,)), ("bias_torque", (q, qd)), ("inverse_dynamics", (q, qd, qd))):
        found = base.kernel(name, backend="numpy")(*state, base.values)
        assert relative(found, direct(arm, name, *state)) < 1e-13


def test_an_end_stop_follows_the_limits_of_its_joint() -> None:
    arm = Mechanism([Link(name="a", limits=(-1, 1))], springs=[EndStop("a", 100.0)])
    nearer = arm.replace_link("a", limits=(-0.1, 0.1))
    assert nearer.spring_torque([0.2], [0.0])[0] == pytest.approx(10.0)
    assert arm.spring_torque([0.2], [0.0])[0] == 0.0


def test_a_tendon_of_lengths_is_not_in_degrees() -> None:
    head = 'format = "linkwise 1"\nangles = "deg"\n[[link]]\nname = "l"\n'
    with pytest.raises(lw.errors.FileError, match=r"spring 1: rest .* degrees"):
        lw.loads(head + '[[spring]]\njoints = "l"\nratios = [0.04]\nrest = 0.02\n')


def test_other_libraries_robots_do_not_lose_them_silently() -> None:
    arm = robots.planar_2r().replace(springs=[Spring("link1", 1.0)])
    with pytest.raises(ArgumentError, match="springs"):
        lw.rtss.from_mechanism(arm)


@pytest.mark.parametrize("name", ["joints 0", SEVERAL[0]])
def test_joints_hold_against_lines_between_links(name: str) -> None:
    """Efforts are joint wrenches along the axes: what pulls at links is held by the joints that carry them."""
    mech = sprung(name)
    links = [link.replace(motor=None) for link in mech.links]
    mech = mech.replace(links=links, motors=(), springs=[element for element in mech.springs if element.links])
    q, qd, qdd = random_state(mech, 5)
    tau, actions = (direct(mech, algorithm, q, qd, qdd) for algorithm in ("inverse_dynamics", "joint_wrenches"))
    moving, first = {at.link: at.v for at in mech.manifold_joints}, mech.nv - mech.n
    for k, link in enumerate(mech.links):
        if link.moves:
            place = first + mech.coordinates[k]
            at = moving.get(k, slice(place, place + link.joint_model.nv))
            columns = direct(mech, "jacobian", q, link=k, frame="world")[:, at]
            force, moment = actions[k, :3], actions[k, 3:]
            point = direct(mech, "link_poses", q)[k, :3, 3]
            along = columns.T @ np.concatenate([force, moment - np.cross(point, force)])
            print(name, k, relative(along, tau[at]))
            assert abs(along - tau[at]).max() < ROUNDING * abs(tau).max()
