"""Geoms of MJCF, and the inertia of a body by its geoms or its ``<inertial>``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from linkwise.errors import ModelError, shown
from linkwise.files.formats.mjcf.attributes import ORIENTATIONS, ORIGIN, Attributes, between, pose
from linkwise.files.formats.mjcf.document import Settings
from linkwise.files.formats.mjcf.meshes import Meshes, MeshSolid
from linkwise.files.mesh_file import MeshError
from linkwise.files.report import body_fields
from linkwise.model.shape import Shape
from linkwise.model.validation import LARGEST
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.solids import SOLIDS, Solid, summed

KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")

#: Geoms whose mass is that of their mesh.
MESHES = ("mesh", "sdf")

#: Geoms that may be defined by two end points.
LONG = ("capsule", "cylinder", "ellipsoid", "box")

CONTESTED = (
    "its orientation is given by quat here and by {!r} in its default class, and versions of MuJoCo differ in which counts"
)

#: Factors from the sizes of a shape to those of a geom in MJCF.
PARTS = {"box": (0.5, 0.5, 0.5), "cylinder": (1.0, 0.5), "capsule": (1.0, 0.5)}
WHOLE = (1.0, 1.0, 1.0)

#: A geom of less mass (kg) counts for nothing (MuJoCo's bound).
LIGHTEST = 1e-14


@dataclass(frozen=True)
class Geom:
    """One geom.

    Attributes
    ----------
    attributes : Attributes
        What it says.
    kind : str
        One of `KINDS`.
    frame : ndarray (4, 4)
        T_body_geom.
    size : tuple of float
        Radius and half length, half axes or half edges (m); empty where they are not known.
    meshes : Meshes
        The meshes of the file.
    """

    attributes: Attributes
    kind: str
    frame: FloatArray
    size: tuple[float, ...]
    meshes: Meshes

    @property
    def from_file(self) -> bool:
        """True if the size comes from a mesh or another file."""
        return self.kind in ("mesh", "sdf", "hfield") or self.attributes.text("mesh") is not None

    @property
    def _mass(self) -> float | None:
        return next(iter(self.attributes.numbers("mass", 1, 1) or ()), None)

    @property
    def _density(self) -> float:
        return self.attributes.number("density", 1000.0)

    @property
    def massless(self) -> bool:
        """True if the file sets mass or density to zero."""
        return self._mass == 0 or (self._mass is None and self._density == 0)

    @property
    def unknown(self) -> str | None:
        """Return the reason why the volume is unknown, if the size comes from a file."""
        if not self.from_file:
            return None
        if self.kind not in MESHES:
            noun = "height field" if self.kind == "hfield" else f"{self.kind} that is fitted to a mesh"
            return f"the mass of a {noun} is not computed"
        try:
            self.meshes.solid(self.attributes.text("mesh") or "")
        except MeshError as error:
            return f"its mass is that of its mesh, but {error}"
        return None

    def body(self) -> tuple[FloatArray, float, FloatArray] | None:
        """Centre (m), mass (kg) and tensor (3, 3) about the centre in the body's axes; None where it has no mass."""
        attrs, mass, density = self.attributes, self._mass, self._density
        for key, value in (("mass", mass), ("density", density)):
            if value is not None and value < 0:
                attrs.report(f"{key} is {value!r}; expected a number >= 0", key)
                return None
        solid = None if self.massless or self.kind == "plane" or not self._is_certain() else self._solid()
        if solid is None or not LIGHTEST < solid.mass < np.inf:
            return None
        factor = density if mass is None else mass / solid.mass
        turn, total = self.frame[:3, :3], factor * solid.mass
        centre = turn @ solid.com + self.frame[:3, 3]
        return (centre, total, turn @ (factor * solid.tensor) @ turn.T) if total > LIGHTEST else None

    def _solid(self) -> MeshSolid | None:
        """Itself with the density 1, in its own frame."""
        if self.kind in MESHES:
            return self.meshes.solid(str(self.attributes.text("mesh")))
        if not self.size:
            return None
        _, filled, shell = SOLIDS[self.kind]
        solid = _solid(shell if self.attributes.flag("shellinertia") else filled, self.size)
        return solid and MeshSolid(solid.mass, np.zeros(3), np.diag(solid.moments))

    def _is_certain(self) -> bool:
        """True if the mass is known; otherwise the missing data are reported."""
        attrs = self.attributes
        if why := self.unknown:
            attrs.report(f"{why}; give its body an <inertial>, or this geom mass = '0'")
        elif attrs.contested and self.kind != "sphere":
            attrs.report(f"{CONTESTED.format(attrs.contested)}; its mass needs one of them, expected one", "quat")
        elif self.kind in MESHES and "shellinertia" in attrs:
            attrs.report("shellinertia of a mesh; expected inertia = 'shell' in the <mesh>", "shellinertia")
        else:
            return True
        return False

    def shape(self, link: str) -> Shape | None:
        """Its visual shape, where its own numbers determine it."""
        if self.kind not in SOLIDS or self.from_file or not self.size:
            return None
        attrs = self.attributes
        touching = attrs.whole("contype", 1) or attrs.whole("conaffinity", 1)
        size = tuple(value / part for value, part in zip(self.size, PARTS.get(self.kind, WHOLE), strict=False))
        texts = {"name": attrs.text("name"), "material": attrs.text("material")}
        try:
            return Shape(
                link, self.kind, size, role="collision" if touching else "visual", origin=self.frame,
                colour=attrs.numbers("rgba", 4, 4), **texts,
            )  # fmt: skip
        except ModelError as error:
            attrs.report(str(error))
            return None


