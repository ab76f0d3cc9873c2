"""The fewest combinations of inertial parameters that determine all efforts, from the identifiable parameters of each body.

Bodies are taken from the tips to the base. Of the parameters gathered on a body as many are kept as there are conditions on
those that have an effect (`linkwise.dynamics.base_parameters.identifiability`); the rest moves with the parent alike, and is
gathered there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.dynamics.base_parameters.identifiability import TEN, IdentifiabilityConditions, Quantities, passed_on
from linkwise.dynamics.base_parameters.row_reduction import INDEPENDENT, Point, at, reduced, tidied
from linkwise.model.body import Bodies
from linkwise.model.parameters import MOTOR
from linkwise.spatial.scalar import Array, array, blank


@dataclass(frozen=True)
class Block:
    """Ten columns, of the parameters of a link about its own frame.

    Attributes
    ----------
    start : int
        The first of the columns.
    body : int
        The body that carries it, -1 for the ground.
    matrix, back : ndarray (10, 10)
        To the parameters about the body's frame, and from them.
    order : tuple of int
        Order in which they are tested for independence, 0 to 9.
    """

    start: int
    body: int
    matrix: Array
    back: Array
    order: tuple[int, ...]

    @property
    def reduction_order(self) -> list[int]:
        """The columns in that order."""
        return [self.start + k for k in self.order]


@dataclass(frozen=True)
class DriveColumns:
    """Four columns, of the parameters of a motor: its rotor's inertia, then its friction.

    Attributes
    ----------
    start : int
        The first of the columns.
    speed : int
        Index into qd of the joint that it drives.
    square : float
        What the rotor's inertia is multiplied by where the square of that speed is: G^2.
    carrier : int
        The body that carries it, -1 for the ground or none.
    turning : ndarray (3,)
        G times the unit spin axis in the axes of the carrier; 0 where there is none.
    friction : tuple of float
        What B, Tc+ and Tc- are multiplied by.
    """

    start: int
    speed: int
    square: float
    carrier: int
    turning: Array
    friction: tuple[float, float, float]


@dataclass(frozen=True)
class ParameterColumns:
    """All columns: those of links in order from the base to the tips, then those of motors."""

    blocks: tuple[Block, ...]
    drives: tuple[DriveColumns, ...]

    @property
    def count(self) -> int:
        """Number of columns."""
        return TEN * len(self.blocks) + len(MOTOR) * len(self.drives)

    @property
    def reduction_order(self) -> list[int]:
        """Order in which columns are tested for independence."""
        links = [column for block in self.blocks for column in block.reduction_order]
        return links + [drive.start + k for drive in self.drives for k in range(len(MOTOR))]


def rotor_speeds(bodies: Bodies) -> tuple[int, ...]:
    """Distinct velocities that drive rotors on a body."""
    return tuple(sorted({rotor.speed for rotor in bodies.rotors}))


def grouped(
    bodies: Bodies,
    columns: ParameterColumns,
    conditions: Sequence[IdentifiabilityConditions],
    load: Sequence[float],
    point: Point,
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Find the base parameters.

    Parameters
    ----------
    bodies : Bodies
        The moving bodies; only their geometry counts.
    columns : Columns
        What is to be grouped.
    conditions : sequence of IdentifiabilityConditions
        Conditions of each body for its identifiable parameters.
    load : sequence of float
        For each body, what its constant load is multiplied by to be an effort of its joint.
    point : mapping
        A random number for each symbol.

    Returns
    -------
    rows : ndarray (b, P)
        Each with 1 in the column that it takes, where the others have 0.
    taken : ndarray (b,)
        These columns, in ascending order.
    """
    known = Quantities(rotor_speeds(bodies))
    count = known.count
    here, ground = _gathered(known, bodies, columns)
    blocks = {block.body: block for block in reversed(columns.blocks)}
    result, leading, others = [np.zeros((0, columns.count))], [], []
    loads: dict[int, Array] = {}
    for k in reversed(range(len(bodies.bodies))):
        body, gathered = bodies.bodies[k], here[k]
        kept, where, remaining = _reduce(conditions[k].rows, gathered, blocks.get(k), point)
        result.append(kept)
        leading += where
        others.append(remaining)
        constant = conditions[k].constant
        if constant is not None:
            row = load[k] * (constant @ gathered[:count])
            loads[body.speed] = row - row[where] @ kept
        left = gathered[:count] - gathered[:count, where] @ kept
        left[:, where] = 0.0
        moved = passed_on(known, body) @ left
        if body.parent >= 0:
            there = here[body.parent]
            here[body.parent] = np.concatenate([tidied(there[:count] + moved), there[count:]])
        else:
            ground = ground + moved
    others += [known.kept() @ ground, _friction(columns, loads)]
    more, where, _ = reduced(_nonzero(np.concatenate(others), point), columns.reduction_order, point)
    rows = np.concatenate(result)
    rows = np.concatenate([tidied(rows - rows[:, where] @ more), more]) if where else rows
    taken = np.array([*leading, *where], dtype=np.int64)
    return rows[np.argsort(taken)], np.sort(taken)


