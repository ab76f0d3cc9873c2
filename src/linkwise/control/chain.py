"""The cyclic chain: a mechanism with constraints, limits and velocities, solved in each cycle of a control loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from linkwise.control import chain_file, state
from linkwise.control.constraints import ChainConstraint, Mistakes, known
from linkwise.control.cycle.kernels import parts_of
from linkwise.control.cycle.layout import JointValues, Layout
from linkwise.control.cycle.runner import Cycle
from linkwise.control.description import OWN_KEYS, ChainDescription, beginning, usual_routes
from linkwise.control.keep_clear import KeepClear, require_clear
from linkwise.control.links import DHLink, is_word, mechanism_of, port_values, stand_in, with_starting_dof
from linkwise.control.port import Value
from linkwise.control.ports import Ports
from linkwise.control.recording import Recorder
from linkwise.control.state import State
from linkwise.errors import ArgumentError, shown
from linkwise.mechanism import Mechanism
from linkwise.model.assembly import separated
from linkwise.model.tree import Tree
from linkwise.solve.constraints import Clear
from linkwise.spatial.scalar import FloatArray, is_number
from linkwise.spatial.validation import numbers


class Chain:
    """A kinematic chain inside a control loop.

    In each cycle, `step`, it reads its inputs, finds the joint values that meet all constraints within the limits, near to
    the joint values that came in, moves towards them no faster than the greatest speeds and accelerations allow, and gives
    out where the joints shall be now, where when the next cycle begins, and how fast they shall go. Every value is a port
    with a name: ``chain["tool.solved_position"]``.

    Parameters
    ----------
    mechanism : Mechanism or sequence of DHLink
        Links and joints; its loops are closed in every cycle. The start of the chain is its base. A list of `RevoluteLink`,
        `PrismaticLink` and `FixedLink` is made one, and its own theta, d and greatest speeds are the first values.
    constraints : ChainConstraint, Clear, or sequence of these, optional
        Constraints: `FixedPosition`, `FixedRotation`, `MovingPosition`, `Velocity`, `LoopClosure`,
        `DrivenJoint`; and `linkwise.Clear`, which stops the chain before its shapes touch each other, or obstacles that
        stand in the frame of its start.
    q0 : (nq,) array_like, optional
        Joint values at the beginning; zero, or the nearest value within the limits. Loops of the mechanism are closed from
        there.
    angles : {"xyz", "zyx"}
        What three angles mean: see `linkwise.control.angles_rotation`.
    starting_dof : {"x", "y", "z"}
        Along which axis of the start the axis of the first joint lies, where it is z by the mechanism's own account.
    ports : mapping of str to value, optional
        First values of inputs: ``{"tool.max_speed": 0.5}``. A joint value that is given is not routed.
    routes : mapping of str to str, optional
        Inputs that other ports feed, ``{"arm.theta": "arm.predicted_theta"}``; ``""`` for none. The theta or d of each joint
        is fed by its solved value unless stated otherwise.
    name : str, optional
        Name of the chain; that of the mechanism if left out.
    period : float, optional
        Period of a cycle, s, for what runs the chain at a rate.
    reference : str or Path, optional
        How a file may refer to the mechanism: its bundled name, or the file that it came from.

    Attributes
    ----------
    ports : Ports
        All values: read, write, route, list.
    mechanism : Mechanism
        The mechanism.
    constraints : tuple of ChainConstraint
        As given.

    Raises
    ------
    ArgumentError
        Naming everything that is wrong with it, a line each.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(
    ...     robots.puma560(), control.MovingPosition("target", "tool", [0.5, 0.2, 0.3]), q0=[0.1, 0.8, -3.0, 0.0, 0.5, 0.0]
    ... )
    >>> arm.step(0.01)
    True
    >>> arm["tool.solved_position"].round(9).tolist()
    [0.5, 0.2, 0.3]
    """

    def __init__(
        self,
        mechanism: Mechanism | Sequence[DHLink],
        constraints: ChainConstraint | Clear | Sequence[ChainConstraint | Clear] = (),
        *,
        q0: npt.ArrayLike | None = None,
        angles: str = "xyz",
        starting_dof: str = "z",
        ports: Mapping[str, Any] | None = None,
        routes: Mapping[str, str] | None = None,
        name: str | None = None,
        period: float | None = None,
        reference: str | Path | None = None,
    ) -> None:
        mistakes, first_values = Mistakes(), dict(ports or {})
        listed = (constraints,) if isinstance(constraints, (ChainConstraint, Clear)) else tuple(constraints)
        self.constraints = tuple(
            KeepClear(clear=constraint) if isinstance(constraint, Clear) else constraint for constraint in listed
        )
        sound = _valid_constraints(self.constraints, mistakes)
        self.angles = str(mistakes.take(known, angles))
        if not isinstance(mechanism, Tree):
            links = tuple(mechanism)
            built = mistakes.take(mechanism_of, links, name=name or "chain")
            other = stand_in(links) if built is None and all(isinstance(link, DHLink) for link in links) else None
            if built is None and other is None:
                mistakes.finish()
            mechanism, start = built or (cast("Mechanism", other), None)
            q0, first_values = (start if q0 is None else q0), {**port_values(links), **first_values}
        mechanism.require_numbers("a chain")
        mechanism = separated(mechanism)
        mechanism = mistakes.take(with_starting_dof, mechanism, starting_dof) or mechanism
        self.mechanism = mechanism
        self.name, self.period, self.reference = name or str(mechanism.name), period, reference
        if name is not None and not is_word(name):
            mistakes.note(f"name is {shown(name)}; expected a word")
        if period is not None and not (is_number(period) and 0.0 < period < LONGEST):
            mistakes.note(f"period is {shown(period)}; expected the seconds of a cycle, above 0, or None")
        begin = mistakes.take(_beginning, mechanism, q0)
        self.q0 = np.array(mechanism.neutral) if begin is None else begin
        layout = Layout.fitting(mechanism, sound, self.q0, mistakes)
        if layout is not None:
            _fill(layout, first_values, routes or {}, [constraint.name for constraint in sound], mistakes)
        mistakes.finish()
        self.layout = cast("Layout", layout)
        self.ports: Ports = self.layout.ports
        parts = parts_of(mechanism, self.constraints, self.angles)
        self._keeping = next((constraint for constraint in self.constraints if isinstance(constraint, KeepClear)), None)
        self._require_clear(self.q0)
        self._cycle = Cycle(parts, self.ports.inputs, self.ports.outputs, self.q0, self._keeping)
        self._joints = JointValues(self.layout)
        self._unsolved, self._time = (self.ports.view(f"chain.{port}") for port in ("unsolved", "time"))
        self._recorders: tuple[Recorder, ...] = ()
        self.reset()

    def __getitem__(self, name: str) -> Value:
        """The value of a port."""
        return self.ports.read(name)

    def __setitem__(self, name: str, value: Any) -> None:
        """Write an input."""
        self.ports.write(name, value)

    def __repr__(self) -> str:
        held = ", ".join(f"{c.name} ({c.kind})" for c in self.constraints) or "no constraint"
        joints = len(self.layout.joints) + len(self.layout.manifold_joints)
        return f"<Chain {self.mechanism.name}: {joints} joints, {held}, {len(self.ports)} ports>"

    @property
    def unsolved(self) -> bool:
        """True if the last cycle left a residual; the outputs then are the best admissible values."""
        return bool(self._unsolved)

    @property
    def reason(self) -> str:
        """Result of the last cycle: ``"converged"``, ``"unreachable"``, ``"limit"``, ``"iterations"`` or ``"input"``."""
        return str(self.ports.read("chain.reason"))

    def reset(self, q0: npt.ArrayLike | None = None) -> None:
        """Begin again, at rest: outputs, routed joint values and memory as before the first cycle; other inputs stay.

        The outputs then are those of the chain where it stands; `unsolved` is True where its constraints do not hold there.

        Parameters
        ----------
        q0 : (nq,) array_like, optional
            Joint values; those of the beginning if left out.

        Raises
        ------
        ArgumentError
            Where `q0` does not fit, or the chain keeps clear and would begin inside its margin; nothing is changed then.
        """
        begin = self.q0 if q0 is None else _beginning(self.mechanism, q0)
        self._require_clear(begin)
        self.q0 = begin
        for at in self.layout.variables:
            if at.value in self.ports.routes:
                self.ports.values[self.ports.slice_of(at.value)] = self.q0[at.q]
        self._cycle.reset(self.q0)
        self._restart()

    def step(self, dt: float) -> bool:
        """Run one cycle.

        Parameters
        ----------
        dt : float
            Length of the cycle that begins now, s. With 0, or below a nanosecond, nothing moves, and nothing is changed.

        Returns
        -------
        bool
            Whether it is solved: the opposite of `unsolved`.

        Raises
        ------
        ArgumentError
            Where dt is negative or no number; nothing has happened then.
        """
        if not is_number(dt) or not SHORTEST <= dt < LONGEST:
            if is_number(dt) and 0.0 <= dt < SHORTEST:
                return not self._unsolved
            raise ArgumentError(f"dt is {shown(dt)}; expected the seconds of a cycle, from 0 to {LONGEST:g}")
        self.ports.apply_routes()
        self._cycle.run(dt)
        for recorder in self._recorders:
            recorder.take(float(self._time), dt)
        return not self._unsolved

    @property
    def solved_q(self) -> FloatArray:
        """Solved joint values (nq,), in the order of ``mechanism.coordinate_names``: the positions for this cycle."""
        return self._joints.solved.copy()

    @property
    def predicted_q(self) -> FloatArray:
        """Predicted joint values (nq,), for the begin of the next cycle."""
        return self._joints.predicted.copy()

    @property
    def calculated_qd(self) -> FloatArray:
        """Joint velocities (nv,) until the next cycle, in the order of ``mechanism.velocity_names``."""
        return self._joints.speeds.copy()

    def feed(self, q: npt.ArrayLike, qd: npt.ArrayLike | None = None) -> None:
        """Write the values of all joints at the begin of the next cycle, as measured by encoders.

        Routes to them end, such as those from the solved values, which are there at first.

        Parameters
        ----------
        q : (nq,) array_like
            Joint values, rad or m, in the order of ``mechanism.coordinate_names``; where one is NaN the cycle takes the last
            good one, and says so; of a quaternion all four, where their length is not 1 to a hundredth.
        qd : (nv,) array_like, optional
            Speeds at which the joints are moved from outside, rad/s or m/s; they stay as they are where it is left out.

        Raises
        ------
        ArgumentError
            Where a shape is another one; nothing is changed then.

        Examples
        --------
        >>> from linkwise import control, robots
        >>> arm = control.Chain(robots.planar_2r())
        >>> arm.feed([0.1, 0.2])
        >>> arm.step(0.01), arm.solved_q.tolist()
        (True, [0.1, 0.2])
        """
        self._joints.feed(self.ports, q, qd)

    def save(self) -> State:
        """Copy the complete state as a `State` that can be written to a file."""
        return state.save(self.ports, self._cycle.memory, self._settings)

    def restore(self, saved: State) -> None:
        """Go on from a state, to the bit; nothing is changed where it is refused.

        Raises
        ------
        ArgumentError
            Where it is of another chain.
        """
        state.restore(self.ports, self._cycle.memory, saved, self._settings)
        self._restart()

    def _restart(self) -> None:
        """Clear the recorders, whose data do not lead to the new state of the chain."""
        for recorder in self._recorders:
            if recorder.paused:
                recorder.take(float(self._time), 0.0)  # counted as a skipped cycle, so that the recording ends here
            else:
                recorder.clear(start=self.save())

    def record(self, length: int, names: str | Sequence[str] | None = None, *, every: int = 1) -> Recorder:
        """Keep the last cycles from now on.

        Parameters
        ----------
        length, names, every
            See `Recorder`.

        Returns
        -------
        Recorder
            ``recorder.read(name)``, ``recorder.write(path)``; `stop_recording` ends it.
        """
        recorder = Recorder(self.ports, length, names, every=every, start=self.save(), carry=self._cycle.memory)
        self._recorders = (*self._recorders, recorder)
        return recorder

    def stop_recording(self, recorder: Recorder) -> None:
        """Detach a recorder, which keeps its data."""
        self._recorders = tuple(other for other in self._recorders if other is not recorder)

    def description(self) -> ChainDescription:
        """Describe the chain for a file: present inputs and routes, and the initial position."""
        return description_of(self, name=self.name, period=self.period, reference=self.reference)

    def write(self, path: str | Path) -> None:
        """Write its `description` to a .toml file, from which `load` makes it again."""
        chain_file.write(self.description(), path)

    def _require_clear(self, q0: FloatArray) -> None:
        """Reject an initial position without clearance, by the margin at the port."""
        keeping = self._keeping
        if keeping is not None and self.ports.read(f"{keeping.name}.enabled"):
            require_clear(keeping, self.mechanism, q0, float(self.ports.read(f"{keeping.name}.margin")))

    @property
    def _settings(self) -> dict[str, Any]:
        """Settings that must agree with those of a state, besides the ports."""
        return {"mechanism": str(self.mechanism.name), "angles": self.angles, "cycle": self._cycle.parts.digest}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the chain with its state, without recorders."""
        settings = {key: getattr(self, key) for key in ("q0", "angles", "name", "period", "reference")}
        return partial(Chain, self.mechanism, self.constraints, **settings), (), self.save()

    def __setstate__(self, saved: State) -> None:
        self.restore(saved)


