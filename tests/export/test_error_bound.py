"""The bounds of rounding hold, are close, and are infinite where a choice is open."""

import mpmath
import numpy as np
import pytest

from linkwise import robots
from linkwise.export.samples import bounded, computed, samples
from linkwise.kernel import Tape, trace
from linkwise.spatial.scalar import select
from support.exported_code import drawn_for, plain, random_tape


def exactly(tape: Tape, point: list[float]) -> list[mpmath.mpf]:
    """The tape in 60 digits."""
    forms = {
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
        "neg": lambda x: -x, "sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos, "abs": abs, "sign": mpmath.sign,
        "atan2": mpmath.atan2, "select": lambda c, x, y: x if c > 0 else y,
    }  # fmt: skip
    with mpmath.workdps(60):
        values = [*map(mpmath.mpf, point), *map(mpmath.mpf, tape.constants)]
        for instruction in tape.code:
            values.append(forms[instruction.op](*(values[arg] for arg in instruction.args)))
        return [values[slot] for slot in tape.results]


@pytest.mark.parametrize("name", ["plain", "random", "inverse_dynamics", "forward_dynamics"])
def test_bounds_hold_and_are_close(name: str) -> None:
    """Against 60 digits; a bound is the sum of the sizes of some hundred roundings, of which most cancel."""
    tape = {"plain": plain, "random": lambda: random_tape(3)}.get(name, lambda: robots.load("planar_3r").kernel(name).tape)()
    room = 1e-12 if name == "forward_dynamics" else 1e-13  # (the mass matrix has a condition of some hundred)
    points = samples(tape, rows=3).inputs
    found = computed(tape, points)
    for point, row in zip(points.tolist(), found, strict=True):
        wanted, bounds = exactly(tape, point), bounded(tape, point)
        for number, exact, bound in zip(row, wanted, bounds, strict=True):
            assert abs(number - exact) <= bound.error
            assert bound.error <= room * max(abs(number), np.abs(row).max()), bound.error


def test_single_precision_is_bounded_too() -> None:
    """Each operation rounded to float32, one after the other, with numbers rounded before."""
    for tape in (plain(), random_tape(5)):
        point = samples(tape, 1, "single").inputs[0]
        values = [np.float32(number) for number in (*point, *tape.constants)]
        forms = {
            "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "sqrt": np.sqrt,
            "sin": np.sin, "cos": np.cos, "abs": np.abs, "sign": np.sign, "atan2": np.arctan2,
            "select": lambda c, x, y: x if c > 0 else y,
        }  # fmt: skip
        for instruction in tape.code:
            values.append(forms[instruction.op](*(values[arg] for arg in instruction.args)))
        exact = exactly(tape, point.tolist())
        for slot, wanted, bound in zip(tape.results, exact, bounded(tape, point, "single"), strict=True):
            assert values[slot].dtype == np.float32
            assert abs(float(values[slot]) - wanted) <= bound.error <= 1e-4 * max(1.0, abs(wanted))


def test_an_open_choice_has_no_bound() -> None:
    def step(x: np.ndarray) -> np.ndarray:
        nothing = x[0] * x[1] - x[2]
        return np.array([nothing.sign(), select(nothing, x[1], 4.0), 1.0 / nothing, (nothing + 1e-30).sqrt()], dtype=object)

    sign, chosen, pole, root = bounded(trace(step, "step", {"x": (3,)}, {"y": (4,)}), [3.0, 1.0 / 3.0, 1.0])
    assert sign.error == np.inf
    assert 3.6 <= chosen.error < 3.8, "the two values are 4 - 1/3 apart"
    assert pole.error in (0.0, np.inf), "0 where the value is infinite itself"
    assert root.error == np.inf
    assert bounded(trace(lambda x: np.array([x[0].sign()]), "s", {"x": (1,)}, {"y": (1,)}), [0.0])[0].error == 0.0


def test_samples_are_the_same_each_time_and_short() -> None:
    again = samples(plain())
    assert np.array_equal(again.inputs, drawn_for("plain").inputs)
    assert np.array_equal(again.inputs, again.inputs.astype(np.float32)), "exact in single precision"
    assert np.isfinite(again.allowed).all()


def test_inputs_may_be_the_same_in_all_rows() -> None:
    given = samples(plain(), same=("p",)).inputs
    assert np.array_equal(given[0, 3:], given[3, 3:])
    assert (given[0, :3] != given[3, :3]).all()
