"""The order of computation: operands first, each node once, and few values alive at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.algorithm import find
from linkwise.expr import Expr, operation_count, schedule, symbol
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.ordering import REGISTERS, memory_traffic, most_alive


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


@pytest.mark.parametrize("name", ["forward_kinematics", "jacobian", "inverse_dynamics", "joint_wrenches"])
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


def numbered(order: Sequence[Expr]) -> tuple[list[int], list[list[int]]]:
    """An order of a graph as numbers, and what each operation takes."""
    place = {node: k for k, node in enumerate(node for node in order if node.args)}
    return list(place.values()), [[place[arg] for arg in dict.fromkeys(node.args) if arg.args] for node in place]


def exhaustive_traffic(order: Sequence[int], args: Sequence[Sequence[int]], registers: int) -> int:
    """The least traffic of all choices of what to put away, by trying them all."""
    states: dict[tuple[frozenset[int], frozenset[int]], int] = {(frozenset(), frozenset()): 0}
    for at, k in enumerate(order):
        later = {arg for other in order[at + 1 :] for arg in args[other]}
        following: dict[tuple[frozenset[int], frozenset[int]], int] = {}
        for (kept, written), before in states.items():
            have = kept | set(args[k]) | {k}
            cost = before + len(set(args[k]) - kept)
            alive = have & later
            for size in range(min(registers, len(alive)) + 1):
                for chosen in combinations(sorted(alive), size):
                    put_away = alive - set(chosen) - written
                    state = (frozenset(chosen), written | put_away)
                    following[state] = min(following.get(state, 10**9), cost + len(put_away))
        states = following
    return min(states.values())


@pytest.mark.parametrize("seed", range(6))
def test_memory_traffic_is_near_the_least(seed: int) -> None:
    """Putting away what is needed last gives the fewest reads; with writes counted it is near the least there is."""
    rng = np.random.default_rng(seed)
    args = [sorted({int(arg) for arg in rng.integers(0, k, 2)}) if k > 3 else [] for k in range(13)]
    found, least = memory_traffic(range(13), args, 3), exhaustive_traffic(range(13), args, 3)
    print(found, least)
    assert least <= found <= 2 * least + 1
    assert memory_traffic(range(13), args, 13) == 0


def test_memory_traffic_of_a_known_order() -> None:
    """Values 0 to 4 wait in 3 registers: 4 is used first, so 3 and 4 stay beside 0; 1 and 2 go to memory and come back."""
    args: list[list[int]] = [[], [], [], [], [], [4], [3], [0], [1], [2]]
    assert memory_traffic(range(10), args, 5) == 0
    assert memory_traffic(range(10), args, 4) == 2
    assert memory_traffic(range(10), args, 3) == 4


@pytest.mark.parametrize("robot", ["puma560", "seven_joint", "panda"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "joint_wrenches", "jacobian_dot"])
def test_less_goes_through_memory_than_in_plain_orders(robot: str, name: str) -> None:
    outputs = graph(robots.load(robot), name)
    ours = schedule(outputs)
    others = [depth_first(outputs), sorted(ours, key=lambda node: node.serial)]
    traffic = [memory_traffic(*numbered(order)) for order in (ours, *others)]
    print(f"{traffic} with {REGISTERS} registers")
    assert traffic[0] <= 1.05 * min(traffic)  # drawing forward pays nearly always
    assert traffic[0] < max(traffic)
    assert most_alive(*numbered(ours)) == peak(ours, outputs)


def test_an_operation_that_frees_an_operand_is_drawn_forward() -> None:
    """Twenty sums are made only when all their parts wait; computed at once they need a register each, not two."""
    x = [symbol(f"x{k}") for k in range(60)]
    parts = [(x[k].sin(), x[k + 20].sin()) for k in range(20)]
    sums = [a * b for a, b in parts]
    total = sums[0]
    for value in sums[1:]:
        total = total + value * x[59]
    outputs = [total]
    made = sorted(schedule(outputs), key=lambda node: node.serial)
    assert peak(made, outputs) >= 40
    assert peak(schedule(outputs), outputs) <= 22


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
    every = [x / y, x.sqrt(), x.cos(), -y, abs(x), x.sign(), x.atan2(y), x.select(y, 1.0)]
    assert operation_count(every) == dict.fromkeys(("div", "sqrt", "cos", "atan2", "neg", "abs", "sign", "select"), 1)
    assert set(operation_count(every)) | {"mul", "add", "sub", "sin"} == OPERATIONS.keys()


def test_an_operation_of_three_operands_comes_after_all_of_them() -> None:
    """Also where operands are the same node, a number or a symbol."""
    x, y = symbol("x"), symbol("y")
    a, b, c = x.sin(), y.cos(), (x * y).sqrt()
    outputs = [a.select(b, c), b.select(b, c + a), c.select(x, 2.0), c.atan2(c), (a - b).select(c, a).atan2(b)]
    order = schedule(outputs)
    place = {node: k for k, node in enumerate(order)}
    assert len(place) == len(order)
    assert all(place[arg] < place[node] for node in order for arg in node.args)
