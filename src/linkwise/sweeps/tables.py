"""Tables of a mechanism: constants of its bodies, links, frames, wrenches and motors, and their topology."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import KernelError, members
from linkwise.kernel.looped import ROW, LoopedData, Size
from linkwise.model.body import Bodies, Body, carrier_frame, pseudo_inertias
from linkwise.model.motor import Motor
from linkwise.model.spring import EndStop
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.sweeps.drivers import BODY_KINDS, NUMBERS, PLAIN, PSEUDO, RowKind, kinds_of, numbers_of
from linkwise.sweeps.traced_joints import TracedJoints

#: The value of the option `link` of the centre of mass that takes in all links.
BASE = "base"

#: Names of sizes by the letters in which algorithms declare their shapes.
SIZES = {"L": "links", "W": "wrenches", "P": "P", "nq": "nq", "nv": "nv"}

#: Indices of the upper triangle of a pseudo-inertia.
_UPPER = tuple(np.transpose(PSEUDO))

#: Rounding error of a rotation, relative to the greatest rotated element.
_TURNED = 4.0 * np.finfo(float).eps

_KINDS = {kind.name: kind for kind in BODY_KINDS}


def kind_of(body: Body) -> RowKind | None:
    """The kind of a body; None for a joint that has none."""
    if body.joint is not None:
        return next((kind for kind in BODY_KINDS if kind.joint is not None and type(kind.joint) is type(body.joint)), None)
    if body.turn:
        return _KINDS["turning and sliding" if any_nonzero(body.pitch) else "turning"]
    return _KINDS["sliding"]


def _twisted(placements: FloatArray) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Mark bodies of the twisted kind; return also their poses (N, 3, 4).

    Row 2 of each holds a, sin(alpha), cos(alpha), d.
    """
    turns, steps = placements[:, :3, :3], placements[:, :3, 3]
    a, beside, d = np.einsum("nji,nj->in", turns, steps)
    about_x = (turns[:, 0] == (1.0, 0.0, 0.0)).all(axis=1) & (turns[:, 1:, 0] == 0.0).all(axis=1)
    lengths = np.max(np.abs((a, beside, d)), axis=0)
    poses = np.zeros((len(placements), 3, 4))
    poses[:, 2] = np.transpose((a, turns[:, 2, 1], turns[:, 2, 2], d))
    return about_x & (np.abs(beside) <= _TURNED * lengths), poses


@dataclass
class RowData:
    """A row of a mechanism: the whole numbers of `linkwise.kernel.looped.ROW`, and constants by name."""

    parent: int
    kind: RowKind
    numbers: Mapping[str, Any]
    q: int = 0
    v: int = 0
    body: int = -1
    link: int = -1
    drive: int = 0


