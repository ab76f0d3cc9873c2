"""The robot object of the Robotics Toolbox for Scilab."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, LinkwiseError, ModelError, Problem, choices, shown
from linkwise.mechanism import Mechanism
from linkwise.model.motor import FRICTION_RULES
from linkwise.model.validation import Checker
from linkwise.rtss import fields
from linkwise.rtss.arguments import also, vector
from linkwise.rtss.fields import Field, Fields
from linkwise.rtss.link import CONVENTIONS, convention_number, means_convention, rt_link
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, real

#: Meanings of `gravity`, with their default values.
GRAVITY_SIGNS = {"up": (0.0, 0.0, 9.81), "free_fall": (0.0, 0.0, -9.81)}


def mixed(item: str, links: tuple[rt_link, ...]) -> Problem:
    """Problem of a chain of links in both conventions."""
    return Problem(item, "mdh", [link.mdh for link in links], "one Denavit-Hartenberg convention for all links")


def chain(check: Checker, field: str, value: Any) -> tuple[rt_link, ...]:
    """Links in one convention; repeated ones are copied, so that each joint has its own link."""
    items = tuple(value) if isinstance(value, (list, tuple)) else (None,)
    links = tuple(link for link in items if isinstance(link, rt_link))
    if len(links) < len(items):
        check.report(field, value, "a list of links")
    if len({link.mdh for link in links}) > 1:
        check.problems.append(mixed(check.item, links))
    known = {id(link): k for k, link in reversed(list(enumerate(links)))}
    return tuple(link if known[id(link)] == k else rt_link(link) for k, link in enumerate(links))


class rt_robot(Fields):  # noqa: N801  (the name that its users know)
    """A chain of links, as in the Robotics Toolbox for Scilab (``rt_robot``, 2009).

    ``rt_robot(links)`` joins links, ``rt_robot(DH)`` and ``rt_robot(DYN)`` read a legacy matrix, one row a link;
    ``rt_robot(robot)`` is a copy with links of its own, ``rt_robot(robot, links)`` one with other links; ``r1 * r2`` is r2
    on the end of r1, with the base and the gravity of r1 and the tool of r2. Links are counted from 0: ``robot[0]`` or
    ``robot.links[0]`` is the first.

    Parameters
    ----------
    source : list of rt_link, (n, 4), (n, 5) or (n, 16) to (n, 20) array_like, or rt_robot, optional
        What it is made of.
    name, manuf, comment : str
        Name, manufacturer, and a comment. In a copy, those of the other robot.
    convention : str
        Of the rows of a matrix; standard where it is left out. See `rt_link`.
    base, tool : (4, 4) array_like
        T_world_base, and T_link_tool on the last link.
    gravity : (3,) array_like
        In world axes; (0, 0, 9.81) unless given. `gravity_sign` gives its meaning.
    gravity_sign : {"up", "free_fall"}
        ``"up"``, the meaning in the original: the acceleration that a base at rest seems to have, minus that of free fall.
        ``"free_fall"``: the acceleration of free fall, as everywhere else in Linkwise; gravity is then (0, 0, -9.81) unless
        given. It stays as it is; a copy with another sign has the numbers of its gravity turned.
    friction : {"reflected", "toolbox7"}
        How friction of a motor is felt behind its gear. ``"reflected"``: G^2 B qd + |G| Tc. ``"toolbox7"``, the rule of the
        original: G B qd + G Tc, which is too little viscous friction, and drives the joint where G is negative.

    Raises
    ------
    ArgumentError
        For what is no list of links, no legacy matrix and no robot; for a name that is a word for a convention.
    ModelError
        With every link that cannot be; where the links differ in convention.

    Notes
    -----
    A robot made from a list holds those very links, and so follows when one of them changes; of a link that stands in the
    list again it holds a copy. Everything is computed by the `Mechanism` that `mechanism` gives, which is made again only
    after something has changed.

    Mended: the product has the tool of its last robot, as the original says and does not do; its links are copies. Gravity
    is in world axes, where the original takes it in those of the base, so that an arm on a turned base was computed as if it
    stood upright. The offset of a prismatic joint counts in forces too. Friction: see above.

    What the original keeps for its pictures (q, plotopt, lineopt, shadowopt, handle) is not kept here.

    Examples
    --------
    >>> robot = rt_robot([[0, 1, 0, 0], [0, 1, 0, 0]], "planar")
    >>> robot.n, robot.config
    (2, 'RR')
    >>> robot.mechanism().forward_kinematics([0.0, 0.0])[:3, 3].tolist()
    [2.0, 0.0, 0.0]
    >>> robot[1].A = 0.5
    >>> robot.mechanism().forward_kinematics([0.0, 0.0])[:3, 3].tolist()
    [1.5, 0.0, 0.0]
    """

    _kind = "robot"

    name = Field(fields.text, "How it is called.")
    manuf = Field(fields.text, "Who makes it.")
    comment = Field(fields.text, "A comment.")
    links = Field(chain, "Its links, from the base; a list of links may be assigned.")
    base = Field(Checker.rigid, "T_world_base (4, 4); None is the identity.")
    tool = Field(Checker.rigid, "T_link_tool (4, 4); None is the identity.")
    gravity = Field(fields.vector3, "Gravity (3,), with the sign that `gravity_sign` says.")
    friction = Field(
        lambda check, field, value: check.choice(field, value, FRICTION_RULES), "The rule for friction behind a gear."
    )

    def __init__(
        self,
        source: Any = None,
        name: Any = None,
        manuf: str | None = None,
        comment: str | None = None,
        *,
        convention: str | None = None,
        base: Any = None,
        tool: Any = None,
        gravity: Any = None,
        gravity_sign: str | None = None,
        friction: str | None = None,
    ) -> None:
        if gravity_sign is not None and not (isinstance(gravity_sign, str) and gravity_sign in GRAVITY_SIGNS):
            raise ArgumentError(f"gravity_sign is {shown(gravity_sign)}; expected {choices(GRAVITY_SIGNS)}")
        if means_convention(name):
            advice = f"convention={name!r} is that of the rows, and robot.name takes any name"
            raise ArgumentError(f"name is {name!r}, which is a convention; expected a name ({advice})")
        if isinstance(source, rt_robot):
            others, name = (name, None) if isinstance(name, (list, tuple)) else (None, name)
            sign = gravity_sign or source.gravity_sign
            values = copied(source, others)
            values["gravity"] = source.gravity if sign == source.gravity_sign else 0.0 - source.gravity
        else:
            sign = gravity_sign or "up"
            values = {"name": "noname", "manuf": "", "comment": "", "links": links_from(source, convention)}
            values |= {"base": None, "tool": None, "gravity": GRAVITY_SIGNS[sign], "friction": FRICTION_RULES[0]}
        if convention is not None and not is_matrix(source):
            raise ArgumentError("a convention is that of the rows of a matrix; links have theirs, and robot.mdh sets it")
        options = {"name": name, "manuf": manuf, "comment": comment, "base": base, "tool": tool}
        options |= {"gravity": gravity, "friction": friction}
        self.__dict__.update(_gravity_sign=sign, _kept=None)
        self.assign(values | {field: value for field, value in options.items() if value is not None})

    # ── what it is made of ────────────────────────────────────────────────────────────────────────

    @property
    def n(self) -> int:
        """Number of joints, one for each link."""
        return len(self.links)

    @property
    def config(self) -> str:
        """Letters of the joints, as in ``RRP``."""
        return "".join(link.RP for link in self.links)

    @property
    def gravity_sign(self) -> str:
        """Meaning of `gravity`, ``"up"`` or ``"free_fall"``; ``rt_robot(robot, gravity_sign=...)`` makes the other."""
        return str(self.__dict__["_gravity_sign"])

    @property
    def mdh(self) -> int:
        """0 where all links are in the standard convention, 1 in the modified one; assigning it sets every link.

        Raises
        ------
        ModelError
            Where the links differ, because one was changed alone.
        """
        if len({link.mdh for link in self.links}) > 1:
            raise ModelError([mixed(f"robot {self.name!r}", self.links)])
        return self.links[0].mdh if self.links else 0

    @mdh.setter
    def mdh(self, value: int) -> None:
        for link in self.links:
            link.mdh = value

    @property
    def offset(self) -> FloatArray:
        """Offsets of the joint coordinates (n,); one number for all, or n, may be assigned."""
        return np.array([link.offset for link in self.links])

    @offset.setter
    def offset(self, values: npt.ArrayLike) -> None:
        array = numbers("offset", values)
        if array.shape not in {(), (self.n,)}:
            raise ArgumentError(f"offset has shape {array.shape}; expected ({self.n},), a number for each link")
        for link, value in zip(self.links, np.broadcast_to(array, self.n), strict=True):
            link.offset = value

    @property
    def qlim(self) -> FloatArray:
        """Limits of the joint coordinates (n, 2), infinite where there are none; None, or (n, 2), may be assigned."""
        none = (-np.inf, np.inf)
        return np.array([none if link.qlim is None else link.qlim for link in self.links], dtype=np.float64).reshape(-1, 2)

    @qlim.setter
    def qlim(self, values: npt.ArrayLike | None) -> None:
        rows: Any = [None] * self.n
        if values is not None:
            rows = numbers("qlim", values, finite=False)
            if rows.shape != (self.n, 2):
                raise ArgumentError(f"qlim has shape {rows.shape}; expected ({self.n}, 2), two numbers for each link")
            rows = [None if row.tolist() == [-np.inf, np.inf] else row for row in rows]
        check = Checker("robot")
        for k, row in enumerate(rows):
            rt_link.qlim.check(check, f"qlim[{k}]", row)
        check.finish()
        for link, row in zip(self.links, rows, strict=True):
            link.qlim = row

    def islimit(self, q: npt.ArrayLike) -> npt.NDArray[np.int_]:
        """For each joint (n,) -1 below its limits, 1 above, 0 within.

        Raises
        ------
        ArgumentError
            Where q is not (n,) or holds NaN, or links have no limits.
        """
        coordinates = numbers("q", q, finite=False)
        if coordinates.shape != (self.n,) or np.isnan(coordinates).any():
            problem = f"has shape {coordinates.shape}" if coordinates.shape != (self.n,) else f"is {coordinates.tolist()}"
            raise ArgumentError(f"q {problem}; expected ({self.n},), a coordinate for each joint")
        without = [f"link{k}" for k, link in enumerate(self.links, start=1) if link.qlim is None]
        if without:
            raise ArgumentError(f"{' and '.join(without)} of robot {self.name!r} ha{'ve' if without[1:] else 's'} no limits")
        return np.array([link.islimit(value) for link, value in zip(self.links, coordinates, strict=True)], dtype=np.int_)

    @property
    def dh(self) -> FloatArray:
        """The legacy matrix (n, 5): alpha A theta D sigma of each link."""
        return np.array([link.dh for link in self.links]).reshape(-1, 5)

    @property
    def dyn(self) -> FloatArray:
        """The legacy matrix (n, 20) of all numbers but mdh, offset and qlim; see `rt_link`.

        Raises
        ------
        ArgumentError
            Naming every link in which something is not set.
        """
        rows, wrong = [], []
        for k, link in enumerate(self.links, start=1):
            try:
                rows.append(link.dyn_row(f"link{k} of robot {self.name!r}"))
            except ArgumentError as error:
                wrong.append(str(error))
        if wrong:
            raise ArgumentError("\n".join(wrong))
        return np.array(rows).reshape(-1, 20)

    def __getitem__(self, k: int) -> rt_link:
        return self.links[k]

    def __iter__(self) -> Iterator[rt_link]:
        return iter(self.links)

    def __len__(self) -> int:
        return self.n

    # ── what it becomes ───────────────────────────────────────────────────────────────────────────

    def mechanism(self, *, dynamic: bool = False) -> Mechanism:
        """The `Mechanism` that this robot is, which computes everything; the same one until something is changed.

        Parameters
        ----------
        dynamic : bool
            Whether every link must have a mass, a centre of mass and a tensor. Without it, what is not set is 0: right for
            positions and speeds, wrong for forces.

        Raises
        ------
        ModelError
            Without links; where they differ in convention; where constants stand in the places of coordinates; and, dynamic,
            naming all that is not set.

        Examples
        --------
        >>> robot = rt_robot([[0, 1, 0, 0]], "rod")
        >>> robot.mechanism().names
        ('link1',)
        >>> robot.mechanism(dynamic=True)
        Traceback (most recent call last):
        linkwise.errors.ModelError: link1 of robot 'rod': m is None; expected a number, for forces need it
        ...
        """
        key = (self.stamp, *(link.stamp for link in self.links))
        kept = self.__dict__["_kept"]
        if kept is None or kept[0] != key:
            kept = self.__dict__["_kept"] = (key, self._mechanism())
        mechanism: Mechanism = kept[1]
        if dynamic:
            expected = {"m": "a number", "r": "three numbers", "I": "a tensor"}
            unset = [
                Problem(f"link{k} of robot {self.name!r}", field, None, f"{expected[field]}, for forces need it")
                for k, link in enumerate(self.links, start=1)
                for field in link.missing(*expected)
            ]
            if unset:
                raise ModelError(unset)
        return mechanism

    def _mechanism(self) -> Mechanism:
        self.mdh  # noqa: B018  (raises where the links differ)
        items = [f"link{k} of robot {self.name!r}" for k in range(1, self.n + 1)]
        wrong = [problem for link, item in zip(self.links, items, strict=True) for problem in link.misplaced(item)]
        if wrong:
            raise ModelError(wrong)
        links = [link.to_link(friction=self.friction) for link in self.links]
        gravity = self.gravity if self.gravity_sign == "free_fall" else 0.0 - self.gravity
        return Mechanism(links, base=self.base, tool=self.tool, gravity=gravity, name=self.name)

    def __mul__(self, other: object) -> rt_robot:
        if not isinstance(other, rt_robot):
            return NotImplemented
        if self.friction != other.friction:
            raise ArgumentError(f"robots with friction rules {self.friction!r} and {other.friction!r} cannot be joined")
        links = [rt_link(link) for link in (*self.links, *other.links)]
        joined = rt_robot(self)
        joined.assign(
            {"links": links, "tool": other.tool, "name": f"{self.name} {len(links)}axs", "manuf": "", "comment": ""}
        )
        return joined

    def __repr__(self) -> str:
        return _text(self)


def _text(robot: rt_robot) -> str:
    """A robot in some lines: its names, its gravity and convention, and the kinematics of each link.

    Named options that are not the default stand behind the convention.
    """
    head = f"{robot.name} ({robot.n} axis, {robot.config})"
    head += f" [{robot.manuf}]" * bool(robot.manuf) + f" <{robot.comment}>" * bool(robot.comment)
    conventions = {link.mdh for link in robot.links}
    words = "mixed" if len(conventions) > 1 else "modified" if conventions == {1} else "standard"
    options = ", friction rule toolbox7" * (robot.friction == "toolbox7")
    options += ", gravity is free fall" * (robot.gravity_sign == "free_fall")
    gravity = " ".join(f"{value:.2f}" for value in robot.gravity)
    lines = [head, f"\t\tgrav = [{gravity}]\t\t{words} D&H parameters{options}", "", "  alpha\t\tA\t\ttheta\t\tD\t\tR/P"]
    return "\n".join([*lines, *map(repr, robot.links)])


def mechanism_of(function: str, robot: Any, *, dynamic: bool = False) -> Mechanism:
    """Return the mechanism that computes for a robot; with `dynamic`, all its links must have mass and inertia.

    Raises
    ------
    ArgumentError
        Where it is neither a robot nor a mechanism on a fixed base.
    """
    mechanism = robot.mechanism(dynamic=dynamic) if isinstance(robot, rt_robot) else robot
    if not isinstance(mechanism, Mechanism):
        raise ArgumentError(f"{function}: robot is {shown(robot)}; expected an rt_robot or a Mechanism")
    if mechanism.floating:
        raise ArgumentError(f"{function}: {mechanism.name!r} has a floating base; expected a robot on a fixed one")
    return mechanism


def free_fall_of(function: str, robot: Any, grav: Any) -> tuple[float, ...]:
    """Return the acceleration of free fall that a gravity (3,) means, by the sign that the robot takes it in.

    Raises
    ------
    ArgumentError
        Where it is no vector of three numbers.
    """
    gravity = vector(f"{function}: grav", grav, 3)
    upward = isinstance(robot, rt_robot) and robot.gravity_sign == "up"
    return tuple((0.0 - gravity if upward else gravity + 0.0).tolist())


@lru_cache(maxsize=16)
def under_gravity(mechanism: Mechanism, free_fall: tuple[float, ...]) -> Mechanism:
    """Return the same mechanism in another field of gravity; the last ones are kept, with their compiled functions."""
    return mechanism.replace(gravity=free_fall)


def weightless(mechanism: Mechanism) -> Mechanism:
    """Return the same mechanism without gravity."""
    return under_gravity(mechanism, (0.0, 0.0, 0.0))


def copied(robot: rt_robot, others: Any) -> dict[str, Any]:
    """Fields of a copy: with copied links, or with the given ones.

    Raises
    ------
    ArgumentError
        Where there are more of them, or fewer, than the robot has.
    """
    values = {field: getattr(robot, field) for field in robot.field_names()}
    if others is not None and len(others) != robot.n:
        raise ArgumentError(f"{len(others)} links were given for a copy of a robot with {robot.n}")
    return values | {"links": [rt_link(link) for link in robot.links] if others is None else others}


def is_matrix(source: Any) -> bool:
    """True if a robot is to be made from numbers, not from nothing, from links or from another robot."""
    listed = isinstance(source, (list, tuple)) and (not source or any(isinstance(link, rt_link) for link in source))
    return source is not None and not listed and not isinstance(source, Fields)


def links_from(source: Any, convention: str | None) -> Any:
    """Links from the rows of a legacy matrix, in the convention; a list of links as it is; none from None.

    Raises
    ------
    ArgumentError
        With every row that is not one of a link.
    """
    if not is_matrix(source):
        return [] if source is None else source
    try:
        rows = np.atleast_2d(real(source))
    except TypeError as error:
        raise ArgumentError(f"a robot is made from a list of links, a legacy matrix, or a robot; this {error}") from error
    word = CONVENTIONS[0 if convention is None else convention_number(convention)]
    links, wrong = [], []
    for k, row in enumerate(rows, start=1):
        try:
            links.append(rt_link(row, word))
        except LinkwiseError as error:
            wrong.append(f"row {k}: {error}")
    if wrong:
        raise ArgumentError("\n".join(wrong))
    return links


#: Width of the labels of `showlink_text`.
WIDTH = 6


def showlink_text(thing: rt_link | rt_robot) -> str:
    r"""Every field of a link, or of all links of a robot, one per line; empty after ``=`` for missing ones.

    Raises
    ------
    ArgumentError
        Where it is neither a link nor a robot.

    Examples
    --------
    >>> link = rt_link([0, 0.5, 0, 0.25])
    >>> link.r = (1, -2, 0.5)
    >>> print(*showlink_text(link).splitlines()[6:12], sep="\n")
    offset = 0
    m      =
    r      =  1
             -2
              0.5
    I      =
    """
    if isinstance(thing, rt_link):
        return "\n".join(line for name in rt_link.field_names() for line in _field_lines(name, getattr(thing, name)))
    if isinstance(thing, rt_robot):
        return "\n".join(f"Link {k}{'-' * 24}\n{showlink_text(link)}" for k, link in enumerate(thing.links, start=1))
    raise ArgumentError(f"rt_showlink was given {shown(thing)}; expected a link or a robot")


@also(l="thing", robot="thing")
def rt_showlink(thing: rt_link | rt_robot) -> None:
    """Print every field of a link, or of all links of a robot.

    Parameters
    ----------
    thing : rt_link or rt_robot
        `showlink_text` gives the same as a text.

    Raises
    ------
    ArgumentError
        Where it is neither.

    Examples
    --------
    >>> from linkwise import rtss
    >>> rt_showlink(rtss.rt_twolink().links[0])
    alpha  = 0
    A      = 1
    theta  = 0
    D      = 0
    sigma  = 0
    mdh    = 0
    offset = 0
    m      = 1
    r      = 1
             0
             0
    I      = 0  0  0
             0  0  0
             0  0  0
    Jm     = 0
    G      = 1
    B      = 0
    Tc     = 0  0
    qlim   =
    """
    print(showlink_text(thing))


def _field_lines(name: str, value: Any) -> list[str]:
    """The label before the first row, nothing before the others; a centre of mass is a column."""
    if value is None:
        return [f"{name:<{WIDTH}} ="]
    array = np.asarray(value, dtype=np.float64)
    rows = array[:, None] if name == "r" else np.atleast_2d(array)
    cells = [[f"{number:.8g}" for number in row] for row in rows]
    signed = any(cell.startswith("-") for row in cells for cell in row)
    cells = [[cell if cell.startswith("-") or not signed else f" {cell}" for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    labels = [f"{name:<{WIDTH}} = ", *[" " * (WIDTH + 3)] * (len(texts) - 1)]
    return [label + text for label, text in zip(labels, texts, strict=True)]


__all__ = [*(name for name in dir() if name.startswith("rt_")), "showlink_text"]  # noqa: PLE0604
