import sys

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import linkwise as lw
from linkwise.errors import MissingExtraError
from linkwise.plot.rendering import rendered
from linkwise.view import draw
from linkwise.view.drawing import labels
from linkwise.view.drawing.painter import Solids
from linkwise.view.scene.layout import lay_out
from linkwise.view.scene.scene import build

pytestmark = pytest.mark.usefixtures("coarse")

UP = np.eye(4)
UP[2, 3] = 0.5


def words(made: object) -> str:
    return " | ".join(text.get_text() for text in made.axes[0].texts)  # type: ignore[attr-defined]


def tree() -> lw.Mechanism:
    return lw.Mechanism(
        [
            lw.Link(name="torso", before=UP),
            lw.Link(name="screw", parent="torso", joint="screw", pitch=0.02, axis=(0, 1, 0), before=UP),
            lw.Link(name="slide", parent="torso", joint="prismatic", axis=(1, 0, 0), after=UP),
            lw.Link(name="head", parent="torso", joint="fixed", before=UP),
        ],
        tool=UP,
    )


@pytest.mark.parametrize("name", ["puma560", "scara_icomatic", "panda", "planar_3r"])
def test_robots_are_drawn_with_their_names(name: str) -> None:
    mechanism = lw.robots.load(name)
    made = draw(mechanism, np.full(mechanism.n, 0.3))
    assert all(link in words(made) for link in mechanism.link_names)
    assert "tool" in words(made)
    assert made.get_suptitle() == name
    assert rendered(made, "png").startswith(b"\x89PNG")


def test_trees_and_every_kind_of_joint() -> None:
    made = draw(tree(), [0.1, 3.0, 0.2])
    assert all(name in words(made) for name in ("torso", "screw", "slide", "head"))
    rendered(made, "svg")


def test_scales_are_equal() -> None:
    axes = draw(lw.robots.load("puma560")).axes[0]
    spans = np.array([np.ptp(axes.get_xlim3d()), np.ptp(axes.get_ylim3d()), np.ptp(axes.get_zlim3d())])
    box = np.asarray(axes._box_aspect)
    assert np.allclose(box / box.max(), spans / spans.max(), rtol=1e-6)


def test_everything_lies_inside_the_axes() -> None:
    mechanism = lw.robots.load("panda")
    axes, points = draw(mechanism).axes[0], lay_out(mechanism).points()
    for name, values in zip("xyz", points.T, strict=True):
        low, high = getattr(axes, f"get_{name}lim3d")()
        assert low < values.min()
        assert values.max() < high


def test_many_links_are_numbered() -> None:
    made = draw(lw.Mechanism([lw.Link.dh(a=0.1, convention="standard", name=f"segment {k}") for k in range(20)]))
    assert "segment" not in words(made)
    assert "20" in words(made)


def test_any_name_can_be_drawn() -> None:
    names = ["$x^2$", "$unclosed", "<b>", "\x1b[31m", "日本"]
    made = draw(lw.Mechanism([lw.Link(name=name, after=UP) for name in names], name="$".join(names)))
    assert all(name in words(made) for name in names if "\x1b" not in name)
    assert "\x1b" not in words(made) + made.get_suptitle()
    rendered(made, "svg")


