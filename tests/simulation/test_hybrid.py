"""Dry friction that sticks, and end stops that are hit, against closed forms and laws of impact."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import EndStop, Feedback, Link, Mechanism, Mimic, Motor, Spring, load, save, simulate
from linkwise.errors import ArgumentError, ModelError
from linkwise.robots import planar_2r, puma560, slider_crank

G, STEEP, MASS = 9.81, 0.5, 2.0


def incline(friction: float) -> Mechanism:
    """A block that slides down along x, with a coefficient of friction."""
    turn = np.eye(4)
    turn[:3, :3] = [[np.cos(STEEP), 0, np.sin(STEEP)], [0, 1, 0], [-np.sin(STEEP), 0, np.cos(STEEP)]]
    motor = Motor(coulomb=friction * MASS * G * np.cos(STEEP))
    return Mechanism([Link(name="block", joint="prismatic", axis=(1, 0, 0), mass=MASS, motor=motor)], base=turn)


def sticking(mechanism: Mechanism, *state: Any, **options: Any) -> Any:
    return simulate(mechanism, *state, **{"method": "rk45", "friction": "stiction", "energies": True, **options})


def ball(restitution: float) -> Mechanism:
    slide = Link(name="z", joint="prismatic", axis=(0, 0, 1), mass=1.5)
    return Mechanism([slide], springs=[EndStop("z", restitution=restitution, limits=(0.0, np.inf))])


def elbow_stop(restitution: float, coulomb: float = 0.0) -> Mechanism:
    links = [link.replace(motor=Motor(coulomb=coulomb)) for link in planar_2r().links]
    return planar_2r().replace(links=links, springs=[EndStop("link2", restitution=restitution, limits=(-1.0, 1.0))])


@pytest.mark.parametrize("method", ["rk45", "dop853", "radau"])
def test_a_block_goes_up_an_incline_and_slides_back(method: str) -> None:
    up, down = (G * (np.sin(STEEP) + sign * 0.3 * np.cos(STEEP)) for sign in (1, -1))
    motion = sticking(incline(0.3), [0.0], [-2.0], t=(2.0, 0.1), method=method)
    turn, t = 2.0 / up, motion.t
    exact = np.where(t < turn, -2.0 * t + 0.5 * up * t**2, -2.0 / up + 0.5 * down * (t - turn) ** 2)
    (event,) = motion.events
    print(np.abs(motion.q[:, 0] - exact).max(), event.time - turn, np.abs(motion.energy_error).max())
    assert (event.name, event.qd[0]) == ("reverse block", 0.0)
    assert abs(event.time - turn) < 1e-9
    assert np.abs(motion.q[:, 0] - exact).max() < 1e-8  # the parabolas are exact but for the tolerances
    assert np.abs(motion.energy_error).max() < 1e-7


def test_a_block_breaks_away_at_more_than_it_slips_against() -> None:
    motor = Motor(coulomb=(3.0, -3.0), breakaway=(5.0, -4.0), gear_ratio=2.0)
    block = Mechanism([Link(name="block", joint="prismatic", axis=(1, 0, 0), mass=MASS, motor=motor)])
    pulled = Feedback(lambda t, _q, _qd, slope: [slope[0] * t], slope=np.array([5.0]))
    motion = sticking(block, t=(3.0, 0.1), torque=pulled)
    (event,) = [event for event in motion.events if event.time > 0]
    since = np.maximum(motion.t - 2.0, 0.0)  # 5 t = 2 * 5
    exact = ((10.0 - 6.0) * since**2 / 2 + 5.0 * since**3 / 6) / MASS
    print(event.time - 2.0, np.abs(motion.q[:, 0] - exact).max(), np.abs(motion.energy_error).max())
    assert event.name == "slip block"
    assert abs(event.time - 2.0) < 1e-9
    assert np.abs(motion.q[:, 0] - exact).max() < 1e-8  # a cubic, exact but for the tolerances
    assert np.abs(motion.energy_error).max() < 1e-7
    other = sticking(block, t=(3.0, 0.1), torque=Feedback(lambda t, _q, _qd: [-5.0 * t]))
    assert abs(next(event.time for event in other.events if event.time > 0) - 1.6) < 1e-9


def test_a_block_that_breaks_away_takes_its_sled_along() -> None:
    """At the block's greatest friction nothing moves; what it slips against is less, and the difference drives the sled."""
    motors = [Motor(coulomb=1.0, breakaway=2.5), Motor(coulomb=2.0, breakaway=5.0)]
    links = [
        Link(name=name, joint="prismatic", axis=(1, 0, 0), mass=1.0, motor=motor)
        for name, motor in zip(("sled", "block"), motors, strict=True)
    ]
    motion = sticking(Mechanism(links), t=(2.0, 0.1), torque=Feedback(lambda t, _q, _qd: [0.0, 5.0 * t]))
    (event,) = [event for event in motion.events if event.time > 0]
    since = np.maximum(motion.t - 1.0, 0.0)
    sled = -(since**2) - 5.0 * since**3 / 6.0  # q1dd = 1 - (5 t - 2), q2dd = (5 t - 2) - q1dd
    block = 5.0 * since**2 / 2.0 + 10.0 * since**3 / 6.0
    print(event.name, event.time - 1.0, np.abs(motion.q - np.column_stack([sled, block])).max())
    assert event.name == "slip block"
    assert np.abs(motion.q - np.column_stack([sled, block])).max() < 1e-8
    assert np.abs(motion.energy_error).max() < 1e-7


