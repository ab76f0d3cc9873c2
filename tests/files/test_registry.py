"""Reading by content, writing by suffix, and files that are no descriptions at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError, FileError, LinkwiseError, LinkwiseWarning
from linkwise.files import Description, ReadOptions, check, load, loads, read, remarks, save
from linkwise.files.registry import Options
from support.messages import unnamed

TRIED = "tried Linkwise .toml (keys and [tables]), MJCF (XML), SDF (XML), SpaceLib .DAT (numbers only), URDF (XML)"
ROOTS = "<mujoco> (.xml) or <sdf> (.sdf) or <robot> (.urdf)"

DECLARES = "what it declares could change or fetch what is read"


def message(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read(path)
    return str(caught.value).removeprefix(f"{path}: ")


def test_content_decides_not_the_name(tmp_path: Path) -> None:
    save(robots.smart(), tmp_path / "a.dat")
    save(robots.smart(), tmp_path / "b.toml")
    (tmp_path / "a.dat").rename(tmp_path / "a.toml")
    (tmp_path / "b.toml").rename(tmp_path / "b.dat")
    assert load(tmp_path / "a.toml").links == load(tmp_path / "b.dat").links == robots.smart().links


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"hello there", "line 1: the format is not known; it starts with 'hello'; " + TRIED),
        (b"<robot name='x'/>", "line 1: there is no <link>; expected one or more"),
        (b"<!-- x -->\n<usd/>", "line 2: the root element is <usd>; expected " + ROOTS),
        (b"<robot", "line 1: not well-formed XML: the element that starts here is not finished (column 1)"),
        (b"<!DOCTYPE x><robot/>", "line 1: a document type (<!DOCTYPE x>) is refused: " + DECLARES),
        (b"\xff\xfe1\x00", "line 1: the text is in UTF-16; save it as UTF-8"),
        (b"1\n\x00\x01", "line 2: a zero byte: this is not a text file"),
        (b"1\n\n2 \xe9t\xe9", "line 3: byte 0xe9 is not text in UTF-8; save the file as UTF-8"),
    ],
)  # fmt: skip
def test_no_description(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert message(path) == expected
    assert [str(problem) for problem in check(path)] == [expected]


def test_no_file(tmp_path: Path) -> None:
    assert message(tmp_path / "none.dat") == "there is no such file"
    assert message(tmp_path) == "this is a folder, not a file"
    assert check("nul\0name")[0].message.startswith("cannot be opened")


def test_suffix_decides_where_the_content_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("hello there")
    assert message(tmp_path / "a.toml").startswith("line 1: not valid TOML: ")
    (tmp_path / "a.dat").write_text("three 0")
    assert message(tmp_path / "a.dat") == "line 1: 'three' is not a count of links, a whole number >= 1"


def test_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"'\.usd'.*'\.toml'.*'\.dat'.*'\.urdf'"):
        save(robots.smart(), tmp_path / "a.usd")
    with pytest.raises(ArgumentError, match="save: mechanism is 5; expected a Mechanism"):
        save(5, tmp_path / "a.toml")  # type: ignore[arg-type]


def test_external_is_checked(tmp_path: Path) -> None:
    for bad in ([1, 2, 3], [np.nan] * 6):
        with pytest.raises(ArgumentError, match="expected 6 finite numbers"):
            save(robots.smart(), tmp_path / "a.toml", external=bad)


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.toml"
    save(robots.smart(), path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        save(robots.puma560(), path)
    with pytest.raises(FileError, match="UTF-8 cannot encode"):
        save(Mechanism([Link(name="\ud800")]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_nowhere_to_write(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        save(robots.smart(), tmp_path / "none" / "a.toml")
    (tmp_path / "b.toml").mkdir()
    with pytest.raises(FileError, match="this is a folder"):
        save(robots.smart(), tmp_path / "b.toml")


def test_a_description_has_no_wrench_and_no_source_by_default() -> None:
    description = Description(robots.smart())
    assert not description.external.any()
    assert description.source == ()
    assert issubclass(FileError, LinkwiseError)


@pytest.mark.parametrize("name", ["puma560", "PUMA560"])
def test_a_bundled_robot_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    expected = "there is no such file; the bundled robot of that name is lw.robots.load('puma560')"
    for call in (read, load):
        with pytest.raises(FileError) as caught:
            call(name)
        assert unnamed(caught.value, f"{name}: {expected}") == []
    assert [str(problem) for problem in check(name)] == [expected]
    save(robots.smart(), "arm.toml")
    Path("arm.toml").rename(name)  # a file of that name wins
    assert load(name).n == 6


WRENCH = (0.0, 0.0, -10.0, 0.0, 0.5, 0.0)


@pytest.mark.parametrize("name", ["arm.toml", "arm.DAT"])
def test_what_acts_on_the_tool_is_not_dropped_in_silence(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save(robots.smart(), path, external=WRENCH, allow_loss=True)
    with pytest.warns(LinkwiseWarning) as caught:
        arm = load(path)
    told = str(caught[0].message)
    assert told.startswith(
        f"{path}: what acts on the tool, force 0 0 -10 N, moment 0 0.5 0 N m, is no part of the Mechanism"
    )
    assert f"linkwise.files.read({str(path)!r}).external has it" in told
    assert caught[0].filename == __file__  # (the line that loads, not one of ours)
    assert read(path).external.tolist() == list(WRENCH)  # no warning, which would be an error here
    save(arm, path, allow_loss=True)
    assert load(path).n == arm.n


@pytest.mark.parametrize("name", ["SCARA.DAT", "x/scara.dat"])
def test_the_manual_s_files_are_said_to_be_bundled(tmp_path: Path, name: str) -> None:
    expected = "there is no such file (linkwise spacelib data --to . writes the manual's SCARA.DAT)"
    assert message(tmp_path / name) == expected


URDF = """<?xml version="1.0"?>
<robot name="{name}"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
MJCF = '<mujoco model="m"><worldbody><body name="a"><joint name="j"/><geom size="1"/></body></worldbody></mujoco>'


