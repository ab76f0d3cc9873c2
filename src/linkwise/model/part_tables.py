"""A mechanism's masses, motors and limits as tables: what the table of its geometry leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from linkwise.model.inertia import TENSOR, Inertia
from linkwise.model.table import LETTERS, Cells, Table, as_rows, laid_out, number, plain, vector
from linkwise.model.tree import Tree


def masses(tree: Tree) -> str:
    """Write the masses in plain aligned text: mass, centre of mass, and inertia about it in the axes of the link.

    Rotors that are bodies of their own have a row each, for they come in addition to the link that carries them.
    """
    return laid_out(mass_table(tree))


def motors(tree: Tree) -> str:
    """Write the motors in plain aligned text: rotor inertia, gear ratio and friction, on the motor's side of the gear.

    Where a link carries a rotor, the table names it and the axis of the spin.

    Examples
    --------
    >>> from linkwise import Link, Mechanism, Motor
    >>> motor = Motor(inertia=2e-4, gear_ratio=50, joint="arm", carrier="base", axis=(0, 0, 1))
    >>> print(motors(Mechanism([Link(name="arm")], motors=[motor], name="crane")))
    motors of crane: 1 joint
    all on the motor's side of the gear; gear ratio is motor speed / joint speed
    a carried rotor spins about its axis, given in the axes of its carrier
    <BLANKLINE>
    joint  rotor inertia kg m2  gear ratio  viscous N m s/rad  Coulomb + N m  Coulomb - N m  carrier  spin axis
    arm                 0.0002          50                  0              0              0  base     0 0 1
    """
    return laid_out(motor_table(tree))


def mass_table(tree: Tree) -> Table:
    """Mass, centre of mass and inertia of each link, of each rotor that is a body of its own, and of the payload."""
    bodies = [(plain(link.name), link.body) for link in tree.links]
    for drive in tree.drives:
        if drive.carrier is not None and not drive.motor.locked.is_zero:
            label = f"(rotor of {plain(drive.joint)}, axes of {_carrier_name(tree, drive.carrier)})"
            bodies.append((label, drive.motor.locked))
    if not tree.payload.is_zero:
        bodies.append(("(payload, tool axes)", tree.payload))
    columns: dict[str, Cells] = {"link": [name for name, _ in bodies]}
    if any(body.by_moments for _, body in bodies):
        return _moments_table(tree, columns, [body for _, body in bodies])
    columns["mass kg"] = [number(body.mass) for _, body in bodies]
    columns["com x y z m"] = [vector(body.com) for _, body in bodies]
    for name, (i, j) in TENSOR.items():
        columns[f"I{name.lower()}"] = [number(body.tensor[i, j]) for _, body in bodies]
    lines = (
        f"masses of {plain(tree.name)}: {number(total_mass(tree))} kg in all",
        "inertia in kg m2, about the centre of mass, link axes",
    )
    return Table(lines, *as_rows(columns))


def _moments_table(tree: Tree, columns: dict[str, Cells], bodies: Sequence[Inertia]) -> Table:
    """Mass, first moments and tensor of each body, as they were given."""
    moments = [body.moments for body in bodies]
    columns["mass kg"] = [number(mass) for mass, _, _ in moments]
    columns["first moments x y z kg m"] = [vector(first) for _, first, _ in moments]
    for name, (i, j) in TENSOR.items():
        columns[name] = [number(tensor[i, j]) for _, _, tensor in moments]
    lines = (
        f"masses of {plain(tree.name)}: {number(total_mass(tree))} kg in all",
        "first moments and inertia (kg m2) about the origin of the link's frame, link axes",
    )
    return Table(lines, *as_rows(columns))


def total_mass(tree: Tree) -> float:
    """Mass of all links, of the rotors that are bodies of their own, and of the payload, kg."""
    return sum(link.body.mass for link in tree.links) + sum(d.motor.mass for d in tree.drives) + tree.payload.mass


def motor_table(tree: Tree) -> Table:
    """Rotor inertia, gear ratio, viscous and Coulomb friction of each motor; where its rotor sits, if a link carries it."""
    found = [drive.motor for drive in tree.drives]
    columns: dict[str, Cells] = {"joint": [plain(drive.joint) for drive in tree.drives]}
    columns["rotor inertia kg m2"] = [number(motor.inertia) for motor in found]
    columns["gear ratio"] = [number(motor.gear_ratio) for motor in found]
    columns["viscous N m s/rad"] = [number(motor.viscous) for motor in found]
    for side, name in enumerate(("Coulomb + N m", "Coulomb - N m")):
        columns[name] = [number(motor.coulomb[side]) for motor in found]
    if len({motor.friction_rule for motor in found}) > 1:
        columns["friction rule"] = [motor.friction_rule for motor in found]
    if any(drive.carrier is not None for drive in tree.drives):
        columns["carrier"] = [_carrier_name(tree, drive.carrier) for drive in tree.drives]
        columns["spin axis"] = ["" if motor.axis is None else vector(motor.axis) for motor in found]
    return Table(tuple(_motor_lines(tree)), *as_rows(columns))


def limits(tree: Tree) -> str:
    """Write the limits in plain aligned text: of every joint that moves, those that follow others too.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> print(limits(Mechanism([Link(name="arm", limits=(-1.5, 1.5), speed_limit=2.0)], name="crane")))
    limits of crane: rad, rad/s and N m, or m, m/s and N of joints that slide (P)
    <BLANKLINE>
    joint     least  greatest  speed  effort
    arm    R   -1.5       1.5      2
    """
    return laid_out(limit_table(tree))


def limit_table(tree: Tree) -> Table:
    """Least and greatest value, greatest speed and effort of each joint that moves; nothing where there is no limit."""
    found = [link for link in tree.links if link.moves]
    columns: dict[str, Cells] = {"joint": [plain(link.coordinate_name) for link in found]}
    columns[""] = [LETTERS[link.joint] for link in found]
    ends = [link.limits or (-math.inf, math.inf) for link in found]
    columns["least"] = [number(low) if math.isfinite(low) else "" for low, _ in ends]
    columns["greatest"] = [number(high) if math.isfinite(high) else "" for _, high in ends]
    for name, values in (("speed", [a.speed_limit for a in found]), ("effort", [a.effort_limit for a in found])):
        columns[name] = ["" if value is None else number(value) for value in values]
    line = f"limits of {plain(tree.name)}: rad, rad/s and N m, or m, m/s and N of joints that slide (P)"
    return Table((line,), *as_rows(columns))


def _motor_lines(tree: Tree) -> Iterable[str]:
    driven, motors = len({drive.joint for drive in tree.drives}), len(tree.drives)
    joints = f"{driven} joint{'s' if driven != 1 else ''}"
    yield f"motors of {plain(tree.name)}: " + (joints if driven == motors else f"{motors} on {joints}")
    yield "all on the motor's side of the gear; gear ratio is motor speed / joint speed"
    if any(drive.carrier is not None for drive in tree.drives):
        yield "a carried rotor spins about its axis, given in the axes of its carrier"
    if any(drive.motor.friction_rule == "toolbox7" for drive in tree.drives):
        yield "friction rule toolbox7: the gear taken once and with its sign, as in the Robotics Toolbox for MATLAB 7"


def _carrier_name(tree: Tree, carrier: int | None) -> str:
    return "" if carrier is None else "base" if carrier < 0 else plain(tree.link_names[carrier])
