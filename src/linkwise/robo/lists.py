"""A link and a motor as Robo writes them: ten and nine items in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any, ClassVar, TypeVar, get_type_hints

import numpy as np

from linkwise.errors import ModelError, Problem
from linkwise.expr.node import Expr, origins_of
from linkwise.model.inertia import tensor_from
from linkwise.model.symbolic import any_nonzero, content, parameters_in
from linkwise.model.validation import Checker
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


Read = Callable[[Checker, str, Any], Any]
"""Checks the value of a field, reports what is wrong with it, and gives it in the form in which it is kept."""


class _Item:
    """A link or motor: its fields, read in the order of the list, and equal where all of them are."""

    _word = "item"
    _reads: ClassVar[dict[str, Read]]

    def __init_subclass__(cls) -> None:
        hints = get_type_hints(cls, include_extras=True).items()
        cls._reads = {name: hint.__metadata__[0] for name, hint in hints if hasattr(hint, "__metadata__")}

    def __post_init__(self) -> None:
        check = Checker(f"{self._word} {self.number!r}")  # type: ignore[attr-defined]
        for name, read in self._reads.items():
            object.__setattr__(self, name, read(check, name, getattr(self, name)))
        check.finish()

    def to_list(self) -> list[Any]:
        """The plain list, with the fields as they were given: symbols of SymPy as such."""
        return [_plain(getattr(self, name)) for name in self._reads]

    def _key(self) -> tuple[object, ...]:
        """Equal for equal items, hashable; symbols may stand in one where numbers stand in the other."""
        return tuple(content(getattr(self, name)) for name in self._reads)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, _Item) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _plain(value: Any) -> Any:
    if isinstance(value, Expr) and origins_of(parameters_in([value])):
        from linkwise.equations.tape_to_sympy import expressions_to_sympy

        return expressions_to_sympy(value)[()]
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def _count(least: int) -> Read:
    def read(check: Checker, field: str, value: Any) -> int:
        if _is_count(value, least):
            return int(value)
        check.report(field, value, f"a whole number >= {least}")
        return least

    return read


def _numbers(check: Checker, field: str, value: Any, *, none: bool = False) -> tuple[int, ...]:
    """Numbers of links or motors, each once; none of them is said by 0, alone or in a list."""
    listed = (value,) if _is_count(value, 0) else value
    kind = "motors, or [] for none" if none else "links, or {0} for none"
    if isinstance(listed, (set, frozenset)) and all(_is_count(number, 0) for number in listed):
        listed = sorted(listed)
    if not isinstance(listed, (list, tuple)) or not all(_is_count(number, 0) for number in listed) or not (listed or none):
        check.report(field, value, f"numbers of {kind}")
        return ()
    unique = tuple(int(number) for number in listed)
    if unique in {(), (0,)}:
        return ()
    if 0 in unique or len(set(unique)) < len(unique):
        check.report(field, value, f"numbers of {kind}; each once, and 0 only alone")
        return ()
    return unique


def _ratio(check: Checker, field: str, value: Any) -> Any:
    ratio = check.number(field, value, default=1.0)
    if not any_nonzero(ratio):
        check.report(field, value, "a number other than 0 (1 is direct drive)")
    return ratio


def _links(check: Checker, field: str, value: Any) -> tuple[int, ...]:
    return _numbers(check, field, value) or (0,)


def _tensor(check: Checker, field: str, value: Any) -> tuple[Any, ...]:
    return tuple(tuple(row) for row in tensor_from(check, value, field).tolist())


def _vector(check: Checker, field: str, value: Any) -> tuple[Any, ...]:
    return tuple(check.vector(field, value).tolist())


@dataclass(frozen=True, eq=False)
class Link(_Item):
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

    _word = "link"

    number: Annotated[int, _count(1)]
    kind: Annotated[str, partial(Checker.choice, allowed=KINDS)]
    connected: Annotated[Any, _links]
    previous: Annotated[int, _count(0)]
    mass: Annotated[float, Checker.number]
    inertia: Annotated[Any, _tensor]
    l: Annotated[Any, _vector]  # noqa: E741  (the name that Robo gives it)
    p: Annotated[Any, _vector]
    a: Annotated[float, Checker.number]
    motors: Annotated[Any, partial(_numbers, none=True)]

    @property
    def axis(self) -> FloatArray:
        """Unit vector (3,) of the joint's axis, in the link's frame and in the previous one's at q + a = 0."""
        return np.asarray(np.eye(3)["xyz".index(self.kind[-1])])

    @property
    def slides(self) -> bool:
        """Whether the joint is translational."""
        return self.kind.startswith("Translational")


@dataclass(frozen=True, eq=False)
class Motor(_Item):
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

    _word = "motor"

    number: Annotated[int, _count(1)]
    link: Annotated[int, _count(0)]
    driven_joint: Annotated[int, _count(1)]
    mass: Annotated[float, Checker.number]
    inertia: Annotated[Any, _tensor]
    l: Annotated[Any, _vector]  # noqa: E741  (the name that Robo gives it)
    p: Annotated[Any, _vector]
    a: Annotated[float, Checker.number]
    G: Annotated[float, _ratio]


Item = TypeVar("Item", Link, Motor)

_BLANKS: dict[str, Any] = {"mass": 0, "inertia": 0, "l": (0, 0, 0), "p": (0, 0, 0), "a": 0, "G": 1}
"""The fields that say nothing of what hangs where; what they all are in an item of which one is at fault."""


def items(kind: type[Item], word: str, sequence: Any) -> tuple[list[Item], list[Problem], bool]:
    """The items of a list, each made from a plain one where it is not made yet, and what is wrong with them.

    Also whether it is known all the same what hangs where: faulty masses and the like are zero then.
    """
    names = [field.name for field in fields(kind)]
    expected = f"{len(names)} items: {', '.join(names)}"
    if not isinstance(sequence, Iterable) or isinstance(sequence, (str, bytes)):
        return [], [Problem(f"list of {word}s", "value", sequence, f"a list of {word}s, each {expected}")], False
    accepted: list[Item] = []
    problems: list[Problem] = []
    known = True
    for place, item in enumerate(sequence, start=1):
        if isinstance(item, kind):
            accepted.append(item)
        elif not isinstance(item, Sequence) or isinstance(item, str) or len(item) != len(names):
            problems.append(Problem(f"{word} at place {place} of the list", "value", item, expected))
            known = False
        else:
            try:
                accepted.append(kind(*item))
            except ModelError as error:
                problems += error.problems
                if {problem.field for problem in error.problems} <= _BLANKS.keys():
                    accepted.append(kind(*(_BLANKS.get(name, value) for name, value in zip(names, item, strict=True))))
                else:
                    known = False
    return accepted, problems, known
