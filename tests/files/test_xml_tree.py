"""XML read with lines, and all that is refused."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwise as lw
from linkwise.errors import FileError
from linkwise.files import read, read_srdf, remarks
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.files.xml_tree import DEEPEST, XmlError, read_xml, root_tag
from support.messages import unnamed

DOCTYPE = "is refused: what it declares could change or fetch what is read"


def test_tree_with_lines() -> None:
    root = read_xml('<a x="1"\n   y="2">one\n  <b/>two<c>\n<b z="&lt;"/></c>\n</a>')
    assert (root.tag, root.line, root.attributes, root.text.split()) == ("a", 1, {"x": "1", "y": "2"}, ["one", "two"])
    assert [(child.tag, child.line) for child in root.children] == [("b", 3), ("c", 3)]
    assert root.get("x") == "1"
    assert root.get("z") is None
    assert root.find("c") is root.children[1]
    assert root.find("d") is None
    assert root.all("b") == [root.children[0]]
    assert [element.tag for element in root.walk()] == ["a", "b", "c", "b"]
    assert [element.line for element in root.walk()][-1] == 4
    assert root.children[1].children[0].get("z") == "<"


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0" encoding="utf-8"?>\n<!-- <b/> --><?do it?><a/>',
        "<a xmlns:s='somewhere'><!-- x --><?do it?></a>",
        "<a><!-- b -- <!-- c -->\n<?do <!-- it?><![CDATA[<!--]]></a>",
        "<a><![CDATA[ ]]></a>",
    ],
)
def test_harmless(text: str) -> None:
    root = read_xml(text)
    assert root.tag == root_tag(text) == "a"
    assert not root.children


def test_blanks_that_attributes_lack() -> None:
    """As TinyXML, by which MuJoCo, Pinocchio and Drake read: the next attribute begins where a value ends."""
    root = read_xml("""<a b="it's"c='"x"y'><d e="1"\n>"q"r</d><![CDATA[<f g="1"h="2">]]></a>""")
    assert root.attributes == {"b": "it's", "c": '"x"y'}
    assert (root.children[0].attributes, root.children[0].text) == ({"e": "1"}, '"q"r')
    assert root.text == '<f g="1"h="2">'
    with pytest.raises(XmlError):
        read_xml('<a b="1"2/>')


@pytest.mark.parametrize("rest", ["</mujoco>", "<a/>", "<a>", "text"])
def test_what_follows_the_root_is_left_out_on_request(rest: str, tmp_path: Path) -> None:
    body = '<body name="b"><joint/><geom size="1"/></body>'
    texts = {
        "robot.xml": f"<mujoco><worldbody>{body}</worldbody>\n</mujoco>\n{rest}",
        "robot.urdf": f'<robot name="r"><link name="b"/>\n</robot>\n{rest}',
        "robot.sdf": f'<sdf version="1.7"><model name="m"><link name="b"/></model>\n</sdf>\n{rest}',
        "outer.xml": '<mujoco>\n<worldbody/>\n<include file="robot.xml"/></mujoco>',
        "outer.sdf": '<sdf version="1.7"><model name="o">\n\n<include><uri>robot.sdf</uri></include></model></sdf>',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for name in texts:
        with pytest.raises(FileError, match=r"line 3: .*drop_unknown=True") as caught:
            read(tmp_path / name)
        assert len(caught.value.problems) == 1
        assert read(tmp_path / name, drop_unknown=True).mechanism.link_names[-1].endswith("b")
        left_out = [str(remark) for remark in remarks(tmp_path / name, drop_unknown=True) if "stands after" in str(remark)]
        assert len(left_out) == 1
        assert "line 3" in left_out[0]
        assert ("robot." in left_out[0].partition("line 3")[2]) == name.startswith("outer")


def test_what_follows_the_root_of_an_srdf(tmp_path: Path) -> None:
    path = tmp_path / "arm.srdf"
    path.write_text('<robot name="r"><group name="g"><joint name="link1"/></group></robot>\n</robot>')
    with pytest.raises(FileError, match=r"line 2: .*drop_unknown=True"):
        read_srdf(path, lw.robots.planar_2r())
    semantics = read_srdf(path, lw.robots.planar_2r(), drop_unknown=True)
    assert (semantics.groups["g"].joints, len(semantics.remarks)) == (("link1",), 1)


def test_a_prefix_stays() -> None:
    assert read_xml("<s:a xmlns:s='x' s:b='1'><s:c/></s:a>").attributes == {"xmlns:s": "x", "s:b": "1"}
    assert root_tag("<s:a/>") == "s:a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1: not well-formed XML: there is no element (column 1)"),
        ("\n<!-- a -->\n", "line 3: not well-formed XML: there is no element (column 1)"),
        ("<a>\n <b>\n", "line 3: not well-formed XML: the text ends, and <b> of line 2 is not closed (column 1)"),
        ("<a>\n<b></a>", "line 2: not well-formed XML: the closing tag does not match <b> of line 2 (column 6)"),
        ("<a/>\n<b/>", "line 2: not well-formed XML: junk after document element (column 1)"),
        ("<a>\n<b c='", "line 2: not well-formed XML: the element that starts here is not finished (column 1)"),
        ("<a b=1/>", "line 1: not well-formed XML: not well-formed (invalid token) (column 6)"),
        ("<a b='1' b='2'/>", "line 1: not well-formed XML: duplicate attribute (column 10)"),
        ("<a>&b;</a>", "line 1: not well-formed XML: an entity that is not one of &lt; &gt; &amp; &quot; &apos; (column 4)"),
        ("<a>\n\ud800</a>", "line 2: the text holds '\\ud800', which XML cannot represent"),
        ("\n<!DOCTYPE a>\n<a/>", f"line 2: a document type (<!DOCTYPE a>) {DOCTYPE}"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', f"line 1: a document type (<!DOCTYPE a>) {DOCTYPE}"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', f"line 1: a document type (<!DOCTYPE a>) {DOCTYPE}"),
        ("<a>" * (DEEPEST + 1), f"line 1: <a> is nested deeper than {DEEPEST} elements"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    with pytest.raises(XmlError) as caught:
        read_xml(text)
    assert unnamed(caught.value, expected) == []
    assert str(pickle.loads(pickle.dumps(caught.value))) == expected


def test_a_bomb_is_refused_before_it_grows() -> None:
    lines = "".join(f'<!ENTITY b{k + 1} "{f"&b{k};" * 10}">' for k in range(20))
    start = time.perf_counter()
    with pytest.raises(XmlError, match="document type"):
        read_xml(f'<!DOCTYPE a [<!ENTITY b0 "x">{lines}]><a>&b20;</a>')
    assert time.perf_counter() - start < 1  # (10**20 characters would not be made in a second)


def test_the_deepest_is_read() -> None:
    assert sum(1 for _ in read_xml("<a>" * DEEPEST + "</a>" * DEEPEST).walk()) == DEEPEST


@pytest.mark.parametrize(
    "text", ["", "x<a/>", "<!-- a", "<? a", "< a/>", "<!DOCTYPE a><a/>", "<", "<!---->" * 1000, "<!--" * 100_000]
)
def test_no_root_tag(text: str) -> None:
    assert root_tag(text) == ""


@given(st.text(alphabet="<>/ab='\"&;!?-[] \n", max_size=60))
def test_only_our_error_escapes(text: str) -> None:
    problem = None
    try:
        root = read_xml(text)
    except XmlError as error:
        problem = error.problem
    assert root_tag(text) == root.tag if problem is None else problem.line >= 1


def test_a_large_text_is_read_fast() -> None:
    """A guard against a disaster, such as a cost that grows with the square: 0.7 s where this was written."""
    body = '<link name="l"><inertial><mass value="1.0"/><origin xyz="0 0 0" rpy="0 0 0"/></inertial></link>\n'
    text = f"<robot>{body * (5_000_000 // len(body))}</robot>"
    start = time.perf_counter()
    root = read_xml(text)
    assert time.perf_counter() - start < 10
    assert root.children[-1].line == len(root.children)


def test_a_file_that_is_too_large(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "large.urdf"
    with path.open("wb") as file:
        file.truncate(LARGEST_DESCRIPTION + 1)  # (of zeros, which take no room on the disk)
    with pytest.raises(FileError) as caught:
        read(path)
    assert unnamed(caught.value, f"{path}: the file is larger than 32 MB; no description of a mechanism needs that") == []
    path.write_text("<a/>")
    assert read_text(path, 4) == "<a/>"
    with pytest.raises(FileError):
        read_text(path, 3)
