"""The tables of a chain's .toml file."""

from __future__ import annotations

from functools import partial
from typing import Any

from linkwise.control.constraints import CONVENTIONS
from linkwise.control.links import AXES, GREATEST, KINDS
from linkwise.errors import choices
from linkwise.files.formats.linkwise_toml import SHAPE
from linkwise.files.schema import (
    FLAG,
    NUMBER,
    PAIR,
    TEXT,
    VECTOR,
    WHOLE,
    Field,
    Kind,
    Schema,
    any_number,
    list_of,
    tables,
    word,
)
from linkwise.files.toml_text import row, text
from linkwise.model.shape import SIZES, Shape

FORMAT = "linkwise chain 1"

#: Limits of a joint.
JOINT_GREATEST: tuple[str, ...] = tuple(
    f"max_{free}_{rate}" for free in ("theta", "d") for rate in ("speed", "acceleration", "deceleration")
)


def _list_of_numbers(value: Any) -> Any:
    return value if isinstance(value, list) and all(any_number(number) is not None for number in value) else None


BOUND = Kind("a number > 0, or inf", lambda value: None if any_number(value) is None else value)
PAIRS = Kind(
    "a list of pairs of names of links in quotes",
    list_of(list_of(TEXT.parse, 2)),
    lambda pairs: "[" + ", ".join(f"[{text(pair[0])}, {text(pair[1])}]" for pair in pairs) + "]",
)
LIST = Kind("a list of numbers", _list_of_numbers, row)
MECHANISM = Kind(
    "the name of a bundled mechanism or of a file in quotes, or a table with a mechanism",
    lambda value: value if isinstance(value, (str, dict)) else None,
    TEXT.write,
)


def _by_port(values: str) -> Kind:
    return Kind(values, lambda value: value if isinstance(value, dict) else None)


def _bounds(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, BOUND, "rad/s" if "theta" in name else "", doc="greatest value") for name in names)


LINK = Schema(
    Field("name", TEXT, doc="link1, link2, ... if missing"),
    Field("predecessor", TEXT, doc='"start" or a link\'s name; the link before if missing'),
    Field("joint", TEXT, doc=f"{choices(KINDS)}; the first if missing"),
    Field("theta", NUMBER, "rad", doc="angle about z; of a revolute joint where it begins"),
    Field("d", NUMBER, "m", doc="distance along z; of a prismatic joint where it begins"),
    Field("a", NUMBER, "m", doc="distance along x"),
    Field("alpha", NUMBER, "rad", doc="angle about x"),
    Field("limits", PAIR, "rad or m", doc="of the free parameter"),
    *_bounds(*GREATEST),
)
START = Schema(
    Field("position", VECTOR, "m", doc="of the start in the world"),
    Field("angles", VECTOR, "rad", doc="about x, y and z"),
    Field("velocity", VECTOR, "m/s", doc="axes of the world"),
    Field("angular_velocity", VECTOR, "rad/s", doc="axes of the world"),
)
CONSTRAINT = Schema(
    Field("name", TEXT, doc="its ports are called by it", required=True),
    Field("kind", TEXT, doc="what must hold", required=True),
    Field("link", TEXT, doc='a link\'s name, or "tool"', required=True),
    Field("to", TEXT, doc="of a loop: the other link"),
    *START.fields.values(),
    Field("value", NUMBER, "rad or m", doc="of a driven joint"),
    Field("speed", NUMBER, "rad/s or m/s", doc="of a driven joint"),
    Field("rotation", FLAG, default=False, doc="of a loop: whether its ends are turned alike"),
    Field("enabled", FLAG, default=True, doc="whether it holds from the first cycle on"),
)
SPEED_LIMIT = Schema(Field("link", TEXT, doc="the name of one", required=True), *_bounds(*GREATEST, *JOINT_GREATEST))
REGULATOR = Schema(
    Field("link", TEXT, doc="the name of one", required=True),
    *(Field(name, NUMBER, doc="parameter of the joint's regulator") for name in "pidr"),
)
CLEAR = Schema(
    Field("name", TEXT, default="clear", doc="its ports are called by it"),
    Field("margin", NUMBER, "m", doc="how far shapes stay apart", required=True),
    Field("enabled", FLAG, default=True, doc="whether it holds from the first cycle on"),
    Field("disabled", PAIRS, doc="links that are not checked against each other; by sampling if missing"),
    Field("seed", WHOLE, default=0, doc="of the sampling"),
)


OBSTACLE = Schema(
    Field("name", TEXT, doc="obstacle1, obstacle2, ... if missing"),
    Field("kind", word(*(kind for kind in SIZES if kind != "mesh")), doc="its geometry", required=True),
    *(SHAPE.fields[key] for key in ("size", "origin", "colour")),
    make=partial(Shape, "world"),
)
TOP = Schema(
    Field("format", TEXT, doc=f'"{FORMAT}"'),
    Field("name", TEXT, doc="the file's name if missing"),
    Field("angles", word("rad", "deg"), doc='"rad" if missing; of all that turns, except in [ports]'),
    Field("angles_convention", word(*CONVENTIONS), default="xyz", doc="what three angles mean"),
    Field("period", NUMBER, "s", doc="of a cycle"),
    Field("calculations_per_cycle", WHOLE, doc="most iterations of one cycle"),
    Field("calculation_precision", NUMBER, "m, rad", doc="what counts as solved"),
    Field("starting_dof", word(*AXES), default="z", doc="axis of the start along which that of the first joint lies"),
    Field("mechanism", MECHANISM, doc="in the place of links"),
    Field("q0", LIST, doc="where the joints of a mechanism begin, rad or m; nq numbers, quaternions among them"),
    Field("link", tables("link"), doc="the links, in order"),
    Field("start", START, doc="the start in the world"),
    Field("constraint", tables("constraint"), doc="what must hold"),
    Field("clear", CLEAR, doc="shapes of the mechanism stay apart from each other and from obstacles"),
    Field("obstacle", tables("obstacle"), doc="what stands around, in the frame of the start"),
    Field("speed_limit", tables("speed_limit"), doc="greatest values of a link's end, and of its joint"),
    Field("regulator", tables("regulator"), doc="of a joint's calculated speed"),
    Field("routes", _by_port("a table of names of ports"), doc="the input = the port that feeds it"),
    Field("ports", _by_port("a table of values by the names of ports"), doc="all other inputs, always rad"),
)

#: Schemas by the names of their tables in the documentation.
TABLES = {
    "the file": TOP,
    "[[link]]": LINK,
    "[start]": START,
    "[[constraint]]": CONSTRAINT,
    "[clear]": CLEAR,
    "[[obstacle]]": OBSTACLE,
    "[[speed_limit]]": SPEED_LIMIT,
    "[[regulator]]": REGULATOR,
}