def test_a_text_is_read_as_its_file_is(tmp_path: Path) -> None:
    save(robots.planar_2r(), tmp_path / "arm.toml")
    save(robots.planar_2r(), tmp_path / "planar_2r.dat", allow_loss=True)
    for path in (tmp_path / "arm.toml", tmp_path / "planar_2r.dat"):
        assert loads(path.read_text()).links == load(path).links
    assert (loads(URDF.format(name="r")).name, loads(MJCF).name) == ("r", "m")
    wide = "\ufeff\r\n" + URDF.format(name="r").replace("\n", "\r\n")
    assert loads(wide).names == ("j",)


def test_a_text_with_mistakes_tells_their_lines() -> None:
    with pytest.raises(FileError) as caught:
        loads(URDF.format(name="r").replace('child link="b"', 'child link="c"'))
    assert str(caught.value.path) == "<text>"
    assert [problem.line for problem in caught.value.problems] == [3]
    for text in ("", "hello there"):
        with pytest.raises(FileError):
            loads(text)


def test_text_and_path_are_not_confused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="loads"):
        load(URDF.format(name="r"))
    with pytest.raises(ArgumentError, match="loads"):
        load("<robot/>")
    with pytest.raises(ArgumentError, match="load takes a path"):
        loads(tmp_path)  # type: ignore[arg-type]
    odd = tmp_path / "a\nb.urdf"  # (a name that a file can have)
    odd.write_text(URDF.format(name="r"))
    assert load(str(odd)).names == ("j",)


def test_a_text_tells_what_acts_on_the_tool() -> None:
    from linkwise.files.formats.linkwise_toml import render

    text = "".join(render(Description(robots.planar_2r(), np.array([1.0, 0, 0, 0, 0, 0]), ())))
    with pytest.warns(LinkwiseWarning, match="acts on the tool"):
        loads(text)


def test_options_are_those_of_the_record() -> None:
    assert set(Options.__annotations__) == set(ReadOptions.__annotations__) - {"physical"}
    with pytest.raises(TypeError, match="rooot"):
        load("arm.urdf", rooot="a")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("option", "value"),
    [("root", 3), ("package_dirs", "folder"), ("package_dirs", Path("folder")), ("include_root", 3), ("xacro", "a=b")],
)
def test_options_of_another_kind_are_refused(option: str, value: object) -> None:
    with pytest.raises(ArgumentError, match=f"{option} is "):
        load("arm.urdf", **{option: value})  # type: ignore[arg-type]


def test_a_root_is_refused_where_there_is_one_mechanism(tmp_path: Path) -> None:
    """Without effect, it would give another mechanism than the one asked for."""
    for name in ("arm.toml", "arm.dat"):
        save(robots.planar_2r(), tmp_path / name, allow_loss=True)
        with pytest.raises(FileError, match=r"root(=| is )'link2'"):
            read(tmp_path / name, root="link2")


@pytest.mark.parametrize("text", [URDF.format(name="r"), MJCF])
def test_a_blank_line_before_the_declaration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(
        '\n \n<?xml version="1.0"?>\n' + text.partition("?>\n")[2] if "?>" in text else f"\n<?xml version='1.0'?>{text}"
    )
    assert load(path).names == ("j",)
    path.write_text("\n<?xml version='1.0'?>\n<robot name='r'>\n<link name='a'/>\n<gazebo/></robot>")
    assert [remark.line for remark in remarks(path)] == [5]  # (lines stay what they are)


@pytest.mark.parametrize("path", [5, None, b"arm.urdf", 0.5])
def test_what_is_no_path_is_refused(path: object) -> None:
    for call in (load, read, check, remarks, lambda path: save(robots.planar_2r(), path)):
        with pytest.raises(ArgumentError) as caught:
            call(path)  # type: ignore[operator]
        assert repr(path) in str(caught.value)
