"""Arrays of other libraries than NumPy: which one the arguments of a call are of, and one file a library that takes them."""

from linkwise.arrays.framework import DifferentiableFramework as DifferentiableFramework
from linkwise.arrays.framework import Framework as Framework
from linkwise.arrays.framework import Signature as Signature
from linkwise.arrays.framework import apply as apply
from linkwise.arrays.framework import by_name as by_name
from linkwise.arrays.framework import constant as constant
from linkwise.arrays.framework import functions_of as functions_of
from linkwise.arrays.framework import jumps as jumps
from linkwise.arrays.framework import numbers as numbers
from linkwise.arrays.framework import of as of
from linkwise.arrays.framework import plain as plain
from linkwise.arrays.graph import GraphOutput as GraphOutput
from linkwise.arrays.graph import array_in_graphs as array_in_graphs
from linkwise.arrays.graph import by_library as by_library
from linkwise.arrays.graph import in_graphs as in_graphs
from linkwise.arrays.graph import method_in_graph as method_in_graph
from linkwise.torch_graphs import constant_in_graphs as constant_in_graphs
from linkwise.torch_graphs import is_traced as is_traced
from linkwise.torch_graphs import no_graph as no_graph
from linkwise.torch_graphs import refuse as refuse
