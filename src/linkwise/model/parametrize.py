"""A mechanism with standard symbols in the place of its numbers, and the numbers that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.errors import ArgumentError, choices, members
from linkwise.expr.node import Expr, parameter
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.parameters import LINK, MOTOR, PAIRS
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array

GROUPS = ("inertial", "lengths", "gravity", "motors")
"""What can be replaced."""


class Symbolizer:
    """Puts symbols of standard names for numbers, and keeps what each stands for.

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
        unknown = [group for group in groups if group not in GROUPS]
        if unknown:
            raise ArgumentError(f"there is no group {choices(unknown)} of numbers; there is {members(GROUPS)}")
        self.groups = set(groups or GROUPS)
        self.zeros = zeros
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
        """A symbol for a number, but for zero; what is an expression already stays."""
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
