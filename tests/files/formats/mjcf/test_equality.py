"""Loops and followers of MJCF's equality constraints: their residual is MuJoCo's, at any pose."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Loop, Mechanism
from linkwise.files.formats.mjcf import reader as mjcf
from linkwise.spatial.quaternion import rotation_quaternion

mujoco = pytest.importorskip("mujoco", exc_type=ImportError)

TREE = """<mujoco><compiler angle="radian"/><worldbody>
    <site name="anchor" pos="0.4 0.5 0.6" euler="0.1 0.2 0.3"/>
    <body name="a" pos="0.1 0.2 0.3" euler="0.3 0.2 0.1"><joint name="ja" axis="0 1 0" ref="0.3"/><geom size="0.1"/>
      <body name="b" pos="0.5 0 0" quat="0.8 0.1 0.2 0.3"><joint name="jb" axis="1 0 1"/><geom size="0.1"/>
        <frame pos="0.1 0 0" euler="1 0 0"><site name="on b" pos="0.1 0 0.2" euler="0.5 0.1 0.2"/></frame></body></body>
    <body name="c" pos="1 0 0"><joint name="jc" type="slide" axis="0 0 1" ref="-0.2"/><geom size="0.1"/>
      <site name="on c" fromto="0 0 0.1 0.2 0.3 0.1" type="capsule" size="0.01"/></body>
    </worldbody><equality>{}</equality></mujoco>"""

LOOPS = {
    "connect": ('<connect name="pin" body1="b" body2="c" anchor="0.1 0.2 0.3"/>', "point"),
    "connect to the world": ('<connect body1="b" anchor="0.1 0.2 0.3"/>', "point"),
    "connect the world": ('<connect body1="world" body2="b" anchor="0.1 0.2 0.3"/>', "point"),
    "connect sites": ('<connect site1="on b" site2="on c"/>', "point"),
    "weld": ('<weld body1="b" body2="c"/>', "full"),
    "weld at a point": ('<weld body1="b" body2="c" anchor="0.1 0.2 0.3"/>', "full"),
    "weld to the world": ('<weld body1="b" anchor="0.1 0.2 0.3"/>', "full"),
    "weld as said": ('<weld body1="b" body2="c" anchor="0.1 0.2 0.3" relpose="0.3 0.2 0.1 2 0.2 0.4 0.6"/>', "full"),
    "weld sites": ('<weld site1="anchor" site2="on b"/>', "full"),
    "weld that lets it turn": ('<weld body1="b" body2="c" torquescale="0"/>', "point"),
    "weld, however hard": ('<weld body1="b" body2="c" torquescale="3"/>', "full"),
}


def read(text: str) -> Mechanism:
    reading = mjcf.parse(text, "test")
    assert reading.description is not None, reading.problems
    return reading.description.mechanism


def end_pose(mech: Mechanism, link: str, frame: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.asarray(frame if link == "base" else mech.replace(loops=()).forward_kinematics(q, link=link) @ frame)


def residual(mech: Mechanism, loop: Loop, q: np.ndarray) -> np.ndarray:
    """Position and half the turn that are left, in the manner of MuJoCo."""
    first, second = (
        end_pose(mech, link, frame, q) for link, frame in ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
    )
    turned = rotation_quaternion(second[:3, :3].T @ first[:3, :3])[1:]
    return np.concatenate([first[:3, 3] - second[:3, 3], turned if loop.kind == "full" else []])


@pytest.mark.parametrize("name", LOOPS)
def test_residual(name: str) -> None:
    said, kind = LOOPS[name]
    text = TREE.format(said)
    mech, model = read(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    (loop,) = mech.loops
    assert loop.kind == kind
    rng = np.random.default_rng(len(name))
    for q in [model.qpos0, *rng.uniform(-1, 1, (4, 3))]:
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        theirs = data.efc_pos[: data.ne].copy()
        ours = residual(mech, loop, np.array(q))
        if kind == "full":
            theirs[3:] /= 3.0 if "however" in name else 1.0
            theirs[3:] *= np.sign(theirs[3:] @ ours[3:]) or 1.0  # (a quaternion and its opposite are one turn)
        else:
            theirs = theirs[:3]
        assert np.abs(ours - theirs).max() < 1e-14  # a few units in the last place of lengths of 1 m


@pytest.mark.parametrize("name", [name for name in LOOPS if "site" not in name and "as said" not in name])
def test_closed_as_described(name: str) -> None:
    mech = read(TREE.format(LOOPS[name][0]))
    q0 = np.array([0.3, 0.0, -0.2])
    assert np.abs(residual(mech, mech.loops[0], q0)).max() < 1e-15 * 4


def test_names_of_loops() -> None:
    mech = read(TREE.format(LOOPS["connect"][0] + LOOPS["weld sites"][0]))
    assert [(loop.name, loop.first, loop.second) for loop in mech.loops] == [("pin", "b", "c"), (None, "base", "b")]


def test_a_joint_that_stays() -> None:
    """MuJoCo holds it at its reference plus a0, whatever else the polynomial says."""
    text = TREE.format('<joint joint1="ja" polycoef="0.25 7 1 0 0"/>')
    mech = read(text)
    assert mech.names == ("jb", "jc")
    free = read(TREE.format(""))
    q = np.array([0.4, -0.3])
    ours = mech.link_poses(q)
    theirs = free.link_poses([0.3 + 0.25, *q])
    assert np.abs(ours - theirs).max() < 1e-15


@pytest.mark.parametrize("text", [
    '<joint joint1="ja" joint2="jb" active="false" polycoef="0 0 1"/>',
    '<weld body1="a" body2="c" active="false"/>',
    '<tendon tendon1="t" active="false"/>',
])  # fmt: skip
def test_inactive(text: str) -> None:
    reading = mjcf.parse(TREE.format(text))
    assert reading.description is not None
    assert reading.description.mechanism.n == 3
    assert not reading.description.mechanism.loops
    assert any("is not active, and left out" in remark.message for remark in reading.remarks)


def test_inactive_by_class_and_flag() -> None:
    for before in ('<default><equality active="false"/></default>', '<option><flag equality="disable"/></option>'):
        text = TREE.format('<weld body1="a" body2="c"/>').replace("<worldbody>", before + "<worldbody>")
        assert not read(text).loops


def test_loops_of_a_floating_base() -> None:
    text = (
        '<mujoco><worldbody><body name="table"/><body name="hull"><freejoint/><geom size="1"/><body name="l" pos="1 0 0">'
        '<joint/><geom size="1"/></body><body name="r" pos="0 1 0"><joint/><geom size="1"/></body></body></worldbody>'
        '<equality><connect body1="{}" body2="{}" anchor="0 0 0"/></equality></mujoco>'
    )
    assert read(text.format("l", "r")).loops[0].second == "r"
    for ground in ("world", "table"):
        tied = read(text.format("l", ground))
        assert not tied.floating  # nothing of a floating base stands still: the free body is a link on a floating joint
        assert [link.joint for link in tied.links if link.moves] == ["floating", "revolute", "revolute"]
        assert tied.loops[0].second == ("base" if ground == "world" else "table")


TENDONS = """<mujoco><worldbody><body><joint name="a" ref="20"/><geom size="1"/>
<body pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size="1"/>
<body pos="1 0 0"><joint name="c" type="slide" ref="0.2"/><geom size="1"/></body></body></body></worldbody>
<tendon><fixed name="one"><joint joint="a" coef="0.5"/><joint joint="b" coef="-2"/></fixed>
<fixed name="two"><joint joint="b" coef="3"/><joint joint="c" coef="-4"/></fixed>
<fixed name="three"><joint joint="c" coef="0.7"/></fixed>{none}</tendon>
<equality>{equality}</equality></mujoco>"""


@pytest.mark.parametrize(
    ("equality", "freedoms"),
    [
        ('<tendon tendon1="one"/>', 2),
        ('<tendon tendon1="one" polycoef="0.3"/>', 2),
        ('<tendon tendon1="three" polycoef="0.3"/>', 2),
        ('<tendon tendon1="three" tendon2="two" polycoef="0.1 0.25"/>', 2),
        ('<tendon tendon1="one"/><tendon tendon1="two" polycoef="-0.1"/>', 1),
        ('<tendon tendon1="one"/><tendon tendon1="three"/>', 1),
    ],
)
def test_fixed_tendons_couple_joints(equality: str, freedoms: int) -> None:
    """At any coordinates of ours the residual of MuJoCo's equality is zero."""
    text = TENDONS.format(none="", equality=equality)
    mech, model = read(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    assert mech.n == freedoms
    places = {link.coordinate_name: k for k, link in enumerate(mech.links) if link.moves}
    stays = {"c": 0.2 + 0.3 / 0.7 if "0.3" in equality else 0.2}
    worst = 0.0
    for q in np.random.default_rng(0).normal(size=(5, mech.n)):
        data.qpos[:] = [mech.joint_coordinates(places[name], q) if name in places else stays[name] for name in "abc"]
        mujoco.mj_forward(model, data)
        assert data.ne == len(model.eq_type)
        worst = max(worst, np.abs(data.efc_pos[: data.ne]).max())
    print(worst)
    assert worst < 1e-14  # some sums of numbers of the size of one


@pytest.mark.parametrize(
    ("equality", "expected"),
    [
        ('<tendon tendon1="none"/>', "no joint"),
        ('<tendon tendon1="four"/>', "'four'"),
        ('<tendon tendon1="three" tendon2="one" polycoef="0 1 1"/>', "a sum of 2 joints"),
        ('<tendon tendon1="three"/><joint joint1="c"/>', "bound already"),
    ],
)
def test_tendons_that_couple_nothing(equality: str, expected: str) -> None:
    problems = mjcf.parse(TENDONS.format(none='<fixed name="none"/>', equality=equality)).problems
    assert expected in " ".join(problem.message for problem in problems)


def test_a_long_chain_of_followers_stays_with_its_end() -> None:
    """Settled in a time that grows with its length: by the square these 3000 would take many seconds."""
    count = 3000
    bodies = "".join(f'<body><joint name="j{k}"/></body>' for k in range(count))
    follow = "".join(f'<joint joint1="j{k}" joint2="j{k + 1}" polycoef="0.5 -1"/>' for k in range(count - 1))
    last = f'<joint joint1="j{count - 1}" polycoef="0.25"/>'
    reading = mjcf.parse(f"<mujoco><worldbody>{bodies}</worldbody><equality>{follow}{last}</equality></mujoco>")
    assert reading.description is not None
    mech = reading.description.mechanism
    assert mech.n == 0
    angles = [np.arctan2(*link.before[[1, 0], 0]) for link in mech.links[:-3:-1]]
    assert np.abs(np.array(angles) - [0.25, 0.25]).max() < 1e-15
