"""JAX: functions of one configuration that trace under jit, vmap and grad, at rest too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import MissingExtraError
from linkwise.export.body import Body, body, ports_of
from linkwise.export.names import Names
from linkwise.export.ports import PARAMETERS, Port, inputs, outputs, told
from linkwise.export.python_text import definition, docstring, listed, syntax
from linkwise.export.split import Part, as_tapes, parts
from linkwise.kernel.tape import Tape

if TYPE_CHECKING:
    from linkwise.kernel import Kernel

FORMS = {
    "sqrt": "_root({})",
    "sin": "jnp.sin({})",
    "cos": "jnp.cos({})",
    "abs": "_size({})",
    "sign": "jnp.sign({})",
    "atan2": "_plane_angle({}, {})",
    "select": "jnp.where({} > 0, {}, {})",
    "div": "_ratio({}, {})",
}

_HELPERS = {
    "abs": '''def _size(x):
    """The absolute value; its derivative at zero is taken as zero."""
    return x * jnp.sign(x)
''',
    "div": '''def _ratio(x, y):
    """x / y; its derivative where y is zero is taken as zero, so that a value that is not chosen brings no NaN."""
    pole = y == 0
    return jnp.where(pole, _fixed(x) / _fixed(y), x / jnp.where(pole, 1.0, y))
''',
    "sqrt": '''def _root(x):
    """The square root; its derivative is taken as zero where x is not positive."""
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), jnp.sqrt(_fixed(x)))
''',
    "atan2": '''def _plane_angle(y, x):
    """The angle of the point (x, y), in which no zero has a sign; its derivative at the origin is taken as zero."""
    origin = (x == 0) & (y == 0)
    angle = jnp.arctan2(jnp.where(origin, 0.0, y), jnp.where(origin, 1.0, x))
    angle = jnp.where((y == 0) & (angle < -1), angle + 2 * jnp.pi, angle)
    return jnp.where(jnp.isinf(y) & jnp.isinf(x), jnp.nan, angle)
''',
}

_FIXED = '''def _fixed(x):
    """The number itself, whose derivative is zero."""
    return jax.lax.stop_gradient(x)
'''

_GIVEN = '''def _given(name, value, shape):
    """An argument as an array; a batch of them is what jax.vmap is for."""
    array = jnp.asarray(value)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; expected {shape}")
    return array
'''


def to_jax(
    tapes: Tape | Sequence[Tape], *, prefix: str = "", titles: Mapping[str, str] | None = None, preface: str = ""
) -> str:
    """Write tapes as Python functions on ``jax.numpy``, each for one configuration.

    They trace under ``jit``, ``vmap``, ``grad``, ``jacfwd`` and ``jacrev``. Derivatives are those of the graph: that of a
    sign is zero, that of an absolute value at zero too, and where a root or a quotient has none it counts as zero. Numbers
    are of the type of the inputs, float32 at least. A tape with an input ``parameters`` becomes three functions, as in
    `linkwise.export.c.to_c`.

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
    >>> import numpy as np
    >>> source = to_jax(trace(lambda x: np.sin(x), "wave", {"x": ()}, {"y": ()}))
    >>> print(source[source.index("    sin_x") :])
        sin_x = jnp.sin(x)
    <BLANKLINE>
        return jnp.asarray(sin_x, _kind)
    <BLANKLINE>
    """
    given = as_tapes(tapes)
    names = Names("jax")
    used = {instruction.op for tape in given for instruction in tape.code}
    head = f'"""{told(preface) or "Made by Linkwise; needs JAX only."}"""\n\nimport jax\nimport jax.numpy as jnp\n'
    fixed = [_FIXED] if used & {"div", "sqrt"} else []
    helpers = [_GIVEN, *fixed, *(text for op, text in _HELPERS.items() if op in used)]
    return "\n\n".join([head, *helpers, *(_function(part, names) for part in parts(given, names, prefix, titles))])


def jax_function(tape: Tape | Kernel) -> Callable[..., Any]:
    """The function of a tape on JAX arrays, for one configuration.

    Parameters
    ----------
    tape : Tape or Kernel
        What it computes.

    Returns
    -------
    callable
        From the inputs of the tape, arrays of their shapes, to its output, or to a tuple of several. Batches are
        made by ``jax.vmap``. Numbers are float32 unless JAX is told ``jax.config.update("jax_enable_x64", True)``.

    Raises
    ------
    MissingExtraError
        Where JAX is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> try:
    ...     gravity = jax_function(arm.kernel("gravity_torque"))
    ... except ImportError:  # (the extra is not installed)
    ...     gravity = arm.gravity_torque
    >>> [round(float(value), 1) for value in gravity(np.zeros(2))]
    [19.6, 4.9]
    """
    try:
        import jax  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("jax_function needs JAX: pip install jax") from error
    space: dict[str, Any] = {}
    tape = tape if isinstance(tape, Tape) else tape.tape
    exec(compile(to_jax(tape), f"<linkwise {tape.name} on JAX>", "exec"), space)
    found: Callable[..., Any] = space[Names("jax").new(tape.name)]
    return found


def _function(part: Part, names: Names) -> str:
    if part.calls:
        return _both(part, names)
    tape = part.tape
    inside = body(tape, syntax(FORMS), names, _element, unpacked=True)
    arguments = [inside.ports[port.name] for port in inputs(tape)]
    lines = docstring(tape, inside.ports, part.title, batch=False)
    for name, port in zip(arguments, inputs(tape), strict=True):
        lines.append(f"{name} = _given({port.name!a}, {name}, {port.shape})")
    lines.append(f"_kind = jnp.result_type({', '.join([*arguments, 'jnp.float32'])})")
    lines += [f"{name} = {name}.astype(_kind)" for name in arguments]
    lines += ["", *(f"{name} = {value}" for name, value in inside.lines), ""]
    return definition(part.name, arguments, [*lines, *_returned(tape, inside)])


def _element(identifier: str, port: Port, k: int) -> str:
    if not port.shape:
        return identifier
    return f"{identifier}[{', '.join(str(i) for i in np.unravel_index(k, port.shape))}]"


def _returned(tape: Tape, inside: Body) -> list[str]:
    values = list(inside.results)
    lines, returned = [], []
    for port in outputs(tape):
        name, mine = inside.ports[f"-> {port.name}"], values[: port.size]
        values = values[port.size :]
        if not port.shape:
            returned.append(f"jnp.asarray({mine[0]}, _kind)")
            continue
        lines.append(f"{name} = jnp.array(")
        lines += ["    ["] + [f"        {line}" for line in listed(mine)] + ["    ],", "    _kind,"]
        lines.append(f").reshape({port.shape})")
        returned.append(name)
    return [*lines, f"return {', '.join(returned)}"]


def _both(part: Part, names: Names) -> str:
    """The function that prepares and computes."""
    first, second = part.calls
    ports = ports_of(part.tape, names.inner())
    arguments = [ports[port.name] for port in inputs(part.tape)]
    others = [ports[port.name] for port in inputs(part.tape) if port.name != PARAMETERS]
    lines = docstring(part.tape, ports, part.title, batch=False)
    made = f"{first.name}({ports[PARAMETERS]})"
    return definition(part.name, arguments, [*lines, f"return {second.name}({', '.join([*others, made])})"])