def _valid_constraints(constraints: Sequence[Any], mistakes: Mistakes) -> list[ChainConstraint]:
    """Select valid constraints; record an error for each other item."""
    for constraint in constraints:
        if not isinstance(constraint, ChainConstraint):
            mistakes.note(
                f"constraints contain {shown(constraint)}; expected FixedPosition, FixedRotation, MovingPosition, "
                "Velocity, LoopClosure or DrivenJoint"
            )
    return [constraint for constraint in constraints if isinstance(constraint, ChainConstraint)]


def _fill(
    layout: Layout, values: Mapping[str, Any], routes: Mapping[str, str], constraints: Sequence[str], mistakes: Mistakes
) -> None:
    """Write initial values of inputs and connect routes; errors are recorded, except for ports of invalid constraints."""
    ports = layout.ports
    lost = set(constraints) - {constraint.name for constraint in layout.constraints}
    fed = usual_routes(layout)
    known: dict[str, Any] = {}
    for name, value in values.items():
        port = None if _entity(name) in lost else mistakes.take(ports.__getitem__, name)
        if port is not None:
            known[port.name] = value
    fed = {target: source for target, source in fed.items() if target not in known}
    for name, source in routes.items():
        if not {_entity(name), _entity(source)} & lost:
            port = mistakes.take(ports.__getitem__, name)
            if port is not None:
                fed[port.name] = source
    for target, source in fed.items():
        if source:
            mistakes.take(ports.route, source, target)
    for name, value in known.items():
        mistakes.take(ports.write, name, value)


