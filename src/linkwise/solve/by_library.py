"""Solve for constraints whose numbers are arrays of another library, with the derivatives of their equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.arrays import DifferentiableFramework, Framework, Output, Signature, constant_in_graphs, plain
from linkwise.arrays.implicit import implicit_function
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, ConstraintOfArrays, squared
from linkwise.solve.problem import ConstraintProblem
from linkwise.solve.solution import DTYPES, REASONS, ROWS, GraphSolution, Solution
from linkwise.spatial.scalar import Array, root


def _posed(R: Any, p: Any) -> Array:
    pose = np.eye(4, dtype=object)
    pose[:3, :3], pose[:3, 3] = R, p
    return pose.ravel()


#: Of constraints the argument by which solutions are differentiated, its shape, and the numbers (p,) that follow from it.
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

#: What stands for the argument where its numbers do not matter.
EXAMPLES = {(4, 4): np.eye(4), (3, 3): np.eye(3), (3,): np.array([1.0, 0.0, 0.0]), (): np.zeros(())}


def solve_by(
    library: Framework,
    solve: Callable[..., Solution],
    complete: Callable[[Tree, Sequence[Constraint]], list[Constraint]],
    mechanism: Tree,
    listed: Sequence[Constraint],
    q0: Any,
    **options: Any,
) -> Solution:
    """A solution whose rows are arrays of a library; of weights and priorities one of NumPy arrays."""
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
        problem = ConstraintProblem(mechanism, complete(mechanism, examples))
        remaining = iter(values)
        parameters = [next(remaining) if isinstance(c, ConstraintOfArrays) else c.task for c in listed]
        kernel = _residual(mechanism, problem, [None if spec is None else spec[1:] for spec in known])
        determined = not (mechanism.loops or mechanism.manifold_joints)
        results["q"] = implicit_function(
            library, kernel, results["q"], parameters, results["success"], determined=determined
        )
    return Solution.of(**results, names=mechanism.names, tol=options["tol"])


def solution_rows(mechanism: Tree, **_: Any) -> dict[str, Output]:
    """What a solution has in graphs of `torch.compile`."""
    kinds = dict(zip(ROWS, DTYPES, strict=True)) | {"reason": tuple(REASONS)}
    return {name: Output((mechanism.nq,) if name == "q" else (), kind) for name, kind in kinds.items()}


def solution_in_graph(mechanism: Tree, tensors: dict[str, Any], options: dict[str, Any], **rows: Any) -> GraphSolution:
    """A solution within a graph, of its `solution_rows`."""
    solution = object.__new__(GraphSolution)
    rows |= {"codes": rows.pop("reason"), "names": _names(mechanism), "tol": options.get("tol", 1e-9)}
    for name, value in rows.items():
        object.__setattr__(solution, name, value)
    return solution


@constant_in_graphs
def _names(mechanism: Tree) -> tuple[str, ...]:
    return mechanism.names


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
