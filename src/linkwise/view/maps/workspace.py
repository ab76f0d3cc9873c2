"""The workspace of a mechanism, found and drawn in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwise.view.maps.workspace_picture import draw

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism


def workspace(
    mechanism: Mechanism, *, plane: str = "auto", measure: str = "manipulability", samples: int = 100_000, **options: Any
) -> Any:
    """Draw what a mechanism reaches, coloured by how well it moves there.

    Parameters
    ----------
    mechanism : Mechanism
        Without closed loops.
    plane : {"auto", "xz", "yz", "xy", "3d"}
        What is drawn: "auto" a plane through the axis of the first joint and the view along it; "xz", "yz" and "xy" that
        plane; "3d" the region as a body with a quarter cut out.
    measure : {"manipulability", "reach"}
        What the colours tell.
    samples : int
        Random postures to try, 1000 or more; fewer are quicker and leave the edge rougher.
    options
        Those of `linkwise.kinematics.workspace`: ``link``, ``ranges``, ``pointing``, ``cells``, ``seed`` and others.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        For a plane, measure or option that cannot be, or a mechanism with closed loops.

    Examples
    --------
    >>> import linkwise as lw
    >>> made = workspace(lw.robots.planar_2r(), samples=2000, cells=32)
    >>> made.get_suptitle()
    'planar_2r: what the tool reaches'
    """
    mechanism.require_numbers("a picture")
    return draw(mechanism, mechanism.workspace(samples=samples, **options), plane=plane, measure=measure)
