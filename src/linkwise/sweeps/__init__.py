"""Algorithms in steps over bodies, and the kernels that loop over them."""

from linkwise.algorithm import use_loops
from linkwise.sweeps import derivatives, dynamics, energies, joint_wrenches, kinematics, regressor
from linkwise.sweeps.kernel import looped_kernel

__all__ = ["derivatives", "dynamics", "energies", "joint_wrenches", "kinematics", "regressor"]

use_loops(looped_kernel)
