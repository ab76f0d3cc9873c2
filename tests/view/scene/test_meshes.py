from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.model.shape import Shape
from linkwise.spatial.transform import translation
from linkwise.view.scene import meshes
from linkwise.view.scene.meshes import Visuals, visual_primitives
from linkwise.view.scene.scene import Primitive

trimesh = pytest.importorskip("trimesh")

ARM = lw.Mechanism([lw.Link.dh(a=0.4, convention="standard", name=name) for name in ("arm", "hand")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A description's folder with a package beside it; each mesh is a brick of 1 x 2 x 3 m."""
    brick = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    home = tmp_path / "arm_description"
    (home / "meshes").mkdir(parents=True)
    for kind in ("stl", "obj", "glb", "ply"):
        (home / "meshes" / f"brick.{kind}").write_bytes(_bytes(brick.export(file_type=kind)))
    (home / "broken.stl").write_bytes(b"solid nothing")
    (home / "broken.obj").write_bytes(b"\xff\xfe f 1 2 99")
    (home / "brick.blend").write_bytes(b"?")
    (tmp_path / "secret.stl").write_bytes(_bytes(brick.export(file_type="stl")))
    return home


def _bytes(data: object) -> bytes:
    return data if isinstance(data, bytes) else str(data).encode()


def mesh(name: str, link: str = "arm", scale: tuple[float, float, float] = (1.0, 1.0, 1.0), **more: object) -> Shape:
    return Shape(link, "mesh", scale, filename=name, **more)  # type: ignore[arg-type]


def extent(look: Primitive) -> list[float]:
    return np.ptp(look.tessellated().vertices, axis=0).round(6).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["stl", "obj", "glb", "ply"])
def test_meshes_are_read(folder: Path, kind: str) -> None:
    (folder / "package.xml").write_text("<package><name>arm_description</name></package>")
    shapes = [mesh(f"package://arm_description/meshes/brick.{kind}"), mesh(f"meshes/brick.{kind}", "hand")]
    found, remarks = visual_primitives(ARM, shapes, folder)
    assert remarks == ()
    assert [look.link for look in found] == [0, 1]
    assert [extent(look) for look in found] == [[1.0, 2.0, 3.0]] * 2
    assert found[0].kind == "mesh"


def test_the_description_itself_tells_its_folder(folder: Path) -> None:
    found, remarks = visual_primitives(ARM, [mesh("meshes/brick.stl")], folder / "arm.urdf")
    assert (len(found), remarks) == (1, ())


def test_origin_scale_and_colour(folder: Path) -> None:
    origin = translation(10.0, 0.0, 0.0)
    shape = mesh("meshes/brick.stl", scale=(0.1, 0.1, -0.1), origin=origin, colour=(1.0, 0.5, 0.0, 0.25))
    (look,), _ = visual_primitives(ARM, [shape], folder)
    assert extent(look) == [0.1, 0.2, 0.3]
    assert look.tessellated().vertices[:, 0].mean() == pytest.approx(10.0)
    assert (look.colour, look.opacity) == ((1.0, 0.5, 0.0), 0.25)
    a, b, c = np.moveaxis((look.tessellated().vertices - [10, 0, 0])[look.tessellated().triangles], 1, 0)
    # A mirror turns a surface inside out, unless its triangles are turned too.
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("meshes/none.stl", "was not found"),
        ("package://other/brick.stl", "was not found"),
        ("http://example.org/brick.stl", "cannot be looked up"),
        ("https://example.org/brick.stl", "cannot be looked up"),
        ("../secret.stl", "leaves the folder"),
        ("brick.blend", "expected one of stl, obj"),
        ("broken.stl", "not shown"),
        ("broken.obj", "not shown"),
        ("meshes", "was not found"),
    ],
)
def test_what_cannot_be_read_is_told_once_by_name(folder: Path, name: str, why: str) -> None:
    found, remarks = visual_primitives(ARM, [mesh(name), mesh(name, "hand"), mesh("meshes/brick.stl")], folder)
    assert len(found) == 1
    (remark,) = remarks
    assert remark.startswith(f"mesh {name!r} is not shown")
    assert why in remark


