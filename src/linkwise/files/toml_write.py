"""Writing Linkwise's own .toml form so that reading it gives back the same mechanism, to the last bit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from linkwise.files.description import Description
from linkwise.files.toml_schema import FORMAT
from linkwise.model.checks import Checker
from linkwise.model.inertia import Inertia, tensor_from
from linkwise.model.link import DHRow, Link
from linkwise.model.loop import Loop
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.spatial.scalar import FloatArray

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_GREATEST = ("speed_limit", "effort_limit")
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')


def render(description: Description) -> Iterator[str]:
    """The text of a description, in parts."""
    mechanism = description.mechanism
    yield f"format = {text(FORMAT)}\n"
    yield f"name = {text(mechanism.name)}\n"
    if description.source:
        yield "source = [\n" + "".join(f"    {text(line)},\n" for line in description.source) + "]\n"
    conventions = {link.dh_row.convention for link in mechanism.links if link.dh_row}
    if len(conventions) == 1:
        yield f"convention = {text(next(iter(conventions)))}\n"
    yield f"gravity = {row(mechanism.gravity)}\n"
    if mechanism.floating:
        yield "floating = true\n"
    if mechanism.tool_link is not None:
        yield f"tool_link = {text(mechanism.tool_link)}\n"
    for name, frame in (("base", mechanism.base), ("tool", mechanism.tool)):
        yield from _table(f"[{name}]", _frame(frame))
    yield from _table("[payload]", _body(mechanism.payload))
    if description.external.any():
        force, moment = description.external[:3], description.external[3:]
        yield from _table("[external]", [("force", row(force)), ("moment", row(moment))])
    for link in mechanism.links:
        yield from _table("[[link]]", _link(link, len(conventions) > 1))
    for motor in mechanism.motors:
        yield from _table("[[motor]]", _motor(motor))
    for loop in mechanism.loops:
        yield from _table("[[loop]]", _loop(loop))


def _table(header: str, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """A table, or nothing where it has no keys; one of an array stands even if empty."""
    if not pairs and not header.startswith("[["):
        return []
    return [f"\n{header}\n", *(f"{key} = {value}\n" for key, value in pairs)]


def _link(link: Link, say_convention: bool) -> list[tuple[str, str]]:
    pairs = [("name", text(str(link.name)))]
    if link.parent is not None:
        pairs.append(("parent", text(link.parent)))
    pairs.append(("joint", text(link.joint)))
    if link.joint_name is not None:
        pairs.append(("joint_name", text(link.joint_name)))
    pairs += _row(link.dh_row, say_convention) if link.dh_row else _general(link)
    if not _is_zero(link.offset):
        pairs.append(("offset", real(link.offset)))
    if link.limits is not None:
        pairs.append(("limits", row(link.limits)))
    pairs += [(key, real(value)) for key in _GREATEST if (value := getattr(link, key)) is not None]
    if link.mimic is not None:
        pairs.append(("mimic", _inline(_mimic(link.mimic))))
    pairs += _body(link.body)
    if link.motor is not None:
        pairs.append(("motor", _inline(_motor(link.motor))))
    return pairs


def _mimic(mimic: Mimic) -> list[tuple[str, str]]:
    return [("joint", text(mimic.joint)), ("ratio", real(mimic.ratio)), ("offset", real(mimic.offset))]


def _loop(loop: Loop) -> list[tuple[str, str]]:
    pairs = [("name", text(loop.name))] if loop.name else []
    pairs += [(key, text(getattr(loop, key))) for key in ("kind", "first", "second")]
    frames = ((key, _frame(getattr(loop, key))) for key in ("first_frame", "second_frame"))
    return pairs + [(key, _inline(frame)) for key, frame in frames if frame]


def _row(dh: DHRow, say_convention: bool) -> list[tuple[str, str]]:
    pairs = [("convention", text(dh.convention))] if say_convention else []
    pairs += [(key, real(getattr(dh, key))) for key in ("theta", "d", "a", "alpha")]
    return pairs if _is_zero(dh.b) else [*pairs, ("b", real(dh.b))]


def _general(link: Link) -> list[tuple[str, str]]:
    """The constants A and B and the axis, where they are not the usual ones."""
    frames = ((key, _frame(getattr(link, key))) for key in ("before", "after"))
    pairs = [(key, _inline(frame)) for key, frame in frames if frame]
    if not _same(link.axis, np.array([0.0, 0.0, 1.0])):
        pairs.append(("axis", row(link.axis)))
    return pairs if _is_zero(link.pitch) else [*pairs, ("pitch", real(link.pitch))]


def _frame(frame: FloatArray) -> list[tuple[str, str]]:
    """A transform as nothing (the identity), xyz (no rotation), or its matrix."""
    if _same(frame, np.eye(4)):
        return []
    unturned = np.eye(4)
    unturned[:3, 3] = frame[:3, 3]
    if _same(frame, unturned):
        return [("xyz", row(frame[:3, 3]))]
    return [("matrix", "[" + ", ".join(row(line) for line in frame) + "]")]


def _body(body: Inertia) -> list[tuple[str, str]]:
    pairs = [] if _is_zero(body.mass) else [("mass", real(body.mass))]
    if not _same(body.com, np.zeros(3)):
        pairs.append(("com", row(body.com)))
    if not _same(body.tensor, np.zeros((3, 3))):
        pairs.append(("inertia", _tensor(body.tensor)))
    return pairs if body.physical else [*pairs, ("physical", "false")]


def _tensor(tensor: FloatArray) -> str:
    """The shortest form that gives back the same tensor: its diagonal, six elements, or all nine."""
    j = tensor.tolist()
    diagonal = [j[0][0], j[1][1], j[2][2]]
    for form in (diagonal, [*diagonal, j[0][1], j[1][2], j[0][2]]):
        if _same(tensor_from(Checker("inertia"), form), tensor):
            return row(form)
    return "[" + ", ".join(row(line) for line in j) + "]"


def _motor(motor: Motor) -> list[tuple[str, str]]:
    """The motor on its side of the gear, then what else is said of it."""
    pairs = [] if motor.joint is None else [("joint", text(motor.joint))]
    pairs += [(key, real(getattr(motor, key))) for key in ("inertia", "gear_ratio", "viscous")]
    pairs.append(("coulomb", row(motor.coulomb)))
    if motor.friction_rule != "reflected":
        pairs.append(("friction_rule", text(motor.friction_rule)))
    return pairs if motor.carrier is None else [*pairs, *_rotor(motor)]


def _rotor(motor: Motor) -> list[tuple[str, str]]:
    """Where the rotor sits and, if it is a body of its own, its inertia."""
    carrier = text(motor.carrier) if isinstance(motor.carrier, str) else str(motor.carrier)
    pairs = [("carrier", carrier), ("axis", row(motor.axis if motor.axis is not None else ()))]
    body = {"inertia": "rotor_inertia"}
    return pairs + [(body.get(key, key), value) for key, value in _body(motor.locked)]


def _inline(pairs: Sequence[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"


def _same(a: FloatArray, b: FloatArray) -> bool:
    """Whether two arrays agree to the last bit, the sign of zero included."""
    return np.asarray(a, dtype=np.float64).tobytes() == np.asarray(b, dtype=np.float64).tobytes()


def _is_zero(value: float) -> bool:
    return value == 0.0 and math.copysign(1.0, value) > 0


def text(value: str) -> str:
    r"""Text in the quotes and escapes of TOML.

    Examples
    --------
    >>> print(text('the "left" arm'))
    "the \"left\" arm"
    """
    return '"' + _TO_ESCAPE.sub(lambda match: _ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}"), value) + '"'


def real(value: Any) -> str:
    """A number with all its digits, ``inf`` included.

    Examples
    --------
    >>> real(0.1), real(float("-inf"))
    ('0.1', '-inf')
    """
    return repr(float(value))


def row(values: Iterable[Any]) -> str:
    """A list of numbers."""
    return "[" + ", ".join(real(value) for value in values) + "]"
