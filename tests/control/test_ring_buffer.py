"""The bounded history of a chain: what is kept, what is lost, what files hold."""

import copy
import pickle
import re
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.control import recording
from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.control.recording import Recorder, Recording
from linkwise.control.signal import Channel
from linkwise.errors import ArgumentError, FileError
from support.feedback_chain import PORTS, AChain, run

NAN, INF = float("nan"), float("inf")


def recorded(cycles: int = 20, length: int = 50, **options: Any) -> Recorder:
    chain = AChain()
    recorder = chain.record(length, **options)
    run(chain, cycles)
    return recorder


def same(a: Recording, b: Recording) -> bool:
    return not a.differing(b) and all(
        getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in ("times", "periods", "cycles", "values")
    )


@given(st.integers(1, 6), st.integers(0, 20), st.integers(1, 4))
def test_the_last_rows_are_kept(length: int, cycles: int, every: int) -> None:
    """Against a list of all that went by."""
    ports = Ports([Port("a.theta", "in"), Port("a.n", "out", "int")])
    recorder, all_rows = Recorder(ports, length, every=every), []
    for k in range(cycles):
        ports.values[...] = k / 7, k
        recorder.take(0.1 * k, 0.1 + k)
        if k % every == 0:
            all_rows.append((0.1 * k, 0.1 + k, k, k / 7, k))
    kept = all_rows[-length:]
    made = recorder.recording()
    assert len(made) == len(recorder) == len(kept)
    assert recorder.lost == len(all_rows) - len(kept)
    found = [made.times, made.periods, made.cycles, recorder.read("a.theta"), recorder.read("a.n")]
    assert [tuple(row) for row in zip(*(column.tolist() for column in found), strict=True)] == kept
    assert np.array_equal(recorder.times, made.times)
    assert np.array_equal(recorder.periods, made.periods)
    if len(kept) > 1:
        assert made.every == every
    assert made.lost == recorder.lost * every


def test_histories_are_of_the_kind_of_the_port() -> None:
    recorder = recorded(8)
    assert recorder.read("target.position").shape == (8, 3)
    assert recorder.read("tool.rotation_matrix").shape == (8, 3, 3)
    assert recorder.read("chain.cycle").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert recorder.read("target.enabled").dtype == np.bool_
    assert set(recorder.read("chain.mode").tolist()) == {"hold", "follow, fast"}
    assert np.array_equal(recorder.times, np.cumsum(recorder.periods))
    turns = recorder.read("tool.rotation_matrix")
    assert np.array_equal(turns[:, 0, 1], -turns[:, 1, 0])
    assert np.array_equal(turns[:, 0, 0], np.cos(recorder.read("arm.theta_solved")))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("arm.*", ("arm.theta", "arm.theta_solved")),
        (["chain.reason", "target.*"], ("target.position", "target.enabled", "chain.reason")),
        (["target.position", "target.enabled"], ("target.position", "target.enabled")),
        ("chain.cycle", ("chain.cycle",)),
    ],
)
def test_chosen_ports(names: Any, expected: tuple[str, ...]) -> None:
    """Ports apart, in one run, alone: each as when all are recorded."""
    chain = AChain()
    whole, part = Recorder(chain.ports, 6), Recorder(chain.ports, 6, names)
    for k in range(9):
        run(chain, 1, seed=k)
        whole.take(k, 1.0)
        part.take(k, 1.0)
    assert part.names == part.recording().names == expected
    assert not part.recording().differing(whole.recording())
    with pytest.raises(ArgumentError, match=r"'wind\.speed'.*recorded"):
        part.read("wind.speed")


@given(st.integers(1, 6), st.lists(st.booleans(), max_size=25), st.integers(1, 3))
def test_cycles_left_out_are_counted(length: int, pauses: list[bool], every: int) -> None:
    """Against a list of all numbers: each row has that of its cycle, wherever there were pauses."""
    ports = Ports([Port("a.theta", "in")])
    recorder, numbers = Recorder(ports, length, every=every), []
    waiting = 0
    for k, paused in enumerate(pauses):
        recorder.paused = paused
        recorder.take(0.1 * k, 0.1)
        if not paused:
            numbers += [k] if waiting == 0 else []
            waiting = (waiting + 1) % every
    assert recorder.recording().cycles.tolist() == numbers[-length:]


