"""Extremes of a motion, and its tables: every joint and link at each of a few instants, or peaks and means of a long one."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.dynamics.link_states import LinkStates
from linkwise.model.formatting.table import Column, Table, fixed, plain, short
from linkwise.model.loop import BASE
from linkwise.model.quantities import joint_columns, units
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism
    from linkwise.trajectory import Trajectory

#: A difference below this share of its terms is rounding.
NOTHING = 1e-12


class Extremes:
    """Least, greatest and largest values of some columns with their times, and their mean squares.

    Attributes
    ----------
    count : int
        Instants so far.
    low, high, peak : ndarray (columns,)
        Least value, greatest value, and value of the largest magnitude.
    peak_time : ndarray (columns,)
        When the largest magnitude came first, s.
    """

    def __init__(self, columns: int) -> None:
        self.count = 0
        self.low = np.full(columns, np.inf)
        self.high = np.full(columns, -np.inf)
        self.peak = np.zeros(columns)
        self.peak_time = np.full(columns, np.nan)
        self._squares = np.zeros(columns)

    def add(self, t: FloatArray, values: FloatArray) -> None:
        """Take in the next instants: t (k,), values (k, columns)."""
        self.low = np.minimum(self.low, values.min(axis=0))
        self.high = np.maximum(self.high, values.max(axis=0))
        rows = np.argmax(np.abs(values), axis=0)
        largest = values[rows, np.arange(values.shape[1])]
        larger = (np.abs(largest) > np.abs(self.peak)) | np.isnan(self.peak_time)
        self.peak = np.where(larger, largest, self.peak)
        self.peak_time = np.where(larger, t[rows], self.peak_time)
        self._squares += np.einsum("ij,ij->j", values, values)
        self.count += len(t)

    def without_rounding(self, small: FloatArray | float) -> Extremes:
        """Return the same, zero for the columns that never came above ``small`` (columns,)."""
        quiet = copy.copy(self)
        above = ~(np.abs(self.peak) <= small)
        quiet.peak, quiet._squares = self.peak * above, self._squares * above
        return quiet

    @property
    def rms(self) -> FloatArray:
        """Root mean square over the instants (columns,)."""
        return np.asarray(np.sqrt(self._squares / max(self.count, 1)))


class Summary:
    """Extremes of a motion.

    Attributes
    ----------
    q : Extremes
        Of the coordinates (nq,).
    qd, qdd, tau : Extremes
        Of velocities, accelerations and efforts (nv,).
    force, moment : Extremes
        Magnitudes for each link (L,), the moment about the joint.
    beyond : ndarray (n,)
        How many instants lie outside each joint's limits.
    start, end : float
        First and last time, s.
    finite : bool
        Whether every effort is a finite number.
    """

    def __init__(self, tree: Tree) -> None:
        links = len(tree.links)
        self.q = Extremes(tree.nq)
        self.qd, self.qdd, self.tau = (Extremes(tree.nv) for _ in range(3))
        self.force, self.moment = Extremes(links), Extremes(links)
        self.beyond = np.zeros(tree.n, dtype=int)
        self.start = self.end = np.nan
        self.finite = True
        self._tree = tree

    def add(self, states: LinkStates) -> None:
        """Take in the next instants."""
        t = states.t
        for name in ("q", "qd", "qdd", "tau"):
            getattr(self, name).add(t, getattr(states, name))
        self.force.add(t, np.linalg.norm(states.forces, axis=2))
        self.moment.add(t, np.linalg.norm(states.joint_moments, axis=2))
        self.beyond += outside_limits(self._tree, states.q)
        self.start = t[0] if np.isnan(self.start) else self.start
        self.end = t[-1]
        self.finite = self.finite and bool(np.isfinite(states.tau).all())

    @property
    def count(self) -> int:
        """Number of instants."""
        return self.q.count


def outside_limits(tree: Tree, q: FloatArray) -> FloatArray:
    """Number of instants at which each joint is outside its limits (n,), for coordinates q (k, nq)."""
    low, high = tree.q_min, tree.q_max
    joints = q[:, q.shape[1] - len(low) :]
    return np.asarray(((joints < low) | (joints > high)).sum(axis=0))


def effort_rounding(mechanism: Mechanism, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """Below which size the efforts (nv,) of a floating mechanism are nothing but rounding.

    That is a share of the forces of inertia and gravity that cancel in them at the largest velocities and accelerations
    qd, qdd (nv,).
    """
    v, a = np.abs(qd), np.abs(qdd)
    a = a + np.linalg.norm(v[3:6]) * v
    a[:3] += np.linalg.norm(mechanism.gravity)
    return inertia_rounding(mechanism, a)


def motion_rounding(mechanism: Mechanism, summary: Summary) -> tuple[FloatArray | float, float, float]:
    """The same of a long motion, and of force and moment that links receive; zero where the base does not float."""
    if not mechanism.floating:
        return 0.0, 0.0, 0.0
    small = effort_rounding(mechanism, summary.qd.peak, summary.qdd.peak)
    arm = float(np.linalg.norm(summary.q.peak[:3]))  # moments are first summed about the origin of the world
    return small, float(small[0]), float(small[3] + small[0] * arm)


def inertia_rounding(mechanism: Mechanism, rates: FloatArray) -> FloatArray:
    """`NOTHING` times the effort of the inertia at rates (nv,), the largest of the base's three axes for each of them."""
    size = np.abs(mechanism.mass_matrix(mechanism.neutral)) @ rates
    size[:3], size[3:6] = size[:3].max(), size[3:6].max()
    return np.asarray(NOTHING * size)


