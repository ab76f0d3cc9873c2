"""Robots of the toolbox: those that come with it and their named configurations, and chains of Linkwise."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from linkwise import robots
from linkwise.errors import ArgumentError, ModelError, Problem, members, shown
from linkwise.mechanism import Mechanism
from linkwise.model.link import DHRow, Link
from linkwise.model.motor import Motor
from linkwise.rtss.link import rt_link
from linkwise.rtss.robot import rt_robot
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag

_POSES: dict[str, dict[str, tuple[float, ...]]] = {
    "puma560": {
        "qz": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        "qready": (0.0, pi / 2, -pi / 2, 0.0, 0.0, 0.0),
        "qstretch": (0.0, 0.0, -pi / 2, 0.0, 0.0, 0.0),
        "qn": (0.0, pi / 4, pi, 0.0, pi / 4, 0.0),
    },
    "puma560akb": {
        "qz": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        "qready": (0.0, -pi / 2, pi / 2, 0.0, 0.0, 0.0),
        "qstretch": (0.0, 0.0, pi / 2, 0.0, 0.0, 0.0),
    },
    "stanford": {"qz": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)},
    "twolink": {"qz": (0.0, 0.0)},
}

#: Names of releases 8 and later.
_LATER_NAMES = {"qr": "qready", "qs": "qstretch"}

# alpha A theta D sigma, m, rx ry rz, Ixx Iyy Izz Ixy Iyz Ixz, Jm, G
_PUMA560_AKB = [
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.35, 0, 0, 0, 291e-6, -62.6111],
    [-pi / 2, 0, 0, 0.2435, 0, 17.4, 0.068, 0.006, -0.016, 0.13, 0.524, 0.539, 0, 0, 0, 409e-6, 107.815],
    [0, 0.4318, 0, -0.0934, 0, 4.8, 0, -0.07, 0.014, 0.066, 0.0125, 0.086, 0, 0, 0, 299e-6, -53.7063],
    [pi / 2, -0.0203, 0, 0.4331, 0, 0.82, 0, 0, -0.019, 1.8e-3, 1.8e-3, 1.3e-3, 0, 0, 0, 35e-6, 76.0364],
    [-pi / 2, 0, 0, 0, 0, 0.34, 0, 0, 0, 0.3e-3, 0.3e-3, 0.4e-3, 0, 0, 0, 35e-6, 71.923],
    [pi / 2, 0, 0, 0, 0, 0.09, 0, 0, 0.032, 0.15e-3, 0.15e-3, 0.04e-3, 0, 0, 0, 35e-6, 76.686],
]

# m, rx ry rz, Ixx Iyy Izz Ixy Iyz Ixz, Jm
_STANFORD_TOOLBOX = [
    [9.29, 0, 0.0175, -0.1105, 0.276, 0.255, 0.071, 0, 0, 0, 0.953],
    [5.01, 0, -1.054, 0, 0.108, 0.018, 0.1, 0, 0, 0, 2.193],
    [4.25, 0, 0, -6.447, 2.51, 2.51, 0.006, 0, 0, 0, 0.782],
    [1.08, 0, 0.092, -0.054, 0.002, 0.001, 0.001, 0, 0, 0, 0.106],
    [0.63, 0, 0, 0.566, 0.003, 0.003, 0.0004, 0, 0, 0, 0.097],
    [0.51, 0, 0, 1.554, 0.013, 0.013, 0.0003, 0, 0, 0, 0.02],
]


def rt_puma560() -> rt_robot:
    """Unimation PUMA 560 in the standard convention, with motors and friction: `linkwise.robots.puma560` as an `rt_robot`.

    P. I. Corke, B. Armstrong-Helouvry, "A search for consensus among model parameters reported for the PUMA 560 robot", IEEE
    Int. Conf. Robotics and Automation, 1994. The limits of the joints, which the original leaves out, are there too. The
    configurations with names are ``rt_poses("puma560")``.

    Returns
    -------
    rt_robot
        A new one at each call.

    Examples
    --------
    >>> arm = rt_puma560()
    >>> arm.name, arm.config, arm.links[1].m
    ('Puma 560', 'RRRRRR', 17.4)
    """
    robot = from_mechanism(robots.puma560(), manuf="Unimation", comment="Corke and Armstrong-Helouvry 1994")
    robot.name = "Puma 560"
    return robot


def rt_puma560akb() -> rt_robot:
    """Unimation PUMA 560 in the modified convention, in the frames of Armstrong, Khatib and Burdick; no friction.

    B. Armstrong, O. Khatib, J. Burdick, "The explicit dynamic model and inertial parameters of the PUMA 560 arm", IEEE
    Int. Conf. Robotics and Automation, 1986; rotor inertias and gear ratios are those of the Robotics Toolbox 7. The
    configurations with names are ``rt_poses("puma560akb")``.

    Returns
    -------
    rt_robot
        A new one at each call.

    Notes
    -----
    Mended: Izz of link 3 is 0.086 kg m2, which is also its Iyy in the axes of `rt_puma560`. The toolbox has 0.066 there,
    the value of Ixx once more. Left as it is: the centre of mass of link 4 lies 19 mm before the wrist here, and 19 mm
    beyond it in `rt_puma560`; the sources do not agree.

    At q the arm stands as `rt_puma560` does at q + (0, pi, pi, 0, 0, 0), both base and tool turned by pi about z, to
    1.31 mm: the forearm is 433.1 mm long here and 431.8 mm there, the shoulder 150.1 mm wide and 150.05 mm.

    Examples
    --------
    >>> arm = rt_puma560akb()
    >>> arm.mdh, arm.links[2].I.diagonal().tolist()
    (1, [0.066, 0.0125, 0.086])
    """
    return rt_robot(_PUMA560_AKB, "Puma560-AKB", "Unimation", "AK&B", convention="modified")


def rt_stanford(*, toolbox_dynamics: bool = False) -> rt_robot:
    """Stanford arm in the standard convention: kinematics only, unless the toolbox's dynamics are requested.

    R. P. C. Paul, "Modelling, trajectory calculation and servoing of a computer controlled arm", Stanford AI Memo AIM-177,
    1972, figure 2.3. The configuration with a name is ``rt_poses("stanford")``.

    Parameters
    ----------
    toolbox_dynamics : bool
        Whether the masses, inertias and rotors of the Robotics Toolbox 7 are put in, to reproduce its numbers. **They are
        not those of the arm**: centres of mass lie up to 6.4 m from their links' frames, and the boom is 1 m long. Without
        them, functions that need masses say so.

    Returns
    -------
    rt_robot
        A new one at each call.

    Raises
    ------
    ArgumentError
        Where toolbox_dynamics is neither True nor False.

    Examples
    --------
    >>> arm = rt_stanford()
    >>> arm.config, arm.links[0].m
    ('RRPRRR', None)
    >>> rt_stanford(toolbox_dynamics=True).links[0].m
    9.29
    """
    flag("rt_stanford: toolbox_dynamics", toolbox_dynamics)
    robot = from_mechanism(robots.stanford())
    robot.name = "Stanford arm"
    if toolbox_dynamics:
        for link, row in zip(robot.links, _STANFORD_TOOLBOX, strict=True):
            link.dyn = [*link.dh, *row, 1.0]
    return robot


def rt_twolink() -> rt_robot:
    """Two links of 1 m and 1 kg in the horizontal plane, invented, without inertia about their centres of mass.

    The configuration with a name is ``rt_poses("twolink")``. With the numbers of the toolbox each centre of mass lies
    1 m **beyond** the far end of its link; its manual speaks of masses at the joints, which is r = (0, 0, 0).
    Releases 9 and later have r = (-0.5, 0, 0), and turn the robot into the vertical plane.

    Returns
    -------
    rt_robot
        A new one at each call.

    Examples
    --------
    >>> arm = rt_twolink()
    >>> arm.n, arm.links[0].r.tolist()
    (2, [1.0, 0.0, 0.0])
    """
    return rt_robot([[0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]] * 2, "Simple two link")


def rt_poses(model: str) -> dict[str, FloatArray]:
    """Return the configurations of a robot that have names, rad and m.

    The scripts of the original define them as variables. ``qz`` has all coordinates zero; ``qready`` (later called ``qr``)
    has the arm straight up; ``qstretch`` (``qs``) straight out along x; ``qn``, of releases 8 and later, is a common
    one away from singularities.

    Parameters
    ----------
    model : {"puma560", "puma560akb", "stanford", "twolink"}
        Which robot: the name of its function, without ``rt_``.

    Raises
    ------
    ArgumentError
        Naming the robots there are.

    Examples
    --------
    >>> rt_poses("twolink")["qz"].tolist()
    [0.0, 0.0]
    >>> sorted(rt_poses("puma560"))
    ['qn', 'qr', 'qready', 'qs', 'qstretch', 'qz']
    """
    if not isinstance(model, str) or model not in _POSES:
        raise ArgumentError(f"rt_poses: no robot {model!r}; there are {members(_POSES)}")
    poses = {name: np.array(values) for name, values in _POSES[model].items()}
    return poses | {later: poses[name].copy() for later, name in _LATER_NAMES.items() if name in poses}


def from_mechanism(mechanism: Mechanism, *, gravity_sign: str = "up", **options: Any) -> rt_robot:
    """Make a robot from a chain whose links are rows of Denavit-Hartenberg parameters.

    What the toolbox has no field for is refused: a link that was not made from a row, that is fixed, or that has the
    shift b; a branch; a joint that follows another, or that has two motors; a rotor carried by a link; a payload; loops; a
    floating base. Names of links and limits of velocity and effort are left out: nothing in the toolbox needs them. A
    constant theta of a revolute joint, or d of a prismatic one, becomes part of the offset.

    Parameters
    ----------
    mechanism : Mechanism
        A chain. If it has neither masses nor motors, the fields of the links that hold such are not set, for it is known by
        its kinematics alone.
    gravity_sign : {"up", "free_fall"}
        See `rt_robot`.
    **options
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
    mechanism.require_no_springs("a robot of the toolbox")
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
    robot = rt_robot(links, base=mechanism.base, tool=mechanism.tool, gravity_sign="free_fall", **options)
    robot.name, robot.gravity = mechanism.name, mechanism.gravity
    robot.friction = rules[0] if rules else robot.friction
    return rt_robot(robot, gravity_sign=gravity_sign)