def test_a_block_sticks_where_the_incline_is_not_steep_enough() -> None:
    assert np.tan(STEEP) < 0.6
    motion = sticking(incline(0.6), [0.0], [-2.0], t=(2.0, 0.1))
    up = G * (np.sin(STEEP) + 0.6 * np.cos(STEEP))
    (event,) = motion.events
    print(event.time - 2.0 / up, motion.q[-1] + 2.0 / up)
    assert event.name == "stick block"
    assert np.abs(motion.q[-1] + 2.0 / up).max() < 1e-9
    after = motion.t > event.time
    assert np.all(motion.qd[after] == 0.0)  # it rests, to the last bit
    assert np.all(motion.qdd[after] == 0.0) or np.abs(motion.qdd[after]).max() < 1e-13
    assert np.abs(motion.energy_error).max() < 1e-9


def test_it_breaks_away_when_the_force_passes_the_friction() -> None:
    cart = Mechanism([Link(name="cart", joint="prismatic", axis=(1, 0, 0), mass=1.0, motor=Motor(coulomb=3.0))])
    motion = sticking(cart, torque=Feedback(lambda t, q, qd: [2.0 * t]), t=(3.0, 0.25))
    late = np.maximum(motion.t - 1.5, 0.0)
    (event,) = motion.events
    print(event.time - 1.5, np.abs(motion.q[:, 0] - late**3 / 3).max())
    assert event.name == "slip cart"
    assert abs(event.time - 1.5) < 1e-8
    assert np.abs(motion.q[:, 0] - late**3 / 3).max() < 1e-7  # a force of 2 t - 3 from there on


def test_a_spring_loses_the_same_amplitude_each_half_swing_until_it_sticks() -> None:
    stiffness, force = 100.0, 4.0
    cart = Link(name="cart", joint="prismatic", axis=(1, 0, 0), mass=1.0, motor=Motor(coulomb=force))
    motion = sticking(Mechanism([cart], springs=[Spring("cart", stiffness)]), [0.5], t=(3.0, 0.1))
    turns = [event.q[0] for event in motion.events]
    exact = [(-1) ** k * (0.5 - 2 * k * force / stiffness) for k in range(1, 7)]  # 0.42, 0.34, ... 0.02
    print(turns, [event.name for event in motion.events])
    assert [event.name for event in motion.events] == ["reverse cart"] * 5 + ["stick cart"]
    assert np.abs(np.array(turns) - exact).max() < 1e-8
    assert np.abs([event.time * 10.0 / np.pi - k for k, event in enumerate(motion.events, 1)]).max() < 1e-7
    assert np.abs(motion.energy_error).max() < 1e-6  # of 12.5 J, by some 100 steps of a relative tolerance of 1e-8


