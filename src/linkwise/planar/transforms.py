"""The transforms T_i of planar links, their products along paths, and placed points, by compiled kernels or on symbols."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.expr.node import Expr, origins_of
from linkwise.kernel import Kernel, trace
from linkwise.model.symbolic import parameters_in
from linkwise.model.validation import Checker
from linkwise.planar.tree import JOINTS, Link, PlanarTree
from linkwise.spatial.scalar import Array, array, blank, cos_sin
from linkwise.spatial.validation import readable, real

#: x, y and the angle of a frame in another.
Step = tuple[Any, Any, Any]


def step(link: Link, values: Sequence[Any] | Array) -> Step:
    """Pose of a link's body frame in that of its parent, x, y and the angle, at the values (k,) of its own coordinates.

    The turn by theta_i and the shift by a_{i-1} along x (S. M. LaValle, *Planning Algorithms*, 2006, section 3.3), in a
    frame that stands at `Link.at` in the parent's.
    """
    x, y, phi = link.at
    terms = {"x": x, "y": y, "a": link.a, "theta": link.theta}
    for variable, value in zip(link.variables, values, strict=True):
        terms[variable] = _plus(terms[variable], value)
    c, s = cos_sin(phi)
    x, y = _plus(terms["x"], _times(terms["a"], c)), _plus(terms["y"], _times(terms["a"], s))
    return x, y, _plus(phi, terms["theta"])


def matrix(place: Step) -> Array:
    """The homogeneous transform (3, 3): [[c, -s, x], [s, c, y], [0, 0, 1]]."""
    x, y, angle = place
    c, s = cos_sin(angle)
    T = blank(3, 3)
    T[:2] = [[c, -s, x], [s, c, y]]
    T[2, 2] = 1.0
    return T


def transforms(mechanism: PlanarTree, q: Array) -> Array:
    """T_i (L, 3, 3) of every link: from its body frame to its parent's."""
    return np.array([matrix(place) for place in _steps(mechanism, q)], dtype=object)


def poses(mechanism: PlanarTree, q: Array) -> Array:
    """T_world_link (L, 3, 3) of every link: the product of the T_i along its path, in which the angles add up."""
    return np.array([matrix(place) for place in world_steps(mechanism, q)], dtype=object)


def world_steps(mechanism: PlanarTree, q: Array) -> list[Step]:
    """World poses of all body frames: x, y and the angle."""
    steps = _steps(mechanism, q)
    places: list[Step] = list(steps)
    for k in mechanism.order:
        if mechanism.parents[k] >= 0:
            px, py, turned = places[mechanism.parents[k]]
            x, y, angle = steps[k]
            c, s = cos_sin(turned)
            across, along = _plus(_times(x, s), _times(y, c)), _plus(_times(x, c), -_times(y, s))
            places[k] = (_plus(px, along), _plus(py, across), _plus(turned, angle))
    return places


def gaps(mechanism: PlanarTree, q: Array) -> Array:
    """Closure errors of the loops (loops, 3), m, m and the sine of an angle.

    The second point as seen from the first, world axes, and how far the second body is turned from where a rigid connection
    has it, 0 for a pin.
    """
    placed = {link.name: place for link, place in zip(mechanism.links, world_steps(mechanism, q), strict=True)}
    openings = blank(len(mechanism.loops), 3)
    for k, loop in enumerate(mechanism.loops):
        first, second = (placed.get(name, (0.0, 0.0, 0.0)) for name in (loop.first, loop.second))
        (x1, y1), (x2, y2) = apply(matrix(first), loop.first_point), apply(matrix(second), loop.second_point)
        turned = _plus(_plus(second[2], -first[2]), -loop.angle)
        openings[k] = [x2 - x1, y2 - y1, 0.0 if JOINTS[loop.joint] else cos_sin(turned)[1]]
    return openings


def place(mechanism: PlanarTree, q: Array) -> Array:
    """Every point (V, 2) of every polygon in the world, in the order of the links."""
    return placed(mechanism, poses(mechanism, q))


def placed(mechanism: PlanarTree, frames: Array) -> Array:
    """The same for poses (L, 3, 3) that are known."""
    pairs = zip(mechanism.links, frames, strict=True)
    points = [apply(pose, point) for link, pose in pairs for shape in link.polygons for point in shape.tolist()]
    return np.array(points, dtype=object).reshape(-1, 2)


def apply(pose: Array, point: Any) -> Array:
    """A point (2,) of a body in the frame that its pose (3, 3) leads to."""
    x, y = point
    return np.array([pose[0, 0] * x + pose[0, 1] * y + pose[0, 2], pose[1, 0] * x + pose[1, 1] * y + pose[1, 2]])


@lru_cache(maxsize=1)
def placing() -> Kernel:
    """The compiled `apply`, which broadcasts poses over the points of a polygon."""
    return Kernel(trace(apply, "place", {"pose": (3, 3), "point": (2,)}, {"placed": (2,)}))


def _steps(mechanism: PlanarTree, q: Array) -> list[Step]:
    values = iter(q)
    return [step(link, list(islice(values, len(link.variables)))) for link in mechanism.links]


def _plus(a: Any, b: Any) -> Any:
    """The sum, without zeros: a SymPy symbol stays as it is."""
    return b if _is(a, 0.0) else a if _is(b, 0.0) else a + b


def _times(a: Any, b: Any) -> Any:
    """The product, without ones and zeros."""
    if _is(a, 0.0) or _is(b, 0.0):
        return 0.0
    return b if _is(a, 1.0) else a if _is(b, 1.0) else a * b


