"""What a message must name, whatever its wording: the item, the field, the value, the choices, the place."""

from __future__ import annotations

import re

#: Quoted text, file names and dotted or underscored names, numbers, shapes.
NAMED = re.compile(
    "|".join(
        (
            r"'[^'\n]*'",
            r'"[^"\n]*"',
            r"\((?:\.\.\.|[\dn, +k])*[\dn](?:[\dn, +k])*,?\)",
            r"[A-Za-z]\w*(?:[./]\w+)+",
            r"\w+_\w+",
            r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?",
        )
    )
)

WORD = re.compile(r"[A-Za-z]{5,}")


def named(sentence: str) -> list[str]:
    """What a sentence names; the longest words of one that names nothing."""
    head = re.match(r"\s*([A-Za-z_][\w. ]*?)(?=:| is | has | holds | are )", sentence)
    found = [match.group() for match in NAMED.finditer(sentence)]
    if head is not None and " " not in head.group(1):
        found.append(head.group(1))
    return found or sorted(set(WORD.findall(sentence)), key=len)[-3:]


def unnamed(error: object, sentence: str) -> list[str]:
    """What a sentence names and the message of an error does not."""
    parts = named(sentence)
    assert parts, f"nothing is named by {sentence!r}"
    return [part for part in parts if part not in str(error)]
