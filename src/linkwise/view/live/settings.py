"""Settings of the live view's process."""

from __future__ import annotations

from dataclasses import dataclass

from linkwise.control.chain import Chain
from linkwise.control.keep_clear import KeepClear
from linkwise.model.tree import Tree
from linkwise.server.settings import ServerSettings


@dataclass(frozen=True)
class Target:
    """A position or orientation, or both, that a constraint prescribes by its inputs.

    Attributes
    ----------
    name, link : str
        Of the constraint, and whose end it is.
    position, angles : bool
        Whether there is an input for it.
    movable : bool
        Whether these can be written: no other port feeds one.
    """

    name: str
    link: str
    position: bool
    angles: bool
    movable: bool


@dataclass(frozen=True, kw_only=True)
class LiveSettings(ServerSettings):
    """Settings of the live view.

    Attributes
    ----------
    mechanism : Mechanism
        What is shown.
    solved : tuple of str
        The outputs with the solved values of its joints, in the order of its coordinates.
    joints : tuple of (str, str, str)
        For each joint variable its link, the output with its speed, and the input with its greatest one.
    ends : tuple of str
        The links whose ends have ports, and "tool".
    angles : str
        What three angles mean.
    targets : tuple of Target
        What can be dragged.
    keeping : KeepClear or None
        What the chain keeps clear of, in the frame of its start.
    """

    mechanism: Tree
    solved: tuple[str, ...]
    joints: tuple[tuple[str, str, str], ...]
    ends: tuple[str, ...]
    angles: str
    targets: tuple[Target, ...]
    keeping: KeepClear | None


def targets_of(chain: Chain) -> tuple[Target, ...]:
    """Constraints of a chain with a position or an orientation in the world.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(robots.planar_2r(), control.FixedPosition("hold", "tool", [1.0, 1.0, 0.0]), q0=[0.1, 1.4])
    >>> targets_of(arm)
    (Target(name='hold', link='tool', position=True, angles=False, movable=True),)
    """
    targets = []
    for constraint in chain.constraints:
        has = {quantity: quantity in constraint.vectors for quantity in ("position", "angles")}
        if any(has.values()):
            fed = any(there and f"{constraint.name}.{quantity}" in chain.ports.routes for quantity, there in has.items())
            targets.append(Target(constraint.name, constraint.link, **has, movable=not fed))
    return tuple(targets)


def live_settings(chain: Chain) -> dict[str, object]:
    """The settings that are of the chain."""
    variables = chain.layout.variables
    return {
        "mechanism": chain.mechanism,
        "solved": tuple(at.solved for at in variables),
        "joints": tuple((at.link, at.calculated, at.greatest("speed")) for at in variables),
        "ends": chain.layout.ends,
        "angles": chain.angles,
        "targets": targets_of(chain),
        "keeping": next((limit for limit in chain.constraints if isinstance(limit, KeepClear)), None),
    }
