"""Statements compute the very operations of the tape, however they are grouped and written."""

import numpy as np
import pytest

from linkwise.export.language import LANGUAGES
from linkwise.export.statements import Syntax, statements
from linkwise.kernel import Tape
from support.exported_code import one_at_a_time, random_tape


def run(tape: Tape, how: Syntax, most: int, point: list[float]) -> list[float]:
    """The statements, written, run by Python one after the other."""
    space = {f"x{k}": value for k, value in enumerate(point)}

    def operand(slot: int) -> str | float:
        number = tape.constant(slot)
        return f"x{slot}" if number is None else number

    for statement in statements(tape, most):
        space[f"x{statement.slot}"] = eval(how.text(statement.value, operand), {}, space)
    return [float(eval(how.text(slot, operand), {}, space)) for slot in tape.results]


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("explicit", [False, True])
def test_same_bits(seed: int, explicit: bool) -> None:
    tape = random_tape(seed)
    how = Syntax({}, repr, explicit=explicit)
    point = np.random.default_rng(seed).uniform(-1, 1, 4).tolist()
    for most in (1, 3, 8):
        assert run(tape, how, most, point) == one_at_a_time(tape, point)


def test_statements_have_no_more_operations_than_asked_for() -> None:
    tape = random_tape(1)
    for most in (1, 2, 6):
        sizes = [operations(statement.value) for statement in statements(tape, most)]
        assert max(sizes) <= most
        assert sum(sizes) == len(tape.code)
    assert len(statements(tape, 1)) == len(tape.code)


def operations(tree: object) -> int:
    return 0 if isinstance(tree, int) else 1 + sum(operations(arg) for arg in tree[1])  # type: ignore[index]


def test_parentheses() -> None:
    a, b, c = range(3)
    named = "abc".__getitem__
    python, c99 = LANGUAGES["python"].syntax("double"), Syntax({}, repr, explicit=True)
    difference, product = ("sub", (b, c)), ("mul", (b, c))
    assert python.text(("sub", (a, difference)), named) == "a - (b - c)"
    assert python.text(("add", (a, product)), named) == "a + b * c"
    assert c99.text(("add", (product, a)), named) == "(b * c) + a"
    assert c99.text(("sub", (("sub", (a, b)), product)), named) == "a - b - (b * c)"
    assert python.text(("mul", (a, ("neg", (b,)))), named) == "a * (-b)"
    assert python.text(("neg", (difference,)), named) == "-(b - c)"
    assert python.text(("neg", (("neg", (a,)),)), named) == "-(-a)"
    assert python.text(("div", (a, product)), named) == "a / (b * c)"
    assert python.text(("sub", (a, b)), lambda slot: (2.0, -3.0)[slot]) == "2.0 - (-3.0)"
