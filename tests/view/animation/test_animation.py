"""Moving pictures: as many as the motion lasts, each where forward kinematics says, whole files or none."""

import base64
import io
import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import linkwise as lw
from linkwise.errors import ArgumentError, LinkwiseError, MissingExtraError
from linkwise.loops import Linkage
from linkwise.view import Animation, animate
from linkwise.view.animation.animation import Moving, durations, ffmpeg, instants, mp4
from linkwise.view.motion import ShownMotion, trajectory_of
from linkwise.view.scene.layout import lay_out
from support.walking_machine import person


@pytest.fixture(scope="module")
def arm() -> lw.Mechanism:
    return lw.robots.load("planar_2r")


@pytest.fixture(scope="module")
def motion() -> lw.Trajectory:
    return lw.trajectory.quintic([0.0, 0.3], [1.0, -0.5], 0.5)


def shown(data: bytes) -> tuple[list[int], list[np.ndarray]]:
    """How long each picture of a GIF stays, ms, and the pictures."""
    with Image.open(io.BytesIO(data)) as film:
        frames = []
        for k in range(film.n_frames):
            film.seek(k)
            frames.append((int(film.info["duration"]), np.asarray(film.convert("RGB"))))
    return [duration for duration, _ in frames], [picture for _, picture in frames]


def test_a_gif_lasts_as_long_as_the_motion(arm: lw.Mechanism, motion: lw.Trajectory, tmp_path: Path) -> None:
    made = animate(arm, motion, tmp_path / "arm.gif", rate=20, width=160)
    durations, pictures = shown((tmp_path / "arm.gif").read_bytes())
    assert len(pictures) == len(made.times) == 11
    assert durations == [50] * 11
    assert np.allclose(made.times, np.linspace(0, 0.5, 11), rtol=1e-15)
    assert pictures[0].shape == (made.size[1], made.size[0], 3)
    assert made.size[0] == 160
    assert all(np.any(one != other) for one, other in pairwise(pictures))


@pytest.mark.parametrize(("rate", "speed", "count"), [(30.0, 1.0, 16), (20.0, 2.0, 6), (20.0, 0.5, 21), (7.0, 1.0, 5)])
def test_rate_and_speed(motion: lw.Trajectory, rate: float, speed: float, count: int) -> None:
    times, stays = instants(motion, rate, speed), durations(count, rate)
    assert len(times) == count
    assert abs(sum(stays) - 1000 * count / rate) <= 5.0  # to the half of what a GIF counts in
    assert times[-1] == 0.5
    assert np.allclose(np.diff(times)[:-1], speed / rate, rtol=1e-12)


def test_rate_and_speed_are_those_of_the_file(arm: lw.Mechanism, motion: lw.Trajectory) -> None:
    made = animate(arm, motion, rate=7.0, speed=0.9, width=120, trace=False)
    assert shown(made.data)[0] == durations(5, 7.0)
    assert np.array_equal(made.times, instants(motion, 7.0, 0.9))


def test_a_motion_may_be_given_in_any_shape(arm: lw.Mechanism, motion: lw.Trajectory, tmp_path: Path) -> None:
    """A file, arrays, a motion with its efforts: the same movement."""
    path = tmp_path / "moves.npz"
    motion.save(path)
    for given in (motion, str(path), path, (motion.t, motion.q, motion.qd, motion.qdd), ShownMotion.of(arm, motion)):
        moves = trajectory_of(arm, given)
        assert all(np.array_equal(getattr(moves, name), getattr(motion, name)) for name in ("t", "q", "qd", "qdd"))
    look = {"rate": 2, "width": 120}
    assert arm.animate(path, **look).data == animate(arm, motion, **look).data
    with pytest.raises(ArgumentError, match="motion is 3"):
        animate(arm, 3)  # type: ignore[arg-type]


def test_the_picture_is_nearly_that_without_a_palette(arm: lw.Mechanism, motion: lw.Trajectory) -> None:
    made = animate(arm, motion, rate=4, width=160)
    moving = Moving(arm, motion.at(made.times)[0], arm.forward_kinematics(motion.at(made.times)[0])[:, :3, 3], width=160)
    moving.show(2, "t = 0.50 s")
    wanted = moving.pixels().astype(float)
    _, pictures = shown(made.data)
    assert np.abs(pictures[2] - wanted).mean() < 2.0  # of 255: 128 colours chosen for these pictures
    assert (pictures[2] == 255).all(axis=2).mean() > 0.5  # white stays white


def test_what_moves_stands_where_forward_kinematics_says() -> None:
    puma = lw.robots.load("puma560")
    q = np.linspace(0, 1, 5)[:, None] * [0.4, -0.8, 0.4, 0.2, 0.5, 0.1]
    path = puma.forward_kinematics(q)[:, :3, 3]
    picture = Moving(puma, q, path, width=160)
    for k in (0, 3, 4):
        picture.show(k)
        picture.pixels()
        tool = [line for line in picture.painter.moving if line.get_marker() == "o"]
        assert np.allclose(np.ravel(tool[-1].get_data_3d()), path[k], atol=1e-15)
        assert np.array_equal(np.array(picture.trace[0].get_data_3d()).T, path[: k + 1])
        corners, size = np.asarray(picture.painter.solids._faces).reshape(-1, 3), lay_out(puma, q[k]).size
        for frame in puma.link_poses(q[k]):
            assert np.linalg.norm(corners - frame[:3, 3], axis=1).min() < 0.035 * size