def test_a_mechanism_without_extent_or_joints() -> None:
    rendered(draw(lw.Mechanism([lw.Link(joint="fixed")])), "png")


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="matplotlib"):
        draw(lw.robots.load("planar_2r"))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_faces_of_solids_are_seen_from_outside(kind: str) -> None:
    scene = build(lw.Mechanism([lw.Link(joint=kind)]))
    corners, _ = Solids(scene).at(scene.carriers(scene.layout.poses))
    sign = corners[: len(corners) // 2] if kind == "revolute" else corners[:6]
    assert corners.shape[1:] == (4, 3)
    centre = sign.mean(axis=(0, 1))
    for face in sign:
        normal = np.cross(face[2] - face[0], face[3] - face[1])
        assert normal @ (face.mean(axis=0) - centre) > -1e-9


def lines_of(made: object) -> list[np.ndarray]:
    return [np.array(line.get_data_3d()) for line in made.axes[0].lines]  # type: ignore[attr-defined]


def test_under_a_floating_base_there_is_no_ground() -> None:
    fixed = tree()
    free = fixed.replace(floating=True)
    assert "floating base" in words(draw(free))
    assert "floating base" not in words(draw(fixed))
    square = [line for line in lines_of(draw(fixed)) if line.shape[1] == 5]  # only the ground is a closed square
    assert len(square) == 1
    assert not [line for line in lines_of(draw(free)) if line.shape[1] == 5]


def test_a_floating_base_is_drawn_where_it_is() -> None:
    free = tree().replace(floating=True)
    q = [1.0, -2.0, 3.0, 0.5, 0.5, 0.5, 0.5, 0.1, 0.2, 0.3]
    ring = [line for line in lines_of(draw(free, q)) if np.allclose(line.T, [[1.0, -2.0, 3.0]])]
    assert ring
    axes = [line for line in lines_of(draw(free, q)) if line.shape[1] == 2 and np.allclose(line[:, 0], [1, -2, 3])]
    along = np.array([line[:, 1] - line[:, 0] for line in axes[:3]])
    turned = np.roll(np.eye(3), 1, axis=1)  # x to y, y to z, z to x
    assert np.allclose(along / np.linalg.norm(along, axis=1)[:, None], turned, atol=1e-12)
    rendered(draw(free, q), "png")


def test_a_carried_rotor_with_a_body_is_drawn_on_its_carrier() -> None:
    def corners(**motor: object) -> np.ndarray:
        fields = {"axis": (0, 0, 1), "carrier": "torso", "joint": "slide", **motor}
        made = draw(tree().replace(motors=[lw.Motor(**fields)]))  # type: ignore[arg-type]
        rendered(made, "png")
        return np.asarray(made.axes[0].collections[0]._faces).reshape(-1, 3)

    bare = corners(inertia=1e-4)  # its mass is in the torso's: nobody knows where it sits
    heavy = corners(mass=0.3, com=(0.0, 5.0, 0.0), rotor_inertia=(1e-4, 1e-4, 1e-4))
    assert bare[:, 1].max() < 4.0
    rotor = heavy[(heavy[:, 1] > 4.0)]
    middle = 0.5 * (rotor.min(axis=0) + rotor.max(axis=0))
    assert np.allclose(middle[[0, 2]], [0.0, 0.5], atol=1e-12)  # the torso's frame is at z = 0.5
    radius = np.ptp(rotor[:, 0]) / 2
    assert rotor[:, 1].max() == pytest.approx(5.0 + radius, rel=0.02)


def carrying() -> lw.Mechanism:
    motor = lw.Motor(axis=(0, 0, 1), carrier="torso", joint="slide", mass=0.3, com=(0.4, 0, 0.2), rotor_inertia=(1e-4,) * 3)
    return tree().replace(motors=[motor])


def test_a_carried_rotor_has_a_bar_to_its_carrier_and_a_name() -> None:
    assert "rotor of slide" in words(draw(carrying()))
    scene = build(carrying())
    rotor, bar = [primitive for primitive in scene.primitives if primitive.role == "rotor"]
    assert rotor.link == bar.link == 0
    assert np.allclose(rotor.frame[:3, 3], [0.4, 0.0, 0.2])
    along = bar.frame[:3, 2] * bar.size[1] / 2
    ends = np.array([bar.frame[:3, 3] - along, bar.frame[:3, 3] + along])
    assert np.allclose(ends, [[0.0, 0.0, 0.0], [0.4, 0.0, 0.2]], atol=1e-12)
    assert "rotor" not in words(draw(tree()))


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("floating", [False, True])
def test_labels_stay_within_the_axes(side: float, floating: bool) -> None:
    out = np.eye(4)
    out[:3, 3] = 0.0, 0.3 * side, 0.0
    links = [lw.Link(name="torso", axis=(0, 1, 0), before=UP)]
    links += [lw.Link(name=f"a long name, {k}", axis=(0, 1, 0), before=out) for k in range(3)]
    mechanism = lw.Mechanism(links, floating=floating, name="arm")
    axes = draw(mechanism).axes[0]
    low, high = np.array([axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d()]).T
    ends = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
    outline = ConvexHull(labels.shown(axes, ends)).equations
    for text in axes.texts:
        beyond = (labels.corners(axes, text) @ outline[:, :2].T + outline[:, 2]).max()
        print(f"{text.get_text()}: {beyond:.1f} pixels from the outline")
        assert beyond < 1e-6  # rounding
