"""MJCF's geoms, with the mass that they give their body and the shapes that they are, and the inertia of a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from linkwise.errors import ModelError, shown
from linkwise.files.formats.mjcf.attributes import Attributes
from linkwise.files.formats.mjcf.compiler_options import Settings
from linkwise.files.formats.mjcf.frames import between, pose
from linkwise.files.formats.mjcf.schema import ORIENTATIONS
from linkwise.model.shape import Shape
from linkwise.model.validation import LARGEST
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.solids import SOLIDS, Solid

KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
LONG = ("capsule", "cylinder", "ellipsoid", "box")
"""Those that may reach from one point to another."""

CONTESTED = (
    "its orientation is given by quat here and by {!r} in its default class, and versions of MuJoCo differ in which counts"
)

LIGHTEST = 1e-14
"""A geom of less mass (kg) counts for nothing (MuJoCo's bound)."""


@dataclass(frozen=True)
class Geom:
    """One geom.

    Attributes
    ----------
    attributes : Attributes
        What it says.
    kind : str
        Of `KINDS`.
    frame : ndarray (4, 4)
        T_body_geom.
    size : tuple of float
        Radius and half length, half axes or half edges (m); empty where they are not known.
    """

    attributes: Attributes
    kind: str
    frame: FloatArray
    size: tuple[float, ...]

    @property
    def from_file(self) -> bool:
        """Whether its size comes from a mesh or another file, which is not read."""
        return self.kind in ("mesh", "sdf", "hfield") or self.attributes.text("mesh") is not None

    def in_groups(self, settings: Settings) -> bool:
        """Whether its group counts for the mass of its body."""
        return settings.groups[0] <= self.attributes.whole("group") <= settings.groups[1]

    @property
    def has_file_mass(self) -> bool:
        """Whether it has a mass that a mesh or another file would tell."""
        return self.from_file and self.kind != "plane" and not self._massless

    @property
    def _mass(self) -> float | None:
        return self.attributes.number("mass") if "mass" in self.attributes else None

    @property
    def _density(self) -> float:
        return self.attributes.number("density", 1000.0)

    @property
    def _massless(self) -> bool:
        return self._mass == 0 or (self._mass is None and self._density == 0)

    def body(self) -> tuple[float, FloatArray] | None:
        """Mass (kg) and tensor (3, 3) about its centre in the body's axes; None where it has none."""
        said, mass, density = self.attributes, self._mass, self._density
        for key, value in (("mass", mass), ("density", density)):
            if value is not None and value < 0:
                said.report(f"{key} is {value!r}; expected a number >= 0", key)
                return None
        if self._massless or self.kind == "plane" or not self._is_certain() or not self.size:
            return None
        _, filled, shell = SOLIDS[self.kind]
        solid = _solid(shell if said.flag("shellinertia") else filled, self.size)
        if solid is None or not LIGHTEST < solid.mass < np.inf:
            return None
        factor = density if mass is None else mass / solid.mass
        turn = self.frame[:3, :3]
        total = factor * solid.mass
        return (total, turn @ (np.diag(solid.moments) * factor) @ turn.T) if total > LIGHTEST else None

    def _is_certain(self) -> bool:
        """Whether its mass is known; what is missing is reported."""
        said = self.attributes
        if self.from_file:
            what = "height field" if self.kind == "hfield" else "mesh"
            said.report(f"the mass of a {what} is not computed; give its body an <inertial>, or this geom mass = '0'")
        elif said.contested and self.kind != "sphere":
            said.report(f"{CONTESTED.format(said.contested)}; its mass needs one of them, expected one", "quat")
        else:
            return True
        return False

    def shape(self, link: str) -> Shape | None:
        """What it looks like, where its own numbers say so."""
        if self.kind not in SOLIDS or self.from_file or not self.size:
            return None
        said = self.attributes
        touching = said.whole("contype", 1) or said.whole("conaffinity", 1)
        size = self.size
        if self.kind == "box":
            size = tuple(2 * value for value in size)
        elif self.kind in ("cylinder", "capsule"):
            size = (size[0], 2 * size[1])
        texts = {"name": said.text("name"), "material": said.text("material")}
        try:
            return Shape(
                link, self.kind, size, role="collision" if touching else "visual", origin=self.frame,
                colour=said.numbers("rgba", 4, 4), **texts,
            )  # fmt: skip
        except ModelError as error:
            said.report(str(error))
            return None


def _solid(make: Callable[[tuple[float, ...]], Solid], size: tuple[float, ...]) -> Solid | None:
    try:
        return make(size)
    except (OverflowError, ZeroDivisionError):  # (a size near the ends of what a float can say)
        return None


def read_geom(said: Attributes, settings: Settings, outer: FloatArray) -> Geom:
    """A geom of a body; `outer` is T_body_frame of the frames around it."""
    kind = said.word("type", KINDS, "sphere")
    if "fromto" in said:
        frame, half = _from_to(said, kind)
    else:
        frame, half = pose(said, settings.degree, settings.sequence), None
        if said.contested:
            what = f"{said.contested!r} of a default class beside an own quat"
            said.told.leave(said.element, what, "MuJoCo takes the quat from version 4 on; it only turns the picture")
    return Geom(said, kind, outer @ frame, _size(said, kind, half))


def _from_to(said: Attributes, kind: str) -> tuple[FloatArray, float | None]:
    """Frame and half length of a geom that reaches from one point to another."""
    ends = said.numbers("fromto", 6, 6)
    nothing = np.eye(4), None
    if kind not in LONG:
        said.report(f"fromto is given for type {kind!r}; only a capsule, cylinder, ellipsoid or box has one", "fromto")
        return nothing
    if any(said.row("pos", 3, (0.0, 0.0, 0.0))):
        said.report("it has both pos and fromto; expected one of them", "fromto")
    if ends is None:
        return nothing
    found = between(ends)
    if found is None:
        said.report(f"fromto is {ends!r}; expected two points apart from each other", "fromto")
        return nothing
    return found


def _size(said: Attributes, kind: str, half: float | None) -> tuple[float, ...]:
    """Its sizes, all positive, or () after a report."""
    if kind not in SOLIDS or said.text("mesh") is not None:
        return ()
    count = SOLIDS[kind][0]
    given = said.numbers("size", 1, 3) if "size" in said else []
    if given is None:
        return ()
    if half is not None:
        given = [*given[:1], half] if count == 2 else [*given[:1], *given[:1], half]
    if len(given) < count or any(value <= 0 for value in given[:count]):
        word = f"{count} positive numbers" if count > 1 else "a positive number"
        found = shown(said.text("size")) if "size" in said else "missing"
        said.report(f"size is {found}; expected {word} for a {kind}", "size")
        return ()
    return tuple(given[:count])


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
    mass = said.non_negative("mass")
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
        item.remark("its moments of inertia are made equal, for balanceinertia is 'true'")
    return Body(mass, body.com, 0.5 * (body.tensor + body.tensor.T))


def scaled_to(total: float, bodies: Sequence[Body]) -> None:
    """Scale all masses and tensors so that the masses are a total (kg); nothing where it is not positive."""
    there = sum(body.mass for body in bodies)
    if total <= 0 or there <= 0:
        return
    for body in bodies:
        body.mass *= total / there
        body.tensor = body.tensor * (total / there)