def test_what_stands_still_and_what_moves_make_the_whole_picture(arm: lw.Mechanism, motion: lw.Trajectory) -> None:
    """A picture drawn piece by piece is that drawn at once, but for the blending of smooth edges."""
    picture = Moving(arm, motion.q, width=200)
    for k in (0, 1):
        picture.show(k)
        quick = picture.pixels().astype(float)
    for artist in picture.moved:
        artist.set_animated(False)
    picture.canvas.draw()
    whole = np.asarray(picture.canvas.buffer_rgba())[:, :, :3].astype(float)
    assert np.abs(quick - whole).mean() < 0.05


def test_closed_loops_are_drawn_closed() -> None:
    bars = lw.robots.load("four_bar")
    turn = Linkage(bars).trace(np.linspace(0, 1.0, 5))
    assert turn.success.all()
    picture = Moving(bars, turn.q, width=120)
    for k in range(5):
        picture.show(k)
        assert not [line for line in picture.painter.moving if line.get_linestyle() == "--" and line.get_visible()]
    open_loop = Moving(bars, np.array([[0.5, 0.0, 0.0]]), width=120)
    open_loop.show(0)
    assert [line for line in open_loop.painter.moving if line.get_linestyle() == "--" and line.get_visible()]


@pytest.mark.parametrize("floating", [False, True])
def test_many_joints_and_a_floating_base(floating: bool) -> None:
    walker = person(floating=floating)
    q = np.stack([walker.neutral, walker.neutral])
    q[1, -walker.n :] = 0.3
    if floating:
        q[1, :3] = 0.5, 0.0, 0.1
    picture = Moving(walker, q, width=160)
    picture.show(0)
    first = picture.pixels()
    picture.show(1)
    assert np.any(first != picture.pixels())


def test_a_notebook_plays_it(arm: lw.Mechanism, motion: lw.Trajectory, tmp_path: Path) -> None:
    made = animate(arm, motion, rate=4, width=120)
    said = made._repr_html_()
    found = re.fullmatch(r'<img width="120" height="\d+" alt="planar_2r in motion" src="data:image/gif;base64,(.*)">', said)
    assert found
    assert base64.b64decode(found[1]) == made.data
    assert repr(made).startswith("<Animation GIF: 3 frames of 120 x ")
    made.save(tmp_path / "again.gif")
    assert (tmp_path / "again.gif").read_bytes() == made.data
    with pytest.raises(ArgumentError, match=r"ends in \.gif"):
        made.save(tmp_path / "again.mp4")


def test_a_name_cannot_break_out_of_the_page() -> None:
    assert "<script" not in Animation(b"", ".gif", np.zeros(1), 1.0, (1, 1), '"><script>')._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 60.0}, "0.01 to 50 frames per second"),
        ({"rate": 0.0}, "rate is 0.0"),
        ({"speed": -1.0}, "speed is -1.0"),
        ({"speed": 1e-4}, r"needs 100,001 frames; expected at most 2,000: play it faster, speed=0\.0051"),
        ({"speed": 1e-320}, r"expected at most 2,000: play it faster, speed=0\.0051"),
        ({"width": 20}, "120 to 1920"),
        ({"path": "arm.avi"}, r"'\.gif' or '\.mp4'"),
        ({"width": 1920, "speed": 0.006}, r"expected width=\d+ or less"),
    ],
)
def test_what_is_refused(arm: lw.Mechanism, motion: lw.Trajectory, options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        animate(arm, motion, **options)  # type: ignore[arg-type]


def test_a_motion_of_another_mechanism_is_refused(motion: lw.Trajectory) -> None:
    with pytest.raises(ArgumentError, match="'puma560' has 6 joints; the trajectory has 2"):
        animate(lw.robots.load("puma560"), motion)


def test_a_file_is_whole_or_as_it_was(
    arm: lw.Mechanism, motion: lw.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arm.gif"
    path.write_bytes(b"before")

    def fails(_: Moving) -> np.ndarray:
        raise RuntimeError("half way")

    monkeypatch.setattr(Moving, "pixels", fails)
    with pytest.raises(RuntimeError):
        animate(arm, motion, path, width=120)
    assert path.read_bytes() == b"before"
    assert [item.name for item in tmp_path.iterdir()] == ["arm.gif"]


def test_an_mp4_without_ffmpeg_names_the_extra(
    arm: lw.Mechanism, motion: lw.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MissingExtraError, match="imageio-ffmpeg"):
        animate(arm, motion, tmp_path / "arm.mp4")
    assert not list(tmp_path.iterdir())


def test_an_mp4_is_made_where_ffmpeg_is(arm: lw.Mechanism, motion: lw.Trajectory, tmp_path: Path) -> None:
    try:
        ffmpeg()
    except MissingExtraError:
        pytest.skip("no ffmpeg here")
    made = animate(arm, motion, tmp_path / "arm.mp4", rate=20, width=121)
    data = (tmp_path / "arm.mp4").read_bytes()
    assert data[4:8] == b"ftyp"
    assert made.size[0] % 2 == made.size[1] % 2 == 0
    assert made._repr_html_().startswith("<video ")
    with pytest.raises(LinkwiseError, match="ffmpeg wrote no video"):
        mp4(iter([np.zeros((3, 3, 3), dtype=np.uint8)]), 20.0)  # odd sizes have no H.264
    with pytest.raises(LinkwiseError, match="given no picture"):
        mp4(iter([]), 20.0)
