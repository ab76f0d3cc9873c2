"""Kernels that loop over the bodies of a mechanism, and stacks of mechanisms of one structure."""

from linkwise.algorithm import use_loops
from linkwise.looped.kernel import looped_kernel as looped_kernel

use_loops(looped_kernel)
