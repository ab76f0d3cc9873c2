"""Terms left out: what that costs at most holds at every point, and how few operations are left."""

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.equations.closed_form.closed_form import ClosedFormResult, explicit, harmonic
from linkwise.errors import ArgumentError
from support.messages import unnamed


@pytest.fixture(scope="module", params=[explicit, harmonic], ids=["explicit", "harmonic"])
def pair(request: pytest.FixtureRequest) -> tuple[ClosedFormResult, ClosedFormResult]:
    arm = robots.puma560().without_friction()
    return request.param(arm, "inverse_dynamics"), request.param(arm, "inverse_dynamics", significance=0.01, speeds=2.0)


def test_the_bound_holds(pair: tuple[ClosedFormResult, ClosedFormResult]) -> None:
    whole, short = pair
    rng = np.random.default_rng(0)
    n = whole.tree.n
    q = rng.uniform(-np.pi, np.pi, (300, n))
    qd, qdd = (limit * rng.choice([-1.0, 1.0], (300, n)) for limit in (2.0, 3.0))
    difference = np.abs(whole(q, qd, qdd) - short(q, qd, qdd)).max(axis=0)
    bounds = short.effort_bounds(np.full(n, 2.0), np.full(n, 3.0))
    assert np.all(difference <= bounds + 1e-12)
    assert difference.max() > 0.05 * bounds.max()  # (it is no empty promise: a bound far too large would hold as well)
    arrays = {"q": q, "qd": qd}
    for name, bound in short.bounds.items():
        gap = np.abs(whole.results(arrays)[name] - short.results(arrays)[name]).max(axis=0)
        assert np.all(gap <= np.triu(bound) + np.triu(bound, 1).T + 1e-12 if name == "M" else gap <= bound + 1e-12)
    assert short.bound == pytest.approx(short.effort_bounds(np.full(n, 2.0), np.ones(n)).max())


def test_what_is_left(pair: tuple[ClosedFormResult, ClosedFormResult]) -> None:
    whole, short = pair
    assert all(short.terms[name] < 0.75 * whole.terms[name] for name in "MCg")
    assert short.dropped is not None
    assert short.dropped.count + short.data.count == whole.data.count
    (note,) = short.listing().notes
    assert note.startswith(
        f"{short.dropped.count} small terms are left out; no element is off by more than {short.bound:.3g}"
    )
    assert note.endswith("speeds up to 2 and accelerations up to 1.")
    assert not whole.listing().notes


def test_terms_small_beside_what_the_joint_feels() -> None:
    """What is 1 % of its own entry may be far less of what the joint feels in all."""
    arm = robots.puma560().without_friction()
    first = explicit(arm, "inverse_dynamics", significance=0.01)
    second = explicit(arm, "inverse_dynamics", significance=0.01, of_row=0.001)
    assert sum(second.terms.values()) < 0.5 * sum(first.terms.values())
    assert second.bound < 0.7  # N m, at speeds and accelerations of 1; the efforts are then up to 100


def test_numbers_for_symbols() -> None:
    arm = robots.puma560()
    named = arm.symbolic("inertial", "motors")
    values = arm.symbol_values("inertial", "motors")
    short = harmonic(named, "mass_matrix", significance=0.01, values=values)
    plain = harmonic(arm, "mass_matrix", significance=0.01)
    assert short.terms["M"] > plain.terms["M"] == 80
    q = np.random.default_rng(3).uniform(-3, 3, (5, 6))
    numbers = [values[name] for name in named.symbols]
    assert np.abs(short(q, numbers) - plain(q)).max() < 1e-12


def test_sliding_coordinates_reach_to_their_limits() -> None:
    slide = Link(joint="prismatic", axis=(1, 0, 0), mass=2.0, limits=(-3.0, 0.5))
    arm = Mechanism([Link(mass=1.0, com=(0.1, 0, 0), inertia=(0, 0, 40.0), physical=False), slide])
    whole, short = (harmonic(arm, "mass_matrix", significance=part) for part in (0.0, 0.5))
    assert (whole.terms, short.terms) == ({"M": 3}, {"M": 2})
    assert short.bound == pytest.approx(2.0 * 9.0)  # m d^2 at d = 3


def test_joints_at_rest() -> None:
    """Where a speed is 0 at most, what stands with it is no error, and the bound is a number."""
    arm = robots.planar_2r()
    short = explicit(arm, "inverse_dynamics", significance=0.4, speeds=[1.0, 0.0])
    whole = explicit(arm, "inverse_dynamics")
    q = np.random.default_rng(5).uniform(-3, 3, (50, 2))
    qd, qdd = np.array([1.0, 0.0]), np.ones(2)
    apart = np.abs(short(q, qd, qdd) - whole(q, qd, qdd)).max(axis=0)
    assert (apart <= short.effort_bounds(qd, qdd) + 1e-12).all()
    assert 0 < apart.max() <= short.bound < np.inf
    with pytest.raises(ArgumentError, match="bounds are known up to"):
        short.effort_bounds(np.array([1.0, 1e-3]), qdd)


def test_refused() -> None:
    arm = robots.planar_2r()
    named = arm.symbolic("gravity")
    short = explicit(arm, "inverse_dynamics", significance=0.1)
    refused = {
        "significance is 1; expected a number from 0 to below 1": lambda: explicit(arm, "mass_matrix", significance=1),
        "of_row is True; expected a number from 0 to below 1": lambda: explicit(arm, "mass_matrix", of_row=True),
        "to leave out small terms, values must have numbers for 'g'": lambda: harmonic(
            named, "gravity_torque", significance=0.1
        ),
        "speeds are [2.0, 1.0]; bounds are known up to [1.0, 1.0]": lambda: short.effort_bounds(
            np.array([2.0, 1.0]), [1, 1]
        ),
    }
    for message, call in refused.items():
        with pytest.raises(ArgumentError) as caught:
            call()
        assert unnamed(caught.value, message) == []
