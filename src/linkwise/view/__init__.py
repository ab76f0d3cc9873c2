"""Pictures of mechanisms, motions and workspaces, animations, and the viewer in the browser.

Pictures need matplotlib, the extra ``plot``; the browser needs the extra ``view``. Nothing here imports them before they
are used, nothing waits for a window, and no display is needed: each function returns a figure, which a notebook shows and
``savefig`` writes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.plot.curves import trajectory as trajectory
    from linkwise.view.animation.animation import Animation as Animation
    from linkwise.view.animation.animation import animate as animate
    from linkwise.view.browser.browse import browse as browse
    from linkwise.view.browser.browse import export as export
    from linkwise.view.drawing.render import draw as draw
    from linkwise.view.drawing.render import tool_path as tool_path
    from linkwise.view.plots.manipulability import ellipsoid as ellipsoid
    from linkwise.view.plots.manipulability import manipulability_map as manipulability_map
    from linkwise.view.plots.workspace_plot import workspace as workspace

#: Where each public name stands; imported when first asked for.
_HOMES = {
    "Animation": "linkwise.view.animation.animation",
    "animate": "linkwise.view.animation.animation",
    "browse": "linkwise.view.browser.browse",
    "draw": "linkwise.view.drawing.render",
    "ellipsoid": "linkwise.view.plots.manipulability",
    "export": "linkwise.view.browser.browse",
    "manipulability_map": "linkwise.view.plots.manipulability",
    "tool_path": "linkwise.view.drawing.render",
    "trajectory": "linkwise.plot.curves",
    "workspace": "linkwise.view.plots.workspace_plot",
}


__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'linkwise.view' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
