"""The exciting motion stays within its limits at all times, is what it says, and is better than a random one."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.identification import ExcitingTrajectory, exciting_trajectory
from linkwise.identification.condition import criterion_loss
from linkwise.identification.fourier import FourierFamily, FourierSeries, exponential_limits, exponential_motion, resting
from linkwise.identification.optimal_excitation import CRITERIA, Excitation, descend
from support.random_mechanisms import relative, sample

PUMA = lw.robots.puma560()
SPEED, ACCELERATION = np.array([1.5, 1.2, 1.8, 3, 3, 3]), np.array([4.0, 3, 6, 12, 12, 12])


@pytest.fixture(scope="module")
def puma_motion() -> ExcitingTrajectory:
    return exciting_trajectory(PUMA, 10.0, qd_max=SPEED, qdd_max=ACCELERATION, steps=15, starts=1)


def test_limits_hold_at_all_times(puma_motion: ExcitingTrajectory) -> None:
    q, qd, qdd = puma_motion.at(np.linspace(0, 10, 100_001))
    low, high = PUMA.q_min, PUMA.q_max
    room = np.minimum(q.min(axis=0) - low, high - q.max(axis=0))
    fastest, hardest = np.abs(qd).max(axis=0) / SPEED, np.abs(qdd).max(axis=0) / ACCELERATION
    reached = np.maximum(np.maximum(fastest, hardest), 2 * np.abs(q - q.mean(axis=0)).max(axis=0) / (high - low))
    print(f"room {room.min():.3f} rad, speed {fastest.max():.4f}, acceleration {hardest.max():.4f} of the limits")
    assert np.all(room > 0)
    assert fastest.max() < 1.0
    assert hardest.max() < 1.0
    assert reached.max() > 0.9  # and they are used


@pytest.mark.parametrize("seed", range(20))
def test_any_numbers_make_a_motion_within_the_limits(seed: int) -> None:
    """However wild: a grid between the one at which the limits are held. Nothing but rounding may pass them."""
    rng = np.random.default_rng(seed)
    centre, half = rng.normal(size=3), np.array([1.0, 0.1, 2.0])
    family = FourierFamily(
        4.0, int(rng.integers(2, 8)), centre, half, np.array([1.0, np.inf, 3.0]), np.array([2.0, 9.0, np.inf]), True
    )
    for degree in (np.inf, 64.0):
        series = family.series(rng.normal(size=(3, family.numbers)) * 10.0 ** rng.uniform(-3, 2), degree)
        q, qd, qdd = series(np.linspace(0, 4, 7001))
        assert np.all(np.abs(q - centre) <= half * (1 + 1e-12))
        assert np.all(np.abs(qd) <= family.speed)
        assert np.all(np.abs(qdd) <= family.acceleration)


def test_motion_is_exact_periodic_and_at_rest_at_the_ends(puma_motion: ExcitingTrajectory) -> None:
    t, h = np.linspace(0.1, 9.9, 50), 1e-4
    _, qd, qdd = puma_motion.at(t)
    after, before = puma_motion.at(t + h), puma_motion.at(t - h)
    assert np.abs((after[0] - before[0]) / (2 * h) - qd).max() < 1e-6  # h^2 / 6 times the third derivative, at most 40
    assert np.abs((after[1] - before[1]) / (2 * h) - qdd).max() < 1e-6
    first, last = puma_motion.at([0.0, 10.0])[0]
    assert np.abs(first - last).max() < 1e-12
    for values in puma_motion.at([0.0, 10.0])[1:]:
        assert np.abs(values).max() < 1e-12
    assert np.array_equal(puma_motion.q, puma_motion.at(puma_motion.t)[0])
    assert puma_motion.names == PUMA.names


def test_condition_number_is_that_of_the_regressor(puma_motion: ExcitingTrajectory) -> None:
    """Of other samples of the same motion."""
    columns = PUMA.base_parameters(resting=False).columns
    rows = PUMA.regressor(*puma_motion.at(np.arange(1000) * 0.01))[..., columns].reshape(-1, 58)
    wanted = np.linalg.cond(rows / np.linalg.norm(rows, axis=0))
    print(puma_motion, wanted)
    assert abs(puma_motion.condition / wanted - 1) < 0.1  # Coulomb friction jumps between samples
    assert puma_motion.condition < puma_motion.random_condition
    assert f"condition number {puma_motion.condition:.3g}, at random {puma_motion.random_condition:.3g}>" in repr(
        puma_motion
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_criterion_falls(criterion: str) -> None:
    """Against 100 random motions that fill the same limits, all of them within the same family."""
    mech = lw.robots.scara_icomatic()
    options = {
        "q_min": [-2, -2, -0.1],
        "q_max": [2, 2, 0.1],
        "qd_max": 2.0,
        "qdd_max": 6.0,
        "criterion": criterion,
        "harmonics": 4,
    }
    start = exciting_trajectory(mech, 5.0, steps=0, **options)
    end = exciting_trajectory(mech, 5.0, steps=60, **options)
    assert start.condition == start.random_condition == end.random_condition
    columns = mech.base_parameters(resting=False).columns
    size = [
        criterion_loss(mech.regressor(m.q, m.qd, m.qdd)[..., columns].reshape(-1, len(columns)), criterion)[0]
        for m in (start, end)
    ]
    print(f"{criterion}: {size[0]:.3f} -> {size[1]:.3f}; condition number {start.condition:.2f} -> {end.condition:.2f}")
    assert size[1] < size[0] - 0.05
    if criterion == "condition":
        assert end.condition < 0.9 * start.condition


@pytest.mark.parametrize("criterion", CRITERIA)
def test_slope_of_the_criterion(criterion: str) -> None:
    """By all numbers of a motion, against central differences of step 1e-5."""
    mech = sample(1).without_friction()
    half = np.full(mech.n, 1.0)
    family = FourierFamily(5.0, 3, np.zeros(mech.n), half, np.full(mech.n, 2.0), np.full(mech.n, 9.0), True)
    columns = mech.base_parameters(resting=False).columns
    smooth = [k for k, c in enumerate(columns) if not mech.parameter_names[c].startswith("Tc")]
    task = Excitation(mech, columns[smooth], family, criterion, np.arange(1.0, mech.n + 1), None)
    x = np.random.default_rng(0).normal(size=mech.n * family.numbers)
    slope = task.sloped(x)[1]
    steps = 1e-5 * np.eye(x.size)
    wanted = np.array([(task.sloped(x + step)[0] - task.sloped(x - step)[0]) / 2e-5 for step in steps])
    error = relative(slope, wanted)
    print(f"{criterion}: {error:.1e}")
    assert error < 1e-4  # forward differences of 1e-6 in the regressor, 1e-5 outside, with bends as large as its sizes


def test_same_seed_same_motion() -> None:
    arm = lw.robots.planar_2r()
    one, two, other = (exciting_trajectory(arm, 4.0, 3, steps=10, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.q, two.q)
    assert not np.array_equal(one.q, other.q)


def test_workspace_is_kept() -> None:
    """The end of the arm stays above a table, asked at 100 times as many instants."""
    arm = lw.robots.planar_2r()

    def above(q: np.ndarray) -> np.ndarray:
        return arm.forward_kinematics(q)[..., 1, 3] > 0.2

    limits = {"q_min": [0.0, -1.5], "q_max": [np.pi, 1.5]}
    move = exciting_trajectory(arm, 5.0, 3, **limits, allowed=above, steps=30)
    heights = arm.forward_kinematics(move.at(np.linspace(0, 5, 9601))[0])[:, 1, 3]
    free = exciting_trajectory(arm, 5.0, 3, **limits, steps=30)
    lowest = arm.forward_kinematics(free.at(np.linspace(0, 5, 9601))[0])[:, 1, 3].min()
    print(f"lowest {heights.min():.3f} m, without the table {lowest:.3f} m; {move}")
    assert heights.min() > 0.2 - 0.01  # between the instants asked it may sag by (h w)^2 / 8 of its swing
    assert lowest < 0.19
    assert move.condition <= move.random_condition


def test_without_rest_there_is_more_freedom() -> None:
    arm = lw.robots.planar_2r()
    move = exciting_trajectory(arm, 4.0, 1, at_rest=False, steps=10)
    assert np.abs(move.qd[0]).max() > 0.1
    assert np.abs(move.q[0] - move.q[-1]).max() < 1e-12


def test_known_friction_needs_less() -> None:
    move = exciting_trajectory(PUMA, 8.0, 3, known="friction", qd_max=2.0, qdd_max=8.0, steps=3, starts=1)
    assert np.isfinite(move.condition)


def test_resting_directions() -> None:
    directions = resting(3.0, 4)
    assert directions.shape == (8, 6)
    assert np.abs(directions.T @ directions - np.eye(6)).max() < 1e-14
    _, qd, qdd = FourierSeries(3.0, np.zeros(1), (directions @ np.ones(6))[None])(np.zeros(1))
    assert abs(qd[0, 0]) < 1e-14
    assert abs(qdd[0, 0]) < 1e-13


def test_descent_finds_the_least_value() -> None:
    """Rosenbrock's valley, behind a wall where the function is infinite."""

    def valley(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x[0] > 1.5:
            return np.inf, np.zeros(2)
        slope = np.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])
        return float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2), slope

    assert np.abs(descend(valley, np.array([-1.2, 1.0]), 200, settled=1e-12) - 1).max() < 1e-5


