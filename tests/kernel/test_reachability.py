"""The machine code of the reachability passes against the same in NumPy, and against plain sampling."""

import numpy as np
import pytest

from linkwise.kernel.backends.llvm import loaders
from linkwise.kernel.reachability import LANES, plain, profiles

RNG = np.random.default_rng(3)


def problem(batch: int, n: int, blocks: int) -> list[np.ndarray]:
    slope, high = RNG.normal(size=(batch, n, blocks, LANES)), RNG.uniform(0.5, 2.0, (batch, n, blocks, LANES))
    cap = np.where(RNG.random((batch, n + 1)) < 0.2, 1e100, RNG.uniform(0.2, 2.0, (batch, n + 1)))
    return [np.stack((slope, -high, high), axis=-2), cap, np.full((batch, n), 25.0), np.zeros((batch, 2))]


@pytest.mark.skipif(not loaders.usable(), reason="needs llvmlite")
def test_machine_code_and_numpy_agree() -> None:
    arrays = problem(7, 40, 3)
    error = np.abs(profiles(*arrays) - plain(*arrays)).max()
    print(f"{error:.1e}")
    assert error < 1e-13  # x of about one, some forty steps


def test_the_profile_keeps_every_line_and_the_sets_are_maximal() -> None:
    lines, cap, rate, ends = problem(5, 30, 2)
    sets = profiles(lines, cap, rate, ends)
    x, high = sets[..., 2], sets[..., 1]
    u = np.diff(x) * rate
    slope, low, top = (np.moveaxis(lines, -2, 0)[k].reshape(5, 30, -1) for k in range(3))
    assert np.all(u[..., None] <= top + slope * x[:, :-1, None] + 1e-9)  # u is a difference of x times 25
    assert np.all(u[..., None] >= low + slope * x[:, :-1, None] - 1e-9)
    assert np.all(x <= high + 1e-15)
    # a little above the greatest controllable x no u leads into the next set
    above = high[:, :-1] * (1.0 + 1e-6) + 1e-9
    least = np.maximum((low + slope * above[..., None]).max(axis=-1), (sets[:, 1:, 0] - above) * rate)
    most = np.minimum((top + slope * above[..., None]).min(axis=-1), (high[:, 1:] - above) * rate)
    assert np.all((least > most) | (above > cap[:, :-1]))


@pytest.mark.parametrize("run", [profiles, plain])
def test_an_empty_set_is_nan_from_there_back(run) -> None:
    lines, cap, rate, ends = problem(1, 10, 1)
    lines[0, 4, 0, 1, 0], lines[0, 4, 0, 2, 0], lines[0, 4, 0, 0, 0] = 3.0, 4.0, 0.0
    lines[0, 4, 0, 1, 1], lines[0, 4, 0, 2, 1], lines[0, 4, 0, 0, 1] = -4.0, -3.0, 0.0
    with np.errstate(invalid="ignore"):
        sets = run(lines, cap, rate, ends)
    assert np.isnan(sets[0, :5, :2]).all()
    assert np.isfinite(sets[0, 5:, :2]).all()
