import numpy as np
import pytest

import linkwise as lw
from linkwise.view.scene.camera import FIELD, camera, grid
from linkwise.view.scene.layout import lay_out
from support.bundled import BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_the_camera_sees_all_of_it_and_the_grid_is_below(name: str) -> None:
    mechanism = lw.robots.load(name)
    layout = lay_out(mechanism)
    seen, ground = camera(layout, np.empty((0, 3))), grid(layout, False, np.empty((0, 3)))
    ahead = np.subtract(seen.target, seen.position)
    away = layout.points() - seen.position
    along = away @ ahead / np.linalg.norm(ahead)
    across = np.linalg.norm(away - along[:, None] * ahead / np.linalg.norm(ahead), axis=1)
    assert np.all(across / along < np.tan(FIELD / 2))
    assert np.all((along > seen.near) & (along < seen.far))
    assert np.all(layout.points()[:, 2] > ground.middle[2])
    inside = np.abs(layout.points()[:, :2] - ground.middle[:2]) <= ground.side / 2
    assert inside.all()
    assert ground.small * 5 == pytest.approx(ground.square)


def test_a_mechanism_of_no_extent_has_a_stage() -> None:
    layout = lay_out(lw.Mechanism([lw.Link()]))
    assert grid(layout, False, layout.points()).side > 0
    assert np.isfinite(camera(layout, layout.points()).position).all()
