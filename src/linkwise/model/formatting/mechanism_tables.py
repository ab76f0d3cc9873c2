"""Tables of a mechanism: its Denavit-Hartenberg rows or the placement of each link, its masses, motors and limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwise.model.formatting import table as formatting
from linkwise.model.formatting.link_text import angles, dh_cells, dh_order, frame_text, plus
from linkwise.model.formatting.table import Cells, Table, as_rows, degrees, laid_out, number, plain, vector
from linkwise.model.inertia import TENSOR, Inertia
from linkwise.model.link import Link
from linkwise.model.potential import BallSpring, ConstantForce
from linkwise.model.spring import ForceElement
from linkwise.model.symbolic import any_nonzero, same
from linkwise.model.tree import Tree

_CLOSURES = {"full": "frames", "point": "points", "hinge": "axes and points"}


def text(tree: Tree) -> str:
    """Write the table in plain aligned text, for a terminal.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> print(text(Mechanism([Link.dh(a=0.5, convention="standard")], name="pendulum")))
    pendulum: 1 joint (R)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    <BLANKLINE>
    link   joint  theta  d    a  alpha
    link1  R      q1     0  0.5     0°
    """
    return laid_out(described(tree))


def html(tree: Tree) -> str:
    """Write the table for a notebook: plain HTML that takes the colours of the page around it; every name is escaped."""
    return formatting.html(described(tree))


# ── geometry ──────────────────────────────────────────────────────────────────────────────────────


def described(tree: Tree) -> Table:
    """Denavit-Hartenberg table if every link comes from a row of one convention, else the placement table."""
    conventions = {link.dh_row.convention if link.dh_row else None for link in tree.links}
    convention = conventions.pop() if len(conventions) == 1 else None
    columns = {"link": [plain(name) for name in tree.link_names]}
    if any(link.joint_name for link in tree.links):
        columns["joint name"] = [plain(link.joint_name or "") for link in tree.links]
    if tree.parents != tuple(range(-1, len(tree.links) - 1)):
        columns["parent"] = [_link_name(tree, k) for k in tree.parents]
    columns["joint"] = [link.joint_model.letter for link in tree.links]
    columns |= _dh_columns(tree, convention) if convention else _placement_columns(tree)
    if any(link.limits for link in tree.links):
        columns["limits"] = [_limits_text(link) for link in tree.links]
    return Table(tuple(_headline(tree, convention)), *as_rows(columns))


def joint_letters(tree: Tree) -> str:
    """Return the kinds of the moving joints in order, as in ``RRP``; H is a screw (helical pair)."""
    return "".join(link.joint_model.letter for link in tree.links if link.moves and not link.mimic)


def _headline(tree: Tree, convention: str | None) -> Iterable[str]:
    count = sum(link.moves and not link.mimic for link in tree.links)
    joints = "1 joint" if count == 1 else f"{count} joints"
    fixed, following = (sum(map(bool, flags)) for flags in zip(*((not a.moves, a.mimic) for a in tree.links), strict=True))
    also = f", {following} that follow{'s' * (following == 1)} another" if following else ""
    also += f" and {fixed} fixed link{'s' if fixed > 1 else ''}" if fixed else ""
    base = ", on a floating base" if tree.floating else ""
    freedoms = tree.nv - (tree.manifold_joints[0].joint.nv if tree.floating else 0)
    several = f" with {freedoms} freedoms" if freedoms != count else ""
    yield f"{plain(tree.name)}: {joints}{several}" + (f" ({joint_letters(tree)})" if count else "") + also + base
    yield f"{_convention_text(tree, convention)}; lengths in m, angles in degrees"
    yield f"gravity {vector(tree.gravity)} m/s2"
    # The link of the tool is named where there are several tips, or it is not the last link.
    branches = tree.tool_link is not None or len(set(range(len(tree.links))) - set(tree.parents)) > 1
    for name, frame in (("base frame" if tree.floating else "base", tree.base), ("tool", tree.tool)):
        on = f" on {plain(tree.link_names[tree.tool_index])}" if name == "tool" and branches else ""
        if on or not same(frame, np.eye(4)):
            yield f"{name}{on} at {frame_text(frame)}"
    if not tree.payload.is_zero:
        yield f"payload {number(tree.payload.mass)} kg at {vector(tree.payload.com)} m in the tool's frame"
    if tree.drives:
        yield _driven(tree)
    if tree.springs:
        pulled = dict.fromkeys(part for element in tree.springs for part in _pulled(element))
        yield f"springs on {', '.join(pulled)}"
    for loop in tree.loops:
        named = f" {plain(loop.name)}" if loop.name else ""
        yield f"loop{named}: {_CLOSURES[loop.kind]} on {plain(loop.first)} and on {plain(loop.second)} coincide"


def _pulled(element: ForceElement) -> Iterable[str]:
    """Names of the items on which a force element acts."""
    if element.pieces:
        return [f"the line between {' and '.join(map(plain, element.links))}"]
    if isinstance(element, ConstantForce):
        return [f"link {plain(element.link)} (a constant force)"]
    return [plain(element.joint)] if isinstance(element, BallSpring) else [plain(name) for name, _ in element.terms]


def _driven(tree: Tree) -> str:
    """Count the joints with motors, and name their unusual features."""
    joints = len({drive.joint for drive in tree.drives})
    motors = [drive.motor for drive in tree.drives]
    parts = [f"motors on {joints} joint{'s' if joints > 1 else ''}"]
    if not any(any_nonzero((motor.viscous, *motor.coulomb)) for motor in motors):
        parts.append("without friction")
    elif any(motor.friction_rule != "reflected" for motor in motors):
        parts.append("friction rule " + " and ".join(sorted({motor.friction_rule for motor in motors})))
    carried = sum(drive.carrier is not None for drive in tree.drives)
    if carried:
        parts.append(f"{carried} rotor{'s' if carried > 1 else ''} carried by links")
    return ", ".join(parts)


def _convention_text(tree: Tree, convention: str | None) -> str:
    if convention == "modified":
        return "modified Denavit-Hartenberg: Rx(alpha) Tx(a) Rz(theta) Tz(d)"
    if convention == "standard":
        shift = " Ty(b)" if _uses_b(tree) else ""
        return f"{'extended' if shift else 'standard'} Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a){shift} Rx(alpha)"
    return "placement A, then the joint about or along its axis" + (", then B" if _uses_after(tree) else "")


def _uses_b(tree: Tree) -> bool:
    return any(link.dh_row is not None and any_nonzero(link.dh_row.b) for link in tree.links)


def _uses_after(tree: Tree) -> bool:
    return any(not same(link.after, np.eye(4)) for link in tree.links)


def _dh_columns(tree: Tree, convention: str) -> dict[str, Cells]:
    cells = [dh_cells(link, _variable(tree, k), tree.followers[k].shift) for k, link in enumerate(tree.links)]
    return {key: [row[key] for row in cells] for key in dh_order(convention, _uses_b(tree))}


def _variable(tree: Tree, link: int) -> str:
    """``q2``; of a joint that follows another ``-0.5 q2``."""
    free, count = tree.manifold_joint_of(link), len(tree.links[link].coordinate_names)
    if free is not None:
        return f"{tree.coordinate_names[free.q.start]} .. {tree.coordinate_names[free.q.stop - 1]}"
    joint = tree.followers[link]
    if count > 1:
        return f"q{joint.coordinate + 1} .. q{joint.coordinate + count}"
    sign = {1.0: "", -1.0: "-"}.get(joint.ratio, f"{number(joint.ratio)} ")
    return f"{sign}q{joint.coordinate + 1}"


def _placement_columns(tree: Tree) -> dict[str, Cells]:
    links = tree.links
    columns = {
        "variable": [_joint_variable(tree, k) for k in range(len(links))],
        "axis": ["; ".join(map(vector, np.atleast_2d(link.axis))) if link.moves else "" for link in links],
    }
    frames = {"A": [link.before for link in links]} | ({"B": [link.after for link in links]} if _uses_after(tree) else {})
    for name, placements in frames.items():
        columns[f"{name} x y z"] = [vector(frame[:3, 3]) for frame in placements]
        columns[f"{name} roll pitch yaw"] = [angles(frame) for frame in placements]
    if any(any_nonzero(link.pitch) for link in links):
        columns["pitch m/rad"] = [number(link.pitch) if any_nonzero(link.pitch) else "" for link in links]
    return columns


def _joint_variable(tree: Tree, k: int) -> str:
    link = tree.links[k]
    if not link.moves:
        return ""
    offset = link.offset + tree.followers[k].shift
    return plus(_variable(tree, k), number(offset) if link.joint_model.is_length else degrees(offset))


def _limits_text(link: Link) -> str:
    if link.limits is None:
        return ""
    parts: Any = link.joint_model.turns_and_slides or (link.joint_model,)
    pairs = zip(parts, link.coordinate_limits or (link.limits,), strict=True)
    texts = [pair and " .. ".join(map(number if part.is_length else degrees, pair)) for part, pair in pairs]
    return "; ".join(text or "free" for text in texts)


# ── masses, motors and limits ─────────────────────────────────────────────────────────────────────


def mass_table(tree: Tree) -> Table:
    """Mass, centre of mass and inertia of each link, of each rotor with a separate body, and of the payload.

    Where a body was described by its moments about the origin of its frame, those of all bodies are shown.
    """
    bodies: list[tuple[str, Inertia]] = [(plain(link.name), link.body) for link in tree.links]
    for drive in tree.drives:
        if drive.carrier is not None and not drive.motor.locked.is_zero:
            label = f"(rotor of {plain(drive.joint)}, axes of {_link_name(tree, drive.carrier)})"
            bodies.append((label, drive.motor.locked))
    if not tree.payload.is_zero:
        bodies.append(("(payload, tool axes)", tree.payload))
    by_moments = any(body.by_moments for _, body in bodies)
    if by_moments:
        parts = [body.moments for _, body in bodies]
        note = "first moments and inertia (kg m2) about the origin of the link's frame, link axes"
    else:
        parts = [(body.mass, body.com, body.tensor) for _, body in bodies]
        note = "inertia in kg m2, about the centre of mass, link axes"
    columns: dict[str, Cells] = {"link": [name for name, _ in bodies]}
    columns["mass kg"] = [number(mass) for mass, _, _ in parts]
    columns["first moments x y z kg m" if by_moments else "com x y z m"] = [vector(point) for _, point, _ in parts]
    for name, (i, j) in TENSOR.items():
        columns[name if by_moments else f"I{name.lower()}"] = [number(tensor[i, j]) for _, _, tensor in parts]
    return Table((f"masses of {plain(tree.name)}: {number(total_mass(tree))} kg in total", note), *as_rows(columns))


def total_mass(tree: Tree) -> float:
    """Mass of all links, of the rotors with separate bodies, and of the payload, kg."""
    return sum(link.body.mass for link in tree.links) + sum(d.motor.mass for d in tree.drives) + tree.payload.mass  # type: ignore[no-any-return]


def motor_table(tree: Tree) -> Table:
    """Rotor inertia, gear ratio, viscous and Coulomb friction of each motor; where its rotor sits, if a link carries it.

    Examples
    --------
    >>> from linkwise import Link, Mechanism, Motor
    >>> motor = Motor(inertia=2e-4, gear_ratio=50, joint="arm", carrier="base", axis=(0, 0, 1))
    >>> print(laid_out(motor_table(Mechanism([Link(name="arm")], motors=[motor], name="crane"))))
    motors of crane: 1 joint
    all on the motor's side of the gear; gear ratio is motor speed / joint speed
    a carried rotor spins about its axis, given in the axes of its carrier
    <BLANKLINE>
    joint  rotor inertia kg m2  gear ratio  viscous N m s/rad  Coulomb + N m  Coulomb - N m  carrier  spin axis
    arm                 0.0002          50                  0              0              0  base     0 0 1
    """
    motors = [drive.motor for drive in tree.drives]
    columns: dict[str, Cells] = {"joint": [plain(drive.joint) for drive in tree.drives]}
    columns["rotor inertia kg m2"] = [number(motor.inertia) for motor in motors]
    columns["gear ratio"] = [number(motor.gear_ratio) for motor in motors]
    columns["viscous N m s/rad"] = [number(motor.viscous) for motor in motors]
    for side, name in enumerate(("Coulomb + N m", "Coulomb - N m")):
        columns[name] = [number(motor.coulomb[side]) for motor in motors]
    if len({motor.friction_rule for motor in motors}) > 1:
        columns["friction rule"] = [motor.friction_rule for motor in motors]
    if any(drive.carrier is not None for drive in tree.drives):
        columns["carrier"] = ["" if drive.carrier is None else _link_name(tree, drive.carrier) for drive in tree.drives]
        columns["spin axis"] = ["" if motor.axis is None else vector(motor.axis) for motor in motors]
    return Table(tuple(_motor_lines(tree)), *as_rows(columns))


def _motor_lines(tree: Tree) -> Iterable[str]:
    driven, motors = len({drive.joint for drive in tree.drives}), len(tree.drives)
    joints = f"{driven} joint{'s' if driven != 1 else ''}"
    yield f"motors of {plain(tree.name)}: " + (joints if driven == motors else f"{motors} on {joints}")
    yield "all on the motor's side of the gear; gear ratio is motor speed / joint speed"
    if any(drive.carrier is not None for drive in tree.drives):
        yield "a carried rotor spins about its axis, given in the axes of its carrier"
    if any(drive.motor.friction_rule == "toolbox7" for drive in tree.drives):
        yield "friction rule toolbox7: the gear taken once and with its sign, as in the Robotics Toolbox for MATLAB 7"


def limit_table(tree: Tree) -> Table:
    """Limits of position, velocity and effort of each movable joint; empty where there is none.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> print(laid_out(limit_table(Mechanism([Link(name="arm", limits=(-1.5, 1.5), qd_max=2.0)], name="crane"))))
    limits of crane: rad, rad/s and N m, or m, m/s and N of joints that slide (P)
    <BLANKLINE>
    joint     least  greatest  velocity  effort
    arm    R   -1.5       1.5         2
    """
    line = f"limits of {plain(tree.name)}: rad, rad/s and N m, or m, m/s and N of joints that slide (P)"
    rows = []
    for link in tree.links:
        names = link.coordinate_names or ((link.coordinate_name,) if link.moves else ())
        parts: Any = link.joint_model.turns_and_slides or (link.joint_model,)
        most = [link.greatest(field) or (None,) for field in ("qd_max", "tau_max")]
        for name, part, pair, *others in zip(names, parts, link.coordinate_limits or (link.limits,), *most, strict=False):
            ends = [end if math.isfinite(end) else None for end in pair or (math.inf, math.inf)]
            values = ["" if value is None else number(value) for value in (*ends, *others)]
            rows.append((plain(name), part.letter, *values))
    return Table((line,), ("joint", "", "least", "greatest", "velocity", "effort"), rows)


def _link_name(tree: Tree, k: int) -> str:
    return plain(tree.link_names[k]) if k >= 0 else "base"
