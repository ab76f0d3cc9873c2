"""Forces and moments that act on links from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import OPTION_VALUES, algorithm, kernel_of
from linkwise.dynamics.newton_euler import apply_wrenches
from linkwise.errors import ArgumentError, choices, shown
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.body import Bodies
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.spatial_vectors import on_body
from linkwise.spatial.validation import choice, common_batch, listed, vectors
from linkwise.sweeps.drivers import Row, Sweeps, looped

#: The axes and the reference point of a wrench: those of its frame; the world's, about the frame's origin; the
#: world's, about the world origin.
AXES = ("body", "world", "spatial")

#: Frame of each wrench, a link by its index, and its axes; None for one wrench on the tool, in its axes.
Wrenches = tuple[tuple[int | str, str], ...] | None

#: Frames with the wrenches (6,) that act on them, about their origins and in their axes.
Loads = Sequence[tuple[int | str, Array]]


@dataclass(frozen=True, eq=False)
class Wrench:
    """A force and a moment that act on a link.

    Parameters
    ----------
    force : (..., 3) array_like
        N.
    moment : (..., 3) array_like
        N m.
    point : (..., 3) array_like, optional
        Where the force acts, m: in the link's frame, or with ``frame="world"`` in the world; the origin of the link's frame
        by default.
    frame : {"body", "world"}
        The axes of all three: the link's, or the world's.

    Raises
    ------
    ArgumentError
        Naming what is no vector, or no frame.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> push = Wrench((0, -10, 0), point=(-0.5, 0, 0))
    >>> arm.inverse_dynamics([0, 0], [0, 0], [0, 0], {"link1": push}).round(3)
    array([24.62 ,  4.905])
    """

    force: npt.ArrayLike
    moment: npt.ArrayLike = (0.0, 0.0, 0.0)
    point: npt.ArrayLike | None = None
    frame: str = "body"

    def __post_init__(self) -> None:
        choice("frame", self.frame, AXES[:2])
        names = ("force", "moment") if self.point is None else ("force", "moment", "point")
        for name in names:
            object.__setattr__(self, name, vectors(f"Wrench: {name}", getattr(self, name), 3))
        common_batch("Wrench", **{name: np.shape(getattr(self, name))[:-1] for name in names})

    @property
    def axes(self) -> str:
        """The one of `AXES` in which its vector is expressed."""
        return "spatial" if self.frame == "world" and self.point is not None else self.frame

    @property
    def vector(self) -> FloatArray:
        """Force, and moment about the point that its axes imply (..., 6)."""
        moment = np.asarray(self.moment)
        if self.point is not None:
            moment = moment + np.cross(np.asarray(self.point), np.asarray(self.force))
        return np.concatenate(np.broadcast_arrays(self.force, moment), axis=-1)


@dataclass(frozen=True, eq=False)
class LinkWrenches:
    """A wrench on each link, as one array, in the order of the links: as `joint_wrenches` and sensors have them.

    A type of its own, as a bare array (..., L, 6) is L wrenches on the tool, one per state of a batch.

    Parameters
    ----------
    wrenches : (..., L, 6) array_like
        Force (N) and moment (N m) on each of the L links.
    frame : {"body", "world", "spatial"}
        The link's axes, about the origin of its frame; the world's axes, about the same point; the world's axes, about the
        world origin.

    Raises
    ------
    ArgumentError
        Naming what is no such array, or no frame.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> pushes = [[0, 10, 0, 0, 0, 0], [0, 5, 0, 0, 0, 0]]
    >>> arm.inverse_dynamics([0, 0], [0, 0], [0, 0], LinkWrenches(pushes)).round(3)
    array([-0.38 , -0.095])
    >>> by_name = dict(zip(arm.link_names, pushes))
    >>> arm.inverse_dynamics([0, 0], [0, 0], [0, 0], by_name).round(3)
    array([-0.38 , -0.095])
    """

    wrenches: npt.ArrayLike
    frame: str = "body"

    def __post_init__(self) -> None:
        choice("frame", self.frame, AXES)
        values = vectors("LinkWrenches: wrenches", self.wrenches, 6)
        if values.ndim < 2:
            raise ArgumentError("LinkWrenches: wrenches has the shape (6,); expected (..., L, 6), a row per link")
        object.__setattr__(self, "wrenches", values)
        object.__setattr__(self, "kernel_words", ("wrenches", self.frame))  # (what a compiled method reads at each call)
        object.__setattr__(self, "kernel_array", values)


#: Accepted forms of wrenches: one on the tool, in its axes, or one per link.
External: TypeAlias = npt.ArrayLike | Wrench | LinkWrenches | Mapping[str, npt.ArrayLike | Wrench]


def wrench_arguments(external: Any) -> tuple[dict[str, Any], Any]:
    """The option `wrenches`, where one is needed, and the values of wrenches as methods of `Mechanism` take them.

    Raises
    ------
    ArgumentError
        Naming the link that there is not, or the value that is no wrench.
    """
    if isinstance(external, LinkWrenches):
        return {"wrenches": external.frame}, external.wrenches
    if isinstance(external, Wrench):
        external = {TOOL: external}
    if not isinstance(external, Mapping):
        return {}, external
    if not external:
        return {}, np.zeros(6)
    wrenches = [(name, value if isinstance(value, Wrench) else _wrench(name, value)) for name, value in external.items()]
    common_batch("external", **{str(name): wrench.vector.shape[:-1] for name, wrench in wrenches})
    values = np.broadcast_arrays(*(wrench.vector for _, wrench in wrenches))
    return {"wrenches": tuple((name, wrench.axes) for name, wrench in wrenches)}, np.stack(values, axis=-2)


def loaded_kernel(tree: Tree, name: str, external: External | None, suffix: str = "") -> Callable[..., Any]:
    """Kernel of an algorithm over states, or of its variant with wrenches, whose arguments are bound."""
    if external is None:
        return kernel_of(tree, name + suffix)
    options, values = wrench_arguments(external)
    kernel = kernel_of(tree, f"{name}_external{suffix}", None, options)
    return lambda *states: kernel(*states, values)


def rows_of_external(external: External | None) -> tuple[tuple[int, ...], Callable[[tuple[int, ...]], External | None]]:
    """The batch of wrenches, and those of one place of a batch that theirs are broadcast to, by the index of the place."""
    if external is None:
        return (), lambda index: None
    if isinstance(external, Mapping):
        parts = {name: rows_of_external(value) for name, value in external.items()}
        batch = common_batch("external", **{str(name): shape for name, (shape, _) in parts.items()})
        return batch, lambda index: {name: row(index) for name, (_, row) in parts.items()}  # type: ignore[misc]
    if isinstance(external, Wrench):
        names = ("force", "moment", "point")
        fields = {name: np.asarray(value) for name in names if (value := getattr(external, name)) is not None}
        batch = np.broadcast_shapes(*(value.shape[:-1] for value in fields.values()))
        return batch, lambda index: Wrench(**{k: _row(v, index, 1) for k, v in fields.items()}, frame=external.frame)
    if isinstance(external, LinkWrenches):
        table = np.asarray(external.wrenches)
        return table.shape[:-2], lambda index: LinkWrenches(_row(table, index, 2), external.frame)
    whole = vectors("external", external, 6)
    return whole.shape[:-1], lambda index: _row(whole, index, 1)


def _row(values: FloatArray, index: tuple[int, ...], core: int) -> FloatArray:
    """The row of an array (..., core) at the place of a batch that it is broadcast to."""
    batch = values.shape[: values.ndim - core]
    place = index[len(index) - len(batch) :]
    return np.asarray(values[tuple(k if size > 1 else 0 for k, size in zip(place, batch, strict=True))])


def _wrench(name: Any, value: Any) -> Wrench:
    both = vectors(f"external: {name}", value, 6)
    return Wrench(both[..., :3], both[..., 3:])


def wrench_frames(tree: Tree, wrenches: Any) -> Wrenches:
    """Convert the links of the option `wrenches` to indices; a name of axes alone means one on each link."""
    if wrenches is None:
        return None
    if isinstance(wrenches, str):
        wrenches = [(k, wrenches) for k in range(len(tree.links))]
    expected = f"one pair or more of a link and its axes, {choices(AXES)}"
    pairs = [listed("wrenches", pair, expected) for pair in listed("wrenches", wrenches, expected)]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ArgumentError(f"wrenches is {shown(wrenches)}; expected {expected}")
    frames = [tree.frame_index(link) for link, _ in pairs]
    if len(set(frames)) < len(frames):
        raise ArgumentError("external: two wrenches act on one link; expected one a link, add them up")
    return tuple((frame, choice("wrenches: axes", axes, AXES)) for frame, (_, axes) in zip(frames, pairs, strict=True))


OPTION_VALUES["wrenches"] = wrench_frames


def wrenches_on_frames(tree: Tree, q: Array, external: Array, wrenches: Wrenches) -> Iterator[tuple[int | str, Array]]:
    """Yield each frame with its wrench (6,) about its origin, in its axes."""
    if wrenches is None:
        yield TOOL, external
        return
    for (frame, axes), wrench in zip(wrenches, external, strict=True):
        if axes == "body":
            yield frame, wrench
            continue
        pose = forward_kinematics(tree, q, link=frame)
        moment = wrench[3:] - cross(pose[:3, 3], wrench[:3]) if axes == "spatial" else wrench[3:]
        yield frame, np.concatenate([pose[:3, :3].T @ wrench[:3], pose[:3, :3].T @ moment])


def wrenches_on_bodies(bodies: Bodies, loads: Loads) -> dict[int, Array]:
    """Sum of the wrenches (6,) on each body about its origin, without those on the ground."""
    total: dict[int, Array] = {}
    for frame, wrench in loads:
        body, t = bodies.tool if frame == TOOL else bodies.frames[int(frame)]
        if body >= 0:
            total[body] = total.get(body, np.zeros(6)) + on_body(wrench, t)
    return total


@algorithm(inputs={"q": "nq", "external": "W 6"}, outputs={"tau": "nv"})
def external_efforts(tree: Tree, q: Array, external: Array, *, wrenches: Wrenches = None) -> Array:
    """Joint efforts (nv,) of wrenches on links, the sum of J' w: the principle of virtual work.

    A wrench on the tool at its origin, in tool axes, unless `wrenches` says where they act.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.kernel("external_efforts")([0.0, 0.0], [0.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    array([20., 10.])
    """
    total: Array = np.zeros(tree.nv)
    for frame, wrench in wrenches_on_frames(tree, q, external, wrenches):
        total = total + jacobian(tree, q, link=frame, frame="body").T @ wrench
    return total


@looped("external_efforts")
def external_efforts_in_steps(sweeps: Sweeps) -> None:
    """Sum the wrenches on the bodies that each joint carries."""

    def outward(body: Row) -> None:
        body["force"] = np.zeros(6)

    def inward(body: Row) -> None:
        body.write("tau", [-(freedom.screw @ body["force"]) for freedom in body.joint.freedoms], "v")
        body.parent.add("force", body.joint.force_to_parent(body["force"]))

    sweeps.outward(outward)
    apply_wrenches(sweeps, "force")
    sweeps.inward(inward)
