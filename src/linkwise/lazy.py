"""Public names of a package that are imported on first use, so that importing the package costs next to nothing."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        Public names, between blanks, by the module that holds them; by ``""`` those that are modules of the package.

    Examples
    --------
    >>> lazy("linkwise", {"": "robots", "linkwise.model.link": "Link"})[0]
    ['Link', 'robots']
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name] or f"{package}.{name}")
        value = getattr(module, name) if modules[name] else module
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*modules, "__all__", "__doc__"} | vars(sys.modules[package]).keys() & {"__version__"})

    return sorted(modules), get, listed
