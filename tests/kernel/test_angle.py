"""The angle of a point from machine code against many digits: within one step of correctly rounded, exact on the axes."""

from __future__ import annotations

import dataclasses
import math
from functools import cache

import mpmath
import numpy as np
import pytest

from linkwise.expr.operations import OPERATIONS
from linkwise.kernel import Kernel, trace
from linkwise.kernel.backends.llvm import lowering as llvm

pytest.importorskip("llvmlite", reason="what is tested is machine code")

BITS = 220
Pair = tuple[np.ndarray, np.ndarray]


def kernel(backend: str = "llvm") -> Kernel:
    return Kernel(trace(lambda p: p[0].atan2(p[1]), "plane", {"p": (2,)}, {"angle": ()}), backend)


@cache
def plane() -> Kernel:
    return kernel()


def computed(y: np.ndarray, x: np.ndarray, made: Kernel | None = None) -> np.ndarray:
    with np.errstate(all="ignore"):  # tested by itself below
        return np.asarray((made or plane())(np.stack([y, x], axis=-1)))


def exact(y: np.ndarray, x: np.ndarray) -> list[mpmath.mpf]:
    with mpmath.workprec(BITS):
        return [mpmath.atan2(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(y.tolist(), x.tolist(), strict=True)]


def errors(y: np.ndarray, x: np.ndarray, made: Kernel | None = None) -> tuple[float, float]:
    """The largest distances from the correctly rounded and from the exact value, in units of the former's last place."""
    found, wanted = computed(y, x, made), exact(y, x)
    rounded = np.array([float(value) for value in wanted])
    unit = np.spacing(np.abs(rounded))
    # The last bits of the exact value do not matter in the ratio of a small difference to the unit.
    with mpmath.workprec(BITS):
        ulps = [float((mpmath.mpf(a) - b) / float(u)) for a, b, u in zip(found.tolist(), wanted, unit, strict=True)]
    return float((np.abs(found - rounded) / unit).max()), float(np.abs(ulps).max())


def check(points: Pair, bound: float, made: Kernel | None = None) -> None:
    steps, ulps = errors(*points, made)
    print(f"{len(points[0])} points: {steps:g} steps from correctly rounded, {ulps:.3f} ulp from exact")
    assert ulps <= bound


ORDINARY = 0.65
"""Half an ulp for the last rounding, 0.13 for all others (see the module), and a little for the polynomial."""

SUBNORMAL = 1.5
"""Three roundings of half an ulp each."""


def around(angles: np.ndarray, radius: np.ndarray) -> Pair:
    return radius * np.sin(angles), radius * np.cos(angles)


def turned(y: np.ndarray, x: np.ndarray) -> Pair:
    """The points with all signs, and with their coordinates exchanged."""
    ys, xs = [y, -y, y, -y, x, -x, x, -x], [x, x, -x, -x, y, y, -y, -y]
    return np.concatenate(ys), np.concatenate(xs)


def test_points_all_around() -> None:
    rng = np.random.default_rng(0)
    check(around(rng.uniform(-np.pi, np.pi, 12000), 10 ** rng.uniform(-3, 3, 12000)), ORDINARY)


def test_magnitudes_of_all_sizes() -> None:
    """No quotient is subnormal here, but many coordinates are, and sums of magnitudes overflow."""
    rng = np.random.default_rng(1)
    x = 10 ** rng.uniform(-320, 308, 6000)
    y = np.clip(x * 10 ** rng.uniform(-250, 0, 6000), 5e-324, None)
    keep = y / x > 1e-300
    check(turned(y[keep], x[keep]), ORDINARY)


def test_edges_of_what_is_scaled() -> None:
    edges = np.array([2.0**-500, 2.0**500, 2.0**-1022, 5e-324, 2.0**-1074 * 3, np.finfo(float).max, 2.0**1023])
    sizes = np.concatenate([edges, np.nextafter(edges, 1.0), np.nextafter(edges[:5], 0.0)])
    sizes = sizes[sizes > 0]
    ratios = np.array([1.0, 0.999, 0.5, 0.41421356237309503, 0.3, 1e-5, 1e-200])
    x, ratio = (grid.ravel() for grid in np.meshgrid(sizes, ratios))
    y = x * ratio
    keep = (y > 0) & (y / x > 1e-290)
    check(turned(y[keep], x[keep]), ORDINARY)


def test_next_to_the_edge_of_the_reduction_and_to_the_diagonals() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0.5, 2.0, 400)
    for ratio in (math.tan(math.pi / 8), 1.0, 0.5):
        edge = x * ratio
        near = [edge, np.nextafter(edge, 0), np.nextafter(edge, 9), edge * (1 + rng.normal(size=400) * 1e-9)]
        check(turned(np.concatenate(near), np.tile(x, 4)), ORDINARY)


