"""From an expression graph to functions: one small file per lowering, the object-code cache, the gufunc maker."""

from linkwise.kernel.kernel import Kernel as Kernel
from linkwise.kernel.tape import Tape as Tape
from linkwise.kernel.tape import trace as trace
