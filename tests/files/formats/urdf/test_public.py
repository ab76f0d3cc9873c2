"""Robots that others have published (the package example-robot-data, for tests only), as we and as Pinocchio read them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest

from linkwise.errors import FileError
from linkwise.files import Description, check, read, save
from support.random_mechanisms import direct, random_state, relative

BOUND = 1e-13
"""Relative: the longest of these trees add up some tens of roundings along a branch, and over up to 50 joints."""

READ = (
    "a1_description/urdf/a1.urdf",
    "alex_description/urdf/alex_sake_hands.urdf",
    "asr_twodof_description/urdf/TwoDofs.urdf",
    "baxter_description/urdf/baxter.urdf",
    "bolt_description/robots/bolt.urdf",
    "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "centauro_description/urdf/centauro.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "go2_description/urdf/go2.urdf",
    "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "human_description/robots/human.urdf",
    "icub_description/robots/icub.urdf",
    "iris_description/robots/iris.urdf",
    "kinova_description/robots/kinova.urdf",
    "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf",
    "romeo_description/urdf/romeo.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "so_arm_description/urdf/so101.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "z1_description/urdf/z1.urdf",
)
"""Read as they are."""

TRIANGLE = "principal moments in which none exceeds the sum of the other two (triangle inequality)"
POSITIVE = "principal moments >= 0 (positive semidefinite)"
HINT = "reading with physical=False accepts it"

IMPOSSIBLE = {
    "allegro_hand_description/urdf/allegro_right_hand.urdf": (143, "link_3.0", TRIANGLE, 4),
    "anymal_c_simple_description/urdf/anymal.urdf": (203, "depth_camera_front_camera", TRIANGLE, 5),
    "hyq_description/robots/hyq_no_sensors.urdf": (84, "base_link", TRIANGLE, 5),
    "pr2_description/urdf/pr2.urdf": (786, "sensor_mount_link", TRIANGLE, 2),
    "tiago_description/robots/tiago.urdf": (179, "base_antenna_left_link", POSITIVE, 2),
}
"""Refused for inertias that no body can have: the first of them and their number; read with ``physical=False``."""

MIMICS = {"Left": (1037, 1103, 1170, 1235), "Right": (1413, 1478, 1541, 1606)}
BROKEN = {
    "ur_description/urdf/ur3.urdf": ["line 6: there is no <link>; expected one or more"],
    "alex_description/urdf/alex_psyonic_hands.urdf": [
        f"line {line}: joint '{side}_{finger}_q2': it mimics '{finger}_q1', but there is no such joint; "
        f"is '{side}_{finger}_q1' meant?; with drop_unknown=True it moves by itself"
        for side, lines in MIMICS.items()
        for finger, line in zip(("index", "middle", "ring", "pinky"), lines, strict=True)
    ],
}
"""Cannot be read: the one is empty, the other mimics joints that it has under another name."""


def path_of(robot: str) -> Path:
    return Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))) / robot


@cache
def description(robot: str) -> Description:
    return read(path_of(robot), physical=robot in READ)


@pytest.fixture(params=[*READ, *IMPOSSIBLE], ids=lambda robot: Path(robot).stem)
def robot(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_moves_as_pinocchio_says(robot: str) -> None:
    from support.pinocchio_from_urdf import UrdfTwin

    mech = description(robot).mechanism.without_friction()
    twin = UrdfTwin(path_of(robot).read_text(), mech)
    theirs, ours = set(twin.links()), set(mech.link_names)
    assert theirs - ours <= {"base"}
    assert ours - theirs in ({"base_link"}, {"base_frame"}, set())
    names = {name: name for name in theirs & ours} | dict(zip(theirs - ours, ours - theirs, strict=False))
    for seed in range(3):
        q, qd, qdd = random_state(mech, seed)
        found, wanted = direct(mech, "link_poses", q), twin.poses(q)
        for there, here in names.items():
            assert np.abs(found[mech.link_index(here)] - wanted[there]).max() < BOUND
        assert relative(direct(mech, "mass_matrix", q), twin.mass_matrix(q)) < BOUND
        assert relative(direct(mech, "inverse_dynamics", q, qd, qdd), twin.inverse_dynamics(q, qd, qdd)) < BOUND
        for there in sorted(names)[:: max(1, len(names) // 4)]:
            difference = direct(mech, "jacobian", q, link=names[there]) - twin.jacobian(q, there)
            assert np.abs(difference).max() < BOUND


@pytest.mark.parametrize(
    "name",
    [
        "a1_description/urdf/a1.urdf",  # (its root, called base, has no mass)
        "bolt_description/robots/bolt.urdf",
        "hyq_description/robots/hyq_no_sensors.urdf",
        "iris_description/robots/iris.urdf",
        "talos_data/robots/talos_full_v2.urdf",
    ],
    ids=lambda name: Path(name).stem,
)
def test_afloat_it_moves_as_pinocchio_says(name: str) -> None:
    """Walkers and flyers, whose files say nothing of it: the root as the free body."""
    from support.pinocchio_from_urdf import UrdfTwin

    mech = description(name).mechanism.without_friction().replace(floating=True)
    twin = UrdfTwin(path_of(name).read_text(), mech, free=True)
    q, qd, qdd = random_state(mech)
    found, wanted = direct(mech, "link_poses", q), twin.poses(q)
    for link in set(mech.link_names) & set(wanted):
        assert np.abs(found[mech.link_index(link)] - wanted[link]).max() < BOUND * np.abs(found).max()
    assert relative(direct(mech, "mass_matrix", q), twin.mass_matrix(q)) < BOUND
    assert relative(direct(mech, "inverse_dynamics", q, qd, qdd), twin.inverse_dynamics(q, qd, qdd)) < BOUND


def test_it_is_the_same_when_it_was_written(robot: str, tmp_path: Path) -> None:
    """Written, read and written again: names, limits and shapes exactly, the motion to rounding."""
    first = description(robot)
    save(first.mechanism, tmp_path / "a.urdf", shapes=first.shapes, allow_loss=True)
    second = read(tmp_path / "a.urdf", physical=False)
    mech, other = first.mechanism, second.mechanism
    assert (other.names, other.link_names, other.name) == (mech.names, mech.link_names, mech.name)
    assert np.array_equal(np.column_stack([other.q_min, other.q_max]), np.column_stack([mech.q_min, mech.q_max]))
    assert [link.motor for link in other.links] == [link.motor for link in mech.links]
    fields = ("link", "kind", "size", "role", "filename", "colour", "name", "material")  # (the origin only to rounding)
    looks = [sorted(str([getattr(shape, name) for name in fields]) for shape in d.shapes) for d in (first, second)]
    assert looks[0] == looks[1]
    q, qd, qdd = random_state(mech)
    assert relative(direct(other, "link_poses", q), direct(mech, "link_poses", q)) < BOUND
    assert relative(direct(other, "mass_matrix", q), direct(mech, "mass_matrix", q)) < BOUND
    assert relative(direct(other, "inverse_dynamics", q, qd, qdd), direct(mech, "inverse_dynamics", q, qd, qdd)) < BOUND


def test_compiled_it_gives_the_same() -> None:
    """The kernels themselves, for one of them that has a mimic, links without mass and turned inertias."""
    from support.pinocchio_from_urdf import UrdfTwin

    mech = description("panda_description/urdf/panda.urdf").mechanism.without_friction()
    twin = UrdfTwin(path_of("panda_description/urdf/panda.urdf").read_text(), mech)
    q, qd, qdd = random_state(mech)
    assert relative(mech.inverse_dynamics(q, qd, qdd), twin.inverse_dynamics(q, qd, qdd)) < BOUND
    assert relative(mech.link_poses(q)[-1], twin.poses(q)[mech.link_names[-1]]) < BOUND


@pytest.mark.parametrize(("name", "expected"), IMPOSSIBLE.items(), ids=lambda value: Path(str(value)).stem[:20])
def test_impossible_inertias_are_told(name: str, expected: tuple[int, str, str, int]) -> None:
    line, link, law, count = expected
    problems = check(path_of(name))
    assert len(problems) == count
    assert (problems[0].line, problems[0].message.partition(" is [")[0]) == (line, f"link {link!r}: inertia")
    assert problems[0].message.endswith(f"; expected {law}; {HINT}")
    bodies = [link.body.physical for link in description(name).mechanism.links]
    assert bodies.count(False) == count


@pytest.mark.parametrize("name", BROKEN, ids=lambda name: Path(name).stem)
def test_what_cannot_be_read_is_told(name: str) -> None:
    with pytest.raises(FileError) as caught:
        read(path_of(name), physical=False)
    assert [str(problem) for problem in caught.value.problems] == BROKEN[name]


def test_twenty_robots() -> None:
    """Of every build, and no two alike."""
    sizes = [(description(robot).mechanism.n, len(description(robot).mechanism.links)) for robot in READ]
    assert len(set(sizes)) > 20
    assert min(sizes)[0] <= 2
    assert max(sizes)[0] >= 40
