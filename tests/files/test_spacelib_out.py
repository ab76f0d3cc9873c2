"""Numbers of SCARA and SMART: the manual's section 7.1 (tables 7.2 to 7.5), results of its program put right."""

import re
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.files import csv_results, spacelib_out

SCARA = (
    [(0, 0, 0, 0, 0.33, 0, 10, 0.03, 0, 0, 0.03, 0, 0.05, -0.05, 0, 0)] * 2
    + [(1, 0, -0.1, 0, 0, 3.1415, 3, 0.0008, 0, 0, 0.0008, 0, 0.0015, 0, 0, -0.1)],
    [(0.1, 1.1, 11), (0.1, 2.1, 21), (0, 0, 0)],
)  # fmt: skip
SMART = (
    [
        (0, 0, 0.8, 0, 0, 1.57079, 600, 100, 0, 0, 120, 0, 100, 0, -0.4, 0),
        (0, 0, 0, 0, 0.75, 0, 300, 18, 0, 0, 10, 0, 10, -0.3, 0, 0),
        (0, 0, 0, 0.5, 0, -1.57079, 200, 10, 0, 0, 10, 0, 18, 0, 0, -0.2),
        (0, 0, 0.45, 0, 0, 1.57079, 100, 3, 0, 0, 5, 0, 3, 0, -0.2, 0),
        (0, 0, 0, 0.15, 0, -1.57079, 100, 3, 0, 0, 3, 0, 5, 0, 0, -0.07),
        (0, 0, 0, 0, 0, 0, 200, 4, 0, 0, 4, 0, 6, 0, 0, -0.5),
    ],
    [(0, 0.5, 2), (1.57, 0.5, 2), (-1.57, 0.5, 2), (0, 0.5, 2), (0.26, 0.5, 2), (0, 0.5, 2)],
)
ACTIONS = {
    "SCARA": (
        [[0, 114.320900987, 105.536456218, 78.4534728926], [-114.320900987, 0, 14.3158676653, -187.895655583],
         [-105.536456218, -14.3158676653, 0, -225.4], [-78.4534728926, 187.895655583, 225.4, 0]],
        [[0, 27.7793775674, 19.1620803218, 18.5092839326], [-27.7793775674, 0, 2.89633958117, -39.7500282188],
         [-19.1620803218, -2.89633958117, 0, -29.4], [-18.5092839326, 39.7500282188, 29.4, 0]],
    ),
    "SMART": (
        [[0, 381.15673291, 5663.00173845, 2542.54636491], [-381.15673291, 0, 1104.57470963, 527.983181074],
         [-5663.00173845, -1104.57470963, 0, -14365.1269445],
         [-2542.54636491, -527.983181074, 14365.1269445, 0]],
        [[0, 27.7172497334, 1746.39280779, 712.665988219], [-27.7172497334, 0, 114.128362714, 57.4843185842],
         [-1746.39280779, -114.128362714, 0, -1992.91895856],
         [-712.665988219, -57.4843185842, 1992.91895856, 0]],
    ),
}  # fmt: skip
LAST = {
    "SCARA": {
        "WA": [[0, -3.2, 0, 0.0691845577362519], [3.2, 0, 0, -0.689537886537672], [0] * 4, [0] * 4],
        "HA": [[-10.24, -32, 0, 3.65685848947451], [32, -10.24, 0, -6.59788526711083], [0] * 4, [0] * 4],
        "T": [
            [0.980066577841242, 0.198669329942304, 1.84074266536098e-05, 0.651773345229358],
            [0.198669330795061, -0.980066573634459, -9.08066865432633e-05, 0.0985059066558235],
            [0, 9.26535896604903e-05, -0.999999995707656, -0.1],
            [0, 0, 0, 1],
        ],
    },
    "SMART": {
        "WA": [
            [0, -1.48320447926027, -1.50000010629184, 2.42500826212613],
            [1.48320447926027, 0, 0.128540275943505, -0.32193787139014],
            [1.50000010629184, -0.128540275943505, 0, -0.000596106549584988],
            [0] * 4,
        ],
    },
}


def mechanism(rows: list[tuple[float, ...]]) -> lw.Mechanism:
    links = []
    for kind, theta, d, b, a, alpha, mass, jxx, jxy, jxz, jyy, jyz, jzz, *com in rows:
        links.append(
            lw.Link.dh(
                theta, d, a, alpha, b=b, convention="standard", joint=["revolute", "prismatic"][int(kind)], mass=mass,
                com=com, inertia=(jxx, jyy, jzz, jxy, jyz, jxz), physical=False,
            )
        )  # fmt: skip
    return lw.Mechanism(links, gravity=(0, 0, -9.8))


def matrices(made: lw.Mechanism, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, external: object = None) -> np.ndarray:
    actions = made.joint_wrenches(q, qd, qdd, external)
    return spacelib_out.matrices(made, qd, qdd, *made.motion(q, qd, qdd), actions)


