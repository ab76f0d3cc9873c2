"""A batch is a loop, bit for bit, however the arrays lie in memory; so equality here is ==, not a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.algorithm import ALGORITHMS, find
from support.random_mechanisms import LARGEST, arguments, arm, condition, craft, parts, suited

find("inverse_dynamics")
NAMES = sorted(name for name in ALGORITHMS if not find(name).needs_loops)
METHODS = [name for name in NAMES if hasattr(Mechanism, name)]
WEIGHTLESS = ["forward_kinematics", "link_poses", "jacobian", "jacobian_dot", "inverse_dynamics", "joint_wrenches"]


@pytest.fixture
def mech(request: pytest.FixtureRequest) -> Mechanism:
    return arm() if request.param == "arm" else craft()


def looped(function: Callable[..., object], args: list[np.ndarray], batch: tuple[int, ...]) -> list[np.ndarray]:
    """One call per configuration."""

    def row(arg: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
        return np.ascontiguousarray(arg[index]).reshape(arg.shape[len(batch) :])

    rows = [parts(function(*(row(arg, index) for arg in args))) for index in np.ndindex(batch)]
    return [np.array(column).reshape(*batch, *column[0].shape) for column in zip(*rows, strict=True)]


def same(found: object, wanted: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(parts(found), wanted, strict=True))


@pytest.fixture
def dtype(request: pytest.FixtureRequest) -> type:
    return np.dtype(request.param).type


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


PAIRS = [("craft", name) for name in NAMES] + [("arm", name) for name in NAMES if name not in LARGEST]
SINGLE = [("craft", name, "float32") for name in NAMES]  # of one mechanism: its lowering differs by its width alone

each = pytest.mark.parametrize(("mech", "name"), PAIRS, indirect=True)
in_single_or_double = pytest.mark.parametrize(
    ("mech", "name", "dtype"), [*((*pair, "float64") for pair in PAIRS), *SINGLE], indirect=True
)


@in_single_or_double
def test_every_tail(mech: Mechanism, name: str, dtype: type) -> None:
    """Up to 40 rows: several full blocks of lanes, and every number of spare lanes, of any vector width up to 16."""
    kernel = mech.kernel(name)
    args = arguments(mech, name, (40,), dtype)
    wanted = looped(kernel, args, (40,))
    assert all(array.dtype == dtype for array in wanted)
    for rows in (*range(1, 18), 24, 31, 33, 39, 40):
        assert same(kernel(*(arg[:rows] for arg in args)), [array[:rows] for array in wanted])


@each
@pytest.mark.parametrize("batch", [(1,), (3, 5), (2, 1, 4), (1, 1, 1, 1), (0,), (3, 0), (0, 2)])
def test_any_batch_shape(mech: Mechanism, name: str, batch: tuple[int, ...]) -> None:
    args = arguments(mech, name, batch)
    found = parts(mech.kernel(name)(*args))
    shapes = find(name).shapes(mech, find(name).outputs).values()
    assert [array.shape for array in found] == [(*batch, *shape) for shape in shapes]
    if all(batch):
        assert same(found, looped(mech.kernel(name), args, batch))


def layouts(arg: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The same numbers (7, n) or (7,), lying differently in memory."""
    if arg.ndim == 1:
        yield "every second", np.repeat(arg, 2)[::2]
        yield "reversed", np.ascontiguousarray(arg[::-1])[::-1]
        yield "other byte order", arg.astype(arg.dtype.newbyteorder())
        return
    rows, n = arg.shape
    yield "fortran", np.asfortranarray(arg)
    wide = np.full((rows, 3 * n), np.nan, arg.dtype)
    wide[:, ::3] = arg
    yield "every third column", wide[:, ::3]
    tall = np.full((2 * rows, n), np.nan, arg.dtype)
    tall[::2] = arg
    yield "every second row", tall[::2]
    yield "rows reversed", np.ascontiguousarray(arg[::-1])[::-1]
    yield "columns reversed", np.ascontiguousarray(arg[:, ::-1])[:, ::-1]
    loose = np.zeros((rows, n + 1), arg.dtype)
    loose[:, :n] = arg
    yield "rows apart", loose[:, :n]
    raw = np.zeros(arg.nbytes + 1, np.uint8)[1:]
    raw[:] = np.frombuffer(arg.tobytes(), np.uint8)
    yield "not aligned", raw.view(arg.dtype).reshape(arg.shape)
    closed = arg.copy()
    closed.setflags(write=False)
    yield "read only", closed
    yield "other byte order", arg.astype(arg.dtype.newbyteorder())


@in_single_or_double
def test_any_layout(mech: Mechanism, name: str, dtype: type) -> None:
    kernel = mech.kernel(name)
    args = arguments(mech, name, (7,), dtype)
    wanted = looped(kernel, args, (7,))
    for k in range(len(args)):
        for label, other in layouts(args[k]):
            assert np.array_equal(other, args[k])
            before = other.copy()
            assert same(kernel(*args[:k], other, *args[k + 1 :]), wanted), (k, label)
            assert np.array_equal(other, before), "inputs stay as they are"


@each
def test_one_argument_for_many(mech: Mechanism, name: str) -> None:
    """Broadcasting: each argument in turn is one vector for a batch of the others, or stands on another axis."""
    kernel = mech.kernel(name)
    args = arguments(mech, name, (5,))
    for k in range(len(args)):
        mixed = [arg if i != k else arg[0] for i, arg in enumerate(args)]
        full = [np.broadcast_to(arg, (5, *whole.shape[1:])) for arg, whole in zip(mixed, args, strict=True)]
        if len(args) > 1:
            assert same(kernel(*mixed), looped(kernel, full, (5,)))
        crossed = [arg[:, None] if i != k else arg[None, :3] for i, arg in enumerate(args)]
        batch = (5, 3) if len(args) > 1 else (1, 3)
        full = [np.broadcast_to(arg, (*batch, *whole.shape[1:])) for arg, whole in zip(crossed, args, strict=True)]
        assert same(kernel(*crossed), looped(kernel, full, batch))


