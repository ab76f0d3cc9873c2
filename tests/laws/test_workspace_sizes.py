"""The size of a workspace is right within its uncertainty, on random mechanisms whose reach is known in closed form."""

import numpy as np
import pytest

import linkwise as lw

ALL_ROUND = (-np.pi, np.pi)


def within(angle, limits):
    """Whether angles, or the same a turn away, lie within limits."""
    return (angle - limits[0]) % (2 * np.pi) <= limits[1] - limits[0]


def two_links(x, y, lengths, first, second):
    """Whether two links in a plane reach points with either elbow, by the law of cosines, joints within their limits."""
    a, b = lengths
    cosine = (x * x + y * y - a * a - b * b) / (2 * a * b)
    reached = np.zeros(x.shape, dtype=bool)
    for sense in (1, -1):
        elbow = sense * np.arccos(np.clip(cosine, -1, 1))
        shoulder = np.arctan2(y, x) - np.arctan2(b * np.sin(elbow), a + b * np.cos(elbow))
        reached |= (np.abs(cosine) <= 1) & within(shoulder, first) & within(elbow, second)
    return reached


def random_limits(rng):
    least = rng.uniform(-np.pi, np.pi / 2)
    return least, least + rng.uniform(0.5, 6.0)


def area(reached, far):
    """Of a region within the square of `far` to either side, by 1.4 million points: to 1e-3 of a border as long as that."""
    side = (np.arange(1200) + 0.5) / 600 * far - far
    return float(reached(*np.meshgrid(side, side)).mean()) * (2 * far) ** 2


def shifted(x=0.0):
    place = np.eye(4)
    place[0, 3] = x
    return place


def check(mechanism, size, most, **options):
    region = mechanism.workspace(**options)
    print(f"{region.size:.5f} of {size:.5f}, uncertain by {region.size_error:.5f}")
    assert abs(region.size - size) <= region.size_error + 1e-4 * size  # (by points beside)
    assert region.size_error < most * size


@pytest.mark.parametrize("seed", range(3))
def test_two_links_with_limits(seed):
    rng = np.random.default_rng(seed)
    lengths, limits = rng.uniform(0.3, 1.0, 2), [random_limits(rng) for _ in range(2)]
    links = [lw.Link.dh(a=a, convention="standard", name=f"arm{k}", limits=limits[k]) for k, a in enumerate(lengths)]
    size = area(lambda x, y: two_links(x, y, lengths, *limits), lengths.sum())
    check(lw.Mechanism(links), size, 0.02, samples=5_000, cells=48)


@pytest.mark.parametrize("seed", range(2))
def test_a_turning_table_with_two_links(seed):
    """The links in an upright plane that turns; a point is before the table or behind it."""
    rng = np.random.default_rng(seed)
    lengths, (table, *limits) = rng.uniform(0.3, 1.0, 2), [random_limits(rng) for _ in range(3)]
    links = [lw.Link.dh(alpha=np.pi / 2, convention="standard", name="table", limits=table)]
    links += [lw.Link.dh(a=a, convention="standard", name=f"arm{k}", limits=limits[k]) for k, a in enumerate(lengths)]
    x, y, z = rng.uniform(-1, 1, (3, 1_000_000)) * lengths.sum()
    away, angle = np.hypot(x, y), np.arctan2(y, x)
    reached = within(angle, table) & two_links(away, z, lengths, *limits)
    reached |= within(angle + np.pi, table) & two_links(-away, z, lengths, *limits)
    size = float(reached.mean()) * (2 * lengths.sum()) ** 3
    check(lw.Mechanism(links), size, 0.05, samples=5_000, cells=40)


@pytest.mark.parametrize("seed", range(3))
def test_a_five_bar(seed):
    """Where both cranks with their rods reach; of every second one a crank has limits."""
    rng = np.random.default_rng(seed)
    apart, lengths = rng.uniform(0.1, 0.5), rng.uniform(0.2, 0.6, 4)
    limits = random_limits(rng) if seed % 2 else None
    links = [
        lw.Link(name="crank", axis=(0, 0, 1), limits=limits),
        lw.Link(name="rod", axis=(0, 0, 1), before=shifted(lengths[0])),
        lw.Link(name="other_crank", parent="base", axis=(0, 0, 1), before=shifted(apart)),
        lw.Link(name="other_rod", axis=(0, 0, 1), before=shifted(lengths[2])),
    ]
    pin = lw.Loop("hinge", "rod", "other_rod", shifted(lengths[1]), shifted(lengths[3]))
    mechanism = lw.Mechanism(links, loops=[pin], tool_link="rod", tool=shifted(lengths[1]))

    def reached(x, y):
        one = two_links(x, y, lengths[:2], limits or ALL_ROUND, ALL_ROUND)
        return one & two_links(x - apart, y, lengths[2:], ALL_ROUND, ALL_ROUND)

    check(mechanism, area(reached, lengths[0] + lengths[1]), 0.03, samples=1_000, cells=32)
