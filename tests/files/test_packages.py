"""Where package addresses and paths lead, and where they may not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linkwise.errors import FileError
from linkwise.files import packages
from linkwise.files.packages import package_folder, resolve
from linkwise.files.text import read_text

ADDRESSES = "a path, or an address with package://, model:// or file://"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("solid")
    return path.resolve()


def message(path: Path, uri: str, *folders: Path) -> str:
    with pytest.raises(FileError) as caught:
        resolve(uri, path, folders)
    return caught.value.problems[0].message


def manifest(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.xml").write_text(f"<?xml version='1.0'?><package format='2'><name> {name} </name></package>")
    return folder


def test_each_rule_in_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one place after the other, each found before the next: given, inner folders, outer ones, ROS 1, ROS 2."""
    robot = tmp_path / "work" / "checkout" / "urdf" / "arm.urdf"
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "ros")]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    places = ["ament/share/arm", "ros/arm", "work/sibling", "work/checkout", "work/checkout/urdf/inner", "mine/arm"]
    for place in places:
        mesh = put(tmp_path / place / "meshes" / "a.stl")
        if place.startswith("work"):
            manifest(tmp_path / place, "other")  # (a package around the description makes its neighbours known)
            manifest(tmp_path / "work" / "checkout", "other")
            manifest(tmp_path / place, "arm")
        assert resolve("package://arm/meshes/a.stl", robot, [tmp_path / "mine"]) == mesh
    assert resolve("model://arm/meshes/a.stl", robot, [tmp_path / "mine" / "arm"]) == mesh
    assert package_folder("arm", robot, [tmp_path / "mine"]) == tmp_path / "mine" / "arm"


def test_a_package_is_what_its_manifest_says(tmp_path: Path) -> None:
    """A checkout is called as its owner likes; in the folders that are given the manifest counts too."""
    robot = manifest(tmp_path / "Arm_ROS2_Description", "arm_description") / "urdf" / "arm.urdf"
    mesh = put(tmp_path / "Arm_ROS2_Description" / "a.stl")
    assert resolve("package://arm_description/a.stl", robot) == mesh
    gripper = put(manifest(tmp_path / "gripper-main", "gripper") / "b.stl")
    assert resolve("package://gripper/b.stl", robot) == gripper
    elsewhere = tmp_path / "elsewhere" / "arm.urdf"
    elsewhere.parent.mkdir()
    for folder in (tmp_path, tmp_path / "gripper-main"):
        assert resolve("package://gripper/b.stl", elsewhere, [folder]) == gripper


def test_a_folder_of_that_name_is_no_package(tmp_path: Path) -> None:
    """Else every folder around a description would be one, up to the home of its user."""
    robot = tmp_path / "home" / "arm" / "arm.urdf"
    put(tmp_path / "home" / "secret")
    put(robot.parent / "meshes" / "a.stl")
    manifest(tmp_path / "home" / "arm", "another")
    for uri in ("package://home/secret", "package://arm/meshes/a.stl", "package://meshes/a.stl"):
        assert "package_dirs" in message(robot, uri)
    assert resolve("package://arm/meshes/a.stl", robot, [robot.parent]) == robot.parent / "meshes" / "a.stl"


@pytest.mark.parametrize(
    "text", ["", "<package>", "<package/>", "<robot><name>arm</name></robot>", "<!DOCTYPE a><package/>"]
)
def test_a_manifest_that_says_nothing(tmp_path: Path, text: str) -> None:
    put(tmp_path / "a.stl")
    (tmp_path / "package.xml").write_text(text)
    assert message(tmp_path / "arm.urdf", "package://arm/a.stl").startswith("package 'arm' was not found")


def test_a_manifest_that_is_no_file(tmp_path: Path) -> None:
    """A pipe would be waited for."""
    os.mkfifo(tmp_path / "package.xml")
    assert message(tmp_path / "arm.urdf", "package://arm/a.stl").startswith("package 'arm' was not found")


def test_a_package_that_is_there_but_lacks_the_file_does_not_hide_another(tmp_path: Path) -> None:
    robot = manifest(tmp_path / "arm", "arm") / "arm.urdf"
    (tmp_path / "mine" / "arm").mkdir(parents=True)
    mesh = put(tmp_path / "arm" / "a.stl")
    assert resolve("package://arm/a.stl", robot, [tmp_path / "mine"]) == mesh


