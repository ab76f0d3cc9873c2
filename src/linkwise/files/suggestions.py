"""Where the tool goes on a mechanism whose file does not say."""

from __future__ import annotations

import re

from linkwise.mechanism import Mechanism
from linkwise.model.link import Link

_TOOL = re.compile(r"tool(_\d+)?")

_CENTRE = re.compile(r".*tool0|(.*_)?(tool|tcp|ee|end_effector)(_link|_frame)?", re.IGNORECASE)
"""How robots' files call the frame of the tool: ``tool0``, ``tcp``, ``hand_tcp``, ``ee_link`` and so on."""


def with_tool_at_a_tip(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with its tool on a tip: one that is called so, else that which most joints move, else the last.

    Formats such as URDF know no tool, and the last link of a file may stand still, or be a finger of a gripper. A fixed link
    ``tool`` (or ``tool_2`` and so on, where that is taken) is how a tool is written there. Without one a fixed link that has
    no mass, that joints move and whose name is that of a tool's frame in many files is taken: ``tool0``, ``tcp``,
    ``hand_tcp``, ``ee_link``.

    Examples
    --------
    >>> from linkwise import Link
    >>> links = [Link(name="arm"), Link(name="hand"), Link(name="camera", joint="fixed", parent="base")]
    >>> with_tool_at_a_tip(Mechanism(links)).tool_link
    'hand'
    >>> links = [Link(name="arm"), Link(name="tcp", joint="fixed"), Link(name="jaw", joint="prismatic", parent="arm")]
    >>> with_tool_at_a_tip(Mechanism(links)).tool_link
    'tcp'
    """
    leads = [link.moves and link.mimic is None for link in mechanism.links]
    moved = {tip: sum(leads[k] for k in mechanism.path(tip)) for tip in _tips(mechanism)}

    def rank(tip: int) -> tuple[int, bool, int, int]:
        link = mechanism.links[tip]
        return _is_tool(link), bool(moved[tip]) and _is_centre(link), moved[tip], tip

    return mechanism.replace(tool_link=mechanism.link_names[max(moved, key=rank)])


def tool_among_tips(mechanism: Mechanism) -> str:
    """Where the tool is, for people; nothing where there is one tip only, and the tool is on it.

    Examples
    --------
    >>> from linkwise import Link
    >>> links = [Link(name="arm"), Link(name="finger", joint="prismatic"), Link(name="nail", joint="fixed", parent="arm")]
    >>> tool_among_tips(Mechanism(links, tool_link="finger"))
    'tool on finger, which moves with its own joint; other tip: nail'
    """
    at = mechanism.tool_index
    others = [mechanism.link_names[tip] for tip in _tips(mechanism) if tip != at]
    if not others:
        return ""
    link = mechanism.links[at]
    joint = link.joint_name if link.joint_name and link.joint_name != link.name else "its own joint"
    with_it = f", which moves with {joint}" if link.moves else ""
    return f"tool on {link.name}{with_it}; other tip{'s' if len(others) > 1 else ''}: {', '.join(others)}"


def _tips(mechanism: Mechanism) -> list[int]:
    """The links that no other link hangs on."""
    return sorted(set(range(len(mechanism.links))) - set(mechanism.parents))


def _is_tool(link: Link) -> int:
    """How much a link looks like a tool that was written: of several, the one with the greatest number."""
    named = _TOOL.fullmatch(str(link.name))
    if named is None or link.moves:
        return 0
    return int((named[1] or "_1")[1:])


def _is_centre(link: Link) -> bool:
    """Whether a link is a mere frame with the name of a tool's."""
    return not link.moves and link.body.is_zero and _CENTRE.fullmatch(str(link.name)) is not None
