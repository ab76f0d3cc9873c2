from itertools import pairwise

import numpy as np
import pytest

from linkwise.trajectory import through
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial

from .conftest import EPS, slope

RNG = np.random.default_rng(13)
TIMES = np.array([0.5, 1.1, 1.9, 2.2, 3.5, 4.4, 5.0])
POINTS = RNG.uniform(-2, 2, (3, 7, 4))
MANY = (np.concatenate(([0.0], np.cumsum(RNG.uniform(0.1, 1.0, 299)))), RNG.uniform(-2, 2, (300, 2)))


@pytest.mark.parametrize("kind", ["quintic", "cubic"])
def test_splines_pass_through_every_point_to_the_bit(kind: str) -> None:
    move = through(POINTS, TIMES, kind=kind)
    assert np.array_equal(move.at(TIMES)[0], POINTS)
    assert not move.qd[:, [0, -1]].any()
    if kind == "quintic":
        assert not move.qdd[:, [0, -1]].any()


@pytest.mark.parametrize(("kind", "degree"), [("quintic", 5), ("cubic", 3)])
@pytest.mark.parametrize("knot", [None, 1, 3, 5])
def test_the_spline_is_the_one_there_is(kind: str, degree: int, knot: int | None) -> None:
    """Splines of degree d with these knots are spanned by t^d ... 1 and (t - t_k)^d where that is positive.

    A spline that interpolates with the right end conditions is unique, so that each of these must come back as it is; that
    says that all derivatives up to the (d - 1)-th are continuous.
    """
    since = 0.0 if knot is None else TIMES[knot]

    def power(t: np.ndarray, less: int) -> np.ndarray:
        factor = np.prod(np.arange(degree, degree - less, -1))
        return np.asarray(factor * np.maximum(t - since, 0.0) ** (degree - less))[:, None]

    ends = {f"{name}{k}": power(TIMES[[-k]], less)[0] for k in (0, 1) for less, name in ((1, "qd"), (2, "qdd"))}
    if kind == "cubic":
        ends = {name: value for name, value in ends.items() if "dd" not in name}
    move = through(power(TIMES, 0), TIMES, kind=kind, **ends, samples=1001)
    for less, values in enumerate((move.q, move.qd, move.qdd)):
        exact = power(move.t, less)
        error = np.abs(values - exact).max() / np.abs(exact).max()
        print(f"derivative {less}: {error:.1e}")
        assert error < 1e4 * EPS  # the system of the spline has a condition of some thousands with these times


@pytest.mark.parametrize("kind", ["quintic", "cubic"])
def test_speed_and_acceleration_are_derivatives(kind: str) -> None:
    move = through(POINTS, TIMES, kind=kind, qd0=RNG.normal(size=4))
    h = 1e-3
    t = np.concatenate([np.linspace(a + 3 * h, b - 3 * h, 50) for a, b in pairwise(TIMES)])
    for k in (0, 1):
        error = np.abs(slope(lambda s, k=k: move.at(s)[k], t, h) - move.at(t)[k + 1]).max()
        fifth = 120.0 * 200.0 / np.diff(TIMES).min() ** 5  # 5! c5 of the shortest leg, generously
        bound = h**4 / 30 * fifth * (k == 0) + 100 * EPS * np.abs(move.at(t)[k]).max() / h
        print(f"derivative {k + 1}: {error:.1e}, bound {bound:.1e}")
        assert error < bound


@pytest.mark.parametrize("kind", ["quintic", "cubic"])
def test_many_points_are_no_harder(kind: str) -> None:
    t, q = MANY
    move = through(q, t, kind=kind)
    before, after = (move.at(np.clip(np.nextafter(t[1:-1], way), t[0], t[-1])) for way in (-np.inf, np.inf))
    for a, b in zip(before, after, strict=True):
        jump = np.abs(a - b).max() / np.abs(a).max()
        assert jump < 1e-10  # one rounding of a time of 170, times the next derivative over this one, up to 100
    assert np.array_equal(move.at(t)[0], q)


def test_cubic_spline_has_the_least_acceleration() -> None:
    """Integral of the squared acceleration, against other motions through the same points with the same end speeds."""
    cubic, other = (through(POINTS, TIMES, kind=kind, samples=20001) for kind in ("cubic", "quintic"))
    least, more = (np.trapezoid(move.qdd**2, move.t, axis=-2) for move in (cubic, other))
    assert np.all(least < more)


def test_quintic_spline_has_the_least_jerk() -> None:
    """Against quintics through the same points with the same ends and accelerations that differ a little inside."""
    move = through(POINTS, TIMES, samples=50001)
    h = move.t[1] - move.t[0]
    best = np.sum(np.diff(move.qdd, axis=-2) ** 2 / h, axis=-2)
    nodes: PiecewisePolynomial = move.evaluate
    for k in range(1, 6):
        for change in (0.05, -0.05):
            accelerations = nodes.qdd.copy()
            accelerations[:, k] += change
            qdd = PiecewisePolynomial(nodes.t, nodes.q, nodes.qd, accelerations)(move.t)[2]
            assert np.all(np.sum(np.diff(qdd, axis=-2) ** 2 / h, axis=-2) > best)


