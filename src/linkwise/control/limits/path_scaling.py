"""How far a chain may go towards its goal in a cycle, so that no limit of a link's end or of a joint is exceeded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.control.limits.bisection import BracketSearch
from linkwise.control.limits.evaluate import CandidateStep
from linkwise.control.limits.point_motion import LoopProjection, Pair, Points
from linkwise.control.limits.stop_feasibility import LIMITS, Prepare
from linkwise.errors import ArgumentError, shown
from linkwise.kernel import Kernel, trace
from linkwise.kernel.iteration import Descent, Program
from linkwise.kernel.row_layout import RowLayout
from linkwise.kernel.sequence import Call, Copy
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.scalar import FloatArray


class Pace:
    """Greatest speeds, accelerations and decelerations of the ends of links and of joints, kept from cycle to cycle.

    A cycle takes a chain from q to the next output, on the way to a goal. A point that was at p(q) and comes to p(q_next) in
    the time dt has the chord velocity V; over two cycles with middles h apart, h = (dt_before + dt)/2, it holds for each
    point that |V| is at most its greatest speed, that |V| grows by at most its acceleration times h and falls by at most
    its deceleration times h, and, where both are limited, that V changes by at most the greater one times h. From rest all
    joints are scaled together, so the outputs are on the straight line of joint values (where loops close, on the projection
    of it). A goal that stands is not passed, and is reached exactly, bit for bit, after finitely many cycles.

    All this holds because an output is only taken from which the chain can stop along its present direction without breaking
    a rule or a joint's limit, whatever the lengths of the cycles to come: the manoeuvre is verified to its end, by bounds
    (see `linkwise.control.limits.stop_feasibility`). Of outputs between this braking and the goal the one next to the goal
    is taken, to 1e-4 of a limit.

    Where limits are changed while the chain moves: a chain outside a joint's limit, or faster than a lowered speed, comes
    back as hard as it could brake in the last cycle; a lowered deceleration counts from the next output that can stop with
    it, and a stop that has begun goes on as it was verified. Nothing ever jumps.

    Loops are kept closed in every output. How much they bend the ways of the points is known at the present output, and how
    fast that grows from the last cycle; braking is planned with twice this growth. Near a singular position that the last
    cycle gave no sign of, an acceleration may turn out greater than its limit: loops and joint limits go first, speeds
    second, accelerations third, and `kept` tells of it.

    Parameters
    ----------
    tree : Tree
        A mechanism with a joint that moves, and a base that stands.
    links : sequence of int or str
        The links whose ends are limited, by index or name; "tool" is the tool. The points are these, then all joints (n,).
    closures : sequence of (link, link, kind)
        Pairs of links whose ends meet, beside the mechanism's own loops; each has a switch in what is given. ``"base"`` is
        the origin of the world.
    backend : {"llvm", "numpy"}, optional
        How it is computed; LLVM wherever llvmlite is installed.

    Attributes
    ----------
    given : dict of str to slice
        Parts of the row that a cycle takes: dt, dt_before (s, of the last cycle that had a length), q, goal, goal_speed,
        low, high (n,), carry, max_speed, max_acceleration, max_deceleration (k + n,), above zero, infinite where there is
        none, closures (c,), above zero where a pair is held. The goal must be in the limits, and at it the loops closed.
    made : dict of str to slice
        Parts of the row that it makes: q (n,); carry, for the next cycle; limited, 1 where the goal was not reached at once;
        kept, 1 where all rules hold; lam, the share of the way from braking to the goal; looks, how many outputs were tried.

    Raises
    ------
    ArgumentError
        Where the base floats, no joint moves, or a link is not there.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> pace = Pace(arm, [-1])
    >>> row, out = np.zeros(pace.row), np.zeros(pace.made_row)
    >>> for name, value in {"dt": 0.01, "dt_before": 0.01, "low": -3.0, "high": 3.0, "goal": [1.0, 0.5]}.items():
    ...     row[pace.given[name]] = value
    >>> for name in ("max_speed", "max_acceleration", "max_deceleration"):
    ...     row[pace.given[name]] = np.inf
    >>> row[pace.given["max_speed"].start] = 0.5
    >>> cycles = 0
    >>> while (row[pace.given["q"]] != [1.0, 0.5]).any():
    ...     pace.run(row, out)
    ...     row[pace.given["q"]], row[pace.given["carry"]] = out[pace.made["q"]], out[pace.made["carry"]]
    ...     cycles += 1
    >>> cycles
    496
    """

    given: dict[str, slice]
    made: dict[str, slice]

    def __init__(
        self,
        tree: Tree,
        links: Sequence[int | str],
        *,
        closures: Sequence[Pair] = (),
        backend: str | None = None,
    ) -> None:
        _check(tree, [*links, *(link for pair in closures for link in pair[:2])])
        n, k, pairs = tree.n, len(links), len(closures)
        points, loops = Points(tree, tuple(links)), LoopProjection(tree, closures)
        self.points = points
        carry = RowLayout({"direction": n, "rate": 1, "chords": 3 * k, "joints": n})
        coordinates = dict.fromkeys(("q", "goal", "goal_speed", "low", "high"), n)
        limits = dict.fromkeys(LIMITS, k + n)
        given = RowLayout({"dt": 1, "dt_before": 1, **coordinates, "carry": carry.size, **limits, "closures": pairs})
        reported = {"carry": carry.size, "limited": 1, "kept": 1, "lam": 1, "looks": 1}
        state = {name: 1 for name in BracketSearch.lengths() if name not in reported}
        aux = RowLayout({**reported, **state, "best": n if loops else 0})
        prepare = Prepare(points, loops, given, carry)
        self._rest = np.zeros(carry.size)
        self.n, self.given, self.row = n, given.parts, given.size
        parts = {name: slice(n + part.start, n + part.stop) for name, part in aux.parts.items() if name in reported}
        self.made, self.made_row = {"q": slice(0, n), **parts}, n + sum(reported.values())
        row = prepare.layout.size
        self._prepare = Kernel(trace(prepare, "pace_prepare", {"given": (given.size,)}, {"row": (row,)}), backend, lanes=2)
        inputs = {"parameters": (row,), "q0": (n,), "settings": (1,), "q": (n,), "aux": (aux.size,)}
        outputs = {"q": (n,), "aux": (aux.size,), "status": ()}
        step = CandidateStep(points, loops, prepare.layout, carry, aux)
        self._search = Descent(Program(trace(step, "pace", inputs, outputs)), backend, lanes=2)
        self._found = n + aux.size + 1

    def rest(self, q: npt.ArrayLike) -> FloatArray:
        """What is carried (C,) by a chain that stands at q (n,)."""
        if np.shape(q) != (self.n,):
            raise ArgumentError(f"q has the shape {np.shape(q)}; expected ({self.n},)")
        return self._rest.copy()

    def run(self, given: FloatArray, out: FloatArray) -> None:
        """Do one cycle for each row: (..., `row`) to (..., `made_row`)."""
        shape = given.shape[:-1]
        with np.errstate(all="ignore"):
            row = self._prepare.ufunc(given)
            rows = self._search.ufunc(row, np.zeros((*shape, self.n)), np.zeros((*shape, 0, self.n)), np.zeros((*shape, 1)))
        out[...] = rows[..., : self.made_row]

    def steps(self, given: FloatArray, made: FloatArray) -> list[Call | Copy]:
        """The same as steps of a `Sequence`, for rows (B, `row`) and (B, `made_row`) that stay where they are."""
        rows = len(given)
        row, searched = np.empty((rows, self._prepare.tape.outputs["row"][0])), np.empty((rows, self._found))
        fixed = (np.zeros((rows, self.n)), np.zeros((rows, 0, self.n)), np.zeros((rows, 1)))
        copies = [Copy(to, source[: self.made_row]) for to, source in zip(made, searched, strict=True)]
        return [Call(self._prepare, (given,), (row,)), Call(self._search, (row, *fixed), (searched,)), *copies]


def _check(tree: Tree, links: Sequence[int | str]) -> None:
    """Raise `ArgumentError` unless limits make sense for the mechanism, and all links are there."""
    if tree.floating:
        raise ArgumentError(f"{tree.name!r} has a floating base; limits of link ends are for mechanisms whose base stands")
    if not tree.n:
        raise ArgumentError(f"{tree.name!r} has no joint that moves")
    for link in links:
        if isinstance(link, bool) or not isinstance(link, (int, str, np.integer)):
            raise ArgumentError(f'link is {shown(link)}; expected a name, an index, or "tool"')
        if link not in (TOOL, "base"):
            tree.link_index(link)
