"""The class of every figure: apart from `linkwise.plot.figure`, since its base needs matplotlib, which is an extra."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from linkwise.plot.rendering import rendered


class NotebookFigure(Figure):
    """A figure with the picture of itself that notebooks ask for."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return the picture, and its displayed size: at 96 pixels an inch, for any resolution."""
        width, height = self.get_size_inches()
        return rendered(self, "png"), {"width": round(96 * width), "height": round(96 * height)}
