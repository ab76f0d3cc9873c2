"""Random changes of the contents of text files; tests/support/archive_mutations.py has those of archives of arrays."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

TOKENS = [
    b"", b"0", b"-1", b"3", b"1e400", b"nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e200", b"1e-320", b"9" * 400, b"x",
    b"1_0", b"0x10", b"1d3", b'"', b"'", b"[", b"]", b"[[", b"{", b"}", b"=", b",", b";", b"\0", b"\r", b"\n", b"\n\n",
    b"#", b"%", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xa8", b"true", b"1979-05-27", b"[[link]]", b"[base]",
    b"[[motor]]", b"link = 3", b"name = 'a'", b"parent = 'link2'", b"theta = 1", b"base", b"prismatic", b"a.b.c = 1",
    b"[a.b.c]", b"." * 50, b"a." * 50 + b"a", b"1" * 3000 + b"x", b" " * 2000, b"[" * 500, b"{a=" * 300, b"<", b">", b"/>",
    b"<body>", b"</body>", b"<joint/>", b"<!--", b"&lt;", b"&x;", b"<!DOCTYPE x>", b"<xacro:if value='1'>", b'name="base"',
    b'type="free"', b'type="ball"', b'type="floating"', b'class="arm"', b'size="1e308"', b'pos="1e308 1e308 1e308"',
    b'quat="1e308 1e308 0 0"', b'<include file="."/>', b"<a>" * 400, b'<?xml version="1.0" encoding="utf-16"?>',
    b'<?xml version="1.0" encoding="x"?>', b"rad", b"deg", b"m", b"world", b"../x",
]  # fmt: skip
NUMBER = re.compile(rb"[+-]?\d+(\.\d*)?(e[+-]?\d+)?")
NUMBERS = (b"0", b"0.0", b"-1", b"2", b"1e-320", b"1e49", b"1e-49", b"1e160", b"-1e300", b"3.2", b"1e15", b"100000")


def mutated(data: bytes, rng: random.Random, tokens: Sequence[bytes] = TOKENS) -> bytes:
    """The bytes with one to four changes: bytes, cuts, repeated and exchanged parts, tokens, words, numbers and values."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        at, size = rng.randrange(len(data) + 1), rng.randint(1, 30)
        kind = rng.choice(("byte", "cut", "drop", "token", "twice", "word", "value", "line", "number"))
        token = rng.choice(tokens)
        if kind == "byte" and at < len(data):
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == "cut" and rng.random() < 0.3:
            data = data[:at]
        elif kind == "drop":
            data = data[:at] + data[at + size :]
        elif kind == "twice":
            data = data[: at + size] + data[at:]
        elif kind in {"word", "value", "line"}:
            mark = {"word": b" ", "value": b'"', "line": b"\n"}[kind]
            parts = data.split(mark)
            parts[rng.randrange(len(parts))] = token if rng.random() < 0.7 else rng.choice(parts)
            data = mark.join(parts)
        elif kind == "number" and (numbers := list(NUMBER.finditer(data))):
            place = rng.choice(numbers)
            new = rng.choice((token, *NUMBERS, rng.choice(numbers).group()))
            data = data[: place.start()] + new + data[place.end() :]
        else:
            data = data[:at] + token + data[at:]
    return data
