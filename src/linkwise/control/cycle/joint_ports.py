"""Names of the ports of joints: of coordinates that turn or slide, and of joints with quaternions."""

from __future__ import annotations

from dataclasses import dataclass

from linkwise.model.link import Link
from linkwise.model.tree import ManifoldJoint, Tree


@dataclass(frozen=True)
class JointVariable:
    """A coordinate of a joint, or the position or orientation of one with a quaternion, and its velocity.

    Attributes
    ----------
    link : str
        The link that the joint moves, "base" for a floating base.
    quantity : {"theta", "d", "translation", "quaternion"}
        What it is.
    q, v : slice
        Its places in the configuration (nq,), and in the velocities (nv,).
    """

    link: str
    quantity: str
    q: slice
    v: slice

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return {"translation": (3,), "quaternion": (4,)}.get(self.quantity, ())

    @property
    def speed_shape(self) -> tuple[int, ...]:
        """Shape of the velocity."""
        return (3,) if self.shape else ()

    @property
    def value_unit(self) -> str:
        """Unit of the value."""
        return "1" if self.quantity == "quaternion" else self.unit

    @property
    def unit(self) -> str:
        """Unit of a small motion: rad or m."""
        return "m" if self.quantity in {"d", "translation"} else "rad"

    @property
    def value(self) -> str:
        """The input with its value."""
        return f"{self.link}.{self.quantity}"

    @property
    def solved(self) -> str:
        """The output with its value for now."""
        return f"{self.link}.{self.quantity}_solved"

    @property
    def predicted(self) -> str:
        """The output with its value for the start of the next cycle."""
        return f"{self.link}.predicted_{self.quantity}"

    @property
    def speed(self) -> str:
        """The input with the velocity at which it is moved."""
        return f"{self.link}.{self._word}_velocity" if self.shape else f"{self.link}.{self.quantity}_speed"

    @property
    def calculated(self) -> str:
        """The output with its velocity."""
        word = f"{self._word}_velocity" if self.shape else f"{self.quantity}_speed"
        return f"{self.link}.calculated_{word}"

    @property
    def error(self) -> str:
        """The output with its following error."""
        return (
            f"{self.link}.{self._word.removeprefix('joint_')}_following_error"
            if self.shape
            else f"{self.link}.following_error"
        )

    def greatest(self, quantity: str) -> str:
        """Name of the input for the limit of "speed", "acceleration" or "deceleration"."""
        return f"{self.link}.max_{self._word if self.shape else self.quantity}_{quantity}"

    @property
    def _word(self) -> str:
        return "joint_linear" if self.quantity == "translation" else "joint_angular"


def parameter(link: Link) -> str:
    """The Denavit-Hartenberg parameter that a moving joint changes, ``"theta"`` or ``"d"``."""
    return "d" if link.joint_model.is_length else "theta"


def link_name(tree: Tree, at: ManifoldJoint) -> str:
    """Prefix of the ports of a joint with a quaternion: its link, or "base"."""
    return at.name if at.link < 0 else tree.link_names[at.link]


def single_joints(tree: Tree) -> tuple[tuple[str, str], ...]:
    """Link of each coordinate (n,), and ``"theta"`` or ``"d"``."""
    pairs = zip(tree.link_names, tree.links, strict=True)
    return tuple(
        (name, parameter(link)) for name, link in pairs if link.moves and not link.has_quaternion and not link.mimic
    )


def joint_variables(tree: Tree) -> tuple[JointVariable, ...]:
    """The variables of all joints, in the order of the configuration.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> [x.value for x in joint_variables(Mechanism([Link(name="arm"), Link(name="hand", joint="ball")]))]
    ['hand.quaternion', 'arm.theta']
    """
    variables = []
    for at in tree.manifold_joints:
        link, turn = link_name(tree, at), at.v.stop - 3
        if at.quaternion.start > at.q.start:
            places = slice(at.q.start, at.quaternion.start), slice(at.v.start, turn)
            variables.append(JointVariable(link, "translation", *places))
        variables.append(JointVariable(link, "quaternion", at.quaternion, slice(turn, at.v.stop)))
    first_q, first_v = tree.nq - tree.n, tree.nv - tree.n
    for k, (link, quantity) in enumerate(single_joints(tree)):
        places = slice(first_q + k, first_q + k + 1), slice(first_v + k, first_v + k + 1)
        variables.append(JointVariable(link, quantity, *places))
    return tuple(variables)
