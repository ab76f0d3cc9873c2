"""Write the reference page from the code it describes: ``python docs/make_reference.py``. A test compares the two."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import linkwise as lw
from linkwise import (
    control,
    errors,
    export,
    files,
    identification,
    inverse_kinematics,
    loops,
    planar,
    robo,
    robots,
    rtss,
    solve,
    spacelib,
    trajectory,
    view,
    workspace,
)
from linkwise.algorithm import ALGORITHMS
from linkwise.comparison import Comparison
from linkwise.dynamics import BaseBodies, BaseForms, BaseParameters, Contact, ContactDerivatives, Contacts, SpatialOperators
from linkwise.equations import Equations, HarmonicForm
from linkwise.equations.derive import Derivation
from linkwise.loops import Mobility
from linkwise.workspace import Workspace

clearance = lw.clearance  # (imported behind the others: algorithms stand in the order in which they are imported)

PAGE = Path(__file__).with_name("reference.md")

HEAD = """# Reference

<!-- Written by docs/make_reference.py from the code; a test compares the two. Do not edit. -->

Every public name in a line. The whole text, with parameters, errors, sources and an example, is in the docstrings,
`help(lw.Mechanism.jacobian)`, and on the pages of the documentation site, which `python3 dev.py docs` builds.
What is not on this page is not public and may change. Shapes: nq coordinates and nv speeds (both n on a
fixed base), n joints, L links, P inertial parameters, `...` any batch axes.
"""

CLASSES = (
    lw.Mechanism,
    lw.Link,
    lw.Motor,
    lw.Mimic,
    lw.Loop,
    lw.Inertia,
    lw.Trajectory,
    lw.CartesianTrajectory,
    lw.Feedback,
    lw.Sampled,
    lw.Kernel,
    BaseParameters,
    BaseForms,
    BaseBodies,
    SpatialOperators,
    Equations,
    Derivation,
    HarmonicForm,
    Contact,
    Contacts,
    ContactDerivatives,
    Comparison,
    solve.Solution,
    solve.PrioritySolution,
    inverse_kinematics.Solutions,
    inverse_kinematics.SelfMotion,
    inverse_kinematics.SelfMotionCurve,
    inverse_kinematics.PathBranches,
    inverse_kinematics.PathBreak,
    inverse_kinematics.ClosedForm,
    lw.Pose,
    lw.Position,
    lw.Orientation,
    lw.Aligned,
    lw.LookAt,
    lw.Coordinate,
    lw.Follows,
    lw.Closed,
    lw.Clear,
    lw.Distance,
    lw.CenterOfMass,
    lw.Posture,
    lw.LimitMargin,
    lw.Manipulability,
    clearance.Clearance,
    clearance.PlannedPath,
    clearance.Capsule,
    clearance.LeftOut,
    loops.Linkage,
    loops.LinkageSolution,
    loops.Singularities,
    loops.AssemblyModes,
    inverse_kinematics.VelocitySolution,
    inverse_kinematics.PathSolution,
    inverse_kinematics.TargetFollower,
    inverse_kinematics.DragSolution,
    trajectory.Event,
    trajectory.MotionLimits,
    trajectory.JointPath,
    trajectory.OptimalMotion,
    trajectory.Binding,
    trajectory.OnlineTrajectory,
    files.ReadOptions,
    identification.Identification,
    identification.ExcitingTrajectory,
    files.Description,
    files.MotionFile,
    files.Shape,
    export.Sources,
    Mobility,
    Workspace,
    control.Chain,
    control.RevoluteLink,
    control.PrismaticLink,
    control.FixedLink,
    control.FixedPosition,
    control.FixedRotation,
    control.MovingPosition,
    control.Velocity,
    control.LoopClosure,
    control.DrivenJoint,
    control.Ports,
    control.Port,
    control.Recorder,
    control.Recording,
    control.State,
    planar.Mechanism,
    planar.Link,
    planar.Loop,
    planar.Freedoms,
    planar.PlanarClearance,
    planar.ConfigurationSpace,
    view.Animation,
    robo.Robot,
    robo.Link,
    robo.Motor,
    rtss.rt_link,
    rtss.rt_robot,
    rtss.rt_quaternion,
)
"""In the order of the page."""


MODULES = {"control", "export", "files", "identification", "planar", "robo", "rtss", "solve", "view"}
"""Modules by whose names their classes are called on the page; others are called by their own alone."""


def first_line(thing: Any) -> str:
    """The first paragraph of a docstring, on one line, as Markdown."""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "").split("\n\n")[0]
    return re.sub(r"`{2}(.+?)`{2}", r"`\1`", " ".join(text.split())).replace("|", "\\|")


def called(name: str, function: Any) -> str:
    """A function as it is called: its name and its parameters, without types."""
    function = inspect.unwrap(function, stop=lambda f: hasattr(f, "__signature__"))
    kept = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in {"self", "cls"}:
            continue
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and not any(word.startswith("*") for word in kept):
            kept.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        kept.append(f"{star}{parameter.name}{default}")
    return f"`{name}({', '.join(kept)})`"


def as_method(function: Any) -> Any:
    """A function of a module, as it is called where it is a method: without its first argument."""

    @functools.wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    signature = inspect.signature(function)
    method.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    return method


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, its own before those it inherits, in the order of the code."""
    seen: set[str] = set()
    for owner in [base for base in kind.__mro__ if base.__module__.startswith("linkwise")]:
        for name, member in vars(owner).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            if isinstance(member, (classmethod, staticmethod)):
                yield name, getattr(kind, name)
            elif inspect.isfunction(function := getattr(kind, name)) and "." not in function.__qualname__:
                yield name, as_method(function)
            elif callable(member) or (hasattr(member, "__get__") and hasattr(member, "__set__")):
                yield name, member