def test_small_and_subnormal_angles() -> None:
    rng = np.random.default_rng(3)
    y, x = 10 ** rng.uniform(-323, -290, 4000), 10 ** rng.uniform(-3, 15, 4000)
    check((y, x), SUBNORMAL)
    small = 10.0 ** -np.arange(5, 300)
    assert np.array_equal(computed(small, np.ones_like(small))[4:], small[4:])  # y - y^3/3 is y where y < 1e-8
    assert computed(np.array([5e-324]), np.array([1.0])) == 5e-324
    assert computed(np.array([5e-324]), np.array([1e300])) == 0.0


def test_axes_and_diagonals_are_exact() -> None:
    sizes = np.array([5e-324, 1e-310, 1e-200, 0.3, 1.0, 7.0, 1e200, np.finfo(float).max])
    zero = np.zeros_like(sizes)
    pi = math.pi
    for y, x, wanted in [
        (zero, sizes, 0.0),
        (-zero, sizes, 0.0),
        (zero, -sizes, pi),
        (-zero, -sizes, pi),
        (sizes, zero, pi / 2),
        (sizes, -zero, pi / 2),
        (-sizes, zero, -pi / 2),
        (-sizes, -zero, -pi / 2),
        (sizes, sizes, pi / 4),
        (-sizes, sizes, -pi / 4),
        (sizes, -sizes, 3 * pi / 4),
        (-sizes, -sizes, -3 * pi / 4),
    ]:
        for backend in ("llvm", "numpy"):
            assert np.all(computed(y, x, kernel(backend)) == wanted), (y, x, backend)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_zeros_infinities_and_nan(backend: str, dtype: type) -> None:
    values = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, -np.nan], dtype)
    y, x = (grid.ravel() for grid in np.meshgrid(values, values))
    found = computed(y, x, kernel(backend))
    reference = OPERATIONS["atan2"].value
    wanted = np.array([reference(float(a), float(b)) for a, b in zip(y, x, strict=True)]).astype(dtype)
    assert found.dtype == dtype
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.isnan(wanted).any()
    known = ~np.isnan(wanted)
    np.testing.assert_array_max_ulp(found[known], wanted[known], 1)


def test_what_comes_out_is_an_angle() -> None:
    rng = np.random.default_rng(4)
    angles = np.concatenate([rng.uniform(-np.pi, np.pi, 100_000), np.pi - 10 ** rng.uniform(-18, 0, 50_000)])
    for y, x in (around(angles, np.ones_like(angles)), (rng.normal(size=50_000) * 1e-17, -np.ones(50_000))):
        found = computed(y, x)
        assert np.abs(found).max() <= math.pi
        assert np.array_equal(np.sign(found), np.sign(y))


def test_symmetries() -> None:
    """Bit for bit: mirrored at the x axis, and scaled by a power of two."""
    rng = np.random.default_rng(5)
    y, x = rng.normal(size=(2, 20_000))
    found = computed(y, x)
    assert np.array_equal(computed(-y, x), -found)
    for power in (2.0**900, 2.0**-700):
        assert np.array_equal(computed(y * power, x * power), found)


def test_it_is_the_arc_tangent_of_sine_and_cosine() -> None:
    angles = np.random.default_rng(6).uniform(-3.14, 3.14, 1000)
    made = Kernel(trace(lambda q: q[0].sin().atan2(q[0].cos()), "around", {"q": (1,)}, {"angle": ()}), "llvm")
    # Sine and cosine are off by an ulp each: of 1 at most.
    assert np.abs(made(angles[:, None]) - angles).max() <= 3 * np.spacing(np.pi)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rare_points_do_not_disturb_their_neighbours(dtype: type) -> None:
    """Lanes that are scaled take another way; those beside them, and a loop, give the same bits."""
    rng = np.random.default_rng(7)
    y, x = rng.normal(size=(2, 67)).astype(dtype)
    small = np.array([1e-44, 1e-310], dtype)[int(dtype is np.float64)]
    y[40:50], x[45:55] = small, 1e30  # (quotients that are subnormal in lanes that are not rare)
    calm = computed(y, x)
    mixed_y, mixed_x = y.copy(), x.copy()
    for k, (a, b) in enumerate(
        [(0, 0), (np.inf, 1), (np.nan, 1), (np.inf, np.inf), (small, small), (3e38, 3e38), (0, -np.inf)]
    ):
        mixed_y[5 * k], mixed_x[5 * k] = a, b
    others = np.arange(67) % 5 != 0
    found = computed(mixed_y, mixed_x)
    assert np.array_equal(found[others | (np.arange(67) >= 35)], calm[others | (np.arange(67) >= 35)])
    loop = [computed(a[None], b[None])[0] for a, b in zip(mixed_y, mixed_x, strict=True)]
    assert np.array_equal(found, loop, equal_nan=True)


def test_the_single_call_gives_the_same_bits() -> None:
    rng = np.random.default_rng(8)
    made = Kernel(trace(lambda p: p[:1] * 0.0 + p[0].atan2(p[1]), "plane", {"p": (2,)}, {"angle": (1,)}), "llvm")
    points = rng.normal(size=(40, 2)) * 10 ** rng.uniform(-200, 200, (40, 1))
    points[3] = 0.0
    assert np.array_equal([made(point) for point in points], made(points))


