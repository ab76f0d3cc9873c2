"""Selections in SymPy: a Piecewise has their values."""

import numpy as np
import sympy

from linkwise.equations.tape_to_sympy import steps, to_sympy
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel.tape import Tape, trace
from linkwise.spatial.scalar import atan2, select


def made() -> Tape:
    def function(q):
        product = q[0] * q[1]
        inner = select(product.cos(), product, q[1].sin())
        return np.array([inner * inner + inner, select(inner, select(q[1], q[0], 2.0), inner), atan2(q[1], 3.0), q[0]])

    return trace(function, "made", {"q": (2,)}, {"y": (4,)})


def value(tape: Tape, point: tuple[float, ...]) -> list[float]:
    values = [*point, *tape.constants]
    for instruction in tape.code:
        values.append(OPERATIONS[instruction.op].value(*(values[arg] for arg in instruction.args)))
    return [values[slot] for slot in tape.results]


def test_a_piecewise_has_the_values_of_the_selection() -> None:
    tape = made()
    given = sympy.symbols("a b", real=True)
    for evaluate in (False, True):
        matrix = to_sympy(tape, given, evaluate=evaluate)["y"]
        assignments, short = steps(tape, given)
        assert len(assignments) == 2
        for point in ((0.3, 0.7), (0.3, -0.7), (-2.0, 1.5), (2.0, 0.0)):
            wanted = value(tape, point)
            size = max(map(abs, wanted))
            replaced = dict(zip(given, point, strict=True))
            written = short["y"]
            for name, right in reversed(assignments):
                written = written.xreplace({name: right})
            for form in (matrix, written):
                found = [float(entry.subs(replaced)) for entry in form]
                # A few roundings each way.
                assert np.abs(np.subtract(found, wanted)).max() <= 1e-15 * max(1.0, size)
