"""The exact derivatives of a tape, as a tape."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from linkwise.expr.derivative import derivative
from linkwise.expr.node import symbol
from linkwise.kernel.tape import Tape


def differentiated(tape: Tape, by: str) -> Tape:
    """The derivatives of all outputs by one input.

    Parameters
    ----------
    tape : Tape
        The function.
    by : str
        Name of the input.

    Returns
    -------
    Tape
        With the same inputs; an output ``Y`` of shape s becomes ``dY_dX`` of shape s + the shape of X.
    """
    symbols: dict[str, Any] = {}
    for name, shape in tape.inputs.items():
        symbols[name] = np.array([symbol(f"{name}[{k}]") for k in range(prod(shape))], dtype=object).reshape(shape)
    results = tape.graph([node for array in symbols.values() for node in array.ravel()])
    table = derivative(results, list(symbols[by].ravel()))
    outputs, start = {}, 0
    for name, shape in tape.outputs.items():
        stop = start + prod(shape)
        outputs[f"d{name}_d{by}"] = table[start:stop].reshape((*shape, *tape.inputs[by]))
        start = stop
    labels = {name: names for name, names in tape.labels.items() if name in symbols}
    result = Tape.from_graph(f"{tape.name}_by_{by}", symbols, outputs, labels)
    return replace(result, origins=tape.origins)
