"""ROB_MAT against the library's own algorithms, the manual's files and an independent program."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import sympy

from linkwise import Link, Mechanism
from linkwise.errors import ArgumentError, FileError
from linkwise.expr import evaluate, symbol
from linkwise.files import load, save_motion, spacelib_out
from linkwise.spacelib.programs import formats, rob_mat
from support.spacelib_manual import rob_mat as by_hand

EPS = np.finfo(float).eps


def random_rows(n: int, seed: int) -> tuple[np.ndarray, ...]:
    """Rows of the file, gravity and external actions; inertias of bodies that can exist."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, rob_mat.ROW))
    rows[:, 0] = rng.integers(0, 2, n)
    rows[:, 1:6] = rng.uniform(-1.5, 1.5, (n, 5))
    rows[:, 6] = rng.uniform(0.5, 3, n)
    for row in rows:
        points = rng.normal(size=(4, 3))
        points -= points.mean(axis=0)
        row[7:13] = (np.trace(points.T @ points) * np.eye(3) - points.T @ points)[np.triu_indices(3)]
    rows[:, 13:] = rng.normal(size=(n, 3))
    return rows, rng.normal(size=3), rng.normal(size=6)


def mechanism(rows: np.ndarray, gravity: np.ndarray) -> Mechanism:
    links = []
    for kind, theta, d, b, a, alpha, mass, jxx, jxy, jxz, jyy, jyz, jzz, *com in rows.tolist():
        links.append(
            Link.dh(
                theta, d, a, alpha, b=b, convention="standard", joint=("revolute", "prismatic")[int(kind)], mass=mass,
                com=com, inertia=(jxx, jyy, jzz, jxy, jyz, jxz),
            )
        )  # fmt: skip
    return Mechanism(links, gravity=gravity)


def motion(n: int, seed: int, k: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, k, n))


def close(got: np.ndarray, wanted: np.ndarray, operations: int) -> None:
    """Equal but for the rounding of some thousand operations with numbers as large as the results."""
    size = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=operations * EPS * size)


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (2, 1), (3, 2), (6, 3), (9, 4)])
def test_against_the_library(n: int, seed: int) -> None:
    rows, gravity, external = random_rows(n, seed)
    q, qp, qpp = motion(n, seed)
    found = rob_mat.rob_mat(rob_mat.robot(rows, gravity, external), q, qp, qpp)
    mech = mechanism(rows, gravity)
    T, W, H = mech.motion(q, qp, qpp)
    actions = mech.joint_wrenches(q, qp, qpp, external)
    others = spacelib_out.matrices(mech, qp, qpp, T, W, H, actions)
    for k, name in enumerate(rob_mat.PRINTED):
        close(np.broadcast_to(getattr(found, name), others[:, :, k].shape), others[:, :, k], 200 * n)
    close(found.tau, mech.inverse_dynamics(q, qp, qpp, external), 200 * n)


def test_against_a_program_written_apart() -> None:
    rows, gravity, external = random_rows(4, 7)
    q, qp, qpp = motion(4, 7, 1)[:, 0]
    found = rob_mat.rob_mat(rob_mat.robot(rows, gravity, external), q, qp, qpp)
    other = by_hand(mechanism(rows, gravity), q, qp, qpp, external)
    for name in ("T", "WA", "HA", "JO", "ACTO"):
        close(getattr(found, name), np.array(getattr(other, name)), 800)


def test_the_motion_is_the_derivative() -> None:
    """W and H from central differences of T along q(t), step 1e-5: off by the step squared times third derivatives."""
    rows, gravity, _ = random_rows(3, 5)
    made = rob_mat.robot(rows, gravity)
    q, qp, qpp = motion(3, 5, 1)[:, 0]
    step = 1e-5
    times = np.array([-step, 0.0, step])[:, None]
    found = rob_mat.rob_mat(made, q + qp * times + qpp * times**2 / 2, qp + qpp * times, np.broadcast_to(qpp, (3, 3)))
    before, now, after = found.T
    rate = (after - before) / (2 * step)
    np.testing.assert_allclose(found.WA[1] @ now, rate, atol=1e-7)
    np.testing.assert_allclose(found.HA[1] @ now, (found.WA[2] @ after - found.WA[0] @ before) / (2 * step), atol=1e-6)


def test_one_instant_and_a_batch_are_equal_bit_for_bit() -> None:
    rows, gravity, external = random_rows(5, 6)
    made = rob_mat.robot(rows, gravity, external)
    q, qp, qpp = motion(5, 6, 7)
    whole = rob_mat.rob_mat(made, q, qp, qpp)
    for k in range(7):
        one = rob_mat.rob_mat(made, q[k], qp[k], qpp[k])
        for name in ("A", "T", "W", "WO", "WA", "H", "HO", "HA", "JO", "FI", "ACTO", "tau"):
            assert np.array_equal(getattr(whole, name)[k], getattr(one, name)), name


