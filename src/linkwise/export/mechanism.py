"""Generated code of several functions of a mechanism at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwise.algorithm import find, kernel_of
from linkwise.errors import ArgumentError, choices
from linkwise.export.language import LANGUAGES, PRECISIONS, Sources
from linkwise.export.split import sentence
from linkwise.kernel.tape import Tape
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice

#: Algorithms that give no numbers where loops are open.
CLOSED = {
    "forward_dynamics",
    "forward_dynamics_external",
    "closed_forward_dynamics",
    "constraint_forces",
    "constraint_forces_external",
    "project_to_loops",
}


def export(
    mechanism: Tree,
    kernels: str | Sequence[str],
    language: str = "c",
    *,
    precision: str = "double",
    name: str | None = None,
    prefix: str = "",
    self_test: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Sources:
    """Write functions of a mechanism in another language.

    Parameters
    ----------
    mechanism : Tree
        Whose functions; where numbers of it are symbols, the functions take their values as a last input.
    kernels : str or sequence of str
        Names of algorithms: ``["forward_kinematics", "inverse_dynamics"]``.
    language : {"c", "cuda", "jax", "python", "rust"}
        C99; CUDA C++; Python on JAX; Python on NumPy; Rust; or one that was added (`linkwise.export.language.language`).
    precision : {"double", "single"}
        Precision of numbers in C, CUDA and Rust. Python takes that of its arguments.
    name : str, optional
        Name of the files, without suffix; by default that of the mechanism.
    prefix : str
        Before the name of each function.
    self_test : bool
        Whether a test comes with C, CUDA and Rust, with random points and the results of the gufuncs.
    options : mapping of str to object, optional
        Options of the algorithms: ``{"frame": "body"}``; each goes to those that have it.

    Returns
    -------
    Sources
        The files; ``.write(folder)`` writes them, all or none.

    Raises
    ------
    ArgumentError
        Where a language, an algorithm, an option or a precision is not known; where Python is asked for single precision.
    KernelError
        Where a number does not exist in single precision.

    Examples
    --------
    >>> import linkwise as lw
    >>> made = export(lw.robots.planar_2r(), ["forward_kinematics", "mass_matrix"])
    >>> list(made.files)
    ['planar_2r.h', 'planar_2r.c', 'planar_2r_test.c']
    """
    writes = LANGUAGES[choice("language", language, LANGUAGES)]
    choice("precision", precision, PRECISIONS)
    if not writes.types and precision != "double":
        typed = [name for name, other in LANGUAGES.items() if other.types]
        raise ArgumentError(f"{language} computes in the precision of its arguments; precision is for {choices(typed)}")
    tapes, titles = _tapes(mechanism, [kernels] if isinstance(kernels, str) else kernels, dict(options or {}))
    points = closed_points(mechanism) if writes.types and self_test and CLOSED & titles.keys() else {}
    called = mechanism.name if name is None else name
    return writes.sources(
        tapes, called, precision=precision, prefix=prefix, self_test=self_test, titles=titles, points=points
    )


def closed_points(mechanism: Tree, rows: int = 4) -> dict[str, FloatArray]:
    """Configurations ``q`` (rows, nq) with all loops closed and velocities ``qd`` (rows, nv) that keep them so.

    Nothing where a mechanism has no loops, or symbols, with which none are closed. They are neighbours of the neutral
    configuration, or that itself, at rest, where there is no way to them. Dynamics where loops are open is not a number.
    """
    if not mechanism.loops or mechanism.symbols:
        return {}
    project, step = (kernel_of(mechanism, name, None, {}) for name in ("project_to_loops", "integrate"))
    draw, q = np.random.default_rng(0), np.tile(mechanism.neutral, (rows, 1))
    qd = draw.uniform(-1.0, 1.0, (rows, project.tape.inputs["qd"][0]))
    with np.errstate(all="ignore"):
        _, along = project(q, qd)
        for _ in range(2):  # a step along the loops, and back onto them
            q, along = project(step(q, 0.02 * along, 1.0), along)
    good = np.isfinite(q).all(axis=1) & np.isfinite(along).all(axis=1)
    return {
        "q": np.where(good[:, None], q, mechanism.neutral),
        "qd": np.where(good[:, None], along, 0.0),
    }


def _tool_words(mechanism: Tree) -> str:
    """Describe the frame of the tool."""
    held = mechanism.link_names[mechanism.tool_index]
    return f", of the tool on {held}" if np.any(mechanism.tool != np.eye(4)) else f", of the tool, the frame of {held}"


def _order(mechanism: Tree, tape: Tape) -> str:
    """Describe the joint of each coordinate, if joints and coordinates have different names."""
    names = mechanism.coordinate_names
    if tape.inputs.get("q") != (len(names),) or tape.labels.get("q") == names:
        return ""
    return f" The order of q is that of the joints {', '.join(mechanism.names)}."


def _tapes(mechanism: Tree, names: Iterable[str], options: dict[str, Any]) -> tuple[list[Tape], dict[str, str]]:
    """Tapes, and a sentence on each function."""
    tapes, titles, taken = [], {}, set[str]()
    for name in dict.fromkeys(names):
        mine = {key: options[key] for key in find(name).options if key in options}
        taken |= mine.keys()
        kernel = kernel_of(mechanism, name, None, mine)
        tapes.append(kernel.tape)
        whose = _tool_words(mechanism) if find(name).options.get("link") == TOOL and mine.get("link", TOOL) == TOOL else ""
        chosen = "".join(f", {key} {value}" for key, value in mine.items() if not (whose and key == "link"))
        titles[name] = f"{name} of {mechanism.name}{whose}{chosen}. {sentence(kernel.doc)}{_order(mechanism, kernel.tape)}"
    if not tapes:
        raise ArgumentError("there is no function to export")
    left = sorted(options.keys() - taken)
    if left:
        there = sorted({key for name in titles for key in find(name).options})
        raise ArgumentError(f"{choices(titles)} has no option {choices(left)}; there is {choices(there)}")
    return tapes, titles
