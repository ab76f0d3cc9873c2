"""Compilation of expression graphs: tapes, kernels and programs of kernels; one folder or file per back end."""

from linkwise.kernel.backends.llvm import backend as _backend  # noqa: F401  (registers itself, and NumPy's, which it imports)
from linkwise.kernel.kernel import Kernel as Kernel
from linkwise.kernel.tape import Tape as Tape
from linkwise.kernel.tape import trace as trace
