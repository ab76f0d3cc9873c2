"""Ragged lists, arrays in the place of words, numbers beyond floats and wrong seeds end in the package's own errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import LinkwiseError
from linkwise.identification import exciting_trajectory

ARM = lw.robots.planar_2r()
T = np.eye(4)
RAGGED, ARRAY, HUGE = [[1, 2], [3]], np.zeros((4, 4)), 10**400

CALLS: dict[str, Callable[[], Any]] = {
    "T": lambda: ARM.inverse_kinematics(RAGGED),
    "T of all": lambda: ARM.all_inverse_kinematics(RAGGED),
    "frame": lambda: ARM.inverse_kinematics(T, frame=ARRAY),  # type: ignore[arg-type]
    "method": lambda: ARM.inverse_kinematics(T, method=ARRAY),  # type: ignore[arg-type]
    "method of all": lambda: ARM.all_inverse_kinematics(T, method=[1]),  # type: ignore[arg-type]
    "tool_link": lambda: lw.Mechanism([lw.Link()], tool_link=ARRAY),  # type: ignore[arg-type]
    "name": lambda: lw.Mechanism([lw.Link()], name=ARRAY),  # type: ignore[arg-type]
    "number as name": lambda: lw.Mechanism([lw.Link()], name=5),  # type: ignore[arg-type]
    "name of a link": lambda: lw.Link.dh(convention="standard", name=ARRAY),  # type: ignore[arg-type]
    "limits": lambda: lw.Link(limits=[HUGE] * 2),
    "inertia": lambda: lw.Link(mass=1.0, inertia=[HUGE] * 3),
    "huge beside a symbol": lambda: lw.Link(com=[lw.symbols("x"), HUGE, 0]),
    "coulomb": lambda: lw.Motor(coulomb=RAGGED),
    "rows": lambda: lw.Mechanism.from_dh(3, convention="standard"),  # type: ignore[arg-type]
    "resting": lambda: ARM.base_parameters(resting=ARRAY),  # type: ignore[arg-type]
    "form": lambda: ARM.equations(ARRAY),  # type: ignore[arg-type]
    "form of a derivation": lambda: ARM.derive("M", ARRAY),  # type: ignore[arg-type]
    "times": lambda: lw.trajectory.quintic([0, 0], [1, 1], RAGGED),
    "names": lambda: lw.trajectory.quintic([0, 0], [1, 1], [0, 1], names=3),  # type: ignore[arg-type]
    "times of poses": lambda: lw.trajectory.cartesian(T, T, RAGGED),
    "profile": lambda: lw.trajectory.cartesian(T, T, [0, 1], profile=ARRAY),  # type: ignore[arg-type]
    "huge speeds": lambda: ARM.inverse_dynamics([0, 0], [HUGE] * 2, [0, 0]),
    "rtol": lambda: lw.simulate(ARM, [0, 0], t=[0, 1], method="lsoda", rtol=HUGE),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_values(call: Callable[[], Any]) -> None:
    with pytest.raises(LinkwiseError):
        call()


@pytest.mark.parametrize("seed", [-1, "seed", 1.5, np.nan, {}, 1j], ids=str)
def test_seeds(seed: Any) -> None:
    for call in (
        lambda: ARM.perturb(0.1, seed),
        lambda: lw.compare(ARM, ARM, seed=seed),
        lambda: exciting_trajectory(ARM, 5.0, harmonics=3, qd_max=2.0, qdd_max=6.0, steps=1, seed=seed),
    ):
        with pytest.raises(LinkwiseError, match="seed"):
            call()
