"""What a chain goes on from: kept, compared, written, given back, and refused by any other chain."""

import copy
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.control.recording import Recorder
from linkwise.control.state import State, restore, save
from linkwise.errors import ArgumentError, FileError
from support.feedback_chain import PORTS, AChain, run


def history(chain: AChain, cycles: int, seed: int) -> bytes:
    recorder = chain.record(cycles)
    run(chain, cycles, seed)
    return recorder.recording().values.tobytes()


def test_a_restored_chain_goes_on_to_the_bit() -> None:
    chain = AChain()
    run(chain, 30)
    saved = chain.save()
    first = history(chain, 20, seed=5)
    assert history(chain, 20, seed=5) != first
    chain.restore(saved)
    assert chain.save() == saved
    assert history(chain, 20, seed=5) == first
    other = AChain()  # one made alike goes on just so
    other.restore(saved)
    assert history(other, 20, seed=5) == first


def test_a_state_is_a_copy_that_nobody_writes() -> None:
    chain = AChain()
    saved = chain.save()
    values = saved.values.copy()
    run(chain, 3)
    assert np.array_equal(saved.values, values, equal_nan=True)
    for array in (saved.values, saved.carry):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(TypeError):
        saved.routes["arm.theta"] = "chain.limit"  # type: ignore[index]


def test_routes_are_part_of_it() -> None:
    chain = AChain()
    routed = chain.save()
    chain.ports.unroute("arm.theta")
    free = chain.save()
    assert routed != free
    chain.restore(routed)
    assert chain.ports.routes == {"arm.theta": "arm.theta_solved"}
    chain.restore(free)
    assert chain.ports.routes == {}
    chain.ports.write("arm.theta", 1.0)


def test_what_makes_states_equal() -> None:
    chain = AChain()
    chain.ports.write("wind.speed", np.nan)
    a, b = chain.save(), chain.save()
    assert a == b
    assert a != 3
    chain.ports.write("wind.speed", 0.0)
    zero = chain.save()
    chain.ports.write("wind.speed", -0.0)
    assert chain.save() != zero
    chain.carry[1] = 1e-300
    assert replace(a, carry=chain.carry) != a
    assert replace(a, settings={"name": "b"}) != a
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_states_are_copied_whole() -> None:
    chain = AChain()
    run(chain, 3)
    saved = chain.save()
    for made in (copy.copy(saved), copy.deepcopy(saved), pickle.loads(pickle.dumps(saved))):
        assert made == saved
        assert not made.values.flags.writeable
        AChain().restore(made)


def test_files_hold_every_bit(tmp_path: Path) -> None:
    chain = AChain("a \N{GREEK SMALL LETTER ALPHA}")
    run(chain, 4)
    chain.ports.write("wind.speed", np.nan)
    saved = chain.save()
    saved.write(tmp_path / "a.npz")
    read = State.read(tmp_path / "a.npz")
    assert read == saved
    assert read.digest == saved.digest
    assert repr(read) == repr(saved) == f"<State: 10 ports, 20 + 3 numbers, 1 routed, table {saved.digest[:12]}>"
    chain.restore(read)
    with pytest.raises(FileError, match=r"'\.csv'.*'\.npz'"):
        saved.write(tmp_path / "a.csv")
    Recorder(chain.ports, 2).write(tmp_path / "b.npz")
    with pytest.raises(FileError, match=r"'recording 1'.*'state 1'"):
        State.read(tmp_path / "b.npz")


def test_the_digest_is_of_the_ports_only() -> None:
    chain, other = AChain(), AChain("b")
    run(chain, 2)
    assert chain.save().digest == other.save().digest
    assert AChain(ports=PORTS[::-1]).save().digest != chain.save().digest


