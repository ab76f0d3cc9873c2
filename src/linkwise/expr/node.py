"""The node of the expression graph. Equal expressions are one object, which is freed after its last use."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any, Protocol

import numpy as np

from linkwise.errors import shown
from linkwise.expr.operations import OPERATIONS

_serials = count()
_table: dict[tuple[Any, ...], _Entry] = {}
_naming = threading.RLock()
_rewrites: dict[tuple[str, ...], tuple[Callable[..., Expr | None], ...]] = {}
_rules: dict[str, Sequence[RewriteRule]] = {}

#: Each node, operands first: (op, value) of a leaf, (op, places of the operands) of an operation.
#:
#: The value of a symbol that was read from another object is the pair of its name and that object.
Steps = tuple[tuple[str, Any], ...]

_COMMUTING = frozenset(op for op, operation in OPERATIONS.items() if operation.commutes)

#: Factors with which a product is no operation.
_FACTORS = (0.0, 1.0)

#: Longer expressions are cut when they are written: a graph with shared parts can be exponentially longer as text.
LONGEST = 2000

_BINDING = {"add": 1, "sub": 1, "neg": 2, "mul": 3, "div": 3}
_SIGN = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / "}


class RewriteRule(Protocol):
    """Interface of a rule for `build`: see `linkwise.expr.rules.Rule`."""

    @property
    def rewrite(self) -> Callable[..., Expr | None]:
        """Applies the rule to operands; None where it does not fit."""

    def fits(self, kinds: Sequence[str]) -> bool:
        """True if it applies to operands of these kinds."""


def use_rules(rules: Mapping[str, Sequence[RewriteRule]]) -> None:
    """Take a table of rewrite rules, by operation, for all expressions that are built from now on."""
    _rules.update(rules)
    _rewrites.clear()


class Expr:
    """One node: a constant, a symbol, or an operation on other nodes.

    Made by `symbol` and by arithmetic on expressions; arithmetic that comes out constant gives a plain float. Nodes are
    compared by identity, which is equality, because they are interned.

    Attributes
    ----------
    op : str
        ``"const"``, ``"symbol"`` or a key of `linkwise.expr.operations.OPERATIONS`.
    args : tuple of Expr
        The operands.
    value : float or str or None
        The number of a constant, the name of a symbol.
    serial : int
        Grows with creation.
    key : bytes or None
        Of an expression of parameters and numbers alone, which all graphs share: what it is, the same in every process. None
        for what depends on a symbol of a single graph.

    Examples
    --------
    >>> x = symbol("x")
    >>> x + x * 0.0 is x
    True
    >>> str((x + 1.0).sin() * 2.0)
    '2 * sin(1 + x)'
    """

    __slots__ = ("__weakref__", "args", "key", "op", "serial", "value")

    op: str
    args: tuple[Expr, ...]
    value: Any
    serial: int
    key: bytes | None

    # Most operations of a recursion are products with 0 or 1, or sums with 0: these skip the table of rules.

    def __add__(self, other: Any) -> Any:
        return self if other.__class__ is float and other == 0.0 and self.op != "const" else build("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self if other.__class__ is float and other == 0.0 and self.op != "const" else build("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self if other.__class__ is float and other == 0.0 and self.op != "const" else build("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return build("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is float and other in _FACTORS and self.op != "const":
            return self if other else 0.0
        return build("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return build("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return build("div", other, self)

    def __neg__(self) -> Any:
        return build("neg", self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Any:
        return build("abs", self)

    def __pow__(self, power: float) -> Any:
        """A whole or half power, as products, a root, and a quotient where it is negative."""
        if not isinstance(power, (float, int)) or not math.isfinite(power) or 2 * power % 1:
            return NotImplemented
        result: Any = self.sqrt() if power % 1 else 1.0
        for _ in range(int(abs(power))):
            result = result * self
        return 1.0 / result if power < 0 else result

    def sin(self) -> Any:
        """Sine (argument in rad)."""
        return build("sin", self)

    def cos(self) -> Any:
        """Cosine (argument in rad)."""
        return build("cos", self)

    def sqrt(self) -> Any:
        """Square root; NaN below zero."""
        return build("sqrt", self)

    def sign(self) -> Any:
        """-1, 0 or 1; NaN for NaN."""
        return build("sign", self)

    def atan2(self, x: Any) -> Any:
        """Angle of the point (x, self) in (-pi, pi] (rad), 0 at the origin; zeros have no sign: it is pi at (-1, -0.0)."""
        return self.apply("atan2", self, x)

    def select(self, x: Any, y: Any) -> Any:
        """Choose x where this is greater than 0, else y: also where it is 0 or NaN. What is not chosen may be NaN."""
        return self.apply("select", self, x, y)

    @staticmethod
    def apply(op: str, *operands: Any) -> Any:
        """Apply an operation to expressions and numbers, any of them numbers.

        Raises
        ------
        TypeError
            Where an operand is neither.
        """
        result = build(op, *operands)
        if result is NotImplemented:
            kinds = ", ".join(type(operand).__name__ for operand in operands)
            raise TypeError(f"{op} takes expressions and numbers; its operands are of the types {kinds}")
        return result

    def conjugate(self) -> Expr:
        """The same: expressions are real."""
        return self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (float, int, np.floating, np.integer)):
            raise TypeError(f"{self} is an expression; whether it is {other!r} is not known when the graph is built")
        return self is other

    __hash__ = object.__hash__

    def __float__(self) -> float:
        raise TypeError(f"{shown(str(self))} is an expression, not a number; substitute() or a kernel gives its value")

    def __bool__(self) -> bool:
        raise TypeError(f"{self} is an expression; whether it holds is not known when the graph is built")

    def __str__(self) -> str:
        return text(self)

    def __repr__(self) -> str:
        return f"Expr({self})"

    def __format__(self, spec: str) -> str:
        """Convert to text, ignoring a number format."""
        return str(self)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return rebuilt, (steps_of(self),)


Scalar = Expr | float


class _Entry(weakref.ref[Expr]):
    """Weak reference in the table, with its key."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