@dataclass(frozen=True)
class MechanismRows:
    """The rows of a mechanism, by table, and its constants.

    Attributes
    ----------
    tree : Tree
        Each joint with a coordinate of its own.
    bodies : Bodies
        Its bodies, in the axes that are asked for.
    options : mapping of str to object
        The options of the algorithm: "link", "wrenches".
    path : bool
        Whether only the bodies that carry the frame count.
    traced : TracedJoints
        The joints whose types are from outside, for rows that a loop goes through.
    twisted : bool
        Whether bodies whose placement allows it are of the kind that is twisted.
    """

    tree: Tree
    bodies: Bodies
    options: Mapping[str, Any] = field(default_factory=dict)
    path: bool = False
    traced: TracedJoints = field(default_factory=TracedJoints)
    twisted: bool = False

    @cached_property
    def frame(self) -> tuple[int, Array]:
        """Body of the selected frame, and its pose there."""
        link = self.options.get("link", TOOL)
        return self.bodies.tool if link in {TOOL, BASE} else self.bodies.frames[self.tree.link_index(link)]

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The bodies that count."""
        return self.bodies.path(self.frame[0]) if self.path else tuple(range(len(self.bodies.bodies)))

    @cached_property
    def moments(self) -> list[Array]:
        """First moment and mass (4,) of the ground and of each body."""
        return moments_of(self.tree, self.bodies, self.options.get("link", BASE))

    def constant(self, name: str) -> Any:
        """A constant of the mechanism."""
        if name == "gravity":
            return np.asarray(self.tree.gravity)
        return self.moments[0] if name == "held" else sum(moment[3] for moment in self.moments)

    def table(self, name: str) -> list[RowData]:
        """The rows of a table."""
        if name not in self._tables:
            self._tables[name] = self._made(name)
        return self._tables[name]

    @cached_property
    def _tables(self) -> dict[str, list[RowData]]:
        return {}

    def _made(self, name: str) -> list[RowData]:
        tree, bodies = self.tree, self.bodies
        place = {-1: -1, **{k: index for index, k in enumerate(self.kept)}}
        makers: dict[str, Callable[[], list[RowData]]] = {
            "bodies": lambda: self._bodies(place),
            "frames": lambda: [RowData(-1, PLAIN[0], {"pose": self.frame[1][:3]}, body=place.get(self.frame[0], -1))],
            "links": lambda: _links(tree, bodies),
            "rotors": lambda: _rotors(tree, bodies),
            "motors": lambda: _motors(tree),
            "drives": lambda: _drives(tree),
            "springs": lambda: _springs(tree),
            "wrenches": lambda: _wrenches(tree, bodies, self.options.get("wrenches") or ((TOOL, "body"),)),
        }
        return makers[name]()

    def _bodies(self, place: Mapping[int, int]) -> list[RowData]:
        bodies = [self.bodies.bodies[k] for k in self.kept]
        placements = [body.placement for body in bodies if self.twisted]
        twisted, poses = _twisted(np.array(placements, dtype=np.float64).reshape(-1, 4, 4))
        rows = []
        for index, (k, body) in enumerate(zip(self.kept, bodies, strict=True)):
            kind, of_joint = self.traced.by_link.get(body.link, (kind_of(body) or RowKind("other", joint=body.joint), ()))
            numbers = {"pose": body.placement[:3], "angle": body.angle, "pitch": body.pitch}
            if self.twisted and kind is _KINDS["turning"] and twisted[index]:
                kind, numbers["pose"] = _KINDS["turning about a twisted axis"], poses[index]
            numbers |= {"inertia": _ten(self._inertia(k)), "joint": of_joint}
            rows.append(RowData(place[body.parent], kind, numbers, body.position, body.speed))
        return rows

    def _inertia(self, k: int) -> Array:
        """Pseudo-inertia (4, 4) of a body; masses not carried by the selected link are zero."""
        if self.options.get("link", BASE) in {BASE, TOOL} or self.path:
            return self.bodies.bodies[k].inertia
        inertia = np.zeros((4, 4), dtype=object)
        inertia[:, 3] = inertia[3] = self.moments[k + 1]
        return inertia

    def data(self, tables: Iterable[str], constants: Iterable[str], *, sparse: bool) -> LoopedData:
        """Tables as arrays for machine code; unused constants of the mechanism are zeros."""
        known = [
            np.ravel(np.asarray(self.constant(name) if name in constants else np.zeros(shape), dtype=np.float64))
            for name, shape in NUMBERS["globals"].items()
        ]
        parents, order = _parents(self.tree, self.bodies)
        rows = {name: self.table(name) for name in tables}
        ints = {name: _ints(rows[name], name, self.traced.kinds) for name in rows}
        ints["bodies"][:, -2:] = _passing_places([row.parent for row in rows["bodies"]], reused=not rows.get("rotors"))
        return LoopedData(
            ints,
            {name: _numbers(rows[name], name, self.traced.kinds) for name in rows},
            np.concatenate(known),
            np.array(parents, dtype=np.int64),
            np.array(order, dtype=np.int64),
            sizes_of(self.tree, self.options),
            sparse,
        )


def sizes_of(tree: Tree, options: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of a mechanism by name."""
    links, motors = len(tree.links), len(tree.drives)
    sizes = {"nq": tree.nq, "nv": tree.nv, "links": links, "P": 10 * links + 4 * motors, "before drives": 10 * links}
    return {**sizes, "wrenches": len(options.get("wrenches") or (None,))}