def test_paths_from_the_description(tmp_path: Path) -> None:
    made = put(tmp_path / "meshes" / "a.stl")
    robot = tmp_path / "arm.urdf"
    assert resolve("meshes/a.stl", robot) == resolve("file://meshes/a.stl", robot) == resolve(str(made), robot) == made


def test_every_path_tried_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_PACKAGE_PATH", "/ros")
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/ament")
    robot = manifest(tmp_path / "arm", "arm") / "arm.urdf"
    tried = [Path("/given/arm"), tmp_path / "arm", Path("/ros/arm"), Path("/ament/share/arm")]
    expected = "'package://arm/a.stl' was not found; tried " + ", ".join(str(folder / "a.stl") for folder in tried)
    assert message(robot, "package://arm/a.stl", Path("/given")) == expected
    assert message(robot, "a.stl") == f"'a.stl' was not found; tried {robot.parent / 'a.stl'}"
    with pytest.raises(FileError, match=r"package.*'none'.*found"):
        package_folder("none", robot, ["/given"])


@pytest.mark.parametrize("uri", ["../secret", "{}/secret", "file://{}/secret", "package://arm/../secret", "link"])
def test_what_leaves_the_folder_is_refused(tmp_path: Path, uri: str) -> None:
    secret, robot = put(tmp_path / "secret"), tmp_path / "arm" / "arm.urdf"
    manifest(robot.parent, "arm")
    (robot.parent / "link").symlink_to(secret)
    uri = uri.format(tmp_path)
    expected = f"{uri!r} leaves the folder {str(robot.parent)!r}: it is {str(secret)!r}; allow its folder with package_dirs"
    assert message(robot, uri) == expected
    assert resolve(uri, robot, [tmp_path]) == secret


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://a.b/c.stl", "'http://a.b/c.stl' cannot be looked up; expected " + ADDRESSES),
        ("package://../secret", "'..' is not a name of a package"),
        ("package:///secret", "'' is not a name of a package"),
        ("package://a\\b/secret", "'a\\\\b' is not a name of a package"),
    ],
)  # fmt: skip
def test_what_is_no_address(tmp_path: Path, uri: str, expected: str) -> None:
    assert message(tmp_path / "arm.urdf", uri) == expected


def test_what_lies_in_the_root_of_the_disk_is_no_package(tmp_path: Path) -> None:
    """Else ``package://etc/passwd`` would be a file of a package ``etc``."""
    assert message(tmp_path / "arm.urdf", "package://etc/passwd").startswith("package 'etc' was not found")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    put(tmp_path / "meshes" / "a.stl")
    robot = tmp_path / "arm.urdf"
    assert message(robot, "meshes") == f"'meshes' was not found; tried {tmp_path / 'meshes'}"
    with pytest.raises(FileError, match=r"package 'a\.stl' was not found"):
        package_folder("a.stl", robot, [tmp_path / "meshes"])


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    assert message(tmp_path / "arm.urdf", "a\0b").startswith("'a\\x00b' was not found")


def test_each_manifest_is_read_once_for_a_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a workspace with many packages that would take longer than all else."""
    robot = manifest(tmp_path / "arm", "arm") / "urdf" / "arm.urdf"
    for k in range(20):
        manifest(tmp_path / f"p{k}", f"package {k}")
        put(tmp_path / f"p{k}" / "a.stl")
    read: list[str] = []

    def counted(path: Path, most: int) -> str:
        read.append(str(path))
        return read_text(path, most)

    monkeypatch.setattr(packages, "read_text", counted)
    known = packages.Manifests()
    for k in range(20):
        assert resolve(f"package://package {k}/a.stl", robot, (), known).parent.name == f"p{k}"
    assert len(read) == len(set(read)) == 21


def test_of_very_many_folders_the_first_by_name_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the first on the disk, which differ from one copy to the next; files do not count."""
    monkeypatch.setattr(packages, "MOST_ENTRIES", 10)
    for k in range(40, 0, -1):
        manifest(tmp_path / f"p{k:02}", f"package {k}")
        put(tmp_path / f"a{k}.stl")
    names = [f"package {k}" for k in range(1, 41)]
    here = tmp_path / "arm.urdf"
    assert [name for name in names if packages.package_folders(name, here)] == names[:10]
