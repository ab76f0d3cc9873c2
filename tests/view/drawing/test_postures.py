"""Several postures in one picture, the path of the tool, and words that hide nothing."""

import sys

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.plot.rendering import rendered
from linkwise.view import draw
from linkwise.view.drawing import labels
from linkwise.view.drawing.labels import place
from linkwise.view.scene.layout import lay_out, near
from support.walking_machine import person

BENT = [0.4, -0.8, 0.4, 0.2, 0.5, 0.1]


@pytest.fixture(scope="module")
def puma() -> lw.Mechanism:
    return lw.robots.load("puma560")


def slender() -> lw.Mechanism:
    """One bar: a box in which the names of the axes would stand on the numbers."""
    return lw.Mechanism([lw.Link.dh(a=1.0, convention="standard")])


def faces(made: object) -> tuple[np.ndarray, np.ndarray]:
    """Corners (m, 4, 3) and colours (m, 3) of the solids."""
    (solids,) = made.axes[0].collections  # type: ignore[attr-defined]
    rendered(made, "png")
    return np.asarray(solids._faces), np.asarray(solids._facecolor3d)[:, :3]


@pytest.mark.usefixtures("coarse")
def test_a_posture_stands_where_forward_kinematics_says(puma: lw.Mechanism) -> None:
    """The rods and joints of each link lie about its frame and that of its parent; the mark of the tool is at the tool."""
    made = draw(puma, BENT)
    marks = [line.get_data_3d() for line in made.axes[0].lines if line.get_marker() == "o"]
    assert np.allclose(np.ravel(marks[-1]), puma.forward_kinematics(BENT)[:3, 3], atol=1e-15)
    corners, size = faces(made)[0].reshape(-1, 3), lay_out(puma, BENT).size
    for frame in puma.link_poses(BENT):
        distance = np.linalg.norm(corners - frame[:3, 3], axis=1).min()
        assert distance < 0.035 * size  # on the surface of a rod, or of a joint: 0.014 and 0.030 of the size


@pytest.mark.usefixtures("coarse")
def test_earlier_postures_are_paler_and_the_last_is_as_if_alone(puma: lw.Mechanism) -> None:
    alone = faces(draw(puma, BENT))
    several = faces(draw(puma, [np.zeros(6), np.full(6, 0.2), BENT]))
    count = len(alone[0])
    assert len(several[0]) > 2.5 * count
    assert np.array_equal(np.sort(several[0][-count:], axis=0), np.sort(alone[0], axis=0))
    assert several[1][:-count].mean() > alone[1].mean() + 0.2  # nearer to white


@pytest.mark.usefixtures("coarse")
def test_everything_of_every_posture_is_in_view(puma: lw.Mechanism) -> None:
    made = draw(puma, [np.zeros(6), [2.5, 0, 0, 0, 0, 0]])
    corners = faces(made)[0].reshape(-1, 3)
    for k, name in enumerate("xyz"):
        low, high = getattr(made.axes[0], f"get_{name}lim3d")()
        assert low < corners[:, k].min()
        assert corners[:, k].max() < high


def test_the_trace_is_the_path_of_the_tool(puma: lw.Mechanism) -> None:
    motion = lw.trajectory.quintic(np.zeros(6), BENT, 1.0)
    made = draw(puma, BENT, trace=motion)
    path = puma.forward_kinematics(motion.q)[:, :3, 3]
    drawn = [np.array(line.get_data_3d()).T for line in made.axes[0].lines]
    assert any(line.shape == path.shape and np.array_equal(line, path) for line in drawn)
    again = draw(puma, BENT, trace=motion.q)
    assert len(again.axes[0].lines) == len(made.axes[0].lines)