def body_of_rods(**fields: object) -> lw.Mechanism:
    """A turning upper arm, a hand on a ball joint, and a loose body."""
    up = np.eye(4)
    up[2, 3] = 0.4
    body = {"mass": 1.0, "com": (0.05, 0.02, 0.1), "inertia": (0.1, 0.12, 0.13)}
    links = [
        lw.Link(name="upper", axis=(0, 1, 0), **body),
        lw.Link(name="hand", joint="ball", axis=(0, 0.6, 0.8), before=up, **body, **fields),
        lw.Link(name="loose", joint="floating", parent="base", **body),
    ]
    return lw.Mechanism(links, tool_link="hand")


def test_joints_with_quaternions_move() -> None:
    """Velocities and accelerations belong to the coordinates, limits and cone hold, and the base parameters come back."""
    limb = body_of_rods(limits=(0.0, 0.7))
    most, hardest = np.arange(1.0, limb.nv + 1), np.full(limb.nv, 9.0)
    asked = []
    allowed = lambda q: asked.append(q.shape[1]) or np.ones(len(q), bool)  # noqa: E731
    motion = exciting_trajectory(limb, 6.0, 2, qd_max=most, qdd_max=hardest, allowed=allowed, steps=2, starts=1)
    t, h = np.linspace(0.1, 5.9, 199), 1e-4
    q, qd, qdd = motion.at(t)
    after, before = motion.at(t + h), motion.at(t - h)
    rates = [limb.difference(before[0], after[0]) / (2 * h) - qd, (after[1] - before[1]) / (2 * h) - qdd]
    cone = max(at.joint.excess(row, at.most) for at in limb.manifold_joints[:1] for row in q[:, at.q])
    result = lw.identification.identify(limb, q, qd, qdd, limb.inverse_dynamics(q, qd, qdd))
    error = np.abs(result.values - limb.base_parameters(resting=False).values).max()
    print(f"{motion}: rates to {[np.abs(part).max() for part in rates]}, cone {cone:.3f}, base parameters to {error:.1e}")
    assert max(np.abs(part).max() for part in rates) < 1e-6  # h^2 / 6 times third derivatives of some hundred
    assert np.all(np.abs(qd) <= most)
    assert np.all(np.abs(qdd) <= hardest)
    assert np.all(np.abs(qd).max(axis=0) > 0.02)  # and all move
    assert -0.7 < cone < 0.0
    assert set(asked) == {limb.nq}
    assert max(np.abs(part[[0, -1]]).max() for part in (motion.qd, motion.qdd)) < 1e-12
    assert error < 1e-14 * motion.condition  # (rounding of efforts of some ten N m, times the condition number)


