"""What must agree between the links and motors of two lists: every disagreement is told, not the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from linkwise.errors import Problem, members
from linkwise.robo.lists import Link, Motor


def disagreements(links: Sequence[Link], motors: Sequence[Motor]) -> list[Problem]:
    """Every problem that no link and no motor has alone: numbers, the tree, and which motor is where."""
    return [*_numbering(links, motors), *_tree(links), *_mounting(links, motors)]


def base_numbers(links: Sequence[Link]) -> tuple[int, int]:
    """What names the base as a previous link: 0, and N + 1, its number in Rodriguez's count."""
    return 0, len(links) + 1


def outward(links: Sequence[Link]) -> list[Link]:
    """The links from the base to the tips, each after the one that it hangs on.

    In the order of their numbers as far as that goes: of falling ones where all hang on links of greater number, else of
    rising ones.
    """
    bases = base_numbers(links)
    falling = all(link.previous in bases or link.previous > link.number for link in links)
    waiting = sorted(links, key=lambda link: link.number, reverse=falling)
    placed = set(bases)
    made: list[Link] = []
    while waiting:
        following = next(link for link in waiting if link.previous in placed)
        waiting.remove(following)
        placed.add(following.number)
        made.append(following)
    return made


def _numbering(links: Sequence[Link], motors: Sequence[Motor]) -> Iterator[Problem]:
    count = len(links)
    for link in links:
        if link.number > count:
            yield Problem(f"link {link.number}", "number", link.number, f"1 to {count}, for there are {count} links")
    for word, found in (("link", links), ("motor", motors)):
        for number, times in Counter(item.number for item in found).items():
            if times > 1:
                yield Problem(f"{word} {number}", "number", number, f"a number of its own; {times} {word}s have this one")


def _tree(links: Sequence[Link]) -> Iterator[Problem]:
    known = {link.number: link.previous for link in links}
    for link in links:
        item = f"link {link.number}"
        ring = link.number in _inward(known, link.number)
        if link.previous not in base_numbers(links) and (link.previous not in known or ring):
            others = sorted(n for n in known if n != link.number and link.number not in _inward(known, n))
            expected = f"0 (the base){f' or another link, {members(others)}' if others else ''}"
            yield Problem(
                item, "previous", link.previous, expected + ("; links hang on each other in a ring" if ring else "")
            )
        hanging = tuple(sorted(other.number for other in links if other.previous == link.number)) or (0,)
        if tuple(sorted(link.connected)) != hanging:
            named = "0" if hanging == (0,) else members(hanging)
            expected = f"{named}, the links whose previous is {link.number}" if named != "0" else "0, for no link names it"
            yield Problem(item, "connected", list(link.connected), expected)
        listing = sorted(other.number for other in links if link.number in other.connected)
        if len(listing) > 1:
            expected = f"one link that it hangs on; links {members(listing)} each name it as connected"
            yield Problem(item, "previous", link.previous, expected)


def _inward(previous: Mapping[int, int], number: int) -> set[int]:
    """The links that a link hangs on, directly or through others: itself among them where they form a ring."""
    found: set[int] = set()
    while (number := previous.get(number, 0)) in previous and number not in found:
        found.add(number)
    return found


def _mounting(links: Sequence[Link], motors: Sequence[Motor]) -> Iterator[Problem]:
    known = {link.number for link in links}
    for motor in motors:
        item = f"motor {motor.number}"
        if motor.link not in {0, *known}:
            yield Problem(item, "link", motor.link, f"a link, {members(sorted(known))}, or 0 (the base)")
        if motor.driven_joint not in known:
            yield Problem(item, "driven_joint", motor.driven_joint, f"a link, {members(sorted(known))}")
    for link in links:
        mounted = sorted(motor.number for motor in motors if motor.link == link.number)
        if sorted(link.motors) != mounted:
            said = f"{members(mounted)}, the motors" if mounted else "none, for there are no motors"
            yield Problem(f"link {link.number}", "motors", list(link.motors), f"{said} whose link is {link.number}")
