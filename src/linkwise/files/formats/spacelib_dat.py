"""SpaceLib's robot description .DAT: a stream of numbers.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.1: the number of links; for each link the joint type,
theta d b a alpha of the extended Denavit-Hartenberg convention, the mass, the barycentral moments jxx jxy jxz jyy jyz jzz,
the centre of mass xg yg zg; then gravity gx gy gz, and force fx fy fz and couple cx cy cz on the end effector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from linkwise.errors import FileProblem, Problem, shown
from linkwise.files.losses import Losses, chain_losses
from linkwise.files.registry import NUMERIC, Format, ReadOptions, register, stem
from linkwise.files.report import Description, Reading, Report, can_exist
from linkwise.files.text import Token, begins_as_number, number, tokens, uneven_description, whole, why_not
from linkwise.files.toml_text import Place, line_of, real
from linkwise.mechanism import Mechanism
from linkwise.model.link import DH_LETTERS, Link
from linkwise.model.validation import frozen
from linkwise.spatial.scalar import FloatArray

#: The kinds of joints by their numbers in a file.
JOINT_TYPES = tuple(DH_LETTERS[letter] for letter in "RP")
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
        message = f"{words[0].text!r} is not a count of links, a whole number >= 1" if words else "the file is empty"
        return Reading(None, [FileProblem(words[0].line if words else 0, message)], {})
    words, unused = _without_end(words, count)
    problems = _length_problems(words, count)
    numbers = words[1 : 1 + len(LINK_FIELDS) * count + len(END_FIELDS)]
    problems += _problems(numbers, count)
    if problems:
        return Reading(None, sorted(problems, key=lambda problem: problem.line), {})
    return _build(numbers, count, name, physical, unused)


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
    wanted, there = 1 + len(LINK_FIELDS) * count + len(END_FIELDS), len(words)
    total = f"{count} link{'s' if count > 1 else ''} need {wanted} numbers in all"
    uneven = uneven_description(words, count, len(LINK_FIELDS)) if there != wanted else ""
    hint = f"; {uneven}" if uneven else ""
    if there < wanted:
        missing = f"the file ends where {_field(there - 1, count)} should follow; {total}, there are {there}{hint}"
        return [FileProblem(words[-1].line, missing)]
    if there > wanted:
        extra = words[wanted]
        after = f"{extra.text!r} comes after the last number; {total}, there are {there} words{hint}"
        return [FileProblem(extra.line, after)]
    return []


def _field(k: int, count: int) -> str:
    """The k-th number after the count, in words."""
    link, at = divmod(k, len(LINK_FIELDS))
    return f"{LINK_FIELDS[at]} of link {link + 1}" if link < count else END_FIELDS[k - count * len(LINK_FIELDS)]


def _problems(words: Sequence[Token], count: int) -> Iterator[FileProblem]:
    """The words that are not the numbers that they should be."""
    for k, word in enumerate(words):
        if k < count * len(LINK_FIELDS) and k % len(LINK_FIELDS) == 0:
            if whole(word.text) not in (0, 1):
                expected = "expected 0 (revolute) or 1 (prismatic)"
                yield FileProblem(word.line, f"joint {_field(k, count)} is {word.text!r}; {expected}")
        elif number(word.text) is None:
            yield FileProblem(word.line, f"{_field(k, count)}: {why_not(word.text)}")


def _build(words: Sequence[Token], count: int, name: str, physical: bool, unused: list[FileProblem]) -> Reading:
    """The mechanism from words that are all numbers."""
    size, values = len(LINK_FIELDS), [number(word.text) or 0.0 for word in words]
    lines: dict[Place, int] = {("gravity",): words[size * count].line, ("external",): words[size * count + 3].line}
    report, links = Report(), []
    for k in range(count):
        row = slice(size * k, size * (k + 1))
        lines |= {("link", k, field): word.line for field, word in zip(LINK_FIELDS, words[row], strict=True)}
        lines |= {("link", k, field): lines["link", k, place] for field, place in _MODEL_FIELDS.items()}
        lines["link", k] = words[size * k].line
        make = partial(_link, values[row], f"link{k + 1}", physical)
        links.append(report.build(f"link 'link{k + 1}'", make, partial(_line, lines, k)))
    if report.problems:
        return Reading(None, report.problems, lines)
    end = np.array(values[size * count :])
    mechanism = Mechanism([link for link in links if link], gravity=end[:3], name=name or None)
    return Reading(Description(mechanism, frozen(end[3:].copy())), [], lines, unused)


def _line(lines: dict[Place, int], k: int, problem: Problem) -> int:
    return line_of(lines, ("link", k, problem.field))


def _link(row: Sequence[float], name: str, physical: bool) -> Link:
    kind, theta, d, b, a, alpha, mass, jxx, jxy, jxz, jyy, jyz, jzz, xg, yg, zg = row
    return Link.dh(
        theta, d, a, alpha, b=b, convention="standard", joint=JOINT_TYPES[int(kind)], name=name,
        mass=mass, com=(xg, yg, zg), inertia=(jxx, jyy, jzz, jxy, jyz, jxz), physical=physical,
    )  # fmt: skip


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def losses(mechanism: Mechanism) -> Losses:
    """List the losses of a .DAT file, and the features for which it cannot be written.

    Its own name is no loss: the file's name stands for it.

    Examples
    --------
    >>> from linkwise import robots
    >>> losses(robots.planar_2r())
    Losses(lost=[], never=[])
    """
    left_out = chain_losses(mechanism, ("physical", "gravity"))
    for link in mechanism.links:
        row, body = link.dh_row, link.body
        unphysical = not can_exist(body)
        is_modified = row is not None and row.convention != "standard"
        if not body.physical and not unphysical:
            left_out.lost.append(f"link {link.name!r}: its mark physical=False")
        unfit = {
            f"its {link.joint} joint (the format has only revolute and prismatic ones)": link.joint not in JOINT_TYPES,
            "its placement (no Denavit-Hartenberg row was given)": row is None,
            "its modified Denavit-Hartenberg row (the format has only the standard convention)": is_modified,
            "its inertia (physical=False, and not that of a body that can exist: the file could not be read)": unphysical,
        }
        left_out.never += [f"link {link.name!r}: {part}" for part, there in unfit.items() if there]
    return left_out


def render(mechanism: Mechanism, external: FloatArray) -> str:
    """Return the text of a .DAT file, without the losses; offsets are added to theta or d.

    Examples
    --------
    >>> from linkwise import robots
    >>> render(robots.planar_2r(), np.zeros(6)).split()[:7]
    ['2', '0', '0.0', '0.0', '0.0', '1.0', '0.0']
    """
    blocks = [str(len(mechanism.links)), *map(_link_text, mechanism.links)]
    return "\n\n".join([*blocks, f"{_row(mechanism.gravity)}\n{_row(external)}"]) + "\n"


def _row(values: Iterable[float]) -> str:
    return " ".join(map(real, values))


def _link_text(link: Link) -> str:
    row, body = link.dh_row, link.body
    assert row is not None
    constants = {name: getattr(row, name) for name in ("theta", "d", "b", "a", "alpha")}
    if link.offset:
        constants[str(link.joint_model.dh_parameter)] += link.offset
    j = body.tensor.tolist()
    lines = (constants.values(), [body.mass], j[0], j[1][1:], j[2][2:], body.com)
    return "\n".join([str(JOINT_TYPES.index(link.joint)), *map(_row, lines)])


class SpacelibDat(Format):
    """SpaceLib's robot description."""

    name, title, suffixes = "a .DAT file", "SpaceLib .DAT (numbers only)", (".dat",)

    def sniff(self, text: str, options: ReadOptions) -> bool:  # noqa: D102
        return NUMERIC.match(text) is not None

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        return parse(text, stem(path), options.physical)

    def losses(self, description: Description) -> Losses:  # noqa: D102
        return losses(description.mechanism)

    def write(self, description: Description) -> Iterator[str]:  # noqa: D102
        yield render(description.mechanism, description.external)


register(SpacelibDat())
