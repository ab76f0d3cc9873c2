"""Compute joint values for poses (inverse kinematics).

Joint values for a pose, or for a file of poses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import numpy as np

from linkwise.cli.command import File, Options, Output, argument, command, mechanism, option
from linkwise.cli.options import POSITIVE, Coordinates, OfJoint, OutputFile, Vector, refuse
from linkwise.errors import ArgumentError, choices, members
from linkwise.files import Description
from linkwise.files.csv_results import csv_line, quoted
from linkwise.files.number_table import ZERO, read_matrices, read_poses
from linkwise.inverse_kinematics.closed_form import closed_form, elimination
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import Column, Table, fixed, plain
from linkwise.model.quantities import labelled, names, units
from linkwise.model.tree import TOOL
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform

#: Required components: along x, y, z; about x, y, z.
LETTERS = "xyzabc"

WORDS = {"translation": "xyz", "rotation": "abc", "all": LETTERS}


@dataclass(frozen=True, eq=False)
class Targets:
    """Poses (k, 4, 4), their required components as letters, and their names in a table."""

    poses: FloatArray
    letters: str
    names: tuple[str, ...]

    @property
    def counted(self) -> FloatArray:
        """1 for required components, 0 for free ones (6,)."""
        return np.array([float(letter in self.letters) for letter in LETTERS])

    @property
    def mask(self) -> Any:
        """Required components in the solver's form; None for all."""
        return None if self.letters == LETTERS else self.counted.astype(int).tolist()


def targets(options: Options) -> Targets:
    """Read the targets that the options of `linkwise ik` name.

    Raises
    ------
    click.UsageError
        Where there is none or more than one source of them, or an option is not a pose.
    FileError
        Where a file is wrong, with the line.
    """
    single = " and ".join(f"--{name}" for name in ("position", "rpy", "quaternion") if getattr(options, name))
    named = (("TARGETS", options.targets), ("--matrix", options.matrix), (single, single))
    sources = [name for name, value in named if value]
    if len(sources) != 1:
        subject = f"{members(sources)} each give a target" if sources else "the target pose is missing"
        expected = "give a file TARGETS, --matrix, or --position, one of --rpy and --quaternion, or both"
        raise click.UsageError(f"{subject}; {expected}")
    if options.rpy and options.quaternion:
        raise click.UsageError("--rpy and --quaternion both define the orientation; give one")
    counted = _letters(options.mask)
    if options.targets:
        poses, letters, names = read_poses(options.targets, options.link)
    else:
        poses, letters = (read_matrices(options.matrix), LETTERS) if options.matrix else _pose(options)
        names = tuple(str(k + 1) for k in range(len(poses)))
    missing = [letter for letter in counted or "" if letter not in letters]
    if missing:
        part = "orientation" if missing[0] in "abc" else "position"
        raise click.UsageError(f"--mask {options.mask} needs the {part}, which the target does not have")
    return Targets(poses, counted or letters, names)


def _letters(mask: str | None) -> str | None:
    if mask is None:
        return None
    word = WORDS.get(mask, mask)
    if not word or set(word) - set(LETTERS) or len(set(word)) < len(word):
        expected = f"{choices(WORDS)}, nor letters of {LETTERS!r} (along x, y, z; about x, y, z)"
        refuse(f"{mask!r} is not {expected}", "--mask")
    return "".join(letter for letter in LETTERS if letter in word)


def _pose(options: Options) -> tuple[FloatArray, str]:
    """One pose (1, 4, 4), and the letters of its stated parts."""
    rotation = rpy_to_rotation(*options.rpy) if options.rpy else np.eye(3)
    if options.quaternion:
        if math.hypot(*options.quaternion) < ZERO:
            refuse("the quaternion w, x, y, z is zero; expected an orientation", "--quaternion")
        rotation = quaternion_rotation(options.quaternion)
    letters = "xyz" * bool(options.position) + "abc" * bool(options.rpy or options.quaternion)
    return np.asarray(transform(rotation, options.position or [0.0] * 3), dtype=float)[None], letters


METHODS = ("auto", "closed_form", "numeric", "newton_raphson", "steepest_descent")

#: Exit status where a target is not reached.
NOT_REACHED = 1