def _item(mechanism: Mechanism) -> str:
    return f"mechanism {mechanism.name!r}"


def _of_the_whole(mechanism: Mechanism) -> list[Problem]:
    """Problems of features that a robot cannot represent, besides those of its links."""
    checks: list[tuple[str, object, bool, str]] = [
        ("floating", mechanism.floating, mechanism.floating, "a base that stands still"),
        ("loops", [loop.kind for loop in mechanism.loops], bool(mechanism.loops), "no loops"),
        ("tool_link", mechanism.tool_link, mechanism.tool_link is not None, "the last link"),
        ("payload", mechanism.payload.mass, not mechanism.payload.is_zero, "no payload; it may be added to the last link"),
    ]
    return [Problem(_item(mechanism), field, value, expected) for field, value, wrong, expected in checks if wrong]


def _of_a_link(mechanism: Mechanism, k: int) -> list[Problem]:
    """Problems of a link that is not a row, or not one of a chain."""
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
    """Link with its motor; with its kinematic data only if it is bare."""
    slides = link.joint == "prismatic"
    theta, d, added = (row.theta, 0.0, row.d) if slides else (0.0, row.d, row.theta)
    converted = rt_link([row.alpha, row.a, theta, d, slides], row.convention)
    values: dict[str, Any] = {"offset": link.offset + added, "qlim": link.limits}
    if not bare:
        values |= {"m": link.body.mass, "r": link.body.com, "I": link.body.tensor, "Jm": 0.0, "G": 1.0}
    if motor is not None:
        values |= {"Jm": motor.inertia, "G": motor.gear_ratio, "B": motor.viscous, "Tc": motor.coulomb}
    converted.assign(values)
    return converted


__all__ = [*(name for name in dir() if name.startswith("rt_")), "from_mechanism"]  # noqa: PLE0604