def test_all_joints_of_an_arm_come_to_rest_and_stay() -> None:
    arm = puma560().replace(gravity=(0, 0, 0))
    motion = sticking(arm, np.full(6, 0.3), [1.0, -0.8, 0.9, -0.7, 0.6, -0.5], t=(3.0, 0.05))
    fine = simulate(arm, np.full(6, 0.3), [1.0, -0.8, 0.9, -0.7, 0.6, -0.5], t=(3.0, 1e-4), record=30000)
    names = {event.name for event in motion.events}
    print(len(motion.events), sorted(names), np.abs(motion.q[-1] - fine.q[-1]).max(), np.abs(motion.energy_error).max())
    assert {f"stick {name}" for name in arm.names} <= names
    assert len(motion.events) < 60  # no chatter
    assert np.all(motion.qd[-1] == 0.0)
    assert np.abs(motion.energy_error).max() < 1e-6
    assert np.abs(motion.q[-1] - fine.q[-1]).max() < 2e-3  # steps of 1e-4 s that chatter, with |qdd| up to 20 rad/s2


@pytest.mark.parametrize("restitution", [0.0, 0.6, 0.9])
def test_a_ball_rebounds_to_e_squared_of_its_height_and_rests(restitution: float) -> None:
    motion = sticking(ball(restitution), [1.0], t=(12.0, 0.05), friction="sign")
    first = np.sqrt(2.0 / G)
    heights = [event.qd[0] ** 2 / (2 * G) for event in motion.events[:8]]
    exact = restitution ** (2 * np.arange(1, len(heights) + 1))
    over = first * (1 + restitution) / (1 - restitution)  # the sum of all flights
    print(np.abs(np.array(heights) - exact).max(), len(motion.events), motion.events[-1].time - over)
    assert np.abs(np.array(heights) - exact).max() < 1e-7
    assert abs(motion.events[-1].time - over) < 1e-3  # the last flights, lower than 1e-8 m, are left out
    assert np.all(motion.q[motion.t > over] == 0.0)
    assert np.abs(motion.energy_error).max() < 1e-7
    between = 0.5 * (motion.events[0].time + first * (1 + 2 * restitution)) if restitution else 3.0
    assert abs(motion.at(between)[0][0] - (restitution**2 if restitution else 0.0)) < 1e-7  # the top of the first flight


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_the_impulse_of_a_stop_is_felt_through_the_mass_matrix(restitution: float) -> None:
    arm = elbow_stop(restitution)
    motion = sticking(arm, [0.2, 0.9], [0.5, 2.0], t=(0.1, 0.01), friction="sign")
    hit = motion.events[0]
    free = simulate(planar_2r(), [0.2, 0.9], [0.5, 2.0], t=np.array([0.0, hit.time]), method="dop853")
    q, before = free.q[-1], free.qd[-1]

    momentum = arm.mass_matrix(hit.q) @ (hit.qd - before)
    energies = [float(arm.kinetic_energy(hit.q, qd)) for qd in (before, hit.qd)]
    print(momentum, hit.qd + restitution * before, energies)
    assert hit.q[1] == 1.0
    assert np.abs(q - hit.q).max() < 1e-8
    assert abs(momentum[0]) < 1e-6 * abs(momentum[1])  # no impulse at the shoulder
    assert abs(hit.qd[1] + restitution * before[1]) < 1e-6
    assert energies[1] == pytest.approx(energies[0], rel=1e-6) if restitution == 1.0 else energies[1] < energies[0]
    assert np.abs(motion.energy_error).max() < 1e-7


def test_friction_and_stops_together_keep_the_account() -> None:
    arm = elbow_stop(0.5, coulomb=1.5)
    motion = sticking(arm, [0.3, 0.2], [0.0, 3.0], t=(15.0, 0.05), method="dop853")
    print([(event.name, round(event.time, 3)) for event in motion.events], np.abs(motion.energy_error).max())
    assert {event.name for event in motion.events} >= {"hit link2", "stick link1", "stick link2"}
    assert np.abs(motion.q[:, 1]).max() <= 1.0 + 1e-9
    assert np.all(motion.qd[-1] == 0.0)
    assert np.abs(motion.energy_error).max() < 1e-6


