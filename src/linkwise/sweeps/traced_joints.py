"""Kinds of rows for joint types from outside the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from linkwise.model.body import moving_bodies
from linkwise.model.joints import Joint
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.sweeps.drivers import BODY_KINDS, RowKind
from linkwise.sweeps.joint_arithmetic import JointArithmetic

#: Different arithmetic of joints that one program holds at most: each is a branch in every step.
MOST_KINDS = 8

_BUILT_IN = {type(kind.joint) for kind in BODY_KINDS}


@dataclass(frozen=True)
class TracedJoints:
    """The kinds of such joints, and which links have them.

    Attributes
    ----------
    kinds : tuple of RowKind
        In the order of their digests.
    by_link : mapping of int to (RowKind, ndarray)
        The kind and the numbers of the joint of a link.
    problem : str
        Why there are none, where a mechanism has such joints.
    """

    kinds: tuple[RowKind, ...] = ()
    by_link: Mapping[int, tuple[RowKind, FloatArray]] = field(default_factory=dict)
    problem: str = ""


def traced_joints(tree: Tree) -> TracedJoints:
    """Joints of a mechanism whose types come from outside the package; cached."""
    return tree.memo("sweeps", "traced joints", lambda: _find(tree))


def _find(tree: Tree) -> TracedJoints:
    by_type: dict[type[Joint], dict[int, Joint]] = {}
    for body in moving_bodies(tree).bodies:
        if body.joint is not None and type(body.joint) not in _BUILT_IN:
            by_type.setdefault(type(body.joint), {})[body.link] = body.joint
    by_link: dict[int, tuple[RowKind, FloatArray]] = {}
    kinds: set[RowKind] = set()
    for waiting in by_type.values():
        while waiting:
            link, joint = next(iter(waiting.items()))
            try:
                arithmetic = JointArithmetic.of(joint)
            except Exception as error:  # (error of foreign code with symbols)
                return TracedJoints(problem=f"the joint type {joint.kind!r} of link {link + 1} has no arithmetic: {error}")
            kind = RowKind(f"joint {arithmetic.digest[:16]}", arithmetic=arithmetic)
            kinds.add(kind)
            if len(kinds) > MOST_KINDS:
                return TracedJoints(problem=f"it has joints of more than {MOST_KINDS} different arithmetics")
            served = arithmetic.serves(list(waiting.values()))
            for (at, other), fits in zip(list(waiting.items()), [True, *served[1:]], strict=True):
                if fits:
                    by_link[at] = kind, arithmetic.numbers_of(other)
                    del waiting[at]
    return TracedJoints(tuple(sorted(kinds, key=lambda kind: kind.name)), by_link)