@each
def test_results_go_where_they_are_wanted(mech: Mechanism, name: str) -> None:
    kernel = mech.kernel(name)
    args = arguments(mech, name, (9,))
    wanted = parts(kernel(*args))
    strided = tuple(np.full((18, *array.shape[1:]), 7.0)[::2] for array in wanted)
    backwards = tuple(np.zeros(array.shape[::-1]).T for array in wanted)
    for targets in (tuple(np.zeros_like(array) for array in wanted), strided, backwards):
        found = parts(kernel(*args, out=targets))
        assert all(a is b for a, b in zip(found, targets, strict=True))
        assert same(targets, list(wanted))


def test_a_result_may_overwrite_an_argument() -> None:
    mech = arm()
    args = arguments(mech, "inverse_dynamics", (21,))
    wanted = mech.inverse_dynamics(*args)
    target = args[0]
    mech.kernel("inverse_dynamics")(*args, out=target)
    assert np.array_equal(target, wanted)


@pytest.mark.parametrize("which", ["puma560", "seven_joint", "stanford", "planar_2r", "craft"])
def test_compiled_entry_gufunc_and_batch_agree(which: str) -> None:
    """A method called with plain vectors, which goes straight to machine code, against its gufunc and a batch."""
    mech = craft() if which == "craft" else robots.load(which)
    for name in METHODS if which in {"planar_2r", "craft"} else WEIGHTLESS:
        args = arguments(mech, name, (3,))
        single = [arg[0] for arg in args]
        first = parts(getattr(mech, name)(*single))
        plain = parts(getattr(mech, name)(*single))
        batch = parts(getattr(mech, name)(*args))
        kernel = parts(mech.kernel(name)(*single))
        for k, array in enumerate(plain):
            assert array.dtype == np.float64
            if array.ndim:
                assert array.flags.c_contiguous
                assert array.flags.owndata
                assert array.flags.writeable
            assert np.array_equal(first[k], array)
            assert np.array_equal(batch[k][0], array)
            assert np.array_equal(kernel[k], array)


@pytest.mark.parametrize(("mech", "name"), [pair[:2] for pair in SINGLE], indirect=True)
def test_single_precision_is_near_double(mech: Mechanism, name: str) -> None:
    """float32 works in float32: relative rounding 6e-8, some hundred operations, sums that cancel one digit.

    What solves with the mass matrix may lose its condition number besides (560 for the floating one; seen: 6e-6).
    """
    mech = suited(mech, name)
    args = arguments(mech, name, (50,), np.float32)
    single = parts(mech.kernel(name)(*args))
    double = parts(mech.kernel(name)(*(arg.astype(np.float64) for arg in args)))
    errors = [np.abs(a - b).max() / np.abs(b).max() for a, b in zip(single, double, strict=True)]
    print(errors)
    assert max(errors) <= max(5e-6, 6e-8 * condition(mech, name, args, double))
    assert max(errors) > 0 or not mech.kernel(name).operations, "it does work in single precision"


def test_lists_integers_and_other_numbers() -> None:
    mech = arm()
    state = [[1] * mech.n, [2] * mech.n, (0,) * mech.n]
    wanted = mech.inverse_dynamics(*(np.array(part, dtype=float) for part in state))
    for kind in (list, tuple, np.array, lambda v: np.array(v, np.int32), lambda v: np.array(v, np.int64)):
        assert np.array_equal(mech.inverse_dynamics(*(kind(part) for part in state)), wanted)
    mixed = mech.inverse_dynamics(state[0], np.array(state[1], np.float32), np.array(state[2], dtype=float))
    assert np.array_equal(mixed, wanted)
    named = mech.inverse_dynamics(q=state[0], qd=state[1], qdd=state[2])
    assert np.array_equal(named, wanted)


@pytest.mark.parametrize(
    "bad",
    [
        lambda n: (np.zeros(n - 1), np.zeros(n), np.zeros(n)),
        lambda n: (np.zeros(n + 1), np.zeros(n), np.zeros(n)),
        lambda n: (np.zeros(n), np.zeros(0), np.zeros(n)),
        lambda n: (np.float64(0.0), np.zeros(n), np.zeros(n)),
        lambda n: (np.zeros((4, n)), np.zeros((3, n)), np.zeros(n)),
        lambda n: (np.zeros((n, 2)), np.zeros(n), np.zeros(n)),
    ],
)
def test_wrong_shapes_are_refused(bad: Callable[[int], tuple[np.ndarray, ...]]) -> None:
    mech = arm()
    good = (np.zeros(mech.n),) * 3
    mech.inverse_dynamics(*good)
    with pytest.raises(ValueError, match=r"inverse_dynamics|broadcast"):
        mech.inverse_dynamics(*bad(mech.n))


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_wrong_number_of_arguments_is_refused(count: int) -> None:
    mech = arm()
    for _ in range(2):  # before and after the compiled entry is there
        with pytest.raises(TypeError):
            mech.inverse_dynamics(*[np.zeros(mech.n)] * count)


@pytest.mark.parametrize("value", [np.zeros(6, complex), np.array(["a"] * 6), None, np.array([None] * 6)])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        robots.load("puma560").forward_kinematics(value)  # type: ignore[arg-type]
