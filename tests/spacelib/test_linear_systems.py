"""Least squares, inverses, elimination with pivots of rows and columns: every rank and shape, symbols, what is refused."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.linear_systems import compiled, linears, minvers, reduce_batch, solve_l

RNG = np.random.default_rng(22)
EPS = np.finfo(float).eps
NONE = [-1]

SHAPES = [(1, 1), (3, 3), (4, 4), (6, 6), (3, 5), (5, 3), (1, 4), (4, 1), (8, 6)]


def integers(m: int, n: int, rank: int, seed: int) -> Any:
    """A matrix of small whole numbers of a given rank at most; products of such are exact in float64."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-4, 5, (m, rank)) @ rng.integers(-4, 5, (rank, n))).astype(float)


def test_compiled_and_column_by_column_agree() -> None:
    """Small systems are compiled, large ones reduced by NumPy: on systems without near ties both take the same pivots."""
    for n, m, k, main in [(3, 3, 1, ()), (4, 5, 2, (3, 0)), (5, 3, 1, (1,)), (2, 6, 3, ())]:
        h = RNG.normal(size=(200, n, m + k))
        h[::3, -1] = h[::3, 0]  # a third of them singular
        flags = ([float(j in main) for j in range(m)],) if main else ()
        ours = compiled(n, m, k, bool(main))(h, *flags)
        theirs = reduce_batch(h, m, main)
        for a, b in zip(ours[1:3], theirs[1:3], strict=True):
            assert np.array_equal(a, b)
        worst = max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(ours, theirs, strict=True))
        print(f"{n}x{m}: {worst:.1e}")
        assert worst < 1e-12  # products are fused with sums in one and not in the other


# --- linears ----------------------------------------------------------------------------------------------------------


def checked(A: Any, b: Any, vpr: Any = NONE) -> tuple[Any, Any, int, float]:
    """Reduce, and check that the result has the form of the manual's figure 4.2 and is an equivalent system."""
    n, m = A.shape
    H, ivet, irank, arm = linears(np.hstack([A, b]), n, m + b.shape[1], n, m, b.shape[1], vpr)
    assert sorted(ivet) == list(range(m))
    assert irank == np.linalg.matrix_rank(A)
    assert np.array_equal(H[:irank, :irank], np.eye(irank))
    assert not H[irank:, :m].any()
    # every row of the reduced system is a combination of the given ones, and the other way round
    full = np.hstack([A, b])
    back = np.hstack([H[:, :m][:, np.argsort(ivet)], H[:, m:]])
    size = 1 + np.abs(full).max()
    for rows, others in [(full, back), (back, full)]:
        combination = np.linalg.lstsq(others.T, rows.T, rcond=1e-9)[0]
        assert np.abs(others.T @ combination - rows.T).max() < 1e-8 * size  # well above rounding times the conditions here
    return H, ivet, irank, arm


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 8), st.integers(1, 3), st.integers(0, 10**6))
def test_every_shape_and_rank(shape: tuple[int, int], rank: int, k: int, seed: int) -> None:
    n, m = shape
    A = integers(n, m, min(rank, n, m), seed)
    checked(A, integers(n, k, k, seed + 1))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_regular_systems_are_solved(n: int) -> None:
    A, b = RNG.normal(size=(n, n)), RNG.normal(size=(n, 3))
    H, ivet, irank, arm = checked(A, b)
    x = np.empty((n, 3))
    x[ivet] = H[:, n:]
    assert irank == n
    assert arm > 0
    # elimination with complete pivoting: backward error of a few n eps
    assert np.abs(A @ x - b).max() <= 8 * n * EPS * (np.abs(A) @ np.abs(x) + np.abs(b)).max()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([(4, 4), (3, 5), (6, 3), (5, 5)]), st.integers(0, 5), st.integers(0, 10**6))
