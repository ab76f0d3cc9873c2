"""Chains of hundreds of links: nothing recurses in Python over the depth of a tree or of a graph."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import Link, Mechanism, Mimic, Motor, Spring
from linkwise.cli import main
from linkwise.expr.node import symbol
from linkwise.expr.simplify import shortened
from linkwise.robo.writing import _outward
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.transform import transform


def chain(count: int, **options: object) -> Mechanism:
    """Axes in different directions, so that every joint begins a stage of its own."""
    links = [
        Link.dh(
            a=0.01 + 1e-5 * k, alpha=0.3 if k % 3 else -0.2, d=0.001 * (k % 5), convention="standard",
            mass=1.0, com=(-0.005, 0.001, 0.0), inertia=(1e-3, 1e-3, 1e-3),
        )
        for k in range(count)
    ]  # fmt: skip
    return Mechanism(links, name=f"chain of {count}", **options)


def poses_of(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    """Every link's frame, by matrix products."""
    at, found = np.eye(4), []
    for link, angle in zip(mech.links, q, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        at = at @ np.asarray(link.before, float) @ turn @ np.asarray(link.after, float)
        found.append(at)
    return np.array(found)


@pytest.fixture
def little_recursion() -> Iterator[None]:
    """So little room for recursion that a chain of a hundred links would not fit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 90)
    yield
    sys.setrecursionlimit(limit)


def test_kinematics_of_a_long_chain(little_recursion: None) -> None:
    """Against matrix products; each joint adds some roundings of vectors of the chain's length, which is some metres."""
    count = 120
    mech = chain(count)
    q = np.random.default_rng(count).uniform(-0.1, 0.1, count)
    poses = poses_of(mech, q)
    size = np.abs(poses[:, :3, 3]).max()
    bound = 4 * count * np.finfo(float).eps * max(1.0, size)
    numbers = {name: mech.kernel(name, backend="numpy") for name in ("forward_kinematics", "link_poses", "jacobian")}
    assert np.abs(numbers["forward_kinematics"](q) - poses[-1]).max() < bound
    assert np.abs(numbers["link_poses"](q) - poses).max() < bound
    jac = numbers["jacobian"](q)
    before = np.concatenate([np.eye(4)[None], poses[:-1]])
    axes = np.array([(pose @ np.asarray(link.before, float))[:3, 2] for pose, link in zip(before, mech.links, strict=True)])
    origins = before[:, :3, 3]
    assert np.abs(jac[3:] - axes.T).max() < bound
    assert np.abs(jac[:3] - np.cross(axes, poses[-1, :3, 3] - origins).T).max() < bound
    assert numbers["jacobian"].operations["mul"] < 45 * count, "operations grow in proportion"
    body = mech.kernel("jacobian", backend="numpy", frame="body")(q)
    turned = np.concatenate([poses[-1, :3, :3].T @ jac[:3], poses[-1, :3, :3].T @ jac[3:]])
    assert np.abs(body - turned).max() < bound


def test_a_long_chain_compiles_and_is_called() -> None:
    mech = chain(500)
    q = np.random.default_rng(0).uniform(-0.1, 0.1, 500)
    assert np.abs(mech.forward_kinematics(q) - poses_of(mech, q)[-1]).max() < 1e-12


def test_a_long_chain_is_shown_copied_sent_and_saved(tmp_path: Path) -> None:
    count = 200
    mech = chain(count)
    assert len(repr(mech).splitlines()) > count
    assert mech._repr_html_().count("<tr") > count
    assert copy.deepcopy(mech) == pickle.loads(pickle.dumps(mech)) == mech
    for suffix in (".toml", ".urdf"):
        lw.save(mech, tmp_path / f"chain{suffix}")
        assert lw.load(tmp_path / f"chain{suffix}").n == count
    kernel = mech.kernel("forward_kinematics", backend="numpy")
    assert pickle.loads(pickle.dumps(kernel)).tape == kernel.tape
    assert len(kernel.to_text()) > count
    assert len(kernel.to_python()) > count


def tree(count: int, *, plain: bool = False) -> Mechanism:
    """A trunk with branches of twenty links, on a floating base and with all that there is; plain: what URDF can hold."""
    rng = np.random.default_rng(count)
    kinds = ("fixed", "revolute", "revolute" if plain else "ball", "revolute", "prismatic", "revolute")
    links = []
    for k in range(count):
        kind, before = kinds[k % 6], np.asarray(rpy_to_rotation(*rng.uniform(-1, 1, 3)), float)
        fields: dict[str, Any] = {"joint": kind, "axis": rng.normal(size=3), "joint_name": f"joint{k}"}
        fields["before"] = transform(before, rng.uniform(-0.05, 0.05, 3))
        if kind in {"revolute", "prismatic"}:
            fields |= {"limits": (-2.0, 2.0), "tau_max": 100.0}
        if not plain and k % 6 == 5 and k > 6:
            fields["mimic"] = Mimic(f"joint{k - 6 if k % 4 else k - 4}", 0.5, 0.1)
        elif not plain and k % 6 in {1, 3}:
            fields["motor"] = Motor(1e-4, 50.0, 1e-3, 0.1, carrier=f"link{k // 2 + 1}", axis=(0, 0, 1))
        parent = "base" if k == 0 else f"link{k if k % 20 else k - 19}"
        body = {"mass": 1.0 + k % 3, "com": rng.uniform(-0.1, 0.1, 3), "inertia": (0.011, 0.012, 0.013, 1e-4, 2e-4, -1e-4)}
        links.append(Link(name=f"link{k + 1}", parent=parent, **fields, **body))
    springs = () if plain else [Spring(f"joint{k}", stiffness=10.0, damping=0.1) for k in range(3, count, 6)]
    return Mechanism(links, name=f"tree of {count}", springs=springs, floating=not plain)


@pytest.mark.parametrize("make", [chain, tree])
def test_mechanisms_of_hundreds_of_links_are_changed(make: Callable[[int], Mechanism], little_recursion: None) -> None:
    mech = make(300)
    middle = "link150"
    assert mech.perturb(0.0) == mech.replace() == mech.with_payload(1.0).with_payload()
    assert hash(mech) == hash(mech.replace())
    assert mech.replace_link(middle, mass=9.0).links[149].body.mass == 9.0
    held = mech.names[:10]
    assert mech.lock(dict.fromkeys(held, 0.1)).n == mech.n - 10
    assert mech.carried(149)[0] == 149
    whole = chain(300)
    assert len(whole.subtree("link201").links) == 100
    assert whole.attach(chain(300), prefix="other_").n == 600
    q = mech.random_configuration(3)
    assert np.abs(mech.difference(mech.neutral, q)).max() > 0
    assert len(repr(mech).splitlines()) > 300
    assert pickle.loads(pickle.dumps(mech)) == mech


@pytest.mark.parametrize("make", [chain, tree])
def test_links_may_stand_in_any_order(make: Callable[[int], Mechanism], little_recursion: None) -> None:
    """Each before the one that carries it: the worst order for what goes through the list until all are placed."""
    mech = make(300)
    links = [
        link.replace(parent="base" if at < 0 else f"link{at + 1}") for link, at in zip(mech.links, mech.parents, strict=True)
    ]
    turned = mech.replace(links=links[::-1], tool_link="link300")
    places = {k: at for at, k in enumerate(turned.order)}
    assert all(parent < 0 or places[parent] < places[k] for k, parent in enumerate(turned.parents))
    assert turned.n == mech.n


@pytest.mark.parametrize("make", [chain, partial(tree, plain=True), tree])
@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml"])
def test_files_of_hundreds_of_links(
    make: Callable[[int], Mechanism], suffix: str, tmp_path: Path, little_recursion: None
) -> None:
    """Written, read back, checked, shown and converted. MJCF stands a body in the one that carries it: hundreds deep."""
    mech, path = make(300), tmp_path / f"model{suffix}"
    if suffix == ".urdf" and mech.floating:
        pytest.skip("a URDF has no springs and no carriers of rotors")
    lw.save(mech, path, allow_loss=True)
    again = lw.load(path)
    masses = [sum(link.body.mass for link in each.links) for each in (mech, again)]
    assert again.n == mech.n
    assert masses[0] == pytest.approx(masses[1], rel=1e-12)
    assert again == mech or suffix != ".toml"
    assert not lw.files.check(path)
    assert path.stat().st_size < 1.2e6


def test_included_bodies_a_thousand_deep(tmp_path: Path, little_recursion: None) -> None:
    lw.save(chain(1000), tmp_path / "chain.xml", allow_loss=True)
    path = tmp_path / "main.xml"
    path.write_text('<mujoco model="main"><include file="chain.xml"/></mujoco>', encoding="utf-8")
    assert lw.load(path).n == 1000


def test_commands_on_a_thousand_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A guard against what grows with the square or the cube: each is some tenths of a second."""
    path = tmp_path / "tree.toml"
    lw.save(tree(1000), path)
    limit, begin = sys.getrecursionlimit(), time.perf_counter()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        for words in (
            ["check", path],
            ["show", path, "--no-picture"],
            ["show", path, "--json"],
            ["convert", path, tmp_path / "a.xml", "--allow-loss"],
        ):
            with pytest.raises(SystemExit) as end:
                main([str(word) for word in words])
            assert not end.value.code, capsys.readouterr().err
    finally:
        sys.setrecursionlimit(limit)
    assert time.perf_counter() - begin < 60
    assert "link1000" in capsys.readouterr().out


def test_a_long_chain_in_symbols(little_recursion: None) -> None:
    mech = chain(120).symbolic("lengths")
    assert len(mech.kernel("forward_kinematics", backend="numpy").tape.inputs) == 2


def test_two_chains_are_compared(little_recursion: None) -> None:
    """The search places one axis after the other."""
    mech = chain(120)
    assert lw.compare(mech, mech.replace(name="other")).same


def test_long_products_with_common_factors() -> None:
    """Both summands have 1,500 factors in common, and neither is needed elsewhere."""
    x, y, others = symbol("x"), symbol("y"), [symbol(f"s{k}") for k in range(1500)]
    one, other = x, y
    for factor in others:
        one, other = one * factor, other * factor
    assert len(shortened([one + other])) == 1


def test_slides_on_slides() -> None:
    """All that a link turns, beyond any number of slides, in the order from the base out."""
    slides = [Link(joint="prismatic", axis=(0, 0, 1), after=np.eye(4), mass=1.0) for _ in range(1100)]
    mech = Mechanism([Link(joint="revolute", axis=(0, 0, 1), mass=1.0), *slides])
    assert [k for k, _ in _outward(mech, 0, np.eye(4))] == list(range(1, 1101))
