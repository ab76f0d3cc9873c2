"""Options of `derive` and `export` that replace numbers by symbols."""

from __future__ import annotations

from linkwise.cli.command import Options, option
from linkwise.mechanism import Mechanism

SYMBOL_OPTIONS = (
    option("--symbols", metavar="KINDS", help="Numbers that become symbols: inertial, lengths, gravity, motors."),
    option("--zeros", is_flag=True, help="With --symbols: inertial and motor parameters that are 0 become symbols too."),
    option("--no-motors", is_flag=True, help="Leave out rotor inertias and friction."),
)


def symbolic(mechanism: Mechanism, options: Options) -> tuple[Mechanism, dict[str, float]]:
    """The mechanism without motors and with symbols according to the options, and the values of the symbols."""
    if options.no_motors:
        links = [link.replace(motor=None) if link.motor is not None else link for link in mechanism.links]
        mechanism = mechanism.replace(motors=(), links=links)
    if not options.symbols:
        return mechanism, {}
    kinds = [kind.strip() for kind in options.symbols.split(",") if kind.strip()]
    return mechanism.symbolic(*kinds, zeros=options.zeros), mechanism.symbol_values(*kinds, zeros=options.zeros)
