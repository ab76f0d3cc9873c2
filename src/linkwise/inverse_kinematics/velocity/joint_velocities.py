"""Joint velocities for the velocity of a frame: one step of resolved motion rate control, also within bounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.algorithm import kernel_of
from linkwise.arrays import DifferentiableFramework, Framework, GraphOutput, Signature
from linkwise.errors import ArgumentError, LinkwiseError, shown
from linkwise.extras import quadratic_programs
from linkwise.inverse_kinematics.velocity.kernel import DIAGNOSTICS, RANK, motion_kernel
from linkwise.inverse_kinematics.velocity.solution import GraphVelocitySolution, VelocitySolution
from linkwise.inverse_kinematics.velocity.task import (
    REGION,
    ClosedVelocityTask,
    VelocityTask,
    acceleration_bounds,
    check_limits,
    rate_task,
    speed_bounds,
)
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers
from linkwise.torch_graphs import outside_graphs

if TYPE_CHECKING:
    from linkwise.spatial.scalar import FloatArray


#: Rates by the order of a task.
RATES = ("velocities", "accelerations")

#: Finite substitute for no bound in derivatives: it is never reached, and times zero it is zero.
ENDLESS = 1e100

#: Squared singular values that differ by less, relative to the greatest, count as equal.
TIE = 1e-9

#: Weight of the internal motion relative to that of the frame: small, as it has second priority.
BESIDE = 1e-7

#: The library's value of no bound.
INFINITE = 1e30

#: The unit of the program, as a share of the rates that there would be without bounds, at least.
LEAST = 1e-6

#: By which share a polished answer may miss its conditions and still be the better one.
ROUNDING = 1e-9


def nearest_in_box(
    matrix: FloatArray,
    right: FloatArray,
    preferred: FloatArray,
    low: FloatArray,
    high: FloatArray,
    settings: FloatArray,
    basis: FloatArray | None = None,
) -> FloatArray:
    """The x (n,), itself or C x within bounds, with the least |A x - b|^2, damped as `FilteredInverse` does, nearest to z.

    min x' H x / 2 + f' x with H = V max(s, region)^2 V' by the singular values s of A, so that without bounds it is the
    filtered inverse's answer; the null space of A gets a small weight of its own. The dual active-set method of D. Arnström,
    A. Bemporad and D. Axehill, IEEE Trans. Automatic Control 67(8), 2022, finds which bounds hold; with these the answer
    is then computed again, to rounding.

    Parameters
    ----------
    matrix : (m, n) ndarray
        A.
    right, preferred : (m,) and (n,) ndarray
        b and z.
    low, high : (n,) or (k,) ndarray
        Bounds, infinite ones too.
    settings : (2,) ndarray
        Region and damping of all singular values.
    basis : (k, n) ndarray, optional
        C.

    Raises
    ------
    MissingExtraError
        Where the library daqp is not installed.
    """
    left, values, rows = np.linalg.svd(matrix, full_matrices=False)
    there = values > RANK * values[0]
    values, rows = values[there], rows[there]
    gains = np.sqrt(np.square(np.maximum(values, settings[0])) + settings[1] ** 2)
    task, wanted = gains[:, None] * rows, values / gains * (left.T[there] @ right)
    small = BESIDE * float(np.square(gains).max(initial=1.0))
    apart = np.eye(len(preferred)) - rows.T @ rows
    free = rows.T @ (wanted / gains) + apart @ preferred
    unit = _unit(free if basis is None else basis @ free, low, high)
    wanted, preferred, low, high = wanted / unit, preferred / unit, low / unit, high / unit
    hessian, linear = task.T @ task + small * apart, -(task.T @ wanted) - small * (apart @ preferred)
    point, held = _solved(hessian, linear, low, high, basis)
    if basis is not None:
        return unit * _polished_along(basis, point, held, task, wanted, preferred, low, high)
    return unit * _polished(point, held, task, wanted, preferred, low, high)


def _unit(free: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Scale of the solution, a power of two (exact in rounding), so that tolerances are relative."""
    most = max(float(np.abs(np.clip(free, low, high)).max()), LEAST * float(np.abs(free).max()))
    return float(2.0 ** np.ceil(np.log2(most))) if most else 1.0