def _reduce(conditions: Array, gathered: Array, block: Block | None, point: Point) -> tuple[Array, list[int], Array]:
    """Reduce the conditions by the columns of a body's own link; return the columns used and the remaining conditions."""
    if block is None or conditions.dtype == object or block.matrix.dtype != object:
        return reduced(conditions @ gathered, block.reduction_order if block else [], point)
    leading, there, others = reduced(conditions, range(TEN), {})
    if len(leading) <= TEN // 2:
        return reduced(conditions @ gathered, block.reduction_order, point)
    kept, where = _echelon(leading[:, :TEN], block, point)
    return tidied((kept @ block.back)[:, there] @ tidied(leading @ gathered)), where, others @ gathered


def _echelon(conditions: Array, block: Block, point: Point) -> tuple[Array, list[int]]:
    """The reduced echelon form (r, 10) of conditions A on a link with symbols, and the columns that lead.

    From the parameters without effect, which are fewer: vectors x with A x = 0, scaled to 1 in the columns that do not
    lead.
    """
    _, singular, basis = np.linalg.svd(conditions)
    hidden = reduced(basis[int((singular > INDEPENDENT).sum()) :], range(TEN), {})[0]
    vectors, free, _ = reduced(hidden @ block.back.T, block.order[::-1], point)
    where = [k for k in block.order if k not in free]
    result = blank(len(where), TEN)
    for row, column in enumerate(where):
        result[row, column] = 1.0
        result[row, free] = -vectors[:, column]
    return result, [block.start + k for k in where]


def _gathered(known: Quantities, bodies: Bodies, columns: ParameterColumns) -> tuple[list[Array], Array]:
    """The coefficients (N + f, P) that each column brings on each body with its f freedoms, and on the ground (N, P)."""
    here = [blank(known.count + len(body.freedoms), columns.count) for body in bodies.bodies]
    ground = blank(known.count, columns.count)
    places = {
        freedom.speed: (k, known.count + i)
        for k, body in enumerate(bodies.bodies)
        for i, freedom in enumerate(body.freedoms)
    }
    for block in columns.blocks:
        if block.body >= 0:
            here[block.body][:TEN, block.start : block.start + TEN] = block.matrix
    for drive in columns.drives:
        if drive.speed in known.rotors:
            place = known.rotors.index(drive.speed)
            ground[known.of_pair(place, place), drive.start] = drive.square
            if drive.carrier >= 0:
                here[drive.carrier][known.of_rotor(place), drive.start][3:] = drive.turning
        else:
            body, place = places[drive.speed]
            here[body][place, drive.start] = drive.square
    return [array(some) for some in here], array(ground)


def _friction(columns: ParameterColumns, loads: Mapping[int, Array]) -> Array:
    """Friction rows of each joint (k, P): viscous, and Coulomb friction and a constant load in both directions."""
    rows = []
    for speed in sorted({drive.speed for drive in columns.drives}):
        for kind in range(3):
            row = blank(columns.count)
            for drive in columns.drives:
                if drive.speed == speed:
                    row[drive.start + 1 + kind] = drive.friction[kind]
            rows.append(row + loads[speed] if kind and speed in loads else row)
    return array(rows) if rows else np.zeros((0, columns.count))


def _nonzero(rows: Array, point: Point) -> Array:
    """The rows that are not zero, those of floats with 1 as the largest coefficient."""
    sizes = np.abs(at(rows, point)).max(axis=1, initial=0.0)
    there = sizes > INDEPENDENT
    return np.asarray(rows[there] if rows.dtype == object else rows[there] / sizes[there, None])
