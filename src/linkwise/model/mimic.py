"""A joint that follows another one: its coordinate is a multiple of the other's, plus a constant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Annotated, Any

from linkwise.errors import Problem, choices
from linkwise.model.validation import CheckedRecord, Checker


@dataclass(frozen=True, eq=False)
class Mimic(CheckedRecord):
    """The joint's coordinate is ``ratio * (coordinate of the joint followed) + offset``.

    Such a joint has no coordinate of its own: the mechanism has one column less in q, and its efforts act, times `ratio`,
    on the coordinate that it follows. It may follow a joint that follows another.

    Parameters
    ----------
    joint : str
        Name of the joint that is followed (that of its link, where the joint has no name of its own).
    ratio : float
        rad or m of this joint per rad or m of the other.
    offset : float
        This joint's coordinate where the other's is zero, rad or m.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> Mimic("left finger", ratio=-1.0)
    Mimic(joint='left finger', ratio=-1.0, offset=0.0)
    """

    _word = "mimic"

    joint: Annotated[str, partial(Checker.word, expected="the name of a joint", needed=True)]
    ratio: Annotated[float, partial(Checker.number, known=True)] = 1.0
    offset: Annotated[float, partial(Checker.number, known=True)] = 0.0


@dataclass(frozen=True)
class Follower:
    """Coordinate of a joint as a function of independent ones: ``ratio * q[coordinate] + shift``; -1 for a fixed link."""

    coordinate: int
    ratio: float = 1.0
    shift: float = 0.0

    def value(self, joints: Any) -> Any:
        """The joint's own value at the joint coordinates (..., n), rad or m; 0 for a fixed link."""
        if self.coordinate < 0:
            return 0.0 * joints[..., 0] if joints.shape[-1] else 0.0
        return self.ratio * joints[..., self.coordinate] + self.shift


#: Why a joint without a place among the joint coordinates cannot be followed.
NO_COORDINATE = "; a fixed joint has no coordinate"


def followers(check: Checker, joints: list[tuple[str, int, Mimic | None]]) -> tuple[Follower, ...]:
    """Map of each joint to its coordinate; reports unknown or fixed joints, and cycles.

    Parameters
    ----------
    check : Checker
        Gathers the problems.
    joints : list of (str, int, Mimic or None)
        Joints of each link: the joint's name, how many coordinates it adds to the joint coordinates, what it follows.
    """
    places = {name: k for k, (name, _, _) in sorted(enumerate(joints), key=lambda item: item[1][1])}  # moving ones last
    independent = [size if mimic is None else 0 for _, size, mimic in joints]
    numbers = list(accumulate(independent, initial=0))
    results = [Follower(numbers[k] if independent[k] else -1) for k in range(len(joints))]
    for k, (name, size, _) in enumerate(joints):
        at, ratio, shift, seen = k, 1.0, 0.0, {k}
        while size and (mimic := joints[at][2]) is not None:
            if at < k and results[at].coordinate >= 0:  # (the leader's coordinate is known)
                break
            at = places.get(mimic.joint, -1)
            if at < 0 or joints[at][1] != 1:
                others = [other for other, turns, _ in joints if turns == 1 and other != name]
                why = "" if at < 0 else "; that one has several coordinates" if joints[at][1] else NO_COORDINATE
                _report(check, name, mimic, choices(others) + why)
                break
            if at in seen:
                _report(check, name, mimic, "a joint that does not follow this one in turn (a ring)")
                break
            seen.add(at)
            ratio, shift = ratio * mimic.ratio, shift + ratio * mimic.offset
        if at != k and at >= 0:
            there = results[at]
            results[k] = Follower(there.coordinate, ratio * there.ratio, shift + ratio * there.shift)
    return tuple(results)


def _report(check: Checker, name: str, mimic: Mimic, expected: str) -> None:
    check.problems.append(Problem(f"joint {name!r}", "mimic.joint", mimic.joint, expected))
