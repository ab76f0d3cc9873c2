"""The order in which a graph is computed, chosen so that few values wait in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from linkwise.expr.node import Expr

#: Registers for pending values, of the 32 of a large processor; some are needed for current operands.
REGISTERS = 28

#: Operations from which on compile time matters more than the last tenth of speed. They are computed in the order of their
#: creation: for dynamics of 26 to 100 bodies the best of the three, or with 3 % more traffic, and comparing them takes as
#: long as tracing. LLVM does not optimise them, and so takes a tenth of the time.
MANY = 55_000

_NEVER = 1 << 60

#: For each operation, by its number, the operations whose results it takes, each once.
Args = Sequence[Sequence[int]]


def schedule(outputs: Sequence[Any]) -> list[Expr]:
    """All nodes of the outputs, operands first, each once.

    Of three orders the one in which fewest values go to memory and back: the order in which the nodes were made, which suits
    a recursion, for it goes on with what it has just computed; the same, but all that leads to one result together, which
    suits many results, and graphs in which parts were made anew; and depth first, the operand that needs more registers
    first, which is the best for a tree (R. Sethi, J. D. Ullman, "The generation of optimal code for arithmetic expressions",
    J. ACM 17(4), 1970). In all, an operation is drawn forward to where it is the last to use an operand. Large graphs take
    the first of the orders: see `MANY`.

    Parameters
    ----------
    outputs : sequence of Expr or float
        Numbers are skipped.
    """
    roots = [node for node in outputs if isinstance(node, Expr)]
    nodes = operations_needed(roots)
    place = {node: k for k, node in enumerate(nodes)}
    args = [[place[arg] for arg in dict.fromkeys(node.args) if arg.args] for node in nodes]
    if len(nodes) > MANY:
        return _with_leaves([nodes[k] for k in _drawn_forward(range(len(nodes)), args)], roots)
    symbols = [sum(arg.op == "symbol" for arg in node.args) for node in nodes]
    wanted = sorted({place[root] for root in roots if root.args})
    candidates = (range(len(nodes)), _by_result(args), _depth_first(wanted, args, symbols))
    best, fewest, most = [0], _NEVER, _NEVER
    for candidate in candidates:
        order = _drawn_forward(candidate, args)
        traffic = memory_traffic(order, args, limit=fewest)
        if traffic > fewest:
            continue
        alive = most_alive(order, args)
        if traffic < fewest or alive < most:
            best, fewest, most = order, traffic, alive
    return _with_leaves([nodes[k] for k in best], roots)


def most_alive(order: Sequence[int], args: Args) -> int:
    """Greatest number of values alive at the same time in an order of computation."""
    users = _use_counts(args)
    alive = most = 0
    for k in order:
        alive += users[k] > 0
        most = max(most, alive)
        for arg in args[k]:
            users[arg] -= 1
            alive -= not users[arg]
    return most


def memory_traffic(order: Sequence[int], args: Args, registers: int = REGISTERS, limit: int = _NEVER) -> int:
    """Number of memory writes and reads in an order of computation; inexact beyond the limit.

    With the best choice of what to put away: the value that is needed last (L. A. Belady, "A study of replacement algorithms
    for a virtual-storage computer", IBM Systems Journal 5(2), 1966).
    """
    following, first = _next_uses(order, args)
    kept: dict[int, int] = {}
    latest: list[tuple[int, int]] = []
    written = bytearray(len(args))
    traffic = 0
    for k, uses in zip(order, following, strict=True):
        for value, use in [*zip(args[k], uses, strict=True), (k, first[k])]:
            if value != k and value not in kept:
                traffic += 1
            if use == _NEVER:
                kept.pop(value, None)
                continue
            kept[value] = use
            heappush(latest, (-use, value))
            while len(kept) > registers:
                last, result = heappop(latest)
                if kept.get(result) == -last:
                    del kept[result]
                    traffic += not written[result]
                    written[result] = 1
        if traffic > limit:
            break
    return traffic


def _next_uses(order: Sequence[int], args: Args) -> tuple[list[list[int]], list[int]]:
    """Position of the next use of each operand after each operation in order; and the first use of each."""
    upcoming = [_NEVER] * len(args)
    following: list[list[int]] = []
    for position in range(len(order) - 1, -1, -1):
        operands = args[order[position]]
        following.append([upcoming[arg] for arg in operands])
        for arg in operands:
            upcoming[arg] = position
    following.reverse()
    return following, upcoming


def operations_needed(outputs: Iterable[Any]) -> list[Expr]:
    """Operations of the outputs, each once, operands first, the same in every process. Numbers are skipped.

    The oldest comes first; an expression of parameters alone, which may be older than the graph, just before what takes it.
    """
    roots = [node for node in outputs if isinstance(node, Expr) and node.args]
    results: set[Expr] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in results:
            results.add(node)
            waiting += [arg for arg in node.args if arg.args and arg not in results]
    uncached = sorted((node for node in results if node.key is None), key=lambda node: node.serial)
    if len(uncached) == len(results):
        return uncached
    order: dict[Expr, None] = {}
    for node in (*uncached, *roots):
        waiting = [node]
        while waiting:
            missing = [arg for arg in waiting[-1].args if arg.args and arg not in order]
            if missing:
                waiting += reversed(missing)
            else:
                order[waiting.pop()] = None
    return list(order)


def _use_counts(args: Args) -> list[int]:
    counts = [0] * len(args)
    for operands in args:
        for arg in operands:
            counts[arg] += 1
    return counts


def _depth_first(wanted: Iterable[int], args: Args, symbols: Sequence[int]) -> list[int]:
    """Depth-first order of the results, the operand that needs more registers first."""
    need = [1] * len(args)  # the Sethi-Ullman number, as if the graph were a tree
    for k, operands in enumerate(args):
        inner = sorted([need[arg] for arg in operands] + [1] * symbols[k], reverse=True)
        need[k] = max((value + i for i, value in enumerate(inner)), default=1)
    order: list[int] = []
    state = bytearray(len(args))
    for root in wanted:
        stack = [root]
        while stack:
            k = stack[-1]
            if state[k] == 0:
                state[k] = 1
                stack += sorted((arg for arg in args[k] if not state[arg]), key=lambda arg: need[arg])
                continue
            stack.pop()
            if state[k] == 1:
                state[k] = 2
                order.append(k)
    return order


def _by_result(args: Args) -> list[int]:
    """Order of the operations by number, grouped by the first final operation to which each contributes."""
    first = [_NEVER] * len(args)
    for k in range(len(args) - 1, -1, -1):
        if first[k] == _NEVER:
            first[k] = k
        for arg in args[k]:
            first[arg] = min(first[arg], first[k])
    return sorted(range(len(args)), key=lambda k: (first[k], k))


def _drawn_forward(order: Iterable[int], args: Args) -> list[int]:
    """Move operations forward to where they are computable and the only remaining user of an operand."""
    left, waiting = _use_counts(args), [0] * len(args)  # (number of pending users, and the sum of their indices)
    for k, operands in enumerate(args):
        for arg in operands:
            waiting[arg] += k
    done = bytearray(len(args))
    results: list[int] = []
    for start in order:
        ready = [start]
        while ready:
            k = ready.pop()
            if done[k]:
                continue
            for arg in args[k]:
                if not done[arg]:
                    break
            else:
                done[k] = 1
                results.append(k)
                for arg in args[k]:
                    left[arg] -= 1
                    waiting[arg] -= k
                    if left[arg] == 1:
                        ready.append(waiting[arg])
                if left[k] == 1:
                    ready.append(waiting[k])
    return results


def _with_leaves(order: Iterable[Expr], roots: Iterable[Expr]) -> list[Expr]:
    """The operations with the symbols and constants that they take in front of them."""
    results: dict[Expr, None] = {}
    for node in (*order, *roots):
        for arg in node.args:
            if not arg.args:
                results[arg] = None
        results[node] = None
    return list(results)
