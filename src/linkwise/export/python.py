"""Python that needs nothing but NumPy, with names for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linkwise.export.body import Body, body, ports_of
from linkwise.export.names import Names
from linkwise.export.ports import PARAMETERS, Port, inputs, outputs, told
from linkwise.export.python_text import definition, docstring, syntax
from linkwise.export.split import Part, as_tapes, parts
from linkwise.kernel.tape import Tape

FORMS = {
    "sqrt": "np.sqrt({})",
    "sin": "np.sin({})",
    "cos": "np.cos({})",
    "abs": "abs({})",
    "sign": "np.sign({})",
    "atan2": "_plane_angle({}, {})",
    "select": "_chosen({}, {}, {})",
}

_HELPERS = {
    "atan2": '''def _plane_angle(y, x):
    """The angle of the point (x, y), in which no zero has a sign; NaN where both are infinite."""
    return np.where(np.isinf(y) & np.isinf(x), np.nan, np.arctan2(y + 0.0, x + 0.0))[()].astype(np.result_type(y, x))
''',
    "select": '''def _chosen(c, x, y):
    """Where c is above zero x, else y."""
    return np.where(c > 0, np.asarray(x, c.dtype), np.asarray(y, c.dtype))[()]
''',
}

_GIVEN = '''def _given(name, value, shape):
    """An argument as an array of real numbers, batch axes leading."""
    array = np.asarray(value)
    if not np.can_cast(array.dtype, np.float64):
        raise TypeError(f"{name} holds {array.dtype}; expected real numbers")
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        raise ValueError(f"{name} has the shape {array.shape}; expected (..., {', '.join(map(str, shape))})")
    return array
'''


def to_python(
    tapes: Tape | Sequence[Tape], *, prefix: str = "", titles: Mapping[str, str] | None = None, preface: str = ""
) -> str:
    """Write tapes as Python functions of NumPy arrays.

    Each takes its inputs with any leading batch axes, which broadcast, and gives arrays of their type: float32 stays so. The
    elements of the inputs are unpacked under the names that people call them by. A tape with an input ``parameters`` becomes
    three functions, as in `linkwise.export.c.to_c`.

    Parameters
    ----------
    tapes : Tape or sequence of Tape
        The functions.
    prefix : str
        Before the name of each.
    titles : mapping of str to str, optional
        For a tape's name, its documentation, of which the first paragraph stands in the comment.
    preface : str
        The first line of the module's documentation.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> space = {}
    >>> exec(to_python(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)})), space)
    >>> space["square"]([[1, 2], [3, 4]]).tolist()
    [[1.0, 4.0], [9.0, 16.0]]
    """
    given = as_tapes(tapes)
    names = Names("python")
    used = {instruction.op for tape in given for instruction in tape.code}
    head = f'"""{told(preface) or "Made by Linkwise; needs NumPy only."}"""\n\nimport numpy as np\n'
    helpers = [_GIVEN, *(text for op, text in _HELPERS.items() if op in used)]
    return "\n\n".join([head, *helpers, *(_function(part, names) for part in parts(given, names, prefix, titles))])


def _function(part: Part, names: Names) -> str:
    if part.calls:
        return _both(part, names)
    tape = part.tape
    inside = body(tape, syntax(FORMS), names, _element, unpacked=True)
    arguments = [inside.ports[port.name] for port in inputs(tape)]
    lines = docstring(tape, inside.ports, part.title, batch=True)
    for name, port in zip(arguments, inputs(tape), strict=True):
        lines.append(f"{name} = _given({port.name!a}, {name}, {port.shape})")
    lines.append(f"_kind = np.result_type({', '.join([*arguments, 'np.float32'])})")
    lines += [f"{name} = {name}.astype(_kind, copy=False)" for name in arguments]
    lines += ["", *(f"{name} = {value}" for name, value in inside.lines), ""]
    lines += _results(tape, inside, arguments)
    return f'@np.errstate(all="ignore")\n{definition(part.name, arguments, lines)}'


def _element(identifier: str, port: Port, k: int) -> str:
    if not port.shape:
        return identifier
    return f"{identifier}[{', '.join(['...', *(str(i) for i in np.unravel_index(k, port.shape))])}]"


def _results(tape: Tape, inside: Body, arguments: Sequence[str]) -> list[str]:
    """The lines that put the results into arrays and return them."""
    batches = [
        f"{name}.shape[: {name}.ndim - {len(port.shape)}]" if port.shape else f"{name}.shape"
        for name, port in zip(arguments, inputs(tape), strict=True)
    ]
    lines = [f"_batch = np.broadcast_shapes({', '.join(batches)})"]
    values = iter(inside.results)
    returned = []
    for port in outputs(tape):
        name = inside.ports[f"-> {port.name}"]
        lines.append(f"{name} = np.empty((*_batch, {', '.join(map(str, port.shape))}), _kind)".replace(", )", ",)"))
        for index in np.ndindex(port.shape):
            lines.append(f"{name}[{', '.join(['...', *map(str, index)])}] = {next(values)}")
        returned.append(name if port.shape else f"{name}[()]")
    return [*lines, f"return {', '.join(returned)}"]


def _both(part: Part, names: Names) -> str:
    """The function that prepares and computes."""
    first, second = part.calls
    ports = ports_of(part.tape, names.inner())
    arguments = [ports[port.name] for port in inputs(part.tape)]
    others = [ports[port.name] for port in inputs(part.tape) if port.name != PARAMETERS]
    lines = docstring(part.tape, ports, part.title, batch=True)
    made = f"{first.name}({ports[PARAMETERS]})"
    return definition(part.name, arguments, [*lines, f"return {second.name}({', '.join([*others, made])})"])
