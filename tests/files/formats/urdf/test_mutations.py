"""Whatever is done to a valid URDF, only Linkwise's own errors escape; what is still read can be written and read again."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwise.errors import LinkwiseError
from linkwise.files import Description, check, loads, read, remarks, save
from linkwise.files.formats.urdf import reader as urdf
from linkwise.files.formats.urdf import writer

DATA = Path(__file__).parents[2] / "data"
VALID = [path.read_bytes() for path in sorted(DATA.glob("*.urdf"))]
VALUES = [
    b"", b" ", b"0", b"-0", b"-1", b"1e400", b"nan", b"inf", b"-inf", b"1e308", b"1e-320", b"0 0", b"0 0 0", b"1 2 3",
    b"1 2 3 4", b"x", b"base", b"world", b"stand", b"left", b"shoulder", b"drive", b"fixed", b"floating", b"planar",
    b"continuous", b"prismatic", b"\xc3\xa9", b"&lt;", b"&x;", b"<", b"cart_planar_x", b"9" * 400,
]  # fmt: skip
TAGS = [
    b"<link/>", b'<link name="base"/>', b'<joint name="left"/>', b"<inertial/>", b"<axis/>", b"<limit/>", b"<mimic/>",
    b'<mimic joint="elbow"/>', b"<dynamics/>", b"</robot>", b"<robot>", b"<!--", b"-->", b"<?a b?>", b"<![CDATA[", b"]]>",
    b"<!DOCTYPE a>", b"\0", b"\xff", b"\xef\xbb\xbf", b"<xacro:if/>", b"<visual/>",
    b'<geometry><box size="1 1 1"/></geometry>',
]  # fmt: skip
_ATTRIBUTE = re.compile(rb'\s[\w:]+="[^"]*"')
_ELEMENT = re.compile(rb"<[\w:]+[^<>]*/>|<(\w+)[^<>]*>.*?</\1>", re.DOTALL)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["value", "attribute", "element", "twice", "swap", "tag", "byte", "cut"]))
        places = list((_ATTRIBUTE if kind in {"value", "attribute"} else _ELEMENT).finditer(data))
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        if kind == "byte":
            data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "tag":
            data = data[:at] + draw(st.sampled_from(TAGS)) + data[at:]
        elif places:
            place = draw(st.sampled_from(places))
            whole, new = place.group(), b""
            if kind == "value":
                new = whole[: whole.index(b'"') + 1] + draw(st.sampled_from(VALUES)) + b'"'
            elif kind == "twice":
                new = whole * 2
            elif kind == "swap":
                new = draw(st.sampled_from(places)).group()
            data = data[: place.start()] + new + data[place.end() :]
    return data


relaxed = settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@relaxed
@given(data=mutated(), physical=st.booleans())
def test_only_our_errors_escape(tmp_path_factory: pytest.TempPathFactory, data: bytes, physical: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.urdf"
    path.write_bytes(data)
    problems = check(path)
    try:
        description = read(path, physical=physical)
    except LinkwiseError:
        assert problems
        return
    assert not (physical and problems)
    if not problems:
        remarks(path)
    mechanism = description.mechanism
    assert not writer.losses(Description(mechanism)).never
    save(mechanism, path, shapes=description.shapes, allow_loss=True)
    again = read(path, physical=False)
    assert again.mechanism.names == mechanism.names
    assert again.mechanism.link_names == mechanism.link_names
    assert len(again.shapes) == len(description.shapes)


DECLARATIONS = [
    b"", b"\n", b"\n<?xml version='1.0'?>", b"<?xml version='1.0' encoding='ISO-8859-1'?>", b"\xff\xfe",
    b"<?xml version='1.0' encoding='shift_jis'?>", b"<?xml version='1.0' encoding='utf-7'?>",
]  # fmt: skip


@settings(relaxed, max_examples=200)
@given(
    data=mutated(),
    before=st.sampled_from(DECLARATIONS),
    root=st.sampled_from([None, "base", "stand", "world", "left", ""]),
    swap_limits=st.booleans(),
)
def test_with_options_too(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, before: bytes, root: str | None, swap_limits: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.urdf"
    path.write_bytes(before + data)
    with contextlib.suppress(LinkwiseError):
        read(path, physical=False, root=root, swap_limits=swap_limits)
    with contextlib.suppress(LinkwiseError):
        loads((before + data).decode("latin-1"), physical=False, root=root, swap_limits=swap_limits)


def test_the_mutations_leave_something_to_read() -> None:
    """Else the test above would try the errors alone."""
    found = []

    @settings(relaxed, max_examples=100)
    @given(data=mutated())
    def collect(data: bytes) -> None:
        found.append(data)

    collect()
    path = DATA / "gripper.urdf"
    assert path.read_bytes() in VALID

    read_ones = [urdf.parse(data.decode("utf-8", "replace")).description is not None for data in found]
    assert 0.05 < sum(read_ones) / len(read_ones) < 0.95
