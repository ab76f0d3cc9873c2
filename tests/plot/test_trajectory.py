import sys

import numpy as np
import pytest

from linkwise.errors import ArgumentError, MissingExtraError
from linkwise.plot.rendering import rendered
from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.transform import transform
from linkwise.trajectory import Trajectory, cartesian, cartesian_through, quintic
from support.messages import unnamed


def labels(made: object) -> list[str]:
    return [axis.get_ylabel().replace("\n", " ") for axis in made.axes if axis.axison]


def test_panels_and_units() -> None:
    move = quintic([0.0, 0.0], [1.0, 0.5], 2.0, names=["swing", "lift"])
    assert labels(move.plot()) == ["position [rad]", "velocity [rad/s]", "acceleration [rad/s²]"]
    sliding = Trajectory(
        move.t,
        move.q,
        move.qd,
        move.qdd,
        tau=move.qdd,
        kinetic=move.t,
        potential=-move.t,
        names=move.names,
        is_length=(False, True),
    )
    made = sliding.plot("both")
    assert labels(made) == [
        *("position [rad]", "position [m]", "velocity [rad/s]", "velocity [m/s]"),
        *("acceleration [rad/s²]", "acceleration [m/s²]"),
        *("effort [N m]", "effort [N]", "energy [J]"),
    ]
    words = [text.get_text() for text in made.legends[0].get_texts()]
    assert words == ["swing", "lift"]
    words = [text.get_text() for text in made.axes[-1].get_legend().get_texts()]
    assert words == ["kinetic energy", "potential energy", "total energy"]
    assert np.array_equal(made.axes[1].lines[0].get_ydata(), move.q[:, 1])
    assert made.axes[-1].get_xlabel() == "time [s]"
    assert len(rendered(made, "png")) > 10000


def test_a_floating_base_stands_beside_the_joints() -> None:
    count = 12
    q, qd = np.zeros((count, 9)), np.ones((count, 8))
    q[:, 3] = 1.0
    made = Trajectory(np.arange(count), q, qd, qd, tau=qd, kinetic=np.arange(count)).plot()
    found = labels(made)
    assert found[:3] == ["base position [m]", "base orientation [quaternion]", "position [rad]"]
    assert found[9:] == ["force on base [N]", "moment on base [N m]", "effort [N m]", "energy [J]"]
    assert [axis.get_xlabel() for axis in made.axes[9:13]] == ["", "time [s]", "time [s]", "time [s]"]
    assert len(rendered(made, "svg")) > 10000


def test_a_frame() -> None:
    half = transform(rotation_z(3.0), [1.0, 2.0, 3.0])
    further = transform(rotation_z(3.0) @ rotation_x(3.0), None)
    made = cartesian_through([np.eye(4), half, further], [0.0, 1.0, 2.0]).plot("a frame")
    assert labels(made) == [
        *("position [m]", "orientation [quaternion]", "velocity [m/s]", "angular velocity [rad/s]"),
        *("acceleration [m/s²]", "angular acceleration [rad/s²]"),
    ]
    for line in made.axes[1].lines[:4]:
        assert np.abs(np.diff(line.get_ydata())).max() < 0.1  # 3 rad in 1 s, 0.02 s a step: no jump from q to -q
    assert len(rendered(made, "png")) > 10000


def test_a_long_record_is_thinned_and_keeps_its_peaks() -> None:
    t = np.linspace(0, 1, 50001)
    q = np.sin(10 * t)[:, None]
    q[12345] = 9.0
    made = Trajectory(t, q, q, q).plot()
    drawn = made.axes[0].lines[0].get_ydata()
    assert drawn.size < 5000
    assert drawn.max() == 9.0


def test_a_batch_is_not_one_picture() -> None:
    with pytest.raises(ArgumentError) as caught:
        Trajectory([0.0, 1.0], *np.zeros((3, 4, 2, 1))).plot()
    assert (
        unnamed(caught.value, "a batch of shape (4,) is not drawn in one picture; draw one motion: member(0).plot()") == []
    )
    many = cartesian(np.stack([np.eye(4)] * 2), np.eye(4), 1.0)
    with pytest.raises(ArgumentError, match=r"draw one motion: member\(0\).plot\(\)"):
        many.plot()
    assert len(many.member(1).plot().axes) == 6


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r'pip install "matplotlib>=3.8"'):
        quintic([0.0], [1.0], 1.0).plot()
