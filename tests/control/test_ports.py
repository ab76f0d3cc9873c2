"""All ports of a chain: one vector, read and written by name, and copied by routes."""

import copy
import pickle
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.control.port import Port
from linkwise.control.ports import Ports, UnknownPortError
from linkwise.errors import ArgumentError

NAN = float("nan")


def arm() -> Ports:
    return Ports(
        [
            Port("link1.theta_solved", "out", unit="rad"),
            Port("link1.theta", "in", unit="rad", finite=False),
            Port("target.position", "in", shape=(3,), unit="m", initial=(1, 2, 3)),
            Port("tool.position", "out", shape=(3,), unit="m"),
            Port("chain.limit", "in", "int", initial=100, least=1),
            Port("chain.unsolved", "out", "bool", initial=True),
            Port("target.enabled", "in", "bool"),
            Port("tool.rotation_matrix", "out", shape=(3, 3), initial=np.eye(3)),
            Port("chain.reason", "out", "choice", choices=("solved", "limited")),
            Port("tool.max_speed", "in", unit="m/s", initial=2.0, positive=True, finite=False),
            Port("joystick.speed", "in", unit="m/s", finite=False),
        ]
    )


def test_inputs_stand_first_in_one_vector() -> None:
    ports = arm()
    names = ["link1.theta", "target.position", "chain.limit", "target.enabled", "tool.max_speed", "joystick.speed"]
    assert list(ports)[:6] == names
    assert list(ports.keys()) == list(ports) == [name for name, _ in ports.items()]
    assert ports.values.tolist() == [0.0, 1.0, 2.0, 3.0, 100.0, 0.0, 2.0, 0.0] + [0.0] * 4 + [1.0] + np.eye(
        3
    ).ravel().tolist() + [0.0]
    assert np.array_equal(np.concatenate([ports.inputs, ports.outputs]), ports.values)
    assert np.shares_memory(ports.inputs, ports.values)
    assert np.shares_memory(ports.outputs, ports.values)
    at = 0
    for name, port in ports.items():
        assert ports.slice_of(name) == slice(at, at + port.size)
        at += port.size
    assert at == len(ports.values)
    assert len(ports) == 11
    assert "tool.position" in ports
    assert "tool.positio" not in ports
    assert dict(ports)["chain.limit"] is ports["chain.limit"]
    assert repr(ports) == "<Ports: 6 in, 5 out, 23 numbers, 0 routed>"


def test_every_kind_is_read_as_what_it_is() -> None:
    ports = arm()
    read = {name: ports.read(name) for name in ports}
    assert (read["chain.limit"], read["chain.unsolved"], read["chain.reason"]) == (100, True, "solved")
    assert [type(read[name]) for name in ("link1.theta", "chain.limit", "target.enabled")] == [float, int, bool]
    assert np.array_equal(read["tool.rotation_matrix"], np.eye(3))


def test_what_is_read_is_a_copy_and_what_is_viewed_is_not() -> None:
    ports = arm()
    copy, view = ports.read("target.position"), ports.view("target.position")
    view[1] = 7.0
    assert np.array_equal(copy, [1, 2, 3])
    assert np.array_equal(ports.read("target.position"), [1, 7, 3])
    turn = ports.view("tool.rotation_matrix")
    with pytest.raises(ValueError, match="read-only"):
        turn[0, 0] = 2.0
    ports.outputs[:] = 5.0
    assert np.array_equal(turn, np.full((3, 3), 5.0))
    scalar = ports.view("link1.theta")
    scalar[...] = 0.25
    assert scalar.shape == ()
    assert ports.read("link1.theta") == 0.25


def test_what_is_written_stands_there() -> None:
    ports = arm()
    given_array = np.array([4.0, 5.0, 6.0])
    ports.write("target.position", given_array)
    given_array[0] = 9.0
    ports.write("link1.theta", NAN)
    ports.write("target.enabled", True)
    assert np.array_equal(ports.inputs, [NAN, 4, 5, 6, 100, 1, 2, 0], equal_nan=True)
    ports.reset()
    assert np.array_equal(ports.values, arm().values)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tool.positon", [0, 0, 0], "there is no port 'tool.positon' (did you mean 'tool.position'"),
        ("q", 1.0, "there is no port 'q'; the ports are 'link1.theta', 'target.position', "),
        (3, 1.0, "there is no port 3; the ports are 'link1.theta'"),
        (["tool.position"], 1.0, "there is no port ['tool.position']; the ports are"),
        ("tool.position", [0, 0, 0], "port 'tool.position' is an output, which only the cycle writes; write an input"),
        ("target.position", [0, 0], "port 'target.position' is given the shape (2,)"),
        ("tool.max_speed", -1.0, "port 'tool.max_speed' is given -1.0; expected a number above 0, in m/s"),
    ],
)
def test_what_cannot_be_written(name: Any, value: Any, message: str) -> None:
    ports = arm()
    before = ports.values.copy()
    with pytest.raises(ArgumentError) as caught:
        ports.write(name, value)
    assert str(caught.value).startswith(message)
    assert np.array_equal(ports.values, before)


