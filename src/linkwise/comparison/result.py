"""Result of a comparison: correspondence of the joint values of two chains, differences, and its text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from linkwise.comparison.axis_chain import (
    JointAxes,
    JointAxis,
    beside,
    coordinates,
    joint_values,
    names,
)
from linkwise.errors import ArgumentError, shown
from linkwise.model.formatting.table import Table, as_rows, degrees, laid_out, number, plain, vector
from linkwise.spatial.quaternion import conjugated, multiplied
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers


@dataclass(frozen=True, eq=False)
class Comparison:
    """Whether two chains are equal, up to base, tool, and the directions and zeros of their joints.

    With x the joint values of the first and y those of the second, y = signs * x + offsets, and for all of them
    ``first.forward_kinematics == base @ second.forward_kinematics @ tool``.

    Attributes
    ----------
    same : bool
        Whether this holds within the tolerance, and with `dynamics` the efforts agree too. Without it the kinematics alone
        were compared, and masses, gravity and friction may differ.
    base, tool : ndarray (4, 4), or None
        T_world1_world2 and T_end2_end1; None where there is nothing near.
    signs, offsets : ndarray (m,), or None
        Of the joints on the way, from the base out; offsets in rad, or m of a prismatic joint; 1 and 0 of ball joints.
    turns : ndarray (m, 2, 4), or None
        Of the ball joints on the way: the quaternion of the second is the first of these times that of the first, times the
        second of these. Neutral for other joints.
    position_error, rotation_error : float
        What is left, at most, at random configurations: m and rad; infinite where there is nothing near.
    mass_error, gravity_error, friction_error : float or None
        With `dynamics`: the largest differences of the mass matrix, the efforts against gravity and those of friction, as
        shares of the largest elements.
    differences : tuple of str
        What differs, in words.
    limits : tuple of str
        Limits that differ. They do not count for `same`.
    tol : float
        The tolerance, m and rad.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_2r()
    >>> found = lw.compare(arm, arm.replace(base=arm.forward_kinematics([0.0, 0.0])))
    >>> found.same, found.signs.tolist()
    (True, [1.0, 1.0])
    """

    same: bool
    tol: float
    base: FloatArray | None = None
    tool: FloatArray | None = None
    signs: FloatArray | None = None
    offsets: FloatArray | None = None
    turns: FloatArray | None = None
    position_error: float = np.inf
    rotation_error: float = np.inf
    mass_error: float | None = None
    gravity_error: float | None = None
    friction_error: float | None = None
    differences: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    chains: tuple[JointAxes, JointAxes] = field(kw_only=True, repr=False)

    def __bool__(self) -> bool:
        return self.same

    def transferred(self, q: npt.ArrayLike, *, back: bool = False) -> FloatArray:
        """The joint coordinates (..., n) of the second mechanism at those of the first, or back.

        Before them stand the quaternions of ball joints on the way, in its order. Joints that are not on the way to the link
        are at zero; a floating base, and other joints with quaternions, are no part of it.

        Raises
        ------
        ArgumentError
            Where the mechanisms do not correspond, or q has another number of coordinates.
        """
        if self.signs is None or self.offsets is None or self.turns is None:
            raise ArgumentError("the mechanisms do not correspond: " + "; ".join(self.differences))
        source, target = self.chains[::-1] if back else self.chains
        joints = numbers("q", q)
        balls = [k for k, axis in enumerate(source.axes) if axis.is_ball]
        count = 4 * len(balls) + source.mechanism.n
        if not joints.ndim or joints.shape[-1] != count:
            raise ArgumentError(f"q has shape {shown(joints.shape)}; expected (..., {count})")
        values = joint_values(source, joints[..., 4 * len(balls) :])
        values = (values - self.offsets) * self.signs if back else values * self.signs + self.offsets
        turned = []
        for place, k in enumerate(balls):
            before, beyond = conjugated(self.turns[k]) if back else self.turns[k]
            turned.append(multiplied(multiplied(before, joints[..., 4 * place : 4 * place + 4]), beyond))
        return np.concatenate([*turned, coordinates(target, values)], axis=-1)

    def __str__(self) -> str:
        first_name, second_name = (plain(chain.mechanism.name) for chain in self.chains)
        if first_name == second_name:
            first_name, second_name = f"{first_name} (first)", f"{second_name} (second)"
        return "\n".join(_lines(self, first_name, second_name))


def _lines(comparison: Comparison, first_name: str, second_name: str) -> list[str]:
    """The text of a comparison, line by line."""
    compared = (comparison.mass_error, comparison.gravity_error, comparison.friction_error)
    kinematics = comparison.same and all(error is None for error in compared)
    head = f"{first_name} and {second_name}: " + (
        "kinematics " * kinematics + "the same" if comparison.same else "not the same"
    )
    left = "; masses, gravity and friction were not compared: dynamics=True does" * kinematics
    lines = [f"{head}, to {comparison.tol:g} m and rad{left}", *_left_out(comparison, first_name, second_name)]
    if comparison.base is not None and comparison.tool is not None:
        nearly = "" if comparison.same else " at best"
        lines.append(f"{first_name} = base * {second_name} * tool{nearly}, for all joint values")
        lines += [f"base: {_frame(comparison.base)}", f"tool: {_frame(comparison.tool)}"]
        residual = f"{comparison.position_error:.2g} m, {comparison.rotation_error:.2g} rad"
        lines.append(f"left at random configurations: {residual}")
        errors = zip(("mass matrix", "gravity", "friction"), compared, strict=True)
        texts = [f"{label} {error:.2g}" for label, error in errors if error is not None]
        if texts:
            lines.append(f"efforts differ by these shares of the largest: {', '.join(texts)}")
        lines += [
            "",
            laid_out(Table((f"joint values of {second_name} at those of {first_name}",), *as_rows(_columns(comparison)))),
        ]
    for head, group in (("what differs", comparison.differences), ("limits that differ", comparison.limits)):
        if group:
            lines += ["", f"{head}:", *(f"  {line}" for line in group)]
    return lines


def _left_out(comparison: Comparison, *names: str) -> list[str]:
    """Parts of the mechanisms beside the compared chains."""
    lines = []
    for name, chain in zip(names, comparison.chains, strict=True):
        parts = [f"joints not on the way to the end: {', '.join(map(plain, beside(chain)))}"] if beside(chain) else []
        parts += ["closed loops"] * bool(chain.mechanism.loops)
        if parts:
            lines.append(f"not compared of {name}: {'; '.join(parts)}")
    return lines


def _columns(comparison: Comparison) -> dict[str, list[str]]:
    first, second = comparison.chains
    assert comparison.signs is not None
    assert comparison.offsets is not None
    pairs = list(zip(first.axes, second.axes, strict=True))
    signs = comparison.signs.tolist()
    return {
        "joint": [str(k + 1) for k in range(len(pairs))],
        "names": [names(*pair) for pair in pairs],
        "kind": [axis.kind for axis, _ in pairs],
        "sign": ["" if axis.is_ball else "+" if sign > 0 else "-" for sign, (axis, _) in zip(signs, pairs, strict=True)],
        "offset": [_offset(axis, comparison, k) for k, (axis, _) in enumerate(pairs)],
    }


def _offset(axis: JointAxis, comparison: Comparison, k: int) -> str:
    assert comparison.offsets is not None
    assert comparison.turns is not None
    if axis.is_ball:
        ends = ["(" + " ".join(number(round(x, 6) + 0.0) for x in end) + ")" for end in comparison.turns[k].tolist()]
        return f"{ends[0]} * q * {ends[1]}"
    offset = round(float(comparison.offsets[k]), 10)
    return degrees(offset) if axis.has_line else f"{number(offset)} m"


def _frame(pose: FloatArray) -> str:
    rounded = np.round(pose, 10)
    if np.array_equal(rounded, np.eye(4)):
        return "none (the identity)"
    angles = " ".join(degrees(round(angle, 10)) for angle in rotation_to_rpy(pose[:3, :3]))
    return f"xyz {vector(rounded[:3, 3])} m, roll pitch yaw {angles}"