def _solved(
    hessian: FloatArray, linear: FloatArray, low: FloatArray, high: FloatArray, basis: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Minimize a quadratic function in a box; return also the active bounds: low (-1) or high (1)."""
    daqp = quadratic_programs("limits='qp'")
    n = len(linear)
    fixed = low == high
    upper, lower = np.minimum(high, INFINITE), np.maximum(low, -INFINITE)
    x, _, flag, details = daqp.solve(
        hessian,
        linear,
        np.zeros((0, n)) if basis is None else basis,
        upper,
        lower,
        np.where(fixed, 5, 0).astype(np.int32),
        primal_tol=1e-10,
    )
    if flag == -1 and basis is not None:
        raise ArgumentError("limits is 'qp': no rates within the bounds keep the loops closed; expected wider bounds")
    if flag != 1:
        raise LinkwiseError(f"the quadratic program ended with the flag {flag} of daqp; expected 1, solved")
    return np.asarray(x if basis is not None else np.clip(x, low, high)), np.where(fixed, 1.0, np.sign(details["lam"]))


def _polished_along(
    basis: FloatArray,
    point: FloatArray,
    held: FloatArray,
    task: FloatArray,
    wanted: FloatArray,
    preferred: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """As `_polished`, if the bounds are those of the basis times the point."""
    rows = basis[held != 0]
    inverse = np.linalg.pinv(rows, rcond=ROUNDING)
    edge = np.where(held < 0, low, high)[held != 0]
    bounded = preferred + inverse @ (edge - rows @ preferred)
    free = np.eye(len(point)) - inverse @ rows
    bounded = bounded + free @ np.linalg.lstsq(task @ free, wanted - task @ bounded, rcond=ROUNDING)[0]
    size = ROUNDING * max(1.0, float(np.abs(bounded).max(initial=0.0)))
    values, slope = basis @ bounded, task.T @ (task @ bounded - wanted)
    slack = ROUNDING * float(np.abs(task).max(initial=0.0)) * max(1.0, float(np.abs(wanted).max(initial=0.0)))
    inside = np.all((values >= low - size) & (values <= high + size))
    pulls = held[held != 0] * (inverse.T @ slope)
    best = np.all((pulls <= slack) | (low == high)[held != 0])
    return np.asarray(bounded if inside and best else point)


def _polished(
    rates: FloatArray,
    held: FloatArray,
    task: FloatArray,
    wanted: FloatArray,
    preferred: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Recompute the solution with its active bounds exact, where it is still optimal.

    What the weight of the null space blurred goes with it.
    """
    bounded = np.where(held < 0, low, np.where(held > 0, high, preferred))
    free = task[:, held == 0]
    if free.shape[1]:
        bounded[held == 0] += np.linalg.lstsq(free, wanted - task @ bounded, rcond=ROUNDING)[0]
    slope = held * (task.T @ (task @ bounded - wanted))
    size = ROUNDING * max(1.0, float(np.abs(bounded).max()))
    slack = ROUNDING * float(np.abs(task).max(initial=0.0)) * max(1.0, float(np.abs(wanted).max(initial=0.0)))
    inside = np.all((bounded >= low - size) & (bounded <= high + size))
    best = np.all((slope <= slack) | (low == high))
    return np.asarray(np.clip(bounded, low, high)) if inside and best else rates


#: By which share of its bound a rate may pass it before a quadratic program is set up.
SLACK = 1e-12


def vectors(field: str, value: Any, n: int) -> FloatArray:
    """Finite numbers (..., n); arrays of other libraries as they are."""
    values = numbers(field, value, copy=False) if arrays.of("a task of joint rates", [value]) is None else value
    if tuple(values.shape[-1:]) != (n,):
        raise ArgumentError(f"{field} has the shape {tuple(values.shape)}; expected (..., {n})")
    return values


def solved(
    task: VelocityTask,
    states: tuple[FloatArray, ...],
    wanted: FloatArray,
    secondary: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    limits: str | None,
) -> VelocitySolution:
    """Compute rates for a batch of states and confirm them."""
    if limits == "qp":
        quadratic_programs("limits='qp'")
    low, high = bounds if limits else task.endless
    values = (*states, wanted, secondary, low, high)
    library = arrays.of(f"joint {RATES[task.order - 1]}", values)
    if library is None:
        rates, twists, diagnostics = _solved_rates(task, limits, *values)
    else:
        rates, twists, diagnostics = _rates_by(library, task, limits, values)
    fields = {"rates": rates, "achieved": twists, "diagnostics": diagnostics, "low": low, "high": high, "limits": limits}
    return VelocitySolution.of(task=task, states=states, q=states[0], wanted=wanted, secondary=secondary, **fields)


def _solved_rates(task: VelocityTask, limits: str | None, *values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rates, their twists and `DIAGNOSTICS`, for states, targets, secondary rates and bounds."""
    *states, wanted, secondary, low, high = values
    ends = (low, high) if limits == "scale" else task.endless
    results = task.solve(*states, wanted, task.shares, secondary, *ends, task.filter)
    if limits == "qp":
        _bounded(task, tuple(states), wanted, secondary, (low, high), results)
    return results


def _rates_by(library: Framework, task: VelocityTask, limits: str | None, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same of arrays of a library, with the derivatives of the kernel; with loops and quadratic programs without.

    The kernel's rotations are not known to change where two singular values are equal: there derivatives are infinite or
    NaN, unless the matrix does not change.
    """
    closed = isinstance(task, ClosedVelocityTask)
    if closed or limits == "qp":
        subject = f"joint {RATES[task.order - 1]} with {'loops closed' if closed else 'limits=' + repr(limits)}"
        if isinstance(library, DifferentiableFramework):
            values = tuple(library.without_derivatives(subject, value) for value in values)
        cores = ((task.mechanism.nq,), *((task.n,),) * (task.order - 1), (6,), *((task.n,),) * 3)
        signature = Signature(
            cores, ((task.n,), (6,), (len(DIAGNOSTICS),)), ("float64",) * 3, ("rates", "achieved", "diagnostics")
        )
        return library.map(partial(_solved_rates, task, limits), signature, values)
    *states, wanted, secondary, low, high = values
    ends = [
        np.clip(end, -ENDLESS, ENDLESS) if isinstance(end, np.ndarray) else end
        for end in ((low, high) if limits == "scale" else task.endless)
    ]
    arguments = (*states, wanted, task.shares, secondary, *ends, task.filter)
    rates, twists, diagnostics = library.of_kernel(task.kernel())(*arguments)
    if isinstance(library, DifferentiableFramework) and library.differentiates(values):
        jumps = _jumps_at_ties(library, task, states[0])
        rates, twists = (x + jumps for x in library.of_kernel(task.kernel(2))(*arguments))
        diagnostics = diagnostics + jumps
    return rates, twists, diagnostics


def _jumps_at_ties(library: DifferentiableFramework, task: VelocityTask, q: Any) -> Any:
    """Zeros (..., 1), see `linkwise.arrays.jumps`: where singular values of a task's matrix are equal and it changes."""
    jac = library.of_kernel(kernel_of(task.mechanism, "jacobian", None, {"link": task.link, "frame": task.frame}))(q)
    module = library.functions
    with library.placed(jac):
        unit, shares = (module.asarray(x, dtype=jac.dtype) for x in (task.unit[:, None], task.shares))
    matrix = jac[..., list(task.rows), :] * unit * shares
    other = module.swapaxes(matrix, -1, -2)
    gram = matrix @ other if len(task.rows) <= task.n else other @ matrix
    squares = module.linalg.eigvalsh(library.constant(gram))
    gaps = squares[..., 1:] - squares[..., :-1]
    ties = ((gaps <= TIE * squares[..., -1:]) & (squares[..., 1:] > RANK * squares[..., -1:])).any(-1)
    change = gram - library.constant(gram)
    flat = change.reshape(*change.shape[:-2], 1, change.shape[-1] ** 2)
    return arrays.jumps(module, flat, ties[..., None, None])


def _bounded(
    task: VelocityTask,
    states: tuple[FloatArray, ...],
    wanted: FloatArray,
    secondary: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    results: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Solve again, each by its quadratic program, where bounds are passed, in place."""
    rates, twists, diagnostics = results
    low, high = (np.broadcast_to(bound, rates.shape) for bound in bounds)
    passed = np.any((rates > high * (1.0 + SLACK)) | (rates < low * (1.0 + SLACK)), axis=-1)
    np.clip(rates, low, high, out=rates, where=~passed[..., None])
    if not passed.any():
        return
    batch = rates.shape[:-1]
    *some, asked, beside = (np.broadcast_to(part, (*batch, part.shape[-1]))[passed] for part in (*states, wanted, secondary))
    rates[passed] = _nearest(task, some, asked, beside, low[passed], high[passed])
    twists[passed] = motion_kernel(task.mechanism, task.order, task.link, task.frame)(*some, rates[passed])
    left = np.where(np.isin(np.arange(6), task.rows), twists[passed] - asked, 0.0)
    diagnostics[passed, :2] = 1.0, np.nan
    diagnostics[passed, 4], diagnostics[passed, 5] = (
        np.linalg.norm(left[:, :3], axis=-1),
        np.linalg.norm(left[:, 3:], axis=-1),
    )


def _nearest(
    task: VelocityTask, states: list[FloatArray], wanted: FloatArray, beside: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """The rates (k, n) of as many quadratic programs; joints of infinite weight rest."""
    if isinstance(task, ClosedVelocityTask):
        return _nearest_closed(task, states, wanted - _bias(task, states), beside, low, high)
    moves = np.isfinite(task.weights)
    shares = task.shares[moves]
    matrices = task.matrix(states[0])[..., moves]
    right = (wanted - _bias(task, states))[:, list(task.rows)] * task.unit
    low, high, beside = low[:, moves], high[:, moves], beside[:, moves]
    rates = np.zeros((len(right), task.n))
    for k, matrix in enumerate(matrices):
        box = nearest_in_box(matrix, right[k], beside[k] / shares, low[k] / shares, high[k] / shares, task.filter)
        rates[k, moves] = np.clip(box * shares, low[k], high[k])
    return rates


def _nearest_closed(
    task: ClosedVelocityTask,
    states: list[FloatArray],
    wanted: FloatArray,
    beside: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """The same with loops closed: rates are those of ``task.allowed``, of which each has its bounds."""
    moves = task.shares > 0.0
    shares = np.where(moves, task.shares, 1.0)
    least, most = (np.where(moves, bound / shares, edge) for bound, edge in ((low, -np.inf), (high, np.inf)))
    right = wanted[:, list(task.rows)] * task.unit
    rates = np.zeros((len(right), task.n))
    for k, (whole, start, basis) in enumerate(zip(*task.allowed(*states), strict=True)):
        preferred = basis.T @ (np.where(moves, beside[k], 0.0) / shares - start)
        bounds = least[k] - start, most[k] - start
        rates[k] = task.shares * (
            start + basis @ nearest_in_box(whole @ basis, right[k] - whole @ start, preferred, *bounds, task.filter, basis)
        )
    return rates


def _bias(task: VelocityTask, states: list[FloatArray]) -> FloatArray:
    """Acceleration of the frame at zero joint accelerations; zero for velocities."""
    if task.order == 1:
        return np.zeros(6)
    rate = kernel_of(task.mechanism, "jacobian_dot", None, {"link": task.link, "frame": task.frame})(states[0], states[1])
    return np.asarray((rate @ states[1][..., None])[..., 0])


def velocity_rows(mechanism: Tree, *, limits: str | None, **_: Any) -> dict[str, GraphOutput]:
    """Output declarations of a solution in graphs of `torch.compile`."""
    n, six, flag = (mechanism.nv,), (6,), GraphOutput(kind="bool")
    rows = {"rates": n, "achieved": six, "diagnostics": (len(DIAGNOSTICS),), "low": n, "high": n}
    return {name: GraphOutput(shape) for name, shape in rows.items()} | {"exact": flag, "saturated": GraphOutput(n, "bool")}


def velocities_in_graph(
    order: int, mechanism: Tree, tensors: dict[str, Any], options: dict[str, Any], **rows: Any
) -> VelocitySolution:
    """A solution within a graph."""
    solution = object.__new__(GraphVelocitySolution)
    rows |= {"task": _task(mechanism, order, tuple(options), *options.values()), "limits": options["limits"]}
    rows |= {"q": tensors["q"], "states": tuple([tensors[name] for name in ("q", "qd")[:order]])}
    rows |= {"wanted": tensors["twist" if order == 1 else "acceleration"]}
    rows |= {
        "secondary": tensors["secondary"] if "secondary" in tensors else rows["rates"].new_zeros(rows["rates"].shape[-1])
    }
    for name, value in rows.items():
        object.__setattr__(solution, name, value)
    return solution


@arrays.constant_in_graphs
def _task(mechanism: Tree, order: int, names: tuple[str, ...], *values: Any) -> VelocityTask:
    chosen = dict(zip(names, values, strict=True))
    parts = ("link", "frame", "mask", "damping", "region", "weights", "length")
    return rate_task(mechanism, order, *[chosen[part] for part in parts])


@arrays.in_graphs({"q": ("nq",), "twist": (6,), "secondary": ("nv",)}, velocity_rows, partial(velocities_in_graph, 1))
def joint_velocities(
    mechanism: Tree,
    q: npt.ArrayLike,
    twist: npt.ArrayLike,
    *,
    link: int | str = "tool",
    frame: str = "world",
    mask: npt.ArrayLike | None = None,
    damping: float | str | None = "auto",
    region: float = REGION,
    limits: str | None = "scale",
    qd_max: npt.ArrayLike | None = None,
    dt: float | None = None,
    secondary: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    length: float | None = None,
) -> VelocitySolution:
    """Joint velocities that give a frame a twist, or come nearest to it, with diagnostics.

    Away from singular positions they are exact. Near one only the direction that is being lost is damped; all others stay
    exact, and what is missing is reported. Bounds are kept, by slowing the whole motion or by a quadratic program.

    Parameters
    ----------
    mechanism : Mechanism
        Joints may follow others. Closed loops stay closed: of all rates that they allow these are the best. The number of
        velocities n is its nv: ball joints and what floats, a floating base too, turn and move in their own axes. Infinite
        `weights` of the base's six velocities hold it.
    q : (..., nq) array_like
        Configuration, rad or m; with loops closed.
    twist : (..., 6) array_like
        Velocity of the frame's origin, m/s, and angular velocity, rad/s, as `Mechanism.jacobian` orders them.
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.jacobian`.
    frame : {"world", "body"}
        In whose axes: the world's, or the frame's own.
    mask : (6,) array_like, optional
        1 for the components that count, 0 for what is left free. All count by default.
    damping : {"auto"} or float or None
        "auto": singular values s below `region` have the gain s / region^2 instead of 1 / s. A number: all have s / (s^2 +
        damping^2), the plain damped least squares, which are exact nowhere. None: none, only what is zero to rounding is
        left out.
    region : float
        How near to a singular position damping begins. No joint takes more than 1 / region times the frame's speed (for
        joints that weigh alike, angles over 1 rad and ways over `length` being compared).
    limits : {"scale", "qp", None}
        "scale": the whole motion is slowed by one factor until every joint keeps its bounds, so that the frame keeps its
        direction. "qp": speeds within the bounds that come nearest to the twist, not slowed (needs the extra ``qp``). None:
        bounds do not count.
    qd_max : (n,) array_like, optional
        Greatest speeds, rad/s or m/s; those of the mechanism (`Mechanism.qd_max`) by default.
    dt : float, optional
        Where given, s, no joint may go so fast that it would pass its position limits within this time. One that stands
        outside may come back, and is not driven back. Cones of ball joints do not count.
    secondary : (..., n) array_like, optional
        Joint speeds to be taken as far as the frame does not feel it. What bounds leave after the twist is theirs.
    weights : (n,) array_like, optional
        Of the squares of the speeds, in the sum that is least where many speeds give the twist; infinite for joints that
        must rest. By default 1, and 1 / length^2 for prismatic joints. How near a position is to singular is measured with
        them.
    length : float, optional
        Metres that count as much as one radian, both where a least residual is found and where it is judged what is nearly
        singular. By default the size of the mechanism, `linkwise.solve.lengths.characteristic_length`.

    Returns
    -------
    VelocitySolution
        Shaped as q and twist broadcast; a batch gives the same numbers as a loop. Its residuals are those of a forward pass
        of its own.

    Raises
    ------
    ArgumentError
        Naming the argument at fault; where loops are open or singular at q.
    MissingExtraError
        For ``limits="qp"`` without the library that it needs.

    Notes
    -----
    D. E. Whitney, "Resolved motion rate control of manipulators and human prostheses", IEEE Trans. Man-Machine Systems
    10(2), 1969, for the idea and for weights; A. Liégeois, "Automatic supervisory control of the configuration and behavior
    of multibody mechanisms", IEEE Trans. Systems, Man and Cybernetics 7(12), 1977, for the secondary motion; for the damping
    see `linkwise.inverse_kinematics.velocity.kernel`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> made = joint_velocities(arm, [0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.1, 0.0, -0.2, 0.0, 0.3, 0.0])
    >>> made.exact, made.damping, bool(abs(made.achieved - made.wanted).max() < 1e-12)
    (True, 0.0, True)
    >>> joint_velocities(arm, [0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.1, 0.0, -0.2, 0.0, 0.3, 0.0], qd_max=0.2)
    <VelocitySolution: slowed, scale 0.992>
    """
    require_numeric_tree(mechanism, "joint_velocities")
    task = rate_task(mechanism, 1, link, frame, mask, damping, region, weights, length)
    check_limits(limits)
    at, wanted = vectors("q", q, mechanism.nq), vectors("twist", twist, 6)
    beside = task.nothing if secondary is None else vectors("secondary", secondary, task.n)
    step = None if dt is None else positive("dt", dt)
    bounds = speed_bounds(task, at, qd_max, step)
    return solved(task, (at,), wanted, beside, bounds, limits)


@outside_graphs("velocity_step")
def velocity_step(
    mechanism: Tree,
    *,
    link: int | str = "tool",
    frame: str = "world",
    mask: npt.ArrayLike | None = None,
    damping: float | str | None = "auto",
    region: float = REGION,
    limits: str | None = "scale",
    qd_max: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    length: float | None = None,
) -> Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]:
    """Build a function of q and twist equal to `joint_velocities` without checks of its arguments.

    Parameters
    ----------
    mechanism : Mechanism
        Closed loops stay closed.
    link, frame, mask, damping, region, qd_max, weights, length
        As for `joint_velocities`.
    limits : {"scale", None}
        As for `joint_velocities`; quadratic programs are not compiled.

    Returns
    -------
    callable
        ``step(q, twist)`` gives qd (..., n), the twist achieved (..., 6), and the six numbers named by
        `linkwise.inverse_kinematics.velocity.kernel.DIAGNOSTICS` (..., 6). It is quickest for contiguous float64 vectors,
        and lets NaN through.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> step = velocity_step(robots.planar_2r(), mask=[1, 1, 0, 0, 0, 0])
    >>> qd, achieved, diagnostics = step(np.array([0.0, 1.5]), np.array([0.1, 0.2, 0.0, 0.0, 0.0, 0.0]))
    >>> achieved[:2].round(12).tolist(), float(diagnostics[0])
    ([0.1, 0.2], 1.0)
    """
    if limits not in ("scale", None):
        raise ArgumentError(f"limits is {shown(limits)}; expected 'scale' or None")
    task = rate_task(mechanism, 1, link, frame, mask, damping, region, weights, length)
    low, high = task.endless if limits is None else speed_bounds(task, task.nothing, qd_max, None)
    solve, shares, nothing, settings = task.solve, task.shares, task.nothing, task.filter

    def step(q: FloatArray, twist: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return solve(q, twist, shares, nothing, low, high, settings)

    return outside_graphs("velocity_step")(step)


@arrays.in_graphs(
    {"q": ("nq",), "qd": ("nv",), "acceleration": (6,), "secondary": ("nv",)},
    velocity_rows,
    partial(velocities_in_graph, 2),
)
def joint_accelerations(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    acceleration: npt.ArrayLike,
    *,
    link: int | str = "tool",
    frame: str = "world",
    mask: npt.ArrayLike | None = None,
    damping: float | str | None = "auto",
    region: float = REGION,
    limits: str | None = "scale",
    qdd_max: npt.ArrayLike | None = None,
    qd_max: npt.ArrayLike | None = None,
    dt: float | None = None,
    secondary: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    length: float | None = None,
) -> VelocitySolution:
    """Joint accelerations that give a frame an acceleration, or come nearest to it: J qdd = a - dJ/dt qd.

    Singular positions, masks, weights and the secondary motion are treated as by `joint_velocities`.

    Parameters
    ----------
    mechanism : Mechanism
        Closed loops stay closed, J qdd + dJ/dt qd = 0 of their equations: of all accelerations that they
        allow these are the best.
    q, qd : (..., nq), (..., n) array_like
        Configuration and velocities, n the mechanism's nv; with loops closed, and kept closed by the velocities.
    acceleration : (..., 6) array_like
        Of the frame's origin, m/s2, and angular, rad/s2: the derivative of the twist. In the frame's own axes ("body") that
        is the rate of the twist's components there, as with `Mechanism.jacobian_dot`.
    limits : {"scale", "qp", None}
        How `qdd_max` is kept. "scale": the acceleration asked for is reduced by one factor; that which the speeds alone
        bring is compensated for in full, and where the bounds do not allow even that, rates are cut and the residual shows
        it; those that keep loops closed are not.
        "qp": the accelerations within the bounds that come nearest.
    qdd_max : (n,) array_like, optional
        Greatest accelerations, rad/s2 or m/s2, both ways; those of the mechanism by default.
    qd_max : (n,) array_like, optional
        Greatest speeds, which count where `dt` is given; those of the mechanism by default.
    dt : float, optional
        Where given, s, no joint may accelerate so much that it would pass its greatest speed within this time. One that is
        faster brakes as hard as `qdd_max` lets it.
    link, frame, mask, damping, region, secondary, weights, length
        As for `joint_velocities`, `secondary` being accelerations.

    Returns
    -------
    VelocitySolution
        Shaped as q, qd and acceleration broadcast.

    Raises
    ------
    ArgumentError
        Naming the argument at fault; where loops are open or singular at q, or qd opens them.
    MissingExtraError
        For ``limits="qp"`` without the library that it needs.

    Notes
    -----
    J. Y. S. Luh, M. W. Walker and R. P. C. Paul, "Resolved-acceleration control of mechanical manipulators", IEEE Trans.
    Automatic Control 25(3), 1980.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm, q, qd = robots.puma560(), [0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.3, -0.2, 0.5, 0.1, -0.4, 0.2]
    >>> made = joint_accelerations(arm, q, qd, [0.0] * 6)
    >>> bias = arm.jacobian_dot(q, qd) @ qd
    >>> made.exact, bool(abs(arm.jacobian(q) @ made.qdd + bias).max() < 1e-12)
    (True, True)
    """
    require_numeric_tree(mechanism, "joint_accelerations")
    task = rate_task(mechanism, 2, link, frame, mask, damping, region, weights, length)
    check_limits(limits)
    n = task.n
    at, speed, wanted = vectors("q", q, mechanism.nq), vectors("qd", qd, n), vectors("acceleration", acceleration, 6)
    beside = task.nothing if secondary is None else vectors("secondary", secondary, n)
    step = None if dt is None else positive("dt", dt)
    bounds = acceleration_bounds(task, speed, qdd_max, qd_max, step)
    return solved(task, (at, speed), wanted, beside, bounds, limits)
