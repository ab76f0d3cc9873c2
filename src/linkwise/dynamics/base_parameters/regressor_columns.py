"""Columns of the regressor as input of `grouping`, scaled alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwise.dynamics.base_parameters.grouping import Block, DriveColumns, ParameterColumns
from linkwise.dynamics.base_parameters.row_reduction import Point, at
from linkwise.model.body import Bodies, Body
from linkwise.model.motor import Motor
from linkwise.model.parameters import LINK, MOTOR, to_body
from linkwise.model.symbolic import has_symbols
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, array
from linkwise.spatial.transform import inverse

#: Tested last in a link whose joint axis is nearest to its x, y or z axis, so that others express them, as is usual (W.
#: Khalil, E. Dombre, 2002, section 9.4): mass on the axis moves equally with the parent.
LAST = (("ZZ", "MX", "M"), ("XX", "MY", "M"), ("YY", "MZ", "M"))

#: The power of length in each of the ten parameters of a link.
POWERS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])

#: Order of tests for the ten if XX, YY and ZZ are the integrals of x^2, y^2, z^2 about a joint along z.
SECOND_ORDER = ("MX", "MY", "XX", "YY", "XY", "YZ", "XZ", "ZZ", "MZ", "M")

#: The ten parameters from those with the integrals of x^2, y^2, z^2: XX is that of y^2 + z^2.
TENSOR_OF_SECOND = np.eye(10)

TENSOR_OF_SECOND[4:7, 4:7] = 1.0 - np.eye(3)

#: Ten columns of a link: the first, the body that carries it, T_body_link, and the order of tests.
Placed = tuple[int, int, Array, tuple[int, ...]]


def order_for(axis: FloatArray) -> tuple[int, ...]:
    """Order of tests for the ten parameters of a link whose joint has this axis (3,), in its own axes."""
    last = LAST[int(np.argmax(np.abs(axis)))]
    return tuple(LINK.index(symbol) for symbol in [*(symbol for symbol in LINK if symbol not in last), *last])


def from_base(tree: Tree) -> list[int]:
    """The links from the base to the tips, those that are fixed to the base before all others."""
    fixed: list[int] = []
    for k in tree.order:
        if not tree.links[k].moves and (tree.parents[k] < 0 or tree.parents[k] in fixed):
            fixed.append(k)
    return fixed + [k for k in tree.order if k not in fixed]


def reduction_order(tree: Tree, point: Point | None = None) -> list[int]:
    """Order in which columns are tested for independence: links from base to tips, then motors."""
    links = [len(LINK) * k + j for k in from_base(tree) for j in _order_in(tree, k, point or {})]
    start = len(LINK) * len(tree.links)
    return links + list(range(start, start + len(MOTOR) * len(tree.drives)))


def _order_in(tree: Tree, k: int, point: Point) -> tuple[int, ...]:
    """Order of tests for the ten parameters of a link."""
    link = tree.links[k]
    axis = link.joint_model.parts[-1].axis if link.joint_model.parts else np.atleast_2d(link.axis)[0]
    return order_for(at(np.asarray(link.after), point)[:3, :3].T @ axis)


@dataclass(frozen=True)
class RegressorProblem:
    """Input of the grouping.

    Attributes
    ----------
    built : Bodies
        The moving bodies, lengths in the unit.
    gravity : ndarray (3,)
        A unit vector, or zero; with symbols as it is.
    columns : Columns
        All columns, each multiplied by its size.
    sizes : ndarray (P,)
        By what a parameter is multiplied there: the combinations are of the products.
    load : tuple of float
        For each body, what a constant load is multiplied by to be an effort.
    """

    built: Bodies
    gravity: Array
    columns: ParameterColumns
    sizes: FloatArray
    load: tuple[float, ...]


def problem_of(tree: Tree, bodies: Bodies, point: Point) -> RegressorProblem:
    """The columns of links and motors (see `linkwise.model.parameters`)."""
    return _scaled(tree, bodies, [(len(LINK) * k, *bodies.frames[k], _order_in(tree, k, point)) for k in from_base(tree)])


def problem_of_bodies(tree: Tree, bodies: Bodies, *, second: bool) -> RegressorProblem:
    """The columns of the bodies themselves, about their own frames, and of motors.

    With ``second`` the integrals of x^2, y^2 and z^2 stand in the places of XX, YY and ZZ.
    """
    order = order_for(np.array([0.0, 0.0, 1.0]))
    scaled = _scaled(tree, bodies, [(len(LINK) * k, k, np.eye(4), order) for k in range(len(bodies.bodies))])
    if not second:
        return scaled
    order = tuple(LINK.index(symbol) for symbol in SECOND_ORDER)
    to, back = TENSOR_OF_SECOND, np.linalg.inv(TENSOR_OF_SECOND)
    blocks = tuple(replace(block, matrix=to, back=back, order=order) for block in scaled.columns.blocks)
    return replace(scaled, columns=replace(scaled.columns, blocks=blocks))


def symbolic_geometry(tree: Tree, bodies: Bodies) -> bool:
    """True if data other than inertias and frictions contain symbols."""
    placed = [t for body in bodies.bodies for t in (body.placement, body.pitch)]
    gears = [value for drive in tree.drives for value in (drive.motor.gear_ratio, drive.motor.axis)]
    return any(map(has_symbols, [*placed, *(t for _, t in bodies.frames), tree.gravity, *gears]))


def unit_of_length(bodies: Bodies) -> float:
    """The power of two next to the largest distance between frames, m."""
    distances = [float(np.abs(body.placement[:3, 3]).max()) for body in bodies.bodies if body.parent >= 0]
    distances += [float(np.abs(t[:3, 3]).max()) for body, t in bodies.frames if body >= 0]
    distances += [abs(body.pitch) for body in bodies.bodies if body.turn]
    largest = max(distances, default=0.0)
    return float(2.0 ** np.round(np.log2(largest))) if largest > 0 else 1.0


def _scaled(tree: Tree, bodies: Bodies, blocks: Sequence[Placed]) -> RegressorProblem:
    """Scale numeric columns to size 1, with lengths in a unit of the mechanism; columns with symbols are unchanged."""
    plain = not symbolic_geometry(tree, bodies)
    unit = unit_of_length(bodies) if plain else 1.0
    size = float(np.linalg.norm(tree.gravity)) if plain else 1.0
    gravity = np.asarray(tree.gravity) / (size or 1.0)
    small = _in_units(bodies, unit)
    load = tuple(size if _is_length(body) else size * unit for body in small.bodies)
    sizes = np.ones(len(LINK) * len(blocks) + len(MOTOR) * len(tree.drives), dtype=float if plain else object)
    moved = []
    for start, body, placed, order in blocks:
        sizes[start : start + len(LINK)] = unit ** (-1.0 * POWERS)
        short = _shortened(placed, unit)
        moved.append(Block(start, body, to_body(short), to_body(np.asarray(inverse(short))), order))
    drives = []
    for columns, start, scale in _drives(tree, small, len(LINK) * len(blocks), unit, plain):
        sizes[start : start + len(MOTOR)] = scale
        drives.append(columns)
    return RegressorProblem(small, gravity, ParameterColumns(tuple(moved), tuple(drives)), sizes, load)


def _in_units(moving: Bodies, unit: float) -> Bodies:
    """Lengths in another unit, the coordinates of slides too."""

    def short(body: Body) -> Body:
        pitch = body.pitch / unit if body.turn else body.pitch
        return replace(body, placement=_shortened(body.placement, unit), pitch=pitch)

    return replace(moving, bodies=tuple(map(short, moving.bodies)))


def _is_length(body: Body) -> bool:
    """True if the coordinate of a body's joint is a length: it does not rotate the body."""
    return not any(freedom.angular.any() for freedom in body.freedoms)


