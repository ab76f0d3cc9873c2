"""Contacts that land, stick, slide and lift off in `simulate`, beside what is known in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import EndStop, Link, Mechanism, Motor, robots
from linkwise.dynamics import Contact, Contacts
from linkwise.errors import ArgumentError, SimulationError
from linkwise.simulation import Ground
from linkwise.spatial.transform import translation

pytest.importorskip("scipy", reason="adaptive methods")

G = 9.81


def block(friction: float | None = None, kind: str = "point") -> tuple[Mechanism, Contacts]:
    """A mass of 2 kg that slides along x and z, with one contact."""
    along = Link(name="along", joint="prismatic", axis=(1, 0, 0))
    mech = Mechanism([along, Link(name="block", joint="prismatic", mass=2.0)], name="block")
    return mech, Contacts(mech, [Contact("sole", "block", kind=kind, friction=friction)])


def named(motion: lw.Trajectory) -> list[tuple[str, float]]:
    return [(event.name, event.time) for event in motion.events]


def test_a_ball_rebounds_until_it_rests() -> None:
    """Landings at t0 (1 + 2 e + ... + 2 e^n), as far as rebounds are above the tolerance; then it lies."""
    mech, contacts = block()
    out = lw.simulate(mech, [0, 1.0], t=(2.0, 0.01), method="rk45", ground=Ground(contacts, restitution=0.5), energies=True)
    first = np.sqrt(2.0 / G)
    times = np.array([time for name, time in named(out) if name == "land sole"])
    exact = first * np.concatenate([[1.0], 1.0 + 2.0 * np.cumsum(0.5 ** np.arange(1, len(times)))])
    error = np.abs(times - exact).max()
    print(f"{len(times)} landings, off by {error:.1e} s; unaccounted {np.abs(out.energy_error).max():.1e} J")
    assert len(times) > 8
    assert error < 1e-11  # the parabola is exact, what is left is the root of the event
    assert np.abs(out.energy_error).max() < 1e-11
    assert np.abs(out.q[-1]).max() < 1e-9
    assert np.abs(out.qd[-1]).max() < 1e-12


def test_it_slides_until_it_sticks() -> None:
    """Thrown along the ground it stops after v^2 / (2 mu g), and stays."""
    mech, contacts = block(friction=0.4)
    out = lw.simulate(mech, [0, 0], [1.5, 0], t=(1.0, 0.01), method="rk45", ground=Ground(contacts), energies=True)
    (sticks,) = [time for name, time in named(out) if name == "stick sole"]
    distance, time = 1.5**2 / (2 * 0.4 * G), 1.5 / (0.4 * G)
    print(f"off by {abs(out.q[-1, 0] - distance):.1e} m, {abs(sticks - time):.1e} s")
    assert abs(out.q[-1, 0] - distance) < 1e-8  # (it counts as still below 1e-8 m/s)
    assert abs(sticks - time) < 1e-8
    assert np.abs(out.energy_error).max() < 1e-9


def test_a_throw_slides_through_the_impact() -> None:
    """The impulse along the ground is mu times the normal one: v - mu (1 + e) w is left, or nothing."""
    mech, contacts = block(friction=0.4)
    fall = np.sqrt(2.0 * G * 0.2)
    for speed in (2.0, 0.5):
        out = lw.simulate(mech, [0, 0.2], [speed, 0], t=(2.0, 0.01), method="rk45", ground=Ground(contacts), energies=True)
        left = max(speed - 0.4 * fall, 0.0)
        distance = speed * fall / G + left**2 / (2 * 0.4 * G)
        print(f"off by {abs(out.q[-1, 0] - distance):.1e} m, unaccounted {np.abs(out.energy_error).max():.1e} J")
        assert abs(out.q[-1, 0] - distance) < 1e-8
        assert np.abs(out.energy_error).max() < 1e-8


def test_a_growing_force_makes_it_slide_and_lift() -> None:
    """Along the ground from mu m g on, upwards from m g on."""
    mech, contacts = block(friction=0.5)
    options: dict[str, Any] = {"t": (1.0, 0.01), "method": "rk45", "ground": Ground(contacts)}
    slides = lw.simulate(mech, torque=lambda t, q, qd: [20.0 * t, 0.0], **options)
    slips = [time for name, time in named(slides) if name == "slip sole"]
    lifts = lw.simulate(mech, torque=lambda t, q, qd: [0.0, 40.0 * t], **options)
    lifted = [time for name, time in named(lifts) if name == "lift sole"]
    print(slips, lifted)
    assert abs(slips[0] - 0.5 * 2.0 * G / 20.0) < 1e-8
    assert abs(lifted[0] - 2.0 * G / 40.0) < 1e-8
    rest = 1.0 - lifted[0]
    assert abs(lifts.q[-1, 1] - 40.0 * rest**3 / 12.0) < 1e-8  # m z = 40 (t - t0)


def test_a_bar_lands_on_one_end_then_on_the_other() -> None:
    """A planar bar that falls askew; at rest both ends carry half of it."""
    links = [Link(name="x", joint="prismatic", axis=(1, 0, 0)), Link(name="z", joint="prismatic", axis=(0, 0, 1))]
    bar = Mechanism([*links, Link(name="bar", axis=(0, 1, 0), mass=3.0, inertia=(0.01, 0.25, 0.25))], name="bar")
    ends = [Contact(name, "bar", (x, 0, 0), friction=0.3) for name, x in (("left", -0.5), ("right", 0.5))]
    ground = Ground(Contacts(bar, ends), height=0.1)
    out = lw.simulate(bar, [0, 0.5, 0.3], t=(1.5, 0.01), method="rk45", ground=ground, energies=True)
    print(named(out), np.abs(out.energy_error).max())
    landings = [name for name, _ in named(out) if name.startswith("land")]
    assert landings[0] == "land right"
    assert "land left" in landings
    assert np.abs(out.energy_error).max() < 1e-7
    assert abs(out.q[-1, 2]) < 1e-6
    forces = ground.contacts.constrained(out.q[-1], out.qd[-1], bar.forward_dynamics(out.q[-1], out.qd[-1], np.zeros(3)))[1]
    assert np.allclose([forces[2], forces[5]], 1.5 * G, atol=1e-5)


def test_a_block_comes_down_flat() -> None:
    """All its corners land at once: it neither tips nor rocks."""
    block = Mechanism([Link(name="block", joint="floating", mass=2.0, inertia=(0.02, 0.02, 0.02))])
    corners = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    feet = Contacts(block, [Contact(f"c{k}", "block", point, friction=0.5) for k, point in enumerate(corners)])
    start = block.neutral.copy()
    start[2] = 0.3
    fall = lw.simulate(block, start, t=(0.5, 0.05), method="rk45", ground=Ground(feet))
    time = np.sqrt(0.4 / 9.81)
    print([(event.name, event.time - time) for event in fall.events], fall.q[-1] - start)
    assert [event.name for event in fall.events] == [f"land c{k}" for k in range(4)]
    assert max(abs(event.time - time) for event in fall.events) < 1e-9
    assert np.abs(fall.q[-1] - start - [0, 0, -0.2, 0, 0, 0, 0]).max() < 1e-9, "the tolerance of the integrator"


def test_a_batch_is_a_loop() -> None:
    mech, contacts = block(friction=0.2)
    starts = np.array([[0.0, 0.3], [0.0, 0.5]])
    options: dict[str, Any] = {"t": (0.6, 0.01), "method": "rk45", "ground": Ground(contacts, restitution=0.3)}
    both = lw.simulate(mech, starts, [0.5, 0.0], **options)
    for row, start in enumerate(starts):
        assert np.array_equal(both.q[row], lw.simulate(mech, start, [0.5, 0.0], **options).q)


def malformed() -> dict[str, tuple[Any, str]]:
    mech, contacts = block()
    arm = robots.planar_2r()
    motor = Motor(coulomb=(1.0, -1.0))
    rubbing = mech.replace(links=[mech.links[0].replace(motor=motor), mech.links[1]])
    stopped = mech.replace(springs=[EndStop("along", restitution=0.5, limits=(-1.0, 1.0))])
    held = {"t": (0.1, 0.01), "method": "rk45"}
    foot = [Contact("sole", "block")]
    return {
        "a frame": (lambda: Ground(Contacts(mech, [Contact("sole", "block", kind="frame")])), "'sole' is a frame"),
        "between links": (lambda: Ground(Contacts(arm, [Contact("tip", "link2", to="link1")])), "'tip' is on 'link1'"),
        "restitution": (lambda: Ground(contacts, restitution=1.5), "restitution is 1.5"),
        "height": (lambda: Ground(contacts, height=np.nan), "height"),
        "no contacts": (lambda: Ground(mech), "contacts is"),
        "no ground": (lambda: lw.simulate(mech, ground=contacts, **held), "ground is"),
        "fixed steps": (lambda: lw.simulate(mech, ground=Ground(contacts), t=(0.1, 0.01)), "method is 'rk4'"),
        "another mechanism": (lambda: lw.simulate(arm, ground=Ground(contacts), **held), "'block'"),
        "below": (lambda: lw.simulate(mech, [0, -0.1], ground=Ground(contacts), **held), "'sole' is 0.1 m below"),
        "stiction": (
            lambda: lw.simulate(rubbing, ground=Ground(Contacts(rubbing, foot)), friction="stiction", **held),
            "friction='sign'",
        ),
        "stops": (lambda: lw.simulate(stopped, ground=Ground(Contacts(stopped, foot)), **held), "rigid end stops"),
    }


@pytest.mark.parametrize("name", malformed())
def test_malformed(name: str) -> None:
    call, match = malformed()[name]
    with pytest.raises(ArgumentError, match=match):
        call()


def body(points: list[tuple[float, float, float]], friction: float | None, size: tuple[float, float, float]) -> Any:
    """A block of 1 kg of a size, that floats, with its contacts."""
    inertia = np.sum(np.square(size)) / 12.0 - np.square(size) / 12.0
    block = Mechanism([Link(name="block", joint="floating", mass=1.0, inertia=inertia)])
    return block, Contacts(block, [Contact(f"p{k}", "block", point, friction=friction) for k, point in enumerate(points)])


def put_down(mech: Mechanism, contacts: Contacts, above: float, roll: float, yaw: float) -> Any:
    """The configuration in which its lowest point is so much above the ground."""
    q = mech.neutral.copy()
    about_z, about_x = (np.cos(yaw / 2), np.sin(yaw / 2)), (np.cos(roll / 2), np.sin(roll / 2))
    q[3:7] = about_z[0] * about_x[0], about_z[0] * about_x[1], about_z[1] * about_x[1], about_z[1] * about_x[0]
    q[2] = above - contacts.positions(q)[:, 2].min()
    return q


BOX = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.15, 0.15) for z in (-0.1, 0.1)]
FOOT = [(x, y, -0.1) for x in (-0.1, 0.15) for y in (-0.05, 0.05)]


@pytest.mark.parametrize(
    ("points", "size", "friction", "restitution", "roll"),
    [
        pytest.param(BOX, (0.4, 0.3, 0.2), 0.3, 0.0, np.pi / 4, id="box on an edge"),
        pytest.param(BOX, (0.4, 0.3, 0.2), None, 0.0, np.pi / 4, id="box on an edge that sticks"),
        pytest.param(FOOT, (0.25, 0.1, 0.05), 0.3, 0.0, 0.3, id="foot askew"),
        pytest.param([(-0.5, 0, 0), (0.5, 0, 0)], (1, 0.02, 0.02), 1.0, 0.4, 0.0, id="rod that rebounds"),
    ],
)
def test_it_lands_on_points_and_comes_to_rest(
    points: Any, size: Any, friction: Any, restitution: float, roll: float
) -> None:
    """Whatever way it lands, nothing goes below the ground, no energy comes from nowhere, and contacts take some away."""
    mech, contacts = body(points, friction, size)
    ground, start = Ground(contacts, restitution=restitution), put_down(mech, contacts, 0.05, roll, 0.3)
    out = lw.simulate(mech, start, t=(0.5, 0.02), method="rk45", ground=ground, energies=True)
    lowest = min(float(contacts.positions(q)[:, 2].min()) for q in out.q)
    print(named(out)[:6], len(out.events), f"lowest {lowest:.1e} m, unaccounted {np.abs(out.energy_error).max():.1e} J")
    assert lowest > -1e-7  # what the tolerances of the integrator leave while it stands
    assert np.abs(out.energy_error).max() < 1e-5
    assert out.energy is not None
    assert np.diff(out.energy).max() < 1e-6
    assert out.energy[-1] < out.energy[0] - 0.05


def test_a_corner_that_tips_starts_to_slide() -> None:
    """From rest on one corner: where it begins to slide, it first creeps across the direction that friction lets go."""
    mech, contacts = body(BOX, 0.3, (0.4, 0.3, 0.2))
    start = np.array([0.0, 0.0, 0.0, 0.49820979, 0.41053565, 0.00830459, 0.76366126])
    start[3:] /= np.linalg.norm(start[3:])
    start[2] = -contacts.positions(start)[:, 2].min()
    out = lw.simulate(mech, start, t=(0.04, 0.01), method="rk45", ground=Ground(contacts), energies=True)
    assert [name for name, _ in named(out)] == ["land p0", "slip p0"]
    assert np.linalg.norm(contacts.jacobian(out.q[-1], ["p0"])[:2] @ out.qd[-1]) > 1e-3
    assert np.abs(out.energy_error).max() < 1e-8


def test_a_block_rocks_as_housner_says() -> None:
    """At the change of the edge 1 - 3/2 sin^2 a of the angular velocity is left (G. W. Housner, 1963)."""
    width, height = 0.1, 0.4
    links = [Link(name="x", joint="prismatic", axis=(1, 0, 0)), Link(name="z", joint="prismatic", axis=(0, 0, 1))]
    inertia = (width**2 + height**2) / 12.0
    block = Mechanism([*links, Link(name="block", axis=(0, 1, 0), mass=1.0, inertia=(0.02, inertia, 0.02))])
    edges = [Contact(name, "block", (x, 0, -height / 2)) for name, x in (("left", -width / 2), ("right", width / 2))]
    ground = Ground(Contacts(block, edges))
    q = np.array([0.0, 0.0, 0.1])
    q[1] = -ground.contacts.positions(q, ["right"])[0, 2]
    out = lw.simulate(block, q, t=(0.5, 0.001), method="rk45", ground=ground, energies=True)
    land = next(event for event in out.events if event.name == "land left")
    assert out.evaluate is not None
    before, after = out.evaluate(land.time + np.array([-1e-7, 1e-7]))[1][:, 2]
    expected = 1.0 - 1.5 * width**2 / (width**2 + height**2)
    print(after / before - expected, named(out))
    assert abs(after / before - expected) < 1e-5, "what the velocity changes within 1e-7 s beside it"
    assert np.abs(out.energy_error).max() < 1e-8


def triangle(*, welded: bool) -> Mechanism:
    """Three bars between three points that float, welded, or pinned and closed by a loop: one body in either case."""
    corners = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.2, 0.0, 0.4]])
    sides = np.roll(corners, -1, axis=0) - corners
    turn, kind = np.eye(4), "fixed" if welded else "revolute"
    turn[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]  # z along the pins
    links = []
    for k, side in enumerate(sides):
        joint = {"parent": f"bar{k - 1}", "joint": kind, "axis": (0, 1, 0), "before": translation(*sides[k - 1])}
        joint = joint if k else {"parent": "base", "joint": "fixed"}
        links.append(
            Link(name=f"bar{k}", after=np.eye(4), mass=1.0, com=side / 2, inertia=np.diag([0.01, 0.02, 0.02]), **joint)
        )
    loops = [] if welded else [lw.Loop("hinge", "bar2", "bar0", translation(*sides[2]) @ turn, turn, "pin")]
    return Mechanism(links, floating=True, loops=loops, name="triangle")


@pytest.mark.parametrize("stabilization", ["projection", "baumgarte"])
def test_bars_that_close_to_a_triangle_fall_as_a_body(stabilization: str) -> None:
    """They land on one corner, slide, and rebound, as if the pins were welded."""
    motions = []
    for mech in (triangle(welded=True), triangle(welded=False)):
        corners = [Contact(f"corner{x}", "bar0", (x, 0, 0), friction=0.4) for x in (0.0, 0.5)]
        q, qd = np.array(mech.neutral), np.zeros(mech.nv)
        q[2], q[3:7], qd[0], qd[4] = 0.2, [np.cos(0.15), 0, -np.sin(0.15), 0], 1.0, 0.5
        kept = {} if not mech.loops else {"stabilization": stabilization}
        ground = Ground(Contacts(mech, corners), restitution=0.2)
        motions.append(lw.simulate(mech, q, qd, t=(0.4, 0.02), method="dop853", ground=ground, energies=True, **kept))
    body, bars = motions
    assert [event.name for event in bars.events] == [event.name for event in body.events]
    assert {"land corner0.5", "slip corner0.5"} <= {event.name for event in body.events}
    apart = np.abs(bars.q[:, :7] - body.q).max()
    opened = np.abs(triangle(welded=False).kernel("closure", backend="numpy")(bars.q)).max()
    print(f"apart by {apart:.1e}, pins by {opened:.1e} m; unaccounted {np.abs(bars.energy_error).max():.1e} J")
    assert apart < 1e-8  # (the tolerance, over some landings)
    assert opened < 1e-9
    assert np.abs(bars.energy_error).max() < 1e-7


def test_a_point_that_rests_without_friction_between_plane_and_guide_stays() -> None:
    """On a guide that slopes the plane holds it without friction; the least force would leave the cone of friction."""
    slope = np.radians(30.0)
    along = Link(name="along", joint="prismatic", axis=(1, 0, 0))
    down = Link(name="down", joint="prismatic", axis=(0, np.cos(slope), -np.sin(slope)), mass=2.0)
    mech = Mechanism([along, down], name="guide")
    ground = Ground(Contacts(mech, [Contact("sole", "down", friction=0.5)]), height=-0.1, restitution=0.3)
    out = lw.simulate(mech, [0, 0], [0.2, 0], t=(1.5, 0.01), method="rk45", ground=ground, energies=True)
    low = np.abs(out.q[-1, 1] - 0.1 / np.sin(slope))
    print(f"{low:.1e} m off, {np.abs(out.qd[-1]).max():.1e} m/s, unaccounted {np.abs(out.energy_error).max():.1e} J")
    assert low < 1e-9  # (contacts touch up to 1e-9 m)
    assert np.abs(out.qd[-1]).max() < 1e-9
    assert np.abs(out.energy_error).max() < 1e-9  # (of steps with a tolerance of 1e-9)


def test_joints_with_coulomb_friction_that_come_to_rest_end_with_a_reason() -> None:
    """Steps shrink without end where friction jumps; what helps is said, and helps."""
    leg = Link(name="leg", axis=(0, 1, 0), mass=0.5, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.01))
    body = [
        Link(name="x", joint="prismatic", axis=(1, 0, 0), mass=0.1),
        Link(name="z", joint="prismatic", axis=(0, 0, 1), mass=1.0),
    ]

    def fall(motor: Motor) -> lw.Trajectory:
        mech = Mechanism([*body, leg.replace(motor=motor)], name="hopper")
        ground = Ground(Contacts(mech, [Contact("foot", "leg", (0, 0, -0.4), friction=0.6)]))
        return lw.simulate(mech, [0, 0.6, 0.2], t=(0.3, 0.01), method="rk45", ground=ground, energies=True)

    with pytest.raises(SimulationError, match="transition_speed"):
        fall(Motor(coulomb=0.5))
    assert np.abs(fall(Motor(coulomb=0.5, transition_speed=0.1)).energy_error).max() < 1e-6  # (of steps to 1e-9, at kinks)
