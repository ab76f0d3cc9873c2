"""Identification recovers what efforts were made from, says how sure it is, and says so honestly."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.identification import Identification, identify
from linkwise.mechanism import Mechanism
from support.random_mechanisms import SEEDS, random_mechanism, relative, sample, variant

FLOATING = random_mechanism(3, ["revolute", "prismatic", "revolute"], floating=True)


def motion(mech: Mechanism, samples: int = 400, seed: int = 1) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    q, qd, qdd = (rng.uniform(-2, 2, (samples, size)) for size in (mech.nq, mech.nv, mech.nv))
    if mech.floating:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    return q, qd, qdd


def identified(mech: Mechanism, **options: object) -> Identification:
    state = motion(mech)
    return identify(mech, *state, mech.inverse_dynamics(*state), **options)  # type: ignore[arg-type]


MECHANISMS = [
    lw.robots.puma560(),
    lw.robots.panda(),
    lw.robots.scara_icomatic(),
    FLOATING,
    *(variant(f"joints {seed}") for seed in SEEDS),
]
ROUGH = {"scara_icomatic": 1e-9}
"""Its last angle is 5e-3 degrees from 180, as in its table: parameters whose part in the efforts is the square of that,
1e-8, count as dependent (`linkwise.dynamics.base_parameters.INDEPENDENT`), and show in the last digits."""

BARE = [
    mech.replace(links=[link.replace(mass=0, inertia=0, motor=link.motor) for link in mech.links]) for mech in MECHANISMS
]


@pytest.mark.parametrize(("mech", "bare"), list(zip(MECHANISMS, BARE, strict=True)), ids=lambda mech: mech.name)
def test_without_noise_all_base_parameters_are_recovered(mech: Mechanism, bare: Mechanism) -> None:
    """Only the geometry of the mechanism is used: that given to `identify` has no masses."""
    state = motion(mech)
    found = identify(bare, *state, mech.inverse_dynamics(*state))
    true = mech.base_parameters(resting=False)
    assert found.names == true.names
    error = relative(found.values, true.values)
    print(f"{mech.name}: {len(true)} parameters, condition {found.condition:.3g}, error {error:.1e}")
    # Rounding, a hundred times over, that the condition number enlarges.
    assert error < ROUGH.get(mech.name, 1e-15 * 100 * found.condition)
    assert error < 1e-9
    other = motion(mech, 50, seed=2)
    assert relative(found.predict(*other), mech.inverse_dynamics(*other)) < 1e-9


@pytest.mark.parametrize("mech", MECHANISMS, ids=lambda mech: mech.name)
def test_rebuilt_mechanism_takes_the_identified_efforts(mech: Mechanism) -> None:
    found = identified(mech)
    state = motion(mech, 50, seed=3)
    rebuilt = found.to_mechanism()
    error = relative(rebuilt.inverse_dynamics(*state), found.predict(*state))
    again = relative(rebuilt.base_parameters(resting=False).values, found.values)
    print(f"efforts {error:.1e}, base parameters {again:.1e}")
    # Rounding in Steiner's terms there and back, masses of 1 kg among small numbers.
    assert error < ROUGH.get(mech.name, 1e-12)
    assert again < 1e-11


def test_rebuilt_from_another_mechanism_with_payload_and_carried_rotor() -> None:
    """What the base parameters leave open is taken from the mechanism that was identified, whose own numbers are wrong."""
    body = {"carrier": "link1", "mass": 0.3, "com": (0, 0.1, 0), "rotor_inertia": (2e-4, 2e-4, 1e-4), "axis": (0, 0, 1)}
    rotor = lw.Motor(gear_ratio=80, viscous=1e-4, coulomb=0.02, **body)
    puma = lw.robots.puma560()
    true = puma.replace_link("link2", motor=rotor).with_payload(2.0, (0, 0, 0.1), (0.01, 0.01, 0.02))
    guess = true.perturb(0.4, seed=1)
    state = motion(true)
    rebuilt = identify(guess, *state, true.inverse_dynamics(*state)).to_mechanism()
    assert rebuilt.payload == guess.payload
    assert rebuilt.drives[1].carrier == 0
    other = motion(true, 50, seed=4)
    assert relative(guess.inverse_dynamics(*other), true.inverse_dynamics(*other)) > 0.05
    assert relative(rebuilt.inverse_dynamics(*other), true.inverse_dynamics(*other)) < 1e-11
    assert relative(rebuilt.mass_matrix(other[0]), true.mass_matrix(other[0])) < 1e-9  # a third of the digits are gravity's


NOISE = np.array([3.0, 0.03])
"""N m: the joints of the Monte Carlo study are a hundred times apart."""


@pytest.fixture(scope="module")
def repeats() -> tuple[list[Identification], np.ndarray]:
    arm = random_mechanism(11, ["revolute", "revolute"], parents=[-1, 0], forms=["standard", "standard"])
    state = motion(arm, 150)
    tau = arm.inverse_dynamics(*state)
    rng = np.random.default_rng(5)
    found = [identify(arm, *state, tau + NOISE * rng.normal(size=tau.shape)) for _ in range(200)]
    return found, arm.base_parameters(resting=False).values


def test_deviations_are_honest(repeats: tuple[list[Identification], np.ndarray]) -> None:
    """The spread of 200 repeats is the deviation that each of them claims, and their mean is the truth."""
    found, true = repeats
    values = np.stack([one.values for one in found])
    claimed = np.sqrt(np.mean([one.deviations**2 for one in found], axis=0))
    spread = values.std(axis=0, ddof=1) / claimed
    mean = np.abs(values.mean(axis=0) - true) / claimed * np.sqrt(len(found))
    print(f"{len(true)} parameters: spread / claim {spread.min():.3f} to {spread.max():.3f}, mean off by {mean.max():.2f}")
    # The spread of 200 has a deviation of 1 / sqrt(2 199) = 0.05, the mean one of 1; 4.5 of them in a few dozen numbers.
    assert np.all(np.abs(spread - 1.0) < 4.5 / np.sqrt(2 * 199))
    assert np.all(mean < 4.5)


def test_covariance_is_honest(repeats: tuple[list[Identification], np.ndarray]) -> None:
    """The errors in the metric of the covariance are chi-squared with as many degrees as parameters."""
    found, true = repeats
    squares = [float((one.values - true) @ np.linalg.solve(one.covariance, one.values - true)) for one in found]
    count = len(true) * len(found)
    print(f"mean {np.mean(squares) / len(true):.3f} for each parameter")
    # Its mean has a deviation of sqrt(2 / count); the estimated scatter of 150 samples adds some per cent.
    assert abs(np.mean(squares) / len(true) - 1.0) < 4.5 * np.sqrt(2 / count) + 0.05


def test_scatter_of_each_joint_is_found(repeats: tuple[list[Identification], np.ndarray]) -> None:
    """The bias is nil although parameters take away degrees of freedom: 200 times 150 samples tell the variance to 0.8 %."""
    found, _ = repeats
    share = np.mean([one.effort_std**2 for one in found], axis=0) / NOISE**2
    print("variance found / true:", share)
    assert np.all(np.abs(share - 1.0) < 4.5 * np.sqrt(2 / (200 * 140)))


def test_weights_help_where_joints_differ(repeats: tuple[list[Identification], np.ndarray]) -> None:
    """Against ordinary least squares, which equal known deviations give."""
    found, _ = repeats
    arm = found[0].mechanism
    state = motion(arm, 150)
    rng = np.random.default_rng(5)
    tau = arm.inverse_dynamics(*state)
    plain = [identify(arm, *state, tau + NOISE * rng.normal(size=tau.shape), effort_std=1.0).values for _ in range(50)]
    weighted = [one.values for one in found[:50]]
    ratio = np.std(plain, axis=0) / np.std(weighted, axis=0)
    print("ordinary / weighted:", ratio.round(1))
    assert np.median(ratio) > 3
    assert ratio.min() > 0.8


def test_known_deviation_of_efforts_says_the_covariance() -> None:
    mech = sample(1)
    state = motion(mech)
    tau = mech.inverse_dynamics(*state)
    one = identify(mech, *state, tau, effort_std=1.0)
    two = identify(mech, *state, tau, effort_std=np.full(mech.nv, 2.0))
    assert np.allclose(two.covariance, 4.0 * one.covariance, rtol=1e-12, atol=0)
    rows = mech.regressor(*state)[..., one.wanted.base.columns].reshape(-1, len(one.values))
    assert relative(np.linalg.inv(rows.T @ rows), one.covariance) < 1e-16 * 100 * one.raw_condition**2


def test_known_parameters_are_taken_from_the_mechanism() -> None:
    puma = lw.robots.puma560()
    found = identified(puma, known=("friction", "rotors", "M2"))
    base = found.wanted.base
    assert {"M2", "Jm1", "B3", "Tc-6"} <= set(base.absent)
    assert not any(label.startswith(("B", "Tc", "Jm")) for label in found.labels)
    assert relative(found.values, base.matrix @ puma.parameters) < 1e-12
    other = motion(puma, 20, seed=8)
    assert relative(found.predict(*other), puma.inverse_dynamics(*other)) < 1e-12
    without = identified(puma.without_friction(), known="friction")
    assert relative(without.predict(*other), puma.without_friction().inverse_dynamics(*other)) < 1e-12
    assert len(without.values) == 58 - 18


def test_known_parameter_of_a_group_leaves_the_rest_of_it() -> None:
    """Where the parameter after which a combination is named is known, another of it takes its place."""
    puma = lw.robots.puma560()
    found = identified(puma, known="MX2")
    base = found.wanted.base
    assert len(base) == 58
    assert not base.matrix[:, puma.parameter_names.index("MX2")].any()
    assert any(name == "M2 + M3 + M4 + M5 + M6" for name in base.names)
    assert relative(found.values, base.matrix @ puma.parameters) < 1e-12
    rebuilt = found.to_mechanism()
    assert rebuilt.parameters[puma.parameter_names.index("MX2")] == puma.parameters[puma.parameter_names.index("MX2")]


def test_essential_parameters_are_kept_and_the_others_left_out() -> None:
    puma = lw.robots.puma560()
    state = motion(puma)
    noise = np.random.default_rng(2).normal(size=(400, 6)) * [1, 1, 1, 0.1, 0.1, 0.1]
    whole = identify(puma, *state, puma.inverse_dynamics(*state) + noise)
    few = identify(puma, *state, puma.inverse_dynamics(*state) + noise, essential=0.3)
    true = puma.base_parameters(resting=False).values
    print(f"{few.kept.sum()} of {len(true)}; {np.sum(whole.relative < 0.3)} were certain before")
    assert np.all(few.relative[few.kept] <= 0.3)
    assert np.all(few.values[~few.kept] == 0.0)
    assert np.isnan(few.deviations[~few.kept]).all()
    assert np.all(np.abs(true[~few.kept]) < 4.5 * whole.deviations[~few.kept])  # nothing was left out that shows
    assert np.all(few.residual < 1.05 * whole.residual)
    assert "left out: XY4" in repr(few)


def test_several_motions_are_one_after_another() -> None:
    mech = sample(2)
    state = motion(mech, 300)
    tau = mech.inverse_dynamics(*state) + np.random.default_rng(0).normal(size=(300, mech.nv))
    parts = [array.reshape(3, 100, -1) for array in (*state, tau)]
    together, apart = identify(mech, *state, tau), identify(mech, *parts)
    assert np.array_equal(together.values, apart.values)


def test_slow_joints_are_left_out() -> None:
    """Efforts that are wrong wherever a joint is slow do no harm."""
    mech = sample(0)
    q, qd, qdd = motion(mech)
    tau = mech.inverse_dynamics(q, qd, qdd) + 100.0 * (np.abs(qd) < 0.1)
    found = identify(mech, q, qd, qdd, tau, least_speed=0.1)
    assert relative(found.values, mech.base_parameters(resting=False).values) < 1e-10
    assert np.array_equal(found.counts, (np.abs(qd) >= 0.1).sum(axis=0))


def test_filtering_effort_and_regressor_alike_changes_no_equation() -> None:
    """Noise-free data of a motion far faster than the filter: what is cut off both sides of an equation is cut alike."""
    mech = sample(6)
    found = identify(mech, *(state := motion(mech, 2000)), mech.inverse_dynamics(*state), decimate=5)
    assert relative(found.values, mech.base_parameters(resting=False).values) < 1e-9
    assert found.counts[0] == 2000 // 5 - 8


def test_deviations_after_decimation_are_honest() -> None:
    """Decimated white noise stays white: errors in the metric of the covariance, 40 times."""
    arm = lw.robots.planar_2r()
    t = np.arange(4000) / 500.0
    w = np.array([[2.1, 3.3], [5.2, 4.1]])
    q = np.sin(t[:, None] * w[0]) + 0.5 * np.sin(t[:, None] * w[1])
    qd = w[0] * np.cos(t[:, None] * w[0]) + 0.5 * w[1] * np.cos(t[:, None] * w[1])
    qdd = -(w[0] ** 2) * np.sin(t[:, None] * w[0]) - 0.5 * w[1] ** 2 * np.sin(t[:, None] * w[1])
    tau, rng, true = arm.inverse_dynamics(q, qd, qdd), np.random.default_rng(3), arm.base_parameters(resting=False).values
    squares, following = [], []
    for _ in range(40):
        found = identify(arm, q, qd, qdd, tau + rng.normal(size=tau.shape), decimate=10)
        error = found.values - true
        squares.append(error @ np.linalg.solve(found.covariance, error))
        following.append(found.succession)
    mean = np.mean(squares) / len(true)
    print(f"mean {mean:.3f} for each parameter, succession {np.mean(following):.3f}")
    assert abs(mean - 1.0) < 4.5 * np.sqrt(2 / (40 * len(true)))
    assert abs(np.mean(following)) < 0.1


def test_residuals_that_follow_each_other_are_remarked() -> None:
    arm = lw.robots.planar_2r()
    state = motion(arm)
    tau = arm.inverse_dynamics(*state)
    drift = np.sin(np.linspace(0, 10, len(tau)))[:, None]
    assert "residuals follow each other" in repr(identify(arm, *state, tau + drift))
    assert "residuals follow each other" not in repr(identify(arm, *state, tau))


def test_table() -> None:
    arm = lw.robots.planar_2r()
    state = motion(arm)
    text = repr(identify(arm, *state, arm.inverse_dynamics(*state) + np.random.default_rng(0).normal(size=(400, 2))))
    lines = text.splitlines()
    assert lines[0] == "'planar_2r': 6 base parameters from 800 equations"
    assert lines[1].startswith("condition number of the regressor ")
    assert lines[4].split() == ["parameter", "value", "deviation", "percent", "is"]
    assert [line.split()[0] for line in lines[5:11]] == ["MX1R", "MY1", "ZZ1R", "MX2R", "MY2", "ZZ2R"]
    assert lines[5].endswith("MX1 + M1 + M2")
    assert lines[12].split() == ["effort", "of", "equations", "scatter", "residual", "rms", "succession"]
    assert len(lines) == 15
    assert max(map(len, lines)) < 125


def test_picture() -> None:
    pytest.importorskip("matplotlib")
    arm = lw.robots.scara_icomatic()
    found = identified(arm)
    move = lw.trajectory.quintic([0, 0, 0], [1, 1, 0.1], np.linspace(0, 1, 5000))
    figure = found.plot(move.with_records(tau=arm.inverse_dynamics(move.q, move.qd, move.qdd)), "a title")
    assert len(figure.axes) == 6
    assert [axis.get_ylabel().split("\n")[1] for axis in figure.axes[::2]] == ["[N m]", "[N m]", "[N]"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["measured", "predicted", "difference"]
