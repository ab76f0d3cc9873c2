"""Robo's lists as Mathematica text: ``Link[1] = {...}``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from linkwise.errors import ArgumentError, members, shown
from linkwise.expr.node import Expr
from linkwise.expr.symbols import symbols
from linkwise.robo.robot import KINDS

#: Greatest nesting of brackets and powers.
DEEPEST = 50

#: Greatest number of values in a list, including nested lists: names may mean long lists.
LARGEST = 100_000

#: Greatest power of an expression, which becomes products.
GREATEST_EXPONENT = 64

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f]+)
    |(?P<line>\n)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:`[0-9.]*)?(?:\*\^[+-]?[0-9]+)?)
    |(?P<word>[^\W\d_][^\W_$]*)
    |(?P<text>"[^"\n]*")
    |(?P<mark>:=|[-+*/^=,;()\[\]{}])""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"\(\*|\*\)")

#: An exponent of other languages, directly after a number: Mathematica would multiply the number by the letter's symbol.
_EXPONENT = re.compile(r"[eEdD]([+-]?[0-9]+)")

_CONSTANTS = {"Pi": math.pi, "Degree": math.pi / 180.0, **{kind: kind for kind in KINDS}}


def loads(text: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """Read the lists Links and Motors from Mathematica text.

    Parameters
    ----------
    text : str
        Definitions ``Link[i] = {...}`` and ``Motor[i] = {...}``, one a line or with a semicolon after each, with ``=`` or
        ``:=``; those of names, ``l2 = 0.4318``, before they are used; and, where not all links count or another order is
        wanted, ``Links = {Link[1], ...}`` and ``Motors = {...}``. Values are numbers, lists, kinds with or without quotes,
        ``Pi``, ``Degree``, sums, products, quotients, powers, ``Sin``, ``Cos``, ``Sqrt`` and ``DiagonalMatrix``. Names that
        are defined nowhere are symbols, see `linkwise.symbols`; names of Mathematica's own, such as ``E``, ``I``, ``N`` or
        ``Null``, are refused. An exponent is written ``2.5*^-3``.

    Returns
    -------
    Links, Motors : list
        Plain lists, in the order of their numbers unless the text has an order of its own: for `robot`.

    Raises
    ------
    ArgumentError
        Naming the line and what was expected; where nothing is a link; where ``Link[i]`` does not begin with i; where a
        name is defined after its use, or again after a definition with ``:=`` used it.

    Examples
    --------
    >>> zero = "{0, 0, 0}"
    >>> Links, Motors = loads(f"Link[1] = {{1, Translationalx, {{0}}, 0, m1, {zero}, {zero}, {zero}, 1/4, {{}}}}")
    >>> Links[0][:5], Links[0][8], Motors
    ([1, 'Translationalx', [0], 0, Expr(m1)], 0.25, [])
    """
    if not isinstance(text, str):
        raise ArgumentError(f"text is {shown(text)}; expected Mathematica text")
    return _Reader(list(_tokens(text))).lists()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        return {"end": "the end of the text", "line": "the end of the line"}.get(self.kind, shown(self.text, 40))


def _tokens(text: str) -> Iterator[_Token]:
    place, line = 0, 1
    while place < len(text):
        if text.startswith("(*", place):
            end = _end_of_comment(text, place, line)
            line += text.count("\n", place, end)
            place = end
            continue
        match = _TOKEN.match(text, place)
        if match is None:
            raise ArgumentError(f"line {line}: {text[place]!r} is not read; expected Mathematica's lists, names and numbers")
        if match.lastgroup == "number" and (exponent := _EXPONENT.match(text, match.end())):
            number = shown(match[0] + exponent[0], 40)
            expected = f"{match[0][:40]}*^{exponent[1][:40]}, or a blank for a product"
            raise ArgumentError(f"line {line}: {number}; expected {expected}")
        if match.lastgroup != "space":
            yield _Token(str(match.lastgroup), match[0], line)
        line += match[0] == "\n"
        place = match.end()
    yield _Token("end", "", line)


def _end_of_comment(text: str, place: int, line: int) -> int:
    """The place after a comment, which may hold others."""
    depth = 0
    for mark in _COMMENT.finditer(text, place):
        depth += 1 if mark[0] == "(*" else -1
        if depth == 0:
            return mark.end()
    raise ArgumentError(f"line {line}: a comment does not end; expected *)")


class _Reader:
    """Reads definitions one after the other, and stores them."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.place, self.depth, self.nesting = tokens, 0, 0, 0
        self.defined: dict[str, Any] = {}
        self.unsettled: dict[str, int] = {}  # the line that took a name for a symbol, or for a value by :=
        self.delayed = False
        self.sizes: dict[int, int] = {}
        self.items: dict[str, dict[int, list[Any]]] = {"Link": {}, "Motor": {}}

    def lists(self) -> tuple[list[list[Any]], list[list[Any]]]:
        """Parse the whole text."""
        while self._skip("line", ";").kind != "end":
            self._definition()
        links, motors = (
            self.defined.get(f"{word}s", [numbered[number] for number in sorted(numbered)])
            for word, numbered in self.items.items()
        )
        if not links or not isinstance(links, list) or not isinstance(motors, list):
            raise ArgumentError("the text defines no links; expected Link[1] = {...} and so on")
        return links, motors

    # ── definitions ───────────────────────────────────────────────────────────────────────────────

    def _definition(self) -> None:
        name = self._take("word", "a definition such as Link[1] = {...}")
        number = None
        if self._here().text == "[":
            self._take("[", "")
            token = self._take("number", f"{name.text}[number]")
            value = self._number(token)
            number = value if isinstance(value, int) else None
            self._take("]", f"{name.text}[number]")
            if name.text not in self.items or number is None:
                self._refuse(name, f"{name.text}[{token.text}]", "Link[number] or Motor[number]")
        if self._here().text not in {"=", ":="}:
            self._refuse(self._here(), str(self._here()), f"= after {name.text}")
        if number is None and name.text in _RESERVED:
            self._refuse(name, f"{name.text} is Mathematica's own", "another name")
        self.delayed = self._here().text == ":="
        self.place += 1
        value = self._value()
        label = name.text if number is None else f"{name.text}[{number}]"
        if label in self.unsettled:
            self._refuse(name, label, f"its definition before line {self.unsettled[label]}, where it is used")
        if self._here().kind not in {"line", "end"} and self._here().text != ";":
            self._refuse(self._here(), str(self._here()), "the end of the definition: a new line, or a semicolon")
        if number is None:
            self.defined[name.text] = value
            return
        if not isinstance(value, list) or not value or isinstance(value[0], Expr) or value[0] != number:
            self._refuse(name, f"{name.text}[{number}] = {_brief(value)}", f"a list that begins with {number}")
        self.items[name.text][number] = value

    # ── values ────────────────────────────────────────────────────────────────────────────────────

    def _value(self, lowest: int = 1) -> Any:
        """A value with the operations that bind at least so tightly."""
        value = self._signed() if lowest <= SIGN else self._primary()
        while True:
            token = self._here()
            implied = token.kind in {"number", "word"} or token.text == "("  # a space is a product
            level, _ = _OPERATIONS.get("*" if implied else token.text if token.kind == "mark" else "", (0, None))
            if level < lowest or not level:
                return value
            if implied:
                value = self._combined(_Token("mark", "*", token.line), value, self._value(POWER))
                continue
            self.place += 1
            right = self._nested(token, lambda: self._value(SIGN)) if level == POWER else self._value(level + 1)
            value = self._combined(token, value, right)

    def _signed(self) -> Any:
        sign = 1
        while (token := self._skip("line")).text in {"+", "-"} and token.kind == "mark":
            sign, self.place = -sign if token.text == "-" else sign, self.place + 1
        value = self._value(POWER)
        return value if sign > 0 else self._combined(_Token("mark", "*", token.line), -1, value)

    def _primary(self) -> Any:
        token = self._skip("line")
        self.place += 1
        if token.kind == "number":
            return self._number(token)
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "word":
            return self._named(token)
        if token.text in {"(", "{"}:
            inside = self._nested(token, lambda: self._until({"(": ")", "{": "}"}[token.text]))
            if token.text == "{":
                return inside
            if len(inside) == 1:
                return inside[0]
        return self._refuse(token, str(token), "a number, a name or a list")

    def _named(self, token: _Token) -> Any:
        if self._here().text == "[":
            self.place += 1
            return self._call(token, self._nested(token, lambda: self._until("]")))
        if token.text in self.defined:
            self._settle(token, token.text)
            return self.defined[token.text]
        if token.text in _CONSTANTS:
            return _CONSTANTS[token.text]
        if token.text in _RESERVED:
            self._refuse(token, f"{token.text} is Mathematica's own", f"{members(_CONSTANTS)}, or another name")
        self.unsettled.setdefault(token.text, token.line)
        return symbols([token.text])[0]

    def _settle(self, token: _Token, label: str) -> None:
        """Keep the line of a name with a value where `:=` takes that of any later definition."""
        if self.delayed:
            self.unsettled.setdefault(label, token.line)

    def _call(self, token: _Token, args: list[Any]) -> Any:
        if token.text in self.items:
            defined_items = self.items[token.text]
            if len(args) != 1 or not isinstance(args[0], int) or args[0] not in defined_items:
                defined = members(sorted(defined_items)) if defined_items else "none"
                inside = ", ".join(map(_brief, args))
                self._refuse(token, f"{token.text}[{inside}]", f"one that is defined before: {defined}")
            self._settle(token, f"{token.text}[{args[0]}]")
            return defined_items[args[0]]
        if token.text not in _FUNCTIONS or len(args) != 1:
            self._refuse(token, f"{token.text}[...] of {len(args)}", f"{members(_FUNCTIONS)} of one argument")
        return self._computed(token, lambda: _FUNCTIONS[token.text](args[0]), args)

    def _until(self, end: str) -> list[Any]:
        """Values with commas between them, and the closing bracket."""
        values: list[Any] = []
        if self._skip("line").text != end:
            values.append(self._value())
            while self._skip("line").text == ",":
                self.place += 1
                values.append(self._value())
        self._take(end, f"{end} or a comma")
        size = 1 + sum(self.sizes.get(id(value), 0) if isinstance(value, list) else 1 for value in values)
        if size > LARGEST:
            expected = f"at most {LARGEST}, with those of lists in it"
            self._refuse(self.tokens[self.place - 1], f"a list of {size} values", expected)
        self.sizes[id(values)] = size
        return values

    def _nested(self, token: _Token, read: Callable[[], Any]) -> Any:
        self.nesting += 1
        self.depth += token.text != "^"
        if self.nesting > DEEPEST:
            self._refuse(token, str(token), f"at most {DEEPEST} brackets and powers in each other")
        value = read()
        self.depth -= token.text != "^"
        self.nesting -= 1
        return value

    def _combined(self, token: _Token, left: Any, right: Any) -> Any:
        def compute() -> Any:
            if isinstance(left, (list, str)) or isinstance(right, (list, str)):  # Python would join or repeat them
                raise TypeError
            return _OPERATIONS[token.text][1](left, right)

        return self._computed(token, compute, [left, right])

    def _computed(self, token: _Token, compute: Callable[[], Any], args: list[Any]) -> Any:
        """A result that is a finite number, an expression or a list; anything else is refused."""
        try:
            value = compute()
        except (TypeError, ValueError, ArithmeticError):
            value = math.nan
        if isinstance(value, (int, float)) and not math.isfinite(value):
            values = " and ".join(map(_brief, args))
            self._refuse(token, f"{token.text!r} of {values}", "real and finite numbers, or symbols")
        return value

    # ── tokens ────────────────────────────────────────────────────────────────────────────────────

    def _number(self, token: _Token) -> int | float:
        """A whole number where it has no point, no mark and at most 15 digits."""
        if token.text.isdigit() and len(token.text) <= 15:
            return int(token.text)
        digits, _, exponent = token.text.partition("*^")
        try:
            value = float(f"{digits.partition('`')[0]}e{exponent or 0}")
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self._refuse(token, str(token), "a finite number")
        return value

    def _here(self) -> _Token:
        """The next token; within brackets the ends of lines do not count."""
        return self._skip("line") if self.depth else self.tokens[self.place]

    def _skip(self, *kinds: str) -> _Token:
        while self.tokens[self.place].kind in kinds or (self.tokens[self.place].text in kinds):
            self.place += 1
        return self.tokens[self.place]

    def _take(self, wanted: str, expected: str) -> _Token:
        token = self._here()
        if wanted not in {token.kind, token.text}:
            self._refuse(token, str(token), expected)
        self.place += 1
        return token

    def _refuse(self, token: _Token, problem: str, expected: str) -> Any:
        raise ArgumentError(f"line {token.line}: {problem}; expected {expected}")