def test_digits_known_of_the_smart_robot() -> None:
    """Four decimals of the couples on the base, as the original program gives them."""
    (found,) = rob_mat.run(formats.path("SMART.DAT"), formats.path("SMART.MOT"))
    action = found.ACTO[0, 0]
    assert [round(float(action[place]), 4) for place in ((0, 1), (0, 2), (1, 2))] == [381.1567, 5663.0017, 1104.5747]


def test_symbols_give_the_formula() -> None:
    """Two equal arms in a plane: the efforts on symbols are those of the textbook."""
    q1, q2, v1, v2, a1, a2, m, g, l, i = sympy.symbols("q1 q2 v1 v2 a1 a2 m g l i")  # noqa: E741
    rows = [[0, 0, 0, 0, l, 0, m, i, 0, 0, i, 0, i, -l / 2, 0, 0]] * 2
    made = rob_mat.robot(np.array(rows, dtype=object), [0, -g, 0])
    found = rob_mat.rob_mat(made, [q1, q2], [v1, v2], [a1, a2])
    c1, c12, c2, s2 = sympy.cos(q1), sympy.cos(q1 + q2), sympy.cos(q2), sympy.sin(q2)
    second = (i + m * l**2 / 4) * (a1 + a2) + m * l**2 * c2 * a1 / 2 + m * l**2 * s2 * v1**2 / 2 + m * g * l * c12 / 2
    first = (
        (i + m * l**2 / 4 + m * l**2) * a1 + m * l**2 * c2 * (a1 + a2) / 2 - m * l**2 * s2 * (v1 + v2) ** 2 / 2
        + 3 * m * g * l * c1 / 2 + second
    )  # fmt: skip
    assert sympy.simplify(found.tau[1] - second) == 0
    assert sympy.simplify(found.tau[0] - first) == 0


def test_expressions_have_the_values_of_numbers() -> None:
    rows, gravity, external = random_rows(2, 9)
    made = rob_mat.robot(rows, gravity, external)
    names = [symbol(f"x{k}") for k in range(6)]
    numbers = motion(2, 9, 1)[:, 0]
    found = rob_mat.rob_mat(made, names[:2], names[2:4], names[4:])
    got = evaluate(list(found.tau), dict(zip(names, numbers.ravel().tolist(), strict=True)))
    close(np.array(got), rob_mat.rob_mat(made, *numbers).tau, 400)


def test_a_robot_is_not_changed_from_outside() -> None:
    rows = random_rows(2, 3)[0]
    made = rob_mat.robot(rows, [0, 0, 0])
    times, before = np.zeros(1), made.theta.copy()
    found = rob_mat.rob_mat(made, *np.zeros((3, 1, 2)), times)
    rows[:], times[:] = 9.0, 9.0
    assert np.array_equal(made.theta, before)
    assert found.t.tolist() == [0.0]


def test_numbers_that_become_too_large_are_refused() -> None:
    """Whatever overflows first, there is an error and no warning: squares of speeds, or what is added up of them."""
    made = rob_mat.read_robot(formats.path("SCARA.DAT"))
    found = rob_mat.rob_mat(made, [0, 0, 0], [1e153, 1e153, 0], [0, 0, 0])
    assert np.isfinite(found.ACTO).all()
    for size in (5e153, 9e153, 1e200):
        with pytest.raises(ArgumentError, match="expected finite numbers"):
            rob_mat.rob_mat(made, [0, 0, 0], [size, size, 0], [0, 0, 0])


def test_arrays_of_other_shapes_are_refused() -> None:
    made = rob_mat.read_robot(formats.path("SCARA.DAT"))
    with pytest.raises(ArgumentError, match=r"\(2,\).*\(3,\).*\(3,\).*\(3,\).*\(k, 3\)"):
        rob_mat.rob_mat(made, [0, 0], [0, 0, 0], [0, 0, 0])
    with pytest.raises(ArgumentError, match=r"\(1, 3\).*\(n, 16\)"):
        rob_mat.robot([[0, 0, 0]], [0, 0, 0])
    for rows in ([[0.0], [0.0, 1.0]], "rows"):
        with pytest.raises(ArgumentError, match=r"robot.*array"):
            rob_mat.robot(rows, [0, 0, 0])
    with pytest.raises(ArgumentError, match=r"2.*gravity.*6.*external.*3.*6"):
        rob_mat.robot([[0.0] * 16], [0, 0])
    with pytest.raises(ArgumentError, match=r"rob_mat.*'abc'"):
        rob_mat.rob_mat(made, "abc", [0, 0, 0], [0, 0, 0])
    with pytest.raises(ArgumentError, match="joint type is 2"):
        rob_mat.robot([[2.0] + [0.0] * 15], [0, 0, 0])


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def long_motion(path: Path, n: int, rows: int, dt: float = 0.25) -> None:
    q = np.random.default_rng(8).normal(size=(3, rows, n))
    save_motion(path, dt, *q)