def test_blends_cut_the_corners_by_an_eighth() -> None:
    a = 60.0
    move = through(POINTS, TIMES, kind="trapezoidal", qdd_max=a)
    q, qd, qdd = move.at(TIMES)
    assert np.array_equal(q[:, [0, -1]], POINTS[:, [0, -1]])
    assert not qd[:, [0, -1]].any()
    assert np.all(np.isclose(np.abs(qdd), a, rtol=4 * EPS))
    change = np.diff(np.swapaxes(move.evaluate.qd, -1, -2)[..., 1::2], axis=-1)[..., :-1]  # speeds of the lines
    missed = q[:, 1:-1] - POINTS[:, 1:-1]
    expected = np.swapaxes(change * np.abs(change), -1, -2) / a / 8.0
    print(f"{np.abs(missed - expected).max():.1e}")
    assert np.abs(missed - expected).max() < 50 * EPS  # some roundings of positions up to 2 and their sums


def test_lines_are_straight_and_at_the_speed_of_the_way() -> None:
    t = TIMES[2] + (TIMES[3] - TIMES[2]) / 2
    q, qd, qdd = through(POINTS, TIMES, kind="trapezoidal", qdd_max=300.0).at(t)
    assert qd == pytest.approx((POINTS[:, 3] - POINTS[:, 2]) / (TIMES[3] - TIMES[2]), rel=1e-12)
    assert q == pytest.approx((POINTS[:, 3] + POINTS[:, 2]) / 2, rel=1e-12, abs=1e-14)
    assert not qdd.any()


def test_blends_are_smooth() -> None:
    move = through(POINTS, TIMES, kind="trapezoidal", qdd_max=60.0, samples=40001)
    h = move.t[1] - move.t[0]
    assert np.abs(np.diff(move.qd, axis=-2)).max() <= 60.0 * h * (1 + 1e-9)
    mean = (move.qd[:, 1:] + move.qd[:, :-1]) / 2
    assert np.abs(np.diff(move.q, axis=-2) / h - mean).max() <= 60.0 * h / 4  # where a knot lies between, at worst


def test_a_point_given_twice_is_met() -> None:
    way = [[0.0], [1.0], [1.0], [0.5]]
    move = through(way, [0.0, 1.0, 2.0, 3.0], kind="trapezoidal", qdd_max=8.0)
    q, qd, qdd = move.at(1.5)
    assert (q.tolist(), qd.tolist(), qdd.tolist()) == ([1.0], [0.0], [0.0])


def test_one_leg_with_blends_is_a_trapezoid() -> None:
    move = through([[0.0], [2.0]], [0.0, 2.5], kind="trapezoidal", qdd_max=2.0)
    assert move.at(1.25)[1].tolist() == [1.0]
    assert move.at([0.5, 2.0])[0].ravel() == pytest.approx([0.25, 1.75], rel=1e-15)


@pytest.mark.parametrize("kind", ["quintic", "cubic", "trapezoidal"])
@pytest.mark.parametrize("bounds", [(1.0, 100.0), (100.0, 1.0), ([1.0, 2.0, 3.0, 4.0], [3.0, 2.0, 1.0, 4.0])])
def test_limits_are_kept_and_one_is_touched(kind: str, bounds: tuple[object, object]) -> None:
    speed, acceleration = (np.broadcast_to(bound, 4) for bound in bounds)
    move = through(POINTS[0], qd_max=speed, qdd_max=acceleration, kind=kind, samples=30001)
    _, qd, qdd = move.at(np.unique([*move.t, *move.evaluate.t.ravel()]))
    shares = (np.abs(qd) / speed).max(), (np.abs(qdd) / acceleration).max()
    print(kind, shares, move.duration)
    assert max(shares) <= 1 + 1e-12  # sums of polynomials of some tens, rounded
    if kind == "trapezoidal":  # blends are always at the acceleration; the least time has a full line, or no line between
        knots, speeds = np.diff(move.evaluate.t, axis=-2), np.abs(move.evaluate.qd).max(axis=-2)
        assert (speeds / speed).max() > 1 - 1e-9 or knots[..., 1:-1, :].min() < 1e-9 * move.duration
    else:
        assert max(shares) > 1 - 1e-6  # at knots, or found at instants 1e-3 s apart: off by the square of that


@pytest.mark.parametrize("kind", ["quintic", "cubic"])
def test_peaks_are_those_of_fine_samples(kind: str) -> None:
    move = through(POINTS, TIMES, kind=kind, samples=200001)
    fast, hard = move.evaluate.peaks()
    for exact, values in ((fast, move.qd), (hard, move.qdd)):
        seen = np.abs(values).max(axis=-2)
        assert np.all(seen <= exact * (1 + 1e-13))
        assert np.all(seen >= exact * (1 - 1e-4))  # a cubic spline's acceleration has a corner, up to 2e-5 s from an instant


def test_batch_equals_loop() -> None:
    for kind, more in (("quintic", {}), ("cubic", {}), ("trapezoidal", {"qdd_max": 60.0})):
        many = through(POINTS, TIMES, kind=kind, **more)
        for k, points in enumerate(POINTS):
            one = through(points, TIMES, kind=kind, **more)
            for a, b in ((many.q, one.q), (many.qd, one.qd), (many.qdd, one.qdd)):
                assert np.array_equal(a[k], b), kind
