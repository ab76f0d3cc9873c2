"""The scalar expression graph: interned nodes, rewrite rules, derivative, ordering, operation count.

Nothing here knows of arrays or robots. An expression behaves as a number: it can stand in NumPy object arrays.
"""

from linkwise.expr import rules as rules  # (gives nodes the table of rewrite rules)
from linkwise.expr.count import operation_count as operation_count
from linkwise.expr.derivative import derivative as derivative
from linkwise.expr.evaluate import evaluate as evaluate
from linkwise.expr.node import Expr as Expr
from linkwise.expr.node import symbol as symbol
from linkwise.expr.ordering import schedule as schedule