def _solid(make: Callable[[tuple[float, ...]], Solid], size: tuple[float, ...]) -> Solid | None:
    try:
        return make(size)
    except (OverflowError, ZeroDivisionError):  # (a size near the limits of floats)
        return None


def read_geom(attrs: Attributes, settings: Settings, outer: FloatArray, meshes: Meshes) -> Geom:
    """A geom of a body; `outer` is T_body_frame of the frames around it."""
    kind = attrs.word("type", KINDS, "sphere")
    if attrs.numbers("fromto", 6, 6):
        frame, half = _from_to(attrs, kind)
    else:
        frame, half = pose(attrs, settings.degree, settings.sequence), None
        if attrs.contested:
            subject = f"{attrs.contested!r} of a default class beside an own quat"
            attrs.log.leave(attrs.element, subject, "MuJoCo takes the quat from version 4 on; it only turns the picture")
    return Geom(attrs, kind, outer @ frame, _size(attrs, kind, half), meshes)


def _from_to(attrs: Attributes, kind: str) -> tuple[FloatArray, float | None]:
    """Frame and half length of a geom that reaches from one point to another."""
    frame_and_half = between_ends(attrs)
    if kind not in LONG:
        attrs.report(f"fromto is given for type {kind!r}; only a capsule, cylinder, ellipsoid or box has one", "fromto")
        return np.eye(4), None
    if any(attrs.row("pos", ORIGIN)):
        attrs.report("it has both pos and fromto; expected one of them", "fromto")
    return frame_and_half or (np.eye(4), None)


def between_ends(attrs: Attributes) -> tuple[FloatArray, float] | None:
    """Return the frame between the end points of ``fromto`` and half their distance; None after a report."""
    ends = attrs.numbers("fromto", 6, 6)
    frame_and_half = between(ends) if ends else None
    if ends and frame_and_half is None:
        attrs.report(f"fromto is {ends!r}; expected two points apart from each other", "fromto")
    return frame_and_half


def _size(attrs: Attributes, kind: str, half: float | None) -> tuple[float, ...]:
    """Its sizes, all positive, or () after a report."""
    if kind not in SOLIDS or attrs.text("mesh") is not None:
        return ()
    count = SOLIDS[kind][0]
    sizes = attrs.numbers("size", 1, 3) if "size" in attrs else []
    if sizes is None:
        return ()
    if half is not None:
        sizes = [*sizes[:1], half] if count == 2 else [*sizes[:1], *sizes[:1], half]
    if len(sizes) < count or any(value <= 0 for value in sizes[:count]):
        word = f"{count} positive numbers" if count > 1 else "a positive number"
        stated = shown(attrs.text("size")) if "size" in attrs else "missing"
        attrs.report(f"size is {stated}; expected {word} for a {kind}", "size")
        return ()
    return tuple(sizes[:count])