def _entity(port: object) -> str:
    """Owner of a port, by its name."""
    return str(port).partition(".")[0]


#: No cycle is shorter than this, or as long as that, s.
SHORTEST, LONGEST = 1e-9, 1e6


def _beginning(mechanism: Mechanism, q0: npt.ArrayLike | None) -> FloatArray:
    """Joint values to begin with, within the limits, with the loops of the mechanism closed."""
    start = np.array(mechanism.neutral) if q0 is None else numbers("q0", q0)
    if start.shape != (mechanism.nq,):
        names = f", nq = {mechanism.nq}: {', '.join(mechanism.coordinate_names)}" if mechanism.manifold_joints else ""
        raise ArgumentError(f"q0 has the shape {start.shape}; expected ({mechanism.nq},){names}")
    start = beginning(mechanism, start)
    if not mechanism.loops:
        return start
    closed = mechanism.solve([], q0=start)
    if not closed.success:
        raise ArgumentError(f"the loops of {mechanism.name!r} do not close from q0: {closed.explain()}")
    return np.asarray(closed.q)


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
    return Chain(
        description.mechanism,
        description.built,
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
        The chain. The inputs that differ from their initial values are included, except NaN.
    name : str, optional
        Name of the chain; that of its mechanism where it is left out.
    period, reference
        See `ChainDescription`.

    """
    ports = chain.ports
    usual = usual_routes(chain.layout)
    routes = {target: source for target, source in ports.routes.items() if usual.get(target) != source}
    fresh = Layout(chain.mechanism, chain.constraints, chain.q0).ports
    rows = tuple(_row(item, ports, fresh) for item in chain.constraints if not isinstance(item, KeepClear))
    keeping = [_keeping(item, ports) for item in chain.constraints if isinstance(item, KeepClear)]
    inputs = [f"{item.name}.{quantity}" for item in (*rows, *keeping) for quantity in item.inputs]
    return ChainDescription(
        name=name or chain.mechanism.name,
        mechanism=chain.mechanism,
        q0=chain.q0,
        constraints=rows,
        clear=keeping[0] if keeping else None,
        values=_values(ports, fresh, inputs),
        routes=routes | {target: "" for target in usual if target not in ports.routes},
        angles=chain.angles,
        period=period,
        reference=reference,
        **{key: ports.read(f"chain.{key}") for key in OWN_KEYS},  # type: ignore[arg-type]
    )


def _values(ports: Ports, fresh: Ports, held: Iterable[str]) -> dict[str, Any]:
    """Inputs that differ from their initial values and that no other field of a description contains."""
    covered = {*held, *(f"chain.{key}" for key in OWN_KEYS), *ports.routes}
    inputs = (name for name, port in ports.items() if port.direction == "in" and name not in covered)
    return {name: ports.read(name) for name in inputs if _changed(ports, fresh, name)}


def _changed(ports: Ports, fresh: Ports, name: str) -> bool:
    """True if an input differs from its initial value."""
    now = ports.view(name)
    return not np.isnan(now).any() and not np.array_equal(now, fresh.view(name))


def _keeping(constraint: KeepClear, ports: Ports) -> KeepClear:
    """The same with the margin and the switch that its ports have now."""
    enabled, margin = bool(ports.read(f"{constraint.name}.enabled")), float(ports.read(f"{constraint.name}.margin"))
    return replace(constraint, enabled=enabled, clear=constraint.clear.with_margin(margin))


def _row(constraint: ChainConstraint, ports: Ports, fresh: Ports) -> ChainConstraint:
    """Copy the constraint with the present values of its ports, where these are numbers."""
    names = {quantity: f"{constraint.name}.{quantity}" for quantity in constraint.inputs}
    now: dict[str, Any] = {quantity: ports.read(name) for quantity, name in names.items() if _changed(ports, fresh, name)}
    return replace(constraint, **now)