def shapes_of(shapes: Mapping[str, str], *, single: bool) -> dict[str, tuple[Size, ...]]:
    """Shapes with sizes by name, of those that an algorithm declares in letters.

    Parameters
    ----------
    shapes : mapping of str to str
        By array.
    single : bool
        Whether its wrench, where it has one, is a vector (6,) and no table (W, 6).
    """
    return {
        name: tuple(
            int(letter) if letter.isdigit() else SIZES[letter] for letter in shape.split() if not (single and letter == "W")
        )
        for name, shape in shapes.items()
    }


def moments_of(tree: Tree, bodies: Bodies, link: int | str) -> list[Array]:
    """First moment and mass (4,) of the ground and of each body, from the links in question."""
    if link == BASE:
        inside = set(range(-1, len(tree.links)))
        results: list[Array] = [np.zeros(4), *(body.inertia[:, 3] for body in bodies.bodies)]
    else:
        inside = set(tree.carried(tree.link_index(link)))
        results = [np.zeros(4) for _ in range(len(bodies.bodies) + 1)]
    frames = [(k, frame, link.body) for k, (frame, link) in enumerate(zip(bodies.frames, tree.links, strict=True))]
    for drive in tree.drives:
        if drive.carrier is not None:
            frames.append((drive.carrier, carrier_frame(tree, bodies, drive.carrier), drive.motor.locked))
    for k, (body, t), inertia in [*frames, (tree.tool_index, bodies.tool, tree.payload)]:
        if k in inside and (body < 0 or link != BASE):
            results[body + 1] = results[body + 1] + t @ inertia.pseudo[:, 3]
    return results


def _wrenches(tree: Tree, bodies: Bodies, wrenches: Iterable[tuple[int | str, str]]) -> list[RowData]:
    rows = []
    for frame, axes in wrenches:
        body, pose = bodies.tool if frame == TOOL else bodies.frames[int(frame)]
        link = _link_places(tree)[tree.tool_index if frame == TOOL else int(frame)]
        rows.append(RowData(-1, RowKind(axes), {"pose": pose[:3]}, body=body, link=link))
    return rows


def _links(tree: Tree, bodies: Bodies) -> list[RowData]:
    """The links, with the inertia of all that is fixed to them: rotors and the payload count."""
    inertias = [np.asarray(inertia) for inertia in pseudo_inertias([link.body for link in tree.links])]
    for drive in tree.drives:
        if drive.carrier is not None and drive.carrier >= 0:
            inertias[drive.carrier] = inertias[drive.carrier] + drive.motor.locked.pseudo
    held = tree.tool_index
    inertias[held] = inertias[held] + tree.tool @ tree.payload.pseudo @ np.asarray(tree.tool).T
    place, rows = _link_places(tree), []
    for k in tree.order:
        body, t = bodies.frames[k]
        parent = place[tree.parents[k]]
        rows.append(RowData(parent, PLAIN[0], {"pose": t[:3], "inertia": _ten(inertias[k])}, v=k, body=body))
    return rows


def _link_places(tree: Tree) -> dict[int, int]:
    """Row of each link: parents come first, independent of the order of the links."""
    return {-1: -1, **{k: row for row, k in enumerate(tree.order)}}


def _rotors(tree: Tree, bodies: Bodies) -> list[RowData]:
    """The rotors that links, or the ground, carry."""
    rows, place = [], _link_places(tree)
    for rotor in (*bodies.rotors, *bodies.ground_rotors):
        carrier = tree.drives[rotor.drive].carrier
        numbers = {"turning": rotor.turning, "inertia": rotor.inertia}
        link = -1 if carrier is None else place[carrier]
        rows.append(RowData(-1, PLAIN[0], numbers, v=rotor.speed, body=rotor.body, link=link, drive=rotor.drive))
    return rows


def _motors(tree: Tree) -> list[RowData]:
    """Motors, as inertia and friction at their joints."""
    rows = []
    for drive in tree.drives:
        motor = drive.motor
        coulomb, asymmetry = _both_ways(motor)
        reflected = {"reflected": motor.reflected_inertia, "viscous": motor.reflected_viscous, "coulomb": coulomb}
        reflected |= {"asymmetry": asymmetry, "width": motor.joint_transition_speed}
        rows.append(RowData(-1, PLAIN[0], reflected, v=tree.nv - tree.n + drive.coordinate))
    return rows


