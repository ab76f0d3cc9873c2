import numpy as np
import pytest

from linkwise.model.tree import floating_base
from linkwise.plot.curves import Curves, joint_panels, manifold_panels, plot
from linkwise.plot.figure import colour, shortened, style
from linkwise.plot.rendering import rendered

pytestmark = pytest.mark.usefixtures("coarse")


BASE = [floating_base()]


def test_turning_and_sliding_joints_have_panels_of_their_own() -> None:
    values = np.arange(6.0).reshape(2, 3)
    panels = joint_panels("effort", np.arange(2.0), values, [False, True, False])
    assert [panel.unit for panel in panels] == ["N m", "N"]
    assert [list(panel.labels) for panel in panels] == [[0, 2], [1]]
    assert np.array_equal(panels[1].values[:, 0], values[:, 1])


def test_axes_have_units_and_one_time() -> None:
    t = np.linspace(0, 1, 5)
    rows = [joint_panels(title, t, np.ones((5, 2)), [False, False]) for title in ("position", "effort")]
    made = plot(rows, ["a", "b"], "both")
    assert [axis.get_ylabel() for axis in made.axes] == ["position\n[rad]", "effort\n[N m]"]
    assert made.axes[-1].get_xlabel() == "time [s]"
    assert made.axes[0].get_shared_x_axes().joined(*made.axes)


def test_every_one_of_26_curves_can_be_told_apart() -> None:
    assert len({(colour(k), style(k)) for k in range(26)}) == 26
    t = np.linspace(0, 1, 50)
    panel = Curves("force", "N", t, np.outer(np.sin(9 * t), np.arange(26)), range(26))
    made = plot([[panel]], [f"segment {k}" for k in range(26)], "many")
    assert [words.get_text() for words in made.legends[0].get_texts()] == [f"segment {k}" for k in range(26)]
    assert {line.get_color() for line in made.axes[0].lines[:26]} == {colour(k) for k in range(8)}


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_any_name_can_be_drawn_as_it_is(suffix: str) -> None:
    names = ["$x^2$", "_hidden", "$unclosed", "a & <b>", "日本"]
    panel = Curves("force", "N", np.arange(3.0), np.outer(np.arange(3.0), np.arange(5.0)), range(5))
    made = plot([[panel]], names, " ".join(names))
    assert [words.get_text() for words in made.legends[0].get_texts()] == names
    assert made.get_suptitle() == " ".join(names)
    assert len(rendered(made, suffix)) > 1000


def test_one_instant_and_rounding_make_no_warning() -> None:
    noise = 5.0 + np.array([[0.0], [1e-15], [-1e-15]])
    for values in (np.ones((1, 1)), noise, np.full((3, 1), np.nan)):
        panel = Curves("force", "N", np.arange(float(len(values))), values, [0])
        made = plot([[panel]], ["a"], "t")
        rendered(made, "png")
    low, high = plot([[Curves("force", "N", np.arange(3.0), noise, [0])]], ["a"], "t").axes[0].get_ylim()
    assert high - low > 1


def test_long_names_lose_their_middle() -> None:
    assert shortened("a" * 10 + "b" * 30 + "c" * 10) == "a" * 10 + "b…b" + "c" * 10
    assert shortened("short") == "short"


def test_curves_that_coincide_show_in_turn() -> None:
    t = np.linspace(0, 1, 50)
    values = np.stack([np.sin(t), np.cos(t), np.sin(t) + 1e-9, np.sin(t)], axis=1)
    axis = plot([[Curves("position", "rad", t, values, range(4))]], list("abcd"), "same").axes[0]
    shown = {line.get_color(): line.get_linestyle() for line in axis.lines[:4]}
    assert shown[colour(1)] == "-"
    assert sorted(shown[colour(k)] for k in (0, 2, 3)) == ["-", "--", "--"]
    stripes = {line._unscaled_dash_pattern[0] for line in axis.lines[:4]}
    assert len(stripes) == 3


def test_what_is_only_rounding_is_drawn_as_zero() -> None:
    t = np.linspace(0, 1, 50)
    noise = 1e-15 * np.sin(40 * t)[:, None]
    panels = [Curves("force", "N", t, noise, [0]), Curves("moment", "N m", t, 1e4 * noise, [0])]
    first, second = plot([panels], ["a"], "free").axes
    assert first.get_ylim() == (-1.0, 1.0)
    assert second.get_ylim()[1] < 1e-10


def test_a_floating_base_has_two_panels_for_each_quantity() -> None:
    t = np.arange(3.0)
    panels = manifold_panels("position", t, np.arange(21.0).reshape(3, 7), BASE, 4)
    assert [panel.title for panel in panels] == ["base position", "base orientation"]
    assert [panel.unit for panel in panels] == ["m", "quaternion"]
    assert [list(panel.labels) for panel in panels] == [
        [4, 5, 6],
        [7, 4, 5, 6],
    ]  # qw, the first of the quaternion, comes last
    assert np.array_equal(np.concatenate([panel.values for panel in panels], axis=1), np.arange(21.0).reshape(3, 7))
    assert [list(panel.labels) for panel in manifold_panels("effort", t, np.zeros((3, 6)), BASE, 0)] == [
        [0, 1, 2],
        [0, 1, 2],
    ]


def floating_rows(effort: float) -> list[list[Curves]]:
    t = np.linspace(0, 1, 20)
    wave = np.sin(t)[:, None] * np.arange(1.0, 8.0)
    made = []
    for title, k, scale in (("position", 7, 1.0), ("velocity", 6, 1.0), ("effort", 6, effort)):
        made.append(
            manifold_panels(title, t, wave[:, :k] * scale, BASE, 1) + joint_panels(title, t, wave[:, :1] * scale, [False])
        )
    return made


def legends(made: object) -> list[list[str]]:
    found = [*made.legends, *(axis.get_legend() for axis in made.axes)]  # type: ignore[attr-defined]
    return [[words.get_text() for words in one.get_texts()] for one in found if one]


def test_base_and_orientation_have_legends_of_their_own() -> None:
    made = plot(floating_rows(1.0), ["arm", "base x", "base y", "base z", "base w"], "free")
    assert legends(made) == [["arm"], ["base x", "base y", "base z"], ["qw", "qx", "qy", "qz"]]
    turned = made.axes[1]
    shown = dict(zip(legends(made)[2], [line.get_color() for line in turned.get_legend().get_lines()], strict=True))
    first = {line.get_color(): line.get_ydata()[-1] / np.sin(1.0) for line in turned.lines[:4]}
    assert [round(first[shown[name]]) for name in ("qw", "qx", "qy", "qz")] == [4, 5, 6, 7]
    rendered(made, "png")


def test_efforts_that_are_zero_are_left_out_where_the_base_floats() -> None:
    made = plot(floating_rows(0.0), ["arm", *"xyzw"], "free")
    assert len(made.axes) == 6
    assert [axis.get_xlabel() for axis in made.axes] == [""] * 3 + ["time [s]"] * 3
    rows = floating_rows(0.0)
    rows[2][2] = floating_rows(1.0)[2][2]
    made = plot(rows, ["arm", *"xyzw"], "free")
    assert [axis.axison for axis in made.axes[6:]] == [False, False, True]
    assert made.axes[6].texts[0].get_text() == "force on base: zero"
    assert [axis.get_xlabel() for axis in made.axes[3:]] == ["time [s]", "time [s]", "", "", "", "time [s]"]
    still = joint_panels("effort", np.arange(3.0), np.zeros((3, 1)), [False])
    assert len(plot([still, still], ["a"], "held").axes) == 2