def test_a_port_that_there_is_not_is_a_missing_key_too() -> None:
    ports = arm()
    for call in (ports.__getitem__, ports.read, ports.view, ports.slice_of, ports.unroute, ports.find, ports.table):
        with pytest.raises(UnknownPortError) as caught:
            call("tool.posision")
        assert isinstance(caught.value, KeyError)
        assert isinstance(caught.value, ArgumentError)
        assert str(caught.value).startswith("there is no port 'tool.posision' (did you mean 'tool.position'")
    with pytest.raises(UnknownPortError, match=r"\(11 ports\)$"):
        ports.read("nothing.like_it")


def test_names_are_given_once() -> None:
    with pytest.raises(ArgumentError, match=r"ports.*called.*'a\.b'"):
        Ports([Port("a.b", "in"), Port("a.c", "in"), Port("a.b", "out")])


def test_no_ports_at_all() -> None:
    ports = Ports([])
    assert (len(ports), ports.values.shape, ports.table()) == (0, (0,), "port  way  kind  unit  value  from")
    with pytest.raises(UnknownPortError, match=r"the ports are \(none\)"):
        ports.read("a.b")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda ports: pickle.loads(pickle.dumps(ports))])
def test_a_copy_stands_on_its_own(copied: Any) -> None:
    ports = arm()
    ports.route("link1.theta_solved", "link1.theta")
    ports.values[...] = np.arange(23.0)
    before = ports.values.copy()
    other = copied(ports)
    other.inputs[...], other.outputs[...] = 7.0, 8.0
    other.apply_routes()
    assert other.values.tolist() == [8.0] + [7.0] * 7 + [8.0] * 15
    assert other.routes == ports.routes
    assert list(other.items()) == list(ports.items())
    assert np.array_equal(ports.values, before)


@pytest.mark.parametrize(
    ("name", "number", "kind"),
    [("chain.reason", -1.0, "choice"), ("chain.reason", 2.0, "choice"), ("chain.reason", NAN, "choice"),
     ("chain.unsolved", 0.5, "bool"), ("chain.unsolved", NAN, "bool"), ("chain.unsolved", 2.0, "bool")],
)  # fmt: skip
def test_what_says_no_value_is_not_read(name: str, number: float, kind: str) -> None:
    ports = arm()
    ports.values[ports.slice_of(name)] = number
    with pytest.raises(ArgumentError, match=f"port '{name}' holds {number}, which is not a value of kind '{kind}'"):
        ports.read(name)


# Routes


def test_a_routed_input_is_fed_and_not_written() -> None:
    ports = arm()
    ports.route("link1.theta_solved", "link1.theta")
    ports.route("tool.position", "target.position")
    ports.route("joystick.speed", "tool.max_speed")
    ports.outputs[:4] = [0.5, 7, 8, 9]
    ports.write("joystick.speed", 0.25)
    assert ports.read("link1.theta") == 0.0
    ports.apply_routes()
    assert ports.inputs.tolist() == [0.5, 7, 8, 9, 100, 0, 0.25, 0.25]
    message = r"port 'link1.theta' is fed by 'link1.theta_solved'; unroute\('link1.theta'\) before it is written"
    with pytest.raises(ArgumentError, match=message):
        ports.write("link1.theta", 0.0)
    ports.unroute("link1.theta")
    assert ports.read("link1.theta") == 0.5
    ports.write("link1.theta", 0.125)
    ports.apply_routes()
    assert ports.read("link1.theta") == 0.125
    assert ports.routes == {"target.position": "tool.position", "tool.max_speed": "joystick.speed"}