def _forget(entry: weakref.ref[Expr]) -> None:
    assert isinstance(entry, _Entry)
    if entry.key[0] == "symbol":
        with _naming:
            _remove(entry)
    else:
        _remove(entry)


def _remove(entry: _Entry) -> None:
    if _table.get(entry.key) is entry:
        result = _table.pop(entry.key, None)
        if result is not None and result is not entry:  # another thread has stored a new node in between
            _table.setdefault(entry.key, result)


def symbol(name: str) -> Expr:
    """Make a new symbol. Two symbols are two unknowns even when their names agree.

    Parameters
    ----------
    name : str
        How it is printed.
    """
    return _new("symbol", (), name)


def parameter(name: str, origin: Any = None) -> Expr:
    """The unique symbol of that name and origin, in place of a number of a model.

    Parameters
    ----------
    name : str
        How it is printed, and what it is found by.
    origin : sympy.Symbol, optional
        The symbol that it was read from, and that is written in its place: see `origin_of`. It must be hashable.

    Examples
    --------
    >>> parameter("m1") is parameter("m1"), parameter("m1") is symbol("m1")
    (True, False)
    """
    key = ("symbol", name) if origin is None else ("symbol", name, origin)
    with _naming:
        node = _intern(key, "symbol", (), name)
        node.key = _PARAMETER + name.encode("utf-8", "surrogatepass")
        return node


def is_parameter(node: Expr) -> bool:
    """True if a node is a symbol of `parameter`."""
    return node.op == "symbol" and node.key is not None


def origin_of(node: Expr) -> Any:
    """Origin of a symbol of `parameter`; None for every other node."""
    entry = _entry_of(node) if node.op == "symbol" else None
    return entry.key[2] if entry is not None and len(entry.key) > 2 else None


def origins_of(parameters: Iterable[Expr]) -> dict[str, Any]:
    """The origins of symbols by their names, of those that have one."""
    result = ((node, origin_of(node)) for node in parameters)
    return {str(node.value): origin for node, origin in result if origin is not None}


def _entry_of(node: Expr) -> _Entry | None:
    """The entry of a node in the table; None for a symbol of one graph."""
    return next((entry for entry in weakref.getweakrefs(node) if isinstance(entry, _Entry)), None)


def build(op: str, *operands: Any) -> Any:
    """Apply an operation: the rewrite rules first, else the interned node; a plain float where the result is constant."""
    nodes = []
    for operand in operands:
        if operand.__class__ is Expr:
            nodes.append(operand)
        elif isinstance(operand, (float, int, np.floating, np.integer)):
            nodes.append(constant(float(operand)))
        else:
            return NotImplemented
    result = simplified(op, tuple(nodes))
    return result.value if result.op == "const" else result


def simplified(op: str, args: tuple[Expr, ...]) -> Expr:
    """The node for an operation on nodes, after the rewrite rules."""
    if op in _COMMUTING:
        args = ordered(args)
    kinds = (op, args[0].op, args[1].op) if len(args) == 2 else (op, *[arg.op for arg in args])
    rewrites = _rewrites.get(kinds)
    if rewrites is None:
        rewrites = _rewrites[kinds] = rewrites_for(*kinds)
    for rewrite in rewrites:
        result = rewrite(*args)
        if result is not None:
            return result
    return interned(op, args)


def rewrites_for(op: str, *kinds: str) -> tuple[Callable[..., Expr | None], ...]:
    """The rewrites that can apply to an operation on operands of these kinds."""
    if all(kind == "const" for kind in kinds):
        value = OPERATIONS[op].value
        return (lambda *args: constant(float(value(*[arg.value for arg in args]))),)
    return tuple(rule.rewrite for rule in _rules[op] if rule.fits(kinds))


