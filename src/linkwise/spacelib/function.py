"""How one function over scalars serves numbers, whole batches of numbers, and symbols.

The body of a SpaceLib function is written once, over arrays of scalars. For numbers it is traced and compiled, once for each
choice of its whole-number arguments, and the machine code runs over the leading axes. For SymPy symbols the same trace is
written out in SymPy; for Linkwise expressions the body runs on them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from math import isfinite
from threading import RLock
from typing import Any, TypeVar

from linkwise.errors import ArgumentError
from linkwise.spacelib.declaration import Declaration
from linkwise.spacelib.kinds import SCALAR, Choice, Kind
from linkwise.spacelib.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])

_making = RLock()


def function(
    *,
    codes: Sequence[int] = (),
    refuse: Sequence[str] = (),
    symbolic: Callable[..., Any] | None = None,
    direct: bool = False,
    **kinds: Kind | Choice,
) -> Callable[[F], F]:
    """Make a function over scalars one of numbers, batches and symbols.

    Parameters
    ----------
    codes : sequence of int, optional
        Which of the results are whole numbers, such as return codes.
    refuse : sequence of str, optional
        Messages for trailing results of the body that must be above zero; these are not returned. On SymPy symbols a call
        is refused where one is known not to be; on Linkwise expressions nothing is known, and nothing refused.
    symbolic : callable, optional
        A body for symbols, where what the body itself comes to on them is not what people would write.
    direct : bool
        Whether the body is NumPy that takes batches, and symbols in object arrays, as they come.
    **kinds : Kind or Choice
        For each parameter what it must be. A parameter that has a default may be left out.
    """

    def declare(body: F) -> F:
        declared = Declaration(body.__name__.lstrip("_"), body, kinds, tuple(codes), tuple(refuse), symbolic or body, direct)
        signature = inspect.signature(body)
        if list(signature.parameters) != list(kinds):
            raise TypeError(f"{declared.name} takes {list(signature.parameters)}; kinds are given for {list(kinds)}")
        call = _Call(declared)
        defaults = body.__defaults__ or ()
        plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
        shown_as = inspect.Signature(plain)

        @wraps(body)
        def run(*args: Any, **named: Any) -> Any:
            left = call.count - len(args)
            if left == 0 and not named:
                return call(args)
            if 0 < left <= len(defaults) and not named:
                return call((*args, *defaults[-left:]))
            bound = bind(declared.name, shown_as, args, named)
            bound.apply_defaults()
            return call(tuple(bound.arguments.values()))

        run.__signature__ = shown_as  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return declare


def bind(name: str, signature: inspect.Signature, args: Any, named: Any) -> inspect.BoundArguments:
    """Match arguments with parameters; what does not match is said with the name of the function."""
    try:
        return signature.bind(*args, **named)
    except TypeError as error:
        raise TypeError(f"{name}{signature}: {error}") from None


class _Call:
    """Reads the arguments of a function, and finds what computes it for these."""

    def __init__(self, declared: Declaration) -> None:
        self.declared = declared
        self.count = len(declared.kinds)
        self.fields = [
            (f"{declared.name}: {name}", kind, kind.axes if isinstance(kind, Kind) else None)
            for name, kind in declared.kinds.items()
        ]
        self.plans: dict[tuple[Any, ...], Plan] = {}

    def __call__(self, args: Sequence[Any]) -> Any:
        given: list[Any] = []
        key: list[Any] = []
        symbols = False
        for (field, kind, axes), value in zip(self.fields, args, strict=True):
            if kind is SCALAR and value.__class__ is float and isfinite(value):
                given.append(value)
                continue
            made: Any = kind.read(field, value)
            given.append(made)
            if axes is None:
                key.append(made)
                continue
            symbols = symbols or made.dtype.hasobject
            if axes:
                key.append(made.shape[-axes:])
        if symbols:
            from linkwise.spacelib.on_symbols import on_symbols

            return on_symbols(self.declared, given)
        if self.declared.direct:
            return self._direct(given)
        chosen = tuple(key)
        return (self.plans.get(chosen) or self._made(chosen, given))(given)

    def _direct(self, given: Sequence[Any]) -> Any:
        try:
            return self.declared.finished(self.declared.body(*given))
        except ValueError as error:
            if isinstance(error, ArgumentError) or self.declared.fits(given):
                raise
            raise ArgumentError(self.declared.misfit(given)) from error

    def _made(self, key: tuple[Any, ...], given: Sequence[Any]) -> Plan:
        with _making:
            if key not in self.plans:
                self.plans[key] = Plan(self.declared, given)
            return self.plans[key]
