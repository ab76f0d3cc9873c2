"""Which names are public: those of `linkwise`, of its public modules, and the classes that their functions hand back."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from make_reference import as_method

from sitemaker.naming import MODULES

RETURNED = {
    "comparison": ("Comparison",),
    "equations": ("Equations", "HarmonicForm"),
    "equations.derive": ("Derivation",),
}
"""Classes of modules that are not public themselves, whose objects public functions return."""

INTERNAL = {"errors": {"choices", "members", "shown"}}
"""Functions without an underscore that are the house's own."""

MISSING: dict[str, str] = {}
"""Names that a module promises and cannot give, with the error: the build ends with them."""


@dataclass(frozen=True)
class Entry:
    """One public name: the module it is described under, the name there, and what it stands for."""

    module: str
    name: str
    value: Any

    @property
    def full(self) -> str:
        """The name in full."""
        return f"{self.module}.{self.name}"

    @property
    def page(self) -> str:
        """The page of the site with its description, from the root, without an ending."""
        folder = self.module.removeprefix("linkwise").removeprefix(".")
        if self.kind != "class":
            return f"api/{folder or 'linkwise'}"
        return f"api/{folder}.{self.name}" if folder else f"api/{self.name}"

    @cached_property
    def kind(self) -> str:
        """One of class, error, function, data."""
        if inspect.isclass(self.value):
            return "error" if issubclass(self.value, BaseException) else "class"
        return "function" if callable(self.value) else "data"

    @property
    def doc(self) -> str:
        """The docstring, of a constant the text below it."""
        return docstring(self.value) if self.kind != "data" else constant_doc(self.module, self.name)

    @property
    def has_example(self) -> bool:
        """Whether its docstring shows it in use."""
        return ">>>" in self.doc


def docstring(thing: Any) -> str:
    """What an object says of itself, not of its class."""
    return inspect.cleandoc(getattr(inspect.unwrap(thing) if callable(thing) else thing, "__doc__", None) or "")


@cache
def tree_of(module: ModuleType) -> ast.Module:
    """The syntax of a module's file."""
    return ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))


def names_of(module: ModuleType) -> list[str]:
    """The public names of a module: ``__all__``, or what it imports ``as`` itself and defines without an underscore."""
    if hasattr(module, "__all__"):
        found = list(module.__all__)
    else:
        found = [name.name for name in _imports(module) if name.asname == name.name]
        found += [
            part.name
            for part in tree_of(module).body
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and not part.name.startswith("_")
        ]
    hidden = INTERNAL.get(module.__name__.rpartition(".")[2], set())
    return [name for name in dict.fromkeys(found) if name not in hidden and there(module, name)]


def there(module: ModuleType, name: str) -> bool:
    """Whether a name is a thing of the module, not a module itself; what is promised and cannot be had goes to `MISSING`."""
    try:
        return not inspect.ismodule(getattr(module, name))
    except (AttributeError, ImportError) as error:
        MISSING[f"{module.__name__}.{name}"] = str(error)
        return False


def _imports(module: ModuleType) -> list[ast.alias]:
    return [name for part in ast.walk(tree_of(module)) if isinstance(part, ast.ImportFrom) for name in part.names]


def home(module: ModuleType, name: str) -> str:
    """The module in which a name that another hands on is defined."""
    for part in ast.walk(tree_of(module)):
        if isinstance(part, ast.ImportFrom) and part.module and any(known.name in (name, "*") for known in part.names):
            other = importlib.import_module(part.module)
            if part.names[0].name == "*" and name not in names_of(other):
                continue
            return home(other, name) if other is not module else module.__name__
    return module.__name__


def constant_doc(module: str, name: str) -> str:
    """The comment ``#:`` above the line that sets a constant."""
    owner = importlib.import_module(home(importlib.import_module(module), name))
    lines = inspect.getsource(owner).splitlines()
    for part in tree_of(owner).body:
        targets = part.targets if isinstance(part, ast.Assign) else [part.target] if isinstance(part, ast.AnnAssign) else []
        if any(isinstance(one, ast.Name) and one.id == name for target in targets for one in ast.walk(target)):
            above = takewhile(lambda line: line.startswith("#:"), reversed(lines[: part.lineno - 1]))
            return "\n".join(reversed([line[2:].strip() for line in above]))
    return ""


@cache
def existing() -> tuple[str, ...]:
    """The public modules that there are, in full."""
    specs = {f"linkwise.{name}": importlib.util.find_spec(f"linkwise.{name}") for name in MODULES}
    return ("linkwise", *(name for name, spec in specs.items() if spec is not None and spec.origin))


@cache
def entries() -> dict[str, Entry]:
    """Every public name by its full name, under the first module of `existing` that has it."""
    found: dict[str, Entry] = {}
    taken: set[int] = set()
    for module_name, names in [*((name, None) for name in existing()), *((f"linkwise.{k}", v) for k, v in RETURNED.items())]:
        module = importlib.import_module(module_name)
        for name in names or names_of(module):
            entry = Entry(module_name, name, getattr(module, name))
            if entry.kind != "data" and id(entry.value) in taken:
                continue
            taken.add(id(entry.value))
            found[entry.full] = entry
    return found


@cache
def aliases() -> dict[str, str]:
    """Other full names of the same things: ``linkwise.solve.Pose`` is described as ``linkwise.Pose``."""
    first = {id(entry.value): entry.full for entry in entries().values() if entry.kind != "data"}
    found = {}
    for module_name in existing():
        module = importlib.import_module(module_name)
        for name in names_of(module):
            full = first.get(id(getattr(module, name)))
            if full and full != f"{module_name}.{name}":
                found[f"{module_name}.{name}"] = full
    return found


def members(kind: type) -> dict[str, Any]:
    """The public methods and properties of a class, its own before those it inherits, in the order of the code."""
    found: dict[str, Any] = {}
    for owner in [base for base in kind.__mro__ if base.__module__.startswith("linkwise")]:
        for name, member in list(vars(owner).items()):
            if name.startswith("_") or name in found or inspect.isclass(member):
                continue
            if inspect.isfunction(function := getattr(kind, name)) and "." not in function.__qualname__:
                found[name] = as_method(function)
            elif isinstance(member, (classmethod, staticmethod)) or callable(member) or hasattr(member, "__get__"):
                found[name] = member
    return {name: member for name, member in found.items() if not type(member).__name__.endswith("member_descriptor")}