def test_the_whole_motion_is_read_however_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing stops after the first second."""
    long_motion(tmp_path / "long.mot", 3, 30)
    parts = list(rob_mat.run(formats.path("SCARA.DAT"), tmp_path / "long.mot"))
    assert np.concatenate([part.t for part in parts]).tolist() == [0.25 * k for k in range(30)]
    whole = "".join(chain.from_iterable(map(rob_mat.text, parts)))
    assert whole.count(" Link 1 ") == 30
    monkeypatch.setattr(rob_mat, "LINK_INSTANTS", 12)
    pieces = list(rob_mat.run(formats.path("SCARA.DAT"), tmp_path / "long.mot"))
    assert [len(part.t) for part in pieces] == [4] * 7 + [2]
    assert "".join(chain.from_iterable(map(rob_mat.text, pieces))) == whole


def test_a_motion_is_read_as_it_is_needed(tmp_path: Path) -> None:
    """Memory does not grow with the file: the first instants are there before its end has been seen to be wrong."""
    long_motion(tmp_path / "long.mot", 1, 20_000)
    with (tmp_path / "long.mot").open("a") as file:
        file.write("0 0 zero")
    (tmp_path / "one.dat").write_text("1\n0\n0 0 0 1 0\n1\n1 0 0 1 0 1\n0 0 0\n0 0 -9.8\n0 0 0 0 0 0\n")
    parts = rob_mat.run(tmp_path / "one.dat", tmp_path / "long.mot")
    assert len(next(parts).t) <= rob_mat.LINK_INSTANTS
    with pytest.raises(FileError, match="line 40002: 'zero' is not a number"):
        list(parts)


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "x.out"
    out.write_text("before")
    (tmp_path / "bad.mot").write_text("0.05\n0 0 0\n0 0 0\n0 0 x\n")
    with pytest.raises(FileError, match="line 4: 'x' is not a number"):
        rob_mat.write(out, rob_mat.run(formats.path("SCARA.DAT"), tmp_path / "bad.mot"))
    assert out.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2


def test_the_layout_is_that_of_linkwise_run(tmp_path: Path) -> None:
    rob_mat.write(tmp_path / "scara.out", rob_mat.run(formats.path("SCARA.DAT"), formats.path("SCARA.MOT")))
    mech = load(formats.path("SCARA.DAT"))
    instants = np.array([[[0, 1, 10], [0, 2, 20], [0, 0, 0]], [[0.1, 1.1, 11], [0.1, 2.1, 21], [0, 0, 0]]])
    q, qp, qpp = np.moveaxis(instants, -1, 0)
    other = spacelib_out.matrices(mech, qp, qpp, *mech.motion(q, qp, qpp), mech.joint_wrenches(q, qp, qpp))
    assert (tmp_path / "scara.out").read_text() == "".join(spacelib_out.text(other))


def test_impossible_inertias_where_they_are_asked_for(tmp_path: Path) -> None:
    """Only jzz is filled in, all that matters in a plane."""
    (tmp_path / "plane.dat").write_text(GOOD.replace("1 0 0\n1 0\n1", "0 0 0\n0 0\n1"))
    with pytest.raises(FileError, match="line 5: link 'link1': inertia"):
        rob_mat.read_robot(tmp_path / "plane.dat")
    found = rob_mat.rob_mat(rob_mat.read_robot(tmp_path / "plane.dat", physical=False), [0.3], [1.0], [2.0])
    close(found.tau, load(tmp_path / "plane.dat", physical=False).inverse_dynamics([0.3], [1.0], [2.0]), 50)
    rows = random_rows(2, 3)[0]
    for a, b in zip(rob_mat.robot(rows, [0, 0, 0]).J, rob_mat.robot(rows, [0, 0, 0], physical=False).J, strict=True):
        close(a, b, 10)


GOOD = "1\n0\n0 0 0 1 0\n1\n1 0 0\n1 0\n1\n0 0 0\n0 0 -9.8\n0 0 0 0 0 0\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("x", "line 1: 'x' is not a count of links, a whole number >= 1"),
        ("1\n", "line 1: the file ends where type of link 1 should follow; 1 link need 26 numbers in all, there are 1"),
        (
            GOOD.replace("1\n0\n", "1\n2\n", 1),
            "line 2: joint type of link 1 is '2'; expected 0",
        ),
        (GOOD.replace("-9.8", "-9,8"), "line 9: gz: '-9,8' has a decimal comma; write '-9.8'"),
        (GOOD + "7", "line 11: '7' comes after the last number"),
        (GOOD.replace("1 0 0\n1 0", "9 0 0\n1 0"), "line 5: link 'link1': inertia"),
    ],
)
def test_mistakes_in_a_data_file(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.dat").write_text(content)
    with pytest.raises(FileError, match=message):
        rob_mat.read_robot(tmp_path / "bad.dat")
