"""A link and a motor as Robo writes them: ten and nine items in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from linkwise.errors import ModelError, Problem
from linkwise.expr.node import Expr, origins_of
from linkwise.model.checks import Checker
from linkwise.model.inertia import tensor_from
from linkwise.model.symbolic import any_nonzero, content, parameters_in
from linkwise.spatial.scalar import FloatArray

KINDS: tuple[str, ...] = (
    "Rotationalx",
    "Rotationaly",
    "Rotationalz",
    "Translationalx",
    "Translationaly",
    "Translationalz",
)
"""What a joint can be: the last letter is the axis of the link's frame that it turns about or slides along."""

Vector = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Link:
    """One link and the joint that carries it; the fields stand in the order of the list.

    ``T_previous_link = Trans(l) Rot(axis, q + a)`` for a rotational joint, ``Trans(l) Trans((q + a) axis)`` for a
    translational one: the frame stands at the link's own joint, and does not turn but by joints.

    Parameters
    ----------
    number : int
        From 1, in either direction: from the tips to the base, as Robo's own example, or from the base to the tips.
    kind : str
        One of `KINDS`.
    connected : int or sequence of int
        The links that hang on this one; ``{0}``, ``[0]`` or 0 (the environment) where there is none.
    previous : int
        The link that it hangs on; 0 for the base.
    mass : float
        kg.
    inertia : (3, 3) array_like
        Tensor, kg m2, in the link's axes, or its diagonal, or the six numbers of `linkwise.Inertia`.
    l : (3,) array_like
        From the frame of the previous link to the joint, in the previous link's axes, m.
    p : (3,) array_like
        From the joint to the centre of mass, in the link's axes, m.
    a : float
        Added to the joint coordinate, rad or m.
    motors : int or sequence of int
        The motors mounted on this link; ``[]``, ``{0}`` or 0 for none.

    Raises
    ------
    ModelError
        With a problem for each field at fault.

    Examples
    --------
    >>> tip = Link(1, "Rotationalz", {0}, 2, 1.5, (0, 0.01, 0.01), (0.4, 0, 0), (0.2, 0, 0), 0, [])
    >>> tip.connected, tip.l
    ((0,), (0.4, 0.0, 0.0))
    """

    number: int
    kind: str
    connected: Any
    previous: int
    mass: float
    inertia: Any
    l: Any  # noqa: E741  (the name that Robo gives it)
    p: Any
    a: float
    motors: Any

    def __post_init__(self) -> None:
        check = Checker(f"link {self.number!r}")
        _set(self, _shared(check, self))
        _set(self, {"kind": check.choice("kind", self.kind, KINDS)})
        _set(self, {"connected": _numbers(check, "connected", self.connected) or (0,)})
        _set(self, {"previous": _count(check, "previous", self.previous, 0)})
        _set(self, {"motors": _numbers(check, "motors", self.motors, none=True)})
        check.finish()

    @property
    def axis(self) -> FloatArray:
        """Unit vector (3,) of the joint's axis, in the link's frame and in the previous one's at q + a = 0."""
        return np.asarray(np.eye(3)["xyz".index(self.kind[-1])])

    @property
    def slides(self) -> bool:
        """Whether the joint is translational."""
        return self.kind.startswith("Translational")

    def to_list(self) -> list[Any]:
        """The plain list of ten items."""
        return _listed(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Link) and _key(self) == _key(other)

    def __hash__(self) -> int:
        return hash(_key(self))


@dataclass(frozen=True, eq=False)
class Motor:
    """One motor, a rotor that a link carries; the fields stand in the order of the list.

    Its frame stands at `l` on the carrying link, and the rotor turns there, about the axis letter of the joint that it
    drives, by ``G q + a``.

    Parameters
    ----------
    number : int
        From 1; need not be that of a link.
    link : int
        The link that it is mounted on; 0 for the base.
    driven_joint : int
        Number of the link whose joint it drives.
    mass : float
        Of the rotor, kg.
    inertia : (3, 3) array_like
        Of the rotor, kg m2, in the motor's axes, in the forms of a link's; equal moments across the spin axis.
    l : (3,) array_like
        From the frame of the carrying link to the motor's, in that link's axes, m.
    p : (3,) array_like
        From there to the rotor's centre of mass, in the motor's axes, m.
    a : float
        Turns the motor's frame about its spin axis, rad.
    G : float
        Gear ratio: turns of the rotor, relative to its carrier, per turn (rad per rad, or per m) of the joint.

    Raises
    ------
    ModelError
        With a problem for each field at fault.

    Examples
    --------
    >>> Motor(1, 2, 1, 0.4, (3e-4, 3e-4, 2e-4), (0, 0, 0), (0, 0, 0.05), 0, 60).G
    60.0
    """

    number: int
    link: int
    driven_joint: int
    mass: float
    inertia: Any
    l: Any  # noqa: E741  (the name that Robo gives it)
    p: Any
    a: float
    G: float

    def __post_init__(self) -> None:
        check = Checker(f"motor {self.number!r}")
        _set(self, _shared(check, self))
        _set(self, {"link": _count(check, "link", self.link, 0)})
        _set(self, {"driven_joint": _count(check, "driven_joint", self.driven_joint, 1)})
        ratio = check.number("G", self.G, default=1.0)
        if not any_nonzero(ratio):
            check.report("G", self.G, "a number other than 0 (1 is direct drive)")
        _set(self, {"G": ratio})
        check.finish()

    def to_list(self) -> list[Any]:
        """The plain list of nine items."""
        return _listed(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Motor) and _key(self) == _key(other)

    def __hash__(self) -> int:
        return hash(_key(self))


