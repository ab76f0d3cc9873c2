"""The PUMA 560 as Robo's lists."""

from __future__ import annotations

from typing import Any

import linkwise.model.motor
from linkwise import robots
from linkwise.robo.writing import from_mechanism


def puma560() -> tuple[list[list[Any]], list[list[Any]]]:
    """Return Links and Motors of the PUMA 560, six each.

    The numbers are those of `linkwise.robots.puma560`, from P. I. Corke and B. Armstrong-Helouvry, 1994: the links as
    measured, with their motors in them, Jm and the gear ratios of the motors. Neither masses nor places of the rotors are
    published with them. Each motor therefore has no mass, stands at the joint that it drives, on the link before it (the
    real ones of the wrist sit in the forearm, farther back), and has the tensor of a thin disc whose moment about its axis
    is Jm. Use the lists with ``rotors="contained"``, where only Jm and G of them count beside the link that carries them, or
    with ``rotors="reduced"``; and with ``physical=False``, for links 6 and 4 are sets of numbers that were identified.

    Friction and joint limits, which lists have no place for, are left out. The frames stand at the near ends of the links.

    Examples
    --------
    >>> Links, Motors = puma560()
    >>> [link[1] for link in Links]
    ['Rotationalz', 'Rotationalx', 'Rotationalz', 'Rotationalx', 'Rotationalx', 'Rotationalz']
    >>> [motor[8] for motor in Motors]
    [76.686, 71.923, 76.0364, -53.7063, 107.815, -62.6111]
    """
    arm = robots.puma560()
    before = ("base", *arm.link_names)
    motors = [
        linkwise.model.motor.Motor(motor.inertia, motor.gear_ratio, carrier=carrier, axis=(0, 0, 1), joint=link.name)
        for link, carrier in zip(arm.links, before, strict=False)
        if (motor := link.motor) is not None
    ]
    links = [link.replace(motor=None, limits=None) for link in arm.links]
    return from_mechanism(arm.replace(links=links, motors=reversed(motors)))