def ordered(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Canonical order of commuting operands: a constant first, then by `precedence`."""
    a, b = args
    return args if a.op == "const" or (b.op != "const" and precedence(a) <= precedence(b)) else (b, a)


def precedence(node: Expr) -> tuple[bytes, int]:
    """Sort key of nodes, equal in every process: expressions of parameters by content, then all others by age.

    Expressions of parameters are shared with all graphs that have them, so their age is that of the first of these; all
    others belong to one graph, in which they always come about in the same order.
    """
    return (b"\xff" if node.key is None else node.key, node.serial)


def interned(op: str, args: tuple[Expr, ...]) -> Expr:
    """The unique node of this operation on these nodes, without simplification."""
    return _intern((op, args), op, args, None)


def existing(op: str, args: tuple[Expr, ...]) -> Expr | None:
    """The node of this operation on these nodes if there is one already."""
    entry = _table.get((op, args))
    return None if entry is None else entry()


def constant(value: float) -> Expr:
    """The node of a number; -0.0 is 0.0."""
    return _new("const", (), value) if math.isnan(value) else _intern(("const", value), "const", (), value + 0.0)


def live_nodes() -> int:
    """Number of live interned nodes."""
    return len(_table)


def _intern(key: tuple[Any, ...], op: str, args: tuple[Expr, ...], value: Any) -> Expr:
    entry = _table.get(key)
    if entry is not None:
        node = entry()
        if node is not None:
            return node
    result = _new(op, args, value)
    stored = _Entry(result, _forget)
    stored.key = key
    entry = _table.setdefault(key, stored)
    node = result if entry is stored else entry()
    if node is None:  # the entry is dead and about to be removed
        _table[key] = stored
        return result
    return node


def _new(op: str, args: tuple[Expr, ...], value: Any) -> Expr:
    node = object.__new__(Expr)
    node.op, node.args, node.value, node.serial = op, args, value, next(_serials)
    for arg in args:
        if arg.key is None:
            node.key = None
            return node
    node.key = _key(op, args, value)
    return node


def _key(op: str, args: tuple[Expr, ...], value: Any) -> bytes | None:
    """Key of an operation on nodes with keys: its height, so that operands sort before their users, and a digest."""
    if not args:
        return _NUMBER + float(value).hex().encode() if op == "const" else None
    keys = [arg.key for arg in args]
    height = 1 + max(int.from_bytes(key[:4], "big") for key in keys if key)
    return height.to_bytes(4, "big") + blake2b(repr((op, keys)).encode(), digest_size=16).digest()


#: Prefixes of the keys of numbers and of parameters.
_NUMBER, _PARAMETER = bytes(4), (1).to_bytes(4, "big")


# ── as plain data, and as text ────────────────────────────────────────────────────────────────────


def operands_first(root: Expr) -> list[Expr]:
    """All nodes of an expression without repetition, operands first, in the same order for equal expressions."""
    order: dict[Expr, None] = {}
    waiting = [root]
    while waiting:
        missing = [arg for arg in reversed(waiting[-1].args) if arg not in order]
        if missing:
            waiting += missing
        else:
            order.setdefault(waiting.pop())
    return list(order)


def steps_of(root: Expr) -> Steps:
    """The expression as plain data, equal for equal expressions.

    Raises
    ------
    TypeError
        Where it depends on a symbol that only lives in one graph.
    """
    places: dict[Expr, int] = {}
    steps: list[tuple[str, Any]] = []
    for k, node in enumerate(operands_first(root)):
        if node.op == "symbol" and not is_parameter(node):
            raise TypeError("an expression alone does not pickle; a kernel's graph does")
        places[node] = k
        origin = origin_of(node)
        value = node.value if origin is None else (node.value, origin)
        steps.append((node.op, tuple(places[arg] for arg in node.args) if node.args else value))
    return tuple(steps)


def rebuilt(steps: Steps) -> Expr:
    """The expression that `steps_of` wrote down."""
    nodes: list[Expr] = []
    for op, value in steps:
        if op == "symbol":
            nodes.append(parameter(*value) if isinstance(value, tuple) else parameter(value))
        elif op == "const":
            nodes.append(constant(value))
        else:
            args = tuple(nodes[k] for k in value)
            nodes.append(interned(op, ordered(args) if op in _COMMUTING else args))
    return nodes[-1]


def text(expression: Expr) -> str:
    """Write an expression in infix form, with no more brackets than needed; cut after `LONGEST` characters."""
    written: dict[Expr, tuple[str, int]] = {}
    for node in operands_first(expression):
        line, binding = _infix(node, [written[arg] for arg in node.args])
        written[node] = (line if len(line) <= LONGEST else line[:LONGEST] + "...", binding)
    return written[expression][0]


def _infix(node: Expr, args: list[tuple[str, int]]) -> tuple[str, int]:
    """Text of one operation, and its binding strength."""
    if node.op == "const":
        return f"{node.value:.12g}", 4 if node.value >= 0 else 2
    if node.op == "symbol":
        return str(node.value), 4
    if node.op not in _BINDING:
        return f"{node.op}({', '.join(line for line, _ in args)})", 4
    binding = _BINDING[node.op]
    if node.op == "neg":
        return f"-{_bracketed(args[0], binding)}", binding
    right = binding + 1 if node.op in {"sub", "div"} else binding
    return f"{_bracketed(args[0], binding)}{_SIGN[node.op]}{_bracketed(args[1], right)}", binding


def _bracketed(part: tuple[str, int], least: int) -> str:
    return part[0] if part[1] >= least else f"({part[0]})"
