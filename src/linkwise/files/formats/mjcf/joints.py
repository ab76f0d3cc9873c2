"""Joints of MJCF: hinges, slides and balls, with their springs, limits and friction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import shown
from linkwise.files.formats.mjcf.attributes import ORIGIN, Attributes, degrees, float_transform
from linkwise.files.formats.mjcf.document import Settings
from linkwise.files.xml_tree import Element
from linkwise.model.motor import Motor
from linkwise.model.potential import UNTURNED
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray

TYPES = ("free", "ball", "slide", "hinge")

#: What a free joint says beside its motion.
_PASSIVE = ("armature", "damping", "frictionloss", "stiffness")

#: Directions of the slides of a free joint, and what its ball joint has for one.
_AXES = (*np.eye(3), np.array([0.0, 0.0, 1.0]))


@dataclass
class MjcfJoint:
    """A hinge, a slide or a ball.

    Attributes
    ----------
    attributes : Attributes
        What it says.
    kind : str
        Of `TYPES`.
    pos, axis : ndarray (3,)
        A point on it (m) and its direction, in the body's frame.
    ref : float
        Its coordinate in the pose that the file describes, rad or m.
    fields : dict
        limits, tau_max and motor of a `Link`.
    spring : tuple or None
        Stiffness (N m/rad or N/m) and rest (rad or m; of a ball joint a quaternion) of a linear spring.
    springref : float
        The coordinate (rad or m) from which springs of tendons count.
    """

    attributes: Attributes
    kind: str
    pos: FloatArray
    axis: FloatArray
    ref: float
    fields: dict[str, Any]
    spring: tuple[float, Any] | None = None
    springref: float = 0.0

    @property
    def time_constant(self) -> tuple[float, float] | None:
        """Time constant (s) and damping ratio that say its spring and its damper, whatever it says of these."""
        constant, ratio = self.attributes.row("springdamper", (0.0, 0.0))
        return (constant, ratio) if min(constant, ratio) > 0 else None

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        return self.attributes.text("name")

    def motion(self, value: float) -> FloatArray:
        """Its motion of the body's frame (4, 4) at a coordinate, rad or m; the identity for a ball joint."""
        change = 0.0 if self.kind == "ball" else value - self.ref
        if self.kind == "slide":
            return float_transform(None, tuple(change * self.axis))
        turn = np.asarray(rotation_about(self.axis, change), dtype=float)
        return float_transform(turn, tuple(self.pos - turn @ self.pos))


def read_joint(said: Attributes, settings: Settings, outer: FloatArray) -> MjcfJoint:
    """A hinge, a slide or a ball; `outer` is T_body_frame of the frames around it."""
    kind = said.word("type", TYPES, "hinge")
    is_hinge = kind == "hinge"
    pos, axis = (np.array(said.row(key, usual)) for key, usual in (("pos", ORIGIN), ("axis", (0.0, 0.0, 1.0))))
    ref = said.number("ref")
    if not 1e-14 < math.hypot(*axis) < math.inf:
        said.report(f"axis is {axis.tolist()!r}; expected a direction", "axis")
        axis = np.array([0.0, 0.0, 1.0])
    point, direction = outer[:3, :3] @ pos + outer[:3, 3], outer[:3, :3] @ (axis / math.hypot(*axis))
    if kind == "ball":
        _left_of_ball(said, settings)
        spring, motor = _spring(said, settings), joint_motor(said, settings)
        turned_back = spring and (spring[0], UNTURNED)
        return MjcfJoint(said, kind, point, np.array([0.0, 0.0, 1.0]), 0.0, {"motor": motor}, turned_back)
    motor = joint_motor(said, settings)
    fields = {"limits": _limits(said, settings, is_hinge), "tau_max": _effort_limit(said, settings), "motor": motor}
    ref = degrees(ref) if is_hinge and settings.degree else ref
    return MjcfJoint(said, kind, point, direction, ref, fields, _spring(said, settings), _springref(said, settings))


def read_free(said: Attributes, settings: Settings, pose: FloatArray, *, bare: bool) -> tuple[Motor | None, list[MjcfJoint]]:
    """What each velocity of a free joint feels, and the joints in its place where it has friction or a spring.

    These act along the axes of the world, as MuJoCo's velocities do: on three slides, which a ball joint follows. The spring
    rests at the pose of the file; `bare` leaves out all that is no motion.
    """
    motor, spring = joint_motor(said, settings), _spring(said, settings)
    if bare:
        if parts := [f"{key} {said.text(key)}" for key in _PASSIVE if any(said.numbers(key, 1, 3) or ())]:
            said.remark(f"left out, for MuJoCo adds it to all six freedoms: {', '.join(parts)}")
        return None, []
    if _by_time_constant(said):
        said.remark("springdamper is left out, for a free joint has none here")
    if not (spring or (motor and any(motor.coulomb))):
        return motor, []
    said.remark(
        "its friction or spring is along the axes of the world, so it is read as three prismatic joints and a ball joint;"
        " bare_free_joints=True leaves that out"
    )
    name, rest = said.text("name"), [*pose[:3, 3].tolist(), tuple(rotation_quaternion(pose[:3, :3]).tolist())]
    joints = []
    for kind, ending, axis, zero in zip(("slide",) * 3 + ("ball",), ("_x", "_y", "_z", ""), _AXES, rest, strict=True):
        element = Element(said.element.tag, {"name": f"{name}{ending}"} if name else {}, said.element.line)
        own = spring and (spring[0], zero)
        joints.append(MjcfJoint(Attributes(element, said.log), kind, np.zeros(3), axis, 0.0, {"motor": motor}, own))
    return motor, joints