@pytest.mark.parametrize("has_fma", [True, False])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_other_hosts(monkeypatch: pytest.MonkeyPatch, width: int, has_fma: bool) -> None:
    real = llvm.host()
    if width > real.vector_bytes or (has_fma and not real.has_fma):
        pytest.skip("this machine's vectors are shorter, or it has no fused multiply-add")
    rng = np.random.default_rng(9)
    y, x = around(rng.uniform(-np.pi, np.pi, 2500), 10 ** rng.uniform(-250, 250, 2500))
    y[::97], x[::89] = 0.0, 1e-310
    wanted = computed(y, x)
    monkeypatch.setattr(llvm, "host", lambda: dataclasses.replace(real, vector_bytes=width, has_fma=has_fma))
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    made = kernel()
    found = computed(y, x, made)
    if has_fma:
        assert np.array_equal(found, wanted)
    # Without it each step of the polynomials is rounded twice, so that the rest's share is at most doubled.
    check((y, x), ORDINARY if has_fma else 0.8, made)


def test_numpy_gives_the_same_to_rounding() -> None:
    rng = np.random.default_rng(10)
    y, x = rng.normal(size=(2, 5000))
    # NumPy's own is promised to be off by less than 4 ulp, seen: 1.
    np.testing.assert_array_max_ulp(computed(y, x), computed(y, x, kernel("numpy")), 4)


def single_points() -> Pair:
    rng = np.random.default_rng(11)
    y = np.concatenate([rng.normal(size=100_000), 10 ** rng.uniform(-44, 38, 50_000)])
    x = np.concatenate([rng.normal(size=100_000), 10 ** rng.uniform(-44, 38, 50_000) * rng.choice([-1, 1], 50_000)])
    return y.astype(np.float32), x.astype(np.float32)


def test_single_precision() -> None:
    """The reference is the double result, tested above, rounded: it is wrong by a step in one of 2^28 cases at most."""
    y, x = single_points()
    found, wide = computed(y, x), computed(y.astype(float), x.astype(float))
    assert found.dtype == np.float32
    with np.errstate(under="ignore"):
        rounded = wide.astype(np.float32)
    steps = np.abs(found.view(np.int32).astype(np.int64) - rounded.view(np.int32))
    ulps = np.abs(found - wide) / np.spacing(np.abs(rounded)).astype(float)
    print(f"{steps.max()} steps from correctly rounded, {ulps.max():.4f} ulp from exact")
    # The polynomial is right to 2^-33 and pi/4 to 2^-53; double arithmetic: half an ulp for the last rounding, and 1/200.
    assert steps.max() <= 1
    assert ulps.max() <= 0.505


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [0.0, -0.0, np.nan, np.inf, 3e38, 1e-40, 1e-300, 1.7e308])
@pytest.mark.parametrize("other", [0.0, 1.0, np.nan])
def test_finite_numbers_and_nan_raise_no_warning(value: float, other: float, dtype: type) -> None:
    """As with np.arctan2: the results are right, so there is nothing to warn of. Nor of a selection by NaN."""
    with np.errstate(all="ignore"):
        pair = np.array([value, other]).astype(dtype)
    chosen = Kernel(trace(lambda p: p[0].select(p[1], p[0]), "choice", {"p": (2,)}, {"r": ()}), "llvm")
    with np.errstate(all="raise", under="ignore"):
        for row in (pair, pair[::-1].copy(), -pair):
            plane()(np.tile(row, (9, 1)))
            chosen(np.tile(row, (9, 1)))


def test_many_angles_in_parts() -> None:
    """More arithmetic than goes into one function: what is fused and kept between parts does not change the numbers."""

    def chain(p: np.ndarray) -> np.ndarray:
        values = [p[0].atan2(p[1])]
        for k in range(120):
            values.append((values[-1] * p[k % 2] + 0.1 * k).atan2(1.5 + abs(values[k // 2])))
        return np.array(values[-5:])

    tape = trace(chain, "chain", {"p": (2,)}, {"r": (5,)})
    points = np.random.default_rng(12).normal(size=(37, 2))
    found, plain = Kernel(tape, "llvm")(points), Kernel(tape, "numpy")(points)
    # Each angle passes the error of the one before on, at most by its factor p/1.5, and adds a few ulps of 1.
    assert np.abs(found - plain).max() <= 1e-13
    assert np.array_equal(found, [Kernel(tape, "llvm")(point) for point in points])


def test_teeth() -> None:
    """The measure sees a result that is off by one step."""
    y, x = np.array([0.3]), np.array([0.7])

    class Wrong:
        def __call__(self, p: np.ndarray) -> np.ndarray:
            return np.nextafter(computed(p[:, 0], p[:, 1]), 9.0)

    assert errors(y, x, Wrong())[1] > ORDINARY  # type: ignore[arg-type]