def test_solvable_or_not(shape: tuple[int, int], rank: int, seed: int) -> None:
    """A right side made from a solution leaves zeros below, exactly; one outside the range of A does not."""
    n, m = shape
    A = integers(n, m, min(rank, n, m), seed)
    x = integers(m, 1, 1, seed + 1)
    H, ivet, irank, _ = checked(A, A @ x)
    assert not H[irank:].any()
    general = np.zeros((m, 1))
    free = np.random.default_rng(seed).integers(-3, 4, m - irank)
    general[ivet[irank:], 0] = free
    general[ivet[:irank], 0] = H[:irank, m] - H[:irank, irank:m] @ free
    assert np.abs(A @ general - A @ x).max() <= 1e-10 * (1 + np.abs(A).max() * np.abs(general).max())
    if irank < n:
        outside = np.linalg.svd(A)[0][:, -1:]
        H = linears(np.hstack([A, outside]), n, m + 1, n, m, 1, NONE)[0]
        assert np.abs(H[irank:, m]).max() > 1e-3  # a unit vector at right angles to the range


def test_rounding_does_not_count_as_rank() -> None:
    """Rank one and rank two made with rounding: the last pass finds only that, and the right side stays solvable."""
    for rank in (1, 2, 3):
        A = RNG.normal(size=(5, rank)) @ RNG.normal(size=(rank, 4))
        b = A @ RNG.normal(size=(4, 1))
        H, _, irank, arm = linears(np.hstack([A, b]), 5, 5, 5, 4, 1, NONE)
        assert irank == rank
        assert 0 <= arm <= 50 * EPS * np.abs(A).max()
        assert not H[rank:].any()


def test_small_differences_are_kept() -> None:
    """What is larger than rounding is neither zero in A nor in b, however large a solution becomes."""
    H, _, irank, _ = linears([[1.0, 1.0, 1.0], [1.0, 1.0 + 1e-12, 1.0]], 2, 3, 2, 2, 1, NONE)
    assert irank == 2
    H, _, irank, _ = linears([[1e-10, 1.0], [1e-10, 1.0 + 1e-7]], 2, 2, 2, 1, 1, NONE)
    assert irank == 1
    assert H[1, 1] == pytest.approx(1e-7, rel=1e-8)


def test_main_variables_come_first() -> None:
    A, b = RNG.normal(size=(3, 5)), RNG.normal(size=(3, 1))
    for chosen in permutations(range(5), 3):
        H, ivet, irank, _ = checked(A, b, [*chosen, -1])
        assert set(ivet[:3]) == set(chosen)
        assert irank == 3
        wanted = np.linalg.solve(A[:, ivet[:3]], b)
        assert np.abs(H[:, 5:] - wanted).max() <= 1e-12 * np.linalg.cond(A[:, ivet[:3]]) * (1 + np.abs(wanted).max())
    assert linears(np.hstack([A, b]), 3, 6, 3, 5, 1, [4, -1, 2, 2])[1][0] == 4  # what follows -1 does not matter


def test_main_variables_that_are_no_pivots_are_passed_over() -> None:
    A = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]])
    _, ivet, irank, _ = checked(A, np.ones((2, 1)), [0, 1, -1])
    assert ivet.tolist() == [1, 2, 0]
    assert irank == 2
    _, ivet, irank, _ = checked(np.array([[1e-30, 1.0], [0.0, 0.0]]), np.ones((2, 1)), [0, -1])
    assert (ivet.tolist(), irank) == ([1, 0], 1)


def test_logical_part_of_a_larger_array() -> None:
    """What lies outside A and b is neither used nor changed; the array given is not changed at all."""
    A, b = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2))
    H = np.full((6, 9), 1e300)
    H[:3, :5] = np.hstack([A, b])
    before = H.copy()
    made, ivet, irank, arm = linears(H, 6, 9, 3, 3, 2, -1)
    small = linears(H[:3, :5], 3, 5, 3, 3, 2, -1)
    assert np.array_equal(made[:3, :5], small[0])
    assert (made[3:] == 1e300).all()
    assert (made[:, 5:] == 1e300).all()
    assert np.array_equal(H, before)
    assert np.array_equal(ivet, small[1])
    assert (irank, arm) == small[2:]
    assert linears(A, 3, 3, 3, 3, 0, -1)[2] == 3  # no right side: the rank alone