STATE = (("position", "m"), ("rpy", "°"), ("velocity", "m/s"), ("angular_velocity", "rad/s"))
ACCELERATIONS = (("acceleration", "m/s²"), ("angular_acceleration", "rad/s²"))

#: Keys and units of the vectors of a link or a base in the JSON document, which the tables show too.
ACTIONS = (("force", "N"), ("moment", "N m"))

LINK_WORDS = {
    "position": "position of its frame",
    "rpy": "roll, pitch, yaw",
    "force": "force from its parent",
    "moment": "moment, about the joint",
}

#: Titles of keys in the tables; other keys are their own titles.
BASE_WORDS = {"rpy": "roll, pitch, yaw", "force": "force that it takes", "moment": "moment that it takes"}

BASE_DIRECTIONS = ("along x", "along y", "along z", "about x", "about y", "about z")

Vectors = Mapping[str, Any]


# ── a few instants ────────────────────────────────────────────────────────────────────────────────


def instants(tree: Tree, states: LinkStates) -> list[dict[str, Any]]:
    """Values of each instant: time, joints by name, links by name, and the floating base, if any; SI and rad.

    Vectors of links are in the axes of the world, moments about the joint, ``rpy`` is roll, pitch, yaw. Those of the base
    are in its own axes, its position in the base frame.
    """
    rows = []
    vectors = {
        "position": states.positions,
        "rpy": np.array([[rotation_to_rpy(R) for R in poses] for poses in states.T[..., :3, :3]]),
        "velocity": states.velocities,
        "angular_velocity": states.angular_velocities,
        "acceleration": states.accelerations,
        "angular_acceleration": states.angular_accelerations,
        "force": states.forces,
        "moment": states.joint_moments,
    }
    for row, time in enumerate(states.t):
        q, qd, qdd, tau = states.q[row], states.qd[row], states.qdd[row], states.tau[row]
        joints = {
            name: {"position": q[k], "velocity": qd[v], "acceleration": qdd[v], "effort": tau[v]}
            for name, _, k, v in joint_columns(tree)
        }
        links = {name: {key: values[row, k] for key, values in vectors.items()} for k, name in enumerate(tree.link_names)}
        free = {at.name: manifold_state(at, q, qd) | _rates(at, qdd, tau) for at in tree.manifold_joints}
        base = {"base": free.pop(BASE)} if tree.floating else {}
        others = {"free_joints": free} if free else {}
        rows.append({"t": time, **base, **others, "joints": joints, "links": links})
    return rows


def manifold_state(at: ManifoldJoint, q: FloatArray, qd: FloatArray) -> dict[str, FloatArray]:
    """Pose and velocities of a joint with a quaternion at coordinates q (nq,) and velocities qd (nv,)."""
    linear = {"position": q[at.q][:3], "velocity": qd[at.v][:3]} if at.joint.nv == 6 else {}
    return {**linear, "quaternion": q[at.quaternion], "angular_velocity": qd[at.v][-3:]}


def _rates(at: ManifoldJoint, qdd: FloatArray, tau: FloatArray) -> dict[str, FloatArray]:
    linear = {"acceleration": qdd[at.v][:3], "force": tau[at.v][:3]} if at.joint.nv == 6 else {}
    return {**linear, "angular_acceleration": qdd[at.v][-3:], "moment": tau[at.v][-3:]}