def _is(value: Any, number: float) -> bool:
    return isinstance(value, (float, int)) and value == number


_FUNCTIONS = {function.__name__: function for function in (transforms, poses, gaps, place)}

#: Up to so many points of polygons, placing them is one kernel; the time to compile it is in proportion.
FEW = 200


def evaluated(mechanism: PlanarTree, name: str, configuration: npt.ArrayLike) -> Array:
    """Evaluate a function of `linkwise.planar.transforms` at configurations (..., nq).

    Where the symbols of the mechanism or of the configuration are SymPy's, the results are SymPy expressions in these.

    Raises
    ------
    ArgumentError
        Where the shape is wrong, or there are symbols in a batch.
    """
    q = _read_configuration(mechanism, configuration)
    if name == "gaps" and not mechanism.loops:
        return np.zeros((*q.shape[:-1], 0, 3))
    if q.dtype != object and not mechanism.symbols:
        return np.asarray(mechanism.memo("planar.evaluation", name, lambda: _compiled(mechanism, name))(q))
    if q.ndim != 1:
        raise ArgumentError(f"configuration has the shape {q.shape}; expected ({mechanism.nq},) where there are symbols")
    function = _FUNCTIONS[name]
    if not mechanism.symbols or any(isinstance(value, Expr) for value in q.flat):
        return array(function(mechanism, q))
    if q.dtype == object or origins_of(mechanism.parameters_used):
        from linkwise.equations.tape_to_sympy import expressions_to_sympy
        from linkwise.expr.sympy.from_sympy import model_expression

        read = q if q.dtype != object else model_expression(q)
        _check_names(mechanism, read)
        return np.asarray(expressions_to_sympy(function(mechanism, read)))
    return array(function(mechanism, q))


def _check_names(mechanism: PlanarTree, configuration: Array) -> None:
    """Refuse a configuration with a symbol that has the name of another one in the mechanism."""
    check = Checker(f"mechanism {mechanism.name!r}")
    check.one_of_each_name(tuple(dict.fromkeys((*mechanism.parameters_used, *parameters_in([configuration])))))
    check.finish()


def place_polygons(mechanism: PlanarTree, configuration: npt.ArrayLike) -> tuple[tuple[Array, ...], ...]:
    """Every polygon in the world; see `Mechanism.place`.

    Mechanisms of few points have one kernel for all of them, which folds their coordinates in; where there are many, a
    kernel for one point is broadcast over each polygon.
    """
    if 0 < sum(len(shape) for link in mechanism.links for shape in link.polygons) <= FEW:
        return _shared_out(mechanism, evaluated(mechanism, "place", configuration))
    poses = evaluated(mechanism, "poses", configuration)
    if poses.dtype == object:
        return _shared_out(mechanism, placed(mechanism, poses))
    put = placing()
    return tuple(
        tuple(put(poses[..., k, None, :, :], shape) for shape in link.polygons) for k, link in enumerate(mechanism.links)
    )


def _shared_out(mechanism: PlanarTree, points: Array) -> tuple[tuple[Array, ...], ...]:
    """Divide all points (..., V, 2) by links and polygons."""
    spans = mechanism.memo("planar.evaluation", "spans", lambda: _spans(mechanism))
    return tuple(tuple([points[..., span, :] for span in several]) for several in spans)


def _spans(mechanism: PlanarTree) -> list[list[slice]]:
    """Slices of the points of each link's polygons."""
    ends = iter(accumulate(len(shape) for link in mechanism.links for shape in link.polygons))
    return [[slice((end := next(ends)) - len(shape), end) for shape in link.polygons] for link in mechanism.links]


def _read_configuration(mechanism: PlanarTree, configuration: npt.ArrayLike) -> Array:
    """The configuration as float64 (..., nq), or as objects where it has symbols."""
    if (
        type(configuration) is np.ndarray
        and configuration.dtype == np.float64
        and configuration.shape[-1:] == (mechanism.nq,)
    ):
        return configuration
    readable("configuration", configuration)
    try:
        values: Array = np.asarray(configuration)
    except ValueError:  # rows of several lengths
        values = np.empty(0)
    elements = list(values.flat) if values.dtype == object else []
    ours = any(isinstance(value, Expr) for value in elements)
    theirs = any(bool(getattr(value, "free_symbols", None)) for value in elements)
    if ours and theirs:
        problem = f"configuration is {shown(configuration)}"
        raise ArgumentError(f"{problem}; expected symbols of SymPy or of Linkwise, not of both")
    if not (ours or theirs):
        try:
            values = real(configuration)
        except TypeError as error:
            expected = f"real numbers (..., {mechanism.nq})"
            raise ArgumentError(f"configuration is {shown(configuration)}; expected {expected}") from error
    if values.shape[-1:] != (mechanism.nq,):
        named = f" for {members(mechanism.coordinate_names)}" if mechanism.nq else ""
        raise ArgumentError(f"configuration has the shape {values.shape}; expected (..., {mechanism.nq}){named}")
    return values


def _compiled(mechanism: PlanarTree, name: str) -> Kernel:
    links, points = len(mechanism.links), sum(len(shape) for link in mechanism.links for shape in link.polygons)
    shapes = {"gaps": (len(mechanism.loops), 3), "place": (points, 2)}
    function = _FUNCTIONS[name]
    outputs = {name: shapes.get(name, (links, 3, 3))}
    tape = trace(lambda q: function(mechanism, q), name, {"configuration": (mechanism.nq,)}, outputs)
    return Kernel(tape, doc=function.__doc__ or "")
