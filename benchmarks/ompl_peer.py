"""OMPL's RRTConnect over the distance kernel of `plan`."""

import time

import numpy as np

from linkwise.clearance.planning import _Space

try:
    from ompl import base, geometric, util
except ImportError:
    base = None


def installed():
    """Whether OMPL is."""
    return base is not None


def rrt_connect(shapes, obstacles, start, goal, resolution=None, limit=10.0):
    """Seconds of the planner and its path simplification; None without a path within so many.

    Motions are checked in steps in which no point moves farther than the resolution, m, or, without one, in steps of a
    hundredth of the extent of the ranges, OMPL's own.
    """
    util.setLogLevel(util.LogLevel.LOG_NONE)
    space = _Space(shapes, obstacles, 0.0, resolution or 0.01)
    count = len(start)
    states, bounds = base.RealVectorStateSpace(count), base.RealVectorBounds(count)
    for k in range(count):
        bounds.setLow(k, float(space.low[k]))
        bounds.setHigh(k, float(space.high[k]))
    states.setBounds(bounds)
    setup = geometric.SimpleSetup(states)

    def is_clear(state):
        return bool(space.kernel(np.array([state[k] for k in range(count)]), space.rows[0]).min() >= 0.0)

    setup.setStateValidityChecker(is_clear)
    step = 0.01 if resolution is None else resolution / states.getMaximumExtent() / space.levers.max()
    setup.getSpaceInformation().setStateValidityCheckingResolution(step)
    ends = []
    for q in (start, goal):
        state = states.allocState()
        for k in range(count):
            state[k] = float(q[k])
        ends.append(state)
    setup.setStartAndGoalStates(*ends)
    setup.setPlanner(geometric.RRTConnect(setup.getSpaceInformation()))
    begin = time.process_time()
    solved = setup.solve(limit)
    if not solved or not setup.haveExactSolutionPath():
        return None
    setup.simplifySolution(1.0)
    return time.process_time() - begin
