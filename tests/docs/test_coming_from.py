"""What the pages for users of other systems say: every name of Linkwise in their tables exists and runs, numbers agree."""

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import rtss
from linkwise.cli import main
from linkwise.spatial import quaternion, rotation, transform
from support.numpy_backend import compute_by_numpy

from .conftest import ROOT, blocks, desk_in

FOLDER = ROOT / "docs" / "coming-from"
SYSTEMS = ("spacelib", "robotics-toolbox", "cdp-studio", "robo", "pinocchio", "ikpy")
OURS, SAME = "Linkwise", "the same numbers"
BOUND = 1e-9
"""Of values of the order of 1 to 100: what some hundred operations round, and a solve of condition 1e4."""
SEARCHED = 2e-8
"""Of answers by a search: it ends at 1e-9 m and rad here, at some 1e-10 m in ikpy."""

RNG = np.random.default_rng(9)


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def tables(page: Path) -> list[tuple[list[str], list[list[str]]]]:
    """The tables of a page: the head of each, and its rows."""
    found: list[tuple[list[str], list[list[str]]]] = []
    before = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"\|[-|]+\|", line):
            found.append((cells(before), []))
        elif line.startswith("|") and before.startswith("|"):
            found[-1][1].append(cells(line))
        before = line
    return found


def names_tables(system: str, same: bool) -> list[tuple[list[str], list[list[str]]]]:
    """The tables that go name by name, those that say "the same numbers" or the others."""
    text = FOLDER / f"{system}.md"
    found = [table for table in tables(text) if any(head.startswith(OURS) for head in table[0]) and table[0][0]]
    return [table for table in found if any(SAME in head for head in table[0]) == same]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that the snippets of a page leave behind, for all its tests; computed by NumPy, without compiling."""
    names: dict[str, Any] = {"lw": lw, "np": np, "__name__": "__main__"}
    with desk_in(tmp_path_factory.mktemp(request.param)), pytest.MonkeyPatch.context() as patch:
        compute_by_numpy(patch)
        for block in blocks(FOLDER / f"{request.param}.md"):
            if block.language == "python" and block.skipped is None:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block.text, block.place, "exec"), names)
        yield {**names, **spoken(request.param, names)}


def spoken(system: str, names: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a page's tables speak of, beside what its snippets made."""
    if system == "spacelib":
        return {}
    if system == "cdp-studio":
        return {"links": names["links"]}
    known = {"rotation": rotation, "transform": transform, "quaternion": quaternion, "t": np.linspace(0.0, 2.0, 5)}
    if system == "robotics-toolbox":
        known |= {"robot": rtss.rt_puma560(), "w": np.arange(1.0, 7.0)}
        known["arm"] = known["robot"].mechanism()
        known |= {name: value for name, value in vars(rtss).items() if name.startswith("rt_")}
    arm = known.get("arm", names.get("arm"))
    q, q1, v, a, tau = RNG.uniform(-0.5, 0.5, (5, arm.n))
    if system in {"pinocchio", "ikpy"}:
        q = q + np.array([0.0, 0.0, 1.0])  # the elbow bent
    T = arm.forward_kinematics(q)
    known |= {"q": q, "q1": q1, "v": v, "qd": v, "a": a, "qdd": a, "tau": tau, "q0": q, "T": T, "p": T[:3, 3]}
    known |= {"T1": arm.forward_kinematics(q1), "push": np.arange(1.0, 7.0), "path": "of_the_page.urdf", "rng": RNG}
    lw.save(lw.robots.planar_2r(), "of_the_page.urdf", allow_loss=True)
    return known | {"many": RNG.uniform(-0.5, 0.5, (7, arm.n)), "joints": [0, *q, 0]}


def run(expression: str, names: dict[str, Any]) -> Any:
    """Run what stands in a table: an expression, a command, or the name of a port of the chain."""
    if expression.startswith("linkwise "):
        command = expression.split()[1]
        with contextlib.redirect_stdout(io.StringIO()), pytest.raises(SystemExit) as left:
            main([command, "--help"])
        assert not left.value.code, expression
        return None
    if re.fullmatch(r"\w+\.[\w.]+", expression) and "chain" in names and expression in ports(names["chain"]):
        return names["chain"][expression]
    return eval(compile(expression, expression, "eval"), names)


def ports(chain: Any) -> tuple[str, ...]:
    """The names of a chain's ports, none where it is no chain of ours."""
    return tuple(chain.ports.find("*")) if isinstance(chain, lw.control.Chain) else ()


def is_whole(expression: str) -> bool:
    """Whether it can be run: neither ``max_iter=`` nor ``.position``, which stand in remarks."""
    if expression.startswith("linkwise "):
        return True
    try:
        ast.parse(expression, mode="eval")
    except SyntaxError:
        return False
    return True


def test_every_page_is_there() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == set(SYSTEMS)


@pytest.mark.parametrize("page", SYSTEMS, indirect=True)
def test_names_of_linkwise_run(page: dict[str, Any], request: pytest.FixtureRequest) -> None:
    system = request.node.callspec.params["page"]
    ran = 0
    for same in (False, True):
        for head, rows in names_tables(system, same):
            columns = [k for k, text in enumerate(head) if text.startswith(OURS)]
            for row in rows:
                for expression in [text for k in columns for text in code(row[k])]:
                    assert is_whole(expression), f"{system}: {expression}"
                    try:
                        with contextlib.redirect_stdout(io.StringIO()):
                            run(expression, page)
                    except Exception as error:
                        raise AssertionError(f"{system}: {expression}: {type(error).__name__}: {error}") from error
                    ran += 1
    assert ran > 5


