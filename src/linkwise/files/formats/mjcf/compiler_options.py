"""What an MJCF file agrees on as a whole: its ``<compiler>`` and ``<option>``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from linkwise.errors import shown
from linkwise.files.formats.mjcf.attributes import Attributes, Told, line
from linkwise.files.formats.mjcf.schema import COMPILER, FLAG, OPTION
from linkwise.files.xml_tree import Element

FORCES = {"wind": "wind", "density": "the drag of a fluid", "viscosity": "the drag of a fluid"}
"""Options that make forces which Linkwise does not have."""

_SEQUENCE = re.compile("[xyzXYZ]{3}")


@dataclass(frozen=True)
class Settings:
    """The settings, with MuJoCo's values where the file says nothing."""

    degree: bool = True
    sequence: str = "xyz"
    autolimits: bool = True
    from_geoms: str = "auto"
    groups: tuple[int, int] = (0, 5)
    least_mass: float = 0.0
    least_inertia: float = 0.0
    balance: bool = False
    total_mass: float = -1.0
    align_free: bool = False
    mesh_folder: str = ""
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    gravity_line: int = 0
    disabled: frozenset[str] = field(default_factory=frozenset)


def settings_of(root: Element, told: Told) -> Settings:
    """The settings of a file; later elements go over earlier ones."""
    made = Settings()
    for element in root.all("compiler"):
        made = _compiler(element, told, made)
    for element in root.all("option"):
        made = _option(element, told, made)
    return made


def _compiler(element: Element, told: Told, before: Settings) -> Settings:
    said = Attributes(element, "<compiler>", told, COMPILER)
    if said.word("coordinate", ("local", "global"), "local") == "global":
        said.report("coordinate is 'global', which MuJoCo gave up in version 2.3.4; expected 'local'", "coordinate")
    sequence = said.text("eulerseq") or before.sequence
    if not _SEQUENCE.fullmatch(sequence):
        said.report(f"eulerseq is {shown(sequence)}; expected three letters of 'xyzXYZ'", "eulerseq")
        sequence = before.sequence
    groups = [int(value) for value in said.row("inertiagrouprange", 2, before.groups)]
    return replace(
        before,
        degree=said.word("angle", ("radian", "degree"), "degree" if before.degree else "radian") == "degree",
        sequence=sequence,
        autolimits=said.flag("autolimits", before.autolimits),
        from_geoms=said.word("inertiafromgeom", ("false", "true", "auto"), before.from_geoms),
        groups=(groups[0], groups[1]),
        least_mass=said.number("boundmass", before.least_mass),
        least_inertia=said.number("boundinertia", before.least_inertia),
        balance=said.flag("balanceinertia", before.balance),
        total_mass=said.number("settotalmass", before.total_mass),
        align_free=said.flag("alignfree", before.align_free),
        mesh_folder=said.text("meshdir") or said.text("assetdir") or before.mesh_folder,
    )


def _option(element: Element, told: Told, before: Settings) -> Settings:
    said = Attributes(element, "<option>", told, OPTION)
    disabled = set(before.disabled)
    for flags in element.all("flag"):
        switch = Attributes(flags, "<flag>", told, FLAG)
        for key in ("gravity", "equality", "constraint", "damper", "frictionloss", "limit", "spring", "passive"):
            if key in switch:
                (disabled.discard if switch.word(key, ("enable", "disable"), "enable") == "enable" else disabled.add)(key)
    for key, what in FORCES.items():
        if any(said.numbers(key, 1, 3) or ()):
            told.leave(element, f"the attribute {key!r} of <option>", f"{what} is a force that Linkwise does not have")
    gravity = tuple(said.row("gravity", 3, before.gravity))
    place = line(element) if "gravity" in said else before.gravity_line
    return replace(before, gravity=gravity, gravity_line=place, disabled=frozenset(disabled))
