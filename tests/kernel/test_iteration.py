"""Tasks in lanes: the same answers whatever the count, the order of starts, and the lowering."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.iteration import Descent, IterationProgram
from linkwise.kernel.tape import trace
from linkwise.spatial.scalar import Array, select

STARTS = np.array([[1e6], [2.0], [30.0], [1e-3], [20.0], [7.0], [9.0], [50.0], [0.5], [4.0], [3.0]])
SETTINGS = np.array([1e-16, 6.0])
"""Square of the tolerance, and most steps of a start."""


def newton_step(p: Array, q0: Array, settings: Array, q: Array, aux: Array) -> tuple[Any, ...]:
    """One step towards the square root of p; a start far away is given up before it arrives."""
    error = p[0] - q[0] * q[0]
    there = select(settings[0] - error * error, 1.0, 0.0)
    over = select(settings[1] - 0.5 - aux[0], 0.0, -1.0)
    onward = select(there, q[0], q[0] + 0.5 * error / q[0])
    return np.array([onward]), np.array([aux[0] + 1.0]), select(there, 1.0, over)


@pytest.fixture(scope="module")
def program() -> IterationProgram:
    inputs = {"parameters": (1,), "q0": (1,), "settings": (2,), "q": (1,), "aux": (1,)}
    return IterationProgram(trace(newton_step, "root", inputs, {"q": (1,), "aux": (1,), "status": ()}))


@pytest.fixture(scope="module")
def lanes(program: IterationProgram) -> Descent:
    return Descent(program)


def one_by_one(number: float, q0: float, starts: Array) -> tuple[list[float], int]:
    """The same in plain Python: the row, and from which start it came."""
    row = [np.nan, np.nan, -1.0]
    for attempt, start in enumerate([q0, *starts[:, 0]]):
        q, k = start, 0.0
        for _ in range(100):
            found, aux, status = newton_step(*map(np.array, ([number], [q0], SETTINGS, [q], [k])))
            q, k, row = found[0], aux[0], [found[0], aux[0], status]
            if status:
                break
        if row[-1] > 0:
            return row, attempt
    return row, len(starts)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 16, 37, 200])
@pytest.mark.parametrize("starts", [0, 1, 3, 8, 11])
def test_every_count_of_tasks_gives_what_plain_python_gives(lanes: Descent, count: int, starts: int) -> None:
    numbers = np.geomspace(1e-2, 1e5, 200)[:count, None]
    made = lanes(numbers, np.array([500.0]), STARTS[:starts], SETTINGS)
    assert made.shape == (count, 3)
    seen = set()
    for row, number in zip(made, numbers[:, 0], strict=True):
        wanted, attempt = one_by_one(number, 500.0, STARTS[:starts])
        seen.add(attempt)
        assert (row[-1] > 0) == (wanted[-1] > 0)
        if row[-1] > 0:  # fused multiplications may round differently, and the count of steps stays
            assert row[0] == pytest.approx(wanted[0], rel=1e-12)
            assert row[1] == wanted[1]
    assert count < 37 or starts < 3 or len(seen) > 1, "later starts were needed too"


def test_a_batch_gives_the_bits_of_a_loop(lanes: Descent) -> None:
    numbers = np.geomspace(1e-2, 1e8, 60)[:, None]
    whole = lanes(numbers, np.array([500.0]), STARTS, SETTINGS)
    single = np.array([lanes(number, np.array([500.0]), STARTS, SETTINGS) for number in numbers])
    solved = whole[:, -1] > 0
    assert np.array_equal(whole[:, -1] > 0, single[:, -1] > 0)
    assert 30 < solved.sum() < 60
    assert np.array_equal(whole[solved], single[solved])


def test_what_is_not_solved_says_so_from_every_side(lanes: Descent) -> None:
    for count in (1, 3, 9):
        made = lanes(np.full((count, 1), -1.0), np.array([3.0]), STARTS, SETTINGS)
        assert (made[:, -1] < 0).all()
    broken = lanes(np.full((9, 1), np.nan), np.array([3.0]), STARTS, SETTINGS)
    assert (broken[:, -1] < 0).all()


def test_a_task_of_its_own_starts_and_settings(lanes: Descent) -> None:
    numbers = np.array([[4.0], [9.0], [16.0]])
    starts = np.array([[[2.1]], [[2.9]], [[4.1]]])
    settings = np.array([[1e-20, 30.0], [1e-20, 30.0], [1e-20, 1.0]])
    made = lanes(numbers, np.array([1e9]), starts, settings)
    assert (made[:, -1] > 0).tolist() == [True, True, False]
    assert made[:2, 0].round(9).tolist() == [2.0, 3.0]


def test_no_tasks(lanes: Descent) -> None:
    assert lanes(np.empty((0, 1)), np.array([1.0]), STARTS, SETTINGS).shape == (0, 3)


def test_without_llvm_the_same_comes_out(program: IterationProgram, lanes: Descent) -> None:
    numbers = np.geomspace(1e-2, 1e5, 40)[:, None]
    made = Descent(program, "numpy")(numbers, np.array([500.0]), STARTS, SETTINGS)
    other = lanes(numbers, np.array([500.0]), STARTS, SETTINGS)
    solved = other[:, -1] > 0
    assert np.array_equal(made[:, -1], other[:, -1])
    np.testing.assert_allclose(made[solved], other[solved], rtol=1e-12)  # (fused multiplications round differently)


def test_a_step_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="a step takes parameters, q0, settings, q, aux"):
        Descent(IterationProgram(trace(lambda x: x * x, "square", {"x": (1,)}, {"y": (1,)})))


def test_strides_do_not_count(program: IterationProgram, lanes: Descent) -> None:
    numbers, settings = np.geomspace(1e-2, 1e5, 20)[:, None], np.full(4, np.nan)
    settings[::2] = SETTINGS
    starts = STARTS[::-1].copy()[::-1].astype(np.float32)
    wanted = lanes(numbers, np.array([500.0]), starts.astype(float), SETTINGS)
    for descent in (lanes, Descent(program, "numpy")):
        made = descent(numbers, np.array([500]), starts, settings[::2])
        np.testing.assert_allclose(made, wanted, rtol=1e-12, equal_nan=True)  # (fused multiplications round differently)
        backward = descent(numbers, np.array([500]), starts, SETTINGS[::-1].copy()[::-1])
        assert np.array_equal(backward, made, equal_nan=True)


def test_without_llvm_and_without_further_starts(program: IterationProgram, lanes: Descent) -> None:
    for count in (0, 1, 9):
        given = (np.full((count, 1), 4.0), np.array([500.0]), np.empty((0, 1)), SETTINGS)
        made, other = Descent(program, "numpy")(*given), lanes(*given)
        assert made.shape == other.shape == (count, 3)
        assert (made[:, -1] < 0).all()
        assert (other[:, -1] < 0).all()


@pytest.mark.parametrize("vector_bytes", [16, 32])
def test_shorter_vectors_give_the_same_bits(
    vector_bytes: int, program: IterationProgram, lanes: Descent, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = llvm.host()
    if vector_bytes > real.vector_bytes:
        pytest.skip("this machine has no vectors of that length")
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    numbers = np.geomspace(1e-2, 1e8, 37)[:, None]
    wanted = lanes(numbers, np.array([500.0]), STARTS, SETTINGS)
    monkeypatch.setattr(llvm, "host", lambda: dataclasses.replace(real, vector_bytes=vector_bytes))
    shorter = Descent(program)
    solved = wanted[:, -1] > 0
    for count in (1, 3, 37):
        made = shorter(numbers[:count], np.array([500.0]), STARTS, SETTINGS)
        assert np.array_equal(made[:, -1] > 0, solved[:count])
        assert np.array_equal(made[solved[:count]], wanted[:count][solved[:count]])
