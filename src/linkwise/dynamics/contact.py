"""A contact of a mechanism: a link held at a point, along a normal, or as a frame, to the world or to another link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, number_within, vectors

#: Rows of the constraint of each kind: along the normal, at a point, of a whole frame.
KINDS = {"normal": 1, "point": 3, "frame": 6}


@dataclass(frozen=True)
class Contact:
    """Fixed point or frame of a link on the world or on another link.

    Parameters
    ----------
    name : str
        By which the contact is switched on.
    link : str
        The link that is held.
    point : (3,) array_like
        Where it is held, m, in its frame.
    kind : {"point", "normal", "frame"}
        What is held: the point in three directions, along the normal alone, or point and orientation.
    normal : (3,) array_like
        The direction, in world axes, in which the contact pushes the link; the axis of the friction cone.
    to : str, optional
        The other link, whose point at the same place is held; the world by default.
    friction : float, optional
        Coefficient of friction, for the cones of `Contacts.inverse_dynamics`.

    Raises
    ------
    ArgumentError
        Naming the contact and the field.

    Examples
    --------
    >>> Contact("toe", "foot", (0.1, 0.0, 0.0), friction=0.7).rows
    3
    """

    name: str
    link: str
    point: npt.ArrayLike = (0.0, 0.0, 0.0)
    kind: str = "point"
    normal: npt.ArrayLike = (0.0, 0.0, 1.0)
    to: str | None = None
    friction: float | None = None

    def __post_init__(self) -> None:
        title = f"contact {shown(self.name)}"
        choice(f"{title}: kind", self.kind, KINDS)
        for field in ("name", "link", "to"):
            value = getattr(self, field)
            if not isinstance(value, str) and not (value is None and field == "to"):
                raise ArgumentError(f"{title}: {field} is {shown(value)}; expected a word")
        for field in ("point", "normal"):
            value = vectors(f"{title}: {field}", getattr(self, field), 3)
            if value.shape != (3,):
                raise ArgumentError(f"{title}: {field} has the shape {value.shape}; expected (3,)")
            object.__setattr__(self, field, value)
        size = float(np.linalg.norm(self.normal))
        if size == 0.0:
            raise ArgumentError(f"{title}: normal is (0, 0, 0); expected a direction")
        object.__setattr__(self, "normal", np.asarray(self.normal) / size)
        if self.friction is not None:
            number_within(f"{title}: friction", self.friction, 0.0, np.inf, "a coefficient >= 0")

    @property
    def rows(self) -> int:
        """Number of equations."""
        return KINDS[self.kind]


@dataclass(frozen=True, eq=False)
class ContactDerivatives:
    """Derivatives of accelerations and contact forces under active contacts.

    Attributes
    ----------
    dqdd_dq, dqdd_dqd, dqdd_dtau : ndarray (..., nv, nv)
        Of the accelerations.
    df_dq, df_dqd, df_dtau : ndarray (..., k, nv)
        Of the contact forces.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.dynamics import Contacts
    >>> held = Contacts(robots.planar_2r(), [Contact("tip", "link2", kind="normal", normal=(0, 1, 0))])
    >>> held.forward_dynamics_derivatives([0.0, 0.5], [0.0, 0.0], [0.0, 0.0]).dqdd_dtau.shape
    (2, 2)
    """

    dqdd_dq: FloatArray
    dqdd_dqd: FloatArray
    dqdd_dtau: FloatArray
    df_dq: FloatArray
    df_dqd: FloatArray
    df_dtau: FloatArray
