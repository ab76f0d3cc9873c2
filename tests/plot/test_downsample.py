import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linkwise.plot import downsample as thinned
from linkwise.plot.downsample import Thinned


def test_few_values_are_all_kept() -> None:
    t, values = np.arange(5.0), np.arange(10.0).reshape(5, 2)
    kept = Thinned(2)
    kept.add(t[:3], values[:3])
    kept.add(t[3:], values[3:])
    assert np.array_equal(kept.points()[0], t)
    assert np.array_equal(kept.points()[1], values)


def test_a_peak_of_one_instant_survives() -> None:
    values = np.zeros((100_000, 1))
    values[77_777] = 5.0
    kept = Thinned(1)
    kept.add(np.arange(100_000.0), values)
    t, shown = kept.points()
    assert len(t) <= 2 * thinned.STRETCHES
    at = t[np.argmax(shown[:, 0])]
    assert shown.max() == 5.0
    assert abs(at - 77_777) < kept.stretch


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=20))
def test_how_the_values_come_does_not_matter(sizes: list[int]) -> None:
    rows = sum(sizes)
    t, values = np.arange(rows) * 0.1, np.random.default_rng(rows).normal(size=(rows, 2))
    whole, parts = Thinned(2), Thinned(2)
    whole.add(t, values)
    start = 0
    for size in sizes:
        parts.add(t[start : start + size], values[start : start + size])
        start += size
    assert parts.stretch == whole.stretch
    for one, other in zip(parts.points(), whole.points(), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(whole.points()[1].max(axis=0), values.max(axis=0))
    assert np.array_equal(whole.points()[1].min(axis=0), values.min(axis=0))


def test_what_rises_is_drawn_rising_and_what_falls_falling() -> None:
    t = np.linspace(0.0, 10.0, 10_001)
    values = np.stack([np.sin(t), -np.sin(t)], axis=1)
    kept = Thinned(2)
    kept.add(t, values)
    time, shown = kept.points()
    assert kept.stretch > 1
    steps = np.diff(shown[:, 0])
    turns = np.count_nonzero(np.diff(np.sign(steps[steps != 0])))
    print(f"{turns} turns")
    assert turns == 3  # those of the sine in 10 s; a stretch drawn the wrong way round would make two more each
    assert np.array_equal(shown[:, 0], -shown[:, 1])  # the same picture upside down
    off = np.abs(shown[:, 0] - np.sin(time)).max()
    print(f"off by {off:.1e}")
    assert off < 2.5e-5  # at the turns only: an extreme is moved by up to 7 ms there, 0.007**2 / 2 = 2.45e-5
