"""Where the tool goes on a mechanism whose file does not say."""

from __future__ import annotations

import re

from linkwise.mechanism import Mechanism
from linkwise.model.link import Link

_TOOL = re.compile(r"tool(_\d+)?")


def with_tool_at_a_tip(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with its tool on the tip called ``tool``, else on that which most joints move, else the last.

    Formats such as URDF know no tool, and the last link of a file may stand still. A fixed link ``tool`` (or ``tool_2`` and
    so on, where that is taken) is how a tool is written there.

    Examples
    --------
    >>> from linkwise import Link
    >>> links = [Link(name="arm"), Link(name="hand"), Link(name="camera", joint="fixed", parent="base")]
    >>> with_tool_at_a_tip(Mechanism(links)).tool_link
    'hand'
    """
    tips = set(range(len(mechanism.links))) - set(mechanism.parents)
    leads = [link.moves and link.mimic is None for link in mechanism.links]
    moved = {tip: sum(leads[k] for k in mechanism.path(tip)) for tip in tips}
    chosen = max(tips, key=lambda tip: (_is_tool(mechanism.links[tip]), moved[tip], tip))
    return mechanism.replace(tool_link=mechanism.link_names[chosen])


def _is_tool(link: Link) -> int:
    """How much a link looks like a tool that was written: of several, the one with the greatest number."""
    named = _TOOL.fullmatch(str(link.name))
    if named is None or link.moves:
        return 0
    return int((named[1] or "_1")[1:])
