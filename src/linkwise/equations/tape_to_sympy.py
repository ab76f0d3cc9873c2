"""SymPy expressions of a tape, operation by operation: exact, each result created once and shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, islice
from math import prod
from typing import Any

import numpy as np

from linkwise.equations.document import matrix_shape
from linkwise.expr.sympy.symbols import number, parameter_symbols
from linkwise.extras import sympy_module
from linkwise.kernel.tape import Tape
from linkwise.model.symbolic import parameters_in


def to_sympy(tape: Tape, inputs: Sequence[Any], *, evaluate: bool = False) -> dict[str, Any]:
    """Convert a tape to SymPy matrices.

    Parameters
    ----------
    tape : Tape
        The function.
    inputs : sequence of SymPy expressions
        What stands for the elements of the inputs, in their order.
    evaluate : bool
        Whether SymPy may rearrange each operation. Without it the expressions have exactly the operations of the tape, and
        are made in a time in proportion to them. Beware: SymPy walks through a shared part as often as it occurs, which
        `written_size` computes beforehand; `steps` avoids that. A selection is a ``Piecewise``; `decided` gives
        the general case of it.

    Returns
    -------
    dict
        For each output an ``ImmutableMatrix``: a vector as a column, a scalar as (1, 1).

    Raises
    ------
    MissingExtraError
        Where SymPy is not installed.

    Examples
    --------
    >>> import sympy
    >>> from linkwise.kernel.tape import trace
    >>> made = trace(lambda q: q[:1].dot(q[1:]).sin() * 0.5, "made", {"q": (2,)}, {"y": ()})
    >>> to_sympy(made, sympy.symbols("a b"))
    {'y': Matrix([[sin(a*b)/2]])}
    """
    return _converted(tape, inputs, evaluate, lambda slot, value: value)


def expressions_to_sympy(values: Any) -> Any:
    """Write expressions in symbols of a model as SymPy's, in the symbols that they were read from.

    Parameters
    ----------
    values : array_like of Expr and float
        Values of any shape.

    Returns
    -------
    ndarray of SymPy expressions
        Of the same shape.

    Examples
    --------
    >>> import linkwise as lw
    >>> a, b = lw.symbols("a b")
    >>> expressions_to_sympy([a * b, 0.5]).tolist()
    [a*b, 1/2]
    """
    scalars = np.asarray(values, dtype=object)
    symbols = parameters_in([scalars])
    tape = Tape.from_graph("values", {"parameters": np.array(symbols, dtype=object)}, {"values": scalars.ravel()})
    return np.array(to_sympy(tape, parameter_symbols(symbols), evaluate=True)["values"], dtype=object).reshape(scalars.shape)


def steps(tape: Tape, inputs: Sequence[Any]) -> tuple[list[tuple[Any, Any]], dict[str, Any]]:
    """Convert a tape to a list of assignments to symbols ``x1``, ``x2``, ..., and the results in these.

    Names of symbols in the inputs are left out.

    Parameters
    ----------
    tape, inputs
        As for `to_sympy`.

    Returns
    -------
    assignments : list of (symbol, expression)
        In order; as the first result of ``sympy.cse``. Each is used more than once.
    results : dict
        As `to_sympy` gives them.

    Examples
    --------
    >>> import sympy
    >>> from linkwise.kernel.tape import trace
    >>> tape = trace(lambda q: (q[0] + 1.0) * (q[0] + 1.0), "square", {"q": (1,)}, {"y": ()})
    >>> steps(tape, sympy.symbols("a,"))
    ([(x1, a + 1)], {'y': Matrix([[x1*x1]])})
    """
    uses = Counter([*tape.results, *(arg for instruction in tape.code for arg in instruction.args)])
    assignments: list[tuple[Any, Any]] = []
    taken = {part.name for value in inputs for part in getattr(value, "free_symbols", ())}
    free = (name for name in (f"x{k}" for k in count(1)) if name not in taken)

    def keep(slot: int, value: Any) -> Any:
        if uses[slot] < 2:
            return value
        assignments.append((sympy_module().Symbol(next(free), real=True), value))
        return assignments[-1][0]

    results = _converted(tape, inputs, False, keep)
    return assignments, results


def written_size(tape: Tape) -> int:
    """Number of operations in expanded results, shared parts counted as often as they occur."""
    sizes = [0] * tape.first_result
    for instruction in tape.code:
        sizes.append(1 + sum(sizes[arg] for arg in instruction.args))
    return sum(sizes[slot] for slot in tape.results)


def _converted(tape: Tape, inputs: Sequence[Any], evaluate: bool, keep: Callable[[int, Any], Any]) -> dict[str, Any]:
    """Run a tape on SymPy expressions; ``keep`` returns the replacement of the result in a slot."""
    sympy = sympy_module()
    table = operations(sympy, evaluate)
    values = _leaves(tape, inputs)
    for slot, instruction in enumerate(tape.code, tape.first_result):
        values.append(keep(slot, table[instruction.op](*(values[arg] for arg in instruction.args))))
    elements = iter([values[slot] for slot in tape.results])
    shapes = {name: matrix_shape(shape) for name, shape in tape.outputs.items()}
    return {name: sympy.ImmutableDenseMatrix(*shape, list(islice(elements, prod(shape)))) for name, shape in shapes.items()}


def _leaves(tape: Tape, scalars: Sequence[Any]) -> list[Any]:
    """Values of the slots of inputs and constants."""
    if len(scalars) != tape.input_count:
        raise ValueError(f"{tape.name} takes {tape.input_count} scalars; {len(scalars)} were given")
    return [*scalars, *map(number, tape.constants)]


def operations(sympy: Any, evaluate: bool) -> dict[str, Callable[..., Any]]:
    """SymPy equivalent of each operation of a tape."""
    plus, times, power = (partial(function, evaluate=evaluate) for function in (sympy.Add, sympy.Mul, sympy.Pow))
    minus = partial(times, sympy.Integer(-1))

    def chosen(c: Any, x: Any, y: Any) -> Any:
        if not evaluate:  # (by `Basic`: the usual way unfolds cases within conditions all the same, which may take minutes)
            pairs = (x, sympy.Gt(c, 0, evaluate=False)), (y, sympy.true)
            pair = sympy.functions.elementary.piecewise.ExprCondPair
            return sympy.Basic.__new__(sympy.Piecewise, *(sympy.Basic.__new__(pair, *args) for args in pairs))
        return sympy.Piecewise((x, sympy.Gt(c, 0)), (y, True))

    return {
        "add": plus,
        "sub": lambda x, y: plus(x, minus(y)),
        "mul": times,
        "div": lambda x, y: times(x, power(y, sympy.Integer(-1))),
        "neg": minus,
        "sqrt": lambda x: power(x, sympy.Rational(1, 2)),
        "sin": sympy.sin,
        "cos": sympy.cos,
        "abs": sympy.Abs,
        "sign": sympy.sign,
        "atan2": lambda y, x: sympy.atan2(y, x, evaluate=evaluate),
        "select": chosen,
    }


def decided(tape: Tape, inputs: Sequence[Any]) -> list[Any]:
    """The results of a tape on SymPy expressions, one for each element of the outputs.

    Of ``select(c, x, y)`` it is y where c is known not to be above zero, being a number or because of what is assumed of the
    symbols; else it is x, the general case, which a textbook prints. What is not chosen is not written at all.

    Examples
    --------
    >>> import sympy
    >>> from linkwise.kernel.tape import trace
    >>> made = trace(lambda q: q[0].select(1.0 / q[0], 7.0), "made", {"q": (1,)}, {"y": ()})
    >>> decided(made, sympy.symbols("a,")), decided(made, [sympy.Integer(0)])
    ([1/a], [7])
    """
    known: dict[int, Any] = dict(enumerate(_leaves(tape, inputs)))
    table = operations(sympy_module(), True)
    waiting = list(reversed(tape.results))
    while waiting:
        slot = waiting[-1]
        if slot in known:
            waiting.pop()
            continue
        instruction = tape.code[slot - tape.first_result]
        args = instruction.args
        if instruction.op == "select" and args[0] in known:
            args = (args[2] if known[args[0]].is_extended_nonpositive else args[1],)
        elif instruction.op == "select":
            args = args[:1]
        missing = [arg for arg in args if arg not in known]
        if missing:
            waiting += reversed(missing)
        elif instruction.op == "select":
            known[slot] = known[args[0]]
        else:
            known[slot] = table[instruction.op](*(known[arg] for arg in args))
    return [known[slot] for slot in tape.results]
