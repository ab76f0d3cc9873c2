"""Chains of hundreds of links: nothing recurses in Python over the depth of a tree or of a graph."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import Link, Mechanism
from linkwise.expr.node import symbol
from linkwise.expr.simplify import shortened
from linkwise.robo.writing import _outward


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
    count = 200
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
    count = 400
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


def test_a_long_chain_in_symbols(little_recursion: None) -> None:
    mech = chain(200).symbolic("lengths")
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
