# ruff: noqa: E501  (XML as it may stand in a file)
"""Whatever is done to a valid MJCF file, only Linkwise's own errors escape, and what is read can be written and read again."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwise.errors import LinkwiseError
from linkwise.files import check, loads, read, remarks, save
from linkwise.files.registry import Options

ARM = b"""<mujoco model="arm"><compiler angle="degree" eulerseq="xyz" boundmass="0.1" boundinertia="0.01" settotalmass="3"/>
<option gravity="0 0 -9.81"><flag spring="enable"/></option>
<default><joint damping="0.1" armature="0.01"/><default class="arm"><geom type="capsule" size="0.1"/></default></default>
<worldbody><frame pos="0 0 1" euler="10 20 30"><body name="a" childclass="arm" pos="0 0 1" quat="1 0 0 0"><inertial pos="0 0 0"
mass="1" fullinertia="1 1 1 0 0 0"/><joint name="j" axis="0 1 0" range="-90 90" ref="10"/><joint name="k" type="slide"/>
<geom fromto="0 0 0 0 0 1"/><site name="s" zaxis="0 1 0"/><body name="b" axisangle="0 0 1 30"><joint name="l" stiffness="1"/>
<geom type="ellipsoid" size="1 2 3" shellinertia="true"/><geom type="box" size="1 1 1" mass="2"/></body></body></frame>
<body name="c"><joint name="m" frictionloss="1"/><geom type="sphere" size="0.1" density="10"/></body></worldbody>
<equality><joint joint1="l" joint2="m" polycoef="0 2"/><joint joint1="k" polycoef="0.5"/><connect body1="b" body2="c" anchor="0 0 1"/>
<weld site1="s" site2="s" active="false"/></equality><actuator><motor joint="m" gear="10" armature="0.1"/></actuator>
<sensor><jointpos joint="m"/></sensor></mujoco>"""
BOAT = b"""<mujoco><worldbody><body name="hull" pos="0 0 1" xyaxes="1 0 0 0 1 0"><freejoint/><geom size="1"/><body name="fin">
<joint/><geom type="cylinder" size="0.1 0.2"/></body></body></worldbody></mujoco>"""
TOKENS = [
    b"", b"0", b"-1", b"1e400", b"nan", b"inf", b"1e308", b"-1e308", b"1e-320", b"9" * 400, b"x", b"1e200", b"0 0 0", b"1 2",
    b'"', b"<", b">", b"/>", b"<body>", b"</body>", b"<body/>", b"<joint/>", b"<freejoint/>", b'<geom size="1"/>',
    b'<include file="x"/>', b'<include file="."/>', b"<!--", b"&lt;", b"&x;", b"\0", b"\xff", b"<!DOCTYPE x>", b'name="base"',
    b'type="free"', b'type="ball"', b'class="arm"', b'size="1e308"', b'pos="1e308 1e308 1e308"', b'quat="1e308 1e308 0 0"',
    b'euler="1e308 0 0"', b'mass="1e308"', b'angle="radian"', b'axis="1e-200 0 0"', b'name="a"', b'name="j"',
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from([ARM, ARM, BOAT])))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["byte", "drop", "token", "twice", "swap", "value", "value"]))
        size = draw(st.integers(1, 30))
        token = draw(st.sampled_from(TOKENS))
        if kind == "byte" and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == "drop":
            del data[at : at + size]
        elif kind == "twice":
            data[at:at] = data[at : at + size]
        elif kind in ("swap", "value"):
            by = b" " if kind == "swap" else b'"'
            words = bytes(data).split(by)
            words[at % len(words)] = token
            data = bytearray(by.join(words))
        else:
            data[at:at] = token
    return bytes(data)


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=mutated())
def test_mutations(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "mutated.xml"
    path.write_bytes(data)
    problems = check(path)
    try:
        description = read(path)
    except LinkwiseError:
        assert problems
    else:
        assert not problems
        remarks(path)
        again = path.with_suffix(".toml")
        save(description.mechanism, again)
        assert read(again).mechanism == description.mechanism


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=mutated(), root=st.sampled_from([None, "a", "c", "hull", "fin", ""]), bare_free_joints=st.booleans())
def test_with_options_too(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, root: str | None, bare_free_joints: bool
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "mutated.xml").write_bytes(data)
    options: Options = {"root": root, "bare_free_joints": bare_free_joints, "include_root": folder}
    with contextlib.suppress(LinkwiseError):
        read(folder / "mutated.xml", physical=False, **options)
    with contextlib.suppress(LinkwiseError):
        loads(data.decode("latin-1"), physical=False, **options)


def test_they_are_valid(tmp_path: Path) -> None:
    for data in (ARM, BOAT):
        path = tmp_path / "valid.xml"
        path.write_bytes(data)
        assert check(path) == []