def test_a_route_given_again_is_the_same_route() -> None:
    ports = arm()
    ports.route("link1.theta_solved", "link1.theta")
    ports.route("link1.theta_solved", "link1.theta")
    assert ports.routes == {"link1.theta": "link1.theta_solved"}


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("tool.position", "link1.theta", "port 'tool.position' cannot feed 'link1.theta': shape is (3,) there and () here"),
        (
            "joystick.speed",
            "link1.theta",
            "port 'joystick.speed' cannot feed 'link1.theta': unit is 'm/s' there and 'rad' here",
        ),
        (
            "chain.unsolved",
            "chain.limit",
            "port 'chain.unsolved' cannot feed 'chain.limit': kind is 'bool' there and 'int' here",
        ),
        (
            "link1.theta",
            "link1.theta_solved",
            "port 'link1.theta_solved' is an output, which nothing can feed; route to an input",
        ),
        ("link1.theta", "link1.theta", "port 'link1.theta' cannot feed itself; route another port to it"),
        ("link1.thet", "link1.theta", "there is no port 'link1.thet' (did you mean 'link1.theta'"),
        ("link1.theta", "nowhere.else", "there is no port 'nowhere.else'"),
    ],
)
def test_what_cannot_be_routed(source: str, target: str, message: str) -> None:
    ports = arm()
    for route in (ports.route, lambda source, target: ports.reroute({target: source})):
        with pytest.raises(ArgumentError) as caught:
            route(source, target)
        assert str(caught.value).startswith(message)
        assert ports.routes == {}


def test_words_must_agree_too() -> None:
    ports = Ports([Port("a.mode", "in", "choice", choices=("x", "y")), Port("b.mode", "out", "choice", choices=("y", "x"))])
    with pytest.raises(ArgumentError, match=r"choices.*'y'.*'x'.*'x'.*'y'"):
        ports.route("b.mode", "a.mode")


def test_an_input_has_one_source() -> None:
    ports = Ports([Port("a.in", "in"), Port("a.out", "out"), Port("b.out", "out")])
    ports.route("a.out", "a.in")
    with pytest.raises(ArgumentError, match=r"'a\.in'.*'a\.out'.*'a\.in'"):
        ports.route("b.out", "a.in")
    with pytest.raises(ArgumentError, match=r"'a\.out'.*'a\.in'"):
        ports.unroute("a.out")
    ports.unroute("a.in")
    with pytest.raises(ArgumentError, match=r"'a\.in'.*routed.*routed"):
        ports.unroute("a.in")


def test_all_routes_change_together_or_not_at_all() -> None:
    ports = Ports([Port("a.in", "in"), Port("b.in", "in"), Port("a.out", "out"), Port("b.out", "out")])
    ports.reroute({"a.in": "a.out"})
    with pytest.raises(ArgumentError):
        ports.reroute({"b.in": "a.out", "a.in": "nothing.there"})
    assert ports.routes == {"a.in": "a.out"}
    ports.reroute({"b.in": "b.out"})
    ports.outputs[...] = [1.0, 2.0]
    ports.apply_routes()
    assert ports.inputs.tolist() == [0.0, 2.0]


def test_two_inputs_can_be_swapped() -> None:
    ports = Ports([Port("a.in", "in", initial=1.0), Port("b.in", "in", initial=2.0), Port("c.in", "in", initial=3.0)])
    ports.reroute({"a.in": "b.in", "b.in": "a.in"})
    ports.apply_routes()
    assert ports.inputs.tolist() == [2.0, 1.0, 3.0]
    ports.reroute({"b.in": "a.in", "c.in": "b.in"})  # one run of numbers, that overlaps its source
    ports.apply_routes()
    assert ports.inputs.tolist() == [2.0, 2.0, 1.0]


@given(st.data())
def test_any_routes_are_as_if_all_were_read_first(data: st.DataObject) -> None:
    """Scalars, vectors, bounds and none: against copying one by one out of what was there before."""
    shapes = data.draw(st.lists(st.sampled_from([(), (3,), (3, 3)]), min_size=2, max_size=12))
    narrow = data.draw(st.lists(st.booleans(), min_size=len(shapes), max_size=len(shapes)))
    bounds = [{"least": -1.0, "most": 1.0} if small else {"finite": False} for small in narrow]
    ports = Ports([Port(f"p{k}.in", "in", shape=shape, **bounds[k]) for k, shape in enumerate(shapes)]
                  + [Port(f"p{k}.out", "out", shape=shape, finite=False) for k, shape in enumerate(shapes)])  # fmt: skip
    routes = {}
    for k, shape in enumerate(shapes):
        sources = [name for name in ports if ports[name].shape == shape and name != f"p{k}.in"]
        source = data.draw(st.none() | st.sampled_from(sources))
        if source:
            routes[f"p{k}.in"] = source
    ports.reroute(routes)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    for _ in range(3):
        ports.values[...] = rng.normal(size=len(ports.values))
        ports.values[rng.random(len(ports.values)) < 0.05] = NAN
        before, expected, held = ports.values.copy(), ports.values.copy(), []
        for target, source in routes.items():
            for to, whence in zip(
                *(range(*ports.slice_of(name).indices(len(before))) for name in (target, source)), strict=True
            ):
                inside = ports[source].interval == ports[target].interval or ports[target].interval is None
                if inside or -1.0 <= before[whence] <= 1.0:
                    expected[to] = before[whence]
                else:
                    held.append(target)
        ports.apply_routes()
        assert np.array_equal(ports.values, expected, equal_nan=True)
        assert set(ports.held) == set(held)


