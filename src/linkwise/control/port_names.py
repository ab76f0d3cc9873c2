"""How ports and their numbers are called, and which words can stand beside them in the header of a table."""

from __future__ import annotations

from linkwise.errors import ArgumentError, shown

_AXES = "xyz"
ELEMENT_WORDS = frozenset((*_AXES, *(row + column for row in _AXES for column in _AXES)))
"""How the elements of a vector (3,) and a matrix (3, 3) are called; no port may end in one of them."""


def element_names(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """The name of each number of a port.

    Examples
    --------
    >>> element_names("tool.rotation_matrix", (3, 3))[1]
    'tool.rotation_matrix.xy'
    """
    if not shape:
        return (name,)
    endings = _AXES if shape == (3,) else [row + column for row in _AXES for column in _AXES]
    return tuple(f"{name}.{ending}" for ending in endings)


def check_name(name: object) -> None:
    """Refuse what is no name of a port."""
    if isinstance(name, str) and name.isprintable() and name == name.strip():
        entity, dot, what = name.rpartition(".")
        if dot and entity and what and what not in ELEMENT_WORDS:
            return
    raise ArgumentError(
        f"a port's name is {shown(name)}; expected whose it is, a dot and what, such as 'tool.position',"
        f" not ending in an axis ('.x', '.xy')"
    )


def plain(word: str) -> bool:
    """Whether a word can stand in the header of a table, where brackets and bars have a meaning."""
    return bool(word) and word.isprintable() and word == word.strip() and not set(word) & set("[]|")
