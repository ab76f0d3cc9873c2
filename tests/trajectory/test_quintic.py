import numpy as np
import pytest

from linkwise.trajectory import quintic

from .conftest import EPS, slope

RNG = np.random.default_rng(7)
ENDS = dict(zip(("q0", "q1", "qd0", "qd1", "qdd0", "qdd1"), RNG.normal(size=(6, 3, 5, 4)), strict=True))


def test_ends_are_met_to_the_bit() -> None:
    for t in (0.37, [2.0, 2.1, 3.7, 5.3]):
        move = quintic(ENDS["q0"], ENDS["q1"], t, **{name: ENDS[name] for name in ("qd0", "qd1", "qdd0", "qdd1")})
        for values, name in ((move.q, "q"), (move.qd, "qd"), (move.qdd, "qdd")):
            assert np.array_equal(values[..., 0, :], ENDS[f"{name}0"])
            assert np.array_equal(values[..., -1, :], ENDS[f"{name}1"])


def test_speed_and_acceleration_are_derivatives() -> None:
    move = quintic(t=2.0, **ENDS)
    t, h = np.linspace(0.01, 1.99, 199), 2e-3
    fifth = 120.0 * 60.0 / 2.0**5  # 5! c5, c5 = 6 D - 3 V + A/2 below 60 for these ends
    for k, bound in ((0, h**4 / 30.0 * fifth), (1, 0.0)):
        error = np.abs(slope(lambda s, k=k: move.at(s)[k], t, h) - move.at(t)[k + 1]).max()
        rounding = 1.5 * 32.0 * EPS * np.abs(move.at(t)[k]).max() / h  # a few roundings of what is differenced, over h
        print(f"derivative {k + 1}: {error:.1e}, bound {bound + rounding:.1e}")
        assert error < bound + rounding


def test_between_both_halves_nothing_jumps() -> None:
    """The first half is computed from the beginning, the second from the end."""
    move = quintic(t=2.0, **ENDS)
    for before, after in zip(move.at(1.0), move.at(np.nextafter(1.0, 2.0)), strict=True):
        difference = np.abs(after - before).max()
        print(f"{difference:.1e}")
        assert difference < 1000 * EPS  # the same polynomial of coefficients up to 100, computed two ways


def test_from_rest_to_rest_the_peaks_are_the_known_ones() -> None:
    move = quintic([0.0], [3.0], 2.0, samples=20001)
    assert move.qd.max() == pytest.approx(15.0 / 8.0 * 3.0 / 2.0, rel=4 * EPS)  # at half time, which is an instant
    peak = 10.0 / np.sqrt(3.0) * 3.0 / 4.0
    assert peak * (1 - 1e-7) < move.qdd.max() <= peak * (1 + 4 * EPS)  # the instants are 1e-4 s apart: off by their square
    assert np.all(np.diff(move.q[:, 0]) >= 0)


def test_batch_equals_loop() -> None:
    many = quintic(t=1.3, **ENDS)
    for place in np.ndindex(3, 5):
        one = quintic(t=1.3, **{name: values[place] for name, values in ENDS.items()})
        for a, b in ((many.q, one.q), (many.qd, one.qd), (many.qdd, one.qdd)):
            assert np.array_equal(a[place], b)
        assert all(np.array_equal(a, b) for a, b in zip(many.member(place).at(0.777), one.at(0.777), strict=True))


def test_batches_broadcast() -> None:
    move = quintic(np.zeros((4, 1, 2)), np.ones((3, 2)), 1.0, qd0=[1.0, 2.0])
    assert move.q.shape == (4, 3, 101, 2)
    assert np.array_equal(move.qd[..., 0, :], np.broadcast_to([1.0, 2.0], (4, 3, 2)))


def test_a_duration_and_its_instants_are_the_same() -> None:
    a, b = quintic([0.0], [1.0], 2.0, samples=11), quintic([0.0], [1.0], np.linspace(0, 2, 11))
    assert np.array_equal(a.t, b.t)
    assert np.array_equal(a.q, b.q)


def test_samples_are_what_at_gives() -> None:
    move = quintic(t=2.0, **ENDS)
    for whole, alone in zip((move.q, move.qd, move.qdd), move.at(move.t), strict=True):
        assert np.array_equal(whole, alone)
