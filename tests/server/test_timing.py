import json
import math

import numpy as np
import pytest

from linkwise.server.scheduler import Histogram, Spread, Timing


@pytest.mark.parametrize("scale", [10, 1_000, 1_000_000, 10_000_000_000])
def test_a_quantile_is_at_most_a_sixteenth_too_large(scale: int) -> None:
    drawn = np.random.default_rng(1).exponential(scale, 999).astype(int)
    seen = Histogram()
    for duration in drawn.tolist():
        seen.add(duration)
    for fraction in (0.001, 0.1, 0.5, 0.99, 0.999, 1.0):
        exact = int(np.sort(drawn)[max(math.ceil(fraction * len(drawn)) - 1, 0)])
        assert exact <= seen.quantile(fraction) <= exact + exact // 16 + 1
    assert seen.worst == drawn.max() == seen.quantile(1.0)


def test_every_small_duration_has_its_own_bucket_and_none_is_lost() -> None:
    seen = Histogram()
    for duration in range(32):
        seen.add(duration)
    assert seen.counts[:33] == [1] * 32 + [0]
    assert sum(seen.counts) == seen.total == 32


def test_a_clock_that_goes_back_counts_as_nothing() -> None:
    seen = Histogram()
    seen.add(-5)
    assert (seen.quantile(1.0), seen.worst, seen.total) == (0, 0, 1)


def test_no_duration_at_all() -> None:
    assert Histogram().spread() == Spread(0.0, 0.0, 0.0, 0.0)


def test_the_longest_durations_still_have_a_bucket() -> None:
    seen = Histogram()
    seen.add(2**62)
    assert seen.quantile(1.0) == 2**62


def test_a_timing_is_json() -> None:
    told = Timing(1e-3, 3, 1, 0, Spread(0, 0, 0, 0), Spread(1e-6, 2e-6, 3e-6, 4e-6), "stop")
    assert json.loads(json.dumps(told.as_dict()))["step"]["worst"] == 4e-6
