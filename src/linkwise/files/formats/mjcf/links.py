"""Links of MJCF's bodies, one for each joint and fixed ones for bodies without any, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

import numpy as np

from linkwise.errors import Problem, shown
from linkwise.files.formats.mjcf.attributes import Attributes, Told, line
from linkwise.files.formats.mjcf.bodies import WORLD, BodyElement
from linkwise.files.formats.mjcf.joints import Joint
from linkwise.files.report import attempt
from linkwise.files.toml_text import Place
from linkwise.model.link import Link
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import translation

BODY_FIELDS = ("mass", "com", "inertia")


class Links:
    """Makes the links, and knows where each was said.

    Attributes
    ----------
    made : list of Link
        The links, each after its parent.
    lines : dict
        Line of each place, as `Reading` has them.
    items : dict of str to Attributes
        What said the links and the joints, by the names that messages of the model call them.
    """

    def __init__(self, names: Names, follows: Mapping[str, Mimic], stays: Mapping[str, float], physical: bool) -> None:
        self.names, self.follows, self.stays, self.physical = names, follows, stays, physical
        self.made: list[Link] = []
        self.between: set[int] = set()
        self.lines: dict[Place, int] = {}
        self.items: dict[str, Attributes] = {}

    def add(self, k: int, body: BodyElement) -> None:
        """The links of the k-th body."""
        parent = "base" if body.parent == WORLD else self.names.bodies[body.parent]
        name = self.names.bodies[k]
        mass = {
            "mass": body.inertia.mass,
            "com": body.inertia.com,
            "inertia": body.inertia.tensor,
        }
        if not body.joints:
            before = np.eye(4) if body.free is not None else body.frame
            self._link(body, None, {"joint": "fixed", "before": before, "name": name, "parent": parent, **mass})
            return
        before = body.frame
        for at, joint in enumerate(body.joints):
            last = at == len(body.joints) - 1
            own = name if last else self.names.part(k, at, joint.name)
            placed = self._placed(joint, before)
            if not last:
                self.between.add(len(self.made))
            self._link(body, joint, {"name": own, "parent": parent, **placed, **(mass if last else {})})
            parent, before = own, np.eye(4)

    def _placed(self, joint: Joint, before: FloatArray) -> dict[str, Any]:
        """A J(q) B of a joint: its motion is about or along an axis through its point, and the frame stays the body's."""
        to = np.asarray(translation(*joint.pos), dtype=float)
        back = np.asarray(translation(*(-joint.pos)), dtype=float)
        kind = "revolute" if joint.turns else "prismatic"
        name = joint.name
        if name is not None and name in self.stays:
            moved = Link(joint=kind, axis=joint.axis).motion(self.stays[name] - joint.ref)
            return {"joint": "fixed", "before": before @ to @ np.asarray(moved, dtype=float) @ back}
        has_motor = joint.armature or joint.viscous or joint.coulomb
        motor = Motor(inertia=joint.armature, viscous=joint.viscous, coulomb=joint.coulomb) if has_motor else None
        return {
            "joint": kind, "before": before @ to, "after": back, "axis": joint.axis,
            "offset": 0.0 - joint.ref, "limits": joint.limits, "tau_max": joint.tau_max,
            "motor": motor,
            "mimic": self.follows.get(name) if name else None,
        }  # fmt: skip

    def _link(self, body: BodyElement, joint: Joint | None, values: dict[str, Any]) -> None:
        """One link, or a bare one in its place after a report."""
        at, name = len(self.made), values["name"]
        said = body.attributes if joint is None else joint.attributes
        inertial = body.inertial or body.attributes
        if joint is not None and values["joint"] != "fixed":
            values["joint_name"] = self.names.joint(joint.name, name)
            self.items[f"joint {values['joint_name'] or name!r}"] = said
        made, wrong = attempt(body.attributes.item, lambda: Link(**values))
        if made is None and not self.physical:  # marks only what cannot exist
            made, wrong = attempt(body.attributes.item, lambda: Link(**values, physical=False))
        for problem in wrong:
            tell(inertial if problem.field in BODY_FIELDS else said, problem)
        self.items[f"link {name!r}"] = body.attributes
        self.lines["link", at] = line(body.attributes.element)
        self.lines.update({("link", at, field): line(inertial.element) for field in BODY_FIELDS})
        bare, _ = attempt("link", lambda: Link(name=name, parent=values["parent"]))
        self.made.append(made or bare or Link(name=f"?{at}", parent="base"))


def tell(said: Attributes, problem: Problem) -> None:
    """A problem of the model, at the element that said it."""
    message = str(replace(problem, item=said.item))
    said.told.report(said.element, message.replace(
        "physical=False accepts an identified set of parameters", "reading with physical=False accepts it"
    ))  # fmt: skip


def still_roots(bodies: Sequence[BodyElement]) -> set[int]:
    """The bodies in the world under which nothing moves, by place."""
    roots: list[int] = []
    moving = set()
    for body in bodies:
        roots.append(len(roots) if body.parent == WORLD else roots[body.parent])
        if body.moves:
            moving.add(roots[-1])
    return set(roots) - moving


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