def test_a_value_out_of_bounds_is_not_passed_on() -> None:
    ports = arm()
    ports.route("link1.theta_solved", "link1.theta")
    ports.route("joystick.speed", "tool.max_speed")
    for given_speed, reached, held in [
        (0.5, 0.5, ()),
        (0.0, 0.5, ("tool.max_speed",)),
        (NAN, 0.5, ("tool.max_speed",)),
        (3.0, 3.0, ()),
    ]:
        ports.write("joystick.speed", given_speed)
        ports.outputs[0] = NAN  # an angle may be no number, and is passed on as that
        ports.apply_routes()
        assert ports.read("tool.max_speed") == reached
        assert np.isnan(ports.read("link1.theta"))
        assert ports.held == held
    ports.unroute("tool.max_speed")
    assert ports.held == ()


def chain_of(joints: int, kind: str) -> Ports:
    """Joint values that come back: in one run, in another order, or to where only finite numbers go."""
    solved = [Port(f"j{k}.theta_solved", "out", unit="rad", finite=False) for k in range(joints)]
    ports = Ports([Port(f"j{k}.theta", "in", unit="rad", finite=kind == "guarded") for k in range(joints)] + solved)
    order = np.arange(joints) if kind == "block" else np.random.default_rng(5).permutation(joints)
    for k in range(joints):
        ports.route(f"j{order[k]}.theta_solved", f"j{k}.theta")
    return ports


@pytest.mark.parametrize("kind", ["block", "scattered", "guarded"])
def test_routes_leave_nothing_behind(kind: str) -> None:
    """A week at 1 kHz is 6e8 cycles; one block kept in a hundred of them would show here as 100."""
    run = chain_of(6, kind).apply_routes
    for _ in range(100):
        run()
    before = sys.getallocatedblocks()
    for _ in range(10_000):
        run()
    grown = sys.getallocatedblocks() - before
    tracemalloc.start()
    try:
        run()
        first = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(1000):
            run()
        last, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(kind, grown, last - first, peak - first)
    assert grown < 10  # the loop's own numbers
    assert last - first < 200
    assert peak - first < 1000  # what a single copy makes and gives back


# Finding and listing


def test_find() -> None:
    ports = Ports([Port("arm[1].theta", "in"), Port("arm1.theta", "in"), Port("arm1.theta_solved", "out")])
    assert ports.find("arm[1].theta") == ("arm[1].theta",)  # a name before a pattern
    assert ports.find("arm[0-9].*") == ("arm1.theta", "arm1.theta_solved")
    assert ports.find("*_solved", "arm1.theta", "*.theta") == tuple(ports)
    with pytest.raises(ArgumentError, match=r"there is no port '\*.d'"):
        ports.find("*.theta", "*.d")
    with pytest.raises(ArgumentError, match="there is no port 3"):
        ports.find(3)  # type: ignore[arg-type]


def test_table() -> None:
    ports = arm()
    ports.route("link1.theta_solved", "link1.theta")
    assert ports.table().splitlines() == [
        "port                  way  kind    unit  value                      from",
        "link1.theta           in   float   rad   0.0                        link1.theta_solved",
        "target.position       in   float   m     [1. 2. 3.]",
        "chain.limit           in   int           100",
        "target.enabled        in   bool          False",
        "tool.max_speed        in   float   m/s   2.0",
        "joystick.speed        in   float   m/s   0.0",
        "link1.theta_solved    out  float   rad   0.0",
        "tool.position         out  float   m     [0. 0. 0.]",
        "chain.unsolved        out  bool          True",
        "tool.rotation_matrix  out  float         [[1 0 0] [0 1 0] [0 0 1]]",
        "chain.reason          out  choice        solved",
    ]
    assert ports.table("chain.*").splitlines()[1:] == [
        "chain.limit     in   int           100",
        "chain.unsolved  out  bool          True",
        "chain.reason    out  choice        solved",
    ]
