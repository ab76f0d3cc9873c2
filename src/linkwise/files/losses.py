"""Features that formats cannot represent: `Losses`, and losses common to several formats."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from linkwise.errors import FileError, FileProblem
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import number
from linkwise.model.link import Link
from linkwise.model.motor import Motor


@dataclass
class Losses:
    """Features of a description that a format cannot represent.

    Attributes
    ----------
    lost : list of str
        What would be left out.
    never : list of str
        What keeps the file from being written: it would describe another mechanism, or could not be read again.
    """

    lost: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)

    def check(self, path: str | Path, form: str, allow_loss: bool) -> None:
        """Raise `FileError` for features that cannot be written, and for losses unless they are allowed."""
        if self.never or (self.lost and not allow_loss):
            messages = [f"would be lost in {form}: {part}" for part in self.lost]
            messages += [f"cannot be written in {form} at all: {part}" for part in self.never]
            problems = [FileProblem(0, message) for message in messages]
            raise FileError(path, problems, self.advice("allow the loss (allow_loss=True)"))

    def advice(self, allow: str) -> str:
        """Return the advice of the error message; `allow` is the option that permits losses."""
        return "save as .toml, which holds everything" + ("" if self.never else f", or {allow}")


def motor_losses(motor: Motor, whose: str) -> Iterator[str]:
    """Yield the losses of a format with symmetric friction at the joint and no other motor data."""
    up, down = motor.reflected_coulomb
    tests = {
        f"{whose} carrier": motor.carrier is not None,
        f"{whose} friction rule": motor.friction_rule != "reflected",
        f"{whose} transition speed": motor.transition_speed != 0,
        f"{whose} breakaway friction": motor.breakaway is not None,
        "its Coulomb friction by direction (the mean of both is written)": up != -down,
    }
    return (part for part, lost in tests.items() if lost)


def chain_losses(mechanism: Mechanism, holds: Collection[str]) -> Losses:
    """List the losses of a format with a serial chain of Denavit-Hartenberg rows.

    Parameters
    ----------
    mechanism : Mechanism
        What is to be written.
    holds : collection of str
        What it holds of ``name``, ``offset``, ``limits``, ``motor``, ``physical`` and ``gravity``.
    """
    losses = Losses()
    for k, link in enumerate(mechanism.links):
        rounded = link.dh_row is not None and link.moves and with_offset(link) is None
        parts = {
            "its name (only link1, link2, ... are implied)": "name" not in holds and link.name != f"link{k + 1}",
            "its offset (it cannot be added to theta or d without rounding)": "offset" not in holds and rounded,
            "the name of its joint": link.joint_name is not None,
            "its limits": "limits" not in holds and link.limits is not None,
            "its greatest speed": link.qd_max is not None,
            "its greatest acceleration": link.qdd_max is not None,
            "its greatest effort": link.tau_max is not None,
            "its mark physical=False": "physical" not in holds and not link.body.physical,
        }
        if link.motor is not None and "motor" not in holds:
            parts[f"its motor{rotor_text(link.motor)}"] = True
        elif link.motor is not None:
            parts["the rotor's body and where it is carried"] = link.motor.carrier is not None
        losses.lost += [f"link {link.name!r}: {part}" for part, lost in parts.items() if lost]
        if link.mimic is not None:
            losses.never.append(f"link {link.name!r}: its joint, which follows another")
    whole = {
        "its base (it is not the identity)": not np.array_equal(mechanism.base, np.eye(4)),
        "its tool (it is not the identity)": not np.array_equal(mechanism.tool, np.eye(4)),
        "its tool (it is not on the last link)": mechanism.tool_link is not None,
        "its payload": not mechanism.payload.is_zero,
        "its springs": bool(mechanism.springs),
    }
    losses.lost += [part for part, lost in whole.items() if lost]
    losses.lost += [f"its motor of {motor.joint!r}{rotor_text(motor)}" for motor in mechanism.motors]
    impossible = {
        "its branches (the links are not one chain in order)": mechanism.parents
        != tuple(range(-1, len(mechanism.links) - 1)),
        "its floating base": mechanism.floating,
        "its closed loops": bool(mechanism.loops),
    }
    losses.never += [part for part, there in impossible.items() if there]
    return losses


def rotor_text(motor: Motor) -> str:
    """Name the rotor data lost with a motor."""
    if motor.carrier is None:
        return ""
    carrier = repr(motor.carrier) if isinstance(motor.carrier, str) else f"link {motor.carrier} (from 0)"
    return f", whose rotor is carried by {carrier}" + ("" if motor.locked.is_zero else f" ({number(motor.mass)} kg)")


def with_offset(link: Link) -> float | None:
    """The parameter of a link's row that its joint varies, with the offset added; None where the sum would be rounded."""
    first, second = getattr(link.dh_row, str(link.joint_model.dh_parameter)), link.offset
    total = first + second
    exact = math.isfinite(total) and Fraction(first) + Fraction(second) == Fraction(total)
    return total if exact else None