@pytest.mark.parametrize("ratio", [-3.0, 0.0, 0.5])
@pytest.mark.usefixtures("uncompiled")
def test_friction_of_a_joint_that_follows_another_acts_by_its_ratio(ratio: float) -> None:
    """Unequal sides: it slows the leader down as the friction of `forward_dynamics` does, and holds it at the breakaway."""
    motor, stop = Motor(coulomb=(0.3, -0.7), breakaway=(0.4, -0.9)), EndStop("b", restitution=0.5, limits=(-90.0, 90.0))
    follower = Link(name="b", parent="a", mass=1.0, mimic=Mimic("a", ratio), motor=motor)
    pair = Mechanism([Link(name="a", inertia=(1, 1, 1)), follower], gravity=(0, 0, 0), springs=[stop])
    for sign in (1.0, -1.0):
        slowed = sticking(pair, [0.0], [sign], t=(0.2, 0.1)).qd[-1] - sign
        assert slowed == pytest.approx(0.2 * pair.forward_dynamics([0.0], [sign], [0.0]), rel=1e-12, abs=1e-12)
        hold = abs(ratio) * (0.4 if sign * ratio > 0 else 0.9)
        moves = [sticking(pair, torque=[sign * hold * part], t=(0.2, 0.1)).qd[-1].any() for part in (0.99, 1.01)]
        assert moves == [False, ratio != 0.0]


@pytest.mark.usefixtures("uncompiled")
def test_one_velocity_of_a_ball_joint_sticks() -> None:
    """It turns on about the other two axes: with no moment about them, at constant velocities."""
    body = {"mass": 1.0, "inertia": (0.1, 0.2, 0.15)}
    pendulum = Mechanism([Link(name="ball", joint="ball", **body)], motors=[Motor(joint="ball_wx", coulomb=5.0)])
    turning = sticking(pendulum, None, [0.0, 1.0, 2.0], t=(1.0, 0.5), rtol=1e-10, atol=1e-12)
    assert np.array_equal(turning.qd[-1], [0.0, 1.0, 2.0])
    assert turning.q[-1] == pytest.approx(pendulum.integrate(pendulum.neutral, [0.0, 1.0, 2.0], 1.0), abs=1e-9)
    stops = sticking(pendulum, None, [1.0, 0.0, 0.0], t=(1.0, 0.5))
    assert [(event.name, round(event.time, 9)) for event in stops.events] == [("stick ball_wx", 0.1 / 5.0)]


def test_what_rests_against_a_stop_leaves_when_it_is_pulled() -> None:
    push = Feedback(lambda t, q, qd: [20.0 * t])
    motion = sticking(ball(0.5), [0.0], torque=push, t=(1.0, 0.1), friction="sign")
    weight = 1.5 * G
    (event,) = motion.events
    late = np.maximum(motion.t - weight / 20.0, 0.0)
    print(event, np.abs(motion.q[:, 0] - 20.0 / 1.5 * late**3 / 6).max())
    assert event.name == "slip z"
    assert abs(event.time - weight / 20.0) < 1e-8
    assert np.abs(motion.q[:, 0] - 20.0 / 1.5 * late**3 / 6).max() < 1e-7


def test_a_file_keeps_a_stop_with_restitution(tmp_path: Path) -> None:
    save(elbow_stop(0.25), tmp_path / "arm.toml")
    (stop,) = load(tmp_path / "arm.toml").springs
    assert (stop.restitution, stop.limits, stop.stiffness) == (0.25, (-1.0, 1.0), 0.0)


def test_a_batch_is_a_loop() -> None:
    starts, velocities = np.array([[0.0], [0.4]]), np.array([[-2.0], [-1.0]])
    both = sticking(incline(0.3), starts, velocities, t=(1.0, 0.1))
    for k in range(2):
        single = sticking(incline(0.3), starts[k], velocities[k], t=(1.0, 0.1))
        assert np.array_equal(single.q, both.q[k])
        assert np.array_equal(single.at(0.33)[0], both.at(0.33)[0][k])
        assert [event.member for event in both.events if event.member == (k,)] == [(k,)]


