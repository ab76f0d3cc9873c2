"""JAX: functions of one configuration that trace under jit, vmap and grad, at rest too."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from linkwise.errors import MissingExtraError
from linkwise.export.language import LANGUAGES, Job, language
from linkwise.export.languages.python import WIDTH, Python
from linkwise.export.ports import Identifiers, TapePort, outputs
from linkwise.export.statements import FunctionBody
from linkwise.kernel import Kernel
from linkwise.kernel.tape import Tape

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


@language
class Jax(Python):
    """Python on ``jax.numpy``."""

    name = "jax"
    suffix = "_jax.py"  # (so that the name of a module differs from that for NumPy)
    operations: ClassVar[Mapping[str, str]] = {
        "sqrt": "_root({})",
        "sin": "jnp.sin({})",
        "cos": "jnp.cos({})",
        "abs": "_size({})",
        "sign": "jnp.sign({})",
        "atan2": "_plane_angle({}, {})",
        "select": "jnp.where({} > 0, {}, {})",
        "div": "_ratio({}, {})",
    }
    helpers = _HELPERS
    head = '"""{}"""\n\nimport jax\nimport jax.numpy as jnp\n'
    needs = "JAX"
    module = "jnp"
    batch = "in a call"
    cast = "_kind"
    dimensions = ()
    decorator = ""
    always = _GIVEN

    def helpers_of(self, job: Job) -> list[str]:
        """Helpers of the operations, and those that these call."""
        return [*([_FIXED] if job.operations & {"div", "sqrt"} else []), *super().helpers_of(job)]

    def returned(self, tape: Tape, inside: FunctionBody, arguments: Mapping[str, TapePort]) -> list[str]:
        """Lines that put the results into arrays and return them."""
        values, lines, names = list(inside.results), [], []
        for port in outputs(tape):
            name, mine = inside.ports[f"-> {port.name}"], values[: port.size]
            values = values[port.size :]
            if not port.shape:
                names.append(f"jnp.asarray({mine[0]}, _kind)")
                continue
            listed = textwrap.wrap(", ".join(mine), WIDTH - 8, break_long_words=False, break_on_hyphens=False)
            lines += [f"{name} = jnp.array(", "    [", *(f"        {line}" for line in listed), "    ],", "    _kind,"]
            lines.append(f").reshape({port.shape})")
            names.append(name)
        return [*lines, f"return {', '.join(names)}"]


def to_jax(
    tapes: Tape | Sequence[Tape], *, prefix: str = "", titles: Mapping[str, str] | None = None, preface: str = ""
) -> str:
    """Write tapes as Python functions on ``jax.numpy``, each for one configuration.

    They trace under ``jit``, ``vmap``, ``grad``, ``jacfwd`` and ``jacrev``. Derivatives are those of the graph: that of a
    sign is zero, that of an absolute value at zero too, and where a root or a quotient has none it counts as zero. Numbers
    are of the type of the inputs, float32 at least. A tape with an input ``parameters`` becomes three functions, as in
    `linkwise.export.languages.c.to_c`.

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
    return str(LANGUAGES["jax"].write(tapes, prefix=prefix, titles=titles, preface=preface))


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
        made by ``jax.vmap``. Numbers are float32 unless ``jax.config.update("jax_enable_x64", True)`` was called.

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
    function: Callable[..., Any] = space[Identifiers("jax").new(tape.name)]
    return function