#: Greatest number of printed rows of a file of poses, and of explained failures.
ROWS, EXPLAINED = 40, 10

#: Parts of a pose solved by a closed form, by the required components.
ASKS = {"xyz": "position", "abc": "orientation", LETTERS: "pose"}

#: A coordinate this near to a limit (rad or m) is at it.
AT_LIMIT = 1e-9


@dataclass(frozen=True, eq=False)
class Answer:
    """One solution of one target.

    Attributes
    ----------
    target : int
        Which target, from 0.
    success : bool
        Whether the target is reached.
    reason, explanation : str
        A word, and a sentence.
    position_error, rotation_error : float
        How far it is from the target, m and rad, over what counts.
    q : ndarray (nq,)
        Coordinates, rad or m.
    configuration : dict
        Words by name, of every solution that ``--all`` gives.
    """

    target: int
    success: bool
    reason: str
    explanation: str
    position_error: float
    rotation_error: float
    q: FloatArray
    configuration: dict[str, str] = field(default_factory=dict)


@command(
    mechanism(),
    argument("targets", type=click.Path(), required=False),
    option("--position", type=Vector("X,Y,Z", "length", 3, "m"), help="Position of the tool, m; alone: in any orientation."),
    option(
        "--rpy",
        type=Vector("R,P,Y", "angle", 3, "rad, or with deg"),
        help="Orientation Rz(yaw) Ry(pitch) Rx(roll), rad, or degrees as in 90deg.",
    ),
    option("--quaternion", type=Vector("W,X,Y,Z", "", 4), help="Orientation as a quaternion of any length."),
    option("--matrix", metavar="FILE", type=click.Path(), help="Poses as 4x4 matrices, 4 numbers per line."),
    option("--mask", metavar="WHAT", help="Constrained directions: translation, rotation, all, or letters of xyzabc."),
    option(
        "--q0",
        type=Coordinates(),
        help="Initial guess, and the values of joints that do not matter; of several solutions the nearest to it is "
        "returned. Default: near the middle of the limits, and 0 for joints that do not matter.",
    ),
    option("--link", metavar="NAME", help="Link whose frame is brought to the pose. Default: the tool."),
    option("--all", "every", is_flag=True, help="Print all closed-form solutions."),
    option("--fix", type=OfJoint("JOINT=VALUE"), help="With --all: hold a joint, as seven joints need."),
    option("--turns", is_flag=True, help="With --all: add all whole turns within the limits."),
    option("--configuration", metavar="NAME=WORD,...", help="With --all: such as shoulder=left,elbow=up."),
    option("--method", type=click.Choice(METHODS), default="auto", help="Solver."),
    option("--follow", is_flag=True, help="Start each pose of a file from the solution of the previous one."),
    option("--limits/--no-limits", default=True, help="Respect joint limits."),
    option("--seed", type=click.IntRange(0), default=0, help="Seed of further initial guesses."),
    option("--tol", type=POSITIVE, default=1e-9, help="Tolerance of the pose, m and rad."),
    option("-o", "--output", type=OutputFile("a file of joint values", ["csv"]), help="File of all joint values."),
)
def ik(description: Description, options: Options) -> Output:
    """Find joint values that bring the tool of a MECHANISM to a pose in the world frame, or to each of a file of poses.

    TARGETS is a .csv whose header names x, y, z and roll, pitch, yaw or qw, qx, qy, qz, or one of these alone; m and rad
    unless a header says [mm] or [deg]. links.csv of linkwise run is such a file (with --link). Solutions stay
    within the joint limits and keep loops closed, and each is verified by forward kinematics. If a pose is not reached,
    the command prints the nearest solution and the reason, and the exit status is 1.

    --mask selects the constrained directions: x, y, z along the axes of the world, a, b, c about them. xyc suits a planar
    arm.

    \b
    Examples:
      linkwise ik puma560 --position 0.4,0.2,0.3 --rpy 0,180deg,0
      linkwise ik ur5 --position 0.4,0.2,0.3 --quaternion 0,1,0,0 --all
      linkwise ik planar_3r --position 1,1,0 --rpy 0,0,90deg --mask xyc
      linkwise ik panda poses.csv --follow -o joints.csv
    """  # noqa: D301  (\b keeps click from filling the lines)
    model = description.mechanism
    asked = targets(options)
    if options.every:
        if options.follow or options.method not in ("auto", "closed_form"):
            other = "--follow" if options.follow else f"--method {options.method}"
            raise click.UsageError(f"--all gives the solutions of the closed form; {other} finds one of them")
        if asked.letters not in ASKS:
            raise click.UsageError(f"--all is for a pose, a position or an orientation, not for {options.mask!r} alone")
        answers, family, complete = _every(model, asked, options)
        parts = _all_parts(model, asked, answers, family, complete)
    elif options.fix or options.turns or options.configuration:
        name = "--fix" if options.fix else "--turns" if options.turns else "--configuration"
        raise click.UsageError(f"{name} is for --all, which is missing")
    else:
        answers = _solve(model, asked, options)
        alone = len(asked.poses) == 1
        reached = model.forward_kinematics(answers[0].q, link=_link(options)) if alone else None
        parts = _parts(model, asked, answers) if reached is None else _single_parts(model, asked, answers[0], reached)
    reached_targets = {answer.target for answer in answers if answer.success}
    files = []
    if options.output is not None:
        text = "".join(_csv(model, answers, asked))
        files = [File(options.output, lambda: text.encode("utf-8", "backslashreplace"))]
    data = {
        "mechanism": model.name,
        "coordinates": names(model, "q"),
        "units": units(model, "q"),
        "counts": asked.letters,
        "targets": asked.poses,
        "answers": [vars(answer) | {"explanation": plain(answer.explanation)} for answer in answers],
    }
    data |= {"complete": complete} if options.every else {}
    status = NOT_REACHED if len(reached_targets) < len(asked.poses) else 0
    return Output(data, parts, files, status, keep=True)