def test_all_missing_meshes_are_one_remark(folder: Path) -> None:
    names = [f"package://none/{k}.stl" for k in range(5)] + ["meshes/none.stl", "broken.stl", "broken.obj"]
    _, remarks = visual_primitives(ARM, [mesh(name) for name in names], folder)
    assert [remark.partition(" is not shown: ")[0] for remark in remarks] == [
        "6 meshes are not shown; the first: mesh 'package://none/0.stl'",
        "2 meshes are not shown; the first: mesh 'broken.stl'",
    ]


def test_folders_of_packages(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    shape = mesh(f"package://{folder.name}/meshes/brick.stl")
    assert visual_primitives(ARM, [shape], elsewhere)[0] == ()
    found, remarks = visual_primitives(ARM, [shape], elsewhere, [folder])
    assert (len(found), remarks) == (1, ())


def test_a_kind_that_trimesh_does_not_know_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trimesh, "available_formats", lambda: {"obj"})
    _, remarks = visual_primitives(ARM, [mesh("meshes/brick.stl")], folder)
    assert "trimesh reads no .stl here" in remarks[0]


def test_a_huge_mesh_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshes, "LARGEST", 100)
    _, remarks = visual_primitives(ARM, [mesh("meshes/brick.stl")], folder)
    assert "the most is" in remarks[0]


def test_without_a_folder_no_mesh_is_read() -> None:
    _, remarks = visual_primitives(ARM, [mesh("meshes/brick.stl")])
    assert "the folder of its description is not known" in remarks[0]


def test_an_object_file_reads_no_other_file(folder: Path) -> None:
    text = (folder / "meshes" / "brick.obj").read_text()
    (folder / "meshes" / "brick.obj").write_text(f"mtllib ../../secret.mtl\nusemtl one\n{text}")
    found, remarks = visual_primitives(ARM, [mesh("meshes/brick.obj")], folder)
    assert (len(found), remarks) == (1, ())


def test_shapes_without_a_file() -> None:
    kinds = {
        "box": ((0.2, 0.4, 0.6), [0.2, 0.4, 0.6]),
        "cylinder": ((0.1, 0.5), [0.2, 0.2, 0.5]),
        "capsule": ((0.1, 0.5), [0.2, 0.2, 0.7]),
        "sphere": ((0.3,), [0.6, 0.6, 0.6]),
        "ellipsoid": ((0.1, 0.2, 0.3), [0.2, 0.4, 0.6]),
    }
    found, remarks = visual_primitives(ARM, [Shape("hand", kind, size) for kind, (size, _) in kinds.items()])
    assert remarks == ()
    assert [extent(look) for look in found] == [expected for _, expected in kinds.values()]


def test_collisions_and_strangers_are_left_aside() -> None:
    shapes = [Shape("arm", "sphere", (0.1,), role="collision")]
    shapes += [Shape(link, "sphere", (0.1,)) for link in ("leg", "base")]
    found, remarks = visual_primitives(ARM, shapes)
    assert [look.link for look in found] == [-1]
    assert remarks == ("a shape of link 'leg' is not shown: there is no such link",)


def test_a_link_with_a_shape_is_no_rod_until_shapes_are_switched_off() -> None:
    pytest.importorskip("viser")
    from linkwise.view.browser.painter import BrowserPainter
    from linkwise.view.browser.server import make_server, stop

    server = make_server(port=0)
    try:
        scene = BrowserPainter(server, ARM, Visuals([Shape("arm", "box", (0.5, 0.1, 0.1)), mesh("none.stl", "hand")]))
        assert len(scene.shapes) == 1
        assert len(scene.remarks) == 1
        rod = {node.name.split("/")[2]: node for node in (n for _, n in scene.clickable) if "/rod" in node.name}
        assert not rod["1 arm"].visible
        assert rod["2 hand"].visible  # its mesh is missing, so it stays a rod
        scene.meshes = False
        assert rod["1 arm"].visible
        assert not scene.shapes[0].visible
    finally:
        stop(server)
