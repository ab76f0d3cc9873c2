"""Poses, W, H and joint actions equal the 4x4-matrix formulas of the SpaceLib manual, and its two robots' numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Link, Mechanism
from support import spacelib_manual as manual
from support.random_mechanisms import direct, mechanisms, random_body, random_state, relative

CASES = json.loads(Path(__file__, "../../data/spacelib_manual_7_1.json").resolve().read_text(encoding="utf-8"))


@given(mechanisms(), st.integers(0, 2**16))
def test_every_matrix_of_the_program(mech: Mechanism, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mech = mech.with_payload(**random_body(rng))
    state, external = random_state(mech, seed), rng.normal(size=6)
    found = manual.rob_mat(mech, *state, external)
    poses, w, h = direct(mech, "motion", *state)
    actions = direct(mech, "joint_wrenches_external", *state, external)
    errors = [
        relative(poses, found.T),
        relative(w, found.WA),
        relative(h, found.HA),
        relative(actions, [-manual.wrench(phi) for phi in found.ACTO]),
        relative(direct(mech, "forward_kinematics", state[0]), found.tool),
    ]
    print(errors)
    # The manual's own matrices, inverted numerically, carry some hundred roundings; seen: 2e-15.
    assert max(errors) <= 5e-14


def robot(case: dict[str, Any]) -> Mechanism:
    links = []
    for row in case["links"]:
        kind, theta, d, b, a, alpha, m, jxx, jxy, jxz, jyy, jyz, jzz, xg, yg, zg = row
        links.append(
            Link.dh(
                theta, d, a, alpha, b=b, convention="standard", joint="prismatic" if kind else "revolute",
                mass=m, com=(xg, yg, zg), inertia=(jxx, jyy, jzz, jxy, jyz, jxz), physical=False,
            )
        )  # fmt: skip
    return Mechanism(links, gravity=case["g"])


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_section_7_1(name: str) -> None:
    case = CASES[name]
    mech = robot(case)
    q, qd, qdd = np.array(case["motion"], dtype=float).T.copy()
    poses, w, h = mech.motion(q, qd, qdd)
    actions = mech.joint_wrenches(q, qd, qdd)
    wanted = {key: np.array(value) for key, value in case["expected"].items()}
    errors = {
        "T": relative(poses[-1], wanted["T_last"]),
        "W": relative(w[-1], wanted["WA_last"]),
        "H": relative(h[-1], wanted["HA_last"]),
        "first": relative(actions[0], -manual.wrench(wanted["ACTO1"])),
        "last": relative(actions[-1], -manual.wrench(wanted["ACTO_last"])),
        "tau": relative(mech.inverse_dynamics(q, qd, qdd), wanted["tau"]),
    }
    print(errors)
    # The numbers are kept to 15 digits.
    assert max(errors.values()) <= 1e-13


@pytest.mark.parametrize("name", CASES)
def test_teeth(name: str) -> None:
    """The sign of the rotating frame's acceleration matters."""
    mech = robot(CASES[name])
    q, qd, qdd = np.array(CASES[name]["motion"], dtype=float).T.copy()
    wanted = -manual.wrench(np.array(CASES[name]["expected"]["ACTO1"]))
    assert relative(mech.joint_wrenches(q, 0 * qd, qdd)[0], wanted) > 1e-3
