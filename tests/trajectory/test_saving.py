import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import files
from linkwise.control import Recording
from linkwise.errors import ArgumentError, FileError
from linkwise.model.tree import BASE_EFFORTS
from linkwise.trajectory import CartesianTrajectory, Event, Trajectory, cartesian, quintic
from linkwise.trajectory.trajectory import EVENT_SIZE
from support.messages import unnamed

from .conftest import random_poses

RNG = np.random.default_rng(19)
T = np.linspace(0.0, 1.0, 5)


def full(*batch: int) -> Trajectory:
    q, qd, qdd, tau = RNG.normal(size=(4, *batch, 5, 3))
    energy = RNG.normal(size=(*batch, 5))
    events = [
        Event(f"floor{k}", 0.25 * k, q[(*place, 1)], qd[(*place, 1)], place) for k, place in enumerate(np.ndindex(*batch))
    ]
    poses = RNG.normal(size=(*batch, 5, 4, 4))
    more = {"names": ("a", "b", "c"), "is_length": (True, False, False), "events": events, "poses": poses}
    return Trajectory(T, q, qd, qdd, tau, kinetic=energy, potential=energy / 3, **more)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_npz_holds_everything_to_the_bit(tmp_path: Path, batch: tuple[int, ...]) -> None:
    saved = full(*batch)
    saved.save(tmp_path / "a.npz")
    read = Trajectory.load(tmp_path / "a.npz")
    for field in ("t", "q", "qd", "qdd", "tau", "kinetic", "potential", "poses"):
        assert np.array_equal(getattr(read, field), getattr(saved, field)), field
    assert (read.names, read.is_length) == (saved.names, saved.is_length)
    assert len(read.events) == len(saved.events)
    for a, b in zip(read.events, saved.events, strict=True):
        assert (a.name, a.time, a.member) == (b.name, b.time, b.member)
        assert np.array_equal(a.q, b.q)
        assert np.array_equal(a.qd, b.qd)


def test_npz_of_the_bare_motion_has_no_more(tmp_path: Path) -> None:
    quintic([0.0], [1.0], 1.0).save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as held:
        assert sorted(held.files) == ["is_length", "names", "q", "qd", "qdd", "t"]
    assert Trajectory.load(tmp_path / "a.npz").tau is None


def test_csv_is_read_by_everything_that_reads_motions(tmp_path: Path) -> None:
    saved = full()
    saved.save(tmp_path / "a.csv")
    read = files.open_motion(tmp_path / "a.csv", 3, saved.names).read()
    assert all(np.array_equal(a, b) for a, b in zip(read, (saved.t, saved.q, saved.qd, saved.qdd), strict=True))
    header, *rows = (tmp_path / "a.csv").read_text().splitlines()
    assert header.endswith("qdd_c,tau_a,tau_b,tau_c,kinetic_energy,potential_energy")
    values = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    assert np.array_equal(values[:, 10:13], saved.tau)
    assert np.array_equal(values[:, 13], saved.kinetic)


