"""The arithmetic of a joint type from outside the package, traced once for use in steps.

Placement, motion subspace and its rate become one tape, whose inputs are coordinates, velocities, and the numbers of one
joint. All that a step knows of the type is in that tape, so its digest says which machine code serves the type, wherever the
text of the type stands and whatever that calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.kernel import Kernel, Tape, trace
from linkwise.model.joints import Joint
from linkwise.model.symbolic import content
from linkwise.spatial.scalar import Array, FloatArray

#: Sizes of the three results: the upper rows of the placement, S and dS/dt.
_OUTPUTS = ("placement", "subspace", "rate")


@dataclass(frozen=True)
class JointArithmetic:
    """Arithmetic of a joint type.

    Attributes
    ----------
    digest : str
        Digest of the tape.
    nq, nv : int
        Number of coordinates, and of velocities.
    names : tuple of str
        The fields of the type that are inputs; the values of all others are part of the tape.
    tape : Tape
        From q (nq,), qd (nv,) and the numbers (k,) to the placement (3, 4), S (6, nv) and dS/dt (6, nv).
    example : Joint
        The joint that was traced.
    """

    digest: str
    nq: int
    nv: int
    names: tuple[str, ...] = field(compare=False)
    tape: Tape = field(compare=False, repr=False)
    example: Joint = field(compare=False, repr=False)

    @classmethod
    def of(cls, joint: Joint) -> JointArithmetic:
        """Trace a joint, with as many of its numbers as inputs as its code permits symbols for.

        Fields that are no numbers, or with which the results would not be the joint's own (its code chooses by their
        values), stay what they are.

        Examples
        --------
        >>> from linkwise.model.joints import Screw
        >>> JointArithmetic.of(Screw(np.array([0.0, 0.0, 1.0]), 0.2)).names  # (its code looks whether the axis is z)
        ('pitch',)
        """
        known = joint._values()
        numbers = [name for name, value in known.items() if _is_numeric(value)]
        floats = [name for name in numbers if not isinstance(known[name], (int, np.integer))]
        scalars = [name for name in floats if not np.ndim(known[name])]
        for names in (numbers, floats, scalars):
            try:
                arithmetic = cls._traced(joint, tuple(names))
                if arithmetic.serves([joint]) == [True]:
                    return arithmetic
            except Exception:  # (any error of a type's code with a symbol in place of a number)
                continue
        return cls._traced(joint, ())

    @classmethod
    def _traced(cls, joint: Joint, names: tuple[str, ...]) -> JointArithmetic:
        known = joint._values()
        shapes = [np.shape(known[name]) for name in names]

        def function(q: Array, qd: Array, numbers: Array) -> tuple[Array, Array, Array]:
            parts = iter(_divided(numbers, shapes))
            values = {name: next(parts) if name in names else value for name, value in known.items()}
            twin = type(joint)(**values) if names else joint
            placement = np.asarray(twin.placement(q), dtype=object)
            if placement.shape != (4, 4) or any(isinstance(x, Expr) for x in placement[3]):
                raise ValueError(f"the placement of {joint.kind!r} has the shape {placement.shape}; expected a pose (4, 4)")
            return placement[:3], np.asarray(twin.subspace(q)), np.asarray(twin.subspace_rate(q, qd))

        inputs = {"q": (joint.nq,), "qd": (joint.nv,), "numbers": (sum(int(np.prod(shape)) for shape in shapes),)}
        shapes_out = dict(zip(_OUTPUTS, ((3, 4), (6, joint.nv), (6, joint.nv)), strict=True))
        tape = trace(function, "joint", inputs, shapes_out, shorten=True)
        return cls(tape.digest, joint.nq, joint.nv, names, tape, joint)

    def numbers_of(self, joint: Joint) -> FloatArray:
        """The numbers (k,) of a joint."""
        known = joint._values()
        return np.array([x for name in self.names for x in np.ravel(known[name])], dtype=np.float64)

    def serves(self, joints: Sequence[Joint]) -> list[bool]:
        """Mark joints, all of one type, for which the tape agrees with their code, at two positions."""
        results = []
        for joint in joints:
            known, first = joint._values(), self.example._values()
            same = [name in self.names or content(known[name]) == content(first[name]) for name in known]
            shapes = [np.shape(known[name]) == np.shape(first[name]) for name in self.names]
            results.append(all([*same, *shapes]))
        chosen = [joint for joint, fits in zip(joints, results, strict=True) if fits]
        agreeing = iter(self._agreeing(chosen)) if chosen else iter(())
        return [fits and next(agreeing) for fits in results]

    def _agreeing(self, joints: Sequence[Joint]) -> list[bool]:
        numbers = np.array([self.numbers_of(joint) for joint in joints]).reshape(len(joints), -1)
        derived = type(joints[0]).subspace is Joint.subspace and joints[0].screws is None
        ramp, qd, result = np.linspace(0.3, 0.9, self.nq), np.linspace(-0.7, 1.1, self.nv), [True] * len(joints)
        kernel = Kernel(self.tape, "numpy")
        for q in (ramp, joints[0].neutral - 1.3 * ramp):
            with np.errstate(all="ignore"):
                rows = kernel(q, qd, numbers)
            for k, joint in enumerate(joints):
                wanted = [joint.placement(q)[:3]]  # (S follows from it, where the type does not give it)
                wanted += [] if derived else [joint.subspace(q), joint.subspace_rate(q, qd)]
                result[k] = result[k] and all(_close(row[k], value) for row, value in zip(rows, wanted, strict=False))
        return result

    def on(self, q: Array, qd: Array, numbers: Array) -> tuple[Array, Array, Array]:
        """Placement (3, 4), S (6, nv) and dS/dt (6, nv) on scalars of any kind."""
        values = iter(self.tape.graph([*q, *qd, *numbers]))
        results = [np.empty(shape, dtype=object) for shape in ((3, 4), (6, self.nv), (6, self.nv))]
        for result in results:
            for index in np.ndindex(result.shape):
                result[index] = next(values)
        return results[0], results[1], results[2]


def _is_numeric(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, (float, int, np.floating, np.integer)) or (
        isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating)
    )


def _close(value: FloatArray, wanted: Any) -> bool:
    size = np.abs(array := np.asarray(wanted, dtype=float)).max(initial=1.0)
    return bool(np.allclose(value, array, rtol=0.0, atol=1e-9 * size, equal_nan=True))


def _divided(numbers: Array, shapes: Sequence[tuple[int, ...]]) -> Iterator[Any]:
    """Values of these shapes from one row."""
    first = 0
    for shape in shapes:
        size = int(np.prod(shape))
        yield numbers[first] if shape == () else numbers[first : first + size].reshape(shape)
        first += size
