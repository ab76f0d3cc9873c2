"""The regulator between the speed that a joint should have and the speed that is given out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.spatial.scalar import select

REMEMBERED = ("integral", "before", "given", "expected")
"""What is kept of a joint from one cycle to the next: its regulator's integral, the speed that came in and the one that went
out, and where the joint is taken to be then if no measurement comes in."""


@dataclass(frozen=True)
class Regulator:
    """Proportional, integral and derivative shares of a speed, and how much of a change acts in one cycle.

    With w the speed that takes the joint from its input value (or, where that is what the chain itself gave out, from the
    value predicted for now) to its predicted one within the cycle, the regulator gives

        v = v_before + r (p w + i integral(w dt) + d dw/dt - v_before).

    At first p = 1, i = 0, d = 0 and r = 1, and v = w: the speed acts at once. With r below 1 a change comes in gradually, by
    the share r in each cycle.

    Parameters
    ----------
    p, i, d, r : scalar
        The shares; i in 1/s, d in s, r above 0 and at most 1.

    Notes
    -----
    The textbook form (K. J. Aström and T. Hägglund, "PID Controllers", 1995) with a first-order lag behind it. The integral
    is a sum over the cycles; the rate is a difference over one, and zero in the first.

    Examples
    --------
    >>> regulator = Regulator(1.0, 0.0, 0.0, 0.5)
    >>> regulator.act(2.0, 0.01, integral=0.0, before=0.0, given=0.0, first=0.0)[0]
    1.0
    """

    p: Any
    i: Any
    d: Any
    r: Any

    def act(self, speed: Any, dt: Any, *, integral: Any, before: Any, given: Any, first: Any) -> tuple[Any, Any]:
        """What it gives for a speed in one cycle of length dt, and the new integral; `first` is above zero in the first."""
        total = integral + speed * dt
        rate = select(first, 0.0, (speed - before) / dt)
        return given + self.r * (self.p * speed + self.i * total + self.d * rate - given), total
