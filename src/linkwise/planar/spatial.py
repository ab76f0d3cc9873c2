"""A planar mechanism as one in the plane z = 0 of space: closing of its loops, and its degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members
from linkwise.loops import Linkage, assemble
from linkwise.loops.loop_solver import closed_samples, closing
from linkwise.loops.mobility import ranks_at, regular_rank
from linkwise.model import link as space
from linkwise.model.formatting.table import plain
from linkwise.model.loop import Loop as SpatialLoop
from linkwise.model.symbolic import any_nonzero
from linkwise.planar.transforms import evaluated
from linkwise.planar.tree import JOINTS, REMOVED, WORLD, Link, Loop, PlanarTree, finite, parent_name
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform
from linkwise.spatial.validation import first_place, numbers

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism as SpatialMechanism


#: Planar closures in space.
_KINDS = {"revolute": "hinge", "fixed": "full"}

#: Tolerance of closed loops: gaps over the size of the mechanism, and the sine of an angle.  The solver closes them to 1e-12
#: of the longest offset; the poses are computed another way here, and a few dozen roundings of 2e-16 of the size of the
#: mechanism, with the offset shorter than that size, stay far within the factor of ten.
CLOSED = 1e-11


def spatial(mechanism: PlanarTree, gravity: npt.ArrayLike | None = None) -> SpatialMechanism:
    """Make the spatial mechanism of a planar one, in the plane z = 0.

    Coordinates, their names, order and limits are the same, and so is the frame of every link. A free link becomes three:
    two without mass that slide along x and y, named ``name.x`` and ``name.y``, and the link itself, which turns on them.
    Pins of loops become hinges, rigid connections full closures. The base is the world; the tool is the last link's frame.

    Parameters
    ----------
    mechanism : Mechanism
        Planar.
    gravity : (2,) array_like, optional
        Acceleration of free fall along x and y, m/s2: (0, -9.81) where the plane is upright, (0, 0) where it lies. It must
        be said where a link has mass.

    Returns
    -------
    Mechanism
        Spatial. A link of mass has the tensor of a lamina; of its three moments only that about z matters.

    Raises
    ------
    ArgumentError
        Where a link has mass and gravity is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import planar
    >>> arm = planar.Mechanism([planar.Link(name="upper", mass=1.0, com=(0.5, 0.0)), planar.Link(name="fore", a=1.0)])
    >>> spatial(arm, (0.0, -9.81)).gravity_torque([0.0, 0.3]).round(3).tolist()
    [4.905, 0.0]
    """
    from linkwise.mechanism import Mechanism as SpatialMechanism

    links = [part for k, link in enumerate(mechanism.links) for part in _links(link, parent_name(mechanism, k))]
    falls = _gravity(mechanism, gravity)
    loops = [_loop(loop) for loop in mechanism.loops]
    return SpatialMechanism(links, loops=loops, gravity=falls, name=mechanism.name)


def _links(link: Link, parent: str) -> list[space.Link]:
    """One link, or the three of a free one."""
    name, body = str(link.name), link.body
    if link.joint == "free":
        x, y, theta = (tuple(bounds) for bounds in link.bounds.tolist())
        return [
            space.Link(joint="prismatic", axis=(1, 0, 0), limits=x, name=f"{name}.x", parent="base"),
            space.Link(joint="prismatic", axis=(0, 1, 0), limits=y, name=f"{name}.y", parent=f"{name}.x"),
            space.Link(limits=theta, name=name, parent=f"{name}.y", joint_name=f"{name}.theta", body=body),
        ]
    limits = None if link.limits is None else tuple(link.limits.tolist())
    fields: dict[str, Any] = {"name": name, "parent": _base(parent), "limits": limits, "body": body}
    fields["joint_name"] = link.joint_name
    at = _standing(*link.at)
    if link.joint == "prismatic":
        turned = _standing(0.0, 0.0, link.theta)
        return [space.Link(joint="prismatic", before=at, axis=(1, 0, 0), after=turned, offset=link.a, **fields)]
    if link.joint == "fixed":
        return [space.Link(joint="fixed", before=at @ _standing(link.a, 0.0, link.theta), **fields)]
    return [space.Link(before=at @ _standing(link.a, 0.0, 0.0), offset=link.theta, **fields)]


def _loop(loop: Loop) -> SpatialLoop:
    (x1, y1), (x2, y2) = loop.first_point, loop.second_point
    first, second = _standing(x1, y1, loop.angle), _standing(x2, y2, 0.0)
    return SpatialLoop(_KINDS[loop.joint], _base(loop.first), _base(loop.second), first, second, loop.name)


def _standing(x: Any, y: Any, angle: Any) -> Array:
    """The transform (4, 4) of a frame at x, y, turned by an angle about z."""
    return transform(rotation_z(angle), np.array([x, y, 0.0], dtype=object))


def _base(name: str) -> str:
    return "base" if name == WORLD else name


def _gravity(mechanism: PlanarTree, gravity: npt.ArrayLike | None) -> tuple[float, float, float]:
    if gravity is None:
        heavy = [str(link.name) for link in mechanism.links if any_nonzero(link.mass)]
        if heavy:
            expected = "(0, -9.81) where the plane is upright, (0, 0) where it lies"
            raise ArgumentError(f"gravity is not given, and {heavy[0]!r} has mass; expected {expected}")
        return (0.0, 0.0, 0.0)
    vector = numbers("gravity", gravity, "2 finite numbers")
    if vector.shape != (2,):
        raise ArgumentError(f"gravity has the shape {vector.shape}; expected (2,): along x and y")
    return (float(vector[0]), float(vector[1]), 0.0)


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────


def close(mechanism: PlanarTree, configuration: npt.ArrayLike, driven: str | Sequence[str] | None = None) -> FloatArray:
    """Find a configuration near the given one at which all loops are closed.

    Parameters
    ----------
    mechanism : Mechanism
        Without loops every configuration is closed, and is given back.
    configuration : (..., nq) array_like
        The values of the driven coordinates, and of the others about where they should be: of several ways to put the
        mechanism together, the one that is found is near by.
    driven : str or sequence of str, optional
        Names of the coordinates that keep their values: as many as there are degrees of freedom. Without, none does: the
        loops are closed near the configuration.

    Returns
    -------
    ndarray (..., nq)
        Closed, and within the limits.

    Raises
    ------
    ArgumentError
        Where one of the configurations cannot be closed: which, and why; where the coordinates cannot drive.

    Examples
    --------
    A parallelogram of rods 0.1 and 0.3 m long, whose crank is turned by a right angle:

    >>> import numpy as np
    >>> from linkwise import planar
    >>> links = [
    ...     planar.Link(name="crank"),
    ...     planar.Link(name="coupler", a=0.1),
    ...     planar.Link(name="rocker", parent="world", a=0.3),
    ... ]
    >>> pin = planar.Loop("coupler", (0.3, 0.0), "rocker", (0.1, 0.0))
    >>> parallelogram = planar.Mechanism(links, [pin])
    >>> close(parallelogram, [np.pi / 2, -1.5, 1.5], driven="crank").round(4).tolist()
    [1.5708, -1.5708, 1.5708]
    """
    q = finite(mechanism, configuration).copy()
    if not mechanism.loops:
        return q
    if driven is None:
        solution = assemble(twin(mechanism), q)
    else:
        linkage = linkage_of(mechanism, driven)
        solution = linkage.position(linkage.driven_part(q), q)
    if not np.all(solution.success):
        _refuse(mechanism, q, solution)
    _check_closed(mechanism, solution.q)
    return np.asarray(solution.q)


def linkage_of(mechanism: PlanarTree, driven: str | Sequence[str] | None = None) -> Linkage:
    """The linkage of the spatial twin, kept with the mechanism; None leaves the choice of the driven coordinates to it."""
    key = (driven,) if isinstance(driven, str) else driven if driven is None else tuple(driven)
    return mechanism.memo("planar.spatial", ("linkage", key), lambda: Linkage(twin(mechanism), key))


def twin(mechanism: PlanarTree) -> SpatialMechanism:
    """The spatial mechanism without gravity, for kinematics alone, kept with the planar one."""
    return mechanism.memo("planar.spatial", "twin", lambda: spatial(mechanism, (0.0, 0.0)))


def _refuse(mechanism: PlanarTree, q: FloatArray, solution: Any) -> None:
    """Say which configuration was not closed, and why."""
    if np.ndim(solution.success):
        place = first_place(~solution.success)
        where, value, why = f" {place}", q[place], solution.explain(place)
    else:
        where, value, why = "", q, solution.explain()
    pairs = zip(mechanism.coordinate_names, value.tolist(), strict=True)
    values = ", ".join(f"{name} {number:.6g}" for name, number in pairs)
    reason = why.partition(": q is")[0]  # (the position is appended)
    raise ArgumentError(f"configuration{where} of {mechanism.name!r}, {values}, was not closed: {reason}")


def _check_closed(mechanism: PlanarTree, q: FloatArray) -> None:
    """Check the closure of the loops independently, by the planar poses."""
    gaps = np.abs(evaluated(mechanism, "gaps", q))
    points = np.array([point for loop in mechanism.loops for point in (loop.first_point, loop.second_point)])
    away = np.abs(evaluated(mechanism, "poses", q)[..., :2, 2]).max(axis=(-1, -2))
    size = np.maximum(away, float(np.abs(points).max(initial=1e-300)))
    off = np.maximum(gaps[..., :2].max(axis=(-1, -2)) / size, gaps[..., 2].max(axis=-1))
    if not (off <= CLOSED).all():
        names = members(str(loop.name) for loop in mechanism.loops)
        raise ArgumentError(f"the loops of {mechanism.name!r}, {names}, are still open by {off.max():.3g} of its size")


@dataclass(frozen=True, repr=False)
class Freedoms:
    """Degrees of freedom of a planar mechanism, by counting and by rank.

    The count gives every body 3 and takes away 2 for each revolute or prismatic joint (S. M. LaValle, *Planning
    Algorithms*, 2006, section 3.3) and 3 for a fixed one. It takes every equation of a loop to be worth a degree of freedom,
    which special dimensions can prove wrong; their rank is exact there. `str` gives the explanation, `int` the number
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
    """Count the degrees of freedom, explain the count, and check loops by the rank of their equations.

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

    Examples
    --------
    >>> from linkwise import planar
    >>> planar.Mechanism([planar.Link(joint="fixed"), planar.Link(a=1.0), planar.Link(a=1.0)]).freedoms().count
    2
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
        on = f"on {_named(parent_name(mechanism, k))}, {link.joint} joint" if removed[k] else f"is {link.joint}"
        lines.append(f"  {plain(link.name)} {on}: {REMOVED[link.joint]}")
    for loop in mechanism.loops:
        joined = f"{_named(loop.first)} with {_named(loop.second)}, {loop.joint} joint"
        lines.append(f"  loop {plain(loop.name)}, {joined}: {REMOVED[loop.joint]}")
    losses = "".join(f" - {number}" for number in removed if number)
    lines.append(f"{3 * bodies}{losses} = {_degrees(count)}" if losses else _degrees(count))
    if not mechanism.loops:
        return Freedoms(count, count, "\n".join(lines))
    by_rank, why = _by_rank(mechanism, configuration, count)
    return Freedoms(count, by_rank, "\n".join([*lines, why]))


def _by_rank(mechanism: PlanarTree, configuration: npt.ArrayLike | None, count: int) -> tuple[int | None, str]:
    """Degrees of freedom by rank, and their comparison with the count; or the reason why there is no rank."""
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
    """Compare the rank with the count, in words."""
    sentence = f"By rank of the loop equations at {where}: {_degrees(by_rank)}"
    if by_rank == count:
        return f"{sentence} too."
    more = by_rank - count
    repeated = f"{more} of the loop equations repeat{'s' * (more == 1)} others, which the count cannot know"
    return f"{sentence}. The lengths are such that {repeated} (the mechanism is overconstrained)."


def _degrees(count: int) -> str:
    return f"{count} degree{'' if count == 1 else 's'} of freedom"


def _named(name: str) -> str:
    return "the world" if name == WORLD else plain(name)