Item = TypeVar("Item", Link, Motor)

_BLANKS: dict[str, Any] = {"mass": 0, "inertia": 0, "l": (0, 0, 0), "p": (0, 0, 0), "a": 0, "G": 1}
"""The fields that say nothing of what hangs where; what they all are in an item of which one is at fault."""


def items(kind: type[Item], word: str, given: Any) -> tuple[list[Item], list[Problem], bool]:
    """The items of a list, each made from a plain one where it is not made yet, and what is wrong with them.

    Also whether it is known all the same what hangs where: faulty masses and the like are zero then.
    """
    names = [field.name for field in fields(kind)]
    expected = f"{len(names)} items: {', '.join(names)}"
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        return [], [Problem(f"list of {word}s", "value", given, f"a list of {word}s, each {expected}")], False
    made: list[Item] = []
    problems: list[Problem] = []
    known = True
    for place, item in enumerate(given, start=1):
        if isinstance(item, kind):
            made.append(item)
        elif not isinstance(item, Sequence) or isinstance(item, str) or len(item) != len(names):
            problems.append(Problem(f"{word} at place {place} of the list", "value", item, expected))
            known = False
        else:
            try:
                made.append(kind(*item))
            except ModelError as error:
                problems += error.problems
                if {problem.field for problem in error.problems} <= _BLANKS.keys():
                    made.append(kind(*(_BLANKS.get(name, value) for name, value in zip(names, item, strict=True))))
                else:
                    known = False
    return made, problems, known


def _shared(check: Checker, item: Any) -> dict[str, Any]:
    """The fields that links and motors have alike, checked one by one."""
    return {
        "number": _count(check, "number", item.number, 1),
        "mass": check.number("mass", item.mass),
        "inertia": tuple(tuple(row) for row in tensor_from(check, item.inertia).tolist()),
        "l": tuple(check.vector("l", item.l).tolist()),
        "p": tuple(check.vector("p", item.p).tolist()),
        "a": check.number("a", item.a),
    }


def _set(item: Any, values: dict[str, Any]) -> None:
    for field, value in values.items():
        object.__setattr__(item, field, value)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def _count(check: Checker, field: str, value: Any, least: int) -> int:
    if _is_count(value, least):
        return int(value)
    check.report(field, value, f"a whole number >= {least}")
    return least


def _numbers(check: Checker, field: str, value: Any, *, none: bool = False) -> tuple[int, ...]:
    """Numbers of links or motors, each once; none of them is said by 0, alone or in a list."""
    given = (value,) if _is_count(value, 0) else value
    what = "motors, or [] for none" if none else "links, or {0} for none"
    if isinstance(given, (set, frozenset)) and all(_is_count(one, 0) for one in given):
        given = sorted(given)
    if not isinstance(given, (list, tuple)) or not all(_is_count(one, 0) for one in given) or not (given or none):
        check.report(field, value, f"numbers of {what}")
        return ()
    found = tuple(int(one) for one in given)
    if found in {(), (0,)}:
        return ()
    if 0 in found or len(set(found)) < len(found):
        check.report(field, value, f"numbers of {what}; each once, and 0 only alone")
        return ()
    return found


def _key(item: Link | Motor) -> tuple[object, ...]:
    """Equal for equal items, hashable; symbols may stand in one where numbers stand in the other."""
    return tuple(content(getattr(item, field.name)) for field in fields(item))


def _listed(item: Link | Motor) -> list[Any]:
    """The fields as they were given: symbols of SymPy as such."""

    def plain(value: Any) -> Any:
        if isinstance(value, Expr) and origins_of(parameters_in([value])):
            from linkwise.equations.graph import expressions_to_sympy

            return expressions_to_sympy(value)[()]
        return [plain(one) for one in value] if isinstance(value, tuple) else value

    return [plain(getattr(item, field.name)) for field in fields(item)]
