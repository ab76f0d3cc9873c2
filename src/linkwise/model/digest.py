"""A digest of a mechanism, and of anything else, by content: the same in every process, another one for other content."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.expr.node import Expr, steps_of
from linkwise.kernel.sources import is_own
from linkwise.model.tree import Tree

_Emit = Callable[[bytes], None]


def digest(*values: Any) -> str | None:
    """SHA-256 of the complete contents of values, numbers to the last bit.

    Returns
    -------
    str or None
        None where something among it is not known by its content, as objects of classes that are not this package's own.

    Examples
    --------
    >>> from linkwise import robots
    >>> digest(robots.puma560()) == digest(robots.puma560())
    True
    >>> digest(1.0) == digest(1.0 + 2**-52), digest(object())
    (False, None)
    """
    parts: list[bytes] = []
    try:
        _put(parts.append, values)
    except TypeError:
        return None
    return hashlib.sha256(b"".join(parts)).hexdigest()


def digest_of(tree: Tree) -> str | None:
    """Digest of a mechanism without its shapes, on which no algorithm depends; cached."""
    return tree.memo("model", "digest", lambda: digest(tree))


def _put(emit: _Emit, value: Any) -> None:
    """Serialize a value unambiguously: its kind, its length if variable, its contents."""
    kind = type(value)
    plain = _PLAIN.get(kind)
    if plain is not None:
        emit(plain(value))
    elif kind is tuple:
        emit(b"(%d;" % len(value))
        for item in value:
            _put(emit, item)
    elif kind is np.ndarray:
        emit(f"a{value.dtype.str}{value.shape};".encode())
        if value.dtype == object:
            for item in value.flat:
                _put(emit, item)
        else:
            emit(value.tobytes())
    elif kind is Expr:
        _put(emit, tuple(_step(op, content) for op, content in steps_of(value)))
    elif isinstance(value, np.generic):
        _put(emit, value.item())
    else:
        _put(emit, _attributes(value, kind))


def _step(op: str, content: Any) -> tuple[Any, ...]:
    """A step of an expression; of a symbol that was read from another object only the name."""
    return (op, content[0] if op == "symbol" and isinstance(content, tuple) else content)


def _attributes(value: Any, kind: type) -> tuple[Any, ...]:
    """Class name and all attributes of an object of this package; of a mechanism its declared attributes.

    Raises
    ------
    TypeError
        For everything else.
    """
    name = _names.get(kind)
    if name is None:
        if not is_own(kind) or not (is_dataclass(kind) or issubclass(kind, Tree)):
            raise TypeError(f"{kind.__name__} is not known by its content")
        name = _names[kind] = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, Tree):
        return (name, *[getattr(value, attribute) for attribute in Tree.__annotations__ if attribute != "shapes"])
    held = (pair for pair in vars(value).items() if not isinstance(getattr(kind, pair[0], None), cached_property))
    return (name, *sorted(held))


_names: dict[type, str] = {}


def _text(value: str) -> bytes:
    content = value.encode("utf-8", "surrogatepass")
    return b"s%d;%b" % (len(content), content)


_PLAIN: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"n",
    bool: lambda value: b"t" if value else b"f",
    int: lambda value: b"i%d;" % value,
    float: lambda value: b"d" + struct.pack("<d", value),
    str: _text,
}