def rows(pairs: Iterator[tuple[str, Any]]) -> list[str]:
    """A table of names and what they are."""
    lines = ["| name | |", "|---|---|"]
    for name, thing in pairs:
        label = called(name, thing) if callable(thing) else f"`{name}`"
        lines.append(f"| {label} | {first_line(thing)} |")
    return lines


def functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public functions of a module, in the order of its text; of one that imports them when asked, of its names."""
    lazy = hasattr(module, "__all__")
    for name, thing in [(n, getattr(module, n)) for n in module.__all__] if lazy else vars(module).items():
        if name.startswith("_") or isinstance(thing, ModuleType):
            continue
        if inspect.isfunction(inspect.unwrap(thing)) and thing.__module__.startswith(module.__name__):
            yield name, thing


def page() -> str:
    """The text of the page."""
    lines = [HEAD, "## `linkwise`", "", "| name | |", "|---|---|"]
    for name in lw.__all__:
        thing = getattr(lw, name)
        kind = "module: " if isinstance(thing, ModuleType) else ""
        lines.append(f"| `{name}` | {kind}{first_line(thing)} |")
    for kind in CLASSES:
        home = kind.__module__.split(".")[1]
        name = f"{home}.{kind.__name__}" if home in MODULES else kind.__name__
        lines += ["", f"## `{name}`", "", first_line(kind), "", called(name, kind), "", *rows(members(kind))]
    lines += ["", "## Algorithms", "", "What `Mechanism.kernel(name, **options)` makes.", ""]
    lines += ["| name | inputs | outputs | options | |", "|---|---|---|---|---|"]
    for algorithm in ALGORITHMS.values():
        shapes = [
            ", ".join(f"`{name}` ({', '.join(shape.split())})" for name, shape in group.items())
            for group in (algorithm.inputs, algorithm.outputs)
        ]
        options = ", ".join(f"`{option}`" for option in algorithm.options)
        lines.append(f"| `{algorithm.name}` | {shapes[0]} | {shapes[1]} | {options} | {first_line(algorithm.function)} |")
    for module in (
        trajectory,
        identification,
        solve,
        inverse_kinematics,
        clearance,
        loops,
        workspace,
        control,
        planar,
        view,
        export,
        spacelib,
        rtss,
        robo,
    ):
        lines += ["", f"## `{module.__name__}`", "", first_line(module), "", *rows(functions(module))]
    lines += ["", "## `linkwise.files`", "", first_line(files), "", *rows(functions(files))]
    lines += ["", "## `linkwise.robots`", "", first_line(robots), "", *rows(functions(robots))]
    lines += ["", "| `load(name)` | |", "|---|---|", *(f"| `{name}` | {robots.summary(name)} |" for name in robots.names())]
    lines += ["", "## `linkwise.errors`", "", first_line(errors), "", "| name | |", "|---|---|"]
    for name, thing in vars(errors).items():
        if inspect.isclass(thing) and thing.__module__ == errors.__name__:
            bases = ", ".join(f"`{base.__name__}`" for base in thing.__bases__ if base is not object)
            lines.append(f"| `{name}` {f'({bases})' if bases else ''} | {first_line(thing)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
