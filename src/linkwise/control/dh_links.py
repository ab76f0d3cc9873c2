"""Links of a cyclic chain by their Denavit-Hartenberg parameters, one of which may be free."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from linkwise.errors import choices
from linkwise.model.validation import Checker

START = "start"
"""What a link that hangs on the start names as its predecessor."""

RESERVED: tuple[str, ...] = (START, "chain", "base")
"""Names that no link may have, because the values of a chain are called by them."""

GREATEST: tuple[str, ...] = ("max_speed", "max_acceleration", "max_deceleration")
"""What may be bounded at the end of a link, m/s and m/s2."""


@dataclass(frozen=True)
class DHLink:
    """What links of every kind have: see `RevoluteLink`, `PrismaticLink` and `FixedLink`.

    The end of a link stands on that of its predecessor by Rz(theta) Tz(d) Tx(a) Rx(alpha), the standard convention
    (J. Denavit, R. S. Hartenberg, 1955; R. P. Paul, 1981).
    """

    joint: ClassVar[str] = ""
    free: ClassVar[str] = ""

    name: str
    _: KW_ONLY
    alpha: float = 0.0
    theta: float = 0.0
    a: float = 0.0
    d: float = 0.0
    predecessor: str | None = None
    max_speed: float | None = None
    max_acceleration: float | None = None
    max_deceleration: float | None = None

    def __post_init__(self) -> None:
        check = Checker(f"link {self.name!r}")
        _check_name(check, self.name)
        if self.predecessor is not None and not is_word(self.predecessor):
            check.report("predecessor", self.predecessor, "the name of a link, 'start', or None for the link before")
        for field in ("alpha", "theta", "a", "d"):
            object.__setattr__(self, field, check.number(field, getattr(self, field)))
        for field in GREATEST:
            object.__setattr__(self, field, _greatest(check, field, getattr(self, field)))
        self._check(check)
        check.finish()

    def _check(self, check: Checker) -> None:
        """What links of one kind have beside."""


@dataclass(frozen=True, kw_only=True)
class MovingLink(DHLink):
    """A link with a free parameter, which may be kept between two values."""

    limits: tuple[float, float] | None = None

    def _check(self, check: Checker) -> None:
        try:
            low, high = (-math.inf, math.inf) if self.limits is None else _pair(self.limits)
        except (TypeError, ValueError):
            check.report("limits", self.limits, "two numbers, least and greatest, or None")
            return
        if not low <= high:
            check.report("limits", self.limits, "the least value first, then the greatest, neither NaN")
        elif not low <= getattr(self, self.free) <= high:
            check.report(
                self.free, getattr(self, self.free), f"a value within the limits, {low:g} to {high:g}, for it begins there"
            )
        object.__setattr__(self, "limits", None if (low, high) == (-math.inf, math.inf) else (low, high))


@dataclass(frozen=True)
class RevoluteLink(MovingLink):
    """A link that turns about the z axis of its predecessor's end: theta is free.

    Parameters
    ----------
    name : str
        Unique in a chain; the values of the chain are called by it, so it has no dot.
    alpha : float
        Angle about x, rad.
    theta : float
        Angle about z, rad: the one that is free, and where it begins.
    a : float
        Distance along x, m.
    d : float
        Distance along z, m.
    predecessor : str, optional
        The link that this one hangs on, or ``"start"``; the link before in the list where it is left out, and for the first
        one the start. A link may have many successors.
    max_speed : float, optional
        Greatest speed of the link's end in any direction, m/s.
    max_acceleration, max_deceleration : float, optional
        How fast the speed of the link's end may grow and fall, m/s2.
    limits : (2,) sequence of float, optional
        Least and greatest theta, rad; may be infinite.

    Raises
    ------
    ModelError
        With every problem found: the link, the field, the value, what was expected.

    Examples
    --------
    >>> RevoluteLink("boom", a=18.0, theta=0.6, limits=(0.0, 1.4), max_speed=1.5).limits
    (0.0, 1.4)
    """

    joint: ClassVar[str] = "revolute"
    free: ClassVar[str] = "theta"


@dataclass(frozen=True)
class PrismaticLink(MovingLink):
    """A link that slides along the z axis of its predecessor's end: d is free.

    Parameters
    ----------
    name, alpha, a, predecessor, max_speed, max_acceleration, max_deceleration
        As for `RevoluteLink`.
    theta : float
        Angle about z, rad.
    d : float
        Distance along z, m: the one that is free, and where it begins.
    limits : (2,) sequence of float, optional
        Least and greatest d, m; may be infinite.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> PrismaticLink("telescope", d=3.0, limits=(2.0, 9.0)).free
    'd'
    """

    joint: ClassVar[str] = "prismatic"
    free: ClassVar[str] = "d"


@dataclass(frozen=True)
class FixedLink(DHLink):
    """A link that does not move on its predecessor: all four parameters are fixed.

    Parameters
    ----------
    name, alpha, theta, a, d, predecessor, max_speed, max_acceleration, max_deceleration
        As for `RevoluteLink`; theta is fixed too.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> FixedLink("hook", d=0.4).joint
    'fixed'
    """

    joint: ClassVar[str] = "fixed"


KINDS: dict[str, type[DHLink]] = {kind.joint: kind for kind in (RevoluteLink, PrismaticLink, FixedLink)}
"""The classes of links by the word for their joint."""


def _check_name(check: Checker, name: object) -> None:
    if not is_word(name):
        check.report("name", name, "a word")
    elif "." in str(name):
        check.report("name", name, "a word without a dot (a dot stands between the name of a link and that of its value)")
    elif name in RESERVED:
        check.report("name", name, f"another word ({choices(RESERVED)} means something else in a chain)")


def is_word(value: object) -> bool:
    """Whether it can name something: a text that can be seen, without blanks at its ends."""
    return isinstance(value, str) and bool(value) and value.isprintable() and value == value.strip()


def _greatest(check: Checker, field: str, value: Any) -> float | None:
    if value is None or (isinstance(value, (int, float)) and value == math.inf):
        return None
    made = check.number(field, value, default=1.0)
    if made <= 0:
        check.report(field, value, "a number > 0; infinity is no bound")
    return made


def _pair(limits: Any) -> tuple[float, float]:
    low, high = (float(value) for value in (() if isinstance(limits, str) else limits))
    return low, high
