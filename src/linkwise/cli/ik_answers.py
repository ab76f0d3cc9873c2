"""What ``linkwise ik`` found, as rows: the joint values of each answer, how far it is from its target, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.cli.columns import names, units
from linkwise.cli.csv_files import quoted
from linkwise.cli.ik_targets import WORDS, Targets
from linkwise.model.table import plain
from linkwise.solve.pose_error import pose_error
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

ASKS = {letters: word for word, letters in WORDS.items()}
"""What a closed form may be asked for, by the letters that count."""


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer to one target.

    Attributes
    ----------
    target : int
        Which target, from 0.
    q : ndarray (nq,)
        Coordinates, rad or m.
    success : bool
        Whether it is one.
    reason, told : str
        A word, and a sentence.
    position_error, rotation_error : float
        How far it is from the target, m and rad, over what counts.
    reached : ndarray (4, 4)
        Where the frame is, by a forward pass.
    """

    target: int
    q: FloatArray
    success: bool
    reason: str
    told: str
    position_error: float
    rotation_error: float
    reached: FloatArray


def solved(mechanism: Mechanism, asked: Targets, link: int | str, options: dict[str, Any], follow: bool) -> list[Answer]:
    """One answer for each target; ``follow`` starts each where the one before it ended."""
    start = options.pop("q0")
    if not follow:
        found = mechanism.inverse_kinematics(asked.poses, q0=start, link=link, mask=asked.mask, **options)
        return [_answer(mechanism, link, k, found, k) for k in range(len(asked.poses))]
    answers = []
    for k, pose in enumerate(asked.poses):
        one = mechanism.inverse_kinematics(pose, q0=start, link=link, mask=asked.mask, **options)
        answers.append(_answer(mechanism, link, k, one, None))
        start = one.q if one.success else start
    return answers


def _answer(mechanism: Mechanism, link: int | str, target: int, found: Any, index: int | None) -> Answer:
    at = ... if index is None else index
    q = np.asarray(found.q)[at]
    distance, angle = (float(np.asarray(part)[at]) for part in (found.position_error, found.rotation_error))
    success, reason = bool(np.asarray(found.success)[at]), str(np.asarray(found.reason)[at])
    reached = mechanism.forward_kinematics(q, link=link)
    return Answer(target, q, success, reason, found.explain(index), distance, angle, reached)


def every(
    mechanism: Mechanism, asked: Targets, link: int | str, options: dict[str, Any], given: dict[int | str, Any]
) -> tuple[list[Answer], str]:
    """All answers that a closed form gives, target by target, the nearest to q0 first; and what makes it possible.

    Raises
    ------
    ArgumentError
        Where there is no closed form: why.
    """
    from linkwise.errors import ArgumentError
    from linkwise.solve.closed_form import Solutions, closed_form

    form = closed_form(mechanism, link, asks=ASKS[asked.letters], given=given or None)
    if not form.exists:
        why = form.why.replace("given={joint: value}", "--given JOINT=VALUE")
        raise ArgumentError(
            f"{mechanism.name!r} has no closed form for this: {why}; without --all one solution is found numerically"
        )
    found = form.all(asked.poses, options["q0"], options["limits"])
    assert isinstance(found, Solutions)
    answers = []
    for k, solutions in enumerate(found):
        errors = pose_error(mechanism.forward_kinematics(solutions, link=link), asked.poses[k]) * asked.counted
        for q, error in zip(solutions, errors, strict=True):
            off = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
            exact = max(off) <= options["tol"]
            reached = mechanism.forward_kinematics(q, link=link)
            told = f"by {form.family}" + ("" if found.complete[k] else ", and by random starts: there may be others")
            answers.append(Answer(k, q, exact, "converged" if exact else "missed", told, *off, reached))
    return answers, form.family


def csv_text(mechanism: Mechanism, answers: list[Answer], asked: Targets) -> Iterator[str]:
    """A header with units, and a row an answer; numbers in the fewest digits that read back as the same."""
    joints = [f"q_{name} [{unit}]" for name, unit in zip(names(mechanism, "q"), units(mechanism, "q"), strict=True)]
    columns = ["target", "success", "reason", "position_error [m]", "rotation_error [rad]", *joints]
    yield ",".join(map(quoted, columns)) + "\n"
    for one in answers:
        values = (one.position_error, one.rotation_error, *one.q.tolist())
        cells = [quoted(asked.names[one.target]), str(int(one.success)), one.reason, *map(repr, values)]
        yield ",".join(cells) + "\n"


def facts(mechanism: Mechanism, answers: list[Answer], asked: Targets) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "mechanism": mechanism.name,
        "coordinates": list(names(mechanism, "q")),
        "units": units(mechanism, "q"),
        "counts": asked.letters,
        "targets": asked.poses.tolist(),
        "answers": [
            {
                "target": one.target,
                "success": one.success,
                "reason": one.reason,
                "explanation": plain(one.told),
                "position_error": one.position_error,
                "rotation_error": one.rotation_error,
                "q": one.q.tolist(),
            }
            for one in answers
        ],
    }