@pytest.mark.parametrize("vpr", [NONE, [2, 0, -1]])
@pytest.mark.parametrize("shape", [(4, 4, 1), (3, 5, 2), (6, 4, 1), (20, 19, 2)])
def test_batch_equals_loop(shape: tuple[int, int, int], vpr: list[int]) -> None:
    """All ranks in one batch: one goes on where another has ended. Large single systems take the way of batches."""
    n, m, k = shape
    systems = np.stack(
        [
            np.hstack([integers(n, m, rank % (min(n, m) + 1), rank), integers(n, k, k, rank)]) * 10.0 ** (rank % 3 - 1) / 7
            for rank in range(24)
        ]
    )
    made = linears(systems.reshape(4, 6, n, m + k), n, m + k, n, m, k, vpr)
    assert [part.shape for part in made] == [(4, 6, n, m + k), (4, 6, m), (4, 6), (4, 6)]
    assert len(set(made[2].ravel())) == min(n, m) + 1
    for place in np.ndindex(4, 6):
        alone = linears(systems.reshape(4, 6, n, m + k)[place], n, m + k, n, m, k, vpr)
        for part, single in zip(made, alone, strict=True):
            assert np.array_equal(part[place], single)
            assert not np.signbit(part[place][part[place] == 0]).any()


def test_long_batches_are_cut_without_a_trace() -> None:
    systems = RNG.normal(size=(5000, 3, 4))
    made = linears(systems, 3, 4, 3, 3, 1, NONE)
    for k in (0, 2729, 2730, 2731, 4999):
        assert all(
            np.array_equal(part[k], single)
            for part, single in zip(made, linears(systems[k], 3, 4, 3, 3, 1, NONE), strict=True)
        )
    assert [len(part) for part in linears(np.zeros((0, 3, 4)), 3, 4, 3, 3, 1, NONE)] == [0, 0, 0, 0]


def test_elimination_on_symbols() -> None:
    a, b, q = sympy.symbols("a b q", real=True)
    c, s = sympy.cos(q), sympy.sin(q)
    H, ivet, irank, arm = linears([[0, a, 1], [b, 0.5, 2]], 2, 3, 2, 2, 1, NONE)
    assert H.tolist() == [[1, 0, 1 / a], [0, 1, sympy.cancel((4 * a - 1) / (2 * a * b))]]
    assert (ivet.tolist(), irank, arm) == ([1, 0], 2, abs(b))
    H, ivet, irank, arm = linears([[c, s, a], [-s, c, 0]], 2, 3, 2, 2, 1, NONE)
    assert irank == 2
    assert sympy.simplify(H[0, 2] - a * c) == sympy.simplify(H[1, 2] - a * s) == 0
    H, ivet, irank, arm = linears([[c**2 + s**2, 1, a], [1, 1, b]], 2, 3, 2, 2, 1, NONE)
    assert (irank, arm) == (1, 0)
    assert sympy.simplify(H[1, 2] - (b - a)) == 0  # solvable only where a = b
    H = linears([[c**2 + s**2, 1, a], [1, 1, a]], 2, 3, 2, 2, 1, NONE)[0]
    assert H[1].tolist() == [0, 0, 0]
    H, ivet, irank, arm = linears([[a, b, 1, 7], [0, 0, 0, 7]], 2, 4, 1, 2, 1, [1, -1])
    assert H.tolist() == [[1, a / b, 1 / b, 7], [0, 0, 0, 7]]
    assert ivet.tolist() == [1, 0]
    assert linears(sympy.zeros(2, 3), 2, 3, 2, 2, 1, NONE)[2] == 0


def test_elimination_on_symbols_is_that_on_numbers() -> None:
    names = sympy.symbols("a:12", real=True)
    H, ivet, irank, _ = linears(sympy.Matrix(3, 4, names), 3, 4, 3, 3, 1, NONE)
    values = RNG.normal(size=12)
    found = np.array(sympy.Matrix(H).subs(dict(zip(names, values, strict=True))).tolist(), dtype=float)
    x = np.empty(3)
    x[ivet] = found[:, 3]
    system = values.reshape(3, 4)
    wanted = np.linalg.solve(system[:, :3], system[:, 3])
    assert irank == 3
    assert np.abs(x - wanted).max() < 1e-12 * np.linalg.cond(system[:, :3]) ** 2


