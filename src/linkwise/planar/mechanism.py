"""Planar links and the joints between them: a chain, a tree, or a tree with loops, with a line per thing to compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, members
from linkwise.expr.node import Expr
from linkwise.model.checks import Checker, frozen
from linkwise.model.symbolic import parameters_in, values_by_name
from linkwise.planar.evaluation import evaluated, placed, substitute, with_values
from linkwise.planar.freedoms import Freedoms, freedoms
from linkwise.planar.link import Link
from linkwise.planar.loop import Loop, given_loops
from linkwise.planar.structure import check_names, order_of, parents_of, with_names
from linkwise.spatial.scalar import Array, FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism as SpatialMechanism
    from linkwise.planar.collision_shapes import BoolArray
    from linkwise.solve.linkage import Linkage


class Mechanism:
    """Links A_1 ... A_m in the plane, joined into a chain or a tree, with or without loops.

    Methods take a configuration (..., nq): the coordinates of the links in the order of the list, one for a revolute (rad)
    or prismatic joint (m), x, y and theta for a free one. A batch gives the same numbers as a loop, bit for bit. One
    configuration may also hold symbols, of SymPy or of `linkwise.symbols`; the results do then.

    Parameters
    ----------
    links : sequence of Link
        At least one. A link without a parent follows the link before it in the list, the first one the world.
    loops : sequence of Loop
        What closes the tree. Transforms and places are those of the tree at whatever configuration is given; `close` finds
        one at which the loops are closed.
    name : str, optional
        How tables and messages call it.

    Attributes
    ----------
    parents : tuple of int
        Index of each link's parent (L,), -1 for the world.
    order : tuple of int
        The links, each after its parent (L,).

    Raises
    ------
    ModelError
        With every problem found: names that repeat, parents that are not there, cycles.

    Examples
    --------
    The three-link chain whose links are each offset by 45 degrees:

    >>> import numpy as np
    >>> from linkwise import planar
    >>> rod = planar.bar(1.0, 0.2)
    >>> chain = planar.Mechanism([planar.Link(rod), planar.Link(rod, a=1.0), planar.Link(rod, a=1.0)], name="chain")
    >>> q = [0.0, np.pi / 4, np.pi / 4]
    >>> chain.transforms(q)[1].round(3).tolist()
    [[0.707, -0.707, 1.0], [0.707, 0.707, 0.0], [0.0, 0.0, 1.0]]
    >>> chain.place(q)[2][0].round(3)[1].tolist()
    [1.807, 1.807]
    """

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]
    name: str
    parents: tuple[int, ...]
    order: tuple[int, ...]

    def __init__(self, links: Iterable[Link], loops: Iterable[Loop] = (), name: str | None = None) -> None:
        check = Checker(f"mechanism {name!r}" if name else "mechanism")
        given = tuple(links) if isinstance(links, Iterable) else ()
        if not given or not all(isinstance(link, Link) for link in given):
            check.report("links", links, "one planar.Link or more")
            check.finish()
        if name is not None and not isinstance(name, str):
            check.report("name", name, "a word, or None")
        named = with_names(given)
        check_names(check, named)
        parents = parents_of(check, named)
        values: dict[str, object] = {
            "links": named,
            "loops": given_loops(check, loops, [str(link.name) for link in named]),
            "name": name or "mechanism",
            "parents": parents,
            "order": order_of(check, named, parents),
        }
        check.finish()
        self.__dict__.update(values)
        replacements = check.one_of_each_name(self.parameters_used)
        check.finish()
        if replacements:
            del self.__dict__["parameters_used"]
            self.__dict__.update({field: tuple(items) for field, items in with_values(self, replacements).items()})

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    # ── what it is made of ────────────────────────────────────────────────────────────────────────

    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates (nq,): those of the links, for a free one with ``.x``, ``.y`` and ``.theta``."""
        return tuple(name for link in self.links for name in link.coordinate_names)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links (L,)."""
        return tuple(str(link.name) for link in self.links)

    @cached_property
    def owner(self) -> tuple[int, ...]:
        """Index of the link that each coordinate moves (nq,)."""
        return tuple(k for k, link in enumerate(self.links) for _ in link.coordinate_names)

    @cached_property
    def turns(self) -> tuple[bool, ...]:
        """Whether each coordinate is an angle, rad (nq,); the others are lengths, m."""
        kinds = {"revolute": (True,), "prismatic": (False,), "fixed": (), "free": (False, False, True)}
        return tuple(turn for link in self.links for turn in kinds[link.joint])

    @cached_property
    def limits(self) -> FloatArray:
        """Least and greatest coordinates (nq, 2), rad or m; infinite where there are none."""
        return frozen(np.concatenate([link.bounds for link in self.links]))

    def link_index(self, link: int | str) -> int:
        """Place of a link in the list, by its name or by an index that may count from the end.

        Raises
        ------
        ArgumentError
            Naming the links there are.
        """
        if isinstance(link, str):
            if link in self.link_names:
                return self.link_names.index(link)
        elif (
            isinstance(link, (int, np.integer))
            and not isinstance(link, bool)
            and link in range(-len(self.links), len(self.links))
        ):
            return int(link) % len(self.links)
        last = len(self.links) - 1
        raise ArgumentError(
            f"no link {link!r}; this mechanism has {members(self.link_names)}, or indices -{last + 1} to {last}"
        )

    def path(self, link: int | str) -> tuple[int, ...]:
        """The links from the world to a link, itself included, by index."""
        found = [self.link_index(link)]
        while self.parents[found[-1]] >= 0:
            found.append(self.parents[found[-1]])
        return tuple(reversed(found))

    @cached_property
    def parameters_used(self) -> tuple[Expr, ...]:
        """The symbols that stand for numbers of the mechanism, in the order in which they first occur."""
        links, loops = ([value for item in items for value in item.numbers] for items in (self.links, self.loops))
        return parameters_in([*links, *loops])

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in it."""
        return tuple(str(node.value) for node in self.parameters_used)

    # ── where the links are ───────────────────────────────────────────────────────────────────────

    def transforms(self, configuration: npt.ArrayLike) -> Array:
        """The T_i (..., L, 3, 3): from the body frame of each link to that of its parent; see `linkwise.planar.transforms`.

        Raises
        ------
        ArgumentError
            Where the shape is wrong, or there are symbols in a batch.
        """
        return evaluated(self, "transforms", configuration)

    def poses(self, configuration: npt.ArrayLike) -> Array:
        """T_world_link (..., L, 3, 3): the product T_1 ... T_i along the path to each link."""
        return evaluated(self, "poses", configuration)

    def place(self, configuration: npt.ArrayLike) -> tuple[tuple[Array, ...], ...]:
        """Every polygon in the world: for each link a tuple with an array (..., m, 2), m, for each of its polygons.

        The points keep their order; they are T_1 ... T_i (x, y, 1).

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import planar
        >>> arm = planar.Mechanism([planar.Link([(0, -0.1), (1, -0.1), (1, 0.1)]), planar.Link(a=1.0)])
        >>> (arm.place([np.pi / 2, 0.0])[0][0].round(3) + 0.0).tolist()
        [[0.1, 0.0], [0.1, 1.0], [-0.1, 1.0]]
        >>> arm.place(np.zeros((7, 2)))[0][0].shape
        (7, 3, 2)
        """
        return placed(self, configuration)

    def gaps(self, configuration: npt.ArrayLike) -> Array:
        """How far the loops are open (..., loops, 3): x, y (m) from the first point to the second in the world.

        The third is the sine of the angle that a rigid connection is off by, 0 for a pin.
        """
        return evaluated(self, "gaps", configuration)

    # ── freedoms and loops ────────────────────────────────────────────────────────────────────────

    def freedoms(self, configuration: npt.ArrayLike | None = None) -> Freedoms:
        """The count of degrees of freedom with its explanation: see `Freedoms`.

        Examples
        --------
        >>> from linkwise import planar
        >>> planar.Mechanism([planar.Link(joint="fixed"), planar.Link(a=1.0), planar.Link(a=1.0)]).freedoms().count
        2
        """
        return freedoms(self, configuration)

    def close(self, configuration: npt.ArrayLike, driven: str | Sequence[str] | None = None) -> FloatArray:
        """A configuration (..., nq) with all loops closed: see `linkwise.planar.closing.close`.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import planar, robots
        >>> four_bar = planar.from_spatial(robots.four_bar(), polygons="bars")
        >>> q = four_bar.close([0.5, 0.0, 0.0], driven="crank")
        >>> float(q[0]), bool(abs(four_bar.gaps(q)).max() < 1e-12)
        (0.5, True)
        """
        from linkwise.planar.closing import close

        return close(self, configuration, driven)

    def linkage(self, driven: str | Sequence[str] | None = None) -> Linkage:
        """The mechanism driven through its loops by some coordinates: the `linkwise.solve.Linkage` of its spatial twin.

        For positions one after the other, speeds and accelerations, and reasons instead of errors.

        Examples
        --------
        >>> from linkwise import planar, robots
        >>> planar.from_spatial(robots.slider_crank()).linkage("crank").passive
        ('rod', 'slider')
        """
        from linkwise.planar.closing import linkage_of

        return linkage_of(self, driven)

    # ── among obstacles ───────────────────────────────────────────────────────────────────────────

    def collides(self, configurations: npt.ArrayLike, **options: Any) -> BoolArray:
        """Whether links run into each other or into obstacles (...,): see `linkwise.planar.collides`.

        Parameters
        ----------
        configurations : (..., nq) array_like
            Coordinates, rad or m.
        **options
            ``obstacles`` (polygons in world axes, m), ``pairs`` that are checked, ``margin`` (m).

        Raises
        ------
        ArgumentError, MissingExtraError
            As for `linkwise.planar.collides`.

        Examples
        --------
        >>> from linkwise import planar
        >>> rod = planar.bar(1.0, 0.1)
        >>> arm = planar.Mechanism([planar.Link(rod, name="upper"), planar.Link(rod, a=1.0, name="lower")])
        >>> arm.collides([[0.0, 0.0], [1.57, 0.0]], obstacles={"wall": [(1.5, -1), (1.7, -1), (1.7, 1), (1.5, 1)]})
        array([ True, False])
        """
        from linkwise.planar.collision import collides

        return collides(self, configurations, **options)

    # ── in space, on paper ────────────────────────────────────────────────────────────────────────

    def spatial(self, gravity: npt.ArrayLike | None = None) -> SpatialMechanism:
        """The same mechanism in the plane z = 0 of space: see `linkwise.planar.spatial.spatial`."""
        from linkwise.planar.spatial import spatial

        return spatial(self, gravity)

    def symbolic_transforms(self, constants: bool = False) -> tuple[Any, ...]:
        """The T_i as SymPy matrices in the text's symbols: see `linkwise.planar.written.symbolic_transforms`."""
        from linkwise.planar.written import symbolic_transforms

        return symbolic_transforms(self, constants)

    def transform_text(self, q: npt.ArrayLike | None = None, *, constants: bool = False) -> str:
        """The T_i written out for reading: in the text's symbols, or as numbers at the configuration q (nq,).

        With ``constants`` those of the joints are symbols too, where they are not zero.

        Examples
        --------
        >>> from linkwise import planar
        >>> print(planar.Mechanism([planar.Link(), planar.Link(a=1.0)]).transform_text([0.0, 0.5]).splitlines()[4])
        T_2 = [ 0.877583  -0.479426  1 ]   link2 on link1
        """
        from linkwise.planar.written import transform_text

        return transform_text(self, q, constants=constants)

    def draw(self, configuration: npt.ArrayLike, **options: Any) -> Any:
        """A picture of the mechanism in one configuration, a matplotlib figure: see `linkwise.planar.draw`.

        Parameters
        ----------
        configuration : (nq,) array_like
            Coordinates, rad or m.
        **options
            ``obstacles`` (polygons in world axes, m), ``frames``, ``names``, ``into``.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ArgumentError, MissingExtraError
            As for `linkwise.planar.draw`.

        Examples
        --------
        >>> from linkwise import planar
        >>> rod = planar.bar(1.0, 0.1)
        >>> planar.Mechanism([planar.Link(rod), planar.Link(rod, a=1.0)]).draw([0.5, -1.0]).axes[0].get_ylabel()
        'y [m]'
        """
        from linkwise.planar.drawing import draw

        return draw(self, configuration, **options)

    # ── other mechanisms made from it ─────────────────────────────────────────────────────────────

    def replace(self, **changes: Any) -> Self:
        """The same mechanism with other links, loops or name; checked again."""
        unknown = sorted(changes.keys() - self._fields().keys())
        if unknown:
            raise ArgumentError(f"a planar mechanism has no field {choices(unknown)}; it has {members(self._fields())}")
        return type(self)(**{**self._fields(), **changes})

    def substitute(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Self:
        """The same mechanism with numbers, or other expressions, for some of its symbols; checked again.

        Examples
        --------
        >>> import linkwise as lw
        >>> from linkwise import planar
        >>> arm = planar.Mechanism([planar.Link(), planar.Link(a=lw.symbols("l1"))])
        >>> arm.symbols, arm.substitute(l1=2.0).poses([0.0, 0.0])[1, 0, 2].tolist()
        (('l1',), 2.0)
        """
        return self.replace(**substitute(self, values_by_name(values, named)))

    # ── identity ──────────────────────────────────────────────────────────────────────────────────

    def _fields(self) -> dict[str, Any]:
        return {"links": self.links, "loops": self.loops, "name": self.name}

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal mechanisms, hashable."""
        return (self.links, self.loops, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.links, self.loops, self.name)

    def __repr__(self) -> str:
        from linkwise.planar.table import text

        return text(self)
