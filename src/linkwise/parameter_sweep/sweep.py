"""Definition of a sweep: an algorithm at random configurations of a mechanism with random parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, prod
from typing import Any, Self

import numpy as np

from linkwise.algorithm import find
from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.expr.symbols import symbols
from linkwise.kernel import Kernel
from linkwise.kinematics import random_configuration
from linkwise.mechanism import Mechanism
from linkwise.model.digest import digest_of
from linkwise.model.quantities import names
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, whole

#: The inputs of algorithms that have a value for each coordinate.
INPUTS = ("q", "qd", "qdd", "tau")

#: Arrays (rows, ...) by name.
Arrays = dict[str, FloatArray]


@dataclass(frozen=True)
class Sweep:
    """An algorithm at random samples, which are drawn evenly from ranges; `of` makes one.

    Samples come in chunks, each of random numbers of its own: they are the same whichever process computes them, and when.

    Attributes
    ----------
    mechanism : Mechanism
        With a symbol for each parameter that is swept.
    algorithm : str
        Its name, as `linkwise.Mechanism.kernel` takes it.
    over : mapping of str to (float, float)
        Least and greatest value by name, SI units and radians: ``"mass:LINK"`` (kg, about an unchanged centre of mass and
        with an unchanged inertia about it), ``"payload"`` (kg, a point in the tool), ``"q:JOINT"``, ``"qd:JOINT"`` and so
        on for the inputs of the algorithm, and the name of any symbol of the mechanism. Coordinates that are not named are
        spread over their limits, as `linkwise.Mechanism.random_configuration` does; other inputs are zero.
    samples, chunk : int
        How many samples, and how many at a time.
    seed : int
        Seed of the random numbers.
    options : mapping of str to object
        Options of the algorithm.

    Examples
    --------
    >>> from linkwise import robots
    >>> sweep = Sweep.of(robots.planar_2r(), "gravity_torque", {"mass:link2": (1.0, 5.0)}, samples=1000, chunk=400)
    >>> [len(sweep.compute(k)["tau"]) for k in range(sweep.chunks)]
    [400, 400, 200]
    """

    mechanism: Mechanism
    algorithm: str
    over: Mapping[str, tuple[float, float]]
    samples: int
    chunk: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        algorithm: str,
        over: Mapping[str, tuple[float, float]],
        *,
        samples: int,
        chunk: int = 100_000,
        seed: int = 0,
        **options: Any,
    ) -> Self:
        """The sweep of a mechanism.

        Raises
        ------
        ArgumentError
            Naming what can be swept, or the symbols without a range.
        """
        if not isinstance(mechanism, Mechanism):
            raise ArgumentError(f"sweep: mechanism is {shown(mechanism)}; expected a Mechanism")
        if not isinstance(over, Mapping):
            raise ArgumentError(f"sweep: over is {shown(over)}; expected a mapping of names to a least and a greatest value")
        if mechanism.loops:
            loops = members(loop.name or repr(loop) for loop in mechanism.loops)
            raise ArgumentError(
                f"sweep: {mechanism.name!r} has closed loops, {loops}, which random coordinates do not close;"
                " replace(loops=()) gives the tree, cut open"
            )
        declared = find(algorithm)
        unknown = [name for name in declared.inputs if name not in INPUTS]
        if unknown or "q" not in declared.inputs:
            raise ArgumentError(
                f"sweep: {algorithm} takes {members(declared.inputs)}; expected inputs among {choices(INPUTS)}"
            )
        ranges = {}
        for name, pair in over.items():
            ends = numbers(f"sweep: {name}", pair, "two finite numbers in order")
            if ends.shape != (2,) or not ends[0] <= ends[1]:
                raise ArgumentError(f"sweep: {name} is {shown(pair)}; expected two finite numbers in order")
            ranges[name] = (float(ends[0]), float(ends[1]))
            mechanism = _with_symbol(mechanism, name, ranges[name], tuple(declared.inputs))
        left = [name for name in mechanism.symbols if name not in over]
        if left:
            raise ArgumentError(f"sweep: {mechanism.name!r} has the symbols {members(left)} without a range")
        samples, chunk = whole("sweep: samples", samples, 1), whole("sweep: chunk", chunk, 1)
        result = cls(mechanism, algorithm, ranges, samples, chunk, whole("sweep: seed", seed, 0), options)
        result._check_names()
        return result

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return ceil(self.samples / self.chunk)

    @property
    def kernel(self) -> Kernel:
        """The compiled function."""
        return self.mechanism.kernel(self.algorithm, **self.options)

    @property
    def settings(self) -> dict[str, Any]:
        """All data on which the samples and results depend, as plain data."""
        over = {name: list(ends) for name, ends in self.over.items()}
        same = {name: getattr(self, name) for name in ("algorithm", "samples", "chunk", "seed")}
        named = {"mechanism": self.mechanism.name, "digest": digest_of(self.mechanism)}
        return {**named, **same, "over": over, "options": dict(self.options)}

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each array for one sample: the parameters, q, inputs that are swept, and outputs."""
        tape = self.kernel.tape
        inputs = {
            name: shape
            for name, shape in tape.inputs.items()
            if name == "q" or any(key.startswith(f"{name}:") for key in self.over)
        }
        parameters: dict[str, tuple[int, ...]] = dict.fromkeys(map(column, self.mechanism.symbols), ())
        return {**parameters, **inputs, **tape.outputs}

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The name of each number of an array: by joints, else by its place."""
        result = {}
        for name, shape in self.shapes.items():
            joints = names(self.mechanism, name) if name in INPUTS else ()
            places = joints if shape == (len(joints),) else ["_".join(map(str, at)) for at in np.ndindex(shape)]
            result[name] = tuple(f"{name}_{place}" if place else name for place in places)
        return result

    def _check_names(self) -> None:
        """Raise `ArgumentError` where two quantities would be stored under one name."""
        tape, parameters = self.kernel.tape, self.mechanism.symbols
        sources = {name: name for name in (*tape.inputs, *tape.outputs)}
        labels = {label: name for name in sources if name in self.shapes for label in self.columns[name]}
        for name in parameters:
            other = sources.get(column(name)) or labels.get(column(name))
            if other is not None:
                raise ArgumentError(
                    f"sweep: {name!r} and {other!r} would both be stored as {column(name)!r}; expected another name for the"
                    " symbol"
                )
            sources[column(name)] = name

    def rows(self, k: int) -> slice:
        """The samples of a chunk."""
        return slice(k * self.chunk, min((k + 1) * self.chunk, self.samples))

    def compute(self, k: int) -> Arrays:
        """Samples and results of a chunk: arrays (rows, ...) of `shapes`."""
        place, tape = self.rows(k), self.kernel.tape
        rows, rng = place.stop - place.start, np.random.default_rng([self.seed, k])
        start = random_configuration(self.mechanism, int(rng.integers(2**62)), rows)
        inputs = {name: np.zeros((rows, *shape)) for name, shape in tape.inputs.items()} | {"q": start}
        for name, ends in self.over.items():
            values = rng.uniform(*ends, rows)
            quantity, _, item = name.partition(":")
            if name in self.mechanism.symbols:
                inputs["parameters"][:, self.mechanism.symbols.index(name)] = values
            else:
                inputs[quantity][:, names(self.mechanism, quantity).index(item)] = values
        results = self.kernel(*inputs.values())
        outputs = dict(zip(tape.outputs, results if isinstance(results, tuple) else (results,), strict=True))
        parameters = {column(name): inputs["parameters"][:, p] for p, name in enumerate(self.mechanism.symbols)}
        everything = {**parameters, **inputs, **outputs}
        return {name: everything[name] for name in self.shapes}

    @property
    def bytes(self) -> int:
        """Bytes of all numbers."""
        return 8 * self.samples * sum(map(prod, self.shapes.values()))


def column(name: str) -> str:
    """The name of a parameter's column: that of its range, without a colon."""
    return name.replace(":", "_")