def joint_motor(said: Attributes, settings: Settings) -> Motor | None:
    """Armature, damping and friction of a joint, the same for each of its velocities; None where there is nothing."""
    rotor: dict[str, Any] = {"viscous": _passive(said, settings), "coulomb": said.non_negative("frictionloss")}
    rotor["inertia"] = said.non_negative("armature")
    for key, flags in (("viscous", {"damper", "passive"}), ("coulomb", {"frictionloss", "constraint"})):
        rotor[key] *= not flags & settings.disabled
    return Motor(**rotor) if any(rotor.values()) else None


def _left_of_ball(said: Attributes, settings: Settings) -> None:
    """Remarks on what a ball joint says and is left out."""
    least, most = said.row("range", (0.0, 0.0))
    bare = said.text("limited") == "true" and "range" not in said  # (0, where MuJoCo takes none of hinges and slides)
    if bare or _limited(said, settings, "limited", "range", (least, most)):
        said.remark("its range is left out: it limits the angle of the whole turn, and a ball joint here that of its axis")


def _by_time_constant(said: Attributes) -> bool:
    """Whether a time constant and a damping ratio say the spring and the damper, whatever stiffness and damping say."""
    return min(said.row("springdamper", (0.0, 0.0))) > 0


def _passive(said: Attributes, settings: Settings) -> float:
    """The viscous friction; damping that is not proportional to the speed is remarked on."""
    damping = 0.0 if _by_time_constant(said) else said.damping()
    if damping < 0:
        said.report(f"damping is {damping!r}; expected a number >= 0", "damping")
        damping = 0.0
    return damping


def _spring(said: Attributes, settings: Settings) -> tuple[float, float] | None:
    """Stiffness and rest of a linear spring; one of another law is remarked on."""
    stiffness = said.numbers("stiffness", 1, 3) or [0.0]
    if not any(stiffness) or {"spring", "passive"} & settings.disabled or _by_time_constant(said):
        return None
    if said.number("springyield"):
        said.remark(f"springyield = {said.text('springyield')} is left out, for a spring here does not yield")
    zero = _springref(said, settings)
    if stiffness[0] < 0 or any(stiffness[1:]):
        law = " + ".join(f"{k!r} x{'' if power == 1 else f'^{power}'}" for power, k in enumerate(stiffness, 1) if k)
        stretch = f"q - {zero!r}" if zero else "q"
        said.remark(f"its spring is left out, for it is not linear: it pulls with -({law}), x = {stretch}")
        return None
    return stiffness[0], zero


def _springref(said: Attributes, settings: Settings) -> float:
    """Where springs rest, rad or m."""
    value = said.number("springref")
    return degrees(value) if settings.degree and said.word("type", TYPES, "hinge") == "hinge" else value


def _limits(said: Attributes, settings: Settings, is_hinge: bool) -> tuple[float, float] | None:
    low, high = said.row("range", (0.0, 0.0))
    if not _limited(said, settings, "limited", "range", (low, high)) or {"limit", "constraint"} & settings.disabled:
        return None
    return (degrees(low), degrees(high)) if is_hinge and settings.degree else (low, high)


def _effort_limit(said: Attributes, settings: Settings) -> float | None:
    low, high = said.row("actuatorfrcrange", (0.0, 0.0))
    if not _limited(said, settings, "actuatorfrclimited", "actuatorfrcrange", (low, high)):
        return None
    if low != -high:
        said.remark(f"actuatorfrcrange is {[low, high]!r}; an effort limit holds both ways here, so it is left out")
        return None
    return high


def _limited(said: Attributes, settings: Settings, key: str, range_key: str, limits: tuple[float, float]) -> bool:
    """Whether a range holds, by MuJoCo's rules."""
    limited = said.word(key, ("false", "true", "auto"), "auto")
    if limited == "auto" and not settings.autolimits and limits != (0.0, 0.0):
        said.report(f"it has {range_key} but not {key}, and the compiler's autolimits is 'false'", range_key)
        return False
    if limited == "true" and not limits[0] < limits[1]:
        stated = shown(said.text(range_key)) if range_key in said else "not given"
        said.report(f"{range_key} is {stated}; expected the least value, then the greatest, for {key} is 'true'", range_key)
        return False
    return limited == "true" or (limited == "auto" and limits[0] < limits[1])
