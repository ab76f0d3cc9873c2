"""Links of MJCF's bodies: one for each joint, fixed ones for bodies without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.errors import Problem
from linkwise.files.attempt import attempt
from linkwise.files.description import Place
from linkwise.files.mjcf.attributes import Attributes, line
from linkwise.files.mjcf.bodies import WORLD, BodyElement
from linkwise.files.mjcf.joints import Joint
from linkwise.files.mjcf.names import Names
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
            "offset": 0.0 - joint.ref, "limits": joint.limits, "effort_limit": joint.effort_limit,
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
