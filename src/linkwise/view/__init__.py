"""What people look at: pictures of mechanisms, motions and workspaces, moving pictures, and the view in the browser.

Pictures need matplotlib, the extra ``plot``; the browser needs the extra ``view``. Nothing here imports them before they
are used, nothing waits for a window, and no display is needed: each function returns a figure, which a notebook shows and
``savefig`` writes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.view.animation import Animation as Animation
    from linkwise.view.animation import animate as animate
    from linkwise.view.browser.browse import browse as browse
    from linkwise.view.ellipsoids import ellipsoid as ellipsoid
    from linkwise.view.manipulability import manipulability_map as manipulability_map
    from linkwise.view.one_call import tool_path as tool_path
    from linkwise.view.one_call import trajectory as trajectory
    from linkwise.view.one_call import workspace as workspace
    from linkwise.view.picture import draw as draw

_HOMES = {
    "Animation": "linkwise.view.animation",
    "animate": "linkwise.view.animation",
    "browse": "linkwise.view.browser.browse",
    "draw": "linkwise.view.picture",
    "ellipsoid": "linkwise.view.ellipsoids",
    "manipulability_map": "linkwise.view.manipulability",
    "tool_path": "linkwise.view.one_call",
    "trajectory": "linkwise.view.one_call",
    "workspace": "linkwise.view.one_call",
}
"""Where each public name stands; imported when first asked for."""

__all__ = [
    "Animation",
    "animate",
    "browse",
    "draw",
    "ellipsoid",
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
