"""A chain of Linkwise as a robot of the Robotics Toolbox for Scilab."""

from __future__ import annotations

from typing import Any

from linkwise.errors import ArgumentError, ModelError, Problem, shown
from linkwise.mechanism import Mechanism
from linkwise.model.link import DHRow, Link
from linkwise.model.motor import Motor
from linkwise.rtss.link import rt_link
from linkwise.rtss.robot import rt_robot


def from_mechanism(mechanism: Mechanism, *, gravity_sign: str = "up", **rest: Any) -> rt_robot:
    """Make a robot from a chain whose links are rows of Denavit-Hartenberg parameters.

    What the toolbox has no field for cannot be said: a link that was not made from a row, that is fixed, or that has the
    shift b; a branch; a joint that follows another, or that has two motors; a rotor carried by a link; a payload; loops; a
    floating base. Names of links and limits of speed and effort are left behind: nothing in the toolbox needs them. A
    constant theta of a revolute joint, or d of a prismatic one, becomes part of the offset.

    Parameters
    ----------
    mechanism : Mechanism
        A chain. If it has neither masses nor motors, the fields of the links that hold such are not set, for it is known by
        its kinematics alone.
    gravity_sign : {"up", "free_fall"}
        See `rt_robot`.
    **rest
        manuf and comment of `rt_robot`.

    Raises
    ------
    ModelError
        Naming everything that cannot be said.

    Examples
    --------
    >>> from linkwise import Link, Mechanism, robots
    >>> puma = from_mechanism(robots.puma560(), manuf="Unimation")
    >>> puma.config, puma[1].G, puma.mechanism(dynamic=True).n
    ('RRRRRR', 107.815, 6)
    >>> from_mechanism(Mechanism([Link(axis=(0, 1, 0), name="arm")]))
    Traceback (most recent call last):
    linkwise.errors.ModelError: link 'arm': dh_row is None; expected a link made from a row of Denavit-Hartenberg parameters
    """
    if not isinstance(mechanism, Mechanism):
        raise ArgumentError(f"from_mechanism: mechanism is {shown(mechanism)}; expected a Mechanism")
    mechanism.require_numbers("a robot of the toolbox")
    problems = _of_the_whole(mechanism)
    for k in range(len(mechanism.links)):
        problems += _of_a_link(mechanism, k)
    motors = {drive.joint: drive.motor for drive in mechanism.drives}
    rules = sorted({motor.friction_rule for motor in motors.values()})
    if len(rules) > 1:
        problems.append(Problem(_item(mechanism), "friction_rule", rules, "one rule for all motors"))
    if problems:
        raise ModelError(problems)
    bare = not motors and all(link.body.is_zero for link in mechanism.links)
    links = [_link(link, link.dh_row, motors.get(link.coordinate_name), bare) for link in mechanism.links if link.dh_row]
    robot = rt_robot(links, base=mechanism.base, tool=mechanism.tool, gravity_sign="free_fall", **rest)
    robot.name, robot.gravity = mechanism.name, mechanism.gravity
    robot.friction = rules[0] if rules else robot.friction
    return rt_robot(robot, gravity_sign=gravity_sign)


def _item(mechanism: Mechanism) -> str:
    return f"mechanism {mechanism.name!r}"


def _of_the_whole(mechanism: Mechanism) -> list[Problem]:
    """What a robot has no field for, beside its links."""
    checks: list[tuple[str, object, bool, str]] = [
        ("floating", mechanism.floating, mechanism.floating, "a base that stands still"),
        ("loops", [loop.kind for loop in mechanism.loops], bool(mechanism.loops), "no loops"),
        ("tool_link", mechanism.tool_link, mechanism.tool_link is not None, "the last link"),
        ("payload", mechanism.payload.mass, not mechanism.payload.is_zero, "no payload; it may be added to the last link"),
    ]
    return [Problem(_item(mechanism), field, value, expected) for field, value, wrong, expected in checks if wrong]


def _of_a_link(mechanism: Mechanism, k: int) -> list[Problem]:
    """Why a link is no row, or not one of a chain."""
    link = mechanism.links[k]
    drives = [drive for drive in mechanism.drives if drive.joint == link.coordinate_name]
    row, first = link.dh_row, mechanism.links[0].dh_row
    chained = mechanism.parents[k] == k - 1
    carried = any(drive.carrier is not None for drive in drives)
    checks: list[tuple[str, object, bool, str]] = [
        ("joint", link.joint, link.joint not in {"revolute", "prismatic"}, "a revolute or a prismatic joint"),
        ("dh_row", None, row is None, "a link made from a row of Denavit-Hartenberg parameters"),
        ("b", row and row.b, bool(row and row.b), "0"),
        ("convention", row and row.convention, bool(row and first and row.convention != first.convention), "that of link 1"),
        ("parent", link.parent, not chained, "the link before it in the list"),
        ("mimic", link.mimic, link.mimic is not None, "a joint with a coordinate of its own"),
        ("motors", len(drives), len(drives) > 1, "one motor at most"),
        ("carrier", carried and [drive.motor.carrier for drive in drives], carried, "a rotor that no link carries"),
    ]
    return [Problem(f"link {link.name!r}", field, value, expected) for field, value, wrong, expected in checks if wrong]


def _link(link: Link, row: DHRow, motor: Motor | None, bare: bool) -> rt_link:
    """The link with its motor; with what it has of kinematics if it is bare."""
    slides = link.joint == "prismatic"
    theta, d, added = (row.theta, 0.0, row.d) if slides else (0.0, row.d, row.theta)
    made = rt_link([row.alpha, row.a, theta, d, slides], row.convention)
    values: dict[str, Any] = {"offset": link.offset + added, "qlim": link.limits}
    if not bare:
        values |= {"m": link.body.mass, "r": link.body.com, "I": link.body.tensor, "Jm": 0.0, "G": 1.0}
    if motor is not None:
        values |= {"Jm": motor.inertia, "G": motor.gear_ratio, "B": motor.viscous, "Tc": motor.coulomb}
    made.assign(values)
    return made
