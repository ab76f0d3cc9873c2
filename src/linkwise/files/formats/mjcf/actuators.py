"""MJCF's actuators: of their mechanics only the rotor, which its gear multiplies; what drives them is left out."""

from __future__ import annotations

from collections.abc import Collection

from linkwise.errors import choices, shown
from linkwise.files.formats.mjcf.attributes import Attributes, Defaults, Told, named, offered
from linkwise.files.formats.mjcf.compiler_options import Settings
from linkwise.files.formats.mjcf.schema import ACTUATOR, ACTUATORS
from linkwise.files.xml_tree import Element
from linkwise.model.motor import Motor

WHY = "what drives the joints is not a part of the mechanism"


class Actuators:
    """Reads the actuators; `motors` are those with an inertia or a damping of their own, with what said them."""

    def __init__(
        self, told: Told, defaults: Defaults, settings: Settings, joints: Collection[str], still: Collection[str]
    ) -> None:
        self.told, self.defaults, self.settings = told, defaults, settings
        self.joints, self.still = joints, still
        self.motors: list[tuple[Attributes, Motor]] = []

    def read(self, section: Element) -> None:
        """Take in an ``<actuator>``."""
        for element in section.children:
            if element.tag not in (*ACTUATORS, "plugin"):
                self.told.report(element, f"there is no actuator <{element.tag}>; expected {choices(ACTUATORS)}")
                continue
            self.told.leave(element, f"<{element.tag}> of <actuator>", WHY)
            defaults = self.defaults.of(element, ())
            self._rotor(Attributes(element, named(element), self.told, ACTUATOR, defaults))

    def _rotor(self, said: Attributes) -> None:
        """A rotor with its gear: its inertia and damping are multiplied by the square of the ratio."""
        inertia, damping = said.number("armature"), said.damping()
        gear = (said.numbers("gear", 1, 6) or [1.0])[0]
        viscous = 0.0 if {"damper", "passive"} & self.settings.disabled else damping
        if (inertia == 0 and viscous == 0) or gear == 0:
            return
        joint = said.text("joint") or said.text("jointinparent")
        if joint is None:
            said.report("its armature or damping acts on something else than a joint, which cannot be said here")
        elif joint in self.still:
            return
        elif joint not in self.joints:
            said.report(f"joint is {shown(joint)}; the hinges and slides are {offered(self.joints)}", "joint")
        elif motor := said.build(lambda: Motor(inertia, gear, viscous, joint=joint)):
            self.motors.append((said, motor))
