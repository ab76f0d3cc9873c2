"""Methods of `Mechanism` that become compiled functions at their first call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from importlib import import_module
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from linkwise.kernel.fastcall import Entry, documentation, make_callable, no_entry, usable

P = ParamSpec("P")
R = TypeVar("R")


class LazyMethod:
    """Functions of a package as the methods of the same names, with the functions' signatures and descriptions.

    The package is imported when one of them is first asked for; from then on the class has the function itself.

    Parameters
    ----------
    package : str
        Where functions of the names under which this stands in the class are; their first argument is the mechanism.
    """

    def __init__(self, package: str) -> None:
        self.package = package

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, _LazyFunction(owner, name, self.package))


class _LazyFunction:
    def __init__(self, owner: type, name: str, package: str) -> None:
        self.owner, self.name, self.package = owner, name, package

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        function = getattr(import_module(self.package), self.name)
        setattr(self.owner, self.name, function)
        return function if instance is None else MethodType(function, instance)


class compiled(Generic[P, R]):  # noqa: N801  (used as a decorator)
    """A method that computes one algorithm with its default options, and whose plain calls skip Python.

    When it is first looked up on a mechanism, the mechanism gets a built-in function under the method's own name. It calls
    the method as it is written, until the first plain call (as many arguments as the kernel has inputs, no keywords); from
    then on, whoever holds it calls the kernel's compiled entry, which takes contiguous float64 vectors itself and hands any
    other call to the method. Where a subclass overrides the method, `super` and the class lead to such a function too.
    """

    def __init__(self, method: Callable[Concatenate[Any, P], R]) -> None:
        self.method = method
        self.name = method.__name__
        self.inputs = [
            parameter.name
            for parameter in list(inspect.signature(method).parameters.values())[1:]
            if parameter.default is parameter.empty
        ]
        self.own_name = f"{method.__module__}.{method.__qualname__}"
        update_wrapper(self, method)

    @overload
    def __get__(self, owner: None, kind: type) -> compiled[P, R]: ...
    @overload
    def __get__(self, owner: Any, kind: type) -> Callable[P, R]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        return owner.__dict__.get(self.own_name) or self._bind(owner)

    def __call__(self, owner: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute for a mechanism, as ``Mechanism.method(mechanism, ...)``."""
        function: Callable[P, R] = owner.__dict__.get(self.own_name) or self._bind(owner)
        return function(*args, **kwargs)

    def _bind(self, owner: Any) -> Callable[P, R]:
        """The one function of a mechanism; where the method is not overridden, also under the method's name."""
        bound: Callable[P, R] = MethodType(self.method, owner)
        if usable():
            bound = make_callable(bound, self.name, self._doc, later=partial(self._entry, owner))
        bound = owner.__dict__.setdefault(self.own_name, bound)
        if getattr(type(owner), self.name) is self:
            owner.__dict__[self.name] = bound
        return bound

    def _entry(self, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry | None:
        """What to call from now on: None before the first plain call, after which the kernel is there."""
        if kwargs or len(args) != len(self.inputs):
            return None
        return owner.kernel(self.name).machine_entry() or no_entry()

    @cached_property
    def _doc(self) -> str:
        return documentation(MethodType(self.method, object()), self.name, "")

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.method)
