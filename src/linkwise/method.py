"""How a method of `Mechanism` becomes a compiled function after its first call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")


class compiled(Generic[P, R]):  # noqa: N801  (used as a decorator)
    """A method that computes one algorithm with its default options, and whose plain calls skip Python.

    At its first call the kernel is made, and the mechanism gets, under the method's own name, the kernel's compiled entry:
    it takes contiguous float64 vectors itself and hands any other call back to the method as it is written.
    """

    def __init__(self, method: Callable[..., R]) -> None:
        self.method = method
        self.name = method.__name__
        update_wrapper(self, method)

    @overload
    def __get__(self, owner: None, kind: type) -> compiled[P, R]: ...
    @overload
    def __get__(self, owner: Any, kind: type) -> Callable[..., R]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        return MethodType(self, owner)

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> R:
        """Compute as the method says, and leave the compiled entry behind for the next call."""
        if self.name not in owner.__dict__:
            slow = MethodType(self.method, owner)
            owner.__dict__[self.name] = owner.kernel(self.name).entry(slow) or slow
        return self.method(owner, *args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.method)
