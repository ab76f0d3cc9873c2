"""The inertial parameters in which the equations of motion are linear: their names, values, and change of frame.

Of each link, about the origin of its frame and in its axes: mass, first moments m c, and the tensor of inertia; of each
motor its rotor inertia, viscous friction and two-sided Coulomb friction, on the motor's side of the gear.
"""

from __future__ import annotations

import numpy as np

from linkwise.errors import ModelError, Problem
from linkwise.model.body_tree import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.inertia import TENSOR, Inertia
from linkwise.model.transmission import Drive
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse

LINK = ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "YZ", "XZ")
"""Of a link: m, m c, and the elements of the tensor about the frame's origin (W. Khalil, E. Dombre, *Modeling,
Identification and Control of Robots*, 2002, chapter 9)."""

MOTOR = ("Jm", "B", "Tc+", "Tc-")
"""Of a motor: see `linkwise.Motor`."""

PAIRS = tuple(TENSOR.values())
"""Places of XX, YY, ZZ, XY, YZ, XZ in the tensor."""


def parameter_names(tree: Tree) -> tuple[str, ...]:
    """Names (P,): ``"XX2"`` is of the second link of the list; a prime marks another motor of the same joint.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> parameter_names(arm)[:5]
    ('M1', 'MX1', 'MY1', 'MZ1', 'XX1')
    """
    names = [f"{symbol}{k + 1}" for k in range(len(tree.links)) for symbol in LINK]
    driven = {link.coordinate_name: k for k, link in enumerate(tree.links) if link.moves}
    for drive in tree.drives:
        number = f"{driven[drive.joint] + 1}"
        while f"Jm{number}" in names:
            number += "'"
        names += [f"{symbol}{number}" for symbol in MOTOR]
    return tuple(names)


def parameter_values(tree: Tree) -> FloatArray:
    """Values (P,) that this mechanism has; payload and locked rotors are in those of the link that carries them.

    A rotor on a floating base itself is in those of the first link that is fixed to it.

    Raises
    ------
    ModelError
        Where a floating base carries a rotor with a mass, and no link is fixed to it.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> dict(zip(parameter_names(arm), parameter_values(arm).round(3).tolist()))["M2"]
    1.0
    """
    carried = [_pseudo(link.body) for link in tree.links]
    held = tree.tool_index
    carried[held] = carried[held] + tree.tool @ _pseudo(tree.payload) @ tree.tool.T
    for drive in tree.drives:
        if drive.carrier is not None and (drive.carrier >= 0 or tree.floating) and not drive.motor.locked.is_zero:
            link, t_link_carrier = (drive.carrier, np.eye(4)) if drive.carrier >= 0 else _on_base(tree, drive)
            carried[link] = carried[link] + t_link_carrier @ _pseudo(drive.motor.locked) @ t_link_carrier.T
    values = [numbers_of(block) for block in carried]
    values += [np.array([d.motor.inertia, d.motor.viscous, *d.motor.coulomb]) for d in tree.drives]
    return np.concatenate(values)


def _on_base(tree: Tree, drive: Drive) -> tuple[int, FloatArray]:
    """The first link that is fixed to a floating base, and T_link_base."""
    for link, (body, t_base_link) in enumerate(moving_bodies(coupling(tree).uncoupled).frames):
        if body == 0:
            return link, np.asarray(inverse(t_base_link))
    expected = "a link that is fixed to the base, for inertial parameters are those of links"
    raise ModelError([Problem(f"motor of joint {drive.joint!r}", "carrier", "base", expected)])


def to_body(t_body_link: FloatArray) -> FloatArray:
    """A (10, 10): the parameters of a link about the frame of the body that carries it are A times its own."""
    columns = [numbers_of(t_body_link @ pseudo_of(unit) @ t_body_link.T) for unit in np.eye(len(LINK))]
    return np.stack(columns, axis=1)


def numbers_of(pseudo: FloatArray) -> FloatArray:
    """The ten parameters of a pseudo-inertia (4, 4)."""
    block = pseudo[:3, :3]
    tensor = np.trace(block) * np.eye(3) - block
    return np.array([pseudo[3, 3], *pseudo[:3, 3], *(tensor[i, j] for i, j in PAIRS)])


def pseudo_of(numbers: FloatArray) -> FloatArray:
    """The pseudo-inertia (4, 4) of ten parameters."""
    tensor, result = np.zeros((3, 3), numbers.dtype), np.zeros((4, 4), numbers.dtype)
    for value, (i, j) in zip(numbers[4:], PAIRS, strict=True):
        tensor[i, j] = tensor[j, i] = value
    result[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    result[:3, 3] = result[3, :3] = numbers[1:4]
    result[3, 3] = numbers[0]
    return result


def _pseudo(inertia: Inertia) -> FloatArray:
    return np.asarray(inertia.pseudo)