@pytest.mark.parametrize(
    ("q", "message"), [(np.zeros((0, 6)), "0 postures"), (np.zeros((99, 6)), "1 to 60"), (np.zeros((2, 5)), "expected 6")]
)
def test_postures_that_cannot_be_drawn(puma: lw.Mechanism, q: np.ndarray, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        draw(puma, q)


def test_a_trace_of_another_mechanism(puma: lw.Mechanism) -> None:
    with pytest.raises(ArgumentError, match=r"shape.*\(4, 3\).*finite.*6"):
        draw(puma, trace=np.zeros((4, 3)))


def test_frames_and_names_can_be_had_and_left_out(puma: lw.Mechanism) -> None:
    full, bare = draw(puma), draw(puma, frames=False, names=False)
    assert not bare.axes[0].texts
    assert len(full.axes[0].lines) - len(bare.axes[0].lines) == 3 * 6
    many = person()
    assert len(draw(many, frames=True).axes[0].lines) - len(draw(many).axes[0].lines) == 3 * len(many.links)


@pytest.mark.parametrize("name", ["puma560", "four_bar", "stewart", "panda", "person", "slender"])
def test_words_stand_clear_of_each_other_and_inside_the_picture(name: str) -> None:
    made = draw({"person": person, "slender": slender}[name]() if name in {"person", "slender"} else lw.robots.load(name))
    canvas = FigureCanvasAgg(made)
    canvas.draw()
    draws, axes = canvas.get_renderer(), made.axes[0]
    sizes = [text.get_window_extent(draws) for text in axes.texts]
    at = labels.shown(axes, np.array([text.get_position_3d() for text in axes.texts]))  # lower left corners
    boxes = [Bbox.from_bounds(x, y, size.width, 0.7 * size.height) for (x, y), size in zip(at, sizes, strict=True)]
    for k, one in enumerate(boxes):
        for other in boxes[:k]:
            assert not one.overlaps(other), f"{axes.texts[k].get_text()} lies on another label"
    sides = [getattr(axes, f"{name}axis") for name in "xyz"]
    titles = [side.label.get_window_extent(draws) for side in sides]
    for side, title in zip(sides, titles, strict=True):
        for tick in side.majorTicks:  # (as drawn; asking the axis for its labels would put them elsewhere)
            words = tick.label1.get_text()
            assert not title.overlaps(tick.label1.get_window_extent(draws)), f"{words} lies on {side.label.get_text()}"
    for box in (*boxes, *titles):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= made.bbox.width
        assert box.y1 <= made.bbox.height


def test_no_pyplot_and_no_display() -> None:
    """In a process of its own: drawing brings no pyplot, which would choose a window system and keep the figures."""
    import subprocess

    code = (
        "import sys, linkwise as lw; from linkwise import view; arm = lw.robots.planar_2r();"
        "assert 'matplotlib' not in sys.modules;"
        "motion = lw.trajectory.quintic([0.0, 0.0], [1.0, 0.5], 0.1);"
        "view.tool_path(arm, motion); view.trajectory(motion)._repr_png_(); view.animate(arm, motion, rate=10, width=120);"
        "view.manipulability_map(arm, [0, 1], cells=8); print('pyplot' in str(sorted(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PATH": ""}, check=False)
    assert ran.stdout == "False\n", ran.stderr


def test_labels_avoid_each_other_where_there_is_room() -> None:
    points = np.array([[100.0, 100.0], [112.0, 100.0], [106.0, 108.0]])
    sizes = np.tile([40.0, 10.0], (3, 1))
    box = (np.array([100.0, 100.0]), np.eye(2), np.array([100.0, 100.0]))
    low = place(points, sizes, np.empty((0, 2)), box, 1.0, 5.0)
    for k in range(3):
        for j in range(k):
            assert np.any(np.abs(low[k] - low[j]) >= sizes[0])
    assert np.abs(low - points).max() < 70
    assert near(points, 11.0) == [[0, 2], [1]]


def test_labels_do_not_run_out_of_the_outline() -> None:
    box = (np.array([50.0, 50.0]), np.eye(2), np.array([50.0, 50.0]))
    low = place(np.array([[97.0, 97.0]]), np.array([[30.0, 10.0]]), np.empty((0, 2)), box, 1.0)
    assert np.all(low[0] + [30, 10] <= 100)
