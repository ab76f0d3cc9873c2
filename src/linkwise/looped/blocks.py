"""Straight-line code of large mechanisms in blocks, the longest part of it replaced by a loop.

The derivatives of forward dynamics are those of inverse dynamics times the inverse of M. On a floating base that inverse has
no zeros: of a humanoid with 64 velocities the products are six sevenths of all operations. They are solutions by the factor
of M, whose zeros are those of the tree, in loops over its rows and columns (`linkwise.kernel.looped.LinearSolve`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any

from linkwise import algorithm
from linkwise.algorithm import Algorithm
from linkwise.dynamics.derivatives import motion_and_slopes
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.kernel import Kernel
from linkwise.kernel.backends.llvm import loaders, processor
from linkwise.kernel.backends.llvm.written_out import SPACE, space
from linkwise.kernel.looped import LinearSolve, LoopedProgram, ProgramLayout, Size, StraightLine, TableLayout
from linkwise.kernel.tape import Instruction, Shape, Tape, trace, without_collection
from linkwise.looped.composition import COMPOSITIONS, composed_kernel
from linkwise.looped.kernel import LoopedKernel, code_by_key, is_large, looped_kernel, refused
from linkwise.model.tree import Tree, unshared
from linkwise.sweeps.tables import shapes_of

#: Algorithm compiled in blocks.
NAME = "forward_dynamics_derivatives"


def chosen_kernel(tree: Tree, declared: Algorithm, options: Mapping[str, Any], tier: str | None) -> Kernel | None:
    """The kernel that has loops, over bodies or in blocks; None where all of it is to be straight-line code.

    Raises
    ------
    ArgumentError
        Where a loop over bodies is asked for that there cannot be: why.
    """
    if tier != "straight":
        make = composed_kernel if declared.name in COMPOSITIONS else looped_kernel
        return make(tree, declared, options, tier)
    if declared.name != NAME or not is_large(tree, NAME):
        return None
    if not loaders.usable() or tree.coupled or refused(tree, declared, options):
        return None
    check_inertia(tree)
    return BlockKernel(tree, declared)


class BlockKernel(LoopedKernel):
    """A kernel of straight-line code in blocks; its `tape` is that of all of it, traced when something asks for it.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    declared : Algorithm
        The derivatives of forward dynamics.
    """

    tier = "straight"

    def __init__(self, tree: Tree, declared: Algorithm) -> None:
        key = algorithm.key_of(tree, declared, {})
        alone = tree.memo("kernel", "alone", lambda: unshared(tree))
        kept = key and processor.machine_key(key, "blocks")
        super().__init__(tree, declared, {}, code_by_key(kept, partial(_blocks, alone, declared), apart=False))


@without_collection()
def _blocks(tree: Tree, declared: Algorithm) -> LoopedProgram:
    """M and the efforts that accelerate; the acceleration; the derivatives of inverse dynamics there; the solutions."""
    inputs, outputs = (shapes_of(shapes, single=True) for shapes in (declared.inputs, declared.outputs))
    by_q, by_qd, inverse = outputs
    n, state = (tree.nv,), declared.shapes(tree, declared.inputs)
    known = {"M": 2 * n, "efforts": n, by_q: 2 * n, by_qd: 2 * n}
    whole = trace(partial(motion_and_slopes, tree), declared.name, {**state, SOLVED: n}, known)
    before, after = cut(whole, ("M", "efforts"))
    before = replace(before, outputs={SOLVED if name == "efforts" else name: of for name, of in before.outputs.items()})
    temporaries: dict[str, tuple[Size, ...]] = {"M": ("nv", "nv"), SOLVED: ("nv",), CARRIED: before.outputs[CARRIED]}
    temporaries[SPACE] = (space([before, after]),)
    layout = ProgramLayout(declared.name, inputs, outputs, temporaries, ("M", by_q, by_qd), {"bodies": TableLayout(0, 0)})
    solutions = ((by_q, "negative solve"), (by_qd, "negative solve"), (inverse, "inverse"))
    phases = (
        StraightLine(before),
        LinearSolve("M", ((SOLVED, "solve vector"),)),
        StraightLine(after),
        LinearSolve("M", solutions, factorised=True),
    )
    return LoopedProgram.of(layout, phases)


#: Arrays of the intermediate solution, and of the values passed between the parts of a tape.
SOLVED, CARRIED = "qdd", "carried"


def cut(tape: Tape, early: Sequence[str]) -> tuple[Tape, Tape]:
    """Cut a tape in two without duplicated operations: the outputs that do not depend on the last input, then the others.

    The first has one more output, what the second takes of it, which is the last input of that.

    Examples
    --------
    >>> whole = trace(lambda x, y: (x * x, x * x + y), "f", {"x": (1,), "y": (1,)}, {"a": (1,), "b": (1,)})
    >>> first, second = cut(whole, ["a"])
    >>> (*first.inputs, *first.outputs), first.operations, (*second.inputs, *second.outputs), second.operations
    (('x', 'a', 'carried'), {'mul': 1}, ('x', 'y', 'carried', 'b'), {'add': 1})
    """
    start, code = tape.first_result, tape.code
    ends = dict(zip(tape.outputs, accumulate(map(prod, tape.outputs.values())), strict=True))
    results = {name: tape.results[end - prod(tape.outputs[name]) : end] for name, end in ends.items()}
    ahead = bytearray(start + len(code))
    for slot in (slot for name in early for slot in results[name]):
        ahead[slot] = 1
    for slot in range(len(ahead) - 1, start - 1, -1):
        if ahead[slot]:
            for arg in code[slot - start].args:
                ahead[arg] = 1
    behind = [slot for slot in range(start, len(ahead)) if not ahead[slot]]
    read = {arg for slot in behind for arg in code[slot - start].args}
    read.update(slot for name in results if name not in early for slot in results[name])
    carried = sorted(slot for slot in read if slot >= start and ahead[slot])
    last = list(tape.inputs)[-1]
    size, count = prod(tape.inputs[last]), tape.input_count
    inputs = {name: shape for name, shape in tape.inputs.items() if name != last}
    outputs = {name: tape.outputs[name] for name in early} | {CARRIED: (len(carried),)}
    here = [slot for slot in range(start, len(ahead)) if ahead[slot]]
    places = dict(zip(range(count - size), range(count - size), strict=True))
    places |= zip([*range(count, start), *here], range(count - size, len(ahead)), strict=False)
    wanted = [slot for name in early for slot in results[name]] + carried
    first = _piece(tape, inputs, outputs, here, wanted, places)
    inputs = {**tape.inputs, CARRIED: (len(carried),)}
    outputs = {name: shape for name, shape in tape.outputs.items() if name not in early}
    places = dict(zip([*range(count), *carried, *range(count, start), *behind], range(len(ahead)), strict=False))
    return first, _piece(tape, inputs, outputs, behind, [slot for name in outputs for slot in results[name]], places)


def _piece(
    tape: Tape,
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, Shape],
    slots: Sequence[int],
    wanted: Sequence[int],
    places: Mapping[int, int],
) -> Tape:
    """The tape of some operations of another one; `places` has the new slots of all that they read."""
    code = (tape.code[slot - tape.first_result] for slot in slots)
    moved = tuple(Instruction(step.op, tuple(places[arg] for arg in step.args)) for step in code)
    return Tape(tape.name, inputs, outputs, tape.constants, moved, tuple(places[slot] for slot in wanted))
