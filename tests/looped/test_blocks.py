"""Straight-line code of large mechanisms in blocks, and that of very many operations."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithm import find
from linkwise.expr import ordering
from linkwise.expr.node import symbol
from linkwise.kernel import Kernel, cache, trace
from linkwise.kernel.backends.llvm import looped, looped_loading, lowering, written_out
from linkwise.looped import blocks, kernel
from linkwise.looped.blocks import CARRIED, BlockKernel, cut

NAME = "forward_dynamics_derivatives"


def branched(count: int, *, floating: bool = False) -> lw.Mechanism:
    """A trunk with branches of six joints about axes of the frames, bodies of unlike inertias."""
    links = [lw.Link(name="trunk", joint="fixed", mass=5.0, inertia=(0.1, 0.2, 0.3, 0.0, 0.0, 0.0))] if floating else []
    for k in range(count):
        before = np.eye(4)
        before[:3, 3] = 0.1, 0.02 * (k % 3), 0.05
        parent = ("trunk" if floating else "base") if k in (0, 5) else f"link{k - 1 if k % 3 else k - 2}"
        body: dict[str, Any] = {"mass": 1.0 + k % 4, "com": (0.02, 0.01, 0.05), "inertia": (0.02, 0.03, 0.04, 0.0, 0.0, 0.0)}
        motor = lw.Motor(1e-4, 50.0, 1e-3, 0.1 * (k % 2))
        links.append(lw.Link(name=f"link{k}", parent=parent, before=before, axis=np.eye(3)[k % 3], motor=motor, **body))
    return lw.Mechanism(links, floating=floating)


def states(mechanism: lw.Mechanism, rows: int) -> list[np.ndarray]:
    """Random configurations, velocities and efforts."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, (rows, mechanism.nq))
    if mechanism.floating:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    return [q, *rng.uniform(-1.0, 1.0, (2, rows, mechanism.nv))]


def assert_near(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray], bound: float = 1e-12) -> None:
    """The bound of the law of both tiers, tests/laws/test_looped.py."""
    for one, other in zip(ours, theirs, strict=True):
        assert np.abs(one - other).max() <= bound * np.abs(other).max()


def without_optimisation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile everything as what has very many operations; nothing of that may reach the disk."""
    monkeypatch.setenv(cache.VARIABLE, "")
    for module in (ordering, lowering, looped, looped_loading, written_out):
        monkeypatch.setattr(module, "MANY", 10)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled in blocks from 32 velocities on is so from 8 on."""
    monkeypatch.setattr(kernel, "BODIES", 8)


@pytest.mark.parametrize(("many", "floating"), [(False, False), (True, False), (True, True)])
def test_blocks_give_what_the_whole_straight_line_gives(monkeypatch: pytest.MonkeyPatch, many: bool, floating: bool) -> None:
    mechanism = branched(9, floating=floating)
    state = states(mechanism, 11)
    wanted = mechanism.kernel(NAME, backend="numpy", tier="straight")(*state)
    if many:
        without_optimisation(monkeypatch)
    kernel = mechanism.kernel(NAME, tier="straight")
    assert (type(kernel), kernel.tier) == (BlockKernel, "straight")
    results = kernel(*state)
    assert_near(results, wanted)
    for k in (0, 10):
        assert all(np.array_equal(of[k], one) for of, one in zip(results, kernel(*(x[k] for x in state)), strict=True))
    single = kernel(*(x.astype(np.float32) for x in state))
    assert single[0].dtype == np.float32
    assert_near(single, wanted, 1e-3)  # (seven digits, times the condition of M)


def test_blocks_are_for_large_trees_alone() -> None:
    chosen = [
        blocks.chosen_kernel(mechanism, find(name), {}, "straight")
        for mechanism, name in (
            (branched(7), NAME),
            (branched(9), "inverse_dynamics_derivatives"),
            (branched(9).replace(links=[*branched(9).links[:-1], follower()]), NAME),
        )
    ]
    assert chosen == [None, None, None]


def follower() -> lw.Link:
    """A link whose joint follows another."""
    return lw.Link(name="last", parent="link7", axis=(0, 0, 1), mass=1.0, mimic=lw.Mimic("link1", 0.5))


def test_a_kernel_in_blocks_pickles_and_is_known_without_being_traced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kernels"))
    mechanism = branched(9)
    state = states(mechanism, 1)
    first = mechanism.kernel(NAME, tier="straight")
    wanted = first(*state)
    monkeypatch.setattr(blocks, "trace", None)
    again = branched(9).kernel(NAME, tier="straight")
    assert all(map(np.array_equal, again(*state), wanted))
    pickled = pickle.loads(pickle.dumps(first))
    assert (type(pickled), pickled.tier, pickled.identity) == (BlockKernel, "straight", first.identity)


def test_a_tape_is_cut_without_repeating_an_operation() -> None:
    def function(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        shared = np.sin(x[0]) * x[1]
        return np.array([shared + 2.0, x[1]]), np.array([shared * y[0], shared, x[0], 3.0]), np.array([y[0] - shared])

    whole = trace(function, "f", {"x": (2,), "y": (1,)}, {"early": (2,), "late": (4,), "last": (1,)})
    first, second = cut(whole, ["early"])
    assert first.length + second.length == whole.length
    assert (list(first.inputs), list(second.inputs)) == (["x"], ["x", "y", CARRIED])
    x, y = np.array([0.3, 0.7]), np.array([0.9])
    early, carried = Kernel(first, "numpy")(x)
    late, last = Kernel(second, "numpy")(x, y, carried)
    for one, other in zip((early, late, last), Kernel(whole, "numpy")(x, y), strict=True):
        assert np.array_equal(one, other)


def test_code_without_optimisation_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers from a table, negatives as products, nothing fused, in all operations there are."""

    def function(x: np.ndarray) -> np.ndarray:
        a, b, c = x
        angle, root = a.atan2(b), (a * a + 2.0).sqrt()
        chosen = c.select(-a * b, 3.0 * angle.cos() - b)
        return np.array([-(a - 0.25 * b), -chosen.sin(), abs(c) / root, c.sign() * angle, -2.0 * b * chosen, 7.0, a])

    tape = trace(function, "everything", {"x": (3,)}, {"y": (7,)})
    without_optimisation(monkeypatch)
    batch = np.random.default_rng(2).uniform(-2.0, 2.0, (21, 3))
    plain = Kernel(tape)(batch)
    assert "@numbers_" in lowering.assembly(tape, "float64")
    assert np.abs(plain - Kernel(tape, "numpy")(batch)).max() < 1e-14  # (some roundings of numbers up to 10)
    assert all(np.array_equal(Kernel(tape)(batch[k]), plain[k]) for k in (0, 20))


def test_the_order_of_many_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = symbol("x"), symbol("y")
    outputs = [x * y + x, (x - y).sin() * (x * y), 2.0, y]
    short = ordering.schedule(outputs)
    monkeypatch.setattr(ordering, "MANY", 1)
    order = ordering.schedule(outputs)
    assert set(order) == set(short)
    assert all(order.index(arg) < order.index(node) for node in order for arg in node.args)


def test_products_and_sums_that_are_no_operations() -> None:
    x = symbol("x")
    assert all(same is x for same in (x * 1.0, 1.0 * x, x + 0.0, 0.0 + x, x - 0.0))
    assert type(x * 0.0) is float
    assert x * 0.0 == 0.0 == -0.0 * x
    assert not np.signbit(-0.0 * x)
