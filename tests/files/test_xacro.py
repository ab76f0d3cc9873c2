"""xacro files: expanded by the library, with packages found by our rules, every failure one clear error."""

from __future__ import annotations

import builtins
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from linkwise.errors import FileError, MissingExtraError
from linkwise.files import check, read, remarks, urdf, xacro

ARM = """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="parts.xacro"/>
  <xacro:arg name="count" default="2"/>
  <xacro:property name="length" value="${0.25 * 2}"/>
  <link name="l0"/>
  <xacro:macro name="chain" params="k">
    <xacro:part name="l${k}" parent="l${k - 1}" length="${length}"/>
    <xacro:if value="${k &lt; $(arg count)}"><xacro:chain k="${k + 1}"/></xacro:if>
  </xacro:macro>
  <xacro:chain k="1"/>
</robot>
"""
PARTS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="part" params="name parent length">
    <link name="${name}">
      <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" iyz="0" ixz="0"/></inertial>
    </link>
    <joint name="to ${name}" type="continuous">
      <origin xyz="${length} 0 ${sin(pi / 2)}"/><parent link="${parent}"/><child link="${name}"/>
    </joint>
  </xacro:macro>
</robot>
"""


def put(folder: Path, text: str, name: str = "arm.urdf.xacro") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def robot(inner: str) -> str:
    return f'<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">\n{inner}\n</robot>'


def message(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read(path)
    assert check(path) == list(caught.value.problems)
    return "\n".join(str(problem) for problem in caught.value.problems)


def test_macros_includes_and_expressions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, ARM)
    put(tmp_path, PARTS, "parts.xacro")
    monkeypatch.chdir("/")  # what is included is found from the file, not from where one stands
    mech = read(path).mechanism
    assert mech.link_names == ("l0", "l1", "l2")
    assert mech.names == ("to l1", "to l2")
    assert mech.links[1].before[:3, 3].tolist() == [0.5, 0, 1]
    text, warnings = xacro.expand(path, {"count": "4"})
    assert warnings == []
    longer = urdf.parse(text).description
    assert longer is not None
    assert longer.mechanism.n == 4


def test_packages_are_found_by_our_rules(tmp_path: Path) -> None:
    path = put(tmp_path / "arm" / "urdf", robot('<xacro:include filename="$(find parts)/parts.xacro"/><link name="a"/>'))
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    put(tmp_path / "parts", robot(f'<link name="b"/>{joint}'), "parts.xacro")
    assert read(path).mechanism.link_names == ("a", "b")
    other = put(tmp_path / "arm", robot("<link name=\"${find('parts')}\"/>").replace("${find('parts')}", "$(find none)"))
    assert message(other).startswith(f"package 'none' was not found; tried {tmp_path / 'arm' / 'none'}, ")


def test_the_library_is_left_as_it_was(tmp_path: Path) -> None:
    substitution = importlib.import_module("xacro.substitution_args")
    before = (substitution._eval_find, substitution._eval_dict["find"])
    xacro.expand(put(tmp_path, robot('<link name="a"/>')))
    assert (substitution._eval_find, substitution._eval_dict["find"]) == before


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ('<link name="${b}"/>', "xacro cannot expand it: name 'b' is not defined when evaluating expression 'b'"),
        ('<link name="${1 / 0}"/>', "xacro cannot expand it: division by zero when evaluating expression '1 / 0'"),
        ('<link name="$(arg b)"/>', "xacro cannot expand it: Undefined substitution argument b"),
        ("<xacro:b/>", "xacro cannot expand it: unknown macro name: xacro:b"),
        ("<link/>", "after expansion: a link: <link> has no name"),
        ("<a>", "line 3: not well-formed XML: the closing tag does not match <a> of line 2 (column 3)"),
    ],
)
def test_what_is_wrong_is_one_clear_error(tmp_path: Path, inner: str, expected: str) -> None:
    assert message(put(tmp_path, robot(inner))) == expected


def test_an_include_that_is_not_there(tmp_path: Path) -> None:
    path = put(tmp_path, robot('<xacro:include filename="none.xacro"/>'))
    assert message(path).startswith("xacro cannot expand it: ")
    assert "none.xacro" in message(path)


def test_a_macro_without_an_end(tmp_path: Path) -> None:
    path = put(tmp_path, robot('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>'))
    assert message(path).startswith("xacro cannot expand it: ")


def test_warnings_and_remarks_have_no_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, robot('<xacro:property name="a" value="1"/>\n<link name="l"/>\n<gazebo/>'))
    assert [str(remark) for remark in remarks(path)] == [
        "after expansion: <gazebo> is not used: it is for the simulator Gazebo"
    ]
    assert capsys.readouterr() == ("", "")
    odd = put(
        tmp_path, '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><macro name="m"/><link name="l"/></robot>'
    )
    said = [str(remark) for remark in remarks(odd)]
    assert capsys.readouterr() == ("", "")
    assert said == ["after expansion: <macro> is not used"]


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "xacro"]:
        monkeypatch.delitem(sys.modules, name)
    find = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "xacro":
            raise builtins.ImportError(name)
        return find(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=r"^xacro files need the library xacro: pip install 'linkwise\[xacro\]'$"):
        read(put(tmp_path, robot('<link name="a"/>')))


def test_a_urdf_with_macros_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, robot('<xacro:b/><link name="a"/>'), "arm.urdf")
    expected = "line 2: <xacro:b>: this is a xacro file, to be expanded first; give its name the suffix .xacro"
    assert message(path) == expected
