"""What the functions of the toolbox take: robots, poses and vectors, checked, with the function's name in each message."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.mechanism import Mechanism
from linkwise.rtss.robot import rt_robot
from linkwise.spatial.numbers import numbers, real
from linkwise.spatial.scalar import FloatArray


def mechanism_of(function: str, robot: Any, *, dynamic: bool = False) -> Mechanism:
    """Return the mechanism that computes for a robot; with `dynamic`, all its links must have mass and inertia.

    Raises
    ------
    ArgumentError
        Where it is neither a robot nor a mechanism on a fixed base.
    """
    made = robot.mechanism(dynamic=dynamic) if isinstance(robot, rt_robot) else robot
    if not isinstance(made, Mechanism):
        raise ArgumentError(f"{function}: robot is {shown(robot)}; expected an rt_robot or a Mechanism")
    if made.floating:
        raise ArgumentError(f"{function}: {made.name!r} has a floating base; expected a robot on a fixed one")
    return made


def free_fall_of(function: str, robot: Any, grav: Any) -> tuple[float, ...]:
    """Return the acceleration of free fall that a gravity (3,) means, by the sign that the robot takes it in.

    Raises
    ------
    ArgumentError
        Where it is no vector of three numbers.
    """
    made = vector(f"{function}: grav", grav, 3)
    upward = isinstance(robot, rt_robot) and robot.gravity_sign == "up"
    return tuple((0.0 - made if upward else made + 0.0).tolist())


@lru_cache(maxsize=16)
def under_gravity(mechanism: Mechanism, free_fall: tuple[float, ...]) -> Mechanism:
    """Return the same mechanism in another field of gravity; the last ones are kept, with their compiled functions."""
    return mechanism.replace(gravity=free_fall)


def weightless(mechanism: Mechanism) -> Mechanism:
    """Return the same mechanism without gravity."""
    return under_gravity(mechanism, (0.0, 0.0, 0.0))


def coordinates(field: str, value: Any) -> Any:
    """What a kernel takes for coordinates, speeds or accelerations: nothing infinite; NaN, which stays in its row, may be.

    Raises
    ------
    ArgumentError
        Where something is infinite. What is no array of numbers is left to the kernel, which knows the shape.
    """
    try:
        made = real(value)
    except TypeError:
        return value
    if np.isinf(made).any():
        where = tuple(int(k) for k in np.argwhere(np.isinf(made))[0])
        raise ArgumentError(f"{field} is {made[where]}{f' at {where}' if where else ''}; expected finite numbers")
    return value


def vector(field: str, value: Any, size: int) -> FloatArray:
    """One vector of so many finite numbers, in a row or in a column."""
    expected = f"{size} finite numbers"
    made = numbers(field, value, expected)
    if made.size != size or max(made.shape, default=0) != size:
        raise ArgumentError(f"{field} has the shape {made.shape}; expected {expected}")
    return made.reshape(size)


def vectors(field: str, value: Any, size: int) -> FloatArray:
    """Vectors (..., size) of finite numbers."""
    expected = f"finite numbers (..., {size})"
    made = numbers(field, value, expected)
    if made.shape[-1:] != (size,):
        raise ArgumentError(f"{field} has the shape {made.shape}; expected {expected}")
    return made


def matrices(field: str, value: Any, size: int = 4) -> FloatArray:
    """Matrices (..., size, size) of finite numbers."""
    expected = f"finite numbers (..., {size}, {size})"
    made = numbers(field, value, expected)
    if made.shape[-2:] != (size, size):
        raise ArgumentError(f"{field} has the shape {made.shape}; expected {expected}")
    return made


def homogeneous(rotation: FloatArray, position: Any = 0.0) -> FloatArray:
    """Transforms (..., 4, 4) from rotations (..., 3, 3) and positions (..., 3)."""
    made = np.zeros((*rotation.shape[:-2], 4, 4))
    made[..., :3, :3], made[..., :3, 3], made[..., 3, 3] = rotation, position, 1.0
    return made
