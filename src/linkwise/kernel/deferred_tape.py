"""Tapes that the disk knows without their code: a process that finds the machine code there too never runs the tracer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from linkwise.errors import KernelError
from linkwise.kernel import cache as disk
from linkwise.kernel.backend import Lazy
from linkwise.kernel.sources import sources_digest
from linkwise.kernel.tape import Shape, Tape

#: Attributes of a tape that require tracing.
_TRACED = ("constants", "code", "results", "origins")

_KEPT = ("name", "inputs", "outputs", "labels", "digest", "length", "operations", "operations_before", "nonzeros")


class DeferredTape(Tape):
    """A tape that is traced when its code is first read, once, whichever thread comes first.

    It pickles, and compares, as the tape that it then is.
    """

    @classmethod
    def of(cls, known: Mapping[str, Any], trace: Callable[[], Tape]) -> DeferredTape:
        """Build a tape from the known attributes `_KEPT` and its tracing function."""
        tape = object.__new__(cls)
        tape.__dict__.update(known, traced=Lazy(trace))
        return tape

    def __getattr__(self, name: str) -> Any:
        if name not in _TRACED or "traced" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        tape = self.__dict__["traced"]()
        self.__dict__.update({field: getattr(tape, field) for field in _TRACED})
        return getattr(tape, name)

    def __eq__(self, other: object) -> bool:
        return self._whole() == (other._whole() if isinstance(other, DeferredTape) else other)

    __hash__ = None  # type: ignore[assignment]  # (nor has a tape one, of mappings)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tape, tuple(getattr(self, field.name) for field in fields(Tape))

    def _whole(self) -> Tape:
        return Tape(*self.__reduce__()[1])


def kept_tape(key: str | None, trace: Callable[[], Tape], later: Callable[[], Tape]) -> Tape:
    """The tape that the disk knows by a key, else one that is traced now, and which it knows from now on.

    Parameters
    ----------
    key : str or None
        Of all that the tape depends on; None where that is not known.
    trace : callable
        Traces it now.
    later : callable
        Traces the tape that was known, when its code is asked for; that may happen in any thread, while it holds locks.
    """
    known = None if key is None else _known(key)
    if key is None or known is None:
        tape = trace()
        if key is not None and sources_digest(again=True) is not None:
            disk.store(key, json.dumps({name: getattr(tape, name) for name in _KEPT}).encode())
        return tape
    return DeferredTape.of(known, lambda: _same(key, known["digest"], later()))


def derived_tape(source: Tape, derivation: Any, trace: Callable[[], Tape]) -> Tape:
    """A tape that follows from another one, see `kept_tape`.

    Parameters
    ----------
    source : Tape
        What it follows from.
    derivation : object
        How, as text: plain data.
    trace : callable
        Makes it.
    """
    return tape_by_name(("derived", source.digest, sorted(source.labels.items()), derivation), trace)


def tape_by_name(name: Any, trace: Callable[[], Tape]) -> Tape:
    """Tape identified by a name, plain data, unique among those of these sources, see `kept_tape`."""
    sources = None if disk.directory() is None else sources_digest()
    key = None if sources is None else hashlib.sha256(repr((sources, name)).encode()).hexdigest()
    return kept_tape(key, trace, trace)


def _same(key: str, digest: str, tape: Tape) -> Tape:
    """Verify a tape against its known attributes.

    Raises
    ------
    KernelError
        Where it is another one; what was known is forgotten.
    """
    if tape.digest != digest:
        disk.remove(key)
        raise KernelError(
            f"the cache of compiled functions held another {tape.name} than this mechanism has; that entry is removed now."
            " Build the mechanism again, and please report this"
        )
    return tape


def _known(key: str) -> dict[str, Any] | None:
    """Read the known attributes of a tape from the disk; None if they are missing or invalid."""
    content = disk.load(key)
    try:
        head = json.loads(content or b"")
        return {
            "name": str(head["name"]),
            "inputs": _shapes(head["inputs"]),
            "outputs": _shapes(head["outputs"]),
            "labels": {str(name): tuple(map(str, labels)) for name, labels in head["labels"].items()},
            "digest": str(head["digest"]),
            "length": int(head["length"]),
            "nonzeros": {str(name): list(map(int, kept)) for name, kept in head["nonzeros"].items()},
            **{name: {str(op): int(n) for op, n in head[name].items()} for name in ("operations", "operations_before")},
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _shapes(shapes: Mapping[str, Any]) -> dict[str, Shape]:
    return {str(name): tuple(map(int, shape)) for name, shape in shapes.items()}