def instant_tables(mechanism: Mechanism, states: LinkStates) -> Iterator[Table]:
    """Two tables for each instant, of the joints and the links, and one of a floating base."""
    if mechanism.floating:
        small = effort_rounding(mechanism, np.abs(states.qd).max(axis=0), np.abs(states.qdd).max(axis=0))
        states = replace(states, tau=np.where(np.abs(states.tau) <= small, 0.0, states.tau))
    for row in instants(mechanism, states):
        time = f"t = {short(row['t'])} s"
        for at in mechanism.manifold_joints:
            vectors = row["base"] if at.link < 0 else row["free_joints"][at.name]
            yield manifold_table(f"{time}: {manifold_title(at)}", at, vectors, (*STATE, *ACCELERATIONS, *ACTIONS))
        if mechanism.n:
            yield _joint_table(f"{time}: joints", row["joints"], mechanism)
        lines: list[Sequence[Any]] = []
        for name, link in row["links"].items():
            rows = _vector_rows(link, (*STATE, *ACCELERATIONS, *ACTIONS), LINK_WORDS)
            lines += [()] if lines else []
            lines += [("" if k else plain(name), *line) for k, line in enumerate(rows)]
        columns = [Column(axis, write=fixed, right=True) for axis in "xyz"]
        yield Table([f"{time}: links, in the axes of the world frame"], ["link", "", *columns, "unit"], lines, keys=2)


def manifold_title(at: ManifoldJoint) -> str:
    """Title of a joint with a quaternion in tables."""
    return "floating base" if at.link < 0 else f"{at.joint.kind} joint {plain(at.name)}"


def manifold_table(
    title: str, at: ManifoldJoint, vectors: Vectors, quantities: Sequence[tuple[str, str]], write: Any = fixed
) -> Table:
    """The vectors of a joint with a quaternion."""
    columns = [Column(axis, write=write, right=True) for axis in "xyz"]
    title = f"{title}, its pose in the {'base' if at.link < 0 else 'joint'} frame, all else in its own axes"
    known = [(key, unit) for key, unit in quantities if key in vectors or key == "rpy"]
    return Table([title], ["", *columns, "unit"], _vector_rows(vectors, known, BASE_WORDS))


def _vector_rows(
    vectors: Vectors, quantities: Sequence[tuple[str, str]], words: Mapping[str, str]
) -> Iterator[tuple[Any, ...]]:
    """Words, three numbers and the unit of each quantity."""
    for key, unit in quantities:
        vector = vectors.get(key)
        if key == "rpy":
            rpy = vector if vector is not None else rotation_to_rpy(quaternion_rotation(vectors["quaternion"]))
            vector = np.degrees(rpy)
        assert vector is not None
        yield words.get(key, key.replace("_", " ")), *vector, unit


def _joint_table(title: str, joints: Mapping[str, Mapping[str, float]], tree: Tree) -> Table:
    quantities = {"position": "q", "velocity": "qd", "acceleration": "qdd", "effort": "tau"}
    behind = zip(*(_joint_units(tree, quantity) for quantity in quantities.values()), strict=True)
    rows = []
    for (name, joint), words in zip(joints.items(), behind, strict=True):
        rows.append([name, *(f"{fixed(joint[key])} {unit}" for key, unit in zip(quantities, words, strict=True))])
    return Table([title], ["joint", *(Column(key, right=True) for key in quantities)], rows)


def _joint_units(tree: Tree, quantity: str) -> list[str]:
    """The unit of a quantity of each joint."""
    return [unit.replace("s2", "s²") for unit in units(tree, quantity)][-tree.n :]


# ── a long motion ─────────────────────────────────────────────────────────────────────────────────


