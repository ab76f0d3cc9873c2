"""How a method of `Mechanism` becomes a compiled function after its first call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")


class compiled(Generic[P, R]):  # noqa: N801  (used as a decorator)
    """A method that computes one algorithm with its default options, and whose plain calls skip Python.

    At its first plain call (as many arguments as the kernel has inputs, no keywords) the mechanism gets, under the
    method's own name, the kernel's compiled entry: it takes contiguous float64 vectors itself and hands any other
    call back to the method as it is written. A subclass that overrides the method is left alone.
    """

    def __init__(self, method: Callable[Concatenate[Any, P], R]) -> None:
        self.method = method
        self.name = method.__name__
        self.inputs = [
            parameter.name
            for parameter in list(inspect.signature(method).parameters.values())[1:]
            if parameter.default is parameter.empty
        ]
        update_wrapper(self, method)

    @overload
    def __get__(self, owner: None, kind: type) -> compiled[P, R]: ...
    @overload
    def __get__(self, owner: Any, kind: type) -> Callable[P, R]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        return MethodType(self, owner)

    def __call__(self, owner: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute as the method says, and leave the compiled entry behind for the next call."""
        result = self.method(owner, *args, **kwargs)
        plain = len(args) == len(self.inputs) and not kwargs
        if plain and self.name not in owner.__dict__ and getattr(type(owner), self.name) is self:
            slow = MethodType(self.method, owner)
            owner.__dict__[self.name] = owner.kernel(self.name).entry(slow) or slow
        return result

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.method)
