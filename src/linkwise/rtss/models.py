"""The robots that come with the toolbox, and the configurations that have names."""

from __future__ import annotations

from math import pi

import numpy as np

from linkwise import robots
from linkwise.errors import ArgumentError, members
from linkwise.rtss.chains import from_mechanism
from linkwise.rtss.robot import rt_robot
from linkwise.spatial.scalar import FloatArray

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
_LATER_NAMES = {"qr": "qready", "qs": "qstretch"}
"""What releases 8 and later call them."""

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
    made = from_mechanism(robots.puma560(), manuf="Unimation", comment="Corke and Armstrong-Helouvry 1994")
    made.name = "Puma 560"
    return made


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
    """Stanford arm in the standard convention: kinematics only, unless the dynamics of the toolbox are asked for.

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
    if not isinstance(toolbox_dynamics, (bool, np.bool_)):
        raise ArgumentError(f"rt_stanford: toolbox_dynamics is {toolbox_dynamics!r}; expected True or False")
    made = from_mechanism(robots.stanford())
    made.name = "Stanford arm"
    if toolbox_dynamics:
        for link, row in zip(made.links, _STANFORD_TOOLBOX, strict=True):
            link.dyn = [*link.dh, *row, 1.0]
    return made


def rt_twolink() -> rt_robot:
    """Two links of 1 m and 1 kg in the horizontal plane, made up, without inertia about their centres of mass.

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
    made = {name: np.array(values) for name, values in _POSES[model].items()}
    return made | {later: made[name].copy() for later, name in _LATER_NAMES.items() if name in made}
