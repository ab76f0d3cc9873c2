"""Meshes as mass: as MuJoCo computes it, from all that it reads; what is wrong with one is said."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

import linkwise as lw
from linkwise.errors import FileError
from linkwise.files.formats.mjcf import reader
from linkwise.files.formats.mjcf.obj_faces import triangles_of
from linkwise.model.inertia import Inertia
from linkwise.spatial.quaternion import quaternion_rotation
from support.random_mechanisms import random_pose

CORNERS = [(0, 0), (2, 0), (2, 0.5), (0.5, 0.5), (0.5, 1.5), (0, 1.5)]

CLOSE = 1e-14
"""Relative: sums of a few dozen products, which MuJoCo makes in another order."""

TURNED = 1e-7
"""Of the tensor: MuJoCo keeps principal moments, exact, and axes, which its eigenvalue iteration leaves so far off."""


def bracket() -> tuple[np.ndarray, np.ndarray]:
    """An L-shaped bracket 0.7 thick, turned anyhow, in single precision: not convex, and its centre is outside."""
    flat = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [(a, c, b) for a, b, c in flat] + [(a + 6, b + 6, c + 6) for a, b, c in flat]
    for k in range(6):
        j = (k + 1) % 6
        faces += [(k, j, j + 6), (k, j + 6, k + 6)]
    pose = random_pose(np.random.default_rng(1))
    vertices = np.array([(x, y, z) for z in (0.0, 0.7) for x, y in CORNERS]) @ pose[:3, :3].T + pose[:3, 3]
    return vertices.astype(np.float32).astype(float), np.array(faces)


VERTICES, FACES = bracket()


def text(values: np.ndarray) -> str:
    return " ".join(repr(value) for value in np.ravel(values).tolist())


def model(mesh: str, geom: str = 'pos="0.1 0.2 0.3" euler="10 20 30"', before: str = "") -> str:
    body = f'<body name="arm"><joint name="j"/><geom type="mesh" mesh="m" {geom}/></body>'
    return f"<mujoco>{before}<asset>{mesh}</asset><worldbody>{body}</worldbody></mujoco>"


def inline(said: str = "", faces: np.ndarray = FACES) -> str:
    return f'<mesh name="m" vertex="{text(VERTICES)}" face="{text(faces)}" {said}/>'


def compare(body: Inertia, theirs: mujoco.MjModel) -> None:
    k = theirs.body("arm").id
    turn = np.asarray(quaternion_rotation(theirs.body_iquat[k]), dtype=float)
    tensor = turn @ np.diag(theirs.body_inertia[k]) @ turn.T
    moments = np.sort(theirs.body_inertia[k])
    assert abs(body.mass / theirs.body_mass[k] - 1.0) < CLOSE
    assert np.abs(body.com - theirs.body_ipos[k]).max() < 10 * CLOSE
    assert np.abs(np.linalg.eigvalsh(body.tensor) / moments - 1.0).max() < 1e-12
    assert np.abs(body.tensor - tensor).max() < TURNED * moments[-1]


MODELS = {
    "default": model(inline()),
    **{kind: model(inline(f'inertia="{kind}"')) for kind in ("legacy", "exact", "convex", "shell")},
    "by mass": model(inline(), 'mass="2.5"'),
    "by density": model(inline('inertia="exact"'), 'density="7.5"'),
    "scale": model(inline('scale="0.1 0.2 0.3" inertia="exact"')),
    "mirrored": model(inline('scale="-0.1 0.2 0.3" inertia="exact"')),
    "reference": model(inline('refpos="0.1 0.2 0.3" refquat="0.5 0.6 0.1 0.3" scale="0.1 0.2 0.3" inertia="shell"')),
    "points alone": model(f'<mesh name="m" vertex="{text(VERTICES)}"/>'),
    "turned inwards": model(inline(faces=FACES[:, ::-1])),
    "open": model(inline('inertia="exact"', FACES[:-1])),
    "of a class": model(inline(), before='<default><mesh scale="0.5 0.5 0.5" inertia="convex"/></default>'),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_mass_is_that_of_mujoco(name: str) -> None:
    reading = reader.parse(MODELS[name])
    assert reading.description is not None, reading.problems
    compare(reading.description.mechanism.links[0].body, mujoco.MjModel.from_xml_string(MODELS[name]))


@pytest.mark.parametrize("inertia", ["legacy", "exact", "convex", "shell"])
@pytest.mark.parametrize(
    "generated",
    [
        *(f"sphere {k}" for k in (0, 1, 3)),
        *(f"hemisphere {k}" for k in (0, 1, 7)),
        *("cone 3 1", "cone 5 0.5", "cone 7 0"),
        *("supersphere 16 1 1", "supersphere 30 .4 2", "supersphere 32 .3 .4", "supersphere 5 0 .3"),
        *("supertorus 30 .5 .4 2", "supertorus 7 .3 1 1"),
    ],
)
def test_generated_meshes(generated: str, inertia: str) -> None:
    name, params = generated.split(" ", 1)
    said = f'builtin="{name}" params="{params}" inertia="{inertia}" scale="0.3 0.4 0.5" refpos="0.1 0.2 0.3"'
    xml = model(f'<mesh name="m" {said}/>')
    compare(lw.loads(xml).links[0].body, mujoco.MjModel.from_xml_string(xml))


@pytest.mark.parametrize("kind", ["stl", "obj", "msh"])
def test_files(kind: str, tmp_path: Path) -> None:
    """In the folder of meshes; the name of the mesh is that of its file."""
    (tmp_path / "meshes").mkdir()
    mesh = trimesh.Trimesh(VERTICES, FACES, process=False)
    if kind == "msh":
        counts = np.array([len(VERTICES), 0, 0, len(FACES)], dtype="<i4")
        data = counts.tobytes() + VERTICES.astype("<f4").tobytes() + FACES.astype("<i4").tobytes()
        (tmp_path / "meshes" / "m.msh").write_bytes(data)
    else:
        mesh.export(tmp_path / "meshes" / f"m.{kind}", **({"digits": 12} if kind == "obj" else {}))
    path = tmp_path / "arm.xml"
    path.write_text(model(f'<mesh file="m.{kind}" inertia="exact"/>', before='<compiler meshdir="meshes"/>'))
    compare(lw.load(path).links[0].body, mujoco.MjModel.from_xml_path(str(path)))


def test_a_file_of_points_is_their_hull(tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text("# points\n" + "\n".join(f"v {' '.join(map(repr, row))}" for row in VERTICES.tolist()))
    path = tmp_path / "arm.xml"
    path.write_text(model('<mesh file="m.obj"/>'))
    compare(lw.load(path).links[0].body, mujoco.MjModel.from_xml_path(str(path)))


def test_faces_of_four_corners_that_are_not_flat(tmp_path: Path) -> None:
    """Each is cut along the shorter diagonal, whichever corner comes first, and whatever blanks stand between words."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1.25), (1.25, 1, 1), (0, 1, 1.5)]
    sides = [(4, 3, 2, 1), (1, 2, 6, 5), (2, 3, 7, 6), (3, 4, 8, 7), (4, 1, 5, 8)]
    for name, face_row, top in (("m", "f {} {} {} {}", (5, 6, 7, 8)), ("n", " f\t{} {}\t{}  {} ", (6, 7, 8, 5))):
        rows = ["v {} {} {}".format(*corner) for corner in corners] + [face_row.format(*face) for face in [*sides, top]]
        (tmp_path / f"{name}.obj").write_text("\n".join(rows))  # (MuJoCo keeps the meshes of a file of the same name)
        path = tmp_path / "arm.xml"
        path.write_text(model(f'<mesh name="m" file="{name}.obj" inertia="exact"/>'))
        ours, theirs = lw.load(path).links[0].body.mass, mujoco.MjModel.from_xml_path(str(path)).body_mass[1]
        assert abs(ours / theirs - 1.0) < 1e-7, "single precision"


