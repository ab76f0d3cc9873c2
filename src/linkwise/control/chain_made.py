"""From the description of a chain to the chain, and from a chain to its description."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.control import chain_file
from linkwise.control.chain_checks import OWN_KEYS, joints_of
from linkwise.control.chain_description import ChainDescription, ConstraintRow
from linkwise.control.constraints import ChainConstraint
from linkwise.control.cycle.layout import Layout
from linkwise.control.ports import Ports

if TYPE_CHECKING:
    from linkwise.control.chain import Chain


def load(path: str | Path, *, xacro: Mapping[str, str] | None = None) -> Chain:
    """Make a chain from its file.

    Parameters
    ----------
    path : str or Path
        A .toml file: docs/file-formats.md describes it.
    xacro : mapping of str to str, optional
        Arguments with which the mechanism that it refers to is expanded where it is a .xacro file, be they none; without
        them such a file is refused, for expanding it runs the expressions in it and reads whatever it includes.

    Raises
    ------
    FileError
        With everything that is wrong in it, each with its line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import control, robots
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chain.toml"
    >>> arm = control.Chain(robots.planar_2r(), control.FixedPosition("hold", "tool", [1.0, 1.0, 0.0]), q0=[0.1, 1.4])
    >>> arm.write(path)
    >>> load(path).step(0.01)
    True
    """
    return chain_of(chain_file.read(path, xacro=xacro))


def chain_of(description: ChainDescription) -> Chain:
    """The chain that a description is of, before its first cycle."""
    from linkwise.control.chain import Chain

    rows = [row.made() for row in description.constraints]
    return Chain(
        description.mechanism,
        rows,
        q0=description.q0,
        angles=description.angles,
        ports=description.ports,
        routes=description.routes,
        name=description.name,
        period=description.period,
        reference=description.reference,
    )


def description_of(
    chain: Chain, *, name: str | None = None, period: float | None = None, reference: str | Path | None = None
) -> ChainDescription:
    """The description of a chain with the inputs and routes that it has now; it begins where the chain began.

    Parameters
    ----------
    chain : Chain
        The chain. Of its inputs those are said that differ from what they would be at first; NaN is not said.
    name : str, optional
        Of the chain; that of its mechanism where it is left out.
    period, reference
        See `ChainDescription`.
    """
    ports = chain.ports
    usual = {f"{link}.{free}": f"{link}.{free}_solved" for link, free in joints_of(chain.mechanism).items()}
    routes = {target: source for target, source in ports.routes.items() if usual.get(target) != source}
    fresh = Layout(chain.mechanism, chain.constraints, chain.q0).ports
    rows = tuple(_row(constraint, ports, fresh) for constraint in chain.constraints)
    return ChainDescription(
        name=name or chain.mechanism.name,
        mechanism=chain.mechanism,
        q0=chain.q0,
        constraints=rows,
        values=_values(ports, fresh, rows),
        routes=routes | {target: "" for target in usual if target not in ports.routes},
        angles=chain.angles,
        period=period,
        reference=reference,
        **{key: ports.read(f"chain.{key}") for key in OWN_KEYS},  # type: ignore[arg-type]
    )


def _values(ports: Ports, fresh: Ports, rows: tuple[ConstraintRow, ...]) -> dict[str, Any]:
    """The inputs that are other numbers than at first, as far as no field of a description says them."""
    own = {f"{row.name}.{what}" for row in rows for what in row.inputs} | {f"chain.{key}" for key in OWN_KEYS}
    own |= ports.routes.keys()
    inputs = (name for name, port in ports.items() if port.direction == "in" and name not in own)
    return {name: ports.read(name) for name in inputs if _changed(ports, fresh, name)}


def _changed(ports: Ports, fresh: Ports, name: str) -> bool:
    """Whether an input is another number than at first."""
    now = ports.view(name)
    return not np.isnan(now).any() and not np.array_equal(now, fresh.view(name))


def _row(constraint: ChainConstraint, ports: Ports, fresh: Ports) -> ConstraintRow:
    """The row of a constraint with the values that its ports have now, as far as they are numbers."""
    row = ConstraintRow.of(constraint)
    names = {what: f"{row.name}.{what}" for what in row.inputs}
    now = {what: ports.read(name) for what, name in names.items() if _changed(ports, fresh, name)}
    return ConstraintRow(**{**row.fields, **now})
