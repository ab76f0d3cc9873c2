"""The closed form of a mechanism for one of its frames: all solutions of a pose, or the nearest one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.inverse_kinematics.closed_form.compiled import TOLERANCE, Compiled
from linkwise.inverse_kinematics.closed_form.decomposition import recognised
from linkwise.inverse_kinematics.closed_form.problem import ROWS, values_at
from linkwise.inverse_kinematics.closed_form.program import SEARCH
from linkwise.inverse_kinematics.closed_form.solutions import Solutions
from linkwise.model.tree import Tree, require_tree
from linkwise.solve.validation import joint_given, joint_index, link_given
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, numbers


class NoClosedFormError(ArgumentError):
    """No closed form is known for the frame.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Link, Mechanism
    >>> links = [Link.dh(a=0.1 * k, alpha=0.3 + 0.5 * k, d=0.1, convention="standard") for k in range(1, 7)]
    >>> try:
    ...     Mechanism(links, name="odd").all_inverse_kinematics(np.eye(4), method="closed_form")
    ... except NoClosedFormError as error:
    ...     print(str(error).partition(":")[0])
    'odd' has no closed form for this frame
    """


#: The value of the fixed joint where there is none.
_FREE = np.zeros(())


class ClosedForm:
    """The closed form of one frame, or the reason why there is none; created by `closed_form`.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    link : int or str
        The frame: ``"tool"``, or a link by name or index.
    exists : bool
        Whether there is one.
    family : str
        The geometry that makes it possible, in words; empty where there is none.
    why : str
        Why there is none; empty where there is one.
    asks : {"pose", "position", "orientation"}
        What is solved for.
    fixed : int or None
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
        fixed: tuple[int, npt.ArrayLike] | None = None,
    ) -> None:
        self.mechanism, self.link, self.asks = mechanism, link, asks
        self.fixed: int | None = None if fixed is None else fixed[0]
        self._value = _FREE if fixed is None else numbers("fixed", fixed[1])
        chain, family, self.why = recognised(mechanism, link, asks, self.fixed)
        self.exists = family is not None
        self.family = "" if family is None else family.name
        self._program = None if chain is None or family is None else (link, chain, family)
        self._solver: Compiled | None = None

    def all(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> Solutions:
        """All solutions of poses, the nearest to q0 first; see `linkwise.inverse_kinematics.all_inverse_kinematics`."""
        q, count, _, errors = (self._solver or self._compiled()).run(T, q0, limits, tol, self._value)
        counts, cause = np.asarray(count, dtype=np.intp), np.asarray(errors[..., 3])
        return Solutions(q if counts.ndim else q[: int(counts)], counts, np.asarray(cause < SEARCH), cause=cause)

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
        _, count, q, errors = (self._solver or self._compiled()).run(T, q0, limits, tol, self._value, nearest=True)
        return q, count > 0, errors[..., 0], errors[..., 1]

    @property
    def branches(self) -> int:
        """Greatest number of solutions of a pose."""
        program = self._program or self.refuse()
        _, chain, family = program

        def count() -> int:
            return len(family.solve(np.eye(4, dtype=object), values_at(chain)))

        return self.mechanism.memo("closed_form", ("branches", program), count)

    @property
    def misfit(self) -> float:
        """Deviation of the arm from the special one whose equations are solved, rad or relative to its size."""
        near = (self._program or self.refuse())[2].near
        return 0.0 if near is None else near.misfit

    def holding(self, value: npt.ArrayLike) -> ClosedForm:
        """The same with another value of the fixed joint, rad or m, of any batch shape; nothing is compiled again."""
        if self.fixed is None:
            raise ArgumentError("this closed form has no fixed joint; expected closed_form(..., fixed={joint: value})")
        other = object.__new__(ClosedForm)
        other.__dict__.update(self.__dict__, _value=numbers("fixed", value))
        return other

    def _compiled(self) -> Compiled:
        program = self._program or self.refuse()
        make = partial(Compiled, self.mechanism, *program, self.fixed)
        self._solver = self.mechanism.memo("closed_form", program, make)
        return self._solver

    def __reduce__(self) -> tuple[Any, ...]:
        fixed: Any = None if self.fixed is None else {self.fixed: self._value}
        return partial(closed_form, asks=self.asks, fixed=fixed), (self.mechanism, self.link)

    def __repr__(self) -> str:
        return f"<ClosedForm of {self.mechanism.name}: {self.family or 'none, ' + self.why}>"

    def refuse(self, why: str = "") -> NoReturn:
        """Raise `NoClosedFormError` with the reason why there is none, or why it does not apply."""
        alternative = (
            ""
            if self.mechanism.manifold_joints
            else "; inverse_kinematics(T) solves numerically, all_inverse_kinematics(T, method='numeric') from many starts"
        )
        raise NoClosedFormError(f"{self.mechanism.name!r} has no closed form for this frame: {why or self.why}{alternative}")


def closed_form(
    mechanism: Tree,
    link: int | str = "tool",
    *,
    asks: str = "pose",
    fixed: Mapping[int | str, npt.ArrayLike] | None = None,
) -> ClosedForm:
    """Find the closed form of a mechanism for one of its frames; if there is none, the result contains the reason.

    Closed forms are known for six revolute joints of which three neighbours have parallel axes or axes that meet in a point,
    wherever in the chain they are, and for what else `linkwise.inverse_kinematics.closed_form.decomposition` takes apart.
    Axes count as parallel or meeting within 1e-5 (rad, or shares of the arm's size); answers are refined on the arm as it
    is.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops on the way to the frame.
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.forward_kinematics`.
    asks : {"pose", "position", "orientation"}
        What is solved for; of a pose given for a position only the last column counts, for an orientation the rotation.
    fixed : mapping of a joint to its value, optional
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
    require_tree(mechanism, "closed_form: mechanism")
    choice("asks", asks, ROWS)
    link = link_given(link)
    joint, value = (None, 0.0) if fixed is None else _fixed_joint(mechanism, fixed)
    known = None if joint is None else (joint, 0.0)
    form = mechanism.memo("closed_form", (link, asks, joint), lambda: ClosedForm(mechanism, link, asks, known))
    return form if joint is None else form.holding(value)


def _fixed_joint(mechanism: Tree, fixed: Mapping[int | str, npt.ArrayLike]) -> tuple[int, npt.ArrayLike]:
    """The coordinate, by index, and its value."""
    if not isinstance(fixed, Mapping) or len(fixed) != 1:
        raise ArgumentError(f"fixed is {shown(fixed)}; expected one joint and its value, such as {{'joint7': 0.0}}")
    ((joint, value),) = fixed.items()
    return joint_index(mechanism, "fixed", joint_given("fixed", joint)), value