def test_what_is_taken_does_not_change_any_more() -> None:
    ports = Ports([Port("a.theta", "in")])
    recorder = Recorder(ports, 2)
    recorder.take(0.0, 0.1)
    made = recorder.recording()
    for k in range(5):
        ports.values[0] = k + 1.0
        recorder.take(k, 0.1)
    assert made.values.tolist() == [[0.0]]


def test_clearing_and_pausing() -> None:
    recorder = recorded(60)
    assert (len(recorder), recorder.lost, repr(recorder)) == (50, 10, "<Recorder: 50 of 50 rows of 10 ports, 10 rows lost>")
    assert repr(recorder.recording()) == "<Recording: 50 cycles, 10 ports, 10 cycles before them lost>"
    recorder.clear()
    assert recorder.recording().start is None
    assert (len(recorder), recorder.lost, len(recorder.recording())) == (0, 0, 0)
    recorder.paused = True
    recorder.take(0.0, 0.1)
    assert len(recorder) == 0
    recorder.paused = False
    recorder.take(0.0, 0.1)
    assert recorder.recording().cycles.tolist() == [1]  # the one while it was paused is counted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "recorder: length is 0; expected a whole number above 0"),
        ({"length": 2.0}, "recorder: length is 2.0; expected a whole number above 0"),
        ({"length": True}, "recorder: length is True; expected a whole number above 0"),
        ({"every": 0}, "recorder: every is 0; expected a whole number above 0"),
        ({"names": []}, "recorder: names is []; expected at least one port"),
        ({"names": "arm.thetta"}, "there is no port 'arm.thetta' (did you mean 'arm.theta'"),
        ({"names": ["arm.*", "leg.*"]}, "there is no port 'leg.*'"),
    ],
)
def test_what_is_no_recorder(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Recorder(Ports(PORTS), **{"length": 5} | options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("names", [None, ["arm.*", "chain.cycle"]])
def test_taking_leaves_nothing_behind(names: Any) -> None:
    """A ring that is full, as in a long run: 10,000 cycles keep no object each."""
    recorder = Recorder(Ports(PORTS), 100, names)
    for _ in range(200):
        recorder.take(1.0, 0.001)
    before = sys.getallocatedblocks()
    for _ in range(10_000):
        recorder.take(1.0, 0.001)
    grown = sys.getallocatedblocks() - before
    tracemalloc.start()
    try:
        recorder.take(1.0, 0.001)
        first = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(1000):
            recorder.take(1.0, 0.001)
        last, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(grown, last - first, peak - first)
    assert grown < 10  # the loop's own numbers
    assert last - first < 200
    assert peak - first < 1000  # the view of a row, and the numbers of the loop


def test_a_recorder_is_not_copied() -> None:
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"recorder.*recording"):
            copied(recorded(2))
    made = recorded(2).recording()
    assert same(pickle.loads(pickle.dumps(made)), made)


def test_what_says_no_value_is_neither_read_nor_written(tmp_path: Path) -> None:
    ports = Ports(PORTS)
    ports.values[ports.slice_of("chain.reason")] = -1.0
    recorder = Recorder(ports, 2)
    recorder.take(0.0, 0.1)
    for call in (lambda: recorder.read("chain.reason"), lambda: recorder.write(tmp_path / "a.csv")):
        with pytest.raises(ArgumentError, match=r"'chain\.reason'.*'choice'"):
            call()
    assert list(tmp_path.iterdir()) == []


# Files


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".CSV"])
@pytest.mark.parametrize("cycles", [0, 1, 20, 70])
def test_files_hold_every_bit(tmp_path: Path, suffix: str, cycles: int) -> None:
    recorder = recorded(cycles)
    recorder.write(tmp_path / f"a{suffix}")
    read, made = Recorder.load(tmp_path / f"a{suffix}"), recorder.recording()
    assert same(read, made)
    unknown = "" if suffix != ".npz" else None
    assert read.channels == tuple(c if unknown is None else c._replace(direction=unknown) for c in made.channels)
    assert (read.lost, read.every) == (made.lost, made.every)
    assert read.start == (made.start if suffix == ".npz" else None)
    for name in made.names:
        assert read.read(name).dtype == made.read(name).dtype
        assert np.array_equal(read.read(name), made.read(name), equal_nan=made.read(name).dtype == np.float64)


