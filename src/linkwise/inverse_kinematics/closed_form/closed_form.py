"""The closed form of a mechanism for one of its frames: every solution of a pose at once, or the nearest one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.inverse_kinematics.closed_form.detect import recognised
from linkwise.inverse_kinematics.closed_form.kernel import TOLERANCE, Compiled
from linkwise.inverse_kinematics.closed_form.problem import ROWS
from linkwise.inverse_kinematics.closed_form.program import SEARCH
from linkwise.model.tree import Tree
from linkwise.solve.validation import joint_given, joint_index, link_given
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers


@dataclass(frozen=True, eq=False, repr=False)
class Solutions:
    """All joint coordinates that were found for poses: for each pose as many rows as it has solutions, the nearest first.

    Of a single pose it is used like the array (k, n) of its solutions: length, index, iteration, `numpy.asarray`. Of a
    batch, iterating goes through the poses, in one row for a batch of any shape, and gives such an array each.

    Attributes
    ----------
    q : ndarray (..., K, n)
        Joint coordinates, rad or m; NaN in the rows from `count` on, so without NaN for a single pose.
    count : ndarray (...)
        How many solutions each pose has.
    complete : ndarray (...)
        False where random starts were used, which do not prove that there are no other solutions.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([[0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.3, 0.6, -1.0, 0.2, 0.4, 0.1]])
    >>> found = arm.all_inverse_kinematics(T)
    >>> found, [len(q) for q in found] == found.count.tolist(), found.complete.tolist()
    (<Solutions: 2 poses, 2 to 3 each>, True, [True, True])
    >>> one = arm.all_inverse_kinematics(T[0])
    >>> one, one[0].shape
    (<Solutions: 3 of one pose>, (6,))
    """

    q: FloatArray
    count: npt.NDArray[np.intp]
    complete: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.count.size if self.count.ndim else self.count)

    def __iter__(self) -> Iterator[FloatArray]:
        if not self.count.ndim:
            return iter(self.q)
        rows = self.q.reshape(-1, *self.q.shape[-2:])
        return (row[:count] for row, count in zip(rows, self.count.ravel(), strict=True))

    def __getitem__(self, which: Any) -> FloatArray:
        """A solution (n,) of a single pose, or the solutions (k, n) of one pose of a batch, by its index."""
        if not self.count.ndim:
            return np.asarray(self.q[which])
        count = self.count[which]
        if np.ndim(count):
            raise IndexError(f"index {which!r} is of several poses; expected that of one, of the shape {self.count.shape}")
        return np.asarray(self.q[which][: int(count)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.q, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        if not self.count.ndim:
            return f"<Solutions: {self.count} of one pose>"
        if not self.count.size:
            return "<Solutions: 0 poses>"
        return f"<Solutions: {self.count.size} poses, {self.count.min()} to {self.count.max()} each>"


class NoClosedFormError(ArgumentError):
    """A closed form was asked for where none is known.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Link, Mechanism
    >>> links = [Link.dh(a=0.1 * k, alpha=0.3 + 0.5 * k, d=0.1, convention="standard") for k in range(1, 7)]
    >>> try:
    ...     Mechanism(links, name="odd").all_inverse_kinematics(np.eye(4))
    ... except NoClosedFormError as error:
    ...     print(str(error).partition(":")[0])
    'odd' has no closed form for this frame
    """


_FREE = np.zeros(())
"""The value of a joint that is given, where none is."""


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
        mechanism: Tree,
        link: int | str = "tool",
        asks: str = "pose",
        given: tuple[int, npt.ArrayLike] | None = None,
    ) -> None:
        self.mechanism, self.link, self.asks = mechanism, link, asks
        self.given: int | None = None if given is None else given[0]
        self._value = _FREE if given is None else numbers("given", given[1])
        chain, family, self.why = recognised(mechanism, link, asks, self.given)
        self.exists = family is not None
        self.family = "" if family is None else family.name
        self._solver = None if chain is None or family is None else Compiled(mechanism, link, chain, family, self.given)

    def all(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> Solutions:
        """Every solution for poses, the nearest to q0 first; see `linkwise.inverse_kinematics.all_inverse_kinematics`."""
        q, count, _, errors = (self._solver or self.refuse()).run(T, q0, limits, tol, self._value)
        counts = np.asarray(count, dtype=np.intp)
        return Solutions(q if counts.ndim else q[: int(counts)], counts, np.asarray(errors[..., 3] < SEARCH))

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
        _, count, q, errors = (self._solver or self.refuse()).run(T, q0, limits, tol, self._value, nearest=True)
        return q, count > 0, errors[..., 0], errors[..., 1]

    def holding(self, value: npt.ArrayLike) -> ClosedForm:
        """The same with another value of the given joint, rad or m, of any batch shape; nothing is compiled again."""
        if self.given is None:
            raise ArgumentError(
                "this closed form has no joint that is given; expected closed_form(..., given={joint: value})"
            )
        other = object.__new__(ClosedForm)
        other.__dict__.update(self.__dict__, _value=numbers("given", value))
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        given: Any = None if self.given is None else {self.given: self._value}
        return partial(closed_form, asks=self.asks, given=given), (self.mechanism, self.link)

    def __repr__(self) -> str:
        return f"<ClosedForm of {self.mechanism.name}: {self.family or 'none, ' + self.why}>"

    def refuse(self, why: str = "") -> NoReturn:
        """Raise `NoClosedFormError`: why there is none, or what else stands in its way."""
        way = (
            ""
            if self.mechanism.floating
            else "; inverse_kinematics(T) solves numerically, all_inverse_kinematics(T, method='numeric') from many starts"
        )
        raise NoClosedFormError(f"{self.mechanism.name!r} has no closed form for this frame: {why or self.why}{way}")


def closed_form(
    mechanism: Tree,
    link: int | str = "tool",
    *,
    asks: str = "pose",
    given: Mapping[int | str, npt.ArrayLike] | None = None,
) -> ClosedForm:
    """The closed form of a mechanism for one of its frames. Where there is none, the object that comes back says why.

    Closed forms are known for six revolute joints of which three neighbours have parallel axes or axes that meet in a point,
    wherever in the chain they are, and for what else `linkwise.inverse_kinematics.closed_form.decomposition` takes apart.
    Axes count as parallel or meeting within 1e-5 (rad, or shares of the arm's size); answers are refined on the arm as it
    is.

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
    if not isinstance(asks, str) or asks not in ROWS:
        raise ArgumentError(f"asks is {shown(asks)}; expected {choices(ROWS)}")
    link = link_given(link)
    joint, value = (None, 0.0) if given is None else _given(mechanism, given)
    known = None if joint is None else (joint, 0.0)
    form = mechanism.memo("closed_form", (link, asks, joint), lambda: ClosedForm(mechanism, link, asks, known))
    return form if joint is None else form.holding(value)


def _given(mechanism: Tree, given: Mapping[int | str, npt.ArrayLike]) -> tuple[int, npt.ArrayLike]:
    """The coordinate, by index, and its value."""
    if not isinstance(given, Mapping) or len(given) != 1:
        raise ArgumentError(f"given is {shown(given)}; expected one joint and its value, such as {{'joint7': 0.0}}")
    ((joint, value),) = given.items()
    return joint_index(mechanism, "given", joint_given("given", joint)), value