def _shortened(placement: Array, unit: float) -> Array:
    shorter = np.array(placement)
    shorter[:3, 3] = shorter[:3, 3] / unit
    return shorter


def _drives(tree: Tree, moving: Bodies, start: int, unit: float, plain: bool) -> Iterator[tuple[DriveColumns, int, Array]]:
    """The columns of each motor, where they start, and their sizes."""
    carried = {rotor.drive: rotor for rotor in moving.rotors}
    turns = {freedom.speed: freedom.angular.any() for body in moving.bodies for freedom in body.freedoms}
    for k, drive in enumerate(tree.drives):
        speed = tree.nv - tree.n + drive.coordinate
        length = 1.0 if turns[speed] else unit
        gear, friction = drive.motor.gear_ratio, _friction(drive.motor)
        rotor = carried.get(k)
        turning = rotor.turning * length if rotor else np.zeros(3)
        carrier = rotor.body if rotor else -1
        square = (gear * length) ** 2
        if not plain:
            sizes = array([1.0, 1.0, 1.0, 1.0])
            yield DriveColumns(start, speed, square, carrier, turning, friction), start, sizes
        else:
            sizes = np.array([square / unit**2, *friction])
            yield DriveColumns(start, speed, 1.0, carrier, turning / square, (1.0, 1.0, 1.0)), start, sizes
        start += len(MOTOR)


def _friction(motor: Motor) -> tuple[float, float, float]:
    """Factors of B, Tc+ and Tc- of a motor at its joint."""
    unit = Motor(gear_ratio=motor.gear_ratio, friction_rule=motor.friction_rule, viscous=1.0, coulomb=1.0)
    return unit.reflected_viscous, unit.reflected_coulomb[0], unit.reflected_coulomb[0]
