"""What cannot be identified or excited is refused, word by word."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.identification import differentiate, exciting_trajectory, identify

ARM = lw.robots.planar_2r()
DRIVEN = ARM.replace(links=[link.replace(motor=lw.Motor(inertia=1e-4, gear_ratio=50.0)) for link in ARM.links])
PUMA = lw.robots.puma560()
Q, QD, QDD = np.random.default_rng(0).uniform(-1, 1, (3, 60, 2))
TAU = ARM.inverse_dynamics(Q, QD, QDD)
BAD = np.where(np.arange(120).reshape(60, 2) == 7, np.nan, TAU)
P = np.random.default_rng(1).uniform(-1, 1, (3, 100, 6))
T = np.arange(1000) / 100.0
ZERO = np.zeros((1000, 2))
EVERYTHING = ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "YZ", "XZ")
FOOTNOTE = "(R marks a parameter with which others are grouped: see mech.base_parameters(resting=False))"
UNKNOWN = "the motion does not excite all parameters: "


def arm(**options: Any) -> Callable[[], object]:
    return lambda: identify(ARM, Q, QD, QDD, TAU, **options)


def puma(*still: int) -> Callable[[], object]:
    moving = np.array([k not in still for k in range(6)])
    return lambda: identify(PUMA, *(P * moving), P[0])


def excite(**options: Any) -> Callable[[], object]:
    return lambda: exciting_trajectory(ARM, **{"duration": 5.0, **options})


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "nothing moves": (
        lambda: identify(ARM, 0 * Q, 0 * QD, 0 * QDD, TAU),
        f"{UNKNOWN}4 of 6 base parameters remain unknown\nno effect: 'MY1', 'ZZ1R', 'MY2' and 'ZZ2R'\n{FOOTNOTE}",
    ),
    "second joint still": (
        puma(1),
        f"{UNKNOWN}7 of 58 base parameters remain unknown\nno effect: 'XX2R', 'ZZ2R', 'XZ2R', 'B2', 'Tc+2' and 'Tc-2'\n"
        f"not separable: 'MY2' and 'XY2' (1 of 2 combinations are seen)\n{FOOTNOTE}",
    ),
    "shapes differ": (
        lambda: identify(ARM, Q, QD, QDD, TAU[:-1]),
        "the shapes are q (60, 2), qd (60, 2), qdd (60, 2), tau (59, 2); expected the same samples in each",
    ),
    "columns": (lambda: identify(ARM, Q[:, :1], QD, QDD, TAU), "q has the shape (60, 1); expected (..., T, 2), T samples"),
    "one sample": (lambda: identify(ARM, Q[0], QD, QDD, TAU), "q has the shape (2,); expected (..., T, 2), T samples"),
    "words": (lambda: identify(ARM, Q, "fast", QDD, TAU), "qd holds <U4; expected finite real numbers (..., T, 2)"),
    "not a number": (
        lambda: identify(ARM, Q, QD, QDD, BAD),
        "tau is nan at (3, 1); expected finite real numbers (..., T, 2)",
    ),
    "complex": (lambda: identify(ARM, Q + 0j, QD, QDD, TAU), "q holds complex128; expected finite real numbers (..., T, 2)"),
    "few": (
        lambda: identify(ARM, Q[:2], QD[:2], QDD[:2], TAU[:2]),
        "there are 4 equations, one for each sample and effort; expected more than 6, the number of base parameters",
    ),
    "all slow": (
        arm(least_speed=100.0),
        "there are 0 equations, one for each sample and effort; expected more than 6, the number of base parameters",
    ),
    "known": (
        arm(known="M9"),
        "known names 'M9'; expected 'friction' or 'rotors', a kind such as 'M' or 'Tc+', or parameters of "
        "mech.parameter_names, 'M1' to 'XZ2'",
    ),
    "all known": (arm(known=EVERYTHING), "no parameter is left to identify: all base parameters are known"),
    "effort_std": (arm(effort_std=-1), "effort_std is -1; expected a number > 0, or 2 of them"),
    "effort_stds": (arm(effort_std=(1, 2, 3)), "effort_std is (1, 2, 3); expected a number > 0, or 2 of them"),
    "essential": (arm(essential="few"), "essential holds <U3; expected a number > 0"),
    "least_speed": (arm(least_speed=-1), "least_speed is -1; expected a number >= 0, or 2 of them"),
    "decimate": (arm(decimate=0), "decimate is 0; expected a whole number from 1"),
    "decimate much": (arm(decimate=20), "there are 60 samples; a filter of that cutoff needs more than 67"),
    "no joints": (
        lambda: identify(lw.Mechanism([lw.Link(joint="fixed")], name="block"), *[np.zeros((5, 0))] * 4),
        "'block' has no joints: no parameter can be identified",
    ),
    "wrong sign": (
        lambda: identify(DRIVEN, Q, QD, QDD, DRIVEN.inverse_dynamics(Q, QD, QDD) - QD, effort_std=1.0).to_mechanism(),
        "no motor has these identified parameters; leave them out (essential=) or make them known (known=)\n"
        "B1 is -0.0004 (deviation ...); expected >= 0\n"
        "B2 is -0.0004 (deviation ...); expected >= 0",
    ),
    "picture": (
        lambda: identify(ARM, Q, QD, QDD, TAU).plot(lw.trajectory.quintic(Q[0], Q[1], 1.0)),
        "the record is <Trajectory: 101 instants from 0 to 1 s, 2 joints>; expected one motion of 2 joints with tau: "
        "record.with_records(tau=...)",
    ),
    "rows": (
        lambda: differentiate(T, Q, 5.0),
        "q has the shape (60, 2); expected (..., 1000, n): a row for each time in t",
    ),
    "uneven": (
        lambda: differentiate(T**2, ZERO, 5.0),
        "t has uneven steps: 0.0001 s after t[0], 0.0999 s on average; expected even ones",
    ),
    "cutoff high": (
        lambda: differentiate(T, ZERO, 60.0),
        "cutoff is 0.6 of the sampling rate; expected more than 0 and less than a half",
    ),
    "cutoff": (lambda: differentiate(T, ZERO, -5.0), "cutoff is -5.0; expected a frequency > 0, Hz"),
    "short": (
        lambda: differentiate(T[:30], ZERO[:30], 5.0),
        "t lasts 0.29 s, of which 1 s are dropped at either end; expected more",
    ),
    "tau": (
        lambda: differentiate(T, ZERO, 5.0, tau=T[:, None]),
        "tau has the shape (1000, 1); expected (1000, 2), that of q",
    ),
    "criterion": (excite(criterion="trace"), "criterion is 'trace'; expected 'determinant' or 'condition'"),
    "harmonics": (excite(harmonics=1), "harmonics is 1; expected a whole number from 2"),
    "steps": (excite(steps=2.5), "steps is 2.5; expected a whole number from 0"),
    "duration": (excite(duration=0.0), "duration is 0.0; expected a number > 0"),
    "speed": (excite(qd_max=(1, 2, 3)), "qd_max is (1, 2, 3); expected a number > 0, or 2 of them"),
    "limits": (excite(q_max=[0, 1, 2]), "q_max is [0, 1, 2]; expected a number or (2,)"),
    "sliding": (
        lambda: exciting_trajectory(lw.robots.scara_icomatic(), 5.0),
        "no limits of sliding joints: 'link3'; expected finite q_min and q_max",
    ),
    "nothing to excite": (
        lambda: exciting_trajectory(lw.Mechanism([lw.Link(joint="fixed")], name="block"), 5.0),
        "'block' has no joints: there is no motion to optimise",
    ),
    "not allowed": (
        excite(allowed=lambda q: q[:, 0] > 100),
        "none of 100 random motions tells the base parameters apart and stays where allowed() says so; try more harmonics, "
        "wider limits or known=(...)",
    ),
    "allowed": (excite(allowed=lambda q: 1), "allowed returned int64 of the shape () for q (160, 2); expected bool (160,)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message(case: str) -> None:
    call, wanted = REFUSED[case]
    with pytest.raises(ArgumentError) as caught:
        call()
    said = str(caught.value)
    for part in wanted.split("..., T") if "(deviation ...)" not in wanted else wanted.split("..."):
        assert part in said, said
    if "(deviation ...)" not in wanted:
        assert said == wanted


def test_degenerate_motion_needs_no_exact_zero() -> None:
    """Two joints that always move alike: only combinations are seen, and those at fault are named."""
    alike = np.repeat(Q[:, :1], 2, axis=1)
    with pytest.raises(ArgumentError) as caught:
        identify(DRIVEN, alike, alike, alike, alike, effort_std=1.0)
    print(caught.value)
    assert str(caught.value).startswith(UNKNOWN)
    assert "not separable: " in str(caught.value)
