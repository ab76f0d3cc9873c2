"""The motor of one joint, seen through its gear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.model.checks import Checker


@dataclass(frozen=True)
class Motor:
    """Rotor inertia, gear and friction of the motor that drives a joint.

    All numbers are on the motor's side of the gear; the joint feels (P. I. Corke, *A robotics toolbox for MATLAB*, 1996)

        effort = G^2 Jm qdd + G^2 B qd + |G| (Tc+ if qd > 0, Tc- if qd < 0, 0 at rest).

    Parameters
    ----------
    inertia : float
        Rotor inertia Jm, kg m2 (motor side; kg for the direct drive of a prismatic joint).
    gear_ratio : float
        G = motor speed / joint speed; the sign says which way the motor turns. Not zero.
    viscous : float
        Viscous friction B, N m s/rad, motor side.
    coulomb : float or (2,) array_like
        Coulomb friction, N m, motor side: one number for both directions, or Tc+ (for positive joint speed, >= 0) and
        Tc- (for negative joint speed, <= 0).

    Raises
    ------
    ModelError
        Where a number is not finite, negative where it may not be, or the gear ratio is zero.

    Examples
    --------
    >>> Motor(inertia=200e-6, gear_ratio=-62.6111, viscous=1.48e-3, coulomb=(0.395, -0.435)).coulomb
    (0.395, -0.435)
    >>> Motor(coulomb=0.1).coulomb
    (0.1, -0.1)
    """

    inertia: float = 0.0
    gear_ratio: float = 1.0
    viscous: float = 0.0
    coulomb: tuple[float, float] = (0.0, 0.0)

    def __init__(self, inertia: Any = 0.0, gear_ratio: Any = 1.0, viscous: Any = 0.0, coulomb: Any = 0.0) -> None:
        check = Checker("motor")
        self._set("inertia", check.number("inertia", inertia, least=0.0))
        ratio = check.number("gear_ratio", gear_ratio, default=1.0)
        if ratio == 0:
            check.report("gear_ratio", gear_ratio, "a number other than 0 (1 is direct drive)")
        self._set("gear_ratio", ratio)
        self._set("viscous", check.number("viscous", viscous, least=0.0))
        self._set("coulomb", _two_sided(check, coulomb))
        check.finish()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def reflected_inertia(self) -> float:
        """G^2 Jm: the inertia felt at the joint, kg m2."""
        return self.gear_ratio**2 * self.inertia

    @property
    def reflected_viscous(self) -> float:
        """G^2 B: viscous friction felt at the joint, N m s/rad."""
        return self.gear_ratio**2 * self.viscous

    @property
    def reflected_coulomb(self) -> tuple[float, float]:
        """|G| Tc+ and |G| Tc-: Coulomb friction felt at the joint for positive and negative speed, N m."""
        ratio = abs(self.gear_ratio)
        return ratio * self.coulomb[0], ratio * self.coulomb[1]

    def without_friction(self, *, coulomb: bool = True, viscous: bool = True) -> Motor:
        """The same motor without Coulomb friction, viscous friction, or both."""
        return Motor(self.inertia, self.gear_ratio, 0.0 if viscous else self.viscous, 0.0 if coulomb else self.coulomb)


def _two_sided(check: Checker, coulomb: Any) -> tuple[float, float]:
    if np.ndim(coulomb) == 0 and not isinstance(coulomb, str):
        value = check.number("coulomb", coulomb, least=0.0)
        return (value, -value if value else 0.0)
    positive, negative = (float(v) for v in check.vector("coulomb", coulomb, 2))
    if positive < 0 or negative > 0:
        check.report("coulomb", coulomb, "Tc+ >= 0 and Tc- <= 0 (or one number >= 0 for both directions)")
    return positive, negative
