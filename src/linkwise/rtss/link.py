"""The link object of the Robotics Toolbox for Scilab, and the legacy rows of numbers of one link."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, ModelError, Problem, shown
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.validation import Checker
from linkwise.rtss import fields
from linkwise.rtss.fields import Field, Fields
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, real

#: By the number that the toolbox gives them: mdh = 0 and 1.
CONVENTIONS = ("standard", "modified")

DH_SIZES = (4, 5)
DYN_SIZES = (16, 17, 18, 19, 20)


def convention_number(word: Any) -> int:
    """The mdh number, 0 or 1, that a word means: ``"standard"``, ``"modified"``, or a beginning of one.

    A beginning has at least three letters. (The original looks at the first three alone, whatever follows.)

    Raises
    ------
    ArgumentError
        Naming the words there are.

    Examples
    --------
    >>> convention_number("stand"), convention_number("mod")
    (0, 1)
    >>> convention_number("std")
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: convention is 'std'; expected 'standard' or 'modified', or a beginning of ...
    """
    if isinstance(word, str) and len(word) >= 3:
        for value, name in enumerate(CONVENTIONS):
            if name.startswith(word):
                return value
    expected = "'standard' or 'modified', or a beginning of one with three letters or more ('sta', 'mod')"
    raise ArgumentError(f"convention is {shown(word)}; expected {expected}")


def means_convention(word: Any) -> bool:
    """True if a word names a convention: see `convention_number`."""
    return isinstance(word, str) and len(word) >= 3 and any(name.startswith(word.lower()) for name in CONVENTIONS)


def row_fields(row: Any) -> dict[str, Any]:
    """The fields that a DH row (4 or 5 numbers) or a DYN row (16 to 20) sets; the values are not checked yet.

    ``alpha A theta D [sigma]``, and for the whole row
    ``alpha A theta D sigma m rx ry rz Ixx Iyy Izz Ixy Iyz Ixz Jm [G [B [Tc+ [Tc-]]]]``.
    What is left out at the end is sigma = 0, G = 1, B = 0, Tc = 0; Tc- alone is -Tc+.

    Raises
    ------
    ArgumentError
        Where it is no row of that many numbers.
    """
    numbers = _numbers(row).tolist()
    fields: dict[str, Any] = dict(zip(("alpha", "A", "theta", "D", "sigma"), [*numbers[:5], 0.0][:5], strict=True))
    if len(numbers) in DH_SIZES:
        return fields
    tail = numbers[15:]
    jm, ratio, viscous, *friction = tail + [0.0, 1.0, 0.0, 0.0][len(tail) :]
    fields |= {"m": numbers[5], "r": numbers[6:9], "I": numbers[9:15], "Jm": jm, "G": ratio, "B": viscous}
    return fields | {"Tc": friction if len(friction) == 2 else friction[0]}


def _numbers(row: Any) -> FloatArray:
    try:
        array = real(row)
    except TypeError as error:
        raise ArgumentError(f"{_SIZES}; {shown(row)} {error}") from error
    if array.ndim == 0:
        raise ArgumentError(f"{_SIZES}; this is the number {float(array):.6g}, and link(q) is the transform of a link at q")
    array = array[0] if array.ndim == 2 and array.shape[0] == 1 else array
    if array.ndim != 1:
        raise ArgumentError(f"{_SIZES}; this is an array of shape {array.shape} (link(q) is the transform of a link at q)")
    if array.size not in DH_SIZES + DYN_SIZES:
        raise ArgumentError(f"{_SIZES}; this one has {array.size} (link(q) is the transform of a link at q)")
    return np.asarray(array)


_SIZES = "a link is made from a row of 4 or 5 numbers (alpha A theta D sigma), or of 16 to 20 (those, m r I Jm G B Tc)"


#: Default values of a link: kinematics of zeros, and no dynamics.
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("alpha", "A", "theta", "D", "sigma", "mdh", "offset"), 0.0),
    **dict.fromkeys(("m", "r", "I", "Jm", "G"), None),
    **{"B": 0.0, "Tc": 0.0, "qlim": None},
}


class rt_link(Fields):  # noqa: N801  (the name that its users know)
    """A link with its joint, its body, and its motor, as in the Robotics Toolbox for Scilab (``rt_link``, 2007).

    ``rt_link()`` is a link of zeros; ``rt_link(dh_row)`` and ``rt_link(dyn_row)`` read a legacy row;
    ``rt_link(link)`` is a copy; ``link(q)`` is the transform of the joint at q.

    Parameters
    ----------
    source : array_like or rt_link, optional
        A row of 4 or 5 numbers ``alpha A theta D sigma``; a row of 16 to 20 numbers
        ``alpha A theta D sigma m rx ry rz Ixx Iyy Izz Ixy Iyz Ixz Jm G B Tc+ Tc-``; or a link to copy. Rows of later
        releases of the toolbox, which begin with theta, look the same and must be put in this order first.
    convention : str
        ``"standard"`` or ``"modified"``, or a beginning of one with three letters or more. Standard where it is left out.

    Raises
    ------
    ArgumentError
        For a row of another length, or a convention that there is not.
    ModelError
        With every number of the row that cannot be.

    Notes
    -----
    A link changes when a field is assigned, and ``b = a`` gives it a second name, as everywhere in Python and as in the
    original: ``b = rt_link(a)`` makes another link. Arrays that are read are closed to writing: ``link.I[0, 0] = 1`` is an
    error, ``link.I = ...`` is not.

    m, r, I, Jm, G and qlim are None until they are set, and None or ``[]`` unsets them. G unset counts as 1; G = 0 cuts the
    motor off. Centre of mass and tensor are in the axes of the link's frame, the tensor about the centre of mass; Jm, B and
    Tc are on the motor's side of the gear. Angles in rad; other units as the user likes, if they fit each other.

    The coordinate stands in the place of theta (revolute) or D (prismatic). A number that is there the original ignores in
    everything it computes; here it is kept, and an error where something is computed: if it is to be added, it is an offset.

    Mended: a row of 19 numbers, at which the original stops with an index out of range, gives Tc+ and, by symmetry,
    Tc- = -Tc+. Of a convention the original reads three letters and ignores what follows; here the whole word must fit. A
    matrix I that is not symmetric, a mass below zero, friction that would drive, and limits in the wrong order are refused.
    Symbols are refused too: they stand in a `linkwise.Link`.

    Examples
    --------
    >>> import numpy as np
    >>> link = rt_link([-np.pi / 2, 0.02, 0, 0.15], "stand")
    >>> link.RP, link.A, link.m
    ('R', 0.02, None)
    >>> link.Tc = 5
    >>> link.Tc.tolist()
    [5.0, -5.0]
    >>> link(0.0)[:3, 3].tolist()
    [0.02, 0.0, 0.15]
    """

    _kind = "link"

    alpha = Field(Checker.number, "Twist angle about x, rad.")
    A = Field(Checker.number, "Length along x.")
    theta = Field(Checker.number, "Rotation angle about z of a prismatic joint, rad; 0 for a revolute one.")
    D = Field(Checker.number, "Offset distance along z of a revolute joint; 0 for a prismatic one.")
    sigma = Field(fields.joint_type, "0 for a revolute joint, 1 for a prismatic one; any number but 0 is kept as 1.")
    mdh = Field(fields.convention, "0 for the standard Denavit-Hartenberg convention, 1 for the modified one.")
    offset = Field(Checker.number, "Added to the joint coordinate before anything is computed.")
    m = Field(fields.unset_or(fields.not_negative), "Mass, or None.")
    r = Field(fields.unset_or(fields.vector3), "Centre of mass (3,) in the link's frame, or None.")
    I = Field(  # noqa: E741
        fields.unset_or(fields.tensor),
        "Inertia tensor (3, 3) about the centre of mass, or None; taken as that matrix, its diagonal, "
        "or Ixx Iyy Izz Ixy Iyz Ixz.",
    )
    Jm = Field(fields.unset_or(fields.not_negative), "Inertia of the motor, or None.")
    G = Field(fields.unset_or(Checker.number), "Gear ratio, motor speed / joint speed, or None, which counts as 1.")
    B = Field(fields.not_negative, "Viscous friction of the motor.")
    Tc = Field(
        fields.coulomb, "Coulomb friction of the motor (2,): Tc+ >= 0 and Tc- <= 0; taken also as one number for both."
    )
    qlim = Field(fields.unset_or(fields.limits), "Least and greatest joint coordinate (2,), or None.")

    def __init__(self, source: Any = None, convention: str | None = None) -> None:
        if isinstance(source, rt_link):
            if convention is not None:
                raise ArgumentError("a copy keeps the convention of its link; assign mdh to change it")
            self.__dict__.update(source.__dict__)
            return
        values = DEFAULTS if source is None else {**DEFAULTS, **row_fields(source)}
        self.assign({**values, "mdh": 0 if convention is None else convention_number(convention)})

    def __call__(self, q: Any) -> FloatArray:
        """Transform (4, 4) from the frame of the link before to the link's frame at the joint coordinate q + offset.

        Raises
        ------
        ArgumentError
            Where q is not a number.
        ModelError
            Where a constant stands in the place of the coordinate.
        """
        value = numbers("q", q, "one joint coordinate", finite=False)
        if value.ndim:
            many = "for many, rt_fkine(rt_robot([link]), q) takes (m, 1)"
            raise ArgumentError(f"q has shape {value.shape}; expected one joint coordinate ({many})")
        if np.isinf(value):
            raise ArgumentError(f"q is {float(value)}; expected one joint coordinate")
        return np.asarray(self.to_link().placement(float(value)), dtype=np.float64)

    @property
    def RP(self) -> str:
        """Letter of the joint: R revolute, P prismatic. To change it, assign sigma."""
        return "P" if self.sigma else "R"

    @property
    def dh(self) -> FloatArray:
        """The legacy row (5,): alpha A theta D sigma. A row of 4 or 5 numbers may be assigned."""
        return np.array([self.alpha, self.A, self.theta, self.D, self.sigma])

    @dh.setter
    def dh(self, row: npt.ArrayLike) -> None:
        values = row_fields(row)
        if "m" in values:
            raise ArgumentError("dh takes a row of 4 or 5 numbers; assign dyn for a row of 16 to 20")
        self.assign(values)

    @property
    def dyn(self) -> FloatArray:
        """The legacy row (20,) of all numbers but mdh, offset and qlim. A row of 16 to 20 numbers may be assigned."""
        return self.dyn_row()

    @dyn.setter
    def dyn(self, row: npt.ArrayLike) -> None:
        values = row_fields(row)
        if "m" not in values:
            raise ArgumentError("dyn takes a row of 16 to 20 numbers; assign dh for a row of 4 or 5")
        self.assign(values)

    def dyn_row(self, item: str = "link") -> FloatArray:
        """The same row as `dyn`; `item` names the link in messages.

        Raises
        ------
        ArgumentError
            Naming what is not set.
        """
        missing = self.missing("m", "r", "I", "Jm")
        if missing:
            raise ArgumentError(f"{item} has no {' and no '.join(missing)}; a row of dyn needs 'm', 'r', 'I' and 'Jm'")
        assert self.r is not None
        assert self.I is not None
        six = self.I[[0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2]]
        motor = [self.Jm, 1.0 if self.G is None else self.G, self.B, *self.Tc]
        return np.array([*self.dh, self.m, *self.r, *six, *motor], dtype=np.float64)

    def misplaced(self, item: str) -> list[Problem]:
        """Problems of a constant in the place of the coordinate; `item` names the link in messages."""
        place, kind = ("D", "prismatic") if self.sigma else ("theta", "revolute")
        constant = float(getattr(self, place))
        expected = f"0, for the coordinate of a {kind} joint stands in its place; what is added to that is the offset"
        return [Problem(item, place, constant, expected)] if constant else []

    def missing(self, *names: str) -> list[str]:
        """Names of the fields that are not set."""
        return [name for name in names if getattr(self, name) is None]

    def islimit(self, q: Any) -> int:
        """-1 where q is below the limits, 1 where it is above, 0 within; q is without the offset, as the limits are.

        Raises
        ------
        ArgumentError
            Where the link has no limits, or q is not a number.
        """
        value = numbers("q", q, "one joint coordinate", finite=False)
        if value.ndim or np.isnan(value):
            raise ArgumentError(f"q is {shown(q)}; expected one joint coordinate")
        if self.qlim is None:
            raise ArgumentError("this link has no limits; assign qlim")
        return int(value > self.qlim[1]) - int(value < self.qlim[0])

    def to_link(self, name: str | None = None, *, friction: str = "reflected") -> Link:
        """Convert to an immutable `linkwise.Link`, with 0 for missing fields.

        Parameters
        ----------
        name : str, optional
            How it is called.
        friction : {"reflected", "toolbox7"}
            The rule for friction behind the gear; see `linkwise.Motor`.

        Raises
        ------
        ModelError
            Where a constant stands in the place of the coordinate.

        Examples
        --------
        >>> rt_link([0, 0.5, 0, 0]).to_link("arm")
        Link 'arm': revolute, standard Denavit-Hartenberg theta=q d=0 a=0.5 alpha=0°
        """
        wrong = self.misplaced(self._kind if name is None else str(name))
        if wrong:
            raise ModelError(wrong)
        body: dict[str, Any] = {"mass": self.m, "com": self.r, "inertia": self.I}
        return Link.dh(
            self.theta,
            self.D,
            self.A,
            self.alpha,
            convention=CONVENTIONS[self.mdh],
            joint="prismatic" if self.sigma else "revolute",
            offset=self.offset,
            limits=self.qlim,
            name=name,
            motor=self._motor(friction),
            physical=False,
            **{field: value for field, value in body.items() if value is not None},
        )

    def _motor(self, friction: str) -> Motor | None:
        """The motor, if it is felt at the joint."""
        if self.G == 0 or not (self.Jm or self.B or self.Tc.any()):
            return None
        ratio = 1.0 if self.G is None else self.G
        return Motor(self.Jm or 0.0, ratio, self.B, self.Tc, friction_rule=friction)

    def __repr__(self) -> str:
        numbers = "\t".join(f"{value:f}" for value in (self.alpha, self.A, self.theta, self.D))
        return f"{numbers}\t{self.RP}\t({'mod' if self.mdh else 'std'})"


__all__ = [name for name in dir() if name.startswith("rt_")]
