"""Closing the loops of a planar mechanism, by the linkage solver of its spatial twin, checked again in the plane."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members
from linkwise.planar.evaluation import finite
from linkwise.planar.spatial import spatial
from linkwise.solve.linkage import Linkage, assemble
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism as SpatialMechanism
    from linkwise.planar.mechanism import Mechanism

CLOSED = 1e-11
"""Up to here loops count as closed: gaps over the size of the mechanism, and the sine of an angle.

The solver closes them to 1e-12 of the longest offset; the poses are computed another way here, and a few dozen roundings of
2e-16 of the size of the mechanism, with the offset shorter than that size, stay far within the factor of ten.
"""

_making = threading.RLock()


def close(mechanism: Mechanism, configuration: npt.ArrayLike, driven: str | Sequence[str] | None = None) -> FloatArray:
    """Find a configuration near the one given at which all loops are closed.

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
        found = assemble(twin(mechanism), q)
    else:
        linkage = linkage_of(mechanism, driven)
        found = linkage.position(linkage.driven_part(q), q)
    if not np.all(found.success):
        _refuse(mechanism, q, found)
    _check_closed(mechanism, found.q)
    return np.asarray(found.q)


def linkage_of(mechanism: Mechanism, driven: str | Sequence[str] | None = None) -> Linkage:
    """The linkage of the spatial twin, kept with the mechanism; None leaves the choice of the driven coordinates to it."""
    given = (driven,) if isinstance(driven, str) else driven if driven is None else tuple(driven)
    kept: dict[Any, Linkage] = mechanism.__dict__.setdefault("_linkages", {})
    if given not in kept:
        with _making:
            if given not in kept:
                kept[given] = Linkage(twin(mechanism), given)
    return kept[given]


def twin(mechanism: Mechanism) -> SpatialMechanism:
    """The spatial mechanism without gravity, for kinematics alone, kept with the planar one."""
    made: SpatialMechanism | None = mechanism.__dict__.get("_twin")
    if made is None:
        made = mechanism.__dict__.setdefault("_twin", spatial(mechanism, (0.0, 0.0)))
    return made


def _refuse(mechanism: Mechanism, q: FloatArray, found: Any) -> None:
    """Say which configuration was not closed, and why."""
    if np.ndim(found.success):
        place = tuple(int(k) for k in np.argwhere(~found.success)[0])
        where, value, why = f" {place}", q[place], found.explain(place)
    else:
        where, value, why = "", q, found.explain()
    pairs = zip(mechanism.coordinate_names, value.tolist(), strict=True)
    given = ", ".join(f"{name} {number:.6g}" for name, number in pairs)
    reason = why.partition(": q is")[0]  # (which says where that would be)
    raise ArgumentError(f"configuration{where} of {mechanism.name!r}, {given}, was not closed: {reason}")


def _check_closed(mechanism: Mechanism, q: FloatArray) -> None:
    """Look once more, by the planar poses, whether the loops are closed."""
    gaps = np.abs(mechanism.gaps(q))
    away = np.abs(mechanism.poses(q)[..., :2, 2]).max(axis=(-1, -2))
    size = np.maximum(away, max(float(np.abs(part).max()) for part in _points(mechanism)))
    off = np.maximum(gaps[..., :2].max(axis=(-1, -2)) / size, gaps[..., 2].max(axis=-1))
    if not (off <= CLOSED).all():
        names = members(str(loop.name) for loop in mechanism.loops)
        raise ArgumentError(f"the loops of {mechanism.name!r}, {names}, are still open by {off.max():.3g} of its size")


def _points(mechanism: Mechanism) -> list[FloatArray]:
    return [point for loop in mechanism.loops for point in (loop.first_point, loop.second_point)] + [np.array([1e-300])]
