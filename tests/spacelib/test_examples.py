"""The examples printed in SpaceLib's manual, and derived ones, with values of fifteen digits found by independent routes.

`data/examples.json` holds them: `calls` are lists of functions, arguments (axes by name, results of earlier calls by
reference) and names of results; an entry with a `program` goes through one of the sample programs, or a few lines.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise.spacelib as sl
from linkwise.spacelib.programs.elbow import elb_d_dh, elb_d_pa
from linkwise.spacelib.programs.floating import TwoLinks, run_test, run_test_new
from linkwise.spacelib.programs.laws import MOTOR_LAW, Motion, cycloidal
from linkwise.spacelib.programs.rob_mat import rob_mat, robot
from linkwise.spacelib.programs.robscara import robscara
from linkwise.spacelib.programs.satellite import satellite

DATA = json.loads(Path(__file__).with_name("data").joinpath("examples.json").read_text(encoding="utf-8"))
EXAMPLES = {entry["id"]: entry for entry in DATA["examples"]}
AXES = {"X": sl.X, "Y": sl.Y, "Z": sl.Z, "U": sl.U}

ROUNDING = 2e-14
"""Times the greatest number of a result: inputs and results have 15 digits, each off by up to 5e-15 of itself, and what is
computed from the inputs adds as much again."""

LOOSER = {
    "7.2-MOT": 5e-10,  # half a unit of the last of seven digits
}
"""What is allowed instead, where the expected values have fewer digits."""


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_example(name: str) -> None:
    entry = EXAMPLES[name]
    got = run(entry)
    for key, expected in entry["expected"].items():
        wanted = numbers(expected)
        size = max(1.0, float(np.nanmax(np.abs(wanted), initial=0.0)))
        np.testing.assert_allclose(got[key], wanted, rtol=0, atol=LOOSER.get(name, ROUNDING) * size, err_msg=key)


@pytest.mark.parametrize(
    "name", [name for name, entry in EXAMPLES.items() if entry["status"] == "holds" and entry["printed"]]
)
def test_printed_digits(name: str) -> None:
    entry = EXAMPLES[name]
    got = run(entry)
    for key, printed in entry["printed"].items():
        if printed is not None:
            np.testing.assert_allclose(got[key], numbers(printed), rtol=0, atol=entry["tolerance"], err_msg=key)


def test_misprints_are_misprints() -> None:
    """What is said to be wrong in print does differ, by what is said: else the expected values were made to fit."""
    for entry in EXAMPLES.values():
        if entry["status"] == "typo" and entry["printed"]:
            got = run(entry)
            off = max(np.abs(numbers(printed) - got[key]).max() for key, printed in entry["printed"].items())
            assert off == pytest.approx(entry["max_deviation"], abs=1e-8)  # the digits of the table of example 7.2-MOT
            assert off > entry["tolerance"]


def test_nothing_is_left_out() -> None:
    assert len(EXAMPLES) == len(DATA["examples"]) == 107
    assert all(entry["expected"] for entry in EXAMPLES.values())
    assert Counter("program" in entry for entry in EXAMPLES.values()) == {False: 90, True: 17}
    assert {entry["program"] for entry in EXAMPLES.values() if "program" in entry} == PROGRAMS.keys()


def test_constants_are_as_the_examples_have_them() -> None:
    assert {name: getattr(sl, name) for name in DATA["meta"]["constants"]} == DATA["meta"]["constants"]


def stanford(entry: dict[str, Any]) -> dict[str, Any]:
    """The Stanford arm by `dhtom`, and less the same by `dhtomstd`, where the coordinate is added by hand."""
    given = entry["input"]
    extended = standard = np.eye(4)
    for jtype, theta, d, a, alpha, q in zip(*(given[k] for k in ("jtype", "theta", "d", "a", "alpha", "q")), strict=True):
        extended = extended @ sl.dhtom(jtype, theta, d, 0, a, alpha, q)
        standard = standard @ sl.dhtomstd(theta + q * (jtype == sl.Rev), d + q * (jtype == sl.Pri), a, alpha)
    return {"Ma": extended, "dM": extended - standard}


def point_masses(entry: dict[str, Any]) -> dict[str, Any]:
    """Momentum of points: the sum of m (P' P^t - P P'^t)."""
    P, rate, m = (np.array(entry["input"][k], dtype=float) for k in ("P", "Pdot", "m"))
    twice = sum(sl.rmolt(sl.molt(v[:, None], p[None]), 2 * mass) for p, v, mass in zip(P, rate, m, strict=True))
    return {"GAMMA1": sl.normskew(twice, sl.SKEW_)}


def rob_mat_of(entry: dict[str, Any]) -> dict[str, Any]:
    given = entry["input"]
    made = rob_mat(robot(given["links"], given["g"], given["ext"]), *np.array(given["motion"], dtype=float).T)
    names = {"T_last": made.T, "WA_last": made.WA, "HA_last": made.HA, "ACTO_last": made.ACTO}
    return {name: part[-1] for name, part in names.items()} | {"ACTO1": made.ACTO[0], "tau": made.tau}


def two_link(entry: dict[str, Any]) -> dict[str, Any]:
    """TEST or TEST_NEW, mended or as listed: the last instant."""
    given = entry["input"]
    bodies = TwoLinks(*(np.array(given[name], dtype=float) for name in ("J1", "J2", "W1", "m1")))
    rows = np.array(given["q_qp_qpp"], dtype=float)
    motion = Motion(given["dt"], given["dt"] * np.arange(len(rows)), *(rows[:, k : k + 1] for k in range(3)))
    program = run_test_new if "TEST_NEW" in entry["id"] else run_test
    made = program(bodies, motion, as_listed=entry["id"].endswith("as-listed"))
    return {name: getattr(made, name)[-1] for name in ("t", "m1", "W1", "W2", "H1", "H2")} | {"Gamma": made.momentum[-1]}


def scara(entry: dict[str, Any]) -> dict[str, Any]:
    made = robscara(entry["input"]["q"], entry["input"]["qp"], sense="as listed")
    return {"M04": made.m04, "M0a": made.m0a, "W04": made.W04, "W04a": made.W04a}


def sat(entry: dict[str, Any]) -> dict[str, Any]:
    made = satellite(entry["input"]["P1"], entry["input"]["P2"], entry["input"]["angle_deg"])
    assert made.Mi.tolist() == entry["input"]["Mi"]
    got = {name: getattr(made, name) for name in ("alpha", "beta", "Q5", "Mf", "Qtot", "u", "phi", "P", "h")}
    angles = {f"{name}_deg": sl.deg(got[name]) for name in ("alpha", "beta", "phi")}
    return got | angles | {"M3": made.M3[:3, :2], "M4": made.M4[:3, :3]}


def elbow(entry: dict[str, Any]) -> dict[str, Any]:
    """One instant of ELB_D_DH; ELB_D_PA must give the same."""
    rows = np.array(entry["input"]["joints"], dtype=float)
    motion = Motion(0.01, np.zeros(1), *(rows[None, :, k] for k in range(3)))
    made, other = (program(entry["input"]["lengths"], motion).gripper for program in (elb_d_dh, elb_d_pa))
    got = {name: getattr(made, name)[0] for name in ("q", "qp", "qpp", "pos", "vel", "acc")}
    for name, values in got.items():
        size = max(1.0, np.abs(values).max())
        np.testing.assert_allclose(getattr(other, name)[0], values, rtol=0, atol=10 * ROUNDING * size, err_msg=name)
    return got


PROGRAMS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "stanford": stanford,
    "sum_m(Pdot P^t - P Pdot^t)": point_masses,
    "rob_mat": rob_mat_of,
    "two_link": two_link,
    "cycloidal law A/w*(1-cos wt), A=22.10422, w=18.85609 fitted on the other 14 numbers": lambda entry: {
        "qp": cycloidal(entry["input"]["t"], *MOTOR_LAW)[1]
    },
    "robscara": scara,
    "sat": sat,
    "elbow": elbow,
}


def run(entry: dict[str, Any]) -> dict[str, Any]:
    """The results of an entry, by their names."""
    if "program" in entry:
        return PROGRAMS[entry["program"]](entry)
    got: dict[str, Any] = {}
    for call in entry["calls"]:
        made = getattr(sl, call["fn"])(*(given(arg, got) for arg in call["args"]))
        got.update(zip(call["out"], made if isinstance(made, tuple) else (made,), strict=True))
    return got


def given(arg: Any, got: dict[str, Any]) -> Any:
    """An argument: an axis by its name, a result by reference, or numbers."""
    if isinstance(arg, dict):
        return got[arg["ref"]]
    return AXES[arg] if isinstance(arg, str) else arg


def numbers(value: Any) -> Any:
    """Expected numbers as an array; what is not defined as NaN."""
    return np.array(value, dtype=float) if value is not None else math.nan
