"""Planar links and the joints between them: a chain, a tree, or a tree with loops, with a line per thing to compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from linkwise.loops import Linkage
from linkwise.planar.freedoms import Freedoms, freedoms
from linkwise.planar.spatial import close, linkage_of, spatial
from linkwise.planar.text import symbolic_transforms, table_text, transform_text
from linkwise.planar.transforms import evaluated, place_polygons
from linkwise.planar.tree import PlanarTree
from linkwise.spatial.scalar import Array, FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism as SpatialMechanism
    from linkwise.planar.collision import BoolArray


class Mechanism(PlanarTree):
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
        return place_polygons(self, configuration)

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
        """A configuration (..., nq) with all loops closed: see `linkwise.planar.spatial.close`.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import planar, robots
        >>> four_bar = planar.from_spatial(robots.four_bar(), polygons="bars")
        >>> q = four_bar.close([0.5, 0.0, 0.0], driven="crank")
        >>> float(q[0]), bool(abs(four_bar.gaps(q)).max() < 1e-12)
        (0.5, True)
        """
        return close(self, configuration, driven)

    def linkage(self, driven: str | Sequence[str] | None = None) -> Linkage:
        """The mechanism driven through its loops by some coordinates: the `linkwise.loops.Linkage` of its spatial twin.

        For positions one after the other, speeds and accelerations, and reasons instead of errors.

        Examples
        --------
        >>> from linkwise import planar, robots
        >>> planar.from_spatial(robots.slider_crank()).linkage("crank").passive
        ('rod', 'slider')
        """
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
        return spatial(self, gravity)

    def symbolic_transforms(self, constants: bool = False) -> tuple[Any, ...]:
        """The T_i as SymPy matrices in the text's symbols: see `linkwise.planar.text.symbolic_transforms`."""
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

    def __repr__(self) -> str:
        return table_text(self)
