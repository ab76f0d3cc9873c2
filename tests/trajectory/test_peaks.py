"""Greatest values between the places at which they are known."""

import numpy as np
import pytest

from linkwise.trajectory.peaks import DENSE, peaks


@pytest.mark.parametrize("waves", [0.1, 1.0, 3.0])
def test_a_peak_between_two_places_is_seen(waves: float) -> None:
    """Of sines that turn up to three radians within an interval, and pass the size 1 from either side."""
    rng = np.random.default_rng(1)
    top = rng.uniform(0.0, 1.0, (50, 1))
    values = np.cos(waves * (DENSE[:, None] - top[:, None, :])) * rng.choice([-1.0, 1.0], (50, 1, 1))
    sampled = np.abs(values).max(axis=1)
    print(f"{(1.0 - sampled).max():.1e} {np.abs(1.0 - peaks(values)).max():.1e}")
    # the parabola through three of 129 values is off by less than (waves / 128)^4 / 24 there, and rounding
    assert np.abs(1.0 - peaks(values)).max() < (waves / 128.0) ** 4 / 24.0 + 1e-14


@pytest.mark.parametrize("top", [0.004, 0.3, 0.611, 0.9995])
def test_a_peak_that_falls_faster_on_one_side_is_seen(top: float) -> None:
    """Of (1 + 3 t) exp(-3 t): a parabola through values 1/128 apart is off by up to 1e-6, closer ones by 3e-10."""
    t = (DENSE - top) * (1.0 if top < 0.5 else -1.0)
    values = (1.0 + 3.0 * t) * np.exp(-3.0 * t)
    print(f"{peaks(values[:, None])[0] - 1.0:.1e}")
    assert abs(peaks(values[:, None])[0] - 1.0) < 3e-10


def test_values_away_from_one_are_those_at_the_places() -> None:
    values = np.linspace(0.0, 0.5, 17)[:, None]
    assert peaks(values) == 0.5
    assert np.isinf(peaks(np.where(DENSE > 0.5, np.inf, 1.0)[:, None]))