def _link(options: Options) -> int | str:
    return TOOL if options.link is None else str(options.link)


# ── solving ───────────────────────────────────────────────────────────────────────────────────────


def _solve(model: Mechanism, asked: Targets, options: Options) -> list[Answer]:
    """Solve each target; with ``--follow`` each starts at the previous solution."""
    settings: dict[str, Any] = {name: getattr(options, name) for name in ("method", "limits", "seed", "tol")}
    settings |= {"link": _link(options), "mask": asked.mask}
    if not options.follow:
        solution = model.inverse_kinematics(asked.poses, q0=options.q0, **settings)
        return [_answer(k, solution, k) for k in range(len(asked.poses))]
    answers, start = [], options.q0
    for k, pose in enumerate(asked.poses):
        solution = model.inverse_kinematics(pose, q0=start, **settings)
        answers.append(_answer(k, solution, None))
        start = solution.q if solution.success else start
    return answers


def _answer(target: int, solution: Any, index: int | None) -> Answer:
    at = ... if index is None else index
    distance, angle = (float(np.asarray(part)[at]) for part in (solution.position_error, solution.rotation_error))
    success, reason = bool(np.asarray(solution.success)[at]), str(np.asarray(solution.reason)[at])
    return Answer(target, success, reason, solution.explain(index), distance, angle, np.asarray(solution.q)[at])


def _every(model: Mechanism, asked: Targets, options: Options) -> tuple[list[Answer], str, list[bool]]:
    """All solutions by closed form or elimination, the nearest to q0 first; the method; the targets with complete solutions.

    Raises
    ------
    ArgumentError
        Where there is no closed form: why.
    """
    fixed_joints = {name: values[0] for name, values in (options.fix or {}).items()}
    asks = ASKS[asked.letters]
    form: Any = closed_form(model, _link(options), asks=asks, fixed=fixed_joints or None)
    if not form.exists and asks == "pose" and not fixed_joints:
        form = elimination(model, _link(options)) or form
    if not form.exists:
        why = form.why.replace("fixed={joint: value}", "--fix JOINT=VALUE")
        hint = "without --all one solution is found numerically"
        raise ArgumentError(f"{model.name!r} has no closed form for this: {why}; {hint}")
    joint = None if not fixed_joints else next(iter(fixed_joints))
    if asks == "pose":
        chosen = {"turns": options.turns, "configuration": _configuration(options.configuration)}
        sought: dict[str, Any] = {"q0": options.q0, "limits": options.limits, "fixed": fixed_joints or None}
        solutions = model.all_inverse_kinematics(asked.poses, link=_link(options), **sought, **chosen)
    elif options.turns or options.configuration:
        raise click.UsageError("--turns and --configuration are for whole poses")
    else:
        solutions = form.all(asked.poses, options.q0, options.limits)
    answers = []
    for k, branches in enumerate(solutions):
        poses = model.forward_kinematics(branches, link=_link(options))
        words = model.configuration_labels(branches, link=_link(options), fixed=joint) if asks == "pose" else {}
        explanation = f"by {form.family}" + (
            "" if solutions.complete[k] else ", which does not prove here that there are no others"
        )
        errors = pose_error(poses, asked.poses[k]) * asked.counted
        for place, (q, error) in enumerate(zip(branches, errors, strict=True)):
            configuration = {name: str(word[place]) for name, word in words.items()}
            off = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
            exact = max(off) <= options.tol
            answers.append(Answer(k, exact, "converged" if exact else "missed", explanation, *off, q, configuration))
    return answers, form.family, np.atleast_1d(solutions.complete).tolist()