@dataclass
class BodyInertia:
    """Mass (kg), centre of mass (m) and tensor about it (kg m2), in the body's frame; whether they are left out."""

    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    tensor: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))
    left_out: bool = False


def body_inertia(
    attrs: Attributes | None, geoms: Sequence[Geom], settings: Settings, item: Attributes, *, moves: bool = True
) -> BodyInertia:
    """The inertia of a body.

    Parameters
    ----------
    attrs : Attributes, optional
        Its ``<inertial>``.
    geoms : sequence of Geom
        Its geoms.
    settings : Settings
        The file's.
    item : Attributes
        The body's own, for reports.
    moves : bool
        Whether a joint moves it. Of one that stands a mass that is not known is left out: no joint feels it.
    """
    body = BodyInertia() if attrs is None else _inertial(attrs, settings)
    if settings.from_geoms == "true" or (attrs is None and settings.from_geoms == "auto"):
        least, most = settings.groups
        counted = [geom for geom in geoms if least <= geom.attributes.whole("group") <= most]
        weighed = [geom for geom in counted if geom.kind != "plane" and not geom.massless]
        if not moves and settings.total_mass <= 0 and any(geom.unknown for geom in weighed):
            return BodyInertia(left_out=True)
        parts = [part for geom in counted if (part := geom.body()) is not None]
        body = BodyInertia(*summed(parts)) if parts else body
    if attrs is None and body.mass == 0 < settings.least_mass:  # (MuJoCo takes the place of the body for that in the body)
        body.com = np.array(item.row("pos", ORIGIN))
    return _corrected(body, settings, item)


def _inertial(attrs: Attributes, settings: Settings) -> BodyInertia:
    """Read an ``<inertial>``: its frame has the principal axes, unless the full tensor is specified."""
    frame = pose(attrs, settings.degree, settings.sequence)
    for key in ("pos", "mass"):
        if key not in attrs:
            attrs.report(f"it has no {key}")
    mass = attrs.non_negative("mass")
    full = attrs.numbers("fullinertia", 6, 6)
    diagonal = attrs.row("diaginertia", ORIGIN)
    if full is not None and (any(diagonal) or any(key in attrs for key in ORIENTATIONS)):
        attrs.report("it has fullinertia and also diaginertia or an orientation; expected one of the two", "fullinertia")
    moments = [*diagonal, 0.0, 0.0, 0.0] if full is None else [*full[:4], full[5], full[4]]
    body = body_fields(mass, frame, moments)
    return BodyInertia(mass, body["com"], np.array(body["inertia"]))


def _corrected(body: BodyInertia, settings: Settings, item: Attributes) -> BodyInertia:
    """Apply the compiler's lower bounds of mass and moments, and its balancing of the moments."""
    mass = max(body.mass, settings.least_mass)
    if (settings.least_inertia <= 0 and not settings.balance) or not np.abs(body.tensor).max() <= LARGEST:
        return BodyInertia(mass, body.com, body.tensor)
    moments, axes = np.linalg.eigh(body.tensor)
    if settings.least_inertia > moments[0]:
        moments = np.maximum(moments, settings.least_inertia)
        body.tensor = axes @ np.diag(moments) @ axes.T
    if settings.balance and moments[0] + moments[1] < moments[2]:
        body.tensor = float(moments.mean()) * np.eye(3)
        item.remark("its moments of inertia are made equal, for balanceinertia is 'true'")
    return BodyInertia(mass, body.com, 0.5 * (body.tensor + body.tensor.T))


def scaled_to(total: float, bodies: Sequence[BodyInertia]) -> None:
    """Scale all masses and tensors so that the masses are a total (kg); nothing where it is not positive."""
    there = sum(body.mass for body in bodies)
    if total <= 0 or there <= 0:
        return
    for body in bodies:
        body.mass *= total / there
        body.tensor = body.tensor * (total / there)
