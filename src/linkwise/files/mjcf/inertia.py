"""The inertia of an MJCF body: said by it, or summed up of its geoms, and then corrected as the compiler is told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from linkwise.files.mjcf.attributes import Attributes
from linkwise.files.mjcf.frames import pose
from linkwise.files.mjcf.geoms import Geom
from linkwise.files.mjcf.schema import ORIENTATIONS
from linkwise.files.mjcf.settings import Settings
from linkwise.model.checks import LARGEST
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import FloatArray


@dataclass
class Body:
    """Mass (kg), centre of mass (m) and tensor about it (kg m2), in the body's frame; whether they are left out."""

    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    tensor: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))
    left_out: bool = False


def body_inertia(
    said: Attributes | None, geoms: Sequence[Geom], settings: Settings, item: Attributes, *, moves: bool = True
) -> Body:
    """The inertia of a body.

    Parameters
    ----------
    said : Attributes, optional
        Its ``<inertial>``.
    geoms : sequence of Geom
        Its geoms.
    settings : Settings
        The file's.
    item : Attributes
        The body's own, for reports.
    moves : bool
        Whether a joint moves it. Of one that stands the mass of a mesh is left out: no joint feels it.
    """
    made = Body() if said is None else _inertial(said, settings)
    if settings.from_geoms == "true" or (said is None and settings.from_geoms == "auto"):
        counted = [geom for geom in geoms if geom.in_groups(settings)]
        unknown = next((geom for geom in counted if geom.has_file_mass), None)
        if unknown is not None and not moves and settings.total_mass <= 0:
            return Body(left_out=True)
        made = _of_geoms(counted) or made
    return _corrected(made, settings, item)


def _inertial(said: Attributes, settings: Settings) -> Body:
    """What an ``<inertial>`` says: its frame has the principal axes, unless the whole tensor is given."""
    frame = pose(said, settings.degree, settings.sequence)
    turn = frame[:3, :3]
    for key in ("pos", "mass"):
        if key not in said:
            said.report(f"it has no {key}")
    mass = said.tried("mass", lambda value: value >= 0, "a number >= 0")
    full = said.numbers("fullinertia", 6, 6)
    diagonal = said.row("diaginertia", 3, (0.0, 0.0, 0.0))
    if "fullinertia" in said and (any(diagonal) or any(key in said for key in ORIENTATIONS)):
        said.report("it has fullinertia and also diaginertia or an orientation; expected one of the two", "fullinertia")
    if full is None:
        tensor = turn @ np.diag(diagonal) @ turn.T
    else:
        xx, yy, zz, xy, xz, yz = full
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Body(mass, frame[:3, 3], 0.5 * (tensor + tensor.T))


def _of_geoms(geoms: Sequence[Geom]) -> Body | None:
    """The sum of the geoms, by the parallel-axis theorem; None where none has a mass."""
    parts = [(geom.frame[:3, 3], *body) for geom in geoms if (body := geom.body()) is not None]
    mass = sum(part[1] for part in parts)
    if not parts:
        return None
    com = sum((m * centre for centre, m, _ in parts), np.zeros(3)) / mass
    tensor = np.zeros((3, 3))
    for centre, m, own in parts:
        arm = np.asarray(skew(centre - com), dtype=float)
        tensor += own - m * arm @ arm
    return Body(mass, com, 0.5 * (tensor + tensor.T))


def _corrected(body: Body, settings: Settings, item: Attributes) -> Body:
    """The same body with at least the least mass and moments, and balanced, where the compiler is told so."""
    mass = max(body.mass, settings.least_mass)
    if (settings.least_inertia <= 0 and not settings.balance) or not np.abs(body.tensor).max() <= LARGEST:
        return Body(mass, body.com, body.tensor)
    moments, axes = np.linalg.eigh(body.tensor)
    if settings.least_inertia > moments[0]:
        moments = np.maximum(moments, settings.least_inertia)
        body.tensor = axes @ np.diag(moments) @ axes.T
    if settings.balance and moments[0] + moments[1] < moments[2]:
        body.tensor = float(moments.mean()) * np.eye(3)
        item.told.remark(item.element, f"{item.item}: its moments of inertia are made equal, for balanceinertia is 'true'")
    return Body(mass, body.com, 0.5 * (body.tensor + body.tensor.T))


def scaled_to(total: float, bodies: Sequence[Body]) -> None:
    """Scale all masses and tensors so that the masses are a total (kg); nothing where it is not positive."""
    there = sum(body.mass for body in bodies)
    if total <= 0 or there <= 0:
        return
    for body in bodies:
        body.mass *= total / there
        body.tensor = body.tensor * (total / there)
