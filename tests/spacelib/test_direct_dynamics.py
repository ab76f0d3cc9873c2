"""Direct dynamics of a body: every choice of unknowns against a plain solve, what is no inertia, symbols, batches."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.constants import NOTOK, OK
from linkwise.spacelib.direct_dynamics import dyn_eq
from linkwise.spacelib.position import screwtom, traslat
from linkwise.spatial.matrix_method import action_matrix, skew_part, velocity_matrix
from linkwise.spatial.rotation import axial, skew

RNG = np.random.default_rng(23)
EPS = np.finfo(float).eps

ACCELERATIONS = [[1] * 6, [0] * 6]
ACTIONS = [[0] * 6, [1] * 6]
MASKS = [[list(row), [1 - item for item in row]] for row in product((0, 1), repeat=6)]


def inertia(*batch: int) -> Any:
    """The inertia matrix of eight points of some mass, somewhere."""
    points = RNG.normal(size=(*batch, 8, 3)) + RNG.normal(size=(*batch, 1, 3))
    points = np.concatenate([points, np.ones((*batch, 8, 1))], axis=-1)
    return np.swapaxes(points, -1, -2) @ (RNG.uniform(0.2, 2.0, (*batch, 8, 1)) * points)


def six_by_six(J: Any) -> Any:
    """The matrix of (t, f) = M (omega', a), of textbooks: moments about the origin, mass, first moments between."""
    S, s, m = J[:3, :3], J[:3, 3], J[3, 3]
    return np.block([[np.trace(S) * np.eye(3) - S, skew(s)], [-skew(s), m * np.eye(3)]])


def motion(Wp: Any) -> Any:
    return np.concatenate([axial(Wp[:3, :3]), Wp[:3, 3]])


def actions(F: Any) -> Any:
    return np.concatenate([axial(F[:3, :3]), F[:3, 3]])


@pytest.mark.parametrize("var", MASKS, ids=lambda var: "".join(map(str, var[0])))
def test_every_choice_of_unknowns(var: list[list[int]]) -> None:
    """What is known is kept to the bit; what is unknown is that of a plain solve, whatever stood in its place."""
    J = inertia()
    known_motion, known_actions = RNG.normal(size=(2, 6))
    M = six_by_six(J)
    unknown = np.array(var[0], dtype=bool)
    x, y = known_motion.copy(), known_actions.copy()
    right = known_actions[unknown] - M[np.ix_(unknown, ~unknown)] @ known_motion[~unknown]
    x[unknown] = np.linalg.solve(M[np.ix_(unknown, unknown)], right) if unknown.any() else []
    y[~unknown] = (M @ x)[~unknown]
    Wp, F = velocity_matrix(known_motion[:3], known_motion[3:]), action_matrix(known_actions[3:], known_actions[:3])
    Wp_before, F_before = Wp.copy(), F.copy()
    made, completed, test = dyn_eq(J, Wp, F, var)
    assert test == OK
    bound = 64 * EPS * np.linalg.cond(M) * (1 + np.abs(x).max())  # the condition of the largest of the systems
    assert np.abs(motion(made) - x).max() <= bound
    assert np.abs(actions(completed) - y).max() <= bound * np.abs(M).max()
    assert np.array_equal(motion(made)[~unknown], known_motion[~unknown])
    assert np.array_equal(actions(completed)[unknown], known_actions[unknown])
    assert np.array_equal(made[:3, :3], -made[:3, :3].T)
    assert np.array_equal(completed, -completed.T)
    assert not made[3].any()
    assert np.abs(completed - skew_part(made, J)).max() <= 64 * EPS * np.abs(M).max() * (1 + np.abs(x).max())
    assert np.array_equal(Wp, Wp_before)
    assert np.array_equal(F, F_before)


def test_all_accelerations_known_is_skew() -> None:
    J, Wp = inertia(), velocity_matrix(*RNG.normal(size=(2, 3)))
    _, F, test = dyn_eq(J, Wp, np.zeros((4, 4)), ACTIONS)
    assert test == OK
    assert np.abs(F - skew_part(Wp, J)).max() <= 16 * EPS * np.abs(J).max() * np.abs(Wp).max()


def test_an_acceleration_matrix_serves_for_known_accelerations() -> None:
    """Of H the skew-symmetric part counts: the square of the angular velocity is symmetric."""
    J, w = inertia(), skew(RNG.normal(size=3))
    Wp = velocity_matrix(*RNG.normal(size=(2, 3)))
    H = Wp.copy()
    H[:3, :3] += w @ w
    assert np.abs(dyn_eq(J, H, np.zeros((4, 4)), ACTIONS)[1] - dyn_eq(J, Wp, np.zeros((4, 4)), ACTIONS)[1]).max() < 1e-13


def test_velocity_of_a_momentum() -> None:
    J, W = inertia(), velocity_matrix(*RNG.normal(size=(2, 3)))
    found, _, test = dyn_eq(J, np.zeros((4, 4)), skew_part(W, J), ACCELERATIONS)
    assert test == OK
    assert np.abs(found - W).max() <= 64 * EPS * np.linalg.cond(six_by_six(J))


def test_batch_equals_loop_also_where_some_are_no_inertia() -> None:
    J, Wp, F = inertia(5), velocity_matrix(*RNG.normal(size=(2, 3))), np.stack([np.zeros((4, 4))] * 3)
    for k in range(3):
        F[k] = action_matrix(*RNG.normal(size=(2, 3)))
    J[2, 3, 3] = -1.0
    J[4, 0, 1] += 1.0
    for var in MASKS[::9]:
        made, completed, test = dyn_eq(J[:, None], Wp, F, var)
        assert made.shape == completed.shape == (5, 3, 4, 4)
        assert test.shape == (5, 3)
        for i, k in np.ndindex(5, 3):
            alone = dyn_eq(J[i], Wp, F[k], var)
            assert np.array_equal(made[i, k], alone[0])
            assert np.array_equal(completed[i, k], alone[1])
            assert test[i, k] == alone[2] == (NOTOK if i in {2, 4} else OK)
    made, completed, test = dyn_eq(J, Wp, F[0], [[1] * 6, [1] * 6])
    assert made.shape == completed.shape == (5, 4, 4)
    assert test.tolist() == [NOTOK] * 5


def refused(J: Any, Wp: Any, F: Any, var: Any) -> bool:
    """Whether the call gives NOTOK, and the matrices as they were given."""
    made, completed, test = dyn_eq(J, Wp, F, var)
    assert test in {OK, NOTOK}
    return bool(test == NOTOK) and np.array_equal(made, Wp) and np.array_equal(completed, F)


@pytest.mark.parametrize(
    "var",
    [
        [[1] * 6, [1] * 6],
        [[0] * 6, [0] * 6],
        [[1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]],
        [[1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0]],
        [[0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]],
        [[2, 1, 1, 1, 1, 1], [-1, 0, 0, 0, 0, 0]],
    ],
)
def test_six_unknowns_are_not_enough_each_pair_must_have_one(var: Any) -> None:
    J, Wp, F = inertia(), RNG.normal(size=(4, 4)), RNG.normal(size=(4, 4))
    assert refused(J, Wp, F, var)
    assert refused(J.tolist(), Wp.tolist(), F.tolist(), np.array(var, dtype=float))


def test_what_is_no_inertia() -> None:
    Wp, F = velocity_matrix(*RNG.normal(size=(2, 3))), action_matrix(*RNG.normal(size=(2, 3)))
    good = inertia()
    asymmetric, negative, massless = good.copy(), -good, good.copy()
    asymmetric[0, 2] += 1e-6
    massless[3, 3] = 0.0
    impossible = np.diag([1.0, 1.0, -1e-6, 1.0])
    away = traslat([1.0, 2.0, 3.0], 1e3)
    for J in (
        asymmetric,
        negative,
        massless,
        np.zeros((4, 4)),
        impossible,
        away @ impossible @ away.T,
        np.diag([1.0, -1.0, 1.0, 1.0]),
    ):
        for scale in (1e-9, 1.0, 1e9):
            for var in (ACCELERATIONS, ACTIONS):
                assert refused(scale * J, Wp, F, var)
    nearly = good + 1e-15 * RNG.normal(size=(4, 4))  # rounding is no asymmetry
    assert dyn_eq(nearly, Wp, F, ACCELERATIONS)[2] == OK


def spread_along(directions: Any, place: Any) -> Any:
    """The inertia matrix of points of mass on some directions from a place: a flat body on two, a rod on one."""
    points = RNG.normal(size=(6, len(directions))) @ np.reshape(directions, (-1, 3)) + place
    points = np.column_stack([points, np.ones(6)])
    return points.T @ points


def test_flat_bodies() -> None:
    """The 6x6 mass matrix of a body that has no thickness is positive definite, wherever it lies; that of a rod is not."""
    for place in (0.0, [1.0, 0.0, 0.0], [30.0, -20.0, 10.0]):
        flat, rod = spread_along(RNG.normal(size=(2, 3)), place), spread_along(RNG.normal(size=(1, 3)), place)
        point = spread_along(np.zeros((0, 3)), place)
        for scale, length in ((1e-9, 1.0), (1.0, 1e-6), (1.0, 1.0), (1.0, 1e6), (1e9, 1.0)):
            D = np.diag([length, length, length, 1.0])
            for J in (D @ flat @ D * scale, D @ rod @ D * scale, D @ point @ D * scale):
                Wp = velocity_matrix(RNG.normal(size=3), length * RNG.normal(size=3))
                F = skew_part(Wp, J)
                assert dyn_eq(J, Wp, np.zeros((4, 4)), ACTIONS)[2] == OK
                made, _, test = dyn_eq(J, np.zeros((4, 4)), F, ACCELERATIONS)
                assert test == (OK if J[0, 0] == (D @ flat @ D * scale)[0, 0] else NOTOK)
                if test == OK:
                    sizes = np.outer([1, 1, 1, 1], [1, 1, 1, length])
                    assert (np.abs(made - Wp) <= 64 * EPS * np.linalg.cond(six_by_six(flat)) * sizes * 4).all()


def test_a_rod_whose_spin_is_known() -> None:
    """A rod along x does not feel an angular acceleration about x; where that is known, the others follow."""
    rod = np.diag([0.5, 0.0, 0.0, 2.0])
    Wp = velocity_matrix([3.0, 0.1, 0.2], [1.0, 2.0, 3.0])
    F = skew_part(Wp, rod)
    assert refused(rod, Wp, F, ACCELERATIONS)
    made, completed, test = dyn_eq(rod, Wp, F, [[0, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]])
    assert test == OK
    assert np.abs(made - Wp).max() <= 16 * EPS * 3
    assert np.abs(completed - F).max() <= 16 * EPS * 6


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_actions_that_balance(size: float) -> None:
    """Moments and forces that cancel leave rounding, which is not skew-symmetric: the body stays as it is."""
    D = np.diag([size, size, size, 1.0])
    for _ in range(100):
        J = D @ inertia() @ D
        m = screwtom(RNG.normal(size=3), 1.0, RNG.normal(size=3) * size, 0.0)
        one, two = (D @ action_matrix(*100 * RNG.normal(size=(2, 3))) @ D for _ in range(2))
        F = m @ one @ m.T + m @ two @ m.T - m @ (one + two) @ m.T
        made, _, test = dyn_eq(J, np.zeros((4, 4)), F, ACCELERATIONS)
        assert test == OK
        # Actions of some 300 N cancel to a few units in the last place; the body is of some 10 kg.
        assert np.abs(made[:3, 3]).max() <= 1e-9 * size
        assert np.abs(made[:3, :3]).max() <= 1e-9
        wrong = F.copy()
        wrong[0, 3] += size
        assert refused(J, np.zeros((4, 4)), wrong, ACCELERATIONS)


def test_units_do_not_matter() -> None:
    """The same body in m and kg, in mm and g, in km and t: always accepted, and the same motion."""
    J, F = inertia(), action_matrix(*RNG.normal(size=(2, 3)))
    Wp = dyn_eq(J, np.zeros((4, 4)), F, ACCELERATIONS)[0]
    for length, mass in [(1e3, 1e3), (1e-3, 1e-3), (1e6, 1.0)]:
        D = np.diag([length, length, length, 1.0])
        made, _, test = dyn_eq(mass * D @ J @ D, np.zeros((4, 4)), mass * D @ F @ D, ACCELERATIONS)
        assert test == OK
        assert np.abs(made[:3, :3] - Wp[:3, :3]).max() < 1e-12 * np.abs(Wp).max()
        assert np.abs(made[:3, 3] - length * Wp[:3, 3]).max() < 1e-12 * length * np.abs(Wp).max()


def test_known_actions_must_be_skew() -> None:
    J, Wp, F = inertia(), np.zeros((4, 4)), action_matrix(*RNG.normal(size=(2, 3)))
    bad = F.copy()
    bad[3, 0] = 0.0  # the force along x stands in the column alone
    assert refused(J, Wp, bad, ACCELERATIONS)
    assert dyn_eq(J, Wp, bad, [[1, 1, 1, 0, 1, 1], [0, 0, 0, 1, 0, 0]])[2] == OK  # there it is unknown
    assert dyn_eq(J, Wp, RNG.normal(size=(4, 4)), ACTIONS)[2] == OK


# --- symbols ----------------------------------------------------------------------------------------------------------

M, A, B, C, D, E, S, R, Q = sympy.symbols("m a b c d e s r q", real=True)
GENERAL = sympy.Matrix([[A, D, E, S], [D, B, S / 2, R], [E, S / 2, C, Q], [S, R, Q, M]])
TORQUE, FORCE = sympy.symbols("t1:4", real=True), sympy.symbols("f1:4", real=True)
TURN, GO = sympy.symbols("w1:4", real=True), sympy.symbols("a1:4", real=True)


def symbolic_action() -> Any:
    t, f = TORQUE, FORCE
    return sympy.Matrix([[0, -t[2], t[1], f[0]], [t[2], 0, -t[0], f[1]], [-t[1], t[0], 0, f[2]], [-f[0], -f[1], -f[2], 0]])


def symbolic_motion() -> Any:
    w, a = TURN, GO
    return sympy.Matrix([[0, -w[2], w[1], a[0]], [w[2], 0, -w[0], a[1]], [-w[1], w[0], 0, a[2]], [0, 0, 0, 0]])


@pytest.mark.parametrize("var", MASKS[::9], ids=lambda var: "".join(map(str, var[0])))
def test_symbols_give_what_numbers_give(var: list[list[int]]) -> None:
    J, Wp, F = inertia(), velocity_matrix(*RNG.normal(size=(2, 3))), action_matrix(*RNG.normal(size=(2, 3)))
    J[1, 2] = J[2, 1] = J[0, 3] / 2
    J += np.diag([30.0, 30.0, 30.0, 0.0])
    wanted = dyn_eq(J, Wp, F, var)
    made = dyn_eq(GENERAL, symbolic_motion(), symbolic_action(), var)
    assert wanted[2] == made[2] == OK
    values = dict(zip([A, D, E, S, B, R, C, Q, M], J[[0, 0, 0, 0, 1, 1, 2, 2, 3], [0, 1, 2, 3, 1, 3, 2, 3, 3]], strict=True))
    values |= dict(zip([*TURN, *GO, *TORQUE, *FORCE], [*motion(Wp), *actions(F)], strict=True))
    ours = {name: symbol(name.name) for name in values}
    in_graph = [
        [ours[item] if item in ours else ours[S] / 2.0 if item == S / 2 else 0.0 for item in row] for row in GENERAL.tolist()
    ]
    graph = dyn_eq(
        in_graph,
        velocity_matrix([ours[w] for w in TURN], [ours[a] for a in GO]),
        action_matrix([ours[f] for f in FORCE], [ours[t] for t in TORQUE]),
        var,
    )
    assert graph[2] == OK
    bound = 1e-11 * np.linalg.cond(six_by_six(J))
    for part, expression, node in zip(wanted[:2], made[:2], graph[:2], strict=True):
        found = np.array(sympy.Matrix(expression).subs(values).tolist(), dtype=float)
        assert np.abs(found - part).max() <= bound
        numbers = evaluate(list(node.ravel()), {ours[name]: float(value) for name, value in values.items()})
        assert np.abs(np.reshape(numbers, (4, 4)) - part).max() <= bound


def test_body_about_its_centre_of_mass() -> None:
    """Euler's and Newton's equations, without a remainder to simplify."""
    J = sympy.diag(A, B, C, M)
    Wp, F, test = dyn_eq(J, np.zeros((4, 4)), symbolic_action(), ACCELERATIONS)
    t, f = TORQUE, FORCE
    x, y, z = t[0] / (B + C), t[1] / (A + C), t[2] / (A + B)
    wanted = sympy.Matrix([[0, -z, y, f[0] / M], [z, 0, -x, f[1] / M], [-y, x, 0, f[2] / M], [0, 0, 0, 0]])
    assert test == OK
    assert sympy.Matrix(Wp) == wanted
    assert sympy.Matrix(F) == symbolic_action()


def test_body_with_its_centre_of_mass_on_the_axis() -> None:
    J = sympy.Matrix([[A + M * R**2, 0, 0, M * R], [0, B, 0, 0], [0, 0, C, 0], [M * R, 0, 0, M]])
    Wp, F, test = dyn_eq(J, np.zeros((4, 4)), symbolic_action(), ACCELERATIONS)
    product = sympy.Matrix(Wp) * J
    assert test == OK
    assert sympy.simplify(product - product.T - symbolic_action()) == sympy.zeros(4, 4)
    assert not any(item.atoms(sympy.Float) for item in [*Wp.ravel(), *F.ravel()])


def test_symbols_where_something_can_be_seen() -> None:
    F, Wp = symbolic_action(), symbolic_motion()
    asymmetric = GENERAL.copy()
    asymmetric[0, 1] = A
    for J in (asymmetric, sympy.diag(A, 0, 0, M), sympy.diag(A, -2, C, M), sympy.zeros(4, 4), sympy.diag(1, 1, 1, -1)):
        made, completed, test = dyn_eq(J, Wp, F, ACCELERATIONS)
        assert test == NOTOK
        assert sympy.Matrix(made) == Wp
        assert sympy.Matrix(completed) == F
    flat = sympy.diag(A, 0, C, M)
    made, _, test = dyn_eq(flat, Wp, F, ACCELERATIONS)
    assert test == OK
    assert [sympy.simplify(item) for item in axial(made) - [TORQUE[0] / C, TORQUE[1] / (A + C), TORQUE[2] / A]] == [0] * 3
    assert dyn_eq(sympy.diag(1, 0, 2, 3), Wp, F, ACCELERATIONS)[2] == OK
    assert dyn_eq(sympy.diag(1, 0, 0, 3), Wp, F, ACCELERATIONS)[2] == NOTOK
    assert dyn_eq(sympy.diag(A, 0, 0, M), Wp, F, [[0, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]])[2] == OK
    point = sympy.Matrix([R, 0, 0, 1])
    assert dyn_eq(M * point * point.T, Wp, F, ACCELERATIONS)[2] == NOTOK
    assert dyn_eq(GENERAL, Wp, F * 0 + sympy.eye(4), ACTIONS)[2] == OK
    bad = F.copy()
    bad[0, 3] = 0
    assert dyn_eq(GENERAL, Wp, bad, ACCELERATIONS)[2] == NOTOK
    assert dyn_eq(GENERAL, Wp, F, [[1] * 6, [1] * 6])[2] == NOTOK
    assert dyn_eq(inertia(), Wp, F, ACTIONS)[2] == OK
    assert dyn_eq(-inertia(), Wp, F, ACTIONS)[2] == NOTOK


EYE = np.eye(4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dyn_eq(np.eye(3), EYE, EYE, ACTIONS), "dyn_eq: J is of shape (3, 3); expected a matrix (..., 4, 4)"),
        (lambda: dyn_eq(EYE, np.eye(3), EYE, [[1] * 6] * 2), "dyn_eq: Wp is of shape (3, 3); expected a matrix (..., 4, 4)"),
        (lambda: dyn_eq(EYE, EYE, EYE * np.nan, ACTIONS), "dyn_eq: F is nan at (0, 0); expected finite numbers"),
        (
            lambda: dyn_eq(EYE, EYE, EYE, [1] * 12),
            "dyn_eq: var is [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; expected two rows of six",
        ),
        (lambda: dyn_eq(EYE, EYE, EYE, [["1"] * 6] * 2), "dyn_eq: var is [['1', '1', '1', '1', '1', '1'], "),
        (
            lambda: dyn_eq(np.ones((2, 4, 4)), np.ones((3, 4, 4)), EYE, ACTIONS),
            "dyn_eq: the batch shapes do not fit each other: ",
        ),
        (
            lambda: dyn_eq(np.ones((2, 4, 4)), np.ones((3, 4, 4)), EYE, [[1] * 6] * 2),
            "dyn_eq: the batch shapes do not fit each other: J (2,), Wp (3,), F ()",
        ),
        (
            lambda: dyn_eq([sympy.eye(4) * M], EYE, EYE, ACTIONS),
            "dyn_eq: J has the shape (1, 4, 4); symbols are taken one at a time",
        ),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert str(caught.value).startswith(message)
