"""The closed form of a mechanism for one of its frames: every solution of a pose at once, or the nearest one."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.solve.closed_form.program import Program
from linkwise.solve.closed_form.recognise import ASKS, recognised
from linkwise.solve.closed_form.solutions import Solutions
from linkwise.solve.constraints.given import FARTHEST
from linkwise.solve.goal import positive
from linkwise.solve.start import start_position
from linkwise.spatial.numbers import numbers
from linkwise.spatial.poses import RIGID, rigid_poses
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

TOLERANCE = 1e-9
"""An answer is one where the forward pass comes as near to the pose as this, m and rad."""

AT_ONCE = 8192
"""Poses of a large batch that go through the kernel together where only the nearest answers are kept."""

_making = threading.RLock()


class NoClosedFormError(ArgumentError):
    """A closed form was asked for where none is known."""


class ClosedForm:
    """The closed form of one frame, or the reason why there is none; made by `closed_form`.

    Attributes
    ----------
    mechanism : Mechanism
        Whose it is.
    link : int or str
        Which frame: -1 the tool.
    exists : bool
        Whether there is one.
    family : str
        The geometry that makes it possible, in words; empty where there is none.
    why : str
        Why there is none; empty where there is one.
    asks : {"pose", "position", "orientation"}
        What is solved for.
    given : int or None
        The coordinate whose value is handed in.

    Examples
    --------
    >>> from linkwise import robots
    >>> closed_form(robots.puma560())
    <ClosedForm of puma560: the axes of joints 4, 5 and 6 meet in a point>
    >>> closed_form(robots.panda()).exists
    False
    """

    def __init__(
        self,
        mechanism: Mechanism,
        link: int | str = -1,
        asks: str = "pose",
        given: tuple[int, npt.ArrayLike] | None = None,
    ) -> None:
        self.mechanism, self.link, self.asks = mechanism, link, asks
        self.given: int | None = None if given is None else given[0]
        self._value = np.zeros(()) if given is None else numbers("given", given[1])
        self._chain, self._family, self.why = recognised(mechanism, link, asks, self.given)
        self.exists = self._family is not None
        self.family = "" if self._family is None else self._family.name
        self._parts: _Parts | None = None

    def all(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> FloatArray | Solutions:
        """Every solution for poses, the nearest to q0 first; see `all_inverse_kinematics`."""
        q, count, _, _ = self._run(T, q0, limits, tol)
        return Solutions(q, count.astype(np.intp)) if count.ndim else q[: int(count)]

    def nearest(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> tuple[FloatArray, Any, Any, Any]:
        """The solution nearest to q0 for each pose.

        Returns
        -------
        q : ndarray (..., n)
            The solution; where there is none, the branch that misses least.
        found : bool or ndarray (...)
            Whether it is a solution: a forward pass brings it as near as `tol`, within the limits.
        position_error, rotation_error : float or ndarray (...)
            What the forward pass says, m and rad; the angle as twice the sine of its half.
        """
        _, count, q, errors = self._run(T, q0, limits, tol, nearest=True)
        return q, count > 0, errors[..., 0], errors[..., 1]

    def __repr__(self) -> str:
        return f"<ClosedForm of {self.mechanism.name}: {self.family or 'none, ' + self.why}>"

    def refuse(self, why: str = "") -> NoReturn:
        """Raise `NoClosedFormError`: why there is none, or what else stands in its way."""
        way = "" if self.mechanism.floating else "; inverse_kinematics(T) solves numerically"
        raise NoClosedFormError(f"{self.mechanism.name!r} has no closed form for this frame: {why or self.why}{way}")

    def _made(self) -> _Parts:
        if self._family is None or self._chain is None:
            self.refuse()
        with _making:
            if self._parts is None:
                program = Program(self.mechanism, self.link, self._chain, self._family)
                self._parts = _Parts(self.mechanism, program)
        return self._parts

    def _run(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None, limits: bool, tol: float, *, nearest: bool = False
    ) -> tuple[Any, ...]:
        """What the kernel gives for arguments of any kind that fit."""
        parts = self._parts or self._made()
        bounds = parts.known.get((limits, tol)) if limits is True or limits is False else None
        if bounds is None:
            bounds = parts.bounds(limits, tol)
        if type(T) is np.ndarray and T.shape == (4, 4) and T.dtype.char == "d" and self.given is None:  # (without detours)
            start = parts.start if q0 is None else q0
            if type(start) is np.ndarray and start.shape == parts.start.shape and start.dtype.char == "d":
                found: tuple[Any, ...] = parts.entry(T.reshape(16), start, bounds)
                if found[3][2] <= RIGID:
                    return found
        poses, start = _poses(T), self._start(parts, q0)
        try:
            batch = np.broadcast_shapes(poses.shape[:-1], start.shape[:-1])
        except ValueError as error:
            others = "q0" if self.given is None else "q0 with what is given"
            raise ArgumentError(
                f"the batch shapes T {poses.shape[:-1]} and {others} {start.shape[:-1]} do not broadcast"
            ) from error
        with np.errstate(all="ignore"):  # (branches that are no answers may divide by nothing)
            if nearest and math.prod(batch) > AT_ONCE:
                found = _in_blocks(parts, batch, poses, start, bounds)
            else:
                found = parts.kernel.ufunc(poses, start, bounds)
        if not np.all(found[3][..., 2] <= RIGID):
            _refuse(T, start)
        return found

    def _start(self, parts: _Parts, q0: npt.ArrayLike | None) -> FloatArray:
        n = self.mechanism.n
        start = parts.start if q0 is None else numbers("q0", q0)
        if start.shape[-1:] != (n,):
            raise ArgumentError(f"q0 has the shape {start.shape}; expected (..., {n})")
        if self.given is None:
            return start
        value = self._value
        try:
            shape = np.broadcast_shapes(start.shape[:-1], value.shape)
        except ValueError as error:
            raise ArgumentError(
                f"the batch shapes of q0 {start.shape[:-1]} and of what is given {value.shape} do not broadcast"
            ) from error
        made = np.broadcast_to(start, (*shape, n)).copy()
        made[..., self.given] = value
        return made


def _in_blocks(
    parts: _Parts, batch: tuple[int, ...], poses: FloatArray, start: FloatArray, bounds: FloatArray
) -> tuple[Any, ...]:
    """What the kernel gives but for all the answers, for which a large batch would need much room."""
    total, n = math.prod(batch), start.shape[-1]
    rows = np.broadcast_to(poses, (*batch, 16)).reshape(total, 16)
    starts = np.broadcast_to(start, (*batch, n)) if start.ndim > 1 else start
    starts = starts.reshape(total, n) if start.ndim > 1 else starts
    count, q, errors = np.empty(total), np.empty((total, n)), np.empty((total, 3))
    for first in range(0, total, AT_ONCE):
        here = slice(first, first + AT_ONCE)
        from_here = starts[here] if start.ndim > 1 else starts
        _, count[here], q[here], errors[here] = parts.kernel.ufunc(rows[here], from_here, bounds)
    return None, count.reshape(batch), q.reshape(*batch, n), errors.reshape(*batch, 3)


def _poses(T: npt.ArrayLike) -> FloatArray:
    """The numbers (..., 16) of poses (..., 4, 4)."""
    made = np.asarray(T)
    if made.shape[-2:] != (4, 4) or made.dtype != np.float64:
        made = numbers("T", T, "rigid poses (..., 4, 4)")
        if made.shape[-2:] != (4, 4):
            raise ArgumentError(f"T has the shape {made.shape}; expected rigid poses (..., 4, 4)")
    return np.asarray(made.reshape(*made.shape[:-2], 16))


def _refuse(T: npt.ArrayLike, start: FloatArray) -> None:
    """Raise what is wrong with poses or starts; return where they are right after all."""
    farthest = np.abs(rigid_poses("T", T)[..., :3, 3]).max(initial=0.0)
    if farthest > FARTHEST:
        raise ArgumentError(f"T has the position {farthest:g} m; expected positions up to {FARTHEST:g} m")
    if np.abs(start).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"q0 is {np.abs(start).max():g}; expected numbers up to {FARTHEST:g}")


class _Parts:
    """What a closed form needs at every call."""

    def __init__(self, mechanism: Mechanism, program: Program) -> None:
        self.kernel = program.kernel()
        self.start = np.ascontiguousarray(start_position(mechanism))
        self.limits = {True: mechanism.limits, False: np.tile([-np.inf, np.inf], (mechanism.n, 1))}
        self.known = {(limits, TOLERANCE): self.bounds(limits, TOLERANCE) for limits in (True, False)}
        self.entry = self.kernel.entry(self._slow) or self._slow

    def bounds(self, limits: bool, tol: float) -> FloatArray:
        """The third argument of the kernel."""
        if not isinstance(limits, (bool, np.bool_)):
            raise ArgumentError(f"limits is {shown(limits)}; expected True or False")
        return np.concatenate([*self.limits[bool(limits)].T, [positive("tol", tol), np.nan]])

    def _slow(self, pose: FloatArray, q0: FloatArray, bounds: FloatArray) -> Any:
        with np.errstate(all="ignore"):
            return self.kernel.ufunc(pose, q0, bounds)


def closed_form(
    mechanism: Mechanism,
    link: int | str = -1,
    *,
    asks: str = "pose",
    given: Mapping[int | str, npt.ArrayLike] | None = None,
) -> ClosedForm:
    """The closed form of a mechanism for one of its frames. Where there is none, the object that comes back says why.

    Closed forms are known for six revolute joints of which three neighbours have parallel axes or axes that meet in a point,
    wherever in the chain they are, and for what else `linkwise.solve.closed_form.taken_apart` takes apart. Axes count as
    parallel or meeting within 1e-5 (rad, or shares of the arm's size); answers are refined on the arm as it is.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops on the way to the frame.
    link : int or str
        Which frame: -1 the tool, otherwise as in `Mechanism.forward_kinematics`.
    asks : {"pose", "position", "orientation"}
        What is solved for; of a pose given for a position only the last column counts, for an orientation the rotation.
    given : mapping of a joint to its value, optional
        A joint, by name or index of its coordinate, that is not solved for: rad or m, of any batch shape.

    Returns
    -------
    ClosedForm
        With the methods `ClosedForm.all` and `ClosedForm.nearest`.

    Raises
    ------
    ArgumentError
        Where there is no such link or joint, or no such thing to ask for.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.ur5()
    >>> form = closed_form(arm)
    >>> form.family
    'the axes of joints 2, 3 and 4 are parallel'
    >>> q, found, *errors = form.nearest(arm.forward_kinematics([0.1, -0.8, 1.0, 0.3, 0.5, 0.2]), q0=[0.0] * 6)
    >>> bool(found), q.round(6).tolist()
    (True, [0.1, -0.8, 1.0, 0.3, 0.5, 0.2])
    """
    if not isinstance(asks, str) or asks not in ASKS:
        raise ArgumentError(f"asks is {shown(asks)}; expected {choices(ASKS)}")
    if given:
        return ClosedForm(mechanism, link, asks, _given(mechanism, given))
    forms: dict[Any, ClosedForm] = mechanism.__dict__.setdefault("_closed_forms", {})
    found = forms.get((link, asks))
    if found is None:
        found = forms[link, asks] = ClosedForm(mechanism, link, asks)
    return found


def _given(mechanism: Mechanism, given: Mapping[int | str, npt.ArrayLike]) -> tuple[int, npt.ArrayLike]:
    """The coordinate, by index, and its value."""
    if not isinstance(given, Mapping) or len(given) != 1:
        raise ArgumentError(f"given is {shown(given)}; expected one joint and its value, such as {{'joint7': 0.0}}")
    ((joint, value),) = given.items()
    if isinstance(joint, str) and joint in mechanism.names:
        return mechanism.names.index(joint), value
    n = mechanism.n
    if isinstance(joint, (int, np.integer)) and not isinstance(joint, bool) and -n <= joint < n:
        return int(joint) % n, value
    raise ArgumentError(
        f"given: no joint {joint!r}; this mechanism has {members(mechanism.names)}, or indices {-n} to {n - 1}"
    )


def all_inverse_kinematics(
    mechanism: Mechanism,
    T: npt.ArrayLike,
    *,
    link: int | str = -1,
    q0: npt.ArrayLike | None = None,
    limits: bool = True,
) -> FloatArray | Solutions:
    """Every position of the joints that brings a frame to a pose, by a closed form.

    Each is refined where its equations need it, and is a solution only where a forward pass of its own reaches the pose
    within 1e-9 m and rad. Revolute joints are turned by whole turns to where they are nearest to q0 within their limits, so
    that no solution appears twice; solutions outside the limits are left out. In a singular position, where a joint may turn
    freely, one solution stands for all: that joint stays at q0, or as near to it as the others can follow.

    Parameters
    ----------
    mechanism : Mechanism
        One with a closed form: `closed_form` says whether it has one.
    T : (..., 4, 4) array_like
        Poses, world frame, m.
    link : int or str
        Which frame: -1 the tool, otherwise as in `Mechanism.forward_kinematics`.
    q0 : (..., n) array_like, optional
        Solutions are ordered by their distance from here (root of the sum of squares, rad and m alike); a little beside the
        middle of each joint's range where it is left out.
    limits : bool
        Whether joint limits hold.

    Returns
    -------
    ndarray (k, n) or Solutions
        For one pose its k solutions, rad or m, which may be none; for a batch an object with `Solutions.q` and
        `Solutions.count`, which gives such arrays when iterated.

    Raises
    ------
    NoClosedFormError
        Where no closed form is known: why, and what to use instead.
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    >>> found = all_inverse_kinematics(arm, T, q0=[0.1, 0.8, -2.0, 0.3, 0.5, 0.0])
    >>> found.shape, found[0].round(6).tolist()
    ((3, 6), [0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    >>> bool(abs(arm.forward_kinematics(found) - T).max() < 1e-12)
    True
    """
    return closed_form(mechanism, link).all(T, q0, limits)
