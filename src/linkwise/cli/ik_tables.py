"""The tables of ``linkwise ik``: joint values one under the other for one pose, a row a pose or solution for more."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from linkwise.cli.columns import names, units
from linkwise.cli.ik_answers import Answer
from linkwise.cli.ik_targets import LETTERS, WORDS, Targets
from linkwise.cli.layout import fixed, flagged, new_table
from linkwise.model.table import plain
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from rich.table import Table

    from linkwise.mechanism import Mechanism

MOST, EXPLAINED = 40, 10
"""Rows printed of a long file of poses, and how many that are not reached are explained."""


@dataclass
class Made:
    """Tables with their titles, and lines below them."""

    tables: list[tuple[str, Table]]
    lines: list[str] = field(default_factory=list)


def of_one(mechanism: Mechanism, asked: Targets, one: Answer) -> Made:
    """The joint values, then the pose wanted beside the one reached."""
    joints = new_table("", "value", "", "", "least", "greatest", " ")
    first = mechanism.nq - mechanism.n
    for k, (name, unit, value) in enumerate(zip(names(mechanism, "q"), units(mechanism, "q"), one.q.tolist(), strict=True)):
        degrees = f"{_deg(value)}°" if unit == "rad" else ""
        bounds = [_limit(bound) for bound in mechanism.limits[k - first]] if k >= first else ["", ""]
        at = _at_limit(value, mechanism.limits[k - first]) if k >= first else ""
        joints.add_row(plain(name), _six_digits(value), unit, degrees, *bounds, flagged(at, "yellow"))
    head = "joint values" if one.success else "not reached; the joint values of the nearest pose found"
    frames = new_table("", "wanted", "reached", "")
    rows = zip((*"xyz", "roll", "pitch", "yaw"), _six(asked.poses[0]), _six(one.reached), "xyzabc", strict=True)
    for name, wanted, reached, letter in rows:
        near = reached if letter in "xyz" else reached + math.tau * round((wanted - reached) / math.tau)  # (of half turns)
        text = [_six_digits(value) if letter in "xyz" else f"{_deg(value)}°" for value in (wanted, near)]
        frames.add_row(name, text[0] if letter in asked.letters else "free", text[1], "m" if letter in "xyz" else "")
    return Made([(f"{plain(mechanism.name)}: {head}", joints), (_counted(asked), frames)], [plain(one.told)])


def of_all(mechanism: Mechanism, asked: Targets, answers: list[Answer], family: str) -> Made:
    """A row a solution."""
    table = new_table("target", "solution", *_joints(mechanism), "off by [m]", "[rad]", left=(0, 1))
    counts: Counter[int] = Counter()
    for place, one in enumerate(answers):
        counts[one.target] += 1
        if place >= MOST:
            continue
        table.add_row(plain(asked.names[one.target]), str(counts[one.target]), *_values(mechanism, one), *_errors(one))
    none = [asked.names[k] for k in range(len(asked.poses)) if not counts[k]]
    many = "1 solution" if len(answers) == 1 else f"{len(answers):,} solutions"
    lines = [f"{many} in closed form, the nearest to the start first: {plain(family)}"]
    wrong = sum(not one.success for one in answers)
    lines += [f"the first {MOST} are shown; -o FILE.csv writes all"] if len(answers) > MOST else []
    lines += [f"{wrong:,} of them miss the pose by more than the tolerance"] if wrong else []
    lines += [f"target {plain(name)}: no solution within the joint limits" for name in none[:EXPLAINED]]
    lines += [f"and {len(none) - EXPLAINED:,} more without a solution"] if len(none) > EXPLAINED else []
    title = f"{plain(mechanism.name)}: every solution, angles in degrees"
    return Made([(title, table)] if answers else [], lines)


def of_many(mechanism: Mechanism, asked: Targets, answers: list[Answer]) -> Made:
    """A row a pose, the first of many; those not reached are explained."""
    table = new_table("target", *_joints(mechanism), "off by [m]", "[rad]", " ", left=(0, 3 + mechanism.nq))
    for one in answers[:MOST]:
        word = "" if one.success else f"not reached: {one.reason}"
        table.add_row(plain(asked.names[one.target]), *_values(mechanism, one), *_errors(one), flagged(word, "red"))
    missed = [one for one in answers if not one.success]
    lines = [] if len(answers) <= MOST else [f"the first {MOST} of {len(answers):,}; -o FILE.csv writes all"]
    lines += [f"{len(answers) - len(missed):,} of {len(answers):,} poses reached"]
    lines += [f"target {plain(asked.names[one.target])}: {plain(one.told)}" for one in missed[:EXPLAINED]]
    lines += [f"and {len(missed) - EXPLAINED:,} more not reached"] if len(missed) > EXPLAINED else []
    return Made([(f"{plain(mechanism.name)}: joint values, angles in degrees", table)], lines)


def _joints(mechanism: Mechanism) -> list[str]:
    shown = {"rad": "°", "m": "m"}
    pairs = zip(names(mechanism, "q"), units(mechanism, "q"), strict=True)
    return [f"{plain(name)} [{shown[unit]}]" if unit in shown else plain(name) for name, unit in pairs]


def _values(mechanism: Mechanism, one: Answer) -> list[str]:
    pairs = zip(one.q.tolist(), units(mechanism, "q"), strict=True)
    return [_deg(value) if unit == "rad" else _six_digits(value) for value, unit in pairs]


def _errors(one: Answer) -> list[str]:
    return [f"{error:.1e}" if error else "0" for error in (one.position_error, one.rotation_error)]


def _counted(asked: Targets) -> str:
    whole = {letters: word for word, letters in WORDS.items()}
    if asked.letters == LETTERS:
        return "the pose"
    what = whole.get(asked.letters) or ", ".join(
        f"about {'xyz'['abc'.index(letter)]}" if letter in "abc" else letter for letter in asked.letters
    )
    return f"the pose, of which only this counts: {what}"


def _six(pose: FloatArray) -> list[float]:
    return [*np.asarray(pose)[:3, 3].tolist(), *rotation_to_rpy(pose[:3, :3])]


def _six_digits(value: float) -> str:
    """Six decimals, without the sign of a zero."""
    return f"{round(value, 6) + 0.0:.6f}"


def _deg(value: float) -> str:
    """An angle in degrees, four decimals, without the sign of a zero."""
    return f"{round(math.degrees(value), 4) + 0.0:.4f}"


def _limit(bound: float) -> str:
    return fixed(bound) if math.isfinite(bound) else ""


def _at_limit(value: float, limits: FloatArray) -> str:
    low, high = (abs(value - bound) <= 1e-9 for bound in limits.tolist())
    return "at its least" if low else "at its greatest" if high else ""