def test_csv_without_names_is_numbered(tmp_path: Path) -> None:
    move = quintic([0.0, 0.0], [1.0, 1.0], 1.0, samples=3).with_records(tau=np.ones((3, 2)))
    move.save(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2"
    assert np.array_equal(files.open_motion(tmp_path / "a.csv", 2).read()[1], move.q)


def test_mot(tmp_path: Path) -> None:
    move = quintic([0.0, 0.0], [1.0, 1.0], np.arange(11) * 0.1)
    move.save(tmp_path / "a.MOT")
    read = files.open_motion(tmp_path / "a.MOT", 2).read()
    assert all(np.array_equal(a, b) for a, b in zip(read, (move.t, move.q, move.qd, move.qdd), strict=True))


def test_motion_of_a_frame(tmp_path: Path) -> None:
    move = cartesian(np.eye(4), np.eye(4), 1.0)
    move.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as held:
        assert sorted(held.files) == ["acceleration", "poses", "t", "twist"]
        assert np.array_equal(held["poses"], move.poses)
    with pytest.raises(FileError, match=r"'\.csv'.*'\.npz'"):
        move.save(tmp_path / "a.csv")


def test_motion_of_a_frame_is_read_again(tmp_path: Path) -> None:
    """Poses, twists and accelerations to the bit; between them with an error of the sixth power of the interval."""
    poses, fine = random_poses(np.random.default_rng(4), 3, 2, most=1.5), np.linspace(0.0, 1.0, 401)
    errors = []
    for count in (11, 21, 41):
        move = cartesian(poses[:, 0], poses[:, 1], 1.0, samples=count)
        move.save(tmp_path / "a.npz")
        read = CartesianTrajectory.load(tmp_path / "a.npz")
        for field in ("t", "poses", "twist", "acceleration"):
            assert np.array_equal(getattr(read, field), getattr(move, field))
        assert (read.batch, repr(read)) == (move.batch, repr(move))
        errors.append([np.abs(x - y).max() for x, y in zip(read.at(fine), move.at(fine), strict=True)])
        for x, y in zip(read.at(move.t), move.at(move.t), strict=True):
            assert np.abs(x - y).max() < 1e-13  # the numbers are below 20, and go by way of quaternions
        assert all(np.array_equal(x[1], y) for x, y in zip(read.at(fine), read.member(1).at(fine), strict=True))
    print([[f"{error:.1e}" for error in row] for row in errors])
    for k in range(3):  # one power less for each derivative
        assert errors[0][k] / errors[2][k] > 0.6 * 4.0 ** (6 - k)


def test_what_is_no_motion_of_a_frame(tmp_path: Path) -> None:
    quintic([0.0], [1.0], 1.0).save(tmp_path / "a.npz")
    with pytest.raises(FileError, match=r"'poses'.*'twist'.*'acceleration'"):
        CartesianTrajectory.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", t=[0.0, 1.0], poses=np.zeros((2, 4, 4)), twist=np.zeros((3, 6)), acceleration=np.zeros(6))
    with pytest.raises(FileError, match=r"\(2, 4, 4\).*\(3, 6\).*\(6,\)"):
        CartesianTrajectory.load(tmp_path / "b.npz")


@pytest.mark.parametrize("names", [("arm", "hand"), ()])
def test_csv_of_a_floating_base(tmp_path: Path, names: tuple[str, ...]) -> None:
    q, qd, qdd, tau = RNG.normal(size=(5, 9)), *RNG.normal(size=(3, 5, 8))
    q[:4, 3:7] /= np.linalg.norm(q[:4, 3:7], axis=1, keepdims=True)  # the last one is of another length
    Trajectory(T, q, qd, qdd, tau, names=names).save(tmp_path / "a.csv")
    t, *read = files.open_motion(tmp_path / "a.csv", 2, names, floating=True).read()
    assert np.array_equal(t, T)
    assert all(np.array_equal(a, b) for a, b in zip(read[1:], (qd, qdd), strict=True))
    assert np.array_equal(read[0][:4], q[:4])
    off = np.abs(read[0][4, 3:7] - q[4, 3:7] / np.linalg.norm(q[4, 3:7])).max()
    print(off)
    assert off < 5e-16  # two roundings of numbers below 1
    header, *rows = (tmp_path / "a.csv").read_text().splitlines()
    joints = ("tau_arm", "tau_hand") if names else ("tau1", "tau2")
    assert header.split(",")[-8:] == [*(f"tau_{name}" for name in BASE_EFFORTS), *joints]
    assert np.array_equal([[float(cell) for cell in row.split(",")[-8:]] for row in rows], tau)


def floating() -> Trajectory:
    return Trajectory([0.0, 1.0], np.ones((2, 7)), np.ones((2, 6)), np.ones((2, 6)))


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (full, "a.txt", "cannot tell the format from the suffix '.txt'; expected '.npz', '.csv' or '.mot'"),
        (full, "a", "cannot tell the format from the suffix ''; expected '.npz', '.csv' or '.mot'"),
        (
            lambda: full(2),
            "a.csv",
            "a .csv file holds one motion, not a batch of shape (2,); save as .npz, or one member(...) of it",
        ),
        (floating, "a.mot", "a .mot file holds the motion of joints, not of a floating base; save as .csv or .npz"),
        (
            lambda: Trajectory([0.0], *np.full((3, 1, 1), np.nan)),
            "a.csv",
            "a .csv file holds finite numbers only; save as .npz, or until(...) the last of them",
        ),
        (
            lambda: quintic([0.0], [1.0], [0.0, 0.1, 0.3]),
            "a.mot",
            "a .MOT file holds times 0, dt, 2 dt, ...; save as .csv, which holds any times",
        ),
    ],
)
def test_what_a_file_cannot_hold(tmp_path: Path, make: object, name: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        make().save(tmp_path / name)
    assert unnamed(caught.value, f"{tmp_path / name}: {message}") == []
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["npz", "csv", "mot"])
def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("before")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        quintic([0.0], [1.0], np.arange(3) * 0.5).save(path)
    assert path.read_text() == "before"
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    move = quintic([0.0], [1.0], 1.0)
    with pytest.raises(FileError, match=r"there is no folder '.*nowhere' to write it in"):
        move.save(tmp_path / "nowhere" / "a.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(FileError, match="this is a folder, not a file"):
        move.save(tmp_path / "folder.npz")


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    move = quintic([0.0], [1.0], 1.0)
    (tmp_path / "loop.npz").symlink_to(tmp_path / "loop.npz")
    for name in ("loop.npz", "zero\0byte.npz", "x" * 5000 + ".npz"):
        with pytest.raises(FileError) as caught:
            move.save(tmp_path / name)
        assert caught.value.path == tmp_path / name
    assert [path.name for path in tmp_path.iterdir()] == ["loop.npz"]


def test_permissions_are_the_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    quintic([0.0], [1.0], 1.0).save(tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_files_that_are_no_trajectories(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for content, message in (
        (None, "there is no such file"),
        (b"no archive", "this is not an .npz file of arrays, or it is damaged"),
        (b"", "this is not an .npz file of arrays, or it is damaged"),
        (b"PK\x03\x04 damaged", "this is not an .npz file of arrays, or it is damaged"),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(FileError) as caught:
            Trajectory.load(path)
        assert unnamed(caught.value, f"{path}: {message}") == []
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(FileError, match=r"this is one array, not an \.npz file"):
        Trajectory.load(path)
    np.savez(path, t=T)
    with pytest.raises(FileError, match="there is no array 'q', 'qd' or 'qdd' in it"):
        Trajectory.load(path)
    np.savez(path, t=T, q=np.zeros((4, 1)), qd=np.zeros((5, 1)), qdd=np.zeros((5, 1)))
    with pytest.raises(FileError, match=r"\(4, 1\).*\(5, 1\).*\(5, 1\)"):
        Trajectory.load(path)


def test_objects_in_a_file_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, t=np.array([object()]), allow_pickle=True)
    with pytest.raises(FileError, match="t has the header"):
        Trajectory.load(path)


def test_what_is_saved_can_be_run(tmp_path: Path) -> None:
    puma = lw.robots.puma560()
    move = quintic(np.zeros(6), np.full(6, 0.5), 1.0, names=puma.names)
    move.save(tmp_path / "a.csv")
    _, q, qd, qdd = files.open_motion(tmp_path / "a.csv", 6, puma.names).read()
    assert np.array_equal(puma.inverse_dynamics(q, qd, qdd), puma.inverse_dynamics(move.q, move.qd, move.qdd))


@pytest.mark.parametrize("max_bytes", [0, -1, float("nan"), 2.5, "1", True, [5]], ids=repr)
def test_a_limit_is_a_positive_whole_number(tmp_path: Path, max_bytes: Any) -> None:
    for load in (Trajectory.load, CartesianTrajectory.load, Recording.load):
        for name in ("a.npz", "a.csv"):  # (no file is looked for: there is none)
            if name == "a.npz" or load == Recording.load:
                with pytest.raises(ArgumentError, match="max_bytes is"):
                    load(tmp_path / name, max_bytes=max_bytes)


def test_the_limit_holds_for_events_and_is_the_one_told(tmp_path: Path) -> None:
    zero = np.zeros(1)
    move = full()
    events = [Event("end", 0.5, zero, zero, ())] * 8
    Trajectory(move.t, zero[:, None].repeat(len(move.t), 0), *[np.zeros((len(move.t), 1))] * 2, events=tuple(events)).save(
        tmp_path / "a.npz"
    )
    enough = 8 * EVENT_SIZE
    assert len(Trajectory.load(tmp_path / "a.npz", max_bytes=np.int64(enough)).events) == 8
    with pytest.raises(FileError, match=r"8.*events.*7"):
        Trajectory.load(tmp_path / "a.npz", max_bytes=enough - 1)