def _with_symbol(mechanism: Mechanism, name: str, ends: tuple[float, float], inputs: tuple[str, ...]) -> Mechanism:
    """The mechanism with a symbol for a parameter that is swept; itself where an input or a symbol of it is."""
    quantity, colon, item = name.partition(":")
    if not colon and name in mechanism.symbols:
        return mechanism
    if (quantity == "mass" and colon) or name == "payload":
        if ends[0] < 0.0:
            raise ArgumentError(f"sweep: {name} is from {ends[0]:g}; expected a mass of 0 or above")
        mass = symbols([name])[0]
        return mechanism.with_payload(mass) if name == "payload" else mechanism.replace_link(item, mass=mass)
    if not colon or quantity not in inputs:
        known = ["mass:LINK", "payload", *(f"{name}:JOINT" for name in inputs), *mechanism.symbols]
        raise ArgumentError(f"sweep: no parameter {shown(name)}; expected {choices(known)}")
    joints = names(mechanism, quantity)
    if item not in joints:
        raise ArgumentError(f"sweep: {name!r}: no joint {item!r}; expected {choices(joints)}")
    if any(item.startswith(f"{at.name}_q") for at in mechanism.manifold_joints) and quantity == "q":
        raise ArgumentError(f"sweep: {name!r} is a part of a quaternion, which is drawn as a whole")
    return mechanism
