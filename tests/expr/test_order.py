"""The order of computation: operands first, each node once, and few values alive at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.algorithm import find
from linkwise.expr import Expr, operation_count, schedule, symbol


def graph(mech: Mechanism, name: str) -> list[Expr]:
    """The outputs of an algorithm as expressions."""
    algorithm = find(name)
    inputs = [
        np.array([symbol(f"{key}{i}") for i in range(shape[0])], dtype=object)
        for key, shape in algorithm.shapes(mech, algorithm.inputs).items()
    ]
    made = algorithm.function(mech, *inputs)
    arrays = made if isinstance(made, tuple) else (made,)
    return [node for array in arrays for node in np.asarray(array).ravel() if isinstance(node, Expr)]


def depth_first(outputs: Sequence[Expr]) -> list[Expr]:
    """The naive order: each output with all that it needs, one after the other."""
    done: dict[Expr, None] = {}

    def visit(node: Expr) -> None:
        if node not in done:
            for arg in node.args:
                visit(arg)
            done[node] = None

    for output in outputs:
        visit(output)
    return list(done)


def peak(order: Sequence[Expr], outputs: Sequence[Expr]) -> int:
    """The greatest number of computed values that are still needed at some time; outputs are stored at once."""
    last = {arg: k for k, node in enumerate(order) for arg in node.args}
    dying: dict[int, int] = {}
    alive = most = 0
    for k, node in enumerate(order):
        if node.args:
            alive += 1
            if node in last:
                dying[last[node]] = dying.get(last[node], 0) + 1
            else:
                alive -= 1
        most = max(most, alive)
        alive -= dying.get(k, 0)
    return most


@pytest.mark.parametrize("name", ["forward_kinematics", "jacobian", "inverse_dynamics", "joint_actions"])
@pytest.mark.parametrize("robot", ["puma560", "seven_joint"])
def test_operands_first_and_each_once(robot: str, name: str) -> None:
    outputs = graph(robots.load(robot), name)
    order = schedule(outputs)
    place = {node: k for k, node in enumerate(order)}
    assert len(place) == len(order)
    assert set(outputs) <= place.keys()
    assert all(place[arg] < place[node] for node in order for arg in node.args)
    assert schedule(outputs) == order


@pytest.mark.parametrize("robot", ["puma560", "seven_joint", "panda"])
def test_fewer_values_are_alive_than_depth_first(robot: str) -> None:
    outputs = graph(robots.load(robot), "inverse_dynamics")
    ours, naive = peak(schedule(outputs), outputs), peak(depth_first(outputs), outputs)
    print(f"{ours} alive at most, {naive} depth first")
    assert ours < naive


def test_a_tree_takes_its_sethi_ullman_number() -> None:
    """A balanced sum of 16 sines takes 5 registers in the best order, and more than 16 in breadth."""
    values = [symbol(f"x{k}").sin() for k in range(16)]
    level = values
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
    order = schedule(level)
    assert peak(order, level) <= 6
    assert peak(sorted(order, key=lambda node: node.serial), level) > 16


def test_deep_graphs_need_no_recursion() -> None:
    x = symbol("x")
    total = x
    for _ in range(50_000):
        total = total.sin()
    assert len(schedule([total])) == 50_001


def test_operations_are_counted_once_each() -> None:
    x, y = symbol("x"), symbol("y")
    shared = x * y
    assert operation_count([shared + x, shared - y, shared.sin(), 2.0]) == {"mul": 1, "add": 2, "sin": 1}
    assert operation_count([x, 1.0]) == {}
    every = [x / y, x.sqrt(), x.cos(), -y, abs(x), x.sign()]
    assert operation_count(every) == dict.fromkeys(("div", "sqrt", "cos", "neg", "abs", "sign"), 1)