def test_faces_of_any_number_of_corners_are_cut_as_mujoco_cuts_them() -> None:
    """The same triangles in the same order, also where corners turn inwards, or are less than a millimetre apart."""
    rng = np.random.default_rng(0)
    for case in range(60):
        count = int(rng.integers(4, 9))
        angles, radii = np.sort(rng.uniform(0.0, 2.0 * np.pi, count)), rng.uniform(0.2, 1.5, count)
        flat = np.column_stack([radii * np.cos(angles), radii * np.sin(angles), 0.1 * rng.standard_normal(count)])
        pose = random_pose(rng)
        polygon = ((flat @ pose[:3, :3].T + pose[:3, 3]) * (1e-4 if case % 4 == 0 else 1.0)).astype(np.float32)
        points = [*polygon, polygon.mean(axis=0) + 3.0 * polygon.std()]
        face = " ".join(str(k + 1) for k in range(count))
        rows = [*("v {:.9g} {:.9g} {:.9g}".format(*point) for point in points), f"f {face}", f"f {count + 1} 1 2"]
        name = f"polygon{case}.obj"  # (MuJoCo keeps the meshes of a file of the same name)
        text = model(f'<mesh name="m" file="{name}" inertia="shell"/>').replace('mesh="m"', 'mesh="m" density="1e12"')
        theirs = mujoco.MjModel.from_xml_string(text, {name: "\n".join(rows).encode()}).mesh_face[:-1]
        assert triangles_of(polygon) == [tuple(triangle) for triangle in theirs.tolist()], (case, polygon)


