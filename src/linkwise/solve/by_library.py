"""Solve for constraints whose numbers are arrays of another library, with the derivatives of their equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.arrays import DifferentiableFramework, Framework, GraphOutput, Signature, constant_in_graphs, plain
from linkwise.arrays.implicit import implicit_function
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, ConstraintOfArrays, squared
from linkwise.solve.constraints.loop_closure import with_loops
from linkwise.solve.joint_limits import JointRanges
from linkwise.solve.problem import ConstraintProblem
from linkwise.solve.solution import DTYPES, REASONS, ROWS, GraphPrioritySolution, GraphSolution, Solution
from linkwise.spatial.scalar import Array, root


def _posed(R: Any, p: Any) -> Array:
    pose = np.eye(4, dtype=object)
    pose[:3, :3], pose[:3, 3] = R, p
    return pose.ravel()


#: Differentiable argument of each constraint, its shape, and the parameters (p,) computed from it.
ARGUMENTS: dict[str, tuple[str, tuple[int, ...], Callable[[Array], Array]]] = {
    "Pose": ("T", (4, 4), np.ravel),
    "Position": ("p", (3,), lambda p: _posed(np.eye(3), p)),
    "Orientation": ("R", (3, 3), lambda R: _posed(R, np.zeros(3))),
    "Aligned": ("direction", (3,), lambda direction: direction / root(squared(direction))),
    "LookAt": ("target", (3,), np.ravel),
    "CenterOfMass": ("p", (3,), np.ravel),
    "Coordinate": ("value", (), np.ravel),
    "Distance": ("value", (), lambda value: np.array([value, value]).ravel()),
}

#: Placeholder of the argument where its numbers do not matter.
EXAMPLES = {(4, 4): np.eye(4), (3, 3): np.eye(3), (3,): np.array([1.0, 0.0, 0.0]), (): np.zeros(())}


def solve_by(
    library: Framework,
    solve: Callable[..., Solution],
    mechanism: Tree,
    listed: Sequence[Constraint],
    q0: Any,
    **options: Any,
) -> Solution:
    """Solution whose rows are arrays of a library; with weights or priorities one of NumPy arrays."""
    known = [ARGUMENTS.get(c.constraint_type.__name__) if isinstance(c, ConstraintOfArrays) else None for c in listed]
    held = [(c, spec) for c, spec in zip(listed, known, strict=True) if isinstance(c, ConstraintOfArrays)]
    values = [array for c, _ in held for array in c.arrays.values()] + ([] if q0 is None else [q0])
    tracked = all(spec is not None and list(c.arrays) == [spec[0]] for c, spec in held)
    examples = [
        c.of_numbers([EXAMPLES[spec[1]]]) if isinstance(c, ConstraintOfArrays) and tracked and spec is not None else c
        for c, spec in zip(listed, known, strict=True)
    ]
    ranged = tracked and any(
        spec and c.task.shape[-1] != len(spec[2](EXAMPLES[spec[1]])) for c, spec in zip(examples, known, strict=True)
    )
    levelled = not tracked or ranged or any(c.level or c.weight is not None for c in examples)

    def run(*numbers: Any) -> Solution:
        remaining = iter(numbers)
        constraints = [
            c.of_numbers([next(remaining) for _ in c.arrays]) if isinstance(c, ConstraintOfArrays) else c for c in listed
        ]
        return solve(mechanism, constraints, q0=None if q0 is None else next(remaining), **options)

    def rows(*numbers: Any) -> tuple[Any, ...]:
        solution = run(*numbers)
        return tuple(np.asarray(getattr(solution, name), dtype) for name, dtype in zip(ROWS, DTYPES, strict=True))

    if levelled:
        if isinstance(library, DifferentiableFramework):
            subject = "solve with weights, priorities, ranges, or by arguments that are no targets,"
            values = [library.without_derivatives(subject, value) for value in values]
        return run(*map(plain, values))
    cores = (*(spec[1] for _, spec in held if spec is not None), *(() if q0 is None else ((mechanism.nq,),)))
    signature = Signature(cores, ((mechanism.nq,), *((),) * (len(ROWS) - 1)), DTYPES, ROWS)
    results = dict(zip(ROWS, library.map(rows, signature, values), strict=True))
    if isinstance(library, DifferentiableFramework) and library.differentiates(values):
        problem = ConstraintProblem(mechanism, with_loops(mechanism, examples))
        remaining = iter(values)
        parameters = [next(remaining) if isinstance(c, ConstraintOfArrays) else c.task for c in listed]
        kernel = _residual(mechanism, problem, [None if spec is None else spec[1:] for spec in known])
        determined = not (mechanism.loops or mechanism.manifold_joints)
        results["q"] = implicit_function(
            library, kernel, results["q"], parameters, results["success"], determined=determined
        )
    return Solution.of(**results, **dict(shared_fields(mechanism, options["limits"])), tol=options["tol"])


@constant_in_graphs
def shared_fields(mechanism: Tree, limits: bool = True) -> tuple[tuple[str, Any], ...]:
    """Fields of solutions that all of a batch share."""
    ranges = JointRanges.of(mechanism, limits=limits)
    return ("names", mechanism.names), ("limits", np.stack([ranges.low, ranges.high], axis=1))


def solution_rows(mechanism: Tree, **_: Any) -> dict[str, GraphOutput]:
    """Output declarations of a solution in graphs of `torch.compile`."""
    kinds = dict(zip(ROWS, DTYPES, strict=True)) | {"reason": tuple(REASONS)}
    return {name: GraphOutput((mechanism.nq,) if name == "q" else (), kind, name == "q") for name, kind in kinds.items()}


def solution_in_graph(mechanism: Tree, tensors: dict[str, Any], options: dict[str, Any], **rows: Any) -> GraphSolution:
    """A solution within a graph, of its `solution_rows`."""
    solution = object.__new__(GraphPrioritySolution if "levels" in rows else GraphSolution)
    fields = {**dict(shared_fields(mechanism, options["limits"])), "tol": options["tol"], "codes": rows.pop("reason")}
    if "levels" in rows:
        shapes = tuple([(name, tuple(tensor.shape)) for name, tensor in tensors.items()])
        fields["priorities"], fields["constraints"] = _described(mechanism, shapes, tuple(options), *options.values())
    for name, value in (*fields.items(), *rows.items()):
        object.__setattr__(solution, name, value.copy() if isinstance(value, np.ndarray) else value)
    return solution


def in_parts(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of an operator: of constraints each, or its class, which of its arguments are tensors, and the others."""
    parts = dict(arguments)
    constraints = parts.pop("constraints")
    for k, item in enumerate([constraints] if isinstance(constraints, Constraint) else constraints):
        place = f"constraints[{k}]"
        if isinstance(item, ConstraintOfArrays):
            others = {name: value for name, value in item.options.items() if name not in item.arrays}
            parts[place] = item.constraint_type, tuple(item.arrays), others
            parts.update({f"{place}.{name}": value for name, value in item.arrays.items()})
        else:
            parts[place] = item
    return parts