@pytest.mark.parametrize("seed", range(8))
def test_exponential_motions_keep_the_limits(seed: int) -> None:
    """Of whatever vectors within the bounds on exponential coordinates, at half a turn too; exact beside one another."""
    limb, rng = body_of_rods(), np.random.default_rng(seed)
    most, hardest = rng.uniform(0.2, 5.0, (2, limb.nv))
    if seed % 2:
        most[:] = np.inf
    if seed % 3 == 1:
        hardest[:6] = np.inf
    bounds = exponential_limits(limb, most, hardest)[:, None, :] * np.ones((1, 500, 1))
    x = np.where(np.isfinite(bounds), bounds, 3.0) * rng.choice([-1.0, 1.0, 0.0, 1e-9, 0.5], bounds.shape)
    joints = np.zeros((3, 500, limb.n))
    _, qd, qdd = exponential_motion(limb, *np.concatenate([x, joints], axis=2))
    assert np.all(np.abs(qd[:, :9]) <= most[:9] * (1 + 1e-12))
    assert np.all(np.abs(qdd[:, :9]) <= hardest[:9] * (1 + 1e-12))
    h = 1e-5
    after, before = ([x[0] + s * x[1] + 0.5 * s * s * x[2], x[1] + s * x[2], x[2]] for s in (h, -h))
    after, before = (exponential_motion(limb, *np.concatenate([y, joints], axis=2)) for y in (after, before))
    scale = 1.0 + np.abs(x[1:]).max() ** 3
    assert np.abs(limb.difference(before[0], after[0]) / (2 * h) - qd).max() < 1e-9 * scale
    assert np.abs((after[1] - before[1]) / (2 * h) - qdd).max() < 1e-9 * scale