@pytest.mark.parametrize("count", [100, 101])
def test_faces_of_very_many_corners_are_left_out_as_mujoco_does(count: int, tmp_path: Path) -> None:
    """A prism without its ends has two thirds of its mass by the rule of MuJoCo's that counts pyramids."""
    angles, k = np.arange(count) * 2.0 * np.pi / count, np.arange(1, count + 1)
    points = [(np.cos(angle), np.sin(angle), z) for z in (0.0, 1.0) for angle in angles]
    sides = np.column_stack([k, k % count + 1, k % count + 1 + count, k + count])
    rows = ["v {:.9g} {:.9g} {:.9g}".format(*point) for point in points]
    rows += ["f " + " ".join(map(str, face)) for face in (k[::-1].tolist(), (k + count).tolist(), *sides.tolist())]
    (tmp_path / f"prism{count}.obj").write_text("\n".join(rows))
    path = tmp_path / "arm.xml"
    path.write_text(model(f'<mesh name="m" file="prism{count}.obj"/>'))
    compare(lw.load(path).links[0].body, mujoco.MjModel.from_xml_path(str(path)))


@pytest.mark.parametrize("inertia", ["legacy", "exact", "convex"])
@pytest.mark.parametrize("starts", ["o {}", "g {}", "s off\n o {}"])
def test_the_first_object_of_a_file_counts(inertia: str, starts: str, tmp_path: Path) -> None:
    """MuJoCo takes no faces of the second object or group, but all points for the hull."""
    rows = []
    for k, shift in enumerate((0.0, 3.0)):
        corners = (VERTICES + shift).astype(np.float32).astype(float)  # (MuJoCo reads no more digits)
        rows += [starts.format(f"part{k}"), *("v " + " ".join(map(repr, row)) for row in corners.tolist())]
        rows += ["f " + " ".join(map(str, row)) for row in (FACES + 1 + k * len(VERTICES)).tolist()]
    name = f"{inertia}{starts[0]}"  # (MuJoCo keeps the meshes of a file of the same name)
    (tmp_path / f"{name}.obj").write_text("\n".join(rows))
    path = tmp_path / "arm.xml"
    path.write_text(model(f'<mesh name="m" file="{name}.obj" inertia="{inertia}"/>'))
    compare(lw.load(path).links[0].body, mujoco.MjModel.from_xml_path(str(path)))


@pytest.mark.parametrize(
    ("mesh", "why"),
    [
        ('<mesh name="m" file="missing.stl"/>', "cannot be read (No such file"),
        ('<mesh name="m" file="../m.stl"/>', "the path leaves the folder of the main file"),
        ('<mesh name="m" file="m.step"/>', "of another kind than .stl, .obj or .msh"),
        ('<mesh name="m" file="bad.stl"/>', "mesh file 'bad.stl': it holds no triangles"),
        ('<mesh name="m" file="bad.msh"/>', "is no .msh file of MuJoCo"),
        ('<mesh name="n" file="m.stl"/>', "there is no mesh 'm' (expected 'n')"),
        ('<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 1 1 0"/>', "its vertices have no convex hull"),
        ('<mesh name="m" vertex="0 0 0 1"/>', "vertex of mesh 'm' has 4 numbers"),
        ('<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9"/>', "nor vertices that make a body"),
        (inline('inertia="exact"', FACES[:, ::-1]), "its volume is not positive"),
        (inline('inertia="exact"', np.vstack([FACES[:-1], FACES[-1:, ::-1]])), "its triangles are not all turned outwards"),
        (inline('refquat="0 0 0 0"'), "refquat of mesh 'm' has no direction"),
        (inline('inertia="convex" maxhullvert="5"'), "with no more than maxhullvert corners is not known here"),
        ('<mesh name="m" builtin="wedge" params="2 2 90 40 0"/>', "builtin 'wedge' is not known here (known are "),
        ('<mesh name="m" builtin="cone" params="2 0.5"/>', "expected nvert from 3 to 10000, radius from 0 to 1"),
        ('<mesh name="m" builtin="sphere" params="1.5"/>', "expected subdivision from 0 to 4"),
        ('<mesh name="m" builtin="sphere"/>', "builtin sphere has params []"),
        (inline('weight="3"'), "has no attribute 'weight'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(mesh: str, why: str, tmp_path: Path) -> None:
    for name in ("bad.stl", "bad.msh"):
        (tmp_path / name).write_bytes(b"\x01\x02\x03" * 40)
    path = tmp_path / "arm.xml"
    path.write_text(model(mesh))
    with pytest.raises(FileError) as caught:
        lw.load(path)
    assert why in str(caught.value)
