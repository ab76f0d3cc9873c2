"""SpaceLib's robot description .DAT: a stream of numbers.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.1: the number of links; for each link the joint type,
theta d b a alpha of the extended Denavit-Hartenberg convention, the mass, the barycentral moments jxx jxy jxz jyy jyz jzz,
the centre of mass xg yg zg; then gravity gx gy gz, and force fx fy fz and couple cx cy cz on the end effector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from linkwise.errors import FileProblem, shown
from linkwise.files.attempt import attempt
from linkwise.files.description import Description, Place, Reading, line_of
from linkwise.files.loss import check_loss, exact_sum
from linkwise.files.numbers import Token, begins_as_number, number, tokens, whole, why_not
from linkwise.files.uneven import uneven_description
from linkwise.mechanism import Mechanism
from linkwise.model.checks import frozen
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.table import number as shown_number
from linkwise.spatial.scalar import FloatArray

JOINT_TYPES = ("revolute", "prismatic")
PLACEMENT = ("type", "theta", "d", "b", "a", "alpha")
BODY = ("mass", "jxx", "jxy", "jxz", "jyy", "jyz", "jzz", "xg", "yg", "zg")
LINK_FIELDS = PLACEMENT + BODY
END_FIELDS = ("gx", "gy", "gz", "fx", "fy", "fz", "cx", "cy", "cz")
_MODEL_FIELDS = {"joint": "type", "inertia": "jxx", "com": "xg"}


def parse(text: str, name: str, physical: bool = True) -> Reading:
    r"""Read the text of a .DAT file; the mechanism takes its name from the file's.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism.
    physical : bool
        Whether each inertia must be that of a body that can exist.
    """
    words = tokens(text)
    count = whole(words[0].text) if words else None
    if count is None or count < 1:
        what = f"{words[0].text!r} is not a count of links, a whole number >= 1" if words else "the file is empty"
        return Reading(None, [FileProblem(words[0].line if words else 0, what)], {})
    words, unused = _without_end(words, count)
    problems = _length_problems(words, count)
    numbers = words[1 : 1 + len(LINK_FIELDS) * count + len(END_FIELDS)]
    problems += [FileProblem(word.line, _named(k, count, word)) for k, word in enumerate(numbers) if _bad(k, count, word)]
    if problems:
        return Reading(None, sorted(problems, key=lambda problem: problem.line), {})
    return replace(_build(numbers, count, name, physical), remarks=unused)


def _without_end(words: list[Token], count: int) -> tuple[list[Token], list[FileProblem]]:
    """The words without a text after the last number, which SpaceLib does not read, and a remark on it.

    Numbers after the last one are no text: the count of links may be wrong.
    """
    wanted = 1 + len(LINK_FIELDS) * count + len(END_FIELDS)
    if len(words) <= wanted or begins_as_number(words[wanted].text):
        return words, []
    extra = words[wanted]
    more = f" and {len(words) - wanted - 1} words more" if len(words) > wanted + 1 else ""
    return words[:wanted], [FileProblem(extra.line, f"{shown(extra.text)}{more}, after the last number, is not read")]


def _length_problems(words: Sequence[Token], count: int) -> list[FileProblem]:
    """Too few numbers or too many."""
    wanted, found = 1 + len(LINK_FIELDS) * count + len(END_FIELDS), len(words)
    total = f"{count} link{'s' if count > 1 else ''} need {wanted} numbers in all"
    uneven = uneven_description(words, count, len(LINK_FIELDS)) if found != wanted else ""
    hint = f"; {uneven}" if uneven else ""
    if found < wanted:
        missing = f"the file ends where {_field(found - 1, count)} should follow; {total}, there are {found}{hint}"
        return [FileProblem(words[-1].line, missing)]
    if found > wanted:
        extra = words[wanted]
        return [
            FileProblem(extra.line, f"{extra.text!r} comes after the last number; {total}, there are {found} words{hint}")
        ]
    return []


def _field(k: int, count: int) -> str:
    """What the k-th number after the count says."""
    link, at = divmod(k, len(LINK_FIELDS))
    return f"{LINK_FIELDS[at]} of link {link + 1}" if link < count else END_FIELDS[k - count * len(LINK_FIELDS)]


def _is_type(k: int, count: int) -> bool:
    return k < count * len(LINK_FIELDS) and k % len(LINK_FIELDS) == 0


def _bad(k: int, count: int, word: Token) -> bool:
    return whole(word.text) not in (0, 1) if _is_type(k, count) else number(word.text) is None


def _named(k: int, count: int, word: Token) -> str:
    if _is_type(k, count):
        return f"joint {_field(k, count)} is {word.text!r}; expected 0 (revolute) or 1 (prismatic)"
    return f"{_field(k, count)}: {why_not(word.text)}"


def _build(words: Sequence[Token], count: int, name: str, physical: bool) -> Reading:
    """The mechanism from words that are all numbers."""
    size = len(LINK_FIELDS)
    lines: dict[Place, int] = {("gravity",): words[size * count].line, ("external",): words[size * count + 3].line}
    problems: list[FileProblem] = []
    links: list[Link] = []
    for k in range(count):
        row = words[size * k : size * (k + 1)]
        for field, word in zip(LINK_FIELDS, row, strict=True):
            lines["link", k, field] = word.line
        lines.update({("link", k, field): lines["link", k, place] for field, place in _MODEL_FIELDS.items()})
        lines["link", k] = row[0].line
        made, wrong = attempt(f"link 'link{k + 1}'", partial(_link, list(map(_value, row)), f"link{k + 1}", physical))
        links += [made] if made else []
        problems += [FileProblem(line_of(lines, ("link", k, one.field)), _hint(str(one))) for one in wrong]
    if problems:
        return Reading(None, problems, lines)
    end = np.array([_value(word) for word in words[size * count :]])
    mechanism = Mechanism(links, gravity=end[:3], name=name or None)
    return Reading(Description(mechanism, frozen(end[3:].copy())), [], lines)


def _value(word: Token) -> float:
    return float(word.text.replace("D", "e").replace("d", "e"))


def _hint(message: str) -> str:
    return message.replace(
        "physical=False accepts an identified set of parameters", "reading with physical=False accepts it"
    )


def _link(row: Sequence[float], name: str, physical: bool) -> Link:
    kind, theta, d, b, a, alpha, mass, jxx, jxy, jxz, jyy, jyz, jzz, xg, yg, zg = row
    return Link.dh(
        theta, d, a, alpha, b=b, convention="standard", joint=JOINT_TYPES[int(kind)], name=name,
        mass=mass, com=(xg, yg, zg), inertia=(jxx, jyy, jzz, jxy, jyz, jxz), physical=physical,
    )  # fmt: skip


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def losses(mechanism: Mechanism) -> list[str]:
    """What a .DAT file leaves out of a mechanism; empty when nothing would be lost.

    The mechanism's name is not counted: the file's name stands for it. What keeps a file from being written at all is
    told by `obstacles`.

    Examples
    --------
    >>> from linkwise import Link
    >>> losses(Mechanism([Link.dh(a=1.0, convention="standard", limits=(-1, 1))]))
    ["link 'link1': its limits"]
    """
    found = [f"link {link.name!r}: {what}" for k, link in enumerate(mechanism.links) for what in _link_losses(k, link)]
    frames = (("base", mechanism.base), ("tool", mechanism.tool))
    found += [f"its {name} (it is not the identity)" for name, frame in frames if not np.array_equal(frame, np.eye(4))]
    if mechanism.tool_link is not None:
        found.append("its tool (it is not on the last link)")
    if not mechanism.payload.is_zero:
        found.append("its payload")
    return [*found, *(f"its motor of {motor.joint!r}{_rotor_text(motor)}" for motor in mechanism.motors)]


def _rotor_text(motor: Motor) -> str:
    """What of the rotor is lost with its motor."""
    if motor.carrier is None:
        return ""
    carrier = repr(motor.carrier) if isinstance(motor.carrier, str) else f"link {motor.carrier} (from 0)"
    return f", whose rotor is carried by {carrier}" + ("" if motor.locked.is_zero else f" ({shown_number(motor.mass)} kg)")


def _link_losses(k: int, link: Link) -> list[str]:
    tests = {
        "its name (only link1, link2, ... are implied)": link.name != f"link{k + 1}",
        "its offset (it cannot be added to theta or d without rounding)": _has_row(link) and _folded(link) is None,
        "the name of its joint": link.joint_name is not None,
        "its limits": link.limits is not None,
        "its greatest speed": link.speed_limit is not None,
        "its greatest effort": link.effort_limit is not None,
        f"its motor{_rotor_text(link.motor) if link.motor else ''}": link.motor is not None,
        "its mark physical=False": not link.body.physical and _is_physical(link),
    }
    return [what for what, lost in tests.items() if lost]


def obstacles(mechanism: Mechanism) -> list[str]:
    """What keeps a .DAT file of a mechanism from being written: it would say another one, or could not be read again.

    Examples
    --------
    >>> obstacles(Mechanism([Link(joint="screw", pitch=0.1)]))[0]
    "link 'link1': its screw joint (only revolute and prismatic ones can be said)"
    """
    found = [f"link {link.name!r}: {what}" for link in mechanism.links for what in _link_obstacles(link)]
    if not _is_chain(mechanism):
        found.append("its branches (the links are not one chain in order)")
    if mechanism.floating:
        found.append("its floating base (only a mechanism that stands on the ground can be said)")
    if mechanism.loops:
        found.append("its closed loops")
    return found


def _link_obstacles(link: Link) -> list[str]:
    row = link.dh_row
    tests = {
        f"its {link.joint} joint (only revolute and prismatic ones can be said)": link.joint not in JOINT_TYPES,
        "its joint, which follows another": link.mimic is not None,
        "its placement (no Denavit-Hartenberg row was given)": row is None,
        "its modified Denavit-Hartenberg row (only the standard convention can be said)": bool(
            row and row.convention != "standard"
        ),
        "its inertia (physical=False, and not that of a body that can exist: the file could not be read)": (
            not _is_physical(link)
        ),
    }
    return [what for what, found in tests.items() if found]


def _is_physical(link: Link) -> bool:
    """Whether the numbers are those of a body that can exist, whatever they are marked as."""
    body = link.body
    made, _ = attempt("link", lambda: Inertia(body.mass, body.com, body.tensor))
    return made is not None


def _is_chain(mechanism: Mechanism) -> bool:
    return mechanism.parents == tuple(range(-1, len(mechanism.links) - 1))


def _has_row(link: Link) -> bool:
    return bool(link.joint in JOINT_TYPES and link.dh_row and link.dh_row.convention == "standard")


def _folded(link: Link) -> float | None:
    """The theta or d with the offset added, or None where the sum would be rounded."""
    row = link.dh_row
    if row is None or not link.offset:
        return 0.0
    return exact_sum(row.theta if link.joint == "revolute" else row.d, link.offset)


def render(path: str | Path, mechanism: Mechanism, external: FloatArray, allow_loss: bool = False) -> str:
    """The text of a .DAT file.

    Raises
    ------
    FileError
        Naming everything that would be lost, unless `allow_loss`, and everything that cannot be written at all.
    """
    check_loss(path, "a .DAT file", losses(mechanism), obstacles(mechanism), allow_loss)
    blocks = [str(len(mechanism.links)), *(_link_text(link) for link in mechanism.links)]
    ends = (mechanism.gravity, external)
    return "\n\n".join([*blocks, "\n".join(_words(values.tolist()) for values in ends)]) + "\n"


def _link_text(link: Link) -> str:
    row, body = link.dh_row, link.body
    assert row is not None
    theta, d = row.theta, row.d
    if link.offset:
        theta, d = (theta + link.offset, d) if link.joint == "revolute" else (theta, d + link.offset)
    j = body.tensor.tolist()
    lines = (
        [theta, d, row.b, row.a, row.alpha],
        [body.mass],
        j[0],
        j[1][1:],
        j[2][2:],
        body.com.tolist(),
    )
    return "\n".join([str(JOINT_TYPES.index(link.joint)), *map(_words, lines)])


def _words(values: Sequence[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
