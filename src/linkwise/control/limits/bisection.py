"""Which candidate to look at next: a bracket of the greatest admissible one, as a state of numbers.

False position with the margin of an end that stays halved (the Illinois method: M. Dowell, P. Jarratt, "A modified regula
falsi method for computing the root of an equation", BIT 11, 1971), and a bisection now and then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from linkwise.control.limits.point_motion import ClosedCandidate
from linkwise.control.limits.stop_feasibility import lower, upper
from linkwise.kernel.row_layout import RowLayout
from linkwise.spatial.scalar import Array, root, select

GOAL, BETWEEN, CHOSEN, SLOWER, STOPPED = 0.0, 1.0, 2.0, 3.0, 4.0
"""What is looked at: the goal; what is between; the best of it; a part of the braking chord; the best of that."""

NARROW = 1e-5
"""The search ends where its bracket is this share of its upper end,"""

NEAR = 1e-4
"""or where a candidate leaves less than this share of a limit."""

LONGEST = 60.0
"""The most candidates between."""

CYCLE = 6.0
"""Every so many candidates the bracket is halved, by ratio where it can be."""

FURTHER = 8.0
"""A candidate goes at most so many times as far beyond the last one as that went."""

ALMOST = 1.0 - 2.0**-53
"""The number before 1: what is above it is 1."""


@dataclass(frozen=True)
class BracketSearch:
    """A state of the search; `status` is above zero when it is over."""

    phase: Any
    trial: Any
    low: Any
    low_margin: Any
    high: Any
    high_margin: Any
    side: Any
    turn: Any
    looks: Any
    newton: Any
    status: Any = 0.0

    @staticmethod
    def lengths() -> dict[str, int]:
        """What a state is made of."""
        names = ("phase", "trial", "low", "low_margin", "high", "high_margin", "side", "turn", "looks", "newton")
        return dict.fromkeys(names, 1)

    @classmethod
    def read(cls, layout: RowLayout, aux: Array) -> BracketSearch:
        """From the row of an iteration, all zero at its start."""
        numbers = {name: layout.number(aux, name) for name in cls.lengths()}
        return cls(**{**numbers, "trial": select(numbers["looks"] - 0.5, numbers["trial"], 1.0)})

    def parts(self) -> dict[str, Any]:
        """The state as parts of a row."""
        return {name: getattr(self, name) for name in self.lengths()}

    def next(
        self, margin: Any, onward: Any, hard: Any, closed: ClosedCandidate, guess: tuple[Any, Any], closures: bool
    ) -> BracketSearch:
        """The state after a look that found a margin.

        Parameters
        ----------
        margin, onward, hard : scalar
            What a candidate leaves of all limits, of those that ask for less speed, and of those that are kept even where
            braking is not.
        closed : ClosedCandidate
            What became of its loops.
        guess : (scalar, scalar)
            The candidate to look at after the goal, and the margin that braking counts with.
        closures : bool
            Whether there are loops: then braking may lead where more than accelerations are broken.
        """
        at = [_is(self.phase, code) for code in (GOAL, BETWEEN, CHOSEN, SLOWER, STOPPED)]
        if closures:
            margin, hard = (select(closed.open, -1.0, value) for value in (margin, hard))
            margin, onward = (select(at[3], hard, value) for value in (margin, onward))
        judged = margin
        fits = select(judged, 1.0, select(0.5 - abs(judged), select(judged * judged, 0.0, 1.0), 0.0))
        judged = select(fits, onward, judged)
        bracket = self._bracket(judged, fits, at[1] + at[3], guess[1])
        narrow = select(NARROW * upper(abs(bracket.high), 1e-6) - (bracket.high - bracket.low), 1.0, 0.0)
        narrow = select(self.looks - LONGEST, 1.0, narrow)
        good = select(NEAR - judged, fits, 0.0)
        over = select(at[0], fits, select(at[1], good, at[2] + at[4]))
        phase = select(at[1], select(narrow, CHOSEN, BETWEEN), BETWEEN)
        between = bracket.between()
        further = at[1] * fits * select(self.high - ALMOST, 1.0, 0.0)  # only the goal itself is known not to fit
        between = select(further, lower(self._further(judged), 0.5 * (1.0 + self.trial)), between)
        trial = select(at[0], select(0.999 - guess[0], upper(guess[0], 1e-6), between), between)
        trial = select((at[1] + at[3]) * narrow, bracket.low, trial)
        if not closures:
            return bracket.go(phase, trial, self.looks + 1.0, over)
        slower = at[2] * select(self.trial, 0.0, 1.0) * (1.0 - select(hard, 1.0, 0.0))
        over = over * (1.0 - slower)
        phase = select(slower + at[3], select(at[3] * narrow, STOPPED, SLOWER), phase)
        bracket = bracket.restart(slower)
        trial = select(slower, bracket.between(), trial)
        held, fresh = self.parts() | {"newton": self.newton + 1.0}, bracket.go(phase, trial, self.looks + 1.0, over).parts()
        parts = {name: select(closed.busy, held[name], fresh[name]) for name in held}
        return BracketSearch(**{**parts, "looks": self.looks + 1.0, "status": select(closed.busy, 0.0, over)})

    def go(self, phase: Any, trial: Any, looks: Any, status: Any) -> BracketSearch:
        """The same bracket with the next candidate."""
        return replace(self, phase=phase, trial=trial, looks=looks, newton=0.0, status=status)

    def restart(self, slower: Any) -> BracketSearch:
        """A new bracket from a stand to the braking chord, where that must be cut."""
        ends = {"low": -1.0, "low_margin": 1.0, "high": 0.0, "high_margin": -1.0}
        return replace(self, **{name: select(slower, value, getattr(self, name)) for name, value in ends.items()})

    def _bracket(self, margin: Any, fits: Any, between: Any, braking: Any) -> BracketSearch:
        """The bracket with the candidate as one of its ends; the other's margin is halved when it stays twice."""
        again = select(fits, select(self.side - 0.5, 1.0, 0.0), select(-0.5 - self.side, 1.0, 0.0))
        inner = {
            "low": select(fits, self.trial, self.low),
            "low_margin": select(fits, upper(margin, 1e-9), select(again, 0.5 * self.low_margin, self.low_margin)),
            "high": select(fits, self.high, self.trial),
            "high_margin": select(fits, select(again, 0.5 * self.high_margin, self.high_margin), _below(margin)),
            "side": select(fits, 1.0, -1.0),
            "turn": select(self.turn - (CYCLE - 1.5), 0.0, self.turn + 1.0),
        }
        first = {"low": 0.0, "low_margin": braking, "high": 1.0, "high_margin": _below(margin), "side": 0.0, "turn": 0.0}
        return replace(self, **{name: select(between, value, first[name]) for name, value in inner.items()})

    def between(self) -> Any:
        """The next candidate in the bracket."""
        share = self.low_margin / upper(self.low_margin - self.high_margin, 1e-300)
        straight = self.low + (self.high - self.low) * lower(upper(share, 1e-3), 0.999)
        halved = select(self.low, root(upper(self.low * self.high, 0.0)), 0.5 * (self.low + self.high))
        return select(self.turn - (CYCLE - 1.5), halved, straight)

    def _further(self, margin: Any) -> Any:
        """Where the margins of this candidate and of the lower end lead to, and a little beyond."""
        fall = upper(self.low_margin - margin, 0.1 * margin)
        return self.trial + (self.trial - self.low) * lower(1.1 * margin / upper(fall, 1e-12), FURTHER)


def _below(margin: Any) -> Any:
    """The margin of an end that does not fit: below zero, bounded, also where it is no number."""
    return select(-1e-9 - margin, select(margin + 1e6, margin, -1e6), select(-margin, -1e-9, -1.0))


def _is(value: Any, code: float) -> Any:
    """1 where a whole number is a code, else 0."""
    apart = value - code
    return select(0.25 - apart * apart, 1.0, 0.0)
