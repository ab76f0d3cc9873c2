"""Inertial parameters: names, values, change of frame, and mechanisms with symbols in their place.

Of each link, about the origin of its frame and in its axes: mass, first moments m c, and the tensor of inertia; of each
motor its rotor inertia, viscous friction and two-sided Coulomb friction, on the motor's side of the gear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, ModelError, Problem, choices, members
from linkwise.expr.node import Expr, parameter
from linkwise.model.body import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.inertia import TENSOR, Inertia
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.symbolic import any_nonzero
from linkwise.model.transmission import Drive
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse
from linkwise.spatial.validation import flag

#: Parameters of a link: m, m c, and the elements of the tensor about the frame's origin (W. Khalil, E. Dombre, *Modeling,
#: Identification and Control of Robots*, 2002, chapter 9).
LINK = ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "YZ", "XZ")

#: Parameters of a motor: see `linkwise.Motor`.
MOTOR = ("Jm", "B", "Tc+", "Tc-")

#: Places of XX, YY, ZZ, XY, YZ, XZ in the tensor.
PAIRS = tuple(TENSOR.values())


def parameter_names(tree: Tree) -> tuple[str, ...]:
    """Names (P,): ``"XX2"`` is of the second link of the list; a prime marks another motor of the same joint.

    Motors of a floating base have the number 0.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> parameter_names(arm)[:5]
    ('M1', 'MX1', 'MY1', 'MZ1', 'XX1')
    """
    require_tree(tree, "parameter_names: mechanism")
    names = [f"{symbol}{k + 1}" for k in range(len(tree.links)) for symbol in LINK]
    driven = {name: k for k, link in enumerate(tree.links) for name in link.coordinate_names}
    driven |= {name: at.link for at in tree.manifold_joints for name in tree.velocity_names[at.v]}
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
    require_tree(tree, "parameter_values: mechanism")
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


#: Groups of numbers that can be replaced.
GROUPS = ("inertial", "lengths", "gravity", "motors")


class Symbolizer:
    """Replaces numbers by symbols of standard names, and records their values.

    Parameters
    ----------
    groups : sequence of str
        Of `GROUPS`; all of them where there is none.
    zeros : bool
        Whether inertial and motor parameters that are 0 become symbols too.

    Attributes
    ----------
    values : dict of str to float
        The number behind each symbol that was made.
    """

    def __init__(self, groups: Sequence[str], zeros: bool) -> None:
        unknown = [group for group in groups if not isinstance(group, str) or group not in GROUPS]
        if unknown:
            raise ArgumentError(f"there is no group {choices(unknown)} of numbers; there is {members(GROUPS)}")
        self.groups = set(groups or GROUPS)
        self.zeros = flag("zeros", zeros)
        self.values: dict[str, float] = {}
        self.taken: set[str] = set()

    def changes(self, tree: Tree) -> dict[str, Any]:
        """The fields of the mechanism that become others: for `Tree.replace`."""
        self.taken = set(tree.symbols)
        results: dict[str, Any] = {"links": [self._link(k, link) for k, link in enumerate(tree.links, 1)]}
        if "inertial" in self.groups:
            results["payload"] = self._body("p", tree.payload)
        if "lengths" in self.groups:
            results |= {
                name: self._shifted(getattr(tree, name), "xyz", letter) for name, letter in (("base", "b"), ("tool", "t"))
            }
        if "gravity" in self.groups:
            results["gravity"] = self._gravity(tree.gravity)
        if "motors" in self.groups:
            results["motors"] = [self._motor(f"_{k}", motor) for k, motor in enumerate(tree.motors, 1)]
        return results

    def _number(self, name: str, value: Any, zeros: bool = False) -> Any:
        """Replace a nonzero number by a symbol; expressions are unchanged."""
        if isinstance(value, Expr) or not (value or zeros):
            return value
        if name in self.taken or self.values.setdefault(name, float(value)) != value:
            raise ArgumentError(f"two numbers would be called {name!r}; give one of them a symbol of another name")
        return parameter(name)

    def _link(self, k: int, link: Link) -> Link:
        changed: dict[str, Any] = {}
        if "inertial" in self.groups:
            changed["body"] = self._body(str(k), link.body)
        if "motors" in self.groups and link.motor is not None:
            changed["motor"] = self._motor(str(k), link.motor)
        row = link.dh_row
        if "lengths" not in self.groups:
            return link.replace(**changed) if changed else link
        if row is None:
            frames = {"before": self._shifted(link.before, "xyz", str(k)), "after": self._shifted(link.after, "uvw", str(k))}
            return link.replace(**changed, **frames)
        d, a, b = (self._number(f"{letter}{k}", getattr(row, letter)) for letter in "dab")
        return Link.dh(row.theta, d, a, row.alpha, b=b, convention=row.convention, **{**link.beside_placement, **changed})

    def _body(self, suffix: str, body: Inertia) -> Inertia:
        if body.is_zero and not self.zeros:
            return body
        mass, first, tensor = body.moments
        numbers = [mass, *first, *(tensor[i, j] for i, j in PAIRS)]
        m, x, y, z, xx, yy, zz, xy, yz, xz = (
            self._number(f"{symbol}{suffix}", value, self.zeros) for symbol, value in zip(LINK, numbers, strict=True)
        )
        return Inertia.from_moments(m, (x, y, z), (xx, yy, zz, xy, yz, xz), physical=body.physical)

    def _shifted(self, frame: Array, letters: str, suffix: str) -> Array:
        result = frame.astype(object)
        for k, letter in enumerate(letters):
            result[k, 3] = self._number(f"{letter}{suffix}", frame[k, 3])
        return result

    def _gravity(self, gravity: Array) -> list[Any]:
        along = [k for k in range(3) if isinstance(gravity[k], Expr) or gravity[k]]
        if len(along) == 1 and not isinstance(gravity[along[0]], Expr):
            sign = 1.0 if gravity[along[0]] > 0 else -1.0
            size = self._number("g", sign * gravity[along[0]])
            return [sign * size if k == along[0] else 0.0 for k in range(3)]
        return [self._number(f"g{letter}", value) for letter, value in zip("xyz", gravity, strict=True)]

    def _motor(self, suffix: str, motor: Motor) -> Motor:
        numbers = (motor.inertia, motor.viscous, *motor.coulomb)
        jm, viscous, *coulomb = (
            self._number(f"{symbol}{suffix}", value, self.zeros) for symbol, value in zip(MOTOR, numbers, strict=True)
        )
        if motor.carrier is not None and any_nonzero(motor.rotor_inertia):
            return motor.replace(viscous=viscous, coulomb=coulomb)  # its Jm is an element of the tensor
        return motor.replace(inertia=jm, viscous=viscous, coulomb=coulomb)
