"""What people look at: pictures of mechanisms, motions and workspaces, moving pictures, and the view in the browser.

Pictures need matplotlib, the extra ``plot``; the browser needs the extra ``view``. Nothing here imports them before they
are used, nothing waits for a window, and no display is needed: each function returns a figure, which a notebook shows and
``savefig`` writes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.view.browser.browse import browse as browse
    from linkwise.view.browser.browse import export as export
    from linkwise.view.curves import trajectory as trajectory
    from linkwise.view.drawing.picture import draw as draw
    from linkwise.view.drawing.tool_path import tool_path as tool_path
    from linkwise.view.films.animation import Animation as Animation
    from linkwise.view.films.animation import animate as animate
    from linkwise.view.maps.ellipsoids import ellipsoid as ellipsoid
    from linkwise.view.maps.manipulability import manipulability_map as manipulability_map
    from linkwise.view.maps.workspace import workspace as workspace

_HOMES = {
    "Animation": "linkwise.view.films.animation",
    "animate": "linkwise.view.films.animation",
    "browse": "linkwise.view.browser.browse",
    "draw": "linkwise.view.drawing.picture",
    "ellipsoid": "linkwise.view.maps.ellipsoids",
    "export": "linkwise.view.browser.browse",
    "manipulability_map": "linkwise.view.maps.manipulability",
    "tool_path": "linkwise.view.drawing.tool_path",
    "trajectory": "linkwise.view.curves",
    "workspace": "linkwise.view.maps.workspace",
}
"""Where each public name stands; imported when first asked for."""

__all__ = [
    "Animation",
    "animate",
    "browse",
    "draw",
    "ellipsoid",
    "export",
    "manipulability_map",
    "tool_path",
    "trajectory",
    "workspace",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'linkwise.view' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
