"""Functions of a mechanism within `torch.compile`: the numbers of the same calls outside, their gradients, and texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from linkwise import Coordinate, Position, Trajectory, Wrench, robots, simulate
from linkwise.arrays.graph import GraphOutput, _Constant
from linkwise.clearance import clearance
from linkwise.inverse_kinematics import (
    Solutions,
    manipulability_gradient,
    newton_raphson,
    numeric_solutions,
    towards_middle,
    velocity_step,
)
from linkwise.inverse_kinematics.by_library import all_solutions_in_rows
from linkwise.inverse_kinematics.path_branches import PathBranches

#: (torch itself warns of what it uses of its own)
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit", "ignore::DeprecationWarning:torch")

ARM, PLANAR, LINKAGE = robots.puma560(), robots.planar_3r(), robots.four_bar()
TWO = robots.planar_2r()
LOCKED = robots.panda().lock({f"link{k}": 0.0 for k in (1, 2, 3, 5)})
Q = np.array([[0.3, 0.8, -0.5], [-1.0, 0.4, 0.9]])
PLANE, PUSH = [1, 1, 0, 0, 0, 0], Wrench([1.0, 2.0, 0.0])
TWIST = [0.1, 0.2, 0.0, 0.0, 0.0, 0.0]
REACHED = ARM.forward_kinematics(ARM.random_configuration(1, 2))
PATH = ARM.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2] + np.linspace(0.0, 0.2, 3)[:, None])
FAR = np.array(PATH)
FAR[2, 0, 3] += 9.0
SPOTS = PLANAR.forward_kinematics(Q)[:, :3, 3] * [[0.9], [5.0]]

#: Of q (2, 3), poses (2, 4, 4), a path (3, 4, 4) and points (2, 3).
CALLS: dict[str, Callable[..., Any]] = {
    "joint_velocities": lambda q, *_: PLANAR.joint_velocities(
        q, TWIST, mask=PLANE, qd_max=0.1, dt=0.5, secondary=0.1 * q, damping=None
    ),
    "joint_accelerations": lambda q, *_: PLANAR.joint_accelerations(q, 0.3 * q, np.array(TWIST), mask=PLANE),
    "manipulability_gradient": lambda q, *_: manipulability_gradient(PLANAR, q, mask=PLANE),
    "towards_middle": lambda q, *_: towards_middle(LOCKED, q),
    "static_equilibrium": lambda q, *_: PLANAR.static_equilibrium(HANGING, q, external=PUSH),
    "static_equilibrium of narrow numbers": lambda q, *_: PLANAR.static_equilibrium(q.float()),
    "spatial_operators": lambda q, *_: TWO.spatial_operators(q[:, :2]),
    "spatial_operators of narrow numbers": lambda q, *_: TWO.spatial_operators(q[:, :2].float()),
    "all_inverse_kinematics": lambda q, T, *_: ARM.all_inverse_kinematics(T),
    "newton_raphson": lambda q, T, *_: newton_raphson(ARM, T, [0.1, 0.8, -2.0, 0.3, 0.5, 0.2]),
    "follow_path": lambda q, T, path, spots: ARM.follow_path(path, s=[0, 1, 3]),
    "solve": lambda q, T, path, spots: PLANAR.solve([Position("tool", spots, mask=PLANE[:3]), Coordinate("link3", 0.2)]),
    "solve from a start": lambda q, *_: PLANAR.solve(TARGET, q0=q),
}
HANGING = [-1.0, 0.3, 0.2]
TARGET = Position("tool", [1.0, 0.5, 0.0], mask=[1, 1, 0])


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


#: The field of each result whose gradient is compared.
FIELDS = dict.fromkeys(CALLS, "q") | dict.fromkeys(("joint_velocities", "joint_accelerations"), "rates")
FIELDS |= dict.fromkeys(("spatial_operators", "spatial_operators of narrow numbers"), "psi")


@cache
def outcomes(name: str) -> tuple[Any, Any, list[Any]]:
    """What a call returns in a graph, and outside; and the gradients of both, None where it depends on nothing."""
    torch, call = pytest.importorskip("torch"), CALLS[name]
    torch.compiler.reset()
    results, slopes = [], []
    for run in (torch.compile(call, fullgraph=True, backend="aot_eager"), call):
        tensors = [torch.tensor(x, requires_grad=True) for x in (Q, REACHED, FAR, SPOTS)]
        results.append(run(*tensors))
        value = getattr(results[-1], FIELDS[name], results[-1])
        if value.requires_grad:
            value.nansum().backward()
        slopes.append([x.grad for x in tensors])
    return *results, slopes


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_those_of_the_same_call(name: str) -> None:
    """To the last bit, for the same function computes them."""
    graph, eager, slopes = outcomes(name)
    fields = {"": eager} if hasattr(eager, "dtype") else vars(eager)
    tensors = {field: wanted for field, wanted in fields.items() if hasattr(wanted, "detach")}
    for field, wanted in tensors.items():
        value = getattr(graph, field) if field else graph
        assert value.dtype == wanted.dtype, field
        assert np.array_equal(value.detach(), wanted.detach(), equal_nan=value.is_floating_point()), field
    assert tensors
    for slope, wanted in zip(*slopes, strict=True):
        zero = np.zeros(())
        pair = (zero if x is None else np.asarray(x) for x in (slope, wanted))
        assert np.array_equal(*np.broadcast_arrays(*pair), equal_nan=True)


@pytest.mark.parametrize("name", ["joint_velocities", "joint_accelerations", "newton_raphson", "solve"])
def test_reasons_are_there_outside_of_the_graph(name: str) -> None:
    graph, eager, _ = outcomes(name)
    assert np.array_equal(graph.reason, eager.reason)
    assert [graph.explain(k) for k in (0, 1)] == [eager.explain(k) for k in (0, 1)]
    assert repr(graph) == repr(eager).replace("<", "<Graph")


def test_words_of_lists_are_there_outside_of_the_graph() -> None:
    graph, eager, _ = outcomes("all_inverse_kinematics")
    assert np.array_equal(graph.reason, eager.reason)
    assert np.array_equal(graph.configuration["elbow"], eager.configuration["elbow"])
    way, known, _ = outcomes("follow_path")
    assert isinstance(way, PathBranches)
    assert (way.breaks, way.explain(), bool(way.success)) == (known.breaks, known.explain(), False)
    assert (way.chosen.tolist(), way.s.tolist(), float(way.travel)) == (known.chosen.tolist(), [0, 1, 3], known.travel)


def test_results_are_those_of_the_caller(torch: Any) -> None:
    """What is written to them is not there at the next call, constants neither."""
    graph = torch.compile(
        lambda q: (TWO.spatial_operators(q[:, :2]).H, PLANAR.solve(TARGET, q0=q, limits=True).limits),
        fullgraph=True,
        backend="eager",
    )
    first = graph(torch.tensor(Q))
    kept = [x.tolist() for x in first]
    for array in first:
        array[:] = 7.0
    assert [x.tolist() for x in graph(torch.tensor(Q))] == kept


def test_constraints_with_priorities(torch: Any) -> None:
    """They have no derivatives, which the gradient says, not the call."""

    def solve(p: Any, weight: Any) -> Any:
        return PLANAR.solve([Position("tool", p, mask=[1, 1, 0]), Coordinate("link3", 0.2, weight=weight)])

    spots = torch.tensor(SPOTS)
    graph = torch.compile(solve, fullgraph=True, backend="aot_eager")
    solution, wanted = (call(spots.requires_grad_(), torch.tensor(2.0)) for call in (graph, without_gradients(torch, solve)))
    for field in ("q", "success", "position_error", "constraint_errors", "levels", "at_rest", "priorities", "iterations"):
        assert np.array_equal(*(np.asarray(getattr(x, field).tolist()) for x in (solution, wanted))), field
    assert (solution.constraints, solution.explain(1)) == (wanted.constraints, wanted.explain(1))
    with pytest.raises(Exception, match=r"solve with weights, priorities, ranges.* has no derivatives by torch"):
        solution.q.sum().backward()


def without_gradients(torch: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: call(*(x.detach() for x in args))


def test_sizes_and_transformations_within_a_graph(torch: Any) -> None:
    """Of any batch, and with derivatives of a second order and in forward mode, to a few roundings."""
    from torch.func import grad, jacfwd, vmap

    def rates(q: Any) -> Any:
        return q * towards_middle(LOCKED, q)

    def both(q: Any) -> Any:
        def slope(q: Any) -> Any:
            return grad(lambda q: rates(q).square().sum())(q).square().sum()

        return vmap(rates)(q), grad(slope)(q), jacfwd(rates)(q[0])

    graph = torch.compile(both, fullgraph=True, dynamic=True, backend="aot_eager")
    for rows in (2, 3):
        q = torch.linspace(-1.0, 1.0, 3 * rows, dtype=torch.float64).reshape(rows, 3)
        for value, wanted in zip(graph(q), both(q), strict=True):
            assert (value - wanted).abs().max() <= 1e-13 * wanted.abs().max()


def test_numbers_and_sizes_that_change(torch: Any) -> None:
    """The compiler takes them for symbols when it meets the second ones: in a tuple too, and of shapes that do not fit."""
    torch.compiler.reset()
    graph = torch.compile(lambda q, dt: simulate(PLANAR, q, q, t=(0.01, dt)).q, fullgraph=True, backend="eager")
    for rows, step in ((1, 1e-3), (2, 2e-3), (2, 5e-3)):
        q = torch.tensor(Q)[:rows]
        assert torch.equal(graph(q, step), simulate(PLANAR, q, q, t=(0.01, step)).q)
    with pytest.raises(Exception, match=r"q0 has the shape \(2, 2\); expected \(\.\.\., 3\)"):
        graph(q[:, :2], 1e-3)


def test_solutions_beyond_the_rows_are_left_out(torch: Any) -> None:
    """The nearest stay, and what is left out is not passed over in silence."""
    q = torch.arange(2.0 * 10 * 6, dtype=torch.float64).reshape(2, 10, 6)
    flags = torch.tensor([True, True])

    def solver(*_: Any, **__: Any) -> Solutions:
        return Solutions(q, torch.tensor([10, 8]), flags, unreachable=~flags, cause=torch.zeros(2))

    options = {"link": "tool", "limits": True, "starts": 200, "method": "auto"}
    solutions = all_solutions_in_rows(solver, ARM, torch.tensor(REACHED), **options)
    assert torch.equal(solutions.q, q[:, :8])
    assert (solutions.count.tolist(), solutions.complete.tolist()) == ([8, 8], [False, True])
    assert solutions.reason.tolist() == ["rows", "complete"]
    some = all_solutions_in_rows(
        partial(numeric_solutions, tol=1e-9), ARM, torch.tensor(REACHED[0]), link="tool", limits=True, starts=6
    )
    assert some.q.shape == (7, 6)
    assert len(some) == len(list(some)) == len(np.asarray(some)) < 7
    with pytest.raises(IndexError):
        some[6]


def test_an_output_that_is_not_used_adds_nothing(torch: Any) -> None:
    """The slope of a root at 0 is infinite, and times zero no number."""
    from linkwise.arrays.traced_function import TracedFunction, row

    shapes = {"x": (1,)}
    function = TracedFunction("f", shapes, {"y": (1,), "z": (1,)}, lambda x: (2.0 * x, x.sqrt()))
    zero, one = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    slope = function.product("vjp", ("x",))
    assert [slope(zero, *bars)[0].item() for bars in ((one, zero), (zero, one), (zero, zero))] == [2.0, np.inf, 0.0]
    assert slope.product("vjp", ("vjp_y",))(zero, zero, zero, one)[0].item() == 2.0
    with pytest.raises(ValueError, match=r"f: x has the shape \(2,\); expected \(\.\.\., 1\)"):
        function(np.zeros(2))
    assert row(SimpleNamespace(x=0.1), "x", GraphOutput(), (), [one]).item() == 0.1  # (no float32 in between)
    text = row(SimpleNamespace(word=np.array(["b", "a"])), "word", GraphOutput(kind=("a", "b")), (2,), [one])
    assert text.tolist() == [1.0, 0.0]
    assert row(SimpleNamespace(word=None), "word", GraphOutput(kind=("a", "b")), (2,), [one]).tolist() == [-1.0, -1.0]


def test_arguments_are_told_apart() -> None:
    """Objects by their identity: what is printed of arrays is rounded."""
    near, nearer = Wrench([1.0, 0.0, 0.0]), Wrench([1.0 + 1e-12, 0.0, 0.0])
    values = [1, 1.0, True, "1", None, [1, 2], {"a": 1}, {"a": 1.0}, near, nearer, [near], np.float64(1.0)]
    keys = [_Constant.of(value) for value in values]
    assert [keys.index(_Constant.of(value)) for value in values] == list(range(len(values)))
    assert len(set(keys)) == len(keys)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a batch": (lambda q: ARM.inverse_kinematics(q.new_zeros(5, 4, 4), q0=q.new_zeros(2, 6)), r"T \(5,\), q0 \(2,\)"),
    "a batch of a kernel": (
        lambda q: PLANAR.gravity_torque(q) + PLANAR.coriolis_matrix(q, q.new_zeros(3, 3)),
        r"q \(2,\), qd \(3,\)",
    ),
    "a shape": (
        lambda q: PLANAR.spatial_operators(q[:, :2]),
        r"spatial_operators: q has the shape \(2, 2\); expected \(\.\.\., 3\)",
    ),
    "whole numbers": (lambda q: PLANAR.static_equilibrium(q.long()), "static_equilibrium: q0 holds int64; expected float32"),
    "a tensor as option": (
        lambda q: PLANAR.joint_velocities(q, TWIST, weights=q[0]),
        "joint_velocities: weights is a Tensor",
    ),
    "an array as option": (
        lambda q: PLANAR.joint_velocities(q, TWIST, mask=np.ones(6)),
        "joint_velocities: mask is a ndarray",
    ),
    "a word": (lambda q: PLANAR.joint_velocities(q, TWIST, limits="hard"), "limits is 'hard'; expected 'scale', 'qp'"),
    "a tensor in a mapping": (
        lambda q: ARM.all_inverse_kinematics(q.new_zeros(4, 4), fixed={"link6": q[0, 0]}),
        "fixed is a dict",
    ),
    "redundancy": (lambda q: ARM.all_inverse_kinematics(q.new_zeros(4, 4), redundancy=3), "with redundancy is not part of"),
    "a law": (lambda q: simulate(PLANAR, q, t=(0.1, 0.01), torque=lambda t, q, qd: -qd), "torque is a function"),
    "no tensor": (lambda q: PLANAR.solve(Position("tool", [1.0, 0.5, 0.0])).q + q, "solve: there is no tensor among"),
    "a bound of tensors": (
        lambda q: PLANAR.solve(Position("tool", lower=q[0])),
        r"solve: constraints\[0\].lower is a Tensor",
    ),
    "an argument twice": (lambda q: PLANAR.solve(Position(q[0], link="tool")), "multiple values for argument 'link'"),
    "an array twice": (lambda q: towards_middle(LOCKED, q, q=q), r"towards_middle\(\): multiple values for argument 'q'"),
    "too many": (lambda q: simulate(PLANAR, q, q, None, (0.1, 0.01)), r"simulate\(\): too many positional arguments"),
    "too few": (lambda q: PLANAR.joint_velocities(q), r"missing a required argument: 'twist'"),  # noqa: PLW0108
    "another": (lambda q: PLANAR.joint_velocities(q, TWIST, start=q), "got an unexpected keyword argument 'start'"),
    "solutions beside": (
        lambda q: ARM.follow_path(q.new_zeros(3, 4, 4)).branch,
        "what follow_path lists beside the way is not",
    ),
    "texts": (lambda q: PLANAR.joint_velocities(q, TWIST).reason, "texts for instance, is not part of a graph"),
    "breaks": (lambda q: ARM.follow_path(q.new_zeros(3, 4, 4)).breaks, "texts for instance, is not part of a graph"),
    "a wrench": (
        lambda q: PLANAR.gravity_torque(q) + Wrench(q[0]).vector,
        "a function of arrays of NumPy is not part of a graph",
    ),
    "labels": (lambda q: ARM.configuration_labels(q), "configuration_labels is not part of a graph"),  # noqa: PLW0108
    "a method": (lambda q: PLANAR.mobility(q), "mobility is not part of a graph"),  # noqa: PLW0108
    "a function": (lambda q: clearance(PLANAR, q), "is not part of a graph"),
    "a step": (lambda q: velocity_step(PLANAR)(q, q), "velocity_step is not part of a graph"),
    "loops": (lambda q: LINKAGE.reduced_mass_matrix(q, ["crank"]), "reduced_mass_matrix is not part of a graph"),
    "modes with loops": (lambda q: LINKAGE.modes(q), "is not part of a graph"),  # noqa: PLW0108
    "a trajectory": (lambda q: Trajectory([0.0, 1.0], q).q, "is not part of a graph"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_named(name: str, torch: Any) -> None:
    call, message = REFUSED[name]
    torch.compiler.reset()
    with pytest.raises(Exception, match=message):  # (the compiler wraps an ArgumentError in one of its own)
        torch.compile(call, fullgraph=True, backend="eager")(torch.tensor(Q))


def test_outside_of_whole_graphs_the_graph_breaks(torch: Any) -> None:
    """Texts are computed between two graphs then."""
    graph = torch.compile(lambda q: PLANAR.joint_velocities(2.0 * q, TWIST, mask=PLANE).reason, backend="eager")
    assert graph(torch.tensor(Q)).tolist() == ["met", "met"]
