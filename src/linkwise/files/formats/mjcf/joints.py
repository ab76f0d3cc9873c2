"""MJCF's joints: axis, reference, limits, and what acts in them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwise.errors import shown
from linkwise.files.formats.mjcf.attributes import Attributes, degrees
from linkwise.files.formats.mjcf.compiler_options import Settings
from linkwise.spatial.scalar import FloatArray

TYPES = ("free", "ball", "slide", "hinge")


@dataclass
class Joint:
    """One joint of one coordinate.

    Attributes
    ----------
    attributes : Attributes
        What it says.
    turns : bool
        Whether it is a hinge, else a slide.
    pos, axis : ndarray (3,)
        A point on it (m) and its direction, in the body's frame.
    ref : float
        Its coordinate in the pose that the file describes, rad or m.
    limits : tuple of float, optional
        Least and greatest coordinate.
    tau_max : float, optional
        Greatest effort of its actuators, N m or N.
    armature, viscous, coulomb : float
        Inertia and friction at the joint.
    """

    attributes: Attributes
    turns: bool
    pos: FloatArray
    axis: FloatArray
    ref: float
    limits: tuple[float, float] | None
    tau_max: float | None
    armature: float
    viscous: float
    coulomb: float

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        return self.attributes.text("name")


def read_joint(said: Attributes, settings: Settings, outer: FloatArray) -> Joint:
    """A hinge or a slide; `outer` is T_body_frame of the frames around it."""
    turns = said.word("type", TYPES, "hinge") == "hinge"
    pos, axis = (np.array(said.row(key, 3, values)) for key, values in (("pos", (0.0,) * 3), ("axis", (0.0, 0.0, 1.0))))
    ref = said.number("ref")
    if not 1e-14 < math.hypot(*axis) < math.inf:
        said.report(f"axis is {axis.tolist()!r}; expected a direction", "axis")
        axis = np.array([0.0, 0.0, 1.0])
    viscous = _passive(said, settings)
    coulomb = said.tried("frictionloss", _not_negative, "a number >= 0")
    return Joint(
        said,
        turns,
        outer[:3, :3] @ pos + outer[:3, 3],
        outer[:3, :3] @ (axis / math.hypot(*axis)),
        degrees(ref) if turns and settings.degree else ref,
        _limits(said, settings, turns),
        _effort_limit(said, settings),
        said.tried("armature", _not_negative, "a number >= 0"),
        0.0 if {"damper", "passive"} & settings.disabled else viscous,
        0.0 if {"frictionloss", "constraint"} & settings.disabled else coulomb,
    )


def _not_negative(value: float) -> bool:
    return value >= 0


def _passive(said: Attributes, settings: Settings) -> float:
    """The viscous friction; springs, and damping that is not proportional to the speed, are remarked on."""
    damping = said.numbers("damping", 1, 3) or [0.0]
    stiffness = said.numbers("stiffness", 1, 3) or [0.0]
    both = said.row("springdamper", 2, (0.0, 0.0))
    if damping[0] < 0:
        said.report(f"damping is {damping[0]!r}; expected a number >= 0", "damping")
        damping = [0.0]
    if both[0] > 0 and both[1] > 0:
        why = f"springdamper is {both!r}: its spring and damper are not known here, and left out"
        said.told.remark(said.element, f"{said.item}: {why}")
        return 0.0
    if any(stiffness) and not {"spring", "passive"} & settings.disabled:
        law = " + ".join(f"{k!r} x{'' if power == 1 else f'^{power}'}" for power, k in enumerate(stiffness, 1) if k)
        rest = degrees(said.number("springref")) if settings.degree and _is_hinge(said) else said.number("springref")
        stretch = f"q - {rest!r}" if rest else "q"
        why = f"its spring is left out, for Linkwise has none: it pulls with -({law}), x = {stretch}"
        said.told.remark(said.element, f"{said.item}: {why}")
    if any(damping[1:]):
        why = f"damping is {damping!r}; what is not proportional to the speed is left out"
        said.told.remark(said.element, f"{said.item}: {why}")
    return damping[0]


def _is_hinge(said: Attributes) -> bool:
    return said.text("type") in (None, "hinge")


def _limits(said: Attributes, settings: Settings, turns: bool) -> tuple[float, float] | None:
    low, high = said.row("range", 2, (0.0, 0.0))
    if not _limited(said, settings, "limited", "range", (low, high)) or {"limit", "constraint"} & settings.disabled:
        return None
    return (degrees(low), degrees(high)) if turns and settings.degree else (low, high)


def _effort_limit(said: Attributes, settings: Settings) -> float | None:
    low, high = said.row("actuatorfrcrange", 2, (0.0, 0.0))
    if not _limited(said, settings, "actuatorfrclimited", "actuatorfrcrange", (low, high)):
        return None
    if low != -high:
        why = f"actuatorfrcrange is {[low, high]!r}; an effort limit holds both ways here, so it is left out"
        said.told.remark(said.element, f"{said.item}: {why}")
        return None
    return high


def _limited(said: Attributes, settings: Settings, key: str, range_key: str, found: tuple[float, float]) -> bool:
    """Whether a range holds, by MuJoCo's rules."""
    limited = said.word(key, ("false", "true", "auto"), "auto")
    if limited == "auto" and not settings.autolimits and found != (0.0, 0.0):
        said.report(f"it has {range_key} but not {key}, and the compiler's autolimits is 'false'", range_key)
        return False
    if limited == "true" and not found[0] < found[1]:
        given = shown(said.text(range_key)) if range_key in said else "not given"
        said.report(f"{range_key} is {given}; expected the least value, then the greatest, for {key} is 'true'", range_key)
        return False
    return limited == "true" or (limited == "auto" and found[0] < found[1])