def _of_parts(parts: Mapping[str, Any]) -> tuple[list[Constraint], dict[str, Any]]:
    """The constraints, and other arguments."""
    constraints: list[Constraint] = []
    for place, part in parts.items():
        if place.startswith("constraints[") and place.endswith("]"):
            kind, names, others = part if isinstance(part, tuple) else (None, (), {})
            tensors = {name: parts[f"{place}.{name}"] for name in names}
            constraints.append(kind(**others, **tensors) if kind else part)
    return constraints, {name: part for name, part in parts.items() if not name.startswith("constraints[")}


def parts_inputs(mechanism: Tree, **parts: Any) -> dict[str, tuple[Any, ...]]:
    """Shapes of the arguments that may be tensors: targets of constraints, weights, and the start."""
    inputs: dict[str, tuple[Any, ...]] = {"q0": ("nq",)}
    for place, part in parts.items():
        if isinstance(part, tuple) and isinstance(part[0], type):
            inputs[f"{place}.weight"] = ()
            if part[0].__name__ in ARGUMENTS:
                name, shape, _numbers = ARGUMENTS[part[0].__name__]
                inputs[f"{place}.{name}"] = shape
    return inputs


def solve_parts(solve: Callable[..., Solution], mechanism: Tree, **parts: Any) -> Solution:
    """Solve for constraints `in_parts`."""
    constraints, options = _of_parts(parts)
    return solve(mechanism, constraints, **options)


def parts_rows(mechanism: Tree, **parts: Any) -> dict[str, GraphOutput]:
    """Output declarations of such a solution in graphs; with weights or priorities of a `PrioritySolution`."""
    shapes = tuple((name, part) for name, part in parts.items() if "]." in name)
    levels = _described(mechanism, shapes, tuple(parts), *parts.values())[0]
    if not len(levels):
        return solution_rows(mechanism)
    each = (len(np.unique(levels)),)
    rows = {
        "constraint_errors": GraphOutput((len(levels), 2), differentiable=False),
        "levels": GraphOutput(each, differentiable=False),
        "at_rest": GraphOutput(each, "bool"),
    }
    return solution_rows(mechanism) | rows


@constant_in_graphs
def _described(
    mechanism: Tree, shapes: tuple[tuple[str, Any], ...], names: tuple[str, ...], *parts: Any
) -> tuple[npt.NDArray[np.intp], tuple[str, ...]]:
    """The priorities of constraints, none where none has a priority or weight, and the constraints in words."""
    examples = {
        name: np.broadcast_to(next((EXAMPLES[core] for core in (shape[-2:], shape[-1:]) if core in EXAMPLES), 1.0), shape)
        for name, shape in shapes
    }
    listed = with_loops(mechanism, _of_parts({**dict(zip(names, parts, strict=True)), **examples})[0])
    levelled = any(c.level or c.weight is not None for c in listed)
    levels = np.array([c.level for c in listed] if levelled else [], dtype=np.intp)
    return levels, tuple(map(repr, listed))


def _residual(mechanism: Tree, problem: ConstraintProblem, specs: Sequence[Any]) -> Kernel:
    """The residual r (m,) of constraints, a function of q and of the argument of each, or of its numbers."""
    shapes = [(count,) if spec is None else spec[0] for spec, count in zip(specs, problem.counts, strict=False)]

    def residual(q: Array, *arguments: Array) -> Array:
        view = Configuration(mechanism, q)
        numbers = [x if spec is None else spec[1](x) for spec, x in zip(specs, arguments, strict=True)]
        pairs = zip(problem.constraints[: len(numbers)], numbers, strict=True)
        return problem.stacked([c.equations(view, p) for c, p in pairs], exact=True)[0]

    def make() -> Kernel:
        count = len(residual(mechanism.neutral, *[np.zeros(shape) + EXAMPLES.get(shape, 0.0) for shape in shapes]))
        inputs = {"q": (mechanism.nq,), **{f"x{k}": shape for k, shape in enumerate(shapes)}}
        return Kernel(trace(residual, "constraint_residual", inputs, {"r": (count,)}))

    return mechanism.memo("solve", ("residual", *(c.key for c in problem.constraints), *map(str, shapes)), make)
