"""Degrees of freedom in the plane: three for each body, less what the joints and loops remove, with the count in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy.typing as npt

from linkwise.kinematics.closing import closed_samples, closing
from linkwise.kinematics.mobility import ranks_at, regular_rank
from linkwise.model.table import plain
from linkwise.planar.evaluation import finite
from linkwise.planar.link import REMOVED, WORLD
from linkwise.planar.loop import CLOSURES
from linkwise.planar.structure import parent_name

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism

_LEAVES = {
    "revolute": "removes 2 (the place of one point; the angle stays free)",
    "prismatic": "removes 2 (the angle, and one direction; the slide stays free)",
    "fixed": "removes 3 (nothing stays free)",
    "free": "removes nothing",
}


@dataclass(frozen=True, repr=False)
class Freedoms:
    """How many degrees of freedom a planar mechanism has, by counting and by rank.

    The count gives every body 3 and takes away 2 for each revolute or prismatic joint (S. M. LaValle, *Planning
    Algorithms*, 2006, section 3.3) and 3 for a fixed one. It takes every equation of a loop to be worth a degree of freedom,
    which special dimensions can prove wrong; their rank tells the truth there. `str` gives the explanation, `int` the number
    by rank, or the count where no rank is known.

    Attributes
    ----------
    count : int
        Three for each body, less what the joints and loops remove; negative where there are more constraints than freedoms.
    by_rank : int or None
        Coordinates less the rank of the loop equations: the least at closed configurations that is tested not to be
        singular, else the greatest found, which is not tested (a loop stretched to its end counts as if it moved). At
        a configuration given it is the rank there. None where no closed configuration was found, or the mechanism has
        symbols. Without loops it is the count.
    explanation : str
        The count line by line, by the names of the links, and what the rank says.

    Examples
    --------
    >>> from linkwise import planar
    >>> pair = planar.Mechanism([planar.Link(joint="free", name="A1"), planar.Link(a=1.0, name="A2")], name="pair")
    >>> print(pair.freedoms())
    pair: 2 bodies in the plane, 3 degrees of freedom each: 6
      A1 is free: removes nothing
      A2 on A1, revolute joint: removes 2 (the place of one point; the angle stays free)
    6 - 2 = 4 degrees of freedom
    """

    count: int
    by_rank: int | None
    explanation: str

    def __int__(self) -> int:
        return self.count if self.by_rank is None else self.by_rank

    def __index__(self) -> int:
        return int(self)

    def __str__(self) -> str:
        return self.explanation

    def __repr__(self) -> str:
        rank = "" if self.by_rank in {None, self.count} else f", {self.by_rank} by rank"
        return f"<Freedoms: {self.count}{rank}>"


def freedoms(mechanism: Mechanism, configuration: npt.ArrayLike | None = None) -> Freedoms:
    """Count the degrees of freedom, say how, and check loops by the rank of their equations.

    Parameters
    ----------
    mechanism : Mechanism
        With loops or without.
    configuration : (nq,) array_like, optional
        Where the rank is taken: a configuration with closed loops. Some are searched for where it is left out, and those
        tested not to be singular that have the most degrees of freedom count, else those of the greatest rank: of several
        assemblies some may be stuck.

    Raises
    ------
    ArgumentError
        Where the configuration is not nq finite numbers, or the loops are open there.
    """
    if configuration is not None:
        finite(mechanism, configuration)
    bodies = len(mechanism.links)
    removed = [REMOVED[link.joint] for link in mechanism.links] + [CLOSURES[loop.joint] for loop in mechanism.loops]
    count = 3 * bodies - sum(removed)
    each = "3 degrees of freedom" + (" each" if bodies > 1 else "")
    said = [f"{plain(mechanism.name)}: {bodies} bod{'ies' if bodies > 1 else 'y'} in the plane, {each}: {3 * bodies}"]
    for k, link in enumerate(mechanism.links):
        on = "is free" if link.joint == "free" else f"on {_named(parent_name(mechanism, k))}, {link.joint} joint"
        said.append(f"  {plain(link.name)} {on}: {_LEAVES[link.joint]}")
    for loop in mechanism.loops:
        joined = f"{_named(loop.first)} with {_named(loop.second)}, {loop.joint} joint"
        said.append(f"  loop {plain(loop.name)}, {joined}: {_LEAVES[loop.joint]}")
    taken = "".join(f" - {number}" for number in removed if number)
    said.append(f"{3 * bodies}{taken} = {_degrees(count)}" if taken else _degrees(count))
    if not mechanism.loops:
        return Freedoms(count, count, "\n".join(said))
    by_rank, why = _by_rank(mechanism, configuration, count)
    return Freedoms(count, by_rank, "\n".join([*said, why]))


def _by_rank(mechanism: Mechanism, configuration: npt.ArrayLike | None, count: int) -> tuple[int | None, str]:
    """The degrees of freedom by rank, and what they say about the count; or why there are none to tell."""
    from linkwise.planar.closing import twin

    if mechanism.symbols:
        return None, "By rank: not known, for the mechanism has symbols."
    if configuration is not None:
        found = twin(mechanism).mobility(configuration)
        if found.singular:
            here = f"By rank: {_degrees(found.freedoms)} at this configuration, which is singular"
            return found.freedoms, f"{here}; {found.generic} at closed ones around it."
        return found.freedoms, _compared(count, found.freedoms, "this configuration")
    task = closing(twin(mechanism))
    samples = closed_samples(task)
    if not len(samples):
        return None, "By rank: not known, for no configuration was found at which the loops are closed."
    freedoms = task.mechanism.nv - regular_rank(task, samples)
    fewest = task.mechanism.nv - int(ranks_at(task, samples).max())
    where = "a closed configuration" if fewest == freedoms else "some of the closed configurations that were found"
    more = "" if fewest == freedoms else f" At others, put together in another way, {_degrees(fewest)}."
    return freedoms, _compared(count, freedoms, where) + more


def _compared(count: int, found: int, where: str) -> str:
    """What the rank says about the count."""
    said = f"By rank of the loop equations at {where}: {_degrees(found)}"
    if found == count:
        return f"{said} too."
    more = found - count
    return (
        f"{said}. The lengths are such that {more} of the loop equations repeat{'s' * (more == 1)} others, which the count"
        " cannot know (the mechanism is overconstrained)."
    )


def _degrees(count: int) -> str:
    return f"{count} degree{'' if count == 1 else 's'} of freedom"


def _named(name: str) -> str:
    return "the world" if name == WORLD else plain(name)
