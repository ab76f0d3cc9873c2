"""Which closed form a mechanism has for one of its frames, or why it has none."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import members
from linkwise.model.tree import Tree
from linkwise.solve.closed_form.families import Family
from linkwise.solve.closed_form.geometry import Chain, chain_of
from linkwise.solve.closed_form.given_joint import given_joint, joints_to_give
from linkwise.solve.closed_form.parallel import parallel
from linkwise.solve.closed_form.spherical import spherical
from linkwise.solve.closed_form.subproblems import Turn
from linkwise.solve.closed_form.taken_apart import take_apart

ASKS = {"pose": 6, "position": 3, "orientation": 3}
"""What may be asked of a frame, and how many numbers determine it."""

RANK = 1e-7
"""A chain whose Jacobian has a singular value below this share of its greatest at every position that is tried has joints
that move together without moving the frame. Nearly so counts as so: what is nearly degenerate is not solved well."""


def recognised(
    tree: Tree, link: int | str = -1, asks: str = "pose", given: int | None = None
) -> tuple[Chain | None, Family | None, str]:
    """The chain of joints to a frame and what solves it, or why nothing does.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    link : int or str
        Which frame: -1 the tool.
    asks : {"pose", "position", "orientation"}
        What is asked of it.
    given : int, optional
        A coordinate whose value is handed in.
    """
    chain, why = chain_of(tree, link)
    if chain is None:
        return None, None, why
    if given is not None and given not in chain.coordinates:
        return chain, None, f"{tree.names[given]!r}, whose value is given, does not move this frame"
    place = None if given is None else chain.coordinates.index(given)
    why = _hopeless(chain, asks, place)
    found = None if why else _found(chain, asks, place)
    if found is not None or why:
        return (chain, None, why) if found is None else (*found, "")
    return chain, None, _unsolved(chain) if place is None else _other_to_give(tree, chain, place, asks)


def _found(chain: Chain, asks: str, place: int | None) -> tuple[Chain, Family] | None:
    """The first family that fits."""
    if place is not None:
        return given_joint(chain, place, asks)
    family = spherical(chain) or parallel(chain) if asks == "pose" else None
    return (chain, family) if family is not None else take_apart(chain, None, asks)


def _hopeless(chain: Chain, asks: str, place: int | None) -> str:
    """Why no closed form can be, whatever the geometry; empty where one may be."""
    count = len(chain) - (place is not None)
    if count > ASKS[asks]:
        return _too_many(len(chain), asks, place)
    if not count:
        return "no joint is left to be solved for"
    if not independent(chain, place, asks):
        return "its joints are not independent: they move together without moving the frame"
    return ""


def _too_many(joints: int, asks: str, given: int | None) -> str:
    rest = "" if given is None else ", one of them given,"
    what = f"an {asks}" if asks == "orientation" else f"a {asks}"
    return (
        f"{joints} joints{rest} for {what}, which {ASKS[asks]} determine, leave infinitely many solutions;"
        " given={joint: value} holds a joint"
    )


def _other_to_give(tree: Tree, chain: Chain, given: int, asks: str) -> str:
    others = [tree.names[chain.coordinates[k]] for k in joints_to_give(chain, asks)]
    name = tree.names[chain.coordinates[given]]
    rest = f"{members(others)} can be given" if others else "nor with another"
    return f"with {name!r} given its equations do not separate; {rest}"


def _unsolved(chain: Chain) -> str:
    if len(chain) == 6 and not any(chain.slides):
        return (
            "no three neighbouring axes are parallel or meet in a point, nor do the equations separate in another known way:"
            " it takes a search in one unknown or more"
        )
    return "its equations do not separate in a way that is known here"


def independent(chain: Chain, given: int | None, asks: str) -> bool:
    """Whether the joints move the frame independently somewhere, by the rank of the Jacobian at positions at random."""
    rng = np.random.default_rng(6)
    rows = {"pose": slice(0, 6), "position": slice(0, 3), "orientation": slice(3, 6)}[asks]
    for _ in range(5):
        rates = screws(chain, rng.uniform(-2.5, 2.5, len(chain)))
        if given is not None:
            rates = np.delete(rates, given, axis=1)
        values = np.linalg.svd(rates[rows], compute_uv=False)
        if values[-1] > RANK * values[0] and len(values) == rates.shape[1]:
            return True
    return False


def screws(chain: Chain, values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The Jacobian (6, m) of the end frame, lengths in sizes of the chain, for angles (rad) and ways (in such sizes)."""
    from linkwise.solve.closed_form.joint_axis import axes_of

    turns = [
        float(v) * chain.size if slides else Turn(float(np.cos(v)), float(np.sin(v)))
        for v, slides in zip(values, chain.slides, strict=True)
    ]
    rest = [0.0 if slides else Turn(1.0, 0.0) for slides in chain.slides]
    pose, columns = np.eye(4), []
    for axis, turn, slides in zip(axes_of(chain, rest), turns, chain.slides, strict=True):
        k = axis.joint
        along = pose[:3, :3] @ chain.axes[k]
        point = (pose[:3, :3] @ chain.points[k] + pose[:3, 3]) / chain.size
        columns.append((point, along, slides))
        pose = np.asarray(pose @ np.asarray(axis.displacement(turn), dtype=float), dtype=float)
    tip = (pose @ chain.home)[:3, 3] / chain.size
    made = [
        np.concatenate([along, np.zeros(3)]) if slides else np.concatenate([np.cross(along, tip - point), along])
        for point, along, slides in columns
    ]
    return np.stack(made, axis=1)
