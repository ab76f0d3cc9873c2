"""xacro files: expanded by the library, with packages found by our rules, every failure one clear error."""

from __future__ import annotations

import builtins
import importlib
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from linkwise.errors import ArgumentError, FileError, MissingExtraError
from linkwise.files import check, load, read, remarks
from linkwise.files.formats import xacro
from linkwise.files.formats.urdf import reader as urdf

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
    put(tmp_path / "parts-main", robot(f'<link name="b"/>{joint}'), "parts.xacro")
    put(tmp_path / "parts-main", "<package><name>parts</name></package>", "package.xml")
    assert read(path, package_dirs=[tmp_path]).mechanism.link_names == ("a", "b")
    assert "package_dirs" in message(path)
    put(tmp_path / "arm", "<package><name>arm</name></package>", "package.xml")  # (whose neighbours are known)
    assert read(path).mechanism.link_names == ("a", "b")
    other = put(tmp_path / "arm", robot("<link name=\"${find('parts')}\"/>").replace("${find('parts')}", "$(find none)"))
    assert message(other).startswith("package 'none' was not found: ")


def test_arguments_that_are_no_text(tmp_path: Path) -> None:
    path = put(tmp_path, ARM)
    put(tmp_path, PARTS, "parts.xacro")
    assert xacro.expand(path, {"count": 4}) == xacro.expand(path, {"count": "4"})
    with pytest.raises(ArgumentError, match="None"):
        xacro.expand(path, {"count": None})


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
        (
            '<link name="$(arg b)"/>',
            "xacro cannot expand it: Undefined substitution argument b; xacro={'b': ...} gives its value",
        ),
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize(
    "inner",
    [
        '<xacro:include filename="pipe"/>',
        '<xacro:property name="p" value="${xacro.load_yaml(\'pipe\')}"/><link name="${p}"/>',
    ],
)
def test_a_named_pipe_is_not_waited_for(tmp_path: Path, inner: str) -> None:
    """It would wait for a writer for ever."""
    path = put(tmp_path, robot(inner))
    os.mkfifo(tmp_path / "pipe")
    told: list[str] = []
    reading = threading.Thread(target=lambda: told.append(message(path)), daemon=True)
    reading.start()
    reading.join(30)
    assert [("named pipe" in text) for text in told] == [True]


def test_yaml_is_read_as_descriptions_are(tmp_path: Path) -> None:
    value = "${xacro.load_yaml('values.yaml')['name']}"
    path = put(tmp_path, robot(f'<xacro:property name="p" value="{value}"/><link name="${{p}}"/>'))
    put(tmp_path, "name: børse", "values.yaml")
    assert read(path).mechanism.link_names == ("børse",)
    (tmp_path / "values.yaml").unlink()
    assert "values.yaml" in message(path)


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
    with pytest.raises(MissingExtraError, match=r'library.*install.*"xacro>=2\.1"'):
        read(put(tmp_path, robot('<link name="a"/>')))


@pytest.mark.parametrize(
    "inner",
    [
        '<xacro:macro name="b"><link name="b"/></xacro:macro>\n<link name="a"/>',
        '<xacro:property name="b" value="1"/>\n<link name="a"/>',
        '<link name="a">\n<xacro:if value="1"><visual/></xacro:if></link>',
    ],
)
def test_a_urdf_with_directives_is_to_be_expanded(tmp_path: Path, inner: str) -> None:
    path = put(tmp_path, robot(inner), "arm.urdf")
    (problem,) = check(path)
    assert problem.message.startswith("<xacro:")
    assert "xacro={}" in problem.message
    assert read(path, xacro={}).mechanism.link_names == ("a",)


def test_calls_that_an_expansion_left_over_are_remarked_on(tmp_path: Path) -> None:
    """Old versions of xacro left the call of a macro that was not defined; nothing in such a file can expand it."""
    path = put(tmp_path, robot('<xacro:b/><link name="a"/>\n<xacro:b/>\n<xacro:c/>'), "arm.urdf")
    assert read(path).mechanism.link_names == ("a",)
    calls = [remark for remark in remarks(path) if "macro that was not defined" in remark.message]
    assert [(remark.line, remark.message.partition(" ")[0]) for remark in calls] == [(2, "<xacro:b>"), (4, "<xacro:c>")]


def test_arguments(tmp_path: Path) -> None:
    path = put(tmp_path, ARM)
    put(tmp_path, PARTS, "parts.xacro")
    assert read(path, xacro={"count": "4"}).mechanism.n == 4
    assert load(path, xacro={"count": 3}).n == 3
    assert check(path, xacro={"count": "3"}) == []
    for wrong in ({"count": None}, {3: "a"}, "count", ["count"]):
        with pytest.raises(ArgumentError, match="xacro is "):
            read(path, xacro=wrong)  # type: ignore[arg-type]


def test_an_argument_that_is_not_declared_is_refused(tmp_path: Path) -> None:
    """Misspelt, it would be without effect, and the robot another one."""
    path = put(tmp_path, ARM)
    put(tmp_path, PARTS, "parts.xacro")
    with pytest.raises(FileError, match=r"'cuont'.*'count'"):
        read(path, xacro={"cuont": "4"})
    plain = put(tmp_path, '<robot name="a"><link name="a"/></robot>', "a.toml")
    plain.write_text('format = "linkwise 1"\n[[link]]\nname = "a"\n')
    with pytest.raises(FileError):
        read(plain, xacro={"count": "4"})


def test_included_files_are_read_as_descriptions_are(tmp_path: Path) -> None:
    """A blank line before the declaration, and an encoding that it names, in the file itself and in those it includes."""
    included = '\n<?xml version="1.0" encoding="ISO-8859-1"?>\n' + robot('<link name="wörk"/>')
    (tmp_path / "parts.xacro").write_bytes(included.encode("latin-1"))
    text = '\n<?xml version="1.0" encoding="ISO-8859-1"?>\n' + robot('<xacro:include filename="parts.xacro"/>')
    path = tmp_path / "börse.xacro"
    path.write_bytes(text.encode("latin-1"))
    assert read(path).mechanism.link_names == ("wörk",)


def test_an_optional_include_may_be_missing(tmp_path: Path) -> None:
    path = put(tmp_path, robot('<xacro:include filename="none.xacro" optional="true"/><link name="a"/>'))
    assert read(path).mechanism.link_names == ("a",)
