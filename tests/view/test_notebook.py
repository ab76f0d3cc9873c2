"""In a notebook figures and animations show themselves."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.view import animate, draw


@pytest.mark.usefixtures("coarse")
def test_what_a_notebook_shows() -> None:
    """What IPython asks of the last value of a cell: a PNG of a figure, a page of an animation."""
    formatters = pytest.importorskip("IPython.core.formatters")
    arm = lw.robots.load("planar_2r")
    motion = lw.trajectory.quintic(np.zeros(2), [1.0, 0.5], 0.1)
    for figure in (draw(arm), motion.plot()):
        data, size = formatters.DisplayFormatter().format(figure)
        assert data["image/png"].startswith(b"\x89PNG")
        assert size["image/png"]["width"] > 100
    data, _ = formatters.DisplayFormatter().format(animate(arm, motion, rate=10, width=120))
    assert 'src="data:image/gif;base64,' in data["text/html"]


def test_a_figure_knows_how_large_it_is_shown() -> None:
    from linkwise.plot.figure import figure

    data, size = figure(5.0, 3.0)._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert size == {"width": 480, "height": 288}
