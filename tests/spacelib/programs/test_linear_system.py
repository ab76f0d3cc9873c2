from pathlib import Path

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError, FileError
from linkwise.spacelib.programs import formats, linear_system
from linkwise.spacelib.programs.linear_system import linear_system as solved


def test_the_manuals_system() -> None:
    found = solved(*linear_system.read_system(formats.path("INP.DAT")))
    assert (found.kind, found.irank, found.ivet.tolist(), found.free) == ("many", 3, [3, 0, 2, 1, 4], (1, 4))
    assert found.x.tolist() == [1, 0, -2, 3.5, 0]
    assert found.solution(7, 4).tolist() == [1, 7, 5, -5.5, 4]


@pytest.mark.parametrize(
    ("n", "m", "rank"), [(1, 1, 1), (4, 4, 4), (4, 4, 2), (3, 6, 3), (3, 6, 2), (6, 3, 3), (6, 3, 2), (9, 9, 8)]
)
def test_every_solution_solves_it(n: int, m: int, rank: int) -> None:
    """Random systems of known rank; rounding is bounded by the condition, below 1e4 for these."""
    rng = np.random.default_rng([n, m, rank])
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    true = rng.normal(size=m)
    found = solved(A, A @ true)
    assert found.irank == rank
    assert found.kind == ("one" if rank == m else "many")
    assert found.basis.shape == (m, m - rank)
    np.testing.assert_allclose(A @ found.basis, 0, atol=1e-11)
    anything = found.solution(*rng.normal(size=m - rank))
    np.testing.assert_allclose(A @ anything, A @ true, atol=1e-11)
    np.testing.assert_allclose(found.solution(*true[list(found.free)]), true, atol=1e-11)
    assert found.residual <= 1e-12


@pytest.mark.parametrize(("n", "m", "rank"), [(4, 4, 2), (6, 3, 3), (6, 3, 1), (3, 6, 2)])
def test_no_solution_is_seen(n: int, m: int, rank: int) -> None:
    rng = np.random.default_rng([n, m, rank])
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    found = solved(A, A @ rng.normal(size=m) + 1e-6 * rng.normal(size=n))
    assert found.kind == "none"
    assert np.isnan(found.x).all()
    assert np.isnan(found.residual)
    with pytest.raises(ArgumentError, match="no solution"):
        found.solution()


def test_rounding_of_an_unknown_that_is_zero_is_no_contradiction() -> None:
    """x(1) comes out as -1e-16, and the third equation holds nothing else."""
    found = solved([[800.0, 0.0], [2000.0, -7.0], [0.0, 2.0]], [16.0, 40.0, 0.0])
    assert found.kind == "one"
    np.testing.assert_allclose(found.x, [0.02, 0.0], atol=1e-15)
    assert solved([[800.0, 0.0], [2000.0, -7.0], [0.0, 2.0]], [16.0, 40.0, 1e-9]).kind == "none"
    assert solved([[1e18], [1.0]], [1e18, 2.0]).kind == "none"


def test_scales_of_equations_and_unknowns() -> None:
    """Equations and unknowns of sizes from 1e-3 to 1e3: what can be met is seen, and so is a contradiction of 1e-8."""
    rng = np.random.default_rng(17)
    for _ in range(300):
        m = rng.integers(1, 6)
        n = m + rng.integers(1, 4)
        A = rng.integers(-5, 6, (n, m)) * 10.0 ** rng.integers(-3, 4, m) * 10.0 ** rng.integers(-3, 4, (n, 1))
        b = A @ rng.integers(-3, 4, m)
        assert solved(A, b).kind in ("one", "many")
        if np.linalg.matrix_rank(A[:-1]) == m and b[-1]:
            b[-1] *= 1 + 1e-8
            assert solved(A, b).kind == "none"


def test_the_result_is_its_own() -> None:
    A, b = np.eye(2), np.ones(2)
    found = solved(A, b)
    A[0, 0] = b[0] = 9.0
    assert (found.A[0, 0], found.b[0]) == (1.0, 1.0)


def test_forced_main_variables_are_not_free() -> None:
    found = solved([[1.0, 2.0, 3.0]], [6.0], [0, -1])
    assert sorted(found.free) == [1, 2]
    assert found.x.tolist() == [6, 0, 0]