def test_csv_is_what_people_read(tmp_path: Path) -> None:
    ports = Ports(
        [
            Port("a.position", "in", shape=(3,), unit="m", initial=[0.1, -0.0, 1e300]),
            Port("a, b.speed", "in", unit="m/s", initial=INF, finite=False),
            Port("a.only", "in", "choice", choices=("yes",)),
            Port('a "b".enabled', "out", "bool", (3,), initial=[True, False, True]),
            Port("arm[1].mode", "out", "choice", choices=("hold", "follow, fast"), initial="follow, fast"),
            Port("a.count", "out", "int", initial=2**53),
            Port("a.theta", "out", unit="rad", finite=False, initial=NAN),
        ]
    )
    recorder = Recorder(ports, 3)
    recorder.take(0.5, 0.25)
    recorder.write(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text()
    assert text == (
        't [s],dt [s],cycle [int],a.position.x [m],a.position.y [m],a.position.z [m],"a, b.speed [m/s]",a.only [yes|],'
        '"a ""b"".enabled.x [false|true]","a ""b"".enabled.y [false|true]","a ""b"".enabled.z [false|true]",'
        '"arm[1].mode [hold|follow, fast]",a.count [int],a.theta [rad]\n'
        '0.5,0.25,0,0.1,-0.0,1e+300,inf,yes,true,false,true,"follow, fast",9007199254740992,nan\n'
    )
    read = Recording.load(tmp_path / "a.csv")
    assert same(read, recorder.recording())
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())  # as some editors save it
    assert same(Recording.load(tmp_path / "b.csv"), read)