def test_a_closed_loop_sticks() -> None:
    crank = slider_crank()
    links = [link.replace(motor=Motor(coulomb=0.5)) if link.name == crank.names[0] else link for link in crank.links]
    turning = simulate(crank, torque=np.eye(crank.nv)[0], t=(0.3, 0.01), method="rk45")
    rubbing = crank.replace(links=links, gravity=(0, 0, 0))
    motion = sticking(rubbing, turning.q[-1], turning.qd[-1], t=(4.0, 0.05))
    opened = np.abs(rubbing.kernel("closure")(motion.q)).max()
    print(turning.qd[-1], motion.events, opened, np.abs(motion.energy_error).max(), motion.kinetic[0])
    assert motion.events[-1].name == f"stick {crank.names[0]}"
    assert np.abs(motion.qd[-1]).max() < 1e-9  # one freedom: all joints rest with the one that sticks
    assert opened < 1e-9
    assert np.abs(motion.energy_error).max() < 1e-6 * motion.kinetic[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"friction": "none"}, "friction"),
        ({"friction": "stiction", "method": "rk4"}, "stiction.*rk4.*rk45"),
    ],
)
def test_refused_options(arguments: dict[str, Any], expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected):
        sticking(incline(0.3), t=(1.0, 0.1), **arguments)


def test_refused_stops() -> None:
    with pytest.raises(ArgumentError, match=r"restitution.*rk4"):
        simulate(ball(0.5), t=(1.0, 0.1))
    with pytest.raises(ArgumentError, match=r"restitution.*stiction"):
        sticking(elbow_stop(0.5, coulomb=1.0), t=(1.0, 0.1), friction="sign")
    with pytest.raises(ArgumentError, match=r"q0.*'z'"):
        sticking(ball(0.5), [-0.1], t=(1.0, 0.1))
    for arguments in ({"restitution": 1.5}, {"restitution": 0.5, "stiffness": 10.0}, {"restitution": "much"}, {}):
        with pytest.raises(ModelError, match=r"restitution|stiffness"):
            EndStop("z", **arguments)


@pytest.mark.parametrize("method", ["rk45", "bdf"])
@pytest.mark.parametrize("held", [False, True])
def test_a_stop_that_is_hit_at_an_instant_is_hit_once(method: str, held: bool) -> None:
    slide = Mechanism([Link(name="x", joint="prismatic", mass=1.5)], gravity=(0.0, 0.0, 0.0))
    slide = slide.replace(springs=[EndStop("x", restitution=0.5, limits=(-1.0, 1.0))])
    t = np.linspace(0.0, 2.0, 9)
    torque = np.zeros((8, 1)) if held else None
    motion = simulate(slide, [0.0], [1.0], t=t, method=method, torque=torque, energies=True)
    print([event.time for event in motion.events], motion.qd[:, 0], np.abs(motion.energy_error).max())
    assert [event.name for event in motion.events] == ["hit x"]
    assert np.abs(motion.energy_error).max() < 1e-12  # (a few roundings of 0.75 J)
    after = motion.t >= motion.events[0].time
    assert np.allclose(motion.qd[:, 0], np.where(after, -0.5, 1.0), rtol=0, atol=1e-12)
    assert np.array_equal(motion.at(motion.t)[1], motion.qd)


@pytest.mark.parametrize("method", ["rk45", "dop853", "radau", "lsoda"])
def test_pushes_between_the_instants_of_what_rests_are_seen(method: str) -> None:
    """Nothing changes while it rests, so that steps would grow beyond the time in which it is pushed."""
    block = Mechanism([Link(name="x", joint="prismatic", mass=1.0, motor=Motor(coulomb=0.9))], gravity=(0.0, 0.0, 0.0))
    push = Feedback(lambda t, _q, _qd, w: [np.sin(w * t - 1.0)], w=5.0)
    motion = simulate(block, t=(1.5, 0.1), torque=push, method=method, friction="stiction")
    print(motion.events)
    assert [event.name for event in motion.events] == ["slip x", "stick x"] * 2
    assert abs(motion.events[0].time - (1.0 + np.arcsin(0.9)) / 5.0) < 1e-6


def test_what_leaves_a_stop_does_not_hit_it_by_the_error_of_the_integrator() -> None:
    stops = [EndStop("link2", restitution=0.42, limits=(-1.0, 1.0)), EndStop("link1", restitution=0.21, limits=(-2.0, 0.7))]
    arm, options = planar_2r().replace(springs=stops), {"method": "lsoda", "rtol": 1e-9, "atol": 1e-11}
    motion = simulate(arm, [0.06, 0.79], [0.03, -4.39], t=np.linspace(0.0, 1.5, 10), **options)
    print([event.name for event in motion.events], motion.q[-1, 0])
    assert [event.name for event in motion.events][-1] == "slip link1"
    assert motion.q[-1, 0] < 0.6