def _drives(tree: Tree) -> list[RowData]:
    """Effect of each motor parameter on its joint."""
    rows = []
    for k, drive in enumerate(tree.drives):
        motor, width = drive.motor, drive.motor.joint_transition_speed
        bare = motor.replace(viscous=0.0, coulomb=0.0, breakaway=None)
        up, down = (_both_ways(bare.replace(coulomb=sides)) for sides in ((1.0, 0.0), (0.0, -1.0)))
        viscous = bare.replace(viscous=1.0).reflected_viscous
        units = np.array([motor.gear_ratio**2, viscous, width, *up, -down[0], -down[1]])
        rows.append(RowData(-1, PLAIN[0], {"units": units}, v=tree.nv - tree.n + drive.coordinate, drive=k))
    return rows


def _springs(tree: Tree) -> list[RowData]:
    """Joints of springs and end stops: the numbers of an element are in the row of the first."""
    rows: list[RowData] = []
    blank = dict.fromkeys(NUMBERS["springs"], 0.0)
    for term in tree.force_terms:
        element, kind = term.element, "spring"
        numbers = {
            name: getattr(element, name) for name in ("stiffness", "rest", "damping", "force") if hasattr(element, name)
        }
        if isinstance(element, EndStop):
            numbers["low"], numbers["high"] = element.limits or (-np.inf, np.inf)
            kind = "stop"
        numbers["shift"] = term.shift
        for coordinate, ratio in term.ratios:
            parent = len(rows) - 1 if kind == "strand" else -1
            q, v = tree.nq - tree.n + coordinate, tree.nv - tree.n + coordinate
            rows.append(RowData(parent, RowKind(kind), {**blank, **numbers, "ratio": ratio}, q, v))
            kind, numbers = "strand", {}
    return rows


def _both_ways(motor: Motor) -> tuple[float, float]:
    """Half the difference and half the sum of Coulomb friction for positive and for negative velocities."""
    positive, negative = motor.reflected_coulomb
    return 0.5 * (positive - negative), 0.5 * (positive + negative)


def _ten(inertia: FloatArray) -> FloatArray:
    return np.asarray(inertia[_UPPER])


def _parents(tree: Tree, bodies: Bodies) -> tuple[list[int], list[int]]:
    """Predecessor of each velocity, and the velocities, parents first."""
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


def _ints(rows: Sequence[RowData], table: str, traced: tuple[RowKind, ...]) -> npt.NDArray[np.int64]:
    names = {kind.name: k for k, kind in enumerate(kinds_of(table, traced))}
    unknown = next((row.kind.name for row in rows if row.kind.name not in names), None)
    if unknown is not None:
        raise KernelError(f"{table}: a row of the kind {unknown!r}; there is {members(names)}")
    values = [[x.parent, names[x.kind.name], x.q, x.v, x.body, x.kind.nv, x.link, x.drive, 0, 0] for x in rows]
    return np.array(values, dtype=np.int64).reshape(len(rows), len(ROW))


def _passing_places(parents: Sequence[int], *, reused: bool) -> npt.NDArray[np.int64]:
    """Places of the values passed on, of each row and its parent (rows, 2), parents first; place 0 is the ground's."""
    last, places, free, count = {parent: k for k, parent in enumerate(parents)}, {-1: 0}, list[int](), 1
    for k, parent in enumerate(parents):
        places[k] = free.pop() if free else count
        count = max(count, places[k] + 1)
        if reused and k not in last:
            free.append(places[k])
        if reused and parent >= 0 and last[parent] == k:
            free.append(places[parent])
    return np.array([[places[k], places[parent]] for k, parent in enumerate(parents)], dtype=np.int64).reshape(-1, 2)


def _numbers(rows: Sequence[RowData], table: str, traced: tuple[RowKind, ...]) -> FloatArray:
    result, known = np.zeros((len(rows), numbers_of(table, traced))), numbers_of(table)
    if not rows:
        return result
    columns = [np.array([row.numbers[name] for row in rows], dtype=np.float64) for name in NUMBERS[table]]
    result[:, :known] = np.concatenate([column.reshape(len(rows), -1) for column in columns], axis=1)
    for row, values in zip(result[:, known:], rows if result.shape[1] > known else (), strict=False):
        row[: len(values.numbers["joint"])] = values.numbers["joint"]
    return result
