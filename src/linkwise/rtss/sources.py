"""What a robot can be made of: links, the rows of a legacy matrix, another robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError, LinkwiseError, Problem
from linkwise.model.checks import Checker
from linkwise.rtss.fields import Fields
from linkwise.rtss.link import rt_link
from linkwise.rtss.rows import CONVENTIONS, convention_number
from linkwise.spatial.numbers import real

if TYPE_CHECKING:
    from linkwise.rtss.robot import rt_robot


def text(check: Checker, field: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        check.report(field, value, "a text")
        return ""
    return value


def chain(check: Checker, field: str, value: Any) -> tuple[rt_link, ...]:
    """Links in one convention; those that were there before as copies, so that each joint has a link of its own."""
    made = tuple(value) if isinstance(value, (list, tuple)) else (None,)
    links = tuple(link for link in made if isinstance(link, rt_link))
    if len(links) < len(made):
        check.report(field, value, "a list of links")
    if len({link.mdh for link in links}) > 1:
        check.problems.append(mixed(check.item, links))
    known = {id(link): k for k, link in reversed(list(enumerate(links)))}
    return tuple(link if known[id(link)] == k else rt_link(link) for k, link in enumerate(links))


def mixed(item: str, links: tuple[rt_link, ...]) -> Problem:
    """What is wrong with a chain of links in both conventions."""
    return Problem(item, "mdh", [link.mdh for link in links], "one Denavit-Hartenberg convention for all links")


def copied(robot: rt_robot, others: Any) -> dict[str, Any]:
    """The fields of a copy: with links of its own, or with the ones given.

    Raises
    ------
    ArgumentError
        Where there are more of them, or fewer, than the robot has.
    """
    values = {field: getattr(robot, field) for field in robot.field_names()}
    if others is not None and len(others) != robot.n:
        raise ArgumentError(f"{len(others)} links were given for a copy of a robot with {robot.n}")
    return values | {"links": [rt_link(link) for link in robot.links] if others is None else others}


def is_matrix(source: Any) -> bool:
    """Whether a robot is to be made from numbers, not from nothing, from links or from another robot."""
    listed = isinstance(source, (list, tuple)) and (not source or any(isinstance(link, rt_link) for link in source))
    return source is not None and not listed and not isinstance(source, Fields)


def links_from(source: Any, convention: str | None) -> Any:
    """Links from the rows of a legacy matrix, in the convention; a list of links as it is; none from None.

    Raises
    ------
    ArgumentError
        With every row that is not one of a link.
    """
    if not is_matrix(source):
        return [] if source is None else source
    try:
        rows = np.atleast_2d(real(source))
    except TypeError as error:
        raise ArgumentError(f"a robot is made from a list of links, a legacy matrix, or a robot; this {error}") from error
    word = CONVENTIONS[0 if convention is None else convention_number(convention)]
    links, wrong = [], []
    for k, row in enumerate(rows, start=1):
        try:
            links.append(rt_link(row, word))
        except LinkwiseError as error:
            wrong.append(f"row {k}: {error}")
    if wrong:
        raise ArgumentError("\n".join(wrong))
    return links
