"""Several functions of a mechanism in one go, and the files they become."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from linkwise import robots
from linkwise.algorithm import ALGORITHMS, find
from linkwise.errors import ArgumentError, FileError
from linkwise.export import LANGUAGES, Sources, export
from linkwise.export.language import Job, Language
from linkwise.export.language import language as register
from linkwise.export.ports import WORDS, Identifiers, TapePort
from linkwise.export.split import TapePart
from linkwise.export.statements import body
from linkwise.kernel.writers import WRITERS

FILES = {
    "c": ["arm.h", "arm.c", "arm_test.c"],
    "python": ["arm.py"],
    "jax": ["arm_jax.py"],
    "cuda": ["arm.cu", "arm_test.cu"],
    "rust": ["arm.rs"],
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_files(language: str) -> None:
    arm = robots.load("planar_2r")
    made = export(arm, ["forward_kinematics", "mass_matrix", "forward_kinematics"], language, name="arm", prefix="arm_")
    assert list(made.files) == FILES[language]
    text = "".join(made.files.values())
    assert "arm_forward_kinematics" in text
    assert "arm_mass_matrix" in text
    assert "of planar_2r" in text
    assert list(made.operations) or language == "c"
    assert all("arm" in word for word in made.command.split() if word.endswith((".c", ".cu", ".rs")))


def test_options_go_to_those_that_have_them() -> None:
    arm = robots.load("puma560")
    made = export(arm, ["forward_kinematics", "jacobian"], "python", options={"frame": "body", "link": "link3"})
    text = made.files["puma560.py"]
    assert "jacobian of puma560, link link3, frame body" in text
    space: dict[str, object] = {}
    exec(text, space)
    q = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    found, wanted = space["jacobian"](q), arm.jacobian(q, link="link3", frame="body")  # type: ignore[operator]
    assert abs(found - wanted).max() <= 1e-14


def test_what_cannot_be_is_refused_by_name() -> None:
    arm = robots.load("planar_2r")
    with pytest.raises(ArgumentError, match="language is 'ada'; expected 'c', "):
        export(arm, "jacobian", "ada")
    with pytest.raises(ArgumentError, match=r"'jacobian'.*'farm'.*'frame'.*'link'"):
        export(arm, "jacobian", options={"farm": "body"})
    with pytest.raises(ArgumentError, match=r"no algorithm 'jacobean' \(did you mean 'jacobian'\?\)"):
        export(arm, "jacobean")
    with pytest.raises(ArgumentError, match=r"precision.*arguments"):
        export(arm, "jacobian", "python", precision="single")
    with pytest.raises(ArgumentError, match="no function to export"):
        export(arm, [])


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    made = Sources({"a.c": "1", "b.c": "2"})
    (tmp_path / "b.c").mkdir()
    with pytest.raises(FileError, match=r"b\.c is there already"):
        made.write(tmp_path)
    with pytest.raises(FileError, match="cannot be written"):
        made.write(tmp_path, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.c"]
    (tmp_path / "b.c").rmdir()
    assert [path.read_text() for path in made.write(tmp_path)] == ["1", "2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.c", "b.c"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not hold for this user")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="cannot be written: Permission denied"):
        Sources({"a.c": "1"}).write(tmp_path)
    tmp_path.chmod(0o700)


def test_the_same_each_time() -> None:
    """Generated code can be kept under version control."""
    arm = robots.load("planar_2r")
    for language in LANGUAGES:
        assert export(arm, "jacobian", language).files == export(arm.replace(), "jacobian", language).files


def test_every_port_of_every_algorithm_has_a_meaning() -> None:
    """With its unit, in the header; an algorithm that is added tells of its own."""
    find("jacobian")
    for declared in ALGORITHMS.values():
        if declared.function.__module__.startswith("linkwise."):
            for name, shape in {**declared.inputs, **declared.outputs}.items():
                sizes = tuple(int(word) if word.isdigit() else 2 for word in shape.split())
                assert TapePort(name, sizes).meaning, f"{declared.name}: {name} ({shape})"
    assert not TapePort("p", (4,)).meaning, "a momentum has six elements"
    assert "mass matrix" in TapePort("dM_dq", (2, 2, 2)).meaning, "M is no variable"


class _Postfix(Language):
    """Every operation as reverse Polish notation: a language from outside the package."""

    name = "postfix"
    suffix = ".rpn"
    reserved = frozenset({"q"})
    operations: ClassVar[Mapping[str, str]] = {
        op: " ".join(["{}"] * count + [op])
        for count, ops in ((1, ("neg", "sin", "cos")), (2, ("add", "sub", "mul", "div")))
        for op in ops
    }

    def function(self, part: TapePart, job: Job) -> str:
        made = body(part.tape, self.syntax("double"), job.names, lambda identifier, _, k: f"{identifier}.{k}")
        return "\n".join([f": {part.name}", *(f"{value} -> {name}" for name, value in made.lines), *made.results])

    def text(self, job: Job) -> str:
        return "\n".join(self.function(part, job) for part in job.parts)


def test_a_language_is_added_from_outside() -> None:
    register(_Postfix)
    try:
        arm = robots.load("planar_2r")
        made = export(arm, ["gravity_torque"], "postfix")
        assert list(made.files) == ["planar_2r.rpn"]
        assert made.files["planar_2r.rpn"].startswith(": gravity_torque\n")
        assert "\nq_v.0 cos -> cos_q1\n" in made.files["planar_2r.rpn"]
        assert arm.kernel("gravity_torque").write("postfix", prefix="my_").startswith(": my_gravity_torque\n")
        assert Identifiers("postfix").new("q") == "q_v"
        with pytest.raises(TypeError, match="layout"):
            arm.kernel("gravity_torque").write("postfix", layout="elements")
    finally:
        del LANGUAGES["postfix"], WORDS["postfix"], WRITERS["postfix"]


def test_a_writer_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ArgumentError, match=r"'ada'.*'c', .*'latex', .*'text'"):
        robots.load("planar_2r").kernel("jacobian").write("ada")