@pytest.mark.parametrize(
    ("A", "b", "lines"),
    [
        ([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0], ["The solution is:", "x = [1 0.5]"]),
        ([[1.0, 1.0], [1.0, 1.0]], [1.0, 2.0], ["The rank of the matrix is: 1", "The system has no solution."]),
        (
            [[1.0, 2.0]],
            [3.0],
            ["The number of rows and columns are different.", "The system has infinitely many solutions.",
             "Any value may be given to x(0), variables counted from 0; then", "  x(1) = 1.5 - 0.5 x(0)"],
        ),
        ([[1.0, 0.0], [0.0, 2.0]], [3e-7, 1e-9], ["x = [3e-07 5e-10]"]),
        ([[1.0, 2.0]], [3e-7], ["  x(1) = 1.5e-07 - 0.5 x(0)"]),
        ([[1.0], [2.0]], [3.0, 6.0], ["The rank of the matrix is: 1", "The system has one solution.", "x = [3]"]),
    ],
)  # fmt: skip
def test_what_is_printed(A: list, b: list, lines: list[str]) -> None:
    printed = linear_system.text(solved(A, b)).splitlines()
    for line in lines:
        assert line in printed


@pytest.mark.parametrize(("b", "kind"), [([0.0, 0.0], "many"), ([0.0, 1.0], "none")])
def test_no_coefficients(b: list[float], kind: str) -> None:
    found = solved(np.zeros((2, 2)), b)
    assert (found.kind, found.irank, found.free) == (kind, 0, (0, 1))


def test_what_was_taken_for_zero_is_told() -> None:
    found = solved([[1.0, 0.0], [0.0, 1e-16]], [1.0, 1.0])
    assert found.irank == 1
    assert "Elements up to 1e-16 (arm) were taken for zero." in linear_system.text(found).splitlines()


def test_a_solution_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(ArgumentError, match="beyond the range"):
        solved([[1e-300]], [1e300])


@pytest.mark.parametrize("A", ["a", [[1j]], [[1.0], [1.0, 2.0]], [[np.nan]], [[sympy.Symbol("a")]]])
def test_what_are_no_numbers_is_refused(A: object) -> None:
    with pytest.raises(ArgumentError, match="linear_system: A"):
        solved(A, [1.0])


@pytest.mark.parametrize(("A", "b"), [([1.0], [1.0]), ([[1.0]], [1.0, 2.0]), (np.zeros((0, 3)), np.zeros(0))])
def test_other_shapes_are_refused(A: object, b: object) -> None:
    with pytest.raises(ArgumentError, match=r"expected \(n, m\) and \(n,\)"):
        solved(A, b)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty; expected the number of equations"),
        ("2", "line 1: the file ends where the number of unknowns should follow"),
        ("2 x", r"line 1: the number of unknowns is 'x'; expected a whole number from 1 to 9999"),
        ("0 1", "line 1: the number of equations is '0'; expected a whole number from 1 to 9999"),
        ("1.5 1", "line 1: the number of equations is '1.5'; expected"),
        ("1 2\n1 2", r"line 2: the file ends where b\(1\) should follow"),
        ("1 1\n1 one", r"line 2: b\(1\): 'one' is not a number"),
        ("1 1\n1 nan", r"line 2: b\(1\): 'nan' is not a finite number"),
        ("1 1\n0,5 2", r"line 2: A\(1,1\): '0,5' has a decimal comma; write '0.5'"),
        ("1 1\n1 2\n3", "line 3: '3' comes after the last number; 4 numbers were expected, there are 5 words"),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "inp.dat").write_text(content)
    with pytest.raises(FileError, match=message):
        linear_system.read_system(tmp_path / "inp.dat")


def test_the_first_twenty_mistakes_are_told(tmp_path: Path) -> None:
    (tmp_path / "inp.dat").write_text("1 999\n" + "0,5\n" * 1000)
    with pytest.raises(FileError) as caught:
        linear_system.read_system(tmp_path / "inp.dat")
    assert len(caught.value.problems) == 20
    assert str(caught.value).endswith("\nOnly the first 20 mistakes are listed.")


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    (tmp_path / "inp.dat").write_text("1 2\na b 3\n4")
    with pytest.raises(FileError) as caught:
        linear_system.read_system(tmp_path / "inp.dat")
    assert [problem.line for problem in caught.value.problems] == [2, 2, 3]
