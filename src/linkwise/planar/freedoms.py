"""Degrees of freedom in the plane: three for each body less what joints and loops remove, and the rank of the loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from linkwise.loops.loop_solver import closed_samples, closing
from linkwise.loops.mobility import ranks_at, regular_rank
from linkwise.model.formatting.table import plain
from linkwise.planar.link import JOINTS, WORLD
from linkwise.planar.spatial import twin
from linkwise.planar.tree import PlanarTree, finite, parent_name

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


def freedoms(mechanism: PlanarTree, configuration: npt.ArrayLike | None = None) -> Freedoms:
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
    joints = [*(link.joint for link in mechanism.links), *(loop.joint for loop in mechanism.loops)]
    removed = [3 - len(JOINTS[joint]) for joint in joints]
    count = 3 * bodies - sum(removed)
    per_body = "3 degrees of freedom" + (" each" if bodies > 1 else "")
    lines = [f"{plain(mechanism.name)}: {bodies} bod{'ies' if bodies > 1 else 'y'} in the plane, {per_body}: {3 * bodies}"]
    for k, link in enumerate(mechanism.links):
        on = "is free" if link.joint == "free" else f"on {_named(parent_name(mechanism, k))}, {link.joint} joint"
        lines.append(f"  {plain(link.name)} {on}: {_LEAVES[link.joint]}")
    for loop in mechanism.loops:
        joined = f"{_named(loop.first)} with {_named(loop.second)}, {loop.joint} joint"
        lines.append(f"  loop {plain(loop.name)}, {joined}: {_LEAVES[loop.joint]}")
    losses = "".join(f" - {number}" for number in removed if number)
    lines.append(f"{3 * bodies}{losses} = {_degrees(count)}" if losses else _degrees(count))
    if not mechanism.loops:
        return Freedoms(count, count, "\n".join(lines))
    by_rank, why = _by_rank(mechanism, configuration, count)
    return Freedoms(count, by_rank, "\n".join([*lines, why]))


def _by_rank(mechanism: PlanarTree, configuration: npt.ArrayLike | None, count: int) -> tuple[int | None, str]:
    """The degrees of freedom by rank, and what they say about the count; or why there are none to tell."""
    if mechanism.symbols:
        return None, "By rank: not known, for the mechanism has symbols."
    if configuration is not None:
        mobility = twin(mechanism).mobility(configuration)
        if mobility.singular:
            here = f"By rank: {_degrees(mobility.freedoms)} at this configuration, which is singular"
            return mobility.freedoms, f"{here}; {mobility.generic} at closed ones around it."
        return mobility.freedoms, _compared(count, mobility.freedoms, "this configuration")
    task = closing(twin(mechanism))
    samples = closed_samples(task)
    if not len(samples):
        return None, "By rank: not known, for no configuration was found at which the loops are closed."
    freedoms = task.mechanism.nv - regular_rank(task, samples)
    fewest = task.mechanism.nv - int(ranks_at(task, samples).max())
    where = "a closed configuration" if fewest == freedoms else "some of the closed configurations that were found"
    more = "" if fewest == freedoms else f" At others, put together in another way, {_degrees(fewest)}."
    return freedoms, _compared(count, freedoms, where) + more


def _compared(count: int, by_rank: int, where: str) -> str:
    """What the rank says about the count."""
    sentence = f"By rank of the loop equations at {where}: {_degrees(by_rank)}"
    if by_rank == count:
        return f"{sentence} too."
    more = by_rank - count
    return (
        f"{sentence}. The lengths are such that {more} of the loop equations repeat{'s' * (more == 1)} others, which the"
        " count cannot know (the mechanism is overconstrained)."
    )


def _degrees(count: int) -> str:
    return f"{count} degree{'' if count == 1 else 's'} of freedom"


def _named(name: str) -> str:
    return "the world" if name == WORLD else plain(name)