def renamed(old: str, **fields: Any) -> tuple[Port, ...]:
    return tuple(replace(port, **fields) if port.name == old else port for port in PORTS)


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        (renamed("wind.speed", name="wind.sped"), "it lacks 'wind.sped'; there is no 'wind.speed' here"),
        ((*PORTS, Port("a.b", "in"), Port("a.c", "out")), "it lacks 'a.b' and 'a.c'"),
        (tuple(p for p in PORTS if p.name != "wind.speed"), "there is no 'wind.speed' here"),
        (renamed("wind.speed", unit="km/h"), "'wind.speed' has the unit 'm/s' there and 'km/h' here"),
        (renamed("wind.speed", direction="out"), "'wind.speed' has the direction 'in' there and 'out' here"),
        (renamed("chain.limit", kind="float"), "'chain.limit' has the kind 'int' there and 'float' here"),
        (renamed("target.position", shape=(), initial=0.0), "'target.position' has the shape (3,) there and () here"),
        (
            renamed("chain.reason", choices=("a", "b"), initial="a"),
            "'chain.reason' has the choices ('solved', 'limited') there and ('a', 'b') here",
        ),
        ((PORTS[0], PORTS[2], PORTS[1], *PORTS[3:]), "the ports stand in another order"),
    ],
)
def test_a_state_of_other_ports_is_refused(ports: tuple[Port, ...], message: str) -> None:
    saved, other = AChain().save(), AChain(ports=ports)
    before = other.save()
    with pytest.raises(ArgumentError, match=re.escape(f"the state is of another chain: {message}")):
        other.restore(saved)
    assert other.save() == before


@pytest.mark.parametrize(
    ("mine", "its", "message"),
    [
        ({"angles": "xyz"}, {"angles": "zyx"}, "angles is 'zyx' there and 'xyz' here"),
        ({"angles": "xyz"}, {}, "angles is 'not set' there and 'xyz' here"),
        ({}, {"angles": "xyz"}, "angles is 'xyz' there and 'not set' here"),
        ({"links": 1}, {"links": True}, "links is True there and 1 here"),
    ],
)
def test_a_state_of_other_settings_is_refused(mine: Any, its: Any, message: str) -> None:
    ports, carry = Ports(PORTS), np.zeros(3)
    saved = save(ports, carry + 1.0, its)
    with pytest.raises(ArgumentError, match=re.escape(f"the state is of another chain: {message}")):
        restore(ports, carry, saved, mine)
    assert np.array_equal(carry, np.zeros(3))


def test_a_state_of_another_cycle_is_refused() -> None:
    ports = Ports(PORTS)
    with pytest.raises(ArgumentError, match=r"state.*another.*4.*3"):
        restore(ports, np.zeros(3), save(ports, np.zeros(4)))
    with pytest.raises(ArgumentError, match=r"state.*None.*State"):
        restore(ports, np.zeros(3), None)  # type: ignore[arg-type]


def test_routes_of_a_state_are_checked_before_anything_is_changed() -> None:
    chain = AChain()
    run(chain, 2)
    before = chain.save()
    with pytest.raises(ArgumentError, match=r"port 'chain.cycle' cannot feed 'arm.theta'"):
        chain.restore(replace(AChain().save(), routes={"arm.theta": "chain.cycle"}))
    assert chain.save() == before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"values": np.zeros(19)},
            "state: values and carry have the shapes (19,) and (3,); expected (20,) and one dimension",
        ),
        ({"carry": np.zeros((3, 1))}, "state: values and carry have the shapes (20,) and (3, 1)"),
        ({"settings": {"gains": [1, 2]}}, "state: setting 'gains' is [1, 2]; expected a text, a number, True or False"),
    ],
)
def test_what_is_no_state(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        replace(AChain().save(), **fields)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"carry": None}, "there is no array 'carry' in it"),
        ({"values": np.zeros(19)}, "state: values and carry have the shapes (19,) and (3,); expected (20,)"),
        ({"values": np.full(20, 0.5)}, "'chain.mode' contains a value that is not of kind 'choice'"),
        (
            {"values": np.zeros(20, dtype=np.complex128)},
            "values has the header '<c16'",
        ),
        ({"digest": np.array("00")}, "the digest is not that of the ports in it: it is damaged"),
        ({"routes": np.array('{"a.b": 3}')}, "routes cannot be read"),
        ({"settings": np.array("{")}, "settings cannot be read"),
        ({"settings": np.array('{"a": null}')}, "state: setting 'a' is None; expected a text, a number, True or False"),
        ({"channels": np.array("3")}, "channels cannot be read: no list"),
    ],
)
def test_malformed_files(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    AChain().save().write(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as held:
        arrays = {name: held[name] for name in held.files} | changed
    np.savez(tmp_path / "a.npz", **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(FileError, match=re.escape(message)):
        State.read(tmp_path / "a.npz")