# --- solve_l ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n", "rank"), [(3, 3, 3), (5, 3, 3), (3, 5, 3), (5, 4, 2), (4, 4, 0)])
def test_least_squares_of_least_length(m: int, n: int, rank: int) -> None:
    A = RNG.normal(size=(m, max(rank, 1))) @ RNG.normal(size=(max(rank, 1), n)) * (rank > 0)
    b = RNG.normal(size=(m, 2))
    x, irank = solve_l(A, b)
    wanted, _, counted, _ = np.linalg.lstsq(A, b, rcond=None)
    assert irank == counted == rank
    assert np.abs(x - wanted).max() <= 1e-11 * (1 + np.abs(wanted).max())
    assert np.array_equal(solve_l(A, b[:, :1])[0], solve_l(A, b[:, 0])[0][:, None])
    assert solve_l(A, b[:, 0])[0].shape == (n,)


def test_batch_of_least_squares() -> None:
    A, b = RNG.normal(size=(6, 4, 3)), RNG.normal(size=(6, 4))
    A[2] = A[2, :, :1]  # of rank one
    x, irank = solve_l(A, b)
    columns, _ = solve_l(A, b[..., None])
    shared, ranks = solve_l(A[0], b[..., None])
    assert irank.tolist() == [3, 3, 1, 3, 3, 3]
    assert ranks == 3
    for k in range(6):
        alone, rank = solve_l(A[k], b[k])
        assert np.abs(x[k] - alone).max() <= 4 * EPS * np.abs(A[k]).max() * 8 * np.abs(alone).max() / 0.05
        assert np.array_equal(x[k], columns[k, :, 0])
        assert rank == irank[k]
        assert np.abs(shared[k, :, 0] - solve_l(A[0], b[k])[0]).max() < 1e-13


def test_least_squares_of_symbols() -> None:
    a, b, c = sympy.symbols("a b c", real=True)
    x, irank = solve_l([[a, 0], [0, b]], [1, 0.5])
    assert (x.tolist(), irank) == ([1 / a, 1 / (2 * b)], 2)
    x, irank = solve_l([[1], [1], [1]], [a, b, c])
    assert sympy.simplify(x[0] - (a + b + c) / 3) == 0
    assert irank == 1
    x, irank = solve_l([[a, a], [a, a]], [[1], [1]])
    assert irank == 1
    assert sympy.simplify(sympy.Matrix(x) - sympy.Matrix([1, 1]) / (2 * a)) == sympy.zeros(2, 1)
    p, r = symbol("p"), symbol("r")
    x, irank = solve_l([[p, 0.0], [1.0, r]], [1.0, 2.0])
    assert irank == 2
    assert np.allclose(evaluate(list(x), {p: 0.5, r: 4.0}), [2.0, 0.0], atol=4 * EPS)


# --- minvers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_inverse(n: int) -> None:
    A = RNG.normal(size=(20, n, n))
    made = minvers(A)
    for k in range(20):
        assert np.array_equal(made[k], minvers(A[k]))
        assert np.abs(A[k] @ made[k] - np.eye(n)).max() <= 8 * n * EPS * np.linalg.cond(A[k])
    larger = RNG.normal(size=(n + 2, n + 3))
    larger[:n, :n] = A[0]
    assert np.array_equal(minvers(larger, n), made[0])


def test_scales_do_not_make_a_matrix_singular() -> None:
    for scales in ([1e-20, 1.0, 1e20], [1e-150, 1e-150, 1e-150]):
        A = np.diag(scales) @ RNG.normal(size=(3, 3))
        assert np.abs(minvers(A) @ A - np.eye(3)).max() < 1e-12


@pytest.mark.parametrize(
    "A", [np.zeros((3, 3)), np.ones((2, 2)), np.arange(9.0).reshape(3, 3) + 1, np.diag([1.0, 2.0, 0.0])]
)
def test_singular_matrices_are_refused(A: Any) -> None:
    for scale in (1.0, 1e-9, 1e9):
        with pytest.raises(ArgumentError, match=r"^minvers: A is singular$"):
            minvers(scale * A)
    batch = np.stack([np.eye(len(A)), A, np.eye(len(A))])
    with pytest.raises(ArgumentError, match=r"minvers.*\(1,\)"):
        minvers(batch)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_inverse_of_symbols(n: int) -> None:
    names = sympy.symbols(f"a:{n * n}", real=True)
    made = minvers(sympy.Matrix(n, n, names))
    values = RNG.normal(size=n * n)
    found = np.array(sympy.Matrix(made).subs(dict(zip(names, values, strict=True))).tolist(), dtype=float)
    wanted = np.linalg.inv(values.reshape(n, n))
    assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max() * np.linalg.cond(wanted)
    ours = [symbol(f"a{k}") for k in range(n * n)]
    made = minvers(np.array(ours, dtype=object).reshape(n, n))
    found = np.array(evaluate(list(made.ravel()), dict(zip(ours, values, strict=True)))).reshape(n, n)
    assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max() * np.linalg.cond(wanted)