def _configuration(text: str | None) -> dict[str, str] | None:
    """Words by name."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not (name and equals and word) for name, equals, word in pairs):
        refuse(f"{text!r} is not NAME=WORD,..., as shoulder=left,elbow=up", "--configuration")
    return {name.strip(): word.strip() for name, _, word in pairs}


def _csv(model: Mechanism, answers: Sequence[Answer], asked: Targets) -> Iterator[str]:
    """A header with units, and a row an answer; numbers in the fewest digits that read back as the same."""
    joints = [f"q_{label}" for label in labelled(model, "q")]
    yield csv_line(["target", "success", "reason", "position_error [m]", "rotation_error [rad]", *joints])
    for answer in answers:
        values = (answer.position_error, answer.rotation_error, *answer.q.tolist())
        name = quoted(asked.names[answer.target])
        yield ",".join([name, str(int(answer.success)), answer.reason, *map(repr, values)]) + "\n"


# ── tables ────────────────────────────────────────────────────────────────────────────────────────


def _single_parts(model: Mechanism, asked: Targets, answer: Answer, reached: FloatArray) -> Iterator[str | Table]:
    """The joint values, then the pose wanted beside the one reached."""
    rows = []
    first = model.nq - model.n
    for k, (name, unit, value) in enumerate(zip(names(model, "q"), units(model, "q"), answer.q.tolist(), strict=True)):
        angle = f"{_degrees(value)}°" if unit == "rad" else ""
        ends = [float(model.q_min[k - first]), float(model.q_max[k - first])] if k >= first else [-math.inf, math.inf]
        bounds = [fixed(end) if math.isfinite(end) else "" for end in ends]
        low, high = (abs(value - end) <= AT_LIMIT for end in ends)
        flag = "at its lower limit" if low else "at its upper limit" if high else ""
        rows.append((plain(name), _decimals(value), unit, angle, *bounds, flag))
    head = "joint values" if answer.success else "not reached; the joint values of the nearest pose found"
    right = [Column(title, right=True) for title in ("value", "", "lower limit", "upper limit")]
    columns = [Column(""), right[0], Column(""), *right[1:], Column(" ")]
    yield Table([f"{plain(model.name)}: {head}"], columns, rows)
    rows = []
    wanted, actual = ([*pose[:3, 3].tolist(), *rotation_to_rpy(pose[:3, :3])] for pose in (asked.poses[0], reached))
    for name, target, value, letter in zip((*"xyz", "roll", "pitch", "yaw"), wanted, actual, LETTERS, strict=True):
        if letter in "xyz":
            texts = [_decimals(target), _decimals(value), "m"]
        else:
            nearest = value + math.tau * round((target - value) / math.tau)  # (of half turns)
            texts = [f"{_degrees(target)}°", f"{_degrees(nearest)}°", ""]
        rows.append((name, texts[0] if letter in asked.letters else "free", *texts[1:]))
    columns = [Column(title, right=bool(title)) for title in ("", "wanted", "reached", "")]
    yield Table([_counted(asked)], columns, rows)
    yield plain(answer.explanation)


def _all_parts(
    model: Mechanism, asked: Targets, answers: Sequence[Answer], family: str, complete: Sequence[bool]
) -> Iterator[str | Table]:
    """A row a solution, and for which targets there may be others."""
    rows = []
    counts: Counter[int] = Counter()
    for answer in answers:
        counts[answer.target] += 1
        words = [", ".join(answer.configuration.values())] * bool(answer.configuration)
        rows.append((plain(asked.names[answer.target]), str(counts[answer.target]), *_values(model, answer), *words))
    if answers:
        title = f"{plain(model.name)}: every solution, angles in degrees"
        last = ["configuration"] * bool(answers[0].configuration)
        yield Table([title], ["target", "solution", *_columns(model), *last], rows[:ROWS], keys=2)
    solutions = "1 solution" if len(answers) == 1 else f"{len(answers):,} solutions"
    method, why = ("by elimination", family[13:]) if family.startswith("elimination: ") else ("in closed form", family)
    yield f"{solutions} {method}, the nearest to the start first: {plain(why)}"
    if len(answers) > ROWS:
        yield f"the first {ROWS} are shown; -o FILE.csv writes all"
    wrong = sum(not answer.success for answer in answers)
    if wrong:
        yield f"{wrong:,} of them miss the pose by more than the tolerance"
    missed = [asked.names[k] for k in range(len(asked.poses)) if not counts[k]]
    lines = [f"target {plain(name)}: no solution within the joint limits" for name in missed]
    yield from _first(lines, "without a solution")
    unproven = [plain(name) for name, proven in zip(asked.names, complete, strict=True) if not proven]
    yield from _first([f"target {name}: there may be other solutions" for name in unproven], "that may have others")


def _parts(model: Mechanism, asked: Targets, answers: Sequence[Answer]) -> Iterator[str | Table]:
    """A row a pose, the first of many; those not reached are explained."""
    rows = []
    for answer in answers[:ROWS]:
        flag = "" if answer.success else f"not reached: {answer.reason}"
        rows.append((plain(asked.names[answer.target]), *_values(model, answer), flag))
    yield Table([f"{plain(model.name)}: joint values, angles in degrees"], ["target", *_columns(model), " "], rows)
    if len(answers) > ROWS:
        yield f"the first {ROWS} of {len(answers):,}; -o FILE.csv writes all"
    missed = [answer for answer in answers if not answer.success]
    yield f"{len(answers) - len(missed):,} of {len(answers):,} poses reached"
    lines = [f"target {plain(asked.names[answer.target])}: {plain(answer.explanation)}" for answer in missed]
    yield from _first(lines, "not reached")


def _first(lines: Sequence[str], failing: str) -> Iterator[str]:
    """First lines of several, and the number of the others."""
    yield from lines[:EXPLAINED]
    if len(lines) > EXPLAINED:
        yield f"and {len(lines) - EXPLAINED:,} more {failing}"


def _columns(model: Mechanism) -> list[Column]:
    """Columns of the coordinates and of the errors."""
    symbols = {"rad": " [°]", "m": " [m]"}
    pairs = zip(names(model, "q"), units(model, "q"), strict=True)
    titles = [f"{plain(name)}{symbols.get(unit, '')}" for name, unit in pairs]
    return [Column(title, right=True) for title in (*titles, "position error [m]", "rotation error [rad]")]


def _values(model: Mechanism, answer: Answer) -> list[str]:
    pairs = zip(answer.q.tolist(), units(model, "q"), strict=True)
    values = [_degrees(value) if unit == "rad" else _decimals(value) for value, unit in pairs]
    return values + [f"{error:.1e}" if error else "0" for error in (answer.position_error, answer.rotation_error)]


def _counted(asked: Targets) -> str:
    if asked.letters == LETTERS:
        return "the pose"
    parts = [f"about {'xyz'['abc'.index(letter)]}" if letter in "abc" else letter for letter in asked.letters]
    return f"the pose ({ASKS.get(asked.letters) or ', '.join(parts)} only)"


def _decimals(value: float) -> str:
    """Six decimals, without the sign of a zero."""
    return f"{round(value, 6) + 0.0:.6f}"


def _degrees(value: float) -> str:
    """An angle in degrees, four decimals, without the sign of a zero."""
    return f"{round(math.degrees(value), 4) + 0.0:.4f}"
