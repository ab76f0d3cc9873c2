"""Whatever is done to a valid file, only Linkwise's own errors escape."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwise.errors import LinkwiseError
from linkwise.files import check, check_motion, open_motion, read, save, save_motion
from linkwise.spacelib.programs import formats

DATA = Path(__file__).parent / "data"
ROBOTS = files("linkwise.robots").joinpath("data")
DESCRIPTIONS = [
    formats.path("SCARA.DAT").read_bytes(),
    (DATA / "rover.toml").read_bytes(),
    *(ROBOTS.joinpath(f"{name}.toml").read_bytes() for name in ("puma560", "elbow", "planar_2r")),
]
CSV = b"t,q1,q2,q3,qd1,qd2,qd3,qdd1,qdd2,qdd3\n0,0,0,0,1,2,0,10,20,0\n0.05,0.1,0.1,0,1.1,2.1,0,11,21,0\n"
MOTIONS = [formats.path("SCARA.MOT").read_bytes(), CSV]
TOKENS = [
    b"", b"0", b"-1", b"1e400", b"nan", b"inf", b"1e308", b"-1e308", b"1e-320", b"9" * 400, b"x", b"1_0", b"0x10", b"1d3",
    b'"', b"'", b"[", b"]", b"[[", b"{", b"}", b"=", b",", b";", b"\0", b"\r", b"\n", b"\n\n", b"#", b"\xff",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"true", b"1979-05-27", b"[[link]]", b"[base]", b"[[motor]]", b"link = 3",
    b"carrier = 1", b"axis = [1, 0, 0]", b"motor = 3",
    b"name = 'a'", b"parent = 'link2'", b"theta = 1", b"base", b"prismatic", b"modified",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, valid: list[bytes]) -> bytes:
    data = bytearray(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["byte", "cut", "drop", "token", "twice", "swap"]))
        size = draw(st.integers(1, 30))
        if kind == "byte" and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at:]
        elif kind == "drop":
            del data[at : at + size]
        elif kind == "twice":
            data[at:at] = data[at : at + size]
        elif kind == "swap":
            words = bytes(data).split(b" ")
            words[at % len(words)] = draw(st.sampled_from(TOKENS))
            data = bytearray(b" ".join(words))
        else:
            data[at:at] = draw(st.sampled_from(TOKENS))
    return bytes(data)


relaxed = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@relaxed
@given(data=mutated(DESCRIPTIONS))
def test_descriptions(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated"
    path.write_bytes(data)
    problems = check(path)
    try:
        description = read(path)
    except LinkwiseError:
        assert problems
    else:
        assert not problems
        again = path.with_suffix(".toml")
        save(description.mechanism, again, external=description.external, source=description.source)
        assert read(again).mechanism == description.mechanism


@relaxed
@given(data=mutated(MOTIONS), n=st.integers(1, 4))
def test_motions(tmp_path_factory: pytest.TempPathFactory, data: bytes, n: int) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.motion"
    path.write_bytes(data)
    try:
        t, q, qd, qdd = open_motion(path, n).read()
    except LinkwiseError:
        assert check_motion(path, n)
    else:
        again = path.with_suffix(".csv")
        save_motion(again, t, q, qd, qdd)
        assert (open_motion(again, n).read()[3] == qdd).all()