def _brief(value: Any) -> str:
    """A value in few characters, however long it would be written out."""
    if isinstance(value, list):
        items = [_brief(item) if isinstance(item, float | int) else "..." for item in value[:4]]
        return f"{{{', '.join(items) if len(value) < 4 else '...'}}}"
    return shown(value, 40) if isinstance(value, str | int | float) or not value.args else "an expression"


def _diagonal(values: list[Any]) -> list[list[Any]]:
    if len(values) != 3:
        raise ValueError("three elements")
    return [[value if i == j else 0 for j in range(3)] for i, value in enumerate(values)]


def _raised(base: Any, exponent: Any) -> Any:
    if isinstance(base, Expr):
        return base**exponent if abs(exponent) <= GREATEST_EXPONENT else math.nan
    return math.pow(base, exponent) if base or exponent else math.nan


#: Precedence of a sign and of a power, relative to the operations of the table.
SIGN, POWER = 3, 4

#: Precedence of each operation, and its function.
_OPERATIONS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "+": (1, operator.add),
    "-": (1, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "^": (POWER, _raised),
}

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Sin": lambda x: x.sin() if isinstance(x, Expr) else math.sin(x),
    "Cos": lambda x: x.cos() if isinstance(x, Expr) else math.cos(x),
    "Sqrt": lambda x: x.sqrt() if isinstance(x, Expr) else math.sqrt(x),
    "DiagonalMatrix": _diagonal,
}

#: Names that Mathematica defines: no symbols, and no names for values.
_RESERVED = {
    *("Pi", "Degree", "E", "I", "C", "D", "K", "N", "O"),
    *("Infinity", "ComplexInfinity", "Indeterminate", "Null", "None", "True", "False", "All", "Automatic"),
    *("GoldenRatio", "EulerGamma", "Catalan", "Glaisher", "Khinchin"),
    *_FUNCTIONS,
}
