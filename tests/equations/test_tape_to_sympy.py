"""A tape as SymPy expressions has the tape's operations and its values."""

import numpy as np
import pytest
import sympy

from linkwise import robots
from linkwise.equations.tape_to_sympy import steps, to_sympy, written_size
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.sympy.symbols import number
from linkwise.kernel.tape import trace
from support.random_mechanisms import FIXED, FLOATING, direct, random_state, relative, variant

EXACT = 1e-13
"""The same operations in the same order, but for common parts and x*x: a few units in the last place each."""


def value(given, matrix, assignments):
    return sympy.lambdify(given, matrix, modules="numpy", cse=lambda _: (assignments, matrix))


@pytest.mark.parametrize("name", [*FIXED[:3], *FLOATING[:2], FLOATING[-1]])
def test_kernels_of_any_mechanism(name: str) -> None:
    made = variant(name)
    symbols = made.equations("graph")
    q, qd, _ = random_state(made, 1)
    for algorithm, given in (("mass_matrix", [symbols.q]), ("coriolis_matrix", [symbols.q, symbols.qd])):
        scalars = [scalar for column in given for scalar in column]
        tape = made.kernel(algorithm, backend="numpy").tape
        values = (q, qd)[: len(given)]
        wanted = direct(made, algorithm, *values)
        assignments, results = steps(tape, scalars)
        assert len(assignments) < len(tape.code)
        matrix = next(iter(results.values()))
        assert relative(value(scalars, matrix, assignments)(*np.concatenate(values)), wanted) < EXACT
        if written_size(tape) < 5_000:
            nested = next(iter(to_sympy(tape, scalars).values()))
            assert relative(value(scalars, nested, [])(*np.concatenate(values)), wanted) < EXACT


def test_every_operation() -> None:
    def function(x):
        return np.array(
            [
                (x[0] - x[1]) / x[2],
                -x[0],
                (x[0] * x[0]).sqrt(),
                x[1].sin() + x[1].cos(),
                abs(x[2]) * x[2].sign(),
                x[0].atan2(x[1]),
                x[0].select(x[1], x[2]),
            ]
        )

    made = trace(function, "made", {"x": (3,)}, {"y": (7,)})
    assert {instruction.op for instruction in made.code} == OPERATIONS.keys()
    a, b, c = given = sympy.symbols("a b c", real=True)
    wanted = [(a - b) / c, -a, abs(a), sympy.sin(b) + sympy.cos(b), abs(c) * sympy.sign(c)]
    wanted += [sympy.atan2(a, b), sympy.Piecewise((b, a > 0), (c, True))]
    for evaluate in (False, True):
        found = to_sympy(made, given, evaluate=evaluate)["y"]
        assert [sympy.simplify(x - y) for x, y in zip(found, wanted, strict=True)] == [0] * 7


def test_shared_parts_are_one_object_and_nothing_grows() -> None:
    def doubled(x):
        y = x[0] + 1.5
        for _ in range(60):
            y = y * y + x[0]
        return np.array([y])

    made = trace(doubled, "made", {"x": (1,)}, {"y": (1,)})
    (found,) = to_sympy(made, sympy.symbols("a,"))["y"]
    product = next(arg for arg in found.args if arg.is_Mul)
    assert product.args[0] is product.args[1]
    assert written_size(made) == 3 * 2**60 - 2  # (size -> 2 size + 2, from 1)


def test_shapes() -> None:
    arm = robots.planar_2r()
    q = arm.equations("graph").q
    assert to_sympy(arm.kernel("forward_kinematics").tape, q)["T"].shape == (4, 4)
    assert to_sympy(arm.kernel("link_poses").tape, q)["T"].shape == (8, 4)
    energy = to_sympy(arm.kernel("potential_energy").tape, q)
    assert next(iter(energy.values())).shape == (1, 1)
    with pytest.raises(ValueError, match=r"forward_kinematics.*2.*1"):
        to_sympy(arm.kernel("forward_kinematics").tape, q[:1])


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (0.0, sympy.Integer(0)),
        (-7.0, sympy.Integer(-7)),
        (0.125, sympy.Rational(1, 8)),
        (-1.75, sympy.Rational(-7, 4)),
        (0.0625, sympy.Float(0.0625)),
        (10_000.0, sympy.Float(10_000.0)),
        (0.1, sympy.Float(0.1)),
        (1 / 3, sympy.Float(1 / 3)),
    ],
)
def test_numbers_keep_their_53_bits(value: float, wanted: object) -> None:
    made = number(value)
    assert made == wanted
    assert type(made) is type(wanted)
    assert float(made) == value
