"""The first line of a file of numbers that does not hold as many of them as the others: where one is missing, mostly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from linkwise.errors import FileError
from linkwise.files.blocks import Source
from linkwise.files.numbers import Token

OFTEN = 0.1
"""A count of numbers that so many of the lines hold is usual."""


def uneven_motion(source: Source) -> tuple[int, str] | None:
    """The first line of a .MOT that holds another count of numbers than is usual in it, and what to say of it.

    Usual are multiples of three, q qd qdd of one joint or more, that many lines hold. Where they are not those of most
    lines the numbers stand in no such lines, and nothing is told.
    """
    seen, first = Counter[int](), dict[int, int]()
    try:
        for line, count in _counts(source):
            seen[count] += 1
            first.setdefault(count, line)
    except FileError:  # (a line of any length: it says nothing)
        return None
    usual = sorted(count for count, often in seen.items() if count % 3 == 0 and often >= OFTEN * seen.total())
    if 2 * sum(seen[count] for count in usual) <= seen.total():
        return None
    odd = min((first[count], count) for count in seen if count not in usual) if len(seen) > len(usual) else None
    return odd and (odd[0], _told(*odd, " or ".join(map(str, usual)), "the others have"))


def _counts(source: Source) -> Iterator[tuple[int, int]]:
    """Every line that is not blank, with how many numbers it holds beside the time step, which comes first."""
    source.file.seek(source.start)
    line, step, last = 0, 1, b""
    for _, piece in source.pieces(b"\n\r"):
        whole = piece[1:] if last == b"\r" and piece[:1] == b"\n" else piece
        last = piece[-1:]
        for words in map(bytes.split, whole.splitlines()):
            line += 1
            if len(words) > step:
                yield line, len(words) - step
            step = 0 if words else step


def uneven_description(words: Sequence[Token], links: int, size: int) -> str:
    """What to say of the line of a .DAT that does not hold as many numbers as the same line of the other links.

    Nothing where more lines than one differ, or the links are not laid out alike.

    Parameters
    ----------
    words : sequence of Token
        All of the file: the count of links, `size` numbers of each of the `links`, and what follows.
    links, size : int
        The file has too few numbers, or too many.
    """
    counts = sorted(Counter(word.line for word in words).items())
    for end in range(1, len(counts)):
        rows, left = counts[1 : len(counts) - end], (len(counts) - 1 - end) % links
        each = len(rows) // links
        if left or not each:
            continue
        for choose in (max, min):
            usual = [choose(count for _, count in rows[place::each]) for place in range(each)]
            odd = [(*row, usual[k % each]) for k, row in enumerate(rows) if row[1] != usual[k % each]]
            if len(odd) == 1 and sum(usual) == size:
                line, count, expected = odd[0]
                return _told(line, count, str(expected), "the same line of every other link has")
    return ""


def _told(line: int, count: int, usual: str, where: str) -> str:
    return f"line {line} has {count} number{'s' * (count != 1)} where {where} {usual}"
