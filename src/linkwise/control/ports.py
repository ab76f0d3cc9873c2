"""All ports of a chain over one vector of numbers: access, routes and tables by name."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from linkwise.control.port import Port, Value
from linkwise.control.signal import Channel
from linkwise.errors import ArgumentError, shown, suggestion
from linkwise.spatial.scalar import FloatArray


class UnknownPortError(ArgumentError, KeyError):
    """Unknown name of a port."""

    __str__ = Exception.__str__


class Ports:
    """The ports of a chain by name, and their values in one vector of float64, inputs first.

    ``ports[name]`` is a `Port`; ``name in ports``, ``len(ports)``, ``list(ports)``, ``ports.keys()`` and ``ports.items()``
    are as of a dict; ``ports.values`` is the vector.

    Parameters
    ----------
    ports : sequence of Port
        In any order; inputs, and outputs, stay in the order given.
    aliases : mapping of str to str, optional
        Other names of ports, each with the port's own. Whatever takes a name takes these too; lists show the port's own.

    Raises
    ------
    ArgumentError
        Where two have one name.

    Examples
    --------
    >>> ports = Ports([
    ...     Port("arm.theta_solved", "out", unit="rad"),
    ...     Port("arm.theta", "in", unit="rad", finite=False),
    ...     Port("target.position", "in", shape=(3,), unit="m"),
    ... ])
    >>> ports.write("target.position", [0.1, 0.2, 0.3])
    >>> ports.values
    array([0. , 0.1, 0.2, 0.3, 0. ])
    >>> ports.route("arm.theta_solved", "arm.theta")
    >>> ports.outputs[0] = 0.5  # as a cycle does
    >>> ports.apply_routes()
    >>> ports.read("arm.theta")
    0.5
    """

    def __init__(self, ports: Sequence[Port], aliases: Mapping[str, str] | None = None) -> None:
        ordered = [port for direction in ("in", "out") for port in ports if port.direction == direction]
        self._ports = {port.name: port for port in ordered}
        if len(self._ports) < len(ordered):
            names = [port.name for port in ordered]
            twice = next(name for name in names if names.count(name) > 1)
            raise ArgumentError(f"two ports are called {twice!r}; expected a name each")
        ends = np.cumsum([0, *(port.size for port in ordered)]).tolist()
        self._slices = {port.name: slice(*ends[k : k + 2]) for k, port in enumerate(ordered)}
        self._aliases = {alias: name for alias, name in (aliases or {}).items() if alias not in self._ports}
        self._values = np.zeros(ends[-1])
        inputs = ends[sum(port.direction == "in" for port in ordered)]
        self._inputs, self._outputs = self._values[:inputs], self._values[inputs:]
        self._floats = {p.name: self._slices[p.name].start for p in ordered if p.kind == "float" and not p.shape}
        self._floats |= {alias: self._floats[name] for alias, name in self._aliases.items() if name in self._floats}
        self._routes: dict[str, str] = {}
        self._copies = Copies(self._values, [])
        self._channels = tuple(Channel.of(port) for port in ordered)
        self.reset()

    def __getitem__(self, name: str) -> Port:
        """The port of a name; `UnknownPortError` lists similar names."""
        return self._ports[self._canonical(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._ports or name in self._aliases

    def __iter__(self) -> Iterator[str]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def __repr__(self) -> str:
        inputs = sum(port.direction == "in" for port in self._ports.values())
        return f"<Ports: {inputs} in, {len(self) - inputs} out, {len(self._values)} numbers, {len(self._routes)} routed>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the ports with a copy of the vector, to which the views refer."""
        return _rebuilt, (tuple(self._ports.values()), self._values.copy(), self._routes, self._aliases)

    def keys(self) -> KeysView[str]:
        """All names, in the order of `values`."""
        return self._ports.keys()

    def items(self) -> ItemsView[str, Port]:
        """All names with their ports, in the order of `values`."""
        return self._ports.items()

    @property
    def values(self) -> FloatArray:
        """All numbers (N,), the inputs first: the vector itself, which a cycle reads and writes in place."""
        return self._values

    @property
    def inputs(self) -> FloatArray:
        """The numbers of the inputs: a view of the first part of `values`."""
        return self._inputs

    @property
    def outputs(self) -> FloatArray:
        """The numbers of the outputs: a view of the other part of `values`."""
        return self._outputs

    def slice_of(self, name: str) -> slice:
        """Slice of a port in `values`."""
        return self._slices[self._canonical(name)]

    def view(self, name: str) -> FloatArray:
        """View of a port's numbers in its shape; read-only for outputs.

        What is written to the view of an input is not checked; where the input is routed, the next cycle overwrites it.
        """
        port = self[name]
        seen = self._values[self._slices[port.name]].reshape(port.shape)
        seen.flags.writeable = port.direction == "in"
        return seen

    def read(self, name: str) -> Value:
        """Value of a port: a float, int, bool or str, or a new array."""
        if isinstance(name, str) and (place := self._floats.get(name)) is not None:
            return float(self._values.item(place))
        return self[name].decode(self.view(name))

    def write(self, name: str, value: Any) -> None:
        """Give an input a value.

        Raises
        ------
        ArgumentError
            Where there is no such port, it is an output, it is fed by another port, or it does not take the value; nothing
            is changed then.
        """
        port = self[name]
        if port.direction == "out":
            raise ArgumentError(f"port {name!r} is an output, which only the cycle writes; write an input")
        if port.name in self._routes:
            source = self._routes[port.name]
            raise ArgumentError(f"port {name!r} is fed by {source!r}; unroute({name!r}) before it is written")
        numbers = port.check(value)
        self._values[self._slices[port.name]] = numbers.ravel() if port.shape else numbers

    def reset(self) -> None:
        """Give every port its initial value. Routes stay."""
        for name, port in self._ports.items():
            self._values[self._slices[name]] = port.check(port.initial).ravel()

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Description of the numbers in `values`: name, kind, shape, unit, words and direction of each port, in order."""
        return self._channels

    @property
    def routes(self) -> dict[str, str]:
        """The routed inputs, each with the port that feeds it."""
        return dict(self._routes)

    @property
    def routed(self) -> KeysView[str]:
        """The routed inputs."""
        return self._routes.keys()

    @property
    def routing(self) -> object:
        """Identity of the routes: another object after each change."""
        return self._copies

    def route(self, source: str, target: str) -> None:
        """Feed an input from a port at the start of every cycle, instead of writing it.

        A port may feed many; an input has one source. A value that is out of the target's bounds is not passed on: the
        target then keeps what it has, and `held` names it. Where the source's own bounds are narrower, nothing is checked.

        Raises
        ------
        ArgumentError
            Where there is no such port, the target is no input, it has another source or is its own, or the two differ in
            kind, shape, unit or words.
        """
        source, target = self._canonical(source), self._canonical(target)
        self._check_route(source, target)
        if self._routes.get(target, source) != source:
            fed = self._routes[target]
            raise ArgumentError(f"port {target!r} is fed by {fed!r}; unroute({target!r}) before it is routed anew")
        self._routes[target] = source
        self._plan()

    def unroute(self, target: str) -> None:
        """Feed an input no more; it keeps the value that it has.

        Raises
        ------
        ArgumentError
            Where there is no such port, or nothing feeds it.
        """
        name = self._canonical(target)
        if name not in self._routes:
            raise ArgumentError(
                f"port {target!r} is not routed; the routed ones are {', '.join(map(repr, self._routes)) or '(none)'}"
            )
        del self._routes[name]
        self._plan()

    def reroute(self, routes: Mapping[str, str]) -> None:
        """Take the place of all routes: the routed inputs, each with the port that feeds it.

        Raises
        ------
        ArgumentError
            As of `route`; nothing is changed then.
        """
        routes = {self._canonical(target): self._canonical(source) for target, source in routes.items()}
        if self._routes == routes:
            return
        for target, source in routes.items():
            self._check_route(source, target)
        self._routes = dict(routes)
        self._plan()

    def apply_routes(self) -> None:
        """Copy every source to its targets; all are read before one is written. A cycle does so at its start."""
        self._copies.run()

    @property
    def held(self) -> tuple[str, ...]:
        """Routed inputs that kept their last value because the source was out of their bounds."""
        targets = tuple(self._routes)
        return tuple(targets[k] for k in self._copies.refused())

    def find(self, *patterns: str) -> tuple[str, ...]:
        """Names that are given or that match a pattern with ``*``, ``?`` and ``[...]``, in the order of `values`.

        Raises
        ------
        ArgumentError
            Where nothing fits one of them.

        Examples
        --------
        >>> ports = Ports([Port("arm.theta", "in"), Port("arm.theta_solved", "out"), Port("tool.max_speed", "in")])
        >>> ports.find("arm.*", "tool.max_speed")
        ('arm.theta', 'tool.max_speed', 'arm.theta_solved')
        """
        names: set[str] = set()
        for pattern in patterns:
            fits = self._fitting(pattern)
            names.update(fits or self._unknown(pattern))
        return tuple(name for name in self._ports if name in names)

    def table(self, *patterns: str) -> str:
        """All ports, or those of `find`, as a text table: name, direction, kind, unit, value and source.

        Examples
        --------
        >>> print(Ports([Port("arm.theta", "in", unit="rad", initial=0.5), Port("chain.unsolved", "out", "bool")]).table())
        port            way  kind   unit  value  from
        arm.theta       in   float  rad   0.5
        chain.unsolved  out  bool         False
        """
        return table(self, self.find(*patterns) if patterns else tuple(self))

    def _check_route(self, source: str, target: str) -> None:
        giving, taking = self[source], self[target]
        if taking.direction == "out":
            raise ArgumentError(f"port {target!r} is an output, which nothing can feed; route to an input")
        if source == target:
            raise ArgumentError(f"port {target!r} cannot feed itself; route another port to it")
        for field in ("kind", "shape", "unit", "choices"):
            there, here = getattr(giving, field), getattr(taking, field)
            if there != here:
                differing = f"{field} is {shown(there)} there and {shown(here)} here"
                raise ArgumentError(f"port {source!r} cannot feed {target!r}: {differing}")

    def _plan(self) -> None:
        self._copies = Copies(self._values, [self._place(source, target) for target, source in self._routes.items()])

    def _place(self, source: str, target: str) -> Place:
        within, bounds = self._ports[source].interval, self._ports[target].interval
        sure = bounds is None or (within is not None and bounds[0] <= within[0] and within[1] <= bounds[1])
        return Place(self._slices[source], self._slices[target], None if sure else bounds)

    def _fitting(self, pattern: object) -> list[str]:
        if not isinstance(pattern, str):
            return []
        if pattern in self:
            return [self._canonical(pattern)]
        named = {**{name: name for name in self._ports}, **self._aliases}
        return [name for alias, name in named.items() if fnmatch.fnmatchcase(alias, pattern)]

    def _canonical(self, name: object) -> str:
        """The own name of a port, for that or another one of it; `UnknownPortError` lists similar names."""
        if isinstance(name, str):
            if name in self._ports:
                return name
            if name in self._aliases:
                return self._aliases[name]
        return self._unknown(name)

    def _unknown(self, name: object) -> NoReturn:
        """Refuse a name, listing similar ones."""
        there = [*self._ports, *self._aliases]
        guess = suggestion(name[:100], there, most=3, limit=len(there)) if isinstance(name, str) else ""
        some = ", ".join(map(repr, list(self._ports)[:8]))
        more = f", ... ({len(self)} ports)" if len(self) > 8 else ""
        raise UnknownPortError(f"there is no port {shown(name)}{guess}; the ports are {some or '(none)'}{more}")


def _rebuilt(
    ports: tuple[Port, ...], values: FloatArray, routes: Mapping[str, str], aliases: Mapping[str, str] | None = None
) -> Ports:
    copy = Ports(ports, aliases)
    copy.values[...] = values
    copy.reroute(routes)
    return copy


Indices = npt.NDArray[np.intp]


class Place(NamedTuple):
    """Source and target of a copied number, and its bounds; None without bounds."""

    source: slice
    target: slice
    interval: tuple[float, float] | None


class Copies:
    """Copies in one vector; every number is read before any is written, so that their order does not matter.

    A number out of bounds is not copied: what stood at its target stays.

    Parameters
    ----------
    values : ndarray, shape (N,)
        The vector, read and written in place.
    places : sequence of Place
        What is copied.

    Attributes
    ----------
    run : callable
        Copies once. Nothing that it makes outlives the call.
    """

    def __init__(self, values: FloatArray, places: Sequence[Place]) -> None:
        self.run: Callable[[], None] = _nothing
        self._order = sorted(range(len(places)), key=lambda k: places[k].interval is None)  # those with bounds first
        self._sizes = [places[k].target.stop - places[k].target.start for k in self._order]
        self._fits = np.ones(0, dtype=np.bool_)
        if not places:
            return
        sources = _indices([places[k].source for k in self._order])
        targets = _indices([places[k].target for k in self._order])
        bounds = [interval for k in self._order if (interval := places[k].interval)]
        if bounds:
            low, high = (np.repeat([pair[end] for pair in bounds], self._sizes[: len(bounds)]) for end in (0, 1))
            self.run, self._fits = _guarded(values, sources, targets, low, high)
        elif (np.diff(sources) == 1).all() and (np.diff(targets) == 1).all():
            self.run = _block(values, sources, targets)
        else:
            self.run = _scattered(values, sources, targets)

    def refused(self) -> list[int]:
        """Places that were not fully copied the last time, as a number was out of bounds."""
        wrong = ~self._fits.all(axis=0) if self._fits.size else np.zeros(0, dtype=np.bool_)
        which = np.searchsorted(np.cumsum(self._sizes), np.flatnonzero(wrong), side="right")
        return sorted({self._order[k] for k in which})


def _nothing() -> None:
    pass


def _block(values: FloatArray, sources: Indices, targets: Indices) -> Callable[[], None]:
    """Copy one run of numbers to another; NumPy handles overlaps."""
    source, target = (values[at[0] : at[-1] + 1] for at in (sources, targets))

    def run() -> None:
        target[...] = source

    return run


def _scattered(values: FloatArray, sources: Indices, targets: Indices) -> Callable[[], None]:
    """Numbers from anywhere to anywhere: gathered first; mode "clip" because "raise" would copy the buffer."""
    fresh, gather = np.empty(len(sources)), values.take

    def run() -> None:
        gather(sources, 0, fresh, "clip")
        values[targets] = fresh

    return run


def _guarded(
    values: FloatArray, sources: Indices, targets: Indices, low: FloatArray, high: FloatArray
) -> tuple[Callable[[], None], npt.NDArray[np.bool_]]:
    """The same, but the first numbers only where they are between bounds; beside it, which of them were, by either bound.

    The comparisons are written into bytes, which Python searches for a zero far sooner than NumPy does.
    """
    fresh, kept, gather = np.empty(len(sources)), np.empty(len(low)), values.take
    looked, behind = fresh[: len(low)], targets[: len(low)]
    flags = bytearray(b"\1" * (2 * len(low)))
    fits = np.frombuffer(flags, dtype=np.bool_).reshape(2, len(low))
    above, below = fits
    at_least, at_most = np.greater_equal, np.less_equal

    def run() -> None:
        gather(sources, 0, fresh, "clip")
        at_least(looked, low, above)
        at_most(looked, high, below)
        if 0 in flags:
            gather(behind, 0, kept, "clip")
            np.copyto(looked, kept, where=~(above & below))
        values[targets] = fresh

    return run, fits


def _indices(places: Sequence[slice]) -> Indices:
    return np.concatenate([np.arange(place.start, place.stop, dtype=np.intp) for place in places])


HEADS = ("port", "way", "kind", "unit", "value", "from")


def table(ports: Ports, names: Sequence[str]) -> str:
    """A line for each port: name, direction, kind, unit, value and the port that feeds it."""
    sources = ports.routes
    rows = [HEADS, *(_row(ports, name, sources.get(name, "")) for name in names)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(ports: Ports, name: str, source: str) -> tuple[str, str, str, str, str, str]:
    port, value = ports[name], ports.read(name)
    unit = "" if port.unit == "1" else port.unit
    text = _array(value) if isinstance(value, np.ndarray) else str(value)
    return name, port.direction, port.kind, unit, text, source


def _array(value: npt.NDArray[Any]) -> str:
    """Format a vector with six digits, a matrix by rows with three, rounding errors of zero as zero."""
    if value.ndim == 1:
        return np.array2string(value, separator=" ", precision=6)
    rows = ["[" + " ".join(f"{round(number, 9) + 0.0:.3g}" for number in row) + "]" for row in value.tolist()]
    return "[" + " ".join(rows) + "]"
