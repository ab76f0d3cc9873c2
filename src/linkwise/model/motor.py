"""The motor of one joint, seen through its gear, and its rotor as a body that a link carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np

from linkwise.errors import members
from linkwise.expr.node import Expr
from linkwise.model.inertia import SLACK, Inertia
from linkwise.model.symbolic import any_nonzero, has_symbols, numbers_at, parameters_in, substituted
from linkwise.model.validation import CheckedRecord, Checker, unset_or

#: Reflection of motor-side friction to the joint.
FRICTION_RULES: tuple[str, ...] = ("reflected", "toolbox7")


def read_ratio(check: Checker, field: str, value: Any) -> float:
    """A gear ratio: a number other than zero, or an expression."""
    ratio = check.number(field, value, default=1.0)
    if not any_nonzero(ratio):
        check.report(field, value, "a number other than 0 (1 is direct drive)")
    return ratio


def _two_sided(check: Checker, name: str, pair: Any) -> tuple[float, float]:
    if not isinstance(pair, (list, tuple, str)) and np.ndim(pair) == 0:
        value = check.number(name, pair, least=0.0)
        return (value, -value if any_nonzero(value) else 0.0)
    positive, negative = check.vector(name, pair, 2).tolist()
    if (not has_symbols(positive) and positive < 0) or (not has_symbols(negative) and negative > 0):
        check.report(name, pair, "Tc+ >= 0 and Tc- <= 0 (or one number >= 0 for both directions)")
    return positive, negative


def _carrier(check: Checker, field: str, carrier: object) -> str | int | None:
    if isinstance(carrier, (int, np.integer)) and not isinstance(carrier, bool) and carrier >= 0:
        return int(carrier)
    return check.word(field, carrier, "the name of a link, its index from 0, 'base', or None")


_not_negative = partial(Checker.number, least=0.0)


def _inertia(check: Checker, field: str, value: Any) -> float:
    return check.number(field, 0.0 if value is None else value, least=0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Motor(CheckedRecord):
    """Rotor inertia, gear and friction of the motor that drives a joint, and where its rotor sits.

    Friction and Jm are on the motor's side of the gear. Without a carrier the joint feels (P. I. Corke, *A robotics
    toolbox for MATLAB*, 1996)

        effort = G^2 Jm qdd + G^2 B qd + |G| (Tc+ if qd > 0, Tc- if qd < 0, 0 at rest).

    With a `transition_speed` wt the Coulomb friction does not jump: it is multiplied by |w| / sqrt(w^2 + wt^2) at the motor
    speed w = G qd, which passes through zero at rest.

    With a carrier the rotor is a body on that link: it spins at G qd about `axis` relative to the link, so its angular
    velocity is w_carrier + G qd axis, and the mechanism feels its mass, its inertia and its gyroscopic moment too. With a
    = `axis` the joint's effort gains G Jm (a . dw_carrier/dt), and the carrier the moment G Jm (qdd a + qd w_carrier x a).

    Parameters
    ----------
    inertia : float, optional
        Rotor inertia Jm about the spin axis, kg m2 (motor side; kg for the direct drive of a prismatic joint). Where it is
        left out, that of `rotor_inertia`, else 0.
    gear_ratio : float
        G = motor speed / joint speed; the sign says which way the motor turns. Not zero.
    viscous : float
        Viscous friction B, N m s/rad, motor side.
    coulomb : float or (2,) array_like
        Coulomb friction, N m, motor side: one number for both directions, or Tc+ (for positive joint speed, >= 0) and
        Tc- (for negative joint speed, <= 0).
    transition_speed : float
        wt, rad/s of the motor: Coulomb friction has 71 % of its value at this speed, 99.5 % at ten times it. 0: it jumps.
    breakaway : float or (2,) array_like, optional
        Greatest friction at rest, N m, motor side, in the forms of `coulomb` and no less: what must be exceeded before the
        joint slips. Only ``simulate(friction="stiction")`` knows friction at rest. That of `coulomb` unless given.
    carrier : str or int, optional
        The link that carries the rotor, by name or by index from 0, or ``"base"``. None keeps only G^2 Jm at the joint.
    mass, com, rotor_inertia
        The rotor's body, added to the carrier's own: mass, kg; centre of mass in the carrier's frame, m; tensor about it in
        the carrier's axes, kg m2, in the forms of `Inertia`. The tensor has equal moments across the spin axis, for it may
        not depend on how far the rotor has turned. See the notes.
    axis : (3,) array_like, optional
        Direction of the spin in the carrier's axes; normalised. Needed with a carrier, for it cannot be guessed.
    joint : str, optional
        Name of the joint that it drives, or of one velocity of a joint with a quaternion (``"shoulder_wx"``): needed in
        ``Mechanism(motors=...)``, left out in ``Link(motor=...)``. Such a motor has no carrier.
    friction_rule : {"reflected", "toolbox7"}
        ``"reflected"`` is the formula above. ``"toolbox7"`` is that of the Robotics Toolbox for MATLAB 7 and for Scilab:
        friction = G (B qd + Tc+ or Tc-), the gear taken once and with its sign, so that with a negative G friction drives
        the joint instead of braking it. It reproduces the older results and nothing else.

    Raises
    ------
    ModelError
        Where a number is not finite, negative where it may not be, or the gear ratio is zero; where the rotor has a body or
        an axis but no carrier, or a carrier but no axis; where `breakaway` is less than `coulomb`; where its tensor is not
        that of a rotor about that axis, or does not agree with `inertia`.

    Notes
    -----
    The rotor turns with its own joint alone, relative to its carrier. One that reaches its joint over another one (a belt, a
    parallelogram), so that it turns with both, cannot be described yet.

    **Count the locked rotor once.** What the carrier feels while the joint rests is the rotor as a part of the carrier. Data
    of a link mostly contain its motors: leave `mass`, `com` and `rotor_inertia` out then, and give `inertia` and `axis`.
    Give them only where the carrier's own mass and inertia are those of the link without the rotor. G^2 Jm and the cross
    terms come in addition either way, and are never part of the carrier's inertia.

    Examples
    --------
    >>> Motor(inertia=200e-6, gear_ratio=-62.6111, viscous=1.48e-3, coulomb=(0.395, -0.435)).coulomb
    (0.395, -0.435)
    >>> Motor(coulomb=0.1).coulomb
    (0.1, -0.1)
    >>> rotor = Motor(gear_ratio=100, carrier="upper_arm", mass=0.4, rotor_inertia=(3e-4, 3e-4, 2e-4), axis=(0, 0, 1))
    >>> rotor.inertia, rotor.reflected_inertia
    (0.0002, 2.0)
    """

    inertia: Annotated[Any, _inertia] = None
    gear_ratio: Annotated[Any, read_ratio] = 1.0
    viscous: Annotated[Any, _not_negative] = 0.0
    coulomb: Annotated[Any, _two_sided] = 0.0
    carrier: Annotated[str | int | None, _carrier] = None
    mass: Any = 0.0
    com: Any = (0.0, 0.0, 0.0)
    rotor_inertia: Any = 0.0
    axis: Annotated[Any, unset_or(Checker.direction)] = None
    _: KW_ONLY
    joint: Annotated[str | None, partial(Checker.word, expected="the name of the link whose joint it drives, or None")] = (
        None
    )
    friction_rule: Annotated[str, partial(Checker.choice, allowed=FRICTION_RULES)] = "reflected"
    transition_speed: Annotated[Any, _not_negative] = 0.0
    breakaway: Annotated[Any, unset_or(_two_sided)] = None

    @property
    def _item(self) -> str:
        return f"motor of {self.joint!r}" if isinstance(self.joint, str) else "motor"

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        body = Inertia.checked(check, self.mass, self.com, self.rotor_inertia, field="rotor_inertia")
        self._assign({"mass": body.mass, "com": body.com, "rotor_inertia": body.tensor})
        self._check_breakaway(check)
        self._check_carried(check)
        if self.axis is not None and not check.problems:
            self._assign({"inertia": self._about_axis(check, derived=arguments["inertia"] is None)})

    def _check_breakaway(self, check: Checker) -> None:
        least, most = self.coulomb, self.breakaway
        if most is None or has_symbols([*least, *most]) or check.problems:
            return
        if most[0] < least[0] or most[1] > least[1]:
            check.report("breakaway", most, f"no less than the Coulomb friction {least} in either direction")

    def _check_carried(self, check: Checker) -> None:
        """A carrier needs an axis; a body or an axis needs a carrier."""
        reported = {problem.field for problem in check.problems}
        values = {field: getattr(self, field) for field in (*_BODY, "axis")}
        fields = [field for field, value in values.items() if value is not None and any_nonzero(value)]
        if self.carrier is None and fields and "carrier" not in reported:
            stated = f"{members(fields)} {'is' if len(fields) == 1 else 'are'} given"
            check.report("carrier", None, f"the link that carries the rotor, or 'base', for {stated}")
        if self.carrier is not None and self.axis is None and "axis" not in reported:
            check.report("axis", None, "the direction of the rotor's spin in the carrier's axes, for a carrier is given")

    def _about_axis(self, check: Checker, *, derived: bool) -> Any:
        """Jm, from the tensor or compared with it; the tensor must be that of a rotor about the axis."""
        tensor, axis, inertia = self.rotor_inertia, self.axis, self.inertia
        jm = inertia
        if not any_nonzero(tensor):
            return jm
        if has_symbols(tensor) or has_symbols(jm):  # checks that hold for all values hold for these
            symbols = parameters_in([tensor, jm])
            point = dict(zip(symbols, np.random.default_rng(0).uniform(0.2, 1.2, len(symbols)).tolist(), strict=True))
            inertia = axis @ tensor @ axis if derived else jm
            tensor, jm = (numbers_at(np.asarray(value, dtype=object), point) for value in (tensor, jm))
        moment = float(axis @ tensor @ axis)
        across = 0.5 * (float(np.trace(tensor)) - moment)
        rotor = across * np.eye(3) + (moment - across) * np.outer(axis, axis)
        if not np.abs(tensor - rotor).max() <= SLACK * np.abs(tensor).max():
            expected = "equal moments across the spin axis and no products with it, for the rotor turns"
            check.report("rotor_inertia", self.rotor_inertia.tolist(), expected)
        elif derived:
            return inertia if has_symbols(inertia) else moment
        elif not abs(jm - moment) <= SLACK * max(jm, moment):
            expected = "the moment of rotor_inertia about the axis" if has_symbols(inertia) else repr(moment)
            check.report("inertia", inertia, f"{expected}, the moment of rotor_inertia about the axis (or leave it out)")
        return inertia

    @cached_property
    def locked(self) -> Inertia:
        """The rotor's body in the carrier's frame, as the carrier feels it while the joint rests; zero without one."""
        return Inertia(self.mass, self.com, self.rotor_inertia)

    @property
    def reflected_inertia(self) -> float:
        """G^2 Jm: the inertia reflected to the joint, kg m2."""
        return self.gear_ratio**2 * self.inertia  # type: ignore[no-any-return]

    @property
    def reflected_viscous(self) -> float:
        """Viscous friction reflected to the joint, N m s/rad: G^2 B, or G B by the rule ``"toolbox7"``."""
        return self.gear_ratio**2 * self.viscous if self.friction_rule == "reflected" else self.gear_ratio * self.viscous  # type: ignore[no-any-return]

    @property
    def reflected_coulomb(self) -> tuple[float, float]:
        """Coulomb friction reflected to the joint for positive and for negative speed, N m.

        |G| Tc+ and |G| Tc-; by the rule ``"toolbox7"`` G Tc+ and G Tc-, whatever the sign of G.
        """
        return self._dry(self.coulomb)

    @property
    def reflected_breakaway(self) -> tuple[float, float]:
        """Greatest friction at rest, reflected to the joint as Coulomb friction is, N m."""
        return self._dry(self.coulomb if self.breakaway is None else self.breakaway)

    @property
    def joint_transition_speed(self) -> float:
        """The transition speed of Coulomb friction as a speed of the joint, rad/s."""
        return self.transition_speed / abs(self.gear_ratio)  # type: ignore[no-any-return]

    @property
    def jumps(self) -> bool:
        """True if friction is discontinuous at zero velocity: Coulomb friction without a transition speed."""
        return any_nonzero(self.coulomb) and not any_nonzero(self.transition_speed)

    def _dry(self, sides: tuple[float, float]) -> tuple[float, float]:
        ratio = abs(self.gear_ratio) if self.friction_rule == "reflected" else self.gear_ratio
        return ratio * sides[0], ratio * sides[1]

    def replace(self, **changes: Any) -> Motor:
        """The same motor with other values for some fields (any argument of `Motor`); checked again.

        A `rotor_inertia` without an `inertia` brings its own, where the motor had none or had it from a tensor.

        Raises
        ------
        ArgumentError
            Naming the fields there are.

        Examples
        --------
        >>> Motor(inertia=2e-4, gear_ratio=50).replace(gear_ratio=100).reflected_inertia
        2.0
        """
        values = self._values()
        if "rotor_inertia" in changes and (any_nonzero(self.rotor_inertia) or not any_nonzero(self.inertia)):
            values["inertia"] = None
        return Motor(**self._with(changes, values, "a motor"))

    def without_friction(self, *, coulomb: bool = True, viscous: bool = True) -> Motor:
        """The same motor without Coulomb friction, viscous friction, or both."""
        dry = {"coulomb": 0.0, "transition_speed": 0.0, "breakaway": None} if coulomb else {}
        return self.replace(**({"viscous": 0.0} if viscous else {}), **dry)

    def scaled(self, mass_factor: float, tensor_factor: float) -> Motor:
        """Scale the rotor's mass and tensor, and Jm with the tensor if there is one."""
        tensor = self.rotor_inertia * tensor_factor
        jm = self.inertia * tensor_factor if any_nonzero(tensor) else self.inertia
        return self.replace(mass=self.mass * mass_factor, rotor_inertia=tensor, inertia=jm)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """All fields that may contain symbols, in the order in which they are counted."""
        friction = (self.viscous, self.coulomb, self.transition_speed, self.breakaway or 0.0)
        return (self.inertia, self.gear_ratio, *friction, self.mass, self.com, self.rotor_inertia)

    def substituted(self, numbers: Mapping[Expr, Any]) -> Motor:
        """Replace symbols by numbers or other expressions and validate again."""
        return Motor(**{name: substituted(value, numbers) for name, value in self._values().items()})

    def __repr__(self) -> str:
        values = {name: value for name, value in self._values().items() if name in _ALWAYS or not _is_blank(name, value)}
        plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
        return f"Motor({', '.join(f'{name}={value!r}' for name, value in plain.items())})"


_ALWAYS = ("inertia", "gear_ratio", "viscous", "coulomb")


def _is_blank(name: str, value: Any) -> bool:
    unsaid = (name == "friction_rule" and value == "reflected") or (name == "transition_speed" and not any_nonzero(value))
    return value is None or unsaid or (name in _BODY and not any_nonzero(value))


_BODY = ("mass", "com", "rotor_inertia")
