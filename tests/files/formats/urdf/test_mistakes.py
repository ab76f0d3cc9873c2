"""Everything that can be wrong with a URDF, each with its line and in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwise.errors import FileError
from linkwise.files import check, read
from linkwise.files.formats.urdf import reader as urdf
from linkwise.files.registry import ReadOptions

A = '<link name="a"/>\n'
LEFT = "of which the joints that are wrong can carry 1; expected one (a fixed joint can join two)"
AB = A + '<link name="b"/>\n'
ABC = AB + '<link name="c"/>\n'
WHOLE = '<inertia ixx="1" iyy="1" izz="1" ixy="0" iyz="0" ixz="0"/>'
TYPES = (
    "'fixed', 'revolute', 'continuous', 'prismatic', 'planar', 'floating', 'spherical', 'drake:ball', 'drake:planar', "
    "'drake:universal', 'drake:screw' or 'drake:curvilinear'"
)
TRIANGLE = "principal moments in which none exceeds the sum of the other two (triangle inequality)"
FLOATING = "a floating joint can only be the one joint of the root"
FREELY = "; with drop_unknown=True it moves by itself"
POINT = "; with drop_unknown=True the mass is that of a point"
HINT = "; reading with physical=False accepts it"


def joint(name: str, parent: str, child: str, inner: str = "", kind: str = "revolute") -> str:
    return f'<joint name="{name}" type="{kind}">\n<parent link="{parent}"/><child link="{child}"/>\n{inner}</joint>\n'


def inertial(inner: str) -> str:
    return f'<link name="a">\n<inertial>\n{inner}\n</inertial>\n</link>\n'


def fixed(name: str, parent: str, child: str) -> str:
    return joint(name, parent, child, kind="fixed")


MISTAKES: dict[str, tuple[str, list[str]]] = {
    "nothing": ("", ["line 1: there is no <link>; expected one or more"]),
    "xacro": (
        '<xacro:macro name="x"/>',
        ["line 2: <xacro:macro>: this is a xacro file, to be expanded first; xacro={} expands a file of any name"],
    ),
    "no name": ("<link/>", ["line 2: a link: <link> has no name"]),
    "blank name": ('<link name=" "/>', ["line 2: a link: <link> has an empty name"]),
    "link twice": (A + A, ["line 3: link 'a' occurs twice, first in line 2"]),
    "two roots": (
        AB,
        ["line 3: there are 2 roots, links that no joint carries: 'a' (line 2), 'b' (line 3); "
         "expected one (a fixed joint can join two, and root='a' reads one alone)"],
    ),
    "many roots": (
        "".join(f'<link name="{k}"/>' for k in range(12)),
        ["line 2: there are 12 roots, links that no joint carries: "
         + ", ".join(f"'{k}' (line 2)" for k in range(10)) + " and 2 more; "
         "expected one (a fixed joint can join two, and root='0' reads one alone)"],
    ),
    "ring": (
        AB + fixed("j", "a", "b") + fixed("k", "b", "a"),
        ["line 2: the links 'b' and 'a' carry each other in a ring; expected a tree"],
    ),
    "ring beside a tree": (
        ABC + fixed("j", "b", "c") + fixed("k", "c", "b"),
        ["line 3: the links 'c' and 'b' carry each other in a ring; expected a tree"],
    ),
    "two parents": (
        ABC + fixed("j", "a", "c") + fixed("k", "b", "c") + fixed("l", "a", "b"),
        ["line 8: link 'c' has two parents: joint 'k' carries it, and so does 'j' in line 5"],
    ),
    "its own parent": (A + fixed("j", "a", "a"), ["line 3: joint 'j': its parent and its child are the same link, 'a'"]),
    "misspelt link": (
        '<link name="forearm"/>' + AB + fixed("j", "foreram", "a"),
        [
            "line 2: there are 3 roots, links that no joint carries: 'forearm' (line 2), 'a' (line 2), "
            f"'b' (line 3), {LEFT}",
            "line 5: joint 'j': its parent is 'foreram', but there is no such link; is 'forearm' meant?",
        ],
    ),
    "unknown link": (A + fixed("j", "a", "zzzz"), ["line 4: joint 'j': its child is 'zzzz', but there is no such link"]),
    "no parent": (
        AB + '<joint name="j" type="fixed"><child link="b"/></joint>',
        ["line 4: joint 'j': it has no <parent>"],
    ),
    "parent of nothing": (
        AB + '<joint name="j" type="fixed">\n<parent/><child link="b"/></joint>',
        ["line 5: joint 'j': <parent> has no link"],
    ),
    "two children": (
        ABC + '<joint name="j" type="fixed"><parent link="a"/>\n<child link="b"/>\n<child link="c"/></joint>',
        [
            f"line 3: there are 3 roots, links that no joint carries: 'a' (line 2), 'b' (line 3), 'c' (line 4), {LEFT}",
            "line 7: joint 'j': <child> occurs twice, first in line 6; with drop_unknown=True the first counts",
        ],
    ),
    "joint without name": (
        AB + '<joint type="fixed"><parent link="a"/><child link="b"/></joint>',
        ["line 4: a joint: <joint> has no name"],
    ),
    "joint without type": (
        AB + '<joint name="j"><parent link="a"/><child link="b"/></joint>',
        ["line 4: joint 'j': <joint> has no type"],
    ),
    "unknown type": (
        AB + joint("j", "a", "b", kind="hinge"),
        [f"line 4: joint 'j': type is 'hinge'; expected {TYPES}"],
    ),
    "joint twice": (
        ABC + fixed("j", "a", "b") + fixed("j", "b", "c"),
        ["line 8: joint 'j' occurs twice, first in line 5"],
    ),
    "zero axis": (
        AB + joint("j", "a", "b", '<axis xyz="0 0 0"/>'),
        ["line 6: joint 'j': its axis is zero; expected a direction"],
    ),
    "short axis": (
        AB + joint("j", "a", "b", '<axis xyz="0 0"/>', "planar"),
        ["line 6: joint 'j': xyz of <axis> is '0 0'; expected 3 numbers"],
    ),
    "words for numbers": (
        AB + joint("j", "a", "b", '<origin xyz="1 2 3 4" rpy="a 0,5 1e400"/><axis xyz="0 nan 1"/>'),
        ["line 6: joint 'j': xyz of <origin> is '1 2 3 4'; expected 3 numbers",
         "line 6: joint 'j': rpy of <origin>: 'a' is not a number",
         "line 6: joint 'j': rpy of <origin>: '0,5' has a decimal comma; write '0.5'",
         "line 6: joint 'j': rpy of <origin>: '1e400' is too large for a number",
         "line 6: joint 'j': xyz of <axis>: 'nan' is not a finite number"],
    ),
    "limits reversed": (
        AB + joint("j", "a", "b", '<limit lower="1" upper="-1"/>'),
        ["line 6: joint 'j': its limits are reversed: lower is 1.0, upper is -1.0; swap_limits=True exchanges them"],
    ),
    "limits": (
        AB + joint("j", "a", "b", '<limit lower="x" effort="-1" velocity="-inf"/>'),
        ["line 6: joint 'j': lower of <limit>: 'x' is not a number",
         "line 6: joint 'j': its velocity limit is -inf; expected a number >= 0",
         "line 6: joint 'j': its effort limit is -1.0; expected a number >= 0"],
    ),
    "friction": (
        AB + joint("j", "a", "b", '<dynamics damping="-1" friction="x"/>'),
        ["line 6: joint 'j': friction of <dynamics>: 'x' is not a number",
         "line 6: joint 'j': its damping is -1.0; expected a number >= 0"],
    ),
    "mimic of nothing": (AB + joint("j", "a", "b", "<mimic/>"), ["line 6: joint 'j': <mimic> has no joint"]),
    "mimic of none": (
        ABC + joint("joint 1", "a", "b", '<mimic joint="joint 3"/>') + joint("joint 2", "b", "c"),
        [f"line 7: joint 'joint 1': it mimics 'joint 3', but there is no such joint; is 'joint 2' meant?{FREELY}"],
    ),
    "mimic of a fixed joint": (
        ABC + fixed("k", "a", "c") + joint("j", "a", "b", '<mimic joint="k"/>'),
        [f"line 10: joint 'j': it mimics 'k', but that joint is fixed{FREELY}"],
    ),
    "mimic ring": (
        ABC + joint("j", "a", "b", '<mimic joint="k"/>') + joint("k", "b", "c", '<mimic joint="j"/>'),
        ["line 7: joint 'j': mimic.joint is 'j'; expected a joint that does not follow this one in turn (a ring)",
         "line 10: joint 'k': mimic.joint is 'k'; expected a joint that does not follow this one in turn (a ring)"],
    ),
    "empty inertial": (
        inertial(""),
        ["line 3: link 'a': <inertial> has no <mass>", f"line 3: link 'a': <inertial> has no <inertia>{POINT}"],
    ),
    "no value": (inertial(f"<mass/>\n{WHOLE}"), ["line 4: link 'a': <mass> has no value"]),
    "negative mass": (
        inertial(f'<mass value="-1"/>\n{WHOLE}'),
        ["line 4: link 'a': mass is -1.0; expected a finite number >= 0"],
    ),
    "half a tensor": (
        inertial('<mass value="1"/>\n<inertia ixx="1" iyy="1"/>'),
        ["line 5: link 'a': <inertia> has no izz"],
    ),
    "triangle": (
        inertial('<mass value="1"/>\n<inertia ixx="1" iyy="1" izz="3" ixy="0" iyz="0" ixz="0"/>'),
        [f"line 5: link 'a': inertia is [1.0, 1.0, 3.0]; expected {TRIANGLE}{HINT}"],
    ),
    "negative moment": (
        inertial('<mass value="1"/>\n<inertia ixx="-1" iyy="1" izz="1" ixy="0" iyz="0" ixz="0"/>'),
        [f"line 5: link 'a': inertia is [-1.0, 1.0, 1.0]; expected principal moments >= 0 (positive semidefinite){HINT}"],
    ),
    "beyond numbers": (
        inertial('<mass value="1"/>\n<inertia ixx="1e308" iyy="1e308" izz="1e308" ixy="0" iyz="0" ixz="0"/>'),
        ["line 5: link 'a': inertia is [[1e+308, 0.0, 0.0], [0.0, 1e+308, 0.0], [0.0, 0.0, 1e+308]]; "
         "expected elements up to 1e+50"],
    ),
    "two inertials": (
        f'<link name="a">\n<inertial><mass value="1"/>{WHOLE}</inertial>\n<inertial/></link>',
        ["line 4: link 'a': <inertial> occurs twice, first in line 3; with drop_unknown=True the first counts"],
    ),
    "a coordinate of the base": (
        ABC + joint("j", "a", "b", kind="floating") + joint("base_x", "b", "c"),
        ["line 8: link 'c': joint_name is 'base_x'; expected another name (this one is a coordinate of the floating base)"],
    ),
    "all at once": (
        inertial('<mass value="x"/>') + AB + joint("j", "a", "c", '<limit lower="2" upper="1"/>', "turn"),
        [f"line 3: link 'a': <inertial> has no <inertia>{POINT}", "line 4: link 'a': value of <mass>: 'x' is not a number",
         "line 7: link 'a' occurs twice, first in line 2",
         f"line 9: joint 'j': type is 'turn'; expected {TYPES}",
         "line 10: joint 'j': its child is 'c', but there is no such link"],
    ),
    "inertias of a file with other mistakes": (
        inertial(f'<mass value="-1"/>\n{WHOLE}') + '<link name="b"/>',
        ["line 4: link 'a': mass is -1.0; expected a finite number >= 0",
         "line 8: there are 2 roots, links that no joint carries: 'a' (line 2), 'b' (line 8); "
         "expected one (a fixed joint can join two, and root='a' reads one alone)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("inner", "expected"), MISTAKES.values(), ids=MISTAKES.keys())
def test_each_mistake_is_named(inner: str, expected: list[str], tmp_path: Path) -> None:
    text = f'<robot name="r">\n{inner}\n</robot>'
    assert [str(problem) for problem in urdf.parse(text, "file").problems] == expected
    path = tmp_path / "file.urdf"
    path.write_text(text)
    assert [str(problem) for problem in check(path)] == expected
    with pytest.raises(FileError) as caught:
        read(path)
    assert [str(problem) for problem in caught.value.problems] == expected


def test_what_is_dropped() -> None:
    """A mass without inertia is that of a point, and a joint that follows none moves by itself, as in Pinocchio."""
    text = (
        inertial('<origin xyz="0 0 1"/><mass value="2"/>') + '<link name="b"/>' + joint("j", "a", "b", '<mimic joint="k"/>')
    )
    reading = urdf.parse(f"<robot>{text}</robot>", options=ReadOptions(drop_unknown=True))
    assert reading.description is not None
    first = reading.description.mechanism.links[0].body
    assert (first.mass, first.com.tolist(), first.tensor.any()) == (2.0, [0.0, 0.0, 1.0], False)
    assert reading.description.mechanism.names == ("j",)
    assert sum("; the mass is that of a point" in str(r) or "; it moves by itself" in str(r) for r in reading.remarks) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<sdf/>", "line 1: the root element is <sdf>; expected <robot>"),
        (
            "<robot>\n<link></robot>",
            "line 2: not well-formed XML: the closing tag does not match <link> of line 2 (column 9)",
        ),
    ],
)
def test_no_urdf(text: str, expected: str) -> None:
    assert [str(problem) for problem in urdf.parse(text).problems] == [expected]


def test_a_wrong_name_among_very_many_is_told_without_a_comparison() -> None:
    """Each comparison takes time with every name there is: a large file full of mistakes would take for ever."""
    links = "".join(f'<link name="l{k}"/>' for k in range(5000))
    joints = "".join(f'<joint name="j{k}" type="fixed"><parent link="m{k}"/><child link="l0"/></joint>' for k in range(5000))
    problems = urdf.parse(f"<robot>{links}{joints}</robot>").problems
    assert len(problems) == 5000
    assert problems[0].message == "joint 'j0': its parent is 'm0', but there is no such link"


def test_many_mistakes_are_told_without_guesses() -> None:
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="cra"/><child link="crane"/></joint>' for k in range(150)
    )
    problems = urdf.parse(f'<robot><link name="crane"/>{joints}</robot>').problems
    assert [problem.message.endswith("; is 'crane' meant?") for problem in problems] == [True] * 100 + [False] * 50


def test_a_long_ring_is_told_with_its_first_links() -> None:
    """Found in a time that grows with its length, not with the square: by the square this one would take half a minute."""
    count = 30_000
    links = "".join(f'<link name="l{k}"/>' for k in range(count))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{(k + 1) % count}"/></joint>'
        for k in range(count)
    )
    (problem,) = urdf.parse(f"<robot>{links}{joints}</robot>").problems
    named = ", ".join(f"'l{k % count}'" for k in range(count + 1, count - 9, -1))
    assert problem.message == f"the links {named} and 29990 more carry each other in a ring; expected a tree"


def test_roots_are_counted_beside_joints_that_are_wrong() -> None:
    """A joint with a typo might carry one of the links that nothing else carries; more than that are roots all the same."""
    links = "".join(f'<link name="{name}"/>' for name in "abcd")
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="bb"/></joint>'
    reading = urdf.parse(f'<robot name="r">\n{links}\n{joint}</robot>', "")
    first, second = (str(problem) for problem in reading.problems)
    assert first == (
        "line 2: there are 4 roots, links that no joint carries: 'a' (line 2), 'b' (line 2), 'c' (line 2), 'd' (line 2),"
        " of which the joints that are wrong can carry 1; expected one (a fixed joint can join two)"
    )
    assert second.startswith("line 3: joint 'j'")
    assert len(urdf.parse(f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>', "").problems) == 1
