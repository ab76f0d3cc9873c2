"""The rows of a mechanism: the constants of its bodies, links, frames, wrenches and motors, and what follows what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.dynamics.center_of_mass import moments_of
from linkwise.errors import KernelError
from linkwise.kernel.looped import ROW, LoopedData
from linkwise.model.body import Bodies, Body, moving_bodies, pseudo_inertias
from linkwise.model.motor import Motor
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.sweeps.drivers import BODY_KINDS, NUMBERS, PLAIN, PSEUDO, RowData, RowKind, kinds_of, numbers_of

#: Indices of the upper triangle of a pseudo-inertia.
_UPPER = tuple(np.transpose(PSEUDO))

_KINDS = {kind.name: kind for kind in BODY_KINDS}


def kind_of(body: Body) -> RowKind | None:
    """The kind of a body; None for a joint that has none."""
    if body.joint is not None:
        return next((kind for kind in BODY_KINDS if kind.joint is not None and type(kind.joint) is type(body.joint)), None)
    if body.turn:
        return _KINDS["turning and sliding" if any_nonzero(body.pitch) else "turning"]
    return _KINDS["sliding"]


@dataclass(frozen=True)
class MechanismRows:
    """The rows of a mechanism, by table, and its constants.

    Attributes
    ----------
    tables : dict of str to list of RowData
        By name.
    constants : dict of str to ndarray
        Of the mechanism.
    parents : list of int
        Of each velocity the one before it on the way to the ground, -1 for none; where rotors couple others, of all.
    order : list of int
        The velocities, parents first.
    """

    tables: dict[str, list[RowData]]
    constants: dict[str, Any]
    parents: list[int]
    order: list[int]

    def data(self, sizes: Mapping[str, int], *, sparse: bool) -> LoopedData:
        """The same in arrays, as machine code reads them."""
        return LoopedData(
            {table: _ints(rows, table) for table, rows in self.tables.items()},
            {table: _numbers(rows, table) for table, rows in self.tables.items()},
            np.concatenate([np.ravel(np.asarray(self.constants[name], dtype=np.float64)) for name in NUMBERS["globals"]]),
            np.array(self.parents, dtype=np.int64),
            np.array(self.order, dtype=np.int64),
            sizes,
            sparse,
        )


def rows_of(
    tree: Tree, options: Mapping[str, Any], names: Iterable[str], *, regrouped: bool, path: bool, moment: bool
) -> MechanismRows:
    """The rows for an algorithm.

    Parameters
    ----------
    tree : Tree
        Of numbers, each joint with a coordinate of its own.
    options : mapping of str to object
        The options of the algorithm: "link", "wrenches".
    names : iterable of str
        Tables that are asked for.
    regrouped : bool
        Whether inertias are moved to parents that feel them alike.
    path : bool
        Whether only the bodies that carry the frame count.
    moment : bool
        Whether the mass, and the first moment of what the ground holds, are asked for.
    """
    moving = moving_bodies(tree)
    bodies = moving.regrouped() if regrouped else moving
    link = options.get("link", TOOL)
    end, pose = bodies.tool if link == TOOL else bodies.frames[tree.link_index(link)]
    kept = bodies.path(end) if path else tuple(range(len(bodies.bodies)))
    place = {-1: -1, **{k: index for index, k in enumerate(kept)}}
    makers: dict[str, Callable[[], list[RowData]]] = {
        "bodies": lambda: [_body_row(bodies.bodies[k], place) for k in kept],
        "frames": lambda: [RowData(-1, PLAIN[0], {"pose": pose[:3]}, body=place.get(end, -1))],
        "links": lambda: _links(tree, bodies),
        "rotors": lambda: _rotors(tree, bodies),
        "motors": lambda: _motors(tree),
        "drives": lambda: _drives(tree),
        "wrenches": lambda: _wrenches(tree, bodies, options.get("wrenches") or ((TOOL, "body"),)),
    }
    held, mass = held_moment(tree, bodies) if moment else (np.zeros(4), 0.0)
    constants = {"gravity": np.asarray(tree.gravity), "mass": np.array(mass), "held": held}
    return MechanismRows({name: makers[name]() for name in names}, constants, *_parents(tree, bodies))


def _wrenches(tree: Tree, bodies: Bodies, wrenches: Iterable[tuple[int | str, str]]) -> list[RowData]:
    rows = []
    for frame, axes in wrenches:
        body, pose = bodies.tool if frame == TOOL else bodies.frames[int(frame)]
        link = tree.tool_index if frame == TOOL else int(frame)
        rows.append(RowData(-1, RowKind(axes), {"pose": pose[:3]}, body=body, link=link))
    return rows


def _body_row(body: Body, place: Mapping[int, int]) -> RowData:
    kind = kind_of(body)
    if kind is None:
        raise KernelError(f"the joint of link {body.link + 1} has no kind of row")
    numbers = {"pose": body.placement[:3], "angle": body.angle, "pitch": body.pitch, "inertia": _ten(body.inertia)}
    return RowData(place[body.parent], kind, numbers, body.position, body.speed)


def held_moment(tree: Tree, bodies: Bodies) -> tuple[Array, float]:
    """First moment and mass (4,) of what the ground holds, and the mass of everything."""
    held, *moments = moments_of(tree, bodies, "base")
    return held, float(held[3] + sum(moment[3] for moment in moments))


def _links(tree: Tree, bodies: Bodies) -> list[RowData]:
    """The links, with the inertia of all that is fixed to them: rotors and the payload count."""
    inertias = [np.asarray(inertia) for inertia in pseudo_inertias([link.body for link in tree.links])]
    for drive in tree.drives:
        if drive.carrier is not None and drive.carrier >= 0:
            inertias[drive.carrier] = inertias[drive.carrier] + drive.motor.locked.pseudo
    held = tree.tool_index
    inertias[held] = inertias[held] + tree.tool @ tree.payload.pseudo @ np.asarray(tree.tool).T
    return [
        RowData(tree.parents[k], PLAIN[0], {"pose": t[:3], "inertia": _ten(inertias[k])}, v=k, body=body)
        for k, (body, t) in enumerate(bodies.frames)
    ]


def _rotors(tree: Tree, bodies: Bodies) -> list[RowData]:
    """The rotors that links, or the ground, carry."""
    rows = []
    for rotor in (*bodies.rotors, *bodies.ground_rotors):
        carrier = tree.drives[rotor.drive].carrier
        numbers = {"turning": rotor.turning, "inertia": rotor.inertia}
        link = -1 if carrier is None else carrier
        rows.append(RowData(-1, PLAIN[0], numbers, v=rotor.speed, body=rotor.body, link=link, drive=rotor.drive))
    return rows


def _motors(tree: Tree) -> list[RowData]:
    """Motors, as inertia and friction at their joints."""
    rows = []
    for drive in tree.drives:
        motor = drive.motor
        coulomb, asymmetry = _both_ways(motor)
        felt = {"reflected": motor.reflected_inertia, "viscous": motor.reflected_viscous, "coulomb": coulomb}
        felt |= {"asymmetry": asymmetry, "width": motor.joint_transition_speed}
        rows.append(RowData(-1, PLAIN[0], felt, v=tree.nv - tree.n + drive.coordinate))
    return rows


def _drives(tree: Tree) -> list[RowData]:
    """What a unit of each parameter of a motor does at its joint."""
    rows = []
    for k, drive in enumerate(tree.drives):
        motor, width = drive.motor, drive.motor.joint_transition_speed
        bare = motor.replace(viscous=0.0, coulomb=0.0, breakaway=None)
        up, down = (_both_ways(bare.replace(coulomb=sides)) for sides in ((1.0, 0.0), (0.0, -1.0)))
        viscous = bare.replace(viscous=1.0).reflected_viscous
        units = np.array([motor.gear_ratio**2, viscous, width, *up, -down[0], -down[1]])
        rows.append(RowData(-1, PLAIN[0], {"units": units}, v=tree.nv - tree.n + drive.coordinate, drive=k))
    return rows


def _both_ways(motor: Motor) -> tuple[float, float]:
    """Coulomb friction as half the difference and half the sum of that for positive and for negative speeds."""
    positive, negative = motor.reflected_coulomb
    return 0.5 * (positive - negative), 0.5 * (positive + negative)


def _ten(inertia: FloatArray) -> FloatArray:
    return np.asarray(inertia[_UPPER])


def _parents(tree: Tree, bodies: Bodies) -> tuple[list[int], list[int]]:
    """Of each velocity the one before it, and the velocities, parents first."""
    parents, order, last = [-1] * tree.nv, [], {-1: -1}
    for k, body in enumerate(bodies.bodies):
        before = last[body.parent]
        for speed in range(body.speed, body.speed + body.nv):
            parents[speed], before = before, speed
            order.append(speed)
        last[k] = before
    if bodies.rotors:
        for before, speed in pairwise([-1, *order]):
            parents[speed] = before
    return parents, order


def _ints(rows: Sequence[RowData], table: str) -> npt.NDArray[np.int64]:
    names = {kind.name: k for k, kind in enumerate(kinds_of(table))}
    values = [[x.parent, names[x.kind.name], x.q, x.v, x.body, x.kind.nv, x.link, x.drive] for x in rows]
    return np.array(values, dtype=np.int64).reshape(len(rows), len(ROW))


def _numbers(rows: Sequence[RowData], table: str) -> FloatArray:
    if not rows:
        return np.zeros((0, numbers_of(table)))
    columns = [np.array([row.numbers[name] for row in rows], dtype=np.float64) for name in NUMBERS[table]]
    return np.concatenate([column.reshape(len(rows), -1) for column in columns], axis=1)
