"""Straight-line code of large mechanisms in blocks: what would be the longest part of it is a loop.

The derivatives of forward dynamics are those of inverse dynamics times the inverse of M. On a floating base that inverse has
no zeros: of a humanoid with 64 velocities the products are six sevenths of all operations. They are solutions by the factor
of M, whose zeros are those of the tree, in loops over its rows and columns (`linkwise.kernel.looped.LinearSolve`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from linkwise import algorithm
from linkwise.algorithm import Algorithm
from linkwise.dynamics.derivatives import equations_of_motion, slopes_of_efforts
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.kernel import Kernel
from linkwise.kernel.backends.llvm import loaders, processor
from linkwise.kernel.backends.llvm.written_out import SPACE, space
from linkwise.kernel.looped import LinearSolve, LoopedProgram, ProgramLayout, Size, TableLayout, WrittenOut
from linkwise.kernel.tape import Shape, trace
from linkwise.looped.kernel import BODIES, LoopedKernel, body_count, code_by_key, looped_kernel, refused
from linkwise.model.tree import Tree, unshared
from linkwise.sweeps.tables import shapes_of

#: Algorithms that are compiled in blocks.
IN_BLOCKS = ("forward_dynamics_derivatives", "forward_dynamics_external_derivatives")


def chosen_kernel(tree: Tree, declared: Algorithm, options: Mapping[str, Any], tier: str | None) -> Kernel | None:
    """The kernel that has loops, over bodies or in blocks; None where all of it is to be straight-line code.

    Raises
    ------
    ArgumentError
        Where a loop over bodies is asked for that there cannot be: why.
    """
    if tier != "straight":
        return looped_kernel(tree, declared, options, tier)
    if declared.name not in IN_BLOCKS or len(tree.links) + tree.floating < BODIES:
        return None
    if not loaders.usable() or tree.coupled or refused(tree, declared, options) or body_count(tree) < BODIES:
        return None
    check_inertia(tree)
    return BlockKernel(tree, declared, options)


class BlockKernel(LoopedKernel):
    """A kernel of straight-line code in blocks; its `tape` is that of all of it, traced when something asks for it.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    declared : Algorithm
        What to compute.
    options : mapping of str to object
        The options of the algorithm that are not what they are by default.
    """

    tier = "straight"

    def __init__(self, tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> None:
        chosen = dict(options)
        key = algorithm.key_of(tree, declared, chosen)
        alone = tree.memo("kernel", "alone", lambda: unshared(tree))
        code = code_by_key(
            key and processor.machine_key(key, "blocks"), partial(_blocks, alone, declared, chosen), apart=False
        )
        super().__init__(tree, declared, options, code)


def _blocks(tree: Tree, declared: Algorithm, options: dict[str, Any]) -> LoopedProgram:
    """M and what accelerates; the acceleration; the derivatives of inverse dynamics there; the solutions."""
    single = options.get("wrenches") is None
    inputs, outputs = (shapes_of(shapes, single=single) for shapes in (declared.inputs, declared.outputs))
    by_q, by_qd, inverse = outputs
    effort = list(inputs)[2]
    n, state = (tree.nv,), declared.shapes(tree, declared.inputs, options)
    first = trace(partial(equations_of_motion, tree, **options), "equations_of_motion", state, {"M": 2 * n, "qdd": n})
    moving: dict[str, Shape] = {("qdd" if name == effort else name): shape for name, shape in state.items()}
    then = trace(partial(slopes_of_efforts, tree, **options), "slopes_of_efforts", moving, {by_q: 2 * n, by_qd: 2 * n})
    temporaries: dict[str, tuple[Size, ...]] = {"M": ("nv", "nv"), "qdd": ("nv",), SPACE: (space([first, then]),)}
    layout = ProgramLayout(declared.name, inputs, outputs, temporaries, ("M", by_q, by_qd), {"bodies": TableLayout(0, 0)})
    solutions = ((by_q, "negative solve"), (by_qd, "negative solve"), (inverse, "inverse"))
    phases = (
        WrittenOut(first),
        LinearSolve("M", (("qdd", "solve vector"),)),
        WrittenOut(then),
        LinearSolve("M", solutions, factorised=True),
    )
    return LoopedProgram.of(layout, phases)
