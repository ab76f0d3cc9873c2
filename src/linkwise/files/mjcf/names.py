"""What MJCF's bodies and joints are called here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count

from linkwise.errors import shown
from linkwise.files.mjcf.attributes import Told
from linkwise.files.mjcf.bodies import BodyElement


class Names:
    """Names of links: those of the bodies, ``body3`` where there is none (the world is 0), and one for each further joint.

    A body of several joints is a chain of links: the last is the body; one before it has its name and that of its joint.
    """

    def __init__(self, told: Told, bodies: Sequence[BodyElement]) -> None:
        self.taken = {body.name for body in bodies if body.name} | {"base"}
        self.bodies = [self._body(told, k, body) for k, body in enumerate(bodies)]
        moving = [(body, joint) for body in bodies for joint in body.joints]
        self.joints = {joint.name for _, joint in moving if joint.name}

    def _body(self, told: Told, k: int, body: BodyElement) -> str:
        if body.name == "base":
            found = self._free(chain(("base_link", "base_frame"), (f"base_frame_{j}" for j in count(2))))
            told.remark(body.attributes.element, f"body 'base' is called {found!r}, for 'base' means the ground")
            return found
        return body.name or self._free(f"body{k + 1}{'_' * more}" for more in count())

    def part(self, body: int, k: int, joint: str | None) -> str:
        """The link that the k-th joint of a body carries, where it is not the last one."""
        start = f"{self.bodies[body]}_{joint or k + 1}"
        return self._free(start + "_" * more for more in count())

    def joint(self, joint: str | None, link: str) -> str | None:
        """What the joint of a link is called, where that is not the link's name."""
        if joint:
            return None if joint == link else joint
        if link not in self.joints:
            return None
        found = next(name for name in (f"{link}_joint{'_' * more}" for more in count()) if name not in self.joints)
        self.joints.add(found)
        return found

    def _free(self, names: Iterable[str]) -> str:
        found = next(name for name in names if name not in self.taken)
        self.taken.add(found)
        return found

    def said(self, body: int) -> str:
        """How a message calls a body."""
        return f"body {shown(self.bodies[body])}"
