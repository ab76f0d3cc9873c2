"""Draw the graph of the page on how it works: ``python docs/images/make_how_it_works.py [FOLDER [SUFFIX]]``.

Both graphs are read from the tapes that Linkwise makes, so the picture cannot contradict the code.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import linkwise as lw
from linkwise.algorithm import find
from linkwise.kernel import trace
from linkwise.kernel.tape import Tape

INK, WIRE, GIVEN = "#222222", "#6b7280", "#dbeafe"
SHADES = {"sin": "#fde68a", "cos": "#fde68a", "mul": "#e5e7eb", "add": "#e5e7eb", "sub": "#e5e7eb"}
SIGNS = {"mul": "×", "add": "+", "sub": "−"}


def graph_of(shorten: bool) -> Tape:
    """The gravity torques of two rods as the recursion leaves them, or shortened."""
    arm, declared = lw.robots.planar_2r(), find("gravity_torque")
    return trace(partial(declared.function, arm), "gravity_torque", {"q": (2,)}, {"tau": (2,)}, shorten=shorten)


Node = tuple[str, int, int]
"""What stands in a column: its kind ("slot", "result", or "bend" of a long wire), and two numbers to tell it by."""


def columns_of(tape: Tape) -> tuple[list[list[Node]], list[list[Node]]]:
    """The columns of a graph, from the inputs to the results, and its wires, each with a bend in every column it passes.

    Numbers have no place of their own: they stand in the operations that use them.
    """
    depth = dict.fromkeys(range(tape.input_count), 0)
    for slot, step in enumerate(tape.code, tape.first_result):
        depth[slot] = 1 + max(depth.get(arg, 0) for arg in step.args)
    last = 1 + max(depth.values())
    columns: list[list[Node]] = [[("slot", slot, 0) for slot in depth if depth[slot] == level] for level in range(last)]
    columns.append([("result", k, 0) for k in range(len(tape.results))])
    ends: list[tuple[int, Node, int]] = [
        (arg, ("slot", slot, 0), depth[slot])
        for slot, step in enumerate(tape.code, tape.first_result)
        for arg in step.args
        if arg in depth
    ]
    ends += [(slot, ("result", k, 0), last) for k, slot in enumerate(tape.results)]
    wires = []
    for number, (arg, end, level) in enumerate(ends):
        bends: list[Node] = [("bend", number, between) for between in range(depth[arg] + 1, level)]
        for bend in bends:
            columns[bend[2]].append(bend)
        wires.append([("slot", arg, 0), *bends, end])
    return columns, wires


def heights(columns: list[list[Node]], wires: list[list[Node]]) -> dict[Node, float]:
    """Where each node stands in its column: near what it comes from and what it goes to."""
    near: dict[Node, list[Node]] = {node: [] for column in columns for node in column}
    for wire_nodes in wires:
        for before, after in pairwise(wire_nodes):
            near[before].append(after)
            near[after].append(before)
    place = {node: at for column in columns for node, at in zip(column, _spread(len(column)), strict=True)}
    for sweep in range(40):
        for column in columns if sweep % 2 else columns[::-1]:
            wanted = {node: sum(place[other] for other in near[node]) / max(1, len(near[node])) for node in column}
            order = sorted(column, key=lambda node: (wanted[node], node))
            middle = sum(wanted.values()) / len(wanted)
            for node, at in zip(order, _spread(len(column)), strict=True):
                place[node] = at + middle
    return place


def _spread(count: int) -> list[float]:
    """So many heights, one apart, about zero."""
    return [k - (count - 1) / 2 for k in range(count)]


def box(axes: Axes, x: float, y: float, text: str, shade: str, *, size: float = 11.5) -> None:
    """A node: its text on a rounded ground."""
    style = {"boxstyle": "round,pad=0.32", "fc": shade, "ec": INK, "lw": 0.9}
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=INK, zorder=5, bbox=style)


def wire(axes: Axes, points: list[tuple[float, float]], reach: float) -> None:
    """A line from a value, through the columns that it passes, to what uses it, which reaches so far to the left."""
    first, *bends, last = points
    points = [first, *((x + side, y) for x, y in bends for side in (-0.5, 0.5)), last]
    for start, end in pairwise(points[:-1]):
        axes.plot(*zip(start, end, strict=True), color=WIRE, lw=1.0, zorder=2, solid_capstyle="round")
    shape = {"arrowstyle": "-|>", "color": WIRE, "lw": 1.0, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
    axes.annotate("", (points[-1][0] - reach, points[-1][1]), points[-2], arrowprops=shape, zorder=2)


def half_width(text: str) -> float:
    """How far a box with this text reaches to one side of its middle."""
    narrow = sum(text.count(letter) for letter in "i. ")
    return 0.15 + 0.068 * (len(text) - narrow / 2)


def text_of(node: Node, tape: Tape) -> str:
    """What stands in a box: the name of an input or a result, or an operation with the numbers that it uses."""
    kind, number, _ = node
    if kind == "result":
        return f"τ{number + 1}"
    if number < tape.input_count:
        return f"q{number + 1}"
    step = tape.code[number - tape.first_result]
    numbers = [f" {value:g}" for arg in step.args if (value := tape.constant(arg)) is not None]
    return SIGNS.get(step.op, step.op) + "".join(numbers)


def draw(axes: Axes, tape: Tape, title: str) -> None:
    """One graph, from the inputs at the left to the results at the right."""
    columns, wires = columns_of(tape)
    height = heights(columns, wires)
    at = {node: (1.75 * level, -0.9 * height[node]) for level, column in enumerate(columns) for node in column}
    texts = {node: text_of(node, tape) for node in at if node[0] != "bend"}
    for passed in wires:
        wire(axes, [at[node] for node in passed], half_width(texts[passed[-1]]))
    for node, text in texts.items():
        operation = node[0] == "slot" and node[1] >= tape.input_count
        box(axes, *at[node], text, SHADES[tape.code[node[1] - tape.first_result].op] if operation else GIVEN)
    axes.set_title(title, fontsize=12, color=INK, loc="left", weight="bold")
    axes.set_xlim(-0.5, 1.75 * (len(columns) - 1) + 0.5)
    axes.set_ylim(min(y for _, y in at.values()) - 0.5, max(y for _, y in at.values()) + 0.5)
    axes.set_aspect("equal")
    axes.axis("off")


def count(tape: Tape) -> str:
    """The operations of a tape, in words."""
    made = tape.operations
    return f"{made['mul']} products, {made['add']} sums, {made['sin']} sines, {made['cos']} cosines"


def main() -> None:
    """Write the picture beside this file, or where the command line says."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    suffix = sys.argv[2] if len(sys.argv) > 2 else "svg"
    mpl.rcParams.update({"svg.hashsalt": "linkwise", "svg.fonttype": "path"})
    figure = Figure(figsize=(8.8, 6.4), layout="constrained")
    upper, lower = figure.subplots(2, 1)
    traced, short = graph_of(shorten=False), graph_of(shorten=True)
    draw(upper, traced, f"As the recursion leaves it: {count(traced)}")
    draw(lower, short, f"Shortened: {count(short)}")
    metadata = {"Date": None} if suffix == "svg" else None
    figure.savefig(folder / f"graph_of_gravity_torque.{suffix}", facecolor="white", metadata=metadata, dpi=110)


if __name__ == "__main__":
    main()
