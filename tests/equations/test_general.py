"""The general case of a tape: every selection its first value, and nothing that is then not needed."""

import numpy as np
import sympy

from linkwise.equations.general import general_case
from linkwise.equations.graph import steps, to_sympy, written_size
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


def test_first_values_and_nothing_else() -> None:
    tape = made()
    general = general_case(tape)
    assert tape.operations == {"mul": 2, "add": 1, "sin": 1, "cos": 1, "atan2": 1, "select": 3}
    assert general.operations == {"mul": 2, "add": 1, "atan2": 1}
    # Where all conditions hold, both give the same bits.
    assert value(general, (0.3, 0.7)) == value(tape, (0.3, 0.7))
    assert value(general, (0.3, -0.7)) != value(tape, (0.3, -0.7))
    assert value(general, (0.3, -0.7))[1] == 0.3
    assert general_case(general) == general


def test_what_has_no_selection_stays_as_it_is() -> None:
    tape = trace(lambda q: (q[:1] * q[1]).sum().sin(), "made", {"q": (2,)}, {"y": ()})
    assert general_case(tape) == tape


def test_a_selection_between_given_numbers_and_inputs() -> None:
    tape = trace(lambda q: np.array([select(q[0], 2.5, q[1]), select(q[0], q[1], 2.5)]), "made", {"q": (2,)}, {"y": (2,)})
    general = general_case(tape)
    assert general.code == ()
    assert value(general, (-1.0, 9.0)) == [2.5, 9.0]


def test_as_sympy() -> None:
    tape = made()
    a, b = given = sympy.symbols("a b", real=True)
    for evaluate in (False, True):
        found = to_sympy(tape, given, evaluate=evaluate, general=True)["y"]
        wanted = [(a * b) ** 2 + a * b, a, sympy.atan2(b, 3), a]
        assert [sympy.simplify(x - y) for x, y in zip(found, wanted, strict=True)] == [0] * 4
        assert not found.has(sympy.Piecewise)
        assert to_sympy(tape, given, evaluate=evaluate)["y"].has(sympy.Piecewise)
    assignments, results = steps(tape, given, general=True)
    assert [right for _, right in assignments] == [sympy.Mul(a, b)]
    assert not results["y"].has(sympy.Piecewise)
    assert written_size(general_case(tape)) < written_size(tape)


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
