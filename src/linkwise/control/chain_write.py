"""Writing the description of a chain as .toml, so that reading it gives back an equal one, to the last bit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from linkwise import robots
from linkwise.control.chain_description import SCALARS, VECTORS, ChainDescription, ConstraintRow
from linkwise.control.chain_reader import XACRO, file_mechanism
from linkwise.control.chain_schema import FORMAT, GAINS, JOINT_GREATEST
from linkwise.control.dh_links import GREATEST, DHLink
from linkwise.control.links import AXES, links_of, with_starting_dof
from linkwise.errors import LinkwiseError
from linkwise.files.description import Description
from linkwise.files.toml_write import real, row, text
from linkwise.files.toml_write import render as render_mechanism
from linkwise.mechanism import Mechanism

Pairs = list[tuple[str, str]]

_BOUNDS = (*GREATEST, *JOINT_GREATEST)
_HEADER = re.compile(r"^\n(\[\[?)")


def render(description: ChainDescription, folder: Path) -> Iterator[str]:
    """The text of a description that will stand in a folder, in parts."""
    yield from _lines([("format", text(FORMAT)), ("name", text(description.name)), *_settings(description)])
    links = None
    said = _reference(description, folder)
    if said is None and description.mechanism.name == description.name:
        links = links_of(description.mechanism, description.q0)
    axis = said[1] if said else links[1] if links else "z"
    yield from _lines([] if axis == "z" else [("starting_dof", text(axis))])
    if links:
        for link in links[0]:
            yield from _table("[[link]]", _link(link))
    else:
        yield from _lines([*([("mechanism", text(said[0]))] if said else []), ("q0", row(description.q0))])
        yield from () if said else _whole(description)
    yield from _parts(description)


def _parts(description: ChainDescription) -> Iterator[str]:
    """All tables but those of the mechanism."""
    left = dict(description.values)
    start = [(what, _value(left.pop(f"start.{what}"))) for what in VECTORS if f"start.{what}" in left]
    if start:
        yield from _table("[start]", start)
    for constraint in description.constraints:
        yield from _table("[[constraint]]", _constraint(constraint))
    for header, keys, between in (("[[speed_limit]]", _BOUNDS, "."), ("[[regulator]]", GAINS, ".regulator.")):
        for owner, pairs in _by_owner(left, keys, between).items():
            yield from _table(header, [("link", text(owner)), *pairs])
    if description.routes:
        yield from _table("[routes]", [(text(target), text(source)) for target, source in description.routes.items()])
    if left:
        yield from _table("[ports]", [(text(port), _value(value)) for port, value in left.items()])


def _settings(description: ChainDescription) -> Pairs:
    pairs = [] if description.angles == "xyz" else [("angles_convention", text(description.angles))]
    pairs += [] if description.period is None else [("period", real(description.period))]
    pairs.append(("calculations_per_cycle", str(int(description.calculations_per_cycle))))
    return [*pairs, ("calculation_precision", real(description.calculation_precision))]


def _reference(description: ChainDescription, folder: Path) -> tuple[str, str] | None:
    """How the file may refer to the mechanism, and its starting_dof: only by what gives back the same one."""
    for named in (description.reference, description.mechanism.name):
        if isinstance(named, str) and named in robots.names():
            axis = _axis(robots.load(named), description.mechanism)
            if axis:
                return named, axis
    if not isinstance(description.reference, Path):
        return None
    root = folder.resolve()
    near = description.reference.relative_to(root).as_posix() if description.reference.is_relative_to(root) else None
    if near is None or description.reference.suffix.lower() == XACRO:
        return None
    try:
        axis = _axis(file_mechanism(description.reference), description.mechanism)
    except (LinkwiseError, OSError):  # gone since
        return None
    return (near, axis) if axis else None


def _axis(plain: Mechanism, mechanism: Mechanism) -> str | None:
    """The starting_dof that makes one mechanism the other."""
    return next((axis for axis in AXES if with_starting_dof(plain, axis) == mechanism), None)


def _whole(description: ChainDescription) -> Iterator[str]:
    """The mechanism as a table of its own, in the form of a Linkwise .toml."""
    yield "\n[mechanism]\n"
    for part in render_mechanism(Description(description.mechanism)):
        yield _HEADER.sub(r"\n\1mechanism.", part)


def _link(link: DHLink) -> Pairs:
    pairs = [("name", text(link.name))]
    pairs += [] if link.predecessor is None else [("predecessor", text(link.predecessor))]
    pairs.append(("joint", text(link.joint)))
    pairs += [(key, real(getattr(link, key))) for key in ("theta", "d", "a", "alpha")]
    limits = getattr(link, "limits", None)
    return pairs if limits is None else [*pairs, ("limits", row(limits))]


def _constraint(constraint: ConstraintRow) -> Pairs:
    pairs = [(key, text(getattr(constraint, key))) for key in ("name", "kind", "link")]
    pairs += [] if constraint.to is None else [("to", text(constraint.to))]
    pairs += [(key, row(constraint.vectors[key])) for key in VECTORS if key in constraint.vectors]
    pairs += [(key, real(value)) for key in SCALARS if (value := getattr(constraint, key)) is not None]
    pairs += [("rotation", "true")] if constraint.rotation else []
    return pairs if constraint.enabled else [*pairs, ("enabled", "false")]


def _by_owner(left: dict[str, Any], keys: Sequence[str], between: str) -> dict[str, Pairs]:
    """The values whose names end in one of the keys, taken out, by what stands before."""
    made: dict[str, Pairs] = {}
    for port in list(left):
        for key in keys:
            if port.endswith(between + key):
                made.setdefault(port.removesuffix(between + key), []).append((key, _value(left.pop(port))))
    return made


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else row(value) if isinstance(value, tuple) else real(value)


def _lines(pairs: Pairs) -> list[str]:
    return [f"{key} = {value}\n" for key, value in pairs]


def _table(header: str, pairs: Pairs) -> list[str]:
    return [f"\n{header}\n", *_lines(pairs)]