def named(values: np.ndarray) -> dict[str, np.ndarray]:
    return {label.split()[-1]: values[:, :, k] for k, label in enumerate(spacelib_out.LABELS)}


@pytest.mark.parametrize(("name", "given"), [("SCARA", SCARA), ("SMART", SMART)])
def test_against_the_manual(name: str, given: tuple[list, list]) -> None:
    q, qd, qdd = np.array(given[1]).T[:, None]
    found = named(matrices(mechanism(given[0]), q, qd, qdd))
    first, last = ACTIONS[name]
    assert np.allclose(found["ACTO"][0, 0], first, rtol=1e-11, atol=1e-9)
    assert np.allclose(found["ACTO"][0, -1], last, rtol=1e-11, atol=1e-9)
    for label, expected in LAST[name].items():
        assert np.allclose(found[label][0, -1], expected, rtol=1e-12, atol=1e-12)


def random_tree() -> lw.Mechanism:
    rng = np.random.default_rng(3)

    def placed() -> np.ndarray:
        return lw.Link.dh(*rng.normal(size=4), convention="standard").placement(0.3)

    kinds = ["revolute", "prismatic", "screw", "fixed", "revolute"]
    parents = [None, "a", "a", "c", "base"]
    return lw.Mechanism(
        [
            lw.Link(
                name=name, parent=parent, joint=kind, before=placed(), after=placed(), axis=rng.normal(size=3),
                pitch=0.1 if kind == "screw" else 0.0, mass=1.0, com=rng.normal(size=3), inertia=(0.2, 0.2, 0.2),
            )
            for name, parent, kind in zip("abcde", parents, kinds, strict=True)
        ],
        base=placed(), tool=placed(),
    ).with_payload(0.5, (0.1, 0, 0))  # fmt: skip


def test_the_matrices_agree_with_each_other() -> None:
    made = random_tree()
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 6, made.n))
    m = named(matrices(made, q, qd, qdd))
    T, A = m["T"], m["A"]
    for k, parent in enumerate(made.parents):
        carrier = T[:, parent] if parent >= 0 else np.broadcast_to(made.base, T[:, 0].shape)
        before = (m["WA"][:, parent], m["HA"][:, parent]) if parent >= 0 else (0 * carrier, 0 * carrier)
        assert np.allclose(carrier @ A[:, k], T[:, k])
        for local, world in (("W", "WO"), ("H", "HO")):
            assert np.allclose(carrier @ m[local][:, k] @ np.linalg.inv(carrier), m[world][:, k])
        assert np.allclose(before[0] + m["WO"][:, k], m["WA"][:, k])
        assert np.allclose(before[1] + m["HO"][:, k] + 2 * before[0] @ m["WO"][:, k], m["HA"][:, k])
        children = [j for j, p in enumerate(made.parents) if p == k]
        assert np.allclose(m["FI"][:, k] + sum(m["ACTO"][:, j] for j in children), m["ACTO"][:, k])
    assert np.allclose(T @ m["J"] @ np.swapaxes(T, 2, 3), m["JO"])


def test_an_action_on_the_tool_is_carried_to_the_ground() -> None:
    made = random_tree()
    q, qd, qdd = np.zeros((3, 1, made.n))
    push = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    loaded, free = named(matrices(made, q, qd, qdd, push)), named(matrices(made, q, qd, qdd))
    added = loaded["ACTO"] - free["ACTO"]
    tool = made.forward_kinematics(q[0])
    assert np.allclose(added[0, -1, :3, 3], tool[:3, :3] @ push[:3])
    assert np.allclose(added[0, :-1], 0)


def test_the_layout() -> None:
    q, qd, qdd = np.array(SCARA[1]).T[:, None]
    twice = np.concatenate([matrices(mechanism(SCARA[0]), q, qd, qdd)] * 2)
    told = "".join(spacelib_out.text(twice))
    assert re.findall(r"^ Link (\d+) $", told, re.MULTILINE) == ["1", "2", "3"] * 2
    labels = re.findall(r"^([A-Z].*)\n(?: +-?\d+\.\d{4}){4}$", told, re.MULTILINE)
    assert labels == list(spacelib_out.LABELS) * 6
    assert "-0.0000" not in told
    first = told.split("Actions on Joint (i) ACTO\n")[1].splitlines()[0]
    assert first.split() == ["0.0000", "114.3209", "105.5365", "78.4535"]


def test_parts_join_into_the_same_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, 9, 3))
    values = matrices(mechanism(SCARA[0]), q, qd, qdd)
    whole = "".join(spacelib_out.text(values))
    monkeypatch.setattr(csv_results, "NUMBERS", 1)
    assert "".join(spacelib_out.text(values)) == whole
