"""Assignment of motors to joint coordinates, and of rotors to carrying links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from linkwise.errors import Problem, choices
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.validation import Checker


@dataclass(frozen=True)
class Drive:
    """A motor in its place.

    Attributes
    ----------
    motor : Motor
        The motor.
    joint : str
        Name of the coordinate that it drives, or of the velocity, of a joint with a quaternion.
    coordinate : int
        Index of the joint coordinate that it drives, 0 to n - 1; several motors may drive one, and that of a joint that
        follows another drives the other's. Negative for a velocity of a joint with a quaternion: -1 is that just before the
        joint coordinates, so that ``nv - n + coordinate`` is its index among the velocities (nv,).
    carrier : int or None
        Index of the link that carries its rotor, -1 for the base, None where only G^2 Jm acts.
    """

    motor: Motor
    joint: str
    coordinate: int
    carrier: int | None


def drives_of(
    check: Checker, links: Sequence[Link], coordinates: Sequence[int], motors: Sequence[Motor], velocities: Sequence[str]
) -> tuple[Drive, ...]:
    """The links' own motors in the order of the links, then the others in theirs.

    The velocities are the names of those of joints with quaternions, in their order.
    """
    places: dict[str | None, int] = {}
    for k, link in enumerate(links):
        places.setdefault(link.name, k)
    return tuple(_own(check, links, coordinates, places)) + tuple(
        _others(check, links, coordinates, motors, velocities, places)
    )


#: Index of each link's name in the list.
Places = Mapping[str | None, int]


def _own(check: Checker, links: Sequence[Link], coordinates: Sequence[int], places: Places) -> Iterator[Drive]:
    for k, link in enumerate(links):
        if link.motor is not None:
            carrier = _carrier(check, f"link {link.name!r}: motor", link.motor, places)
            yield Drive(link.motor, link.coordinate_name, coordinates[k], carrier)


def _others(
    check: Checker,
    links: Sequence[Link],
    coordinates: Sequence[int],
    motors: Sequence[Motor],
    velocities: Sequence[str],
    places: Places,
) -> Iterator[Drive]:
    if not motors:
        return
    driven = {name: k - len(velocities) for k, name in enumerate(velocities)}
    driven |= {name: at for k, link in enumerate(links) for at, name in enumerate(link.coordinate_names, coordinates[k])}
    moving, still = list(driven), {link.coordinate_name for link in links if not link.moves}
    for k, motor in enumerate(motors):
        item = f"motors[{k}]"
        carrier = _carrier(check, item, motor, places)
        coordinate = driven.get(str(motor.joint))
        if coordinate is None:
            why = "; a fixed link has no joint to drive" if motor.joint in still else ""
            check.problems.append(Problem(item, "joint", motor.joint, choices(moving) + why))
        elif coordinate < 0 and carrier is not None:
            expected = "nothing: the rotor of a motor of a joint with a quaternion is felt at the joint alone"
            check.problems.append(Problem(item, "carrier", motor.carrier, expected))
        yield Drive(motor, str(motor.joint), coordinate or 0, carrier)


def _carrier(check: Checker, item: str, motor: Motor, places: Places) -> int | None:
    """Index of the link that carries a rotor, -1 for the base."""
    carrier = motor.carrier
    if carrier is None or carrier == "base":
        return None if carrier is None else -1
    if isinstance(carrier, int) and carrier < len(places):
        return carrier
    if carrier in places:
        return places[str(carrier)]
    expected = f"{choices(['base', *places])}, or an index from 0 to {len(places) - 1}"
    check.problems.append(Problem(item, "carrier", carrier, expected))
    return None
