"""What the given names of a listing mean: coordinates, speeds, efforts, and parameters of standard names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from linkwise.equations.listing import Call, Listing, Name, Sum
from linkwise.kernel.tape import Tape
from linkwise.model.tree import Tree

INERTIAL = {
    "M": "mass of link {k}, kg",
    "MX": "first moment of link {k} about its frame's origin, kg m",
    "MY": "first moment of link {k} about its frame's origin, kg m",
    "MZ": "first moment of link {k} about its frame's origin, kg m",
    "XX": "inertia tensor of link {k} about its frame's origin, kg m2",
    "YY": "inertia tensor of link {k} about its frame's origin, kg m2",
    "ZZ": "inertia tensor of link {k} about its frame's origin, kg m2",
    "XY": "inertia tensor of link {k} about its frame's origin, kg m2",
    "YZ": "inertia tensor of link {k} about its frame's origin, kg m2",
    "XZ": "inertia tensor of link {k} about its frame's origin, kg m2",
    "Jm": "rotor inertia of motor {k}, kg m2",
    "B": "viscous friction of motor {k}",
    "a": "length of link {k} (Denavit-Hartenberg), m",
    "d": "offset of link {k} along its joint axis (Denavit-Hartenberg), m",
}
"""Of parameters of standard names."""


def given_meanings(tree: Tree, tape: Tape, listing: Listing) -> dict[str, str]:
    """What the names that a listing uses and does not assign mean, where that is known."""
    used = names_in(listing)
    found: dict[str, str] = {}
    slides = {tree.coordinates[k]: link.joint == "prismatic" for k, link in enumerate(tree.links) if link.moves}
    names = dict(zip(range(tree.n), tree.joint_names, strict=True)) if hasattr(tree, "joint_names") else {}
    for letter, what, unit in (("q", "coordinate", ""), ("qd", "speed", "/s"), ("qdd", "acceleration", "/s2")):
        for k in range(tree.n):
            if f"{letter}{k + 1}" in used:
                called = f" ({names[k]})" if k in names else ""
                found[f"{letter}{k + 1}"] = f"{what} of joint {k + 1}{called}, {'m' if slides.get(k) else 'rad'}{unit}"
    if "tau" in tape.inputs and any(f"tau{k + 1}" in used for k in range(tree.n)):
        found.update({f"tau{k + 1}": f"effort at joint {k + 1}" for k in range(tree.n) if f"tau{k + 1}" in used})
    for name in sorted(used):
        match = re.fullmatch(r"([A-Za-z]+)(\d+)", name)
        if "parameters" in tape.inputs and match and match[1] in INERTIAL and name in tape.labels.get("parameters", ()):
            found.setdefault(name, INERTIAL[match[1]].format(k=match[2]))
    if "g" in tape.labels.get("parameters", ()) and "g" in used:
        found["g"] = "acceleration of gravity, m/s2"
    return _shortened(found)


def names_in(listing: Listing) -> set[str]:
    """All names that occur in the values of a listing."""
    found: set[str] = set()
    waiting = [line.value for section in listing.sections for line in section.assignments]
    while waiting:
        for term in waiting.pop().terms:
            for factor in term.factors:
                if isinstance(factor.base, Name):
                    found.add(factor.base.text)
                else:
                    waiting += _inner(factor.base)
    return found


def _inner(base: Call | Sum) -> Iterable[Sum]:
    return base.arguments if isinstance(base, Call) else (base,)


def _shortened(found: dict[str, str]) -> dict[str, str]:
    """One line for each kind of thing: where many names say the same of other numbers, the first tells how it goes on."""
    kinds: dict[str, list[str]] = {}
    for name, text in found.items():
        kinds.setdefault(re.sub(r"\d+( \(.*?\))?", "#", text, count=1), []).append(name)
    made = {}
    for names in kinds.values():
        text = found[names[0]]
        letters = list(dict.fromkeys(re.sub(r"\d+$", "", name) for name in names))
        alike = len(names) > 1
        others = names[1:2] if len(letters) == 1 else [next(n for n in names if n.startswith(x)) for x in letters[1:]]
        more = ", ..." if len(names) > 1 + len(others) else ""
        made[names[0]] = f"{text}; {', '.join(f'`{other}`' for other in others)}{more} alike" if alike else text
    return made
