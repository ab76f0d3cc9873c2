"""The class of exciting trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class ExcitingTrajectory(Trajectory):
    """A `Trajectory`, and how well it tells the base parameters apart.

    Attributes
    ----------
    condition : float
        Condition number of the base regressor over one period, its columns scaled to length one.
    random_condition : float
        That of the best of the random motions from which the optimisation began.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.identification import exciting_trajectory
    >>> made = exciting_trajectory(robots.planar_2r(), 5.0, harmonics=3, speed=2.0, acceleration=6.0, steps=30)
    >>> made.t.shape, made.condition < 100
    ((501,), True)
    """

    condition: float = np.nan
    random_condition: float = np.nan

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, condition number {self.condition:.3g}, at random {self.random_condition:.3g}>"