def motion_tables(mechanism: Mechanism, summary: Summary) -> Iterator[Table]:
    """A base that floats, the joints' motion, their efforts, and the links."""
    extremes = (summary.tau, summary.force, summary.moment)
    small = motion_rounding(mechanism, summary)
    tau, force, moment = (column.without_rounding(size) for column, size in zip(extremes, small, strict=True))
    span = f"{summary.count:,} instants, t = {short(summary.start)} to {short(summary.end)} s"
    title = f"{span}; each peak with its time [s]"
    directions = [BASE_DIRECTIONS[-at.joint.nv :] for at in mechanism.manifold_joints]
    names = [*chain.from_iterable(directions), *map(plain, mechanism.names)]
    columns = zip(names, units(mechanism, "tau"), strict=True)
    efforts = [(name, short(tau.rms[k]), peak(tau, k), unit) for k, (name, unit) in enumerate(columns)]
    first = len(names) - mechanism.n
    for at in mechanism.manifold_joints:
        yield _manifold_motion_table(title, at, summary)
        subject = "force and moment on the base" if at.link < 0 else "efforts"
        yield _numbers(
            f"{subject} that the motion requires", manifold_title(at), ["rms effort", "peak effort", ""], efforts[at.v]
        )
        title = "joints"
    if mechanism.n:
        yield _joint_motion_table(title, mechanism, summary)
        yield _numbers("motor efforts", "joint", ["rms effort", "peak effort", ""], efforts[first:])
    links = [(plain(name), peak(force, k), peak(moment, k)) for k, name in enumerate(mechanism.link_names)]
    title = "force and moment on each link from its parent, moment about the joint"
    yield _numbers(title, "link", ["peak force [N]", "peak moment [N m]"], links)


def _manifold_motion_table(title: str, at: ManifoldJoint, summary: Summary) -> Table:
    rows = []
    for k, direction in enumerate(BASE_DIRECTIONS[-at.joint.nv :]):
        place, speed, slides = at.q.start + k, at.v.start + k, direction.startswith("along")
        span = f"{short(summary.q.low[place])} .. {short(summary.q.high[place])}" if slides else ""
        rows.append((direction, span, peak(summary.qd, speed), peak(summary.qdd, speed), "m" if slides else "rad"))
    return _numbers(title, manifold_title(at), ["position", "peak velocity", "peak acceleration", ""], rows)


def _joint_motion_table(title: str, tree: Tree, summary: Summary) -> Table:
    """Table with units in the head if all joints have the same ones, to save space, else after the numbers."""
    heads = {"position": "q", "peak velocity": "qd", "peak acceleration": "qdd"}
    units_of_joints = list(zip(*(_joint_units(tree, quantity) for quantity in heads.values()), strict=True))
    alike = len(set(units_of_joints)) == 1
    rows = []
    for (name, _, k, v), behind in zip(joint_columns(tree), units_of_joints, strict=True):
        cells = (f"{short(summary.q.low[k])} .. {short(summary.q.high[k])}", peak(summary.qd, v), peak(summary.qdd, v))
        rows.append([name, *(cells if alike else chain(*zip(cells, behind, strict=True)))])
    titles = [f"{head} [{unit}]" for head, unit in zip(heads, behind, strict=True)]
    return _numbers(title, "joint", titles if alike else [part for head in heads for part in (head, "")], rows)


def _numbers(title: str, key: str, titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table with a name, then numbers flush right, units flush left."""
    return Table([title], [key, *(Column(name, right=bool(name)) for name in titles)], rows)


def peak(extremes: Extremes, k: int) -> str:
    """Write the largest value of a column and when it came; zero came at no time."""
    if not extremes.peak[k]:
        return "0"
    return f"{short(extremes.peak[k])} @ {short(extremes.peak_time[k])}"


def momentum_table(mechanism: Mechanism, motion: Trajectory) -> Table:
    """The momentum at both ends of a motion, world axes, the angular about the centre of mass."""
    momentum = mechanism.momentum(motion.q[[0, -1]], motion.qd[[0, -1]], about="com")
    small = inertia_rounding(mechanism, np.abs(motion.qd).max(axis=0))[[0, 0, 0, 3, 3, 3]]
    momentum = np.where(np.abs(momentum) <= small, 0.0, momentum)
    rows = []
    for part, name, unit in ((slice(0, 3), "linear", "kg m/s"), (slice(3, 6), "angular", "kg m²/s")):
        for end, values in zip(("start", "end"), momentum, strict=True):
            rows.append((f"{name}, at the {end}", *values[part], unit))
    columns = [Column(axis, write=lambda value: f"{value + 0.0:.6g}", right=True) for axis in "xyz"]
    title = "momentum in the axes of the world frame, the angular about the centre of mass"
    return Table([title], ["momentum", *columns, "unit"], rows)


def limit_remarks(tree: Tree, beyond: Sequence[int], count: int) -> Iterator[str]:
    """Yield the joints that leave their limits, and the share of instants."""
    for name, outside in zip(tree.names, beyond, strict=True):
        if outside:
            yield f"remark: joint {plain(name)!r} is outside its limits at {outside:,} of {count:,} instants"