def test_names_of_the_toolbox_for_scilab_exist() -> None:
    spoken = set(re.findall(r"\brt_\w+", (FOLDER / "robotics-toolbox.md").read_text(encoding="utf-8")))
    not_there = {"rt_plot", "rt_ikine560"}  # in the first column alone; the page says what stands for them
    assert {name for name in spoken if not hasattr(rtss, name)} == not_there


def compare(system: str, column: int, page: dict[str, Any], bound: float = BOUND) -> int:
    """Run a column of the tables that say so beside the last one, and compare; how many rows there were."""
    compared = 0
    for _, rows in names_tables(system, True):
        for row in rows:
            theirs, ours = code(row[column]), code(row[-1])
            if not theirs:
                continue
            first = [run(expression, page) for expression in theirs][-1]
            second = [run(expression, page) for expression in ours][-1]
            pairs = zip(first, second, strict=True) if isinstance(second, tuple) else [(first, second)]
            for one, other in pairs:
                got, wanted = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
                np.testing.assert_allclose(got, wanted, rtol=bound, atol=bound, err_msg=f"{system}: {theirs[-1]}")
            compared += 1
    return compared


@pytest.mark.parametrize("page", ["robotics-toolbox"], indirect=True)
def test_toolbox_for_scilab_gives_the_same_numbers(page: dict[str, Any]) -> None:
    assert compare("robotics-toolbox", 0, page) == 17


@pytest.mark.parametrize("page", ["robo"], indirect=True)
def test_robo_gives_the_same_numbers(page: dict[str, Any]) -> None:
    assert compare("robo", 1, page) == 5


@pytest.mark.parametrize("page", ["pinocchio"], indirect=True)
def test_pinocchio_gives_the_same_numbers(page: dict[str, Any]) -> None:
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    model = pin.buildModelFromUrdf("arm.urdf")
    frame = model.getFrameId("hand")
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    forces[-1] = model.frames[frame].placement.act(pin.Force(page["push"]))
    peer = {"pin": pin, "model": model, "data": model.createData(), "frame": frame, "world": pin.LOCAL_WORLD_ALIGNED}
    assert compare("pinocchio", 0, {**page, **peer, "pushed": pin.StdVec_Force(forces)}) == 34


@pytest.mark.parametrize("page", ["ikpy"], indirect=True)
def test_ikpy_gives_the_same_numbers(page: dict[str, Any]) -> None:
    ikpy = pytest.importorskip("ikpy.chain")
    mask = [False, True, True, True, False]
    chain = ikpy.Chain.from_urdf_file("arm.urdf", base_elements=["pillar"], active_links_mask=mask)
    assert compare("ikpy", 0, {**page, "chain": chain}, SEARCHED) == 4


@pytest.mark.parametrize("page", ["robotics-toolbox"], indirect=True)
def test_toolbox_for_python_gives_the_same_numbers(page: dict[str, Any]) -> None:
    rtb = pytest.importorskip("roboticstoolbox")
    robot = rtb.models.DH.Puma560()
    robot.links[0].d = 0.0  # it stands 0.6718 m higher
    assert (
        compare("robotics-toolbox", 1, {**page, "rtb": rtb, "robot": robot, "SE3": pytest.importorskip("spatialmath").SE3})
        == 18
    )


CDP = {
    "CalculationMethod",
    "StartPosition", "StartingDoF", "CalculationsPerCycle", "CalculationPrecision", "Unsolved", "Alpha", "Theta", "A",
    "D", "ThetaSolved", "DSolved", "PredictedTheta", "PredictedD", "ThetaSpeed", "DSpeed", "CalculatedThetaSpeed",
    "CalculatedDSpeed", "P", "I", "R", "Limits", "Min", "Max", "Position", "RotationMatrix", "SolvedPosition",
    "SolvedRotation", "CalculatedVelocity", "CalculatedAngularVelocity", "MaxSpeed", "MaxAcceleration",
    "MaxDeceleration", "Angles", "Velocity", "AngularVelocity", "MovingPosition", "fs",
}  # fmt: skip
"""Properties, arguments and ports of DHChain and DHLink in CDP Studio's manual (4.11 to 5.0)."""


def test_every_property_of_cdp_studio_has_a_row() -> None:
    firsts = [row[0] for same in (False, True) for _, rows in names_tables("cdp-studio", same) for row in rows]
    assert {name for cell in firsts for name in code(cell)} >= CDP
    assert {"DHChain", "DHRevoluteLink", "DHPrismaticLink", "DHFixedLink"} <= set(firsts)


@pytest.mark.parametrize("page", ["cdp-studio"], indirect=True)
def test_ports_that_the_page_of_cdp_studio_names_exist(page: dict[str, Any]) -> None:
    text = (FOLDER / "cdp-studio.md").read_text(encoding="utf-8").partition("## Name by name")[2]
    named = {name for name in code(text) if re.fullmatch(r"(boom|hold|start)(\.\w+)+", name)}
    assert len(named) > 30
    assert named <= set(ports(page["chain"]))
