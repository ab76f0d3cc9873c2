"""Pictures of mechanisms, motions and workspaces, animations, and the viewer in the browser.

Pictures need matplotlib, the extra ``plot``; the browser needs the extra ``view``. Nothing here imports them before they
are used, nothing waits for a window, and no display is needed: each function returns a figure, which a notebook shows and
``savefig`` writes.
"""

from typing import TYPE_CHECKING

from linkwise.lazy import lazy

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

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "linkwise.plot.curves": "trajectory",
        "linkwise.view.animation.animation": "Animation animate",
        "linkwise.view.browser.browse": "browse export",
        "linkwise.view.drawing.render": "draw tool_path",
        "linkwise.view.plots.manipulability": "ellipsoid manipulability_map",
        "linkwise.view.plots.workspace_plot": "workspace",
    },
)
