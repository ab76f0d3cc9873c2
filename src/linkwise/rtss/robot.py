"""The robot object of the Robotics Toolbox for Scilab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, ModelError, Problem, choices, shown
from linkwise.mechanism import Mechanism
from linkwise.model.checks import Checker
from linkwise.model.motor import FRICTION_RULES
from linkwise.rtss import fields
from linkwise.rtss.fields import Field, Fields
from linkwise.rtss.link import rt_link
from linkwise.rtss.rows import means_convention
from linkwise.rtss.sources import chain, copied, is_matrix, links_from, mixed, text
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

GRAVITY_SIGNS = {"up": (0.0, 0.0, 9.81), "free_fall": (0.0, 0.0, -9.81)}
"""What `gravity` means, and what it is unless given."""


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
        How it is called, who makes it, and whatever else is to be said. In a copy, those of the other robot.
    convention : str
        Of the rows of a matrix; standard where it is left out. See `rt_link`.
    base, tool : (4, 4) array_like
        T_world_base, and T_link_tool on the last link.
    gravity : (3,) array_like
        In world axes; (0, 0, 9.81) unless given. What it means is said by `gravity_sign`.
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

    name = Field(text, "How it is called.")
    manuf = Field(text, "Who makes it.")
    comment = Field(text, "Whatever else is to be said.")
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
        given = {"name": name, "manuf": manuf, "comment": comment, "base": base, "tool": tool}
        given |= {"gravity": gravity, "friction": friction}
        self.__dict__.update(_gravity_sign=sign, _kept=None)
        self.assign(values | {field: value for field, value in given.items() if value is not None})

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
        """What `gravity` means, ``"up"`` or ``"free_fall"``; ``rt_robot(robot, gravity_sign=...)`` makes the other."""
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
        made = numbers("offset", values)
        if made.shape not in {(), (self.n,)}:
            raise ArgumentError(f"offset has shape {made.shape}; expected ({self.n},), a number for each link")
        for link, value in zip(self.links, np.broadcast_to(made, self.n), strict=True):
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
        """For each joint (n,) -1 where its coordinate is below the limits, 1 where it is above, 0 within.

        Raises
        ------
        ArgumentError
            Where q is not (n,) or holds NaN, or links have no limits.
        """
        made = numbers("q", q, finite=False)
        if made.shape != (self.n,) or np.isnan(made).any():
            found = f"has shape {made.shape}" if made.shape != (self.n,) else f"is {made.tolist()}"
            raise ArgumentError(f"q {found}; expected ({self.n},), a coordinate for each joint")
        without = [f"link{k}" for k, link in enumerate(self.links, start=1) if link.qlim is None]
        if without:
            raise ArgumentError(f"{' and '.join(without)} of robot {self.name!r} ha{'ve' if without[1:] else 's'} no limits")
        return np.array([link.islimit(value) for link, value in zip(self.links, made, strict=True)], dtype=np.int_)

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
        made: Mechanism = kept[1]
        if dynamic:
            expected = {"m": "a number", "r": "three numbers", "I": "a tensor"}
            unset = [
                Problem(f"link{k} of robot {self.name!r}", field, None, f"{expected[field]}, for forces need it")
                for k, link in enumerate(self.links, start=1)
                for field in link.missing(*expected)
            ]
            if unset:
                raise ModelError(unset)
        return made

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
        from linkwise.rtss.display import robot_text

        return robot_text(self)
