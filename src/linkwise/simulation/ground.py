"""The ground that contacts of a mechanism land on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.dynamics.contact import Contact
from linkwise.dynamics.contacts import Contacts
from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within


@dataclass(frozen=True, eq=False)
class Ground:
    """A plane on which contacts of a mechanism land: for `linkwise.simulate`.

    A contact that comes down to the plane stops there (I. Newton's law of impact, with the `restitution` of its speed along
    the normal) and holds as long as the plane pushes it. A point with a coefficient of friction slides where its force
    would leave the cone (C.-A. de Coulomb), one without sticks, a normal slides freely; so it is with the impulses of an
    impact.

    Parameters
    ----------
    contacts : Contacts
        Points or normals on links, towards the world.
    height : float
        Where the plane is along each contact's normal, m.
    restitution : float
        0 to 1.

    Raises
    ------
    ArgumentError
        For a contact of a frame or between links, naming it, and for numbers out of range.

    Examples
    --------
    >>> import linkwise as lw
    >>> from linkwise.dynamics import Contact, Contacts
    >>> ball = lw.Mechanism([lw.Link(name="ball", joint="prismatic", mass=1.0)])
    >>> ground = Ground(Contacts(ball, [Contact("sole", "ball")]), restitution=0.5)
    >>> fall = lw.simulate(ball, [1.0], t=(1.0, 0.01), method="rk45", ground=ground)
    >>> fall.events[0].name, round(fall.events[0].time, 6)
    ('land sole', 0.451524)
    """

    contacts: Contacts
    height: float = 0.0
    restitution: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.contacts, Contacts):
            raise ArgumentError(f"ground: contacts is {shown(self.contacts)}; expected Contacts of the mechanism")
        for contact in self.contacts.contacts:
            if contact.kind == "frame":
                raise ArgumentError(f"ground: contact {contact.name!r} is a frame; expected points or normals")
            if contact.to is not None:
                raise ArgumentError(f"ground: contact {contact.name!r} is on {contact.to!r}; expected contacts to the world")
        number_within("ground: height", self.height, -np.inf, np.inf, "a finite number, m")
        number_within("ground: restitution", self.restitution, 0.0, 1.0, "a coefficient from 0 to 1")

    def gap(self, q: FloatArray, name: str) -> float:
        """Height of a contact above the plane, m."""
        return float(self.contacts.positions(q, [name])[0] @ self.normal(name) - self.height)

    def along(self, values: FloatArray, active: Sequence[str]) -> dict[str, float]:
        """The parts along the normals of forces, impulses or velocities (k,) at the contacts."""
        parts = self.contacts.by_name(values, active)
        return {name: float(self.normal(name) @ part if len(part) == 3 else part[0]) for name, part in parts.items()}

    def has_cone(self, name: str) -> bool:
        """True if the contact force must be in a friction cone."""
        contact = self._contact(name)
        return contact.kind == "point" and contact.friction is not None

    def margin(self, forces: FloatArray, active: Sequence[str], name: str) -> float:
        """Margin of a force (k,) within the friction cone of a contact, N; infinite without friction."""
        if not self.has_cone(name):
            return np.inf
        force = self.contacts.by_name(forces, active)[name]
        pressure = float(self.normal(name) @ force)
        return self.friction(name) * pressure - float(np.linalg.norm(force - pressure * self.normal(name)))

    def friction(self, name: str) -> float:
        """The coefficient of friction at a contact; infinite for a point without one, 0 along a normal."""
        contact = self._contact(name)
        if contact.kind == "normal":
            return 0.0
        return np.inf if contact.friction is None else contact.friction

    def axis(self, name: str) -> FloatArray:
        """The direction of the pressure among the rows of a contact: (3,) of a point, (1,) along a normal."""
        return np.ones(1) if self._contact(name).kind == "normal" else self.normal(name)

    def normal(self, name: str) -> FloatArray:
        """The normal (3,) of a contact."""
        return np.asarray(self._contact(name).normal, dtype=float)

    def _contact(self, name: str) -> Contact:
        return self.contacts.contacts[self.contacts.names.index(name)]
