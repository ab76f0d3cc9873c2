"""What links and robots look like on the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.rtss.keywords import also
from linkwise.rtss.link import rt_link
from linkwise.rtss.robot import rt_robot

WIDTH = 6
"""Of the labels of `showlink_text`."""


def link_line(link: rt_link) -> str:
    """The kinematics of a link in one line: alpha, A, theta, D, the letter of the joint, the convention.

    Examples
    --------
    >>> link_line(rt_link([0, 0.5, 0, 0.25])).expandtabs(10)
    '0.000000  0.500000  0.000000  0.250000  R         (std)'
    """
    numbers = "\t".join(f"{value:f}" for value in (link.alpha, link.A, link.theta, link.D))
    return f"{numbers}\t{link.RP}\t({'mod' if link.mdh else 'std'})"


def robot_text(robot: rt_robot) -> str:
    """A robot in some lines: its names, its gravity and convention, and the kinematics of each link.

    Named options that are not the default stand behind the convention.
    """
    head = f"{robot.name} ({robot.n} axis, {robot.config})"
    head += f" [{robot.manuf}]" * bool(robot.manuf) + f" <{robot.comment}>" * bool(robot.comment)
    found = {link.mdh for link in robot.links}
    words = "mixed" if len(found) > 1 else "modified" if found == {1} else "standard"
    options = ", friction rule toolbox7" * (robot.friction == "toolbox7")
    options += ", gravity is free fall" * (robot.gravity_sign == "free_fall")
    gravity = " ".join(f"{value:.2f}" for value in robot.gravity)
    lines = [head, f"\t\tgrav = [{gravity}]\t\t{words} D&H parameters{options}", "", "  alpha\t\tA\t\ttheta\t\tD\t\tR/P"]
    return "\n".join([*lines, *map(link_line, robot.links)])


def showlink_text(thing: rt_link | rt_robot) -> str:
    r"""Every field of a link, or of all links of a robot, one below the other; nothing stands after ``=`` where none is set.

    Raises
    ------
    ArgumentError
        Where it is neither a link nor a robot.

    Examples
    --------
    >>> link = rt_link([0, 0.5, 0, 0.25])
    >>> link.r = (1, -2, 0.5)
    >>> print(*showlink_text(link).splitlines()[6:12], sep="\n")
    offset = 0
    m      =
    r      =  1
             -2
              0.5
    I      =
    """
    if isinstance(thing, rt_link):
        return "\n".join(line for name in rt_link.field_names() for line in _field_lines(name, getattr(thing, name)))
    if isinstance(thing, rt_robot):
        return "\n".join(f"Link {k}{'-' * 24}\n{showlink_text(link)}" for k, link in enumerate(thing.links, start=1))
    raise ArgumentError(f"rt_showlink was given {shown(thing)}; expected a link or a robot")


@also(l="thing", robot="thing")
def rt_showlink(thing: rt_link | rt_robot) -> None:
    """Print every field of a link, or of all links of a robot.

    Parameters
    ----------
    thing : rt_link or rt_robot
        `showlink_text` gives the same as a text.

    Raises
    ------
    ArgumentError
        Where it is neither.

    Examples
    --------
    >>> from linkwise import rtss
    >>> rt_showlink(rtss.rt_twolink().links[0])
    alpha  = 0
    A      = 1
    theta  = 0
    D      = 0
    sigma  = 0
    mdh    = 0
    offset = 0
    m      = 1
    r      = 1
             0
             0
    I      = 0  0  0
             0  0  0
             0  0  0
    Jm     = 0
    G      = 1
    B      = 0
    Tc     = 0  0
    qlim   =
    """
    print(showlink_text(thing))


def _field_lines(name: str, value: Any) -> list[str]:
    """The label before the first row, nothing before the others; a centre of mass is a column."""
    if value is None:
        return [f"{name:<{WIDTH}} ="]
    made = np.asarray(value, dtype=np.float64)
    rows = made[:, None] if name == "r" else np.atleast_2d(made)
    cells = [[f"{number:.8g}" for number in row] for row in rows]
    signed = any(cell.startswith("-") for row in cells for cell in row)
    cells = [[cell if cell.startswith("-") or not signed else f" {cell}" for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    labels = [f"{name:<{WIDTH}} = ", *[" " * (WIDTH + 3)] * (len(texts) - 1)]
    return [label + text for label, text in zip(labels, texts, strict=True)]