@given(st.lists(st.floats(), min_size=1, max_size=4))
def test_any_double_goes_through_csv(numbers: list[float]) -> None:
    """To the bit, but for what a NaN holds beside being one."""
    import tempfile

    ports = Ports([Port("a.b", "in", finite=False)])
    recorder = Recorder(ports, 4)
    for number in numbers:
        ports.values[0] = number
        recorder.take(0.0, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        recorder.write(Path(folder, "a.csv"))
        read = Recording.load(Path(folder, "a.csv")).read("a.b")
    assert [repr(value) for value in read.tolist()] == [repr(value) for value in numbers]


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    recorded(3).write(path)
    before = path.read_bytes()

    def broken(*_: Any) -> Any:
        yield "t [s]"
        raise MemoryError

    monkeypatch.setattr(recording, "_csv_lines", broken)
    with pytest.raises(MemoryError):
        recorded(5).write(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("name", ["a.txt", "a", "a.csv.gz"])
def test_endings(tmp_path: Path, name: str) -> None:
    message = f"cannot tell the format from the suffix {Path(name).suffix!r}; expected '.csv' or '.npz'"
    for call in (recorded(1).write, Recorder.load):
        with pytest.raises(FileError, match=re.escape(message)):
            call(tmp_path / name)


HEAD = "t [s],dt [s],cycle [int]"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the header begins with []; expected the columns t [s], dt [s], cycle [int]"),
        (
            "t,dt,cycle,a.b\n",
            1,
            "the header begins with ['t', 'dt', 'cycle']; expected the columns t [s], dt [s], cycle [int]",
        ),
        (f"{HEAD},a.b\n", 1, "column 'a.b' has no unit; expected a name and, in brackets, its unit"),
        (f"{HEAD},theta [rad]\n", 1, "a port's name is 'theta'; expected an entity, a dot and a quantity"),
        (f"{HEAD},a.b [m],a.b [m]\n", 1, "the header names 'a.b' twice"),
        (f"{HEAD},a.b.x [m],a.b.y [m]\n", 1, "expected 'a.b.x [m]', 'a.b.y [m]' or 'a.b.z [m]' together"),
        (f"{HEAD},a.b.x [m],a.b.z [m],a.b.y [m]\n", 1, "expected 'a.b.x [m]', 'a.b.y [m]' or 'a.b.z [m]' together"),
        (f"{HEAD},a.b [x|x]\n", 1, "port 'a.b': choices is ('x', 'x'); expected different words"),
        (f"{HEAD},a.b [m]\n0,1,0,1\n\n0,1,1\n", 4, "3 cells; the header has 4 columns"),
        (f"{HEAD},a.b [m]\n0,1,0,1\n0,1,1,one\n", 3, "column 'a.b [m]': 'one' is not a number"),
        (f"{HEAD},a.b [m]\n0,1,0,1_0\n", 2, "column 'a.b [m]': '1_0' is not a number"),
        (f"{HEAD},a.b [m]\n0,1,0,\n", 2, "column 'a.b [m]': '' is not a number"),
        (f"{HEAD},a.b [int]\n0,1,0,3\n0,1,1,3.5\n", 3, "column 'a.b [int]': '3.5' is not a whole number"),
        (f"{HEAD},a.b [int]\n0,1,0,nan\n", 2, "column 'a.b [int]': 'nan' is not a whole number"),
        (f"{HEAD},a.b [false|true]\n0,1,0,1\n", 2, "column 'a.b [false|true]': '1' is not 'false' or 'true'"),
        (f"{HEAD},a.b [hold|follow]\n0,1,0,folow\n", 2, "column 'a.b [hold|follow]': 'folow' is not 'hold' or 'follow'"),
        (f"{HEAD},a.b [m]\n0,1,0.5,1\n", 2, "column 'cycle [int]': '0.5' is not a whole number"),
        (f"{HEAD},a.b [m]\n0,1,0,1\n0,1,3,1\n0,1,1,1\n", 0, "the numbers of the cycles do not ascend"),
        (f"{HEAD},a.b [m]\n0,1,1,1\n0,1,1,1\n", 0, "the numbers of the cycles do not ascend"),
        (f"{HEAD},a.b [m]\n0,1,-1,1\n", 0, "the numbers of the cycles do not ascend, from 0 or more"),
        (f"{HEAD},a.b [m]\n0,1,0,1\0\n", 2, "a zero byte: this is not a text file"),
    ],
)
def test_malformed_csv(tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileError) as caught:
        Recording.load(tmp_path / "a.csv")
    assert message in str(caught.value)
    assert caught.value.problems[0].line == line


def parts(tmp_path: Path) -> dict[str, Any]:
    recorded(4).write(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as held:
        return {name: held[name] for name in held.files}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"linkwise": np.array("state 1")}, "this is a 'state 1', not the 'recording 1' of a chain"),
        ({"linkwise": None}, "this is an .npz file, not the 'recording 1' of a chain"),
        ({"times": None, "values": None}, "there is no array 'times' or 'values' in it"),
        ({"times": np.zeros(3)}, "times, periods, cycles, values have the shapes ((3,), (4,), (4,), (4, 20)); expected"),
        ({"times": np.zeros((4, 1))}, "times is 2-dimensional, of float64; expected 1 dimensions of float64"),
        (
            {"values": np.zeros((4, 20), dtype=np.int64)},
            "values is 2-dimensional, of int64; expected 2 dimensions of float64",
        ),
        ({"values": np.full((4, 20), 0.5)}, "'chain.mode' contains a value that is not of kind 'choice'"),
        ({"channels": np.array("[]")}, "expected T, T, T and (T, 0)"),
        ({"channels": np.array("{")}, "channels cannot be read"),
        ({"channels": np.array('[["a.b"]]')}, "channels cannot be read: a channel of 1 fields"),
        ({"channels": np.array('[["a.b","float",[2],"m",[],"in"]]')}, "channels cannot be read: port 'a.b': shape is (2,)"),
        ({"channels": np.array('[["a.b","float",[],"m",[],"up"]]')}, "channels cannot be read: direction 'up'"),
        ({"channels": np.array('[["a.b","float",[],1,[],"in"]]')}, "channels cannot be read: a field of another type"),
        ({"channels": np.array('[["a.b","float",[],"m",[],"in"],["a.b","float",[],"m",[],"in"]]')}, "one is repeated"),
        ({"start_digest": np.array("0")}, "the digest is not that of the ports in it: it is damaged"),
        ({"start_routes": np.array("[]")}, "routes cannot be read"),
        ({"start_carry": np.zeros((1, 3))}, "carry is 2-dimensional, of float64; expected 1 dimensions of float64"),
    ],
)
def test_malformed_npz(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    arrays = {name: array for name, array in (parts(tmp_path) | changed).items() if array is not None}
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FileError) as caught:
        Recording.load(tmp_path / "a.npz")
    assert message in str(caught.value)


