"""Where a mechanism has gone after its target."""

from __future__ import annotations

from dataclasses import dataclass

from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class Dragged:
    """Where a mechanism has gone after its target. All numbers come from a separate forward pass at `q`.

    Attributes
    ----------
    q : ndarray (nq,)
        Coordinates, rad or m, within the limits; loops closed, unless `closure_error` says otherwise.
    reached : bool
        Whether the target is reached to 1e-6 m and 1e-6 rad, or the coordinate has the value asked for, with loops closed.
    position_error : float
        Distance left, m; of a coordinate that slides, what it lacks.
    rotation_error : float
        Angle left, rad; of a coordinate that turns, what it lacks.
    reason : str
        Why it is where it is, a sentence; empty where it is reached.
    T : ndarray (4, 4)
        The pose of the frame at q, T_world_frame.
    closure_error : float
        How far loops are open, m; 0 where there are none.
    rounds : int
        Steps that it took.
    settled : bool
        Whether it has come to rest; False where the target is so far that another call, from this `q`, leads on.

    Examples
    --------
    >>> from linkwise import robots, solve
    >>> found = solve.Follower(robots.planar_2r()).move("link1", 0.5, [0.0, 1.0])
    >>> found.reached, found.q.tolist()
    (True, [0.5, 1.0])
    """

    q: FloatArray
    reached: bool
    position_error: float
    rotation_error: float
    reason: str
    T: FloatArray
    closure_error: float
    rounds: int
    settled: bool