def test_inverse_of_a_rotation_is_its_transpose() -> None:
    q = sympy.Symbol("q", real=True)
    R = sympy.Matrix([[sympy.cos(q), -sympy.sin(q)], [sympy.sin(q), sympy.cos(q)]])
    assert sympy.Matrix(minvers(R)) == R.T


def test_large_symbolic_matrices_by_elimination() -> None:
    a = sympy.Symbol("a", real=True)
    A = sympy.eye(7) * a
    A[0, 6] = 1
    assert sympy.Matrix(minvers(A)) == sympy.Matrix(A).inv()
    A[6, 6] = 0
    with pytest.raises(ArgumentError, match=r"minvers.*6.*7"):
        minvers(A)
    x = symbol("x")
    with pytest.raises(ArgumentError, match=r"minvers.*7.*7.*6.*6"):
        minvers(np.eye(7) * x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: solve_l(np.eye(3), np.ones(2)),
            "solve_l: b is of shape (2,); expected (3,), or columns (..., 3, k), for A has 3 rows",
        ),
        (
            lambda: solve_l(np.eye(3), 1.0),
            "solve_l: b is of shape (); expected (3,), or columns (..., 3, k), for A has 3 rows",
        ),
        (lambda: solve_l(np.ones(3), np.ones(3)), "solve_l: A is of shape (3,); expected a matrix (..., m, n)"),
        (
            lambda: solve_l(np.ones((2, 3, 3)), np.ones((4, 3, 1))),
            "solve_l: the batch shapes do not fit each other: A (2,), b (4,)",
        ),
        (lambda: solve_l(np.eye(2), [np.nan, 1.0]), "solve_l: b is nan at (0,); expected finite numbers"),
        (lambda: minvers(np.ones((2, 3))), "minvers: A is of shape (2, 3); expected a square matrix (..., n, n)"),
        (lambda: minvers(np.eye(3), 4), "minvers: dim is 4; expected a whole number from 1 to 3"),
        (lambda: minvers([[sympy.Symbol("x")] * 2] * 2), "minvers: A is singular: its determinant is identically zero"),
        (
            lambda: linears(np.eye(3), 3, 4, 3, 3, 1, -1),
            "linears: H is of shape (3, 3); expected (..., 3, 4), as idim and jdim say",
        ),
        (lambda: linears(np.eye(3), 3, 3, 4, 2, 1, -1), "linears: imax is 4; expected a whole number from 1 to 3"),
        (lambda: linears(np.eye(3), 3, 3, 3, 4, 1, -1), "linears: jmax is 4; expected a whole number from 1 to 3"),
        (lambda: linears(np.eye(3), 3, 3, 3, 2, 2, -1), "linears: nsol is 2; expected a whole number from 0 to 1"),
        (
            lambda: linears(np.eye(3), 3, 3, 3, 2, 1, [0]),
            "linears: vpr is [0]; expected different variables from 0 to 1, then -1",
        ),
        (
            lambda: linears(np.eye(3), 3, 3, 3, 2, 1, [2, -1]),
            "linears: vpr is [2, -1]; expected different variables from 0 to 1, then -1",
        ),
        (
            lambda: linears(np.eye(3), 3, 3, 3, 2, 1, [1, 1, -1]),
            "linears: vpr is [1, 1, -1]; expected different variables from 0 to 1, ",
        ),
        (
            lambda: linears(np.eye(3), 3, 3, 3, 2, 1, [0.5, -1]),
            "linears: vpr is [0.5, -1]; expected different variables from 0 to 1, ",
        ),
        (
            lambda: linears([[symbol("x"), 1.0]], 1, 2, 1, 1, 1, -1),
            "linears: H holds Linkwise expressions, whose zeros are not known;",
        ),
        (
            lambda: minvers(np.array([[[sympy.Symbol("x")]]])),
            "minvers: the shape is (1, 1, 1); symbols are taken one matrix at a time, no batch",
        ),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert str(caught.value).startswith(message)