def test_what_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(FileError, match="there is no such file"):
        Recording.load(path)
    for data in (b"", b"PK\x03\x04", b"t,dt\n", np.array([{}], dtype=object).dumps()):
        path.write_bytes(data)
        with pytest.raises(FileError, match=r"arrays.*damaged"):
            Recording.load(path)
    recorded(2).write(path)
    data = bytearray(path.read_bytes())
    for at in range(len(data) - 4):  # every member says that it is encrypted
        if data[at : at + 4] == b"PK\x01\x02":
            data[at + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"arrays.*damaged"):
        Recording.load(path)
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
    with zipfile.ZipFile(path, "w") as archive:  # an array that fits in no memory
        archive.writestr("values.npy", b"\x93NUMPY\x01\x00" + (len(head) + 1).to_bytes(2, "little") + head + b"\n")
    with pytest.raises(FileError, match=r"values has 0 bytes"):
        Recording.load(path)
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(FileError, match=r"this is one array, not an .npz file"):
        Recording.load(path)


def test_a_damaged_archive_is_refused_or_holds_the_same(tmp_path: Path) -> None:
    made = recorded(4).recording()
    made.write(tmp_path / "a.npz")
    data, rng, refused = (tmp_path / "a.npz").read_bytes(), np.random.default_rng(8), 0
    for _ in range(300):
        bad = bytearray(data)
        bad[int(rng.integers(len(bad)))] ^= 1 << int(rng.integers(8))
        (tmp_path / "b.npz").write_bytes(bad if rng.random() < 0.8 else data[: int(rng.integers(len(data)))])
        try:
            read = Recording.load(tmp_path / "b.npz")
        except FileError:
            refused += 1
        else:
            assert same(read, made)
    print(refused)
    assert refused > 200


# Comparing


def test_where_recordings_differ() -> None:
    ports = Ports([Port("a.theta", "in", finite=False), Port("b.theta", "in")])
    made = []
    for odd in (0.0, -0.0):
        recorder = Recorder(ports, 4)
        for k in range(4):
            ports.values[...] = NAN, odd if k == 2 else 1.0
            recorder.take(k, 1.0)
        made.append(recorder.recording())
    assert made[0].differing(made[0]) == {}
    assert made[0].differing(made[1]) == {"b.theta": 2}  # a NaN is the same NaN, a zero with a sign is another
    short = Recording(made[0].channels, *(getattr(made[0], name)[:3] for name in ("times", "periods", "cycles", "values")))
    assert made[0].differing(short) == {"a.theta": 3, "b.theta": 3}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"times": np.zeros(2)}, "times, periods, cycles, values have the shapes ((2,), (3,), (3,), (3, 1))"),
        ({"values": np.zeros((3, 2))}, "expected T, T, T and (T, 1)"),
        ({"cycles": np.array([0, 3, 2])}, "the numbers of the cycles do not ascend"),
    ],
)
def test_what_is_no_recording(fields: dict[str, Any], message: str) -> None:
    good = {"times": np.zeros(3), "periods": np.ones(3), "cycles": np.arange(3), "values": np.zeros((3, 1))}
    with pytest.raises(ArgumentError, match=re.escape(message)):
        Recording((Channel("a.b"),), **good | fields)
