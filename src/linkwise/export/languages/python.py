"""Python that needs nothing but NumPy, with names for readers."""

from __future__ import annotations

import builtins
import keyword
import textwrap
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from linkwise.export.language import LANGUAGES, Job, Language, language
from linkwise.export.ports import PARAMETERS, TapePort, inputs, operations_text, outputs, printable_ascii
from linkwise.export.split import TapePart
from linkwise.export.statements import FunctionBody, body, ports_of
from linkwise.kernel.tape import Tape

WIDTH = 110

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


@language
class Python(Language):
    """Python on NumPy; reserved are keywords, soft ones too, built-in functions and the modules in use.

    Attributes
    ----------
    module, batch, cast, dimensions : str
        The module of arrays; what documentation says of the number of configurations; how arguments are cast; what stands
        before the dimensions of an array.
    always : str
        The helper that all functions call.
    """

    name = "python"
    suffix = ".py"
    reserved = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "numpy", "jnp", "jax"})
    options = frozenset({"prefix", "titles", "preface"})
    operations: ClassVar[Mapping[str, str]] = {
        "sqrt": "np.sqrt({})",
        "sin": "np.sin({})",
        "cos": "np.cos({})",
        "abs": "abs({})",
        "sign": "np.sign({})",
        "atan2": "_plane_angle({}, {})",
        "select": "_chosen({}, {}, {})",
    }
    helpers: ClassVar[Mapping[str, str]] = _HELPERS
    head = '"""{}"""\n\nimport numpy as np\n'
    needs = "NumPy"
    module = "np"
    batch = "for each configuration"
    cast = "_kind, copy=False"
    dimensions: tuple[str, ...] = ("...",)
    decorator = '@np.errstate(all="ignore")\n'
    always = _GIVEN

    def number(self, value: float, precision: str) -> str:
        """Format a number as Python does."""
        return repr(value)

    def text(self, job: Job) -> str:
        """A module."""
        head = self.head.format(printable_ascii(job.options.preface) or f"Made by Linkwise; needs {self.needs} only.")
        helpers = [self.always, *self.helpers_of(job)]
        return "\n\n".join([head, *helpers, *(self.function(part, job) for part in job.parts)])

    def function(self, part: TapePart, job: Job) -> str:
        """Write one function, with its documentation."""
        tape = part.tape
        if part.calls:
            (first, second), ports = part.calls, ports_of(tape, job.names.inner())
            others = [ports[port.name] for port in inputs(tape) if port.name != PARAMETERS]
            prepared = f"{first.name}({ports[PARAMETERS]})"
            return self._definition(part, ports, [f"return {second.name}({', '.join([*others, prepared])})"])
        inside = body(tape, self.syntax("double"), job.names, self.element, unpacked=True)
        arguments = {inside.ports[port.name]: port for port in inputs(tape)}
        lines = [f"{name} = _given({port.name!a}, {name}, {port.shape})" for name, port in arguments.items()]
        lines.append(f"_kind = {self.module}.result_type({', '.join([*arguments, f'{self.module}.float32'])})")
        lines += [f"{name} = {name}.astype({self.cast})" for name in arguments]
        lines += ["", *(f"{name} = {value}" for name, value in inside.lines), ""]
        lines += self.returned(tape, inside, arguments)
        return self.decorator + self._definition(part, inside.ports, lines)

    def element(self, identifier: str, port: TapePort, k: int) -> str:
        """Element k of an input."""
        if not port.shape:
            return identifier
        return f"{identifier}[{', '.join([*self.dimensions, *(str(i) for i in np.unravel_index(k, port.shape))])}]"

    def returned(self, tape: Tape, inside: FunctionBody, arguments: Mapping[str, TapePort]) -> list[str]:
        """Lines that put the results into arrays and return them."""
        batches = [
            f"{name}.shape[: {name}.ndim - {len(port.shape)}]" if port.shape else f"{name}.shape"
            for name, port in arguments.items()
        ]
        lines = [f"_batch = np.broadcast_shapes({', '.join(batches)})"]
        values, names = iter(inside.results), []
        for port in outputs(tape):
            name = inside.ports[f"-> {port.name}"]
            lines.append(f"{name} = np.empty((*_batch, {', '.join(map(str, port.shape))}), _kind)".replace(", )", ",)"))
            for index in np.ndindex(port.shape):
                lines.append(f"{name}[{', '.join(['...', *map(str, index)])}] = {next(values)}")
            names.append(name if port.shape else f"{name}[()]")
        return [*lines, f"return {', '.join(names)}"]

    def _definition(self, part: TapePart, ports: Mapping[str, str], lines: Sequence[str]) -> str:
        """A function with its documentation and its body."""
        tape = part.tape
        title = textwrap.wrap(printable_ascii(part.title or tape.name), WIDTH)
        text = ['"""' + title[0], *title[1:], "", "Parameters", "----------"]
        for port in inputs(tape):
            text += self._described(ports[port.name], port)
        text += ["", "Returns", "-------"]
        for port in outputs(tape):
            text += self._described(ports[f"-> {port.name}"], port)
        text += ["", "Notes", "-----", f"Operations {self.batch}: {operations_text(tape)}.", '"""', *lines]
        arguments = ", ".join(ports[port.name] for port in inputs(tape))
        return f"def {part.name}({arguments}):\n" + "".join(f"    {line}\n" if line else "\n" for line in text)

    def _described(self, identifier: str, port: TapePort) -> list[str]:
        shape = ", ".join([*self.dimensions, *map(str, port.shape)])
        kind = f"array ({shape})" if shape else "float"
        elements = f"elements {', '.join(map(printable_ascii, port.labels))}" if port.labels else ""
        text = "; ".join(part for part in (port.called(identifier), port.meaning, elements) if part)
        return [f"{identifier} : {kind}", *(f"    {line}" for line in textwrap.wrap(text, WIDTH - 4))]


def to_python(
    tapes: Tape | Sequence[Tape], *, prefix: str = "", titles: Mapping[str, str] | None = None, preface: str = ""
) -> str:
    """Write tapes as Python functions of NumPy arrays.

    Each takes its inputs with any leading batch axes, which broadcast, and gives arrays of their type: float32 stays so. The
    elements of the inputs are unpacked under the names that people call them by. A tape with an input ``parameters`` becomes
    three functions, as in `linkwise.export.languages.c.to_c`.

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
    return str(LANGUAGES["python"].write(tapes, prefix=prefix, titles=titles, preface=preface))
