"""Kernels that loop over the bodies of a mechanism, or in straight-line code; stacks of mechanisms of one structure."""

from linkwise.algorithm import use_loops
from linkwise.looped.blocks import chosen_kernel as chosen_kernel
from linkwise.looped.kernel import looped_kernel as looped_kernel

use_loops(chosen_kernel)
