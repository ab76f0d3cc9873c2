"""Kernels that the disk knows: no tracer runs, the bits are those of a traced kernel, and the tape comes when asked for."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import linkwise as lw
from linkwise import Mechanism, Spring, algorithm, robots
from linkwise.algorithm import ALGORITHMS
from linkwise.errors import ArgumentError, KernelError
from linkwise.kernel import Kernel, Tape, cache, sources
from linkwise.kernel.deferred_tape import DeferredTape
from linkwise.model.joints import JOINTS, Joint
from linkwise.model.joints.joint import joint
from linkwise.spatial.scalar import cos_sin
from linkwise.spatial.transform import translation
from support.random_mechanisms import afloat, coupled, random_mechanism, sprung, with_rotors

Make = Callable[[], Mechanism]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a process that began after the last change of its sources."""
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(sources, "_STARTED", np.inf)
    sources._seen.clear()
    return tmp_path / "kernels"


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of each algorithm that is traced from here on."""
    names: list[str] = []
    real = algorithm.trace

    def counting(function: Any, name: str, *rest: Any, **options: Any) -> Tape:
        names.append(name)
        return real(function, name, *rest, **options)

    monkeypatch.setattr(algorithm, "trace", counting)
    return names


def two_links() -> Mechanism:
    return robots.planar_2r().replace()  # (the robot itself keeps its kernels)


def in_symbols() -> Mechanism:
    return robots.planar_2r().symbolic("inertial")


def small(seed: int) -> Mechanism:
    return random_mechanism(seed, ["revolute", "prismatic"])


MECHANISMS: dict[str, Make] = {
    "arm": two_links,
    "symbols": in_symbols,
    "loop": lambda: robots.load("four_bar").replace(),
    "follower": lambda: coupled(small(2)),
    "floating": lambda: afloat(small(3)),
    "rotors": lambda: with_rotors(small(4)),
    "springs": lambda: sprung(small(5)),
    "ball and universal": lambda: random_mechanism(6, ["ball", "universal"], motors=False),
}

SOME = ("forward_kinematics", "inverse_dynamics", "forward_dynamics", "regressor", "inverse_dynamics_derivatives", "closure")


def outcome(make: Make, name: str, **options: Any) -> Any:
    """The kernel of a new mechanism, or why there is none."""
    try:
        return make().kernel(name, **options)
    except ArgumentError as error:
        return str(error)


def index_entries(place: Path) -> list[Path]:
    return sorted(path for path in place.glob("*.o") if b'"operations_before"' in path.read_bytes())


@pytest.mark.parametrize("kind", MECHANISMS)
def test_every_algorithm_is_known_without_the_tracer(kind: str, traced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In all that is said of them; and the tape that is traced later is the one that is traced first."""
    names = [*ALGORITHMS] if kind in {"arm", "loop", "symbols"} else SOME
    first = {name: outcome(MECHANISMS[kind], name, backend="numpy") for name in names}
    kernels = {name: kernel for name, kernel in first.items() if isinstance(kernel, Kernel)}
    assert len(kernels) >= 5
    traced.clear()
    again = {name: outcome(MECHANISMS[kind], name, backend="numpy") for name in kernels}
    for name, kernel in again.items():
        wanted = kernels[name]
        assert type(wanted.tape) is Tape
        assert type(kernel.tape) is DeferredTape
        assert repr(kernel) == repr(wanted)
        assert kernel.operations == wanted.operations
        assert kernel.operations_before == wanted.operations_before
        assert kernel.tape.labels == wanted.tape.labels
        assert kernel.tape.digest == wanted.tape.digest
        assert [kernel.tape.input_count, kernel.tape.output_count] == [wanted.tape.input_count, len(wanted.tape.results)]
        assert kernel.tape.length == len(wanted.tape.code)
    assert traced == []
    for name in SOME:
        if name in kernels:
            assert again[name].tape == kernels[name].tape
            assert kernels[name].tape == again[name].tape
            assert again[name].tape.origins == kernels[name].tape.origins
            assert traced == [name]
            traced.clear()


@pytest.mark.parametrize("kind", MECHANISMS)
def test_same_bits_as_traced(kind: str, traced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In float64 one by one and in a batch, and in float32."""
    name = "forward_dynamics"

    def results() -> list[np.ndarray]:
        mechanism = MECHANISMS[kind]()
        kernel = mechanism.kernel(name)
        rng = np.random.default_rng(0)
        points = [rng.uniform(0.1, 1.0, (5, *shape)) for shape in kernel.tape.inputs.values()]
        row = [point[0].copy() for point in points]
        with np.errstate(all="ignore"):  # (a loop is not closed there)
            return [kernel(*points), kernel(*row), kernel(*[point.astype("f4") for point in points])]

    cold = results()
    traced.clear()
    warm = results()
    assert traced == []
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    fresh = results()
    assert traced
    for stored, kept, new in zip(cold, warm, fresh, strict=True):
        assert stored.dtype == kept.dtype == new.dtype
        assert stored.tobytes() == kept.tobytes() == new.tobytes()


def test_methods_of_a_mechanism_do_not_trace(traced: list[str]) -> None:
    q = np.array([0.1, 0.2])
    wanted = [two_links().inverse_dynamics(q, q, q), two_links().jacobian(q, link="link1", frame="body")]
    traced.clear()
    again = [two_links().inverse_dynamics(q, q, q), two_links().jacobian(q, link="link1", frame="body")]
    assert traced == []
    assert [x.tobytes() for x in again] == [x.tobytes() for x in wanted]
    with pytest.raises(ArgumentError, match="q has the shape"):
        two_links().kernel("inverse_dynamics")(q[:1], q, q)
    with pytest.raises(ArgumentError, match="parameters"):
        [in_symbols().kernel("inverse_dynamics") for _ in range(2)][1](q, q, q)


def test_what_needs_the_tape_traces_it_once(traced: list[str]) -> None:
    two_links().kernel("inverse_dynamics")
    traced.clear()
    kernel = two_links().kernel("inverse_dynamics")
    barrier = threading.Barrier(8)
    tapes: list[Any] = []

    def work() -> None:
        barrier.wait()
        tapes.append(kernel.tape.code)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert traced == ["inverse_dynamics"]
    assert all(code is tapes[0] for code in tapes)
    assert len(kernel.derivative("q")([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])) == 2
    assert "tau" in str(kernel.to_c())
    assert traced == ["inverse_dynamics"]


def test_it_pickles_as_its_tape(traced: list[str]) -> None:
    wanted = in_symbols().kernel("gravity_torque")
    kernel = in_symbols().kernel("gravity_torque")
    traced.clear()
    copy = pickle.loads(pickle.dumps(kernel))
    assert traced == ["gravity_torque"]
    assert type(copy.tape) is Tape
    assert copy.tape == kernel.tape == wanted.tape
    assert copy.tape.labels == wanted.tape.labels
    assert (copy.operations, copy.operations_before) == (wanted.operations, wanted.operations_before)
    with pytest.raises(AttributeError, match="no attribute 'slots'"):
        kernel.tape.slots  # noqa: B018


def test_symbols_of_sympy_are_written_again() -> None:
    sympy = pytest.importorskip("sympy")
    a, m = sympy.symbols("a m", positive=True)

    def arm() -> Mechanism:
        return Mechanism([lw.Link.dh(a=a, convention="standard", mass=m, com=(-a / 2, 0, 0))], gravity=(0, -9.81, 0))

    first, again = (arm().kernel("gravity_torque") for _ in range(2))
    assert type(again.tape) is DeferredTape
    assert again.to_sympy() == first.to_sympy()
    assert {a, m} <= again.to_sympy()[1]["tau"].subs(again.to_sympy()[0][::-1]).free_symbols


# ── when it is another kernel ─────────────────────────────────────────────────────────────────────


def test_the_key_depends_on_all_that_the_tape_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(mechanism: Mechanism | None = None, name: str = "jacobian", **options: Any) -> str | None:
        sources._seen.clear()
        sources._features.cache_clear()
        return algorithm.key_of(mechanism or two_links(), ALGORITHMS[name], options)

    arm = two_links()
    keys = [
        key(),
        key(arm.replace(gravity=(0.0, 0.0, -9.810000000000002))),
        key(arm.replace_link("link1", mass=1.0000000000000002)),
        key(arm.replace(name="another")),
        key(Mechanism(arm.links, springs=[Spring(arm.names[0], stiffness=1.0)])),
        key(name="jacobian_dot"),
        key(link=0),
        key(link=1),
        key(frame="body"),
        key(wrenches=((0, "body"),)),
        key(wrenches=((0, "world"),)),
    ]
    for target, value in {
        "linkwise.kernel.sources.sys.version": "another",
        "linkwise.kernel.sources.np.__version__": "another",
        "linkwise.kernel.sources._features.__wrapped__": None,
        "linkwise.algorithm.default_backend": lambda: "another",
    }.items():
        with monkeypatch.context() as patch:
            if value is None:
                patch.setattr(sources, "_features", _Features())
            else:
                patch.setattr(target, value)
            keys.append(key())
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert key() == keys[0]


class _Features:
    """Another processor."""

    def __call__(self) -> list[tuple[str, bool]]:
        return [("AVX", False)]

    def cache_clear(self) -> None:
        pass


def test_an_algorithm_that_changed_is_traced_again(traced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def runs(text: str | None) -> int:
        monkeypatch.setattr(algorithm, "sources_digest", lambda: text)
        monkeypatch.setattr("linkwise.kernel.deferred_tape.sources_digest", lambda again: text)
        traced.clear()
        two_links().kernel("jacobian")
        return len(traced)

    assert [runs(text) for text in ("one", "one", "two", "two", "one", None, None, "one")] == [1, 0, 1, 0, 0, 1, 1, 0]


# ── what is not known ─────────────────────────────────────────────────────────────────────────────


class OfMyOwn(Mechanism):
    """A mechanism of somebody else's."""


def test_what_others_define_is_traced_in_each_process(traced: list[str], place: Path) -> None:
    @joint
    @dataclass(frozen=True, eq=False)
    class Cam(Joint):
        kind: ClassVar[str] = "cam of a test"
        letter: ClassVar[str] = "C"
        lift: Any

        def placement(self, q: Any) -> Any:
            c, _ = cos_sin(q[0])
            return translation(0.0, 0.0, self.lift * c)

    @algorithm.algorithm(inputs={"q": "nq"}, outputs={"y": "nq"})
    def of_a_test(tree: Any, q: Any) -> Any:
        return q * 2.0

    try:
        for _ in range(2):
            Mechanism([lw.Link(joint=Cam(lift=0.1), mass=2.0)]).kernel("inverse_dynamics")
            two_links().kernel("of_a_test")
            OfMyOwn(two_links().links).kernel("jacobian")
    finally:
        del ALGORITHMS["of_a_test"], JOINTS["cam of a test"]
    assert traced == 2 * ["inverse_dynamics", "of_a_test", "jacobian"]
    assert not index_entries(place)


def test_switched_off(traced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    for _ in range(2):
        assert type(two_links().kernel("jacobian").tape) is Tape
    assert traced == ["jacobian", "jacobian"]


# ── damage ────────────────────────────────────────────────────────────────────────────────────────

Q = np.array([[0.1, 0.2], [0.3, 0.4]])


def gravity_torque() -> bytes:
    return np.asarray(two_links().kernel("gravity_torque")(Q)).tobytes()


SEALED = [b"", b"{}", b"[]", b"5", b"\xff", b'{"name": "x"}', b'{"name": "x", "inputs": 1}', b"null"]


def test_damaged_entries_are_rebuilt(place: Path, traced: list[str]) -> None:
    wanted = gravity_torque()
    (entry,) = index_entries(place)
    good = entry.read_bytes()
    damaged = [b"", good[:40], good[:-1], good + b"x", good[:60] + bytes([good[60] ^ 1]) + good[61:]]
    for content in damaged:
        entry.write_bytes(content)
        traced.clear()
        assert gravity_torque() == wanted
        assert traced == ["gravity_torque"]
        assert entry.read_bytes() == good
    for content in SEALED:
        cache.store(entry.stem, content)
        traced.clear()
        assert gravity_torque() == wanted
        assert traced == ["gravity_torque"]
        assert entry.read_bytes() == good


def test_code_that_was_deleted_is_compiled_again(place: Path, traced: list[str]) -> None:
    wanted = gravity_torque()
    (entry,) = index_entries(place)
    for path in set(place.glob("*.o")) - {entry}:
        path.unlink()
    traced.clear()
    assert gravity_torque() == wanted
    assert traced == ["gravity_torque"]
    assert gravity_torque() == wanted
    assert traced == ["gravity_torque"]
    entry.unlink()
    assert gravity_torque() == wanted
    assert traced == 2 * ["gravity_torque"]


def test_a_key_that_says_too_little_is_noticed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the tape is traced after all: no numbers of another mechanism stay unnoticed, and the entry goes."""
    monkeypatch.setattr(algorithm, "digest_of", lambda tree: "always the same")
    two_links().kernel("gravity_torque")
    kernel = two_links().replace_link("link1", mass=7.0).kernel("gravity_torque")
    with pytest.raises(KernelError, match="another gravity_torque"):
        kernel.derivative("q")
    assert not index_entries(place)


# ── threads and processes ─────────────────────────────────────────────────────────────────────────


def test_no_thread_waits_for_one_that_waits_for_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One compiles a kernel whose code was deleted, and so traces it, while another that holds the mechanism calls it."""
    gravity_torque()
    (entry,) = index_entries(place)
    for path in set(place.glob("*.o")) - {entry}:
        path.unlink()
    arm = two_links()
    kernel, results = arm.kernel("gravity_torque"), []
    tracing, calling = threading.Event(), threading.Event()
    real = algorithm.trace

    def slowly(*args: Any, **options: Any) -> Tape:
        tracing.set()
        calling.wait(10.0)
        return real(*args, **options)

    def hold() -> np.ndarray:
        tracing.wait(10.0)
        calling.set()
        return np.asarray(kernel(Q))

    monkeypatch.setattr(algorithm, "trace", slowly)
    threads = [
        threading.Thread(target=lambda: results.append(kernel(Q)), daemon=True),
        threading.Thread(target=lambda: results.append(arm.memo("test", "call", hold)), daemon=True),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert len(results) == 2
    assert np.array_equal(*results)


RACE = """
import os, sys
import numpy as np
import linkwise as lw
other = lw.robots.load("planar_3r")  # (what all kernels share is compiled before)
other.jacobian(np.zeros(3)), other.jacobian(np.zeros((2, 3)))
read, write = os.pipe()
for _ in range(8):
    if not os.fork():
        q = np.array([0.1, 0.2])
        arm = lw.robots.planar_2r()
        result = arm.jacobian(q).tobytes() + arm.jacobian(np.array([q, q])).tobytes()
        os.write(write, result.hex().encode() + b"\\n")
        os._exit(0)
for _ in range(8):
    os.wait()
os.close(write)
print(os.read(read, 100000).decode())
"""


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="processes that begin at the same moment")
def test_processes_that_begin_with_an_empty_cache_get_the_same_numbers(place: Path) -> None:
    for _ in range(2):  # (the second time with a full one)
        done = subprocess.run([sys.executable, "-c", RACE], capture_output=True, text=True, check=True, timeout=300)
        lines = done.stdout.split()
        assert len(lines) == 8
        assert len(set(lines)) == 1
    assert not list(place.glob("*.tmp"))


def test_a_new_process_runs_no_tracer(place: Path) -> None:
    script = """
import sys
import numpy as np
import linkwise as lw
from linkwise import algorithm
if sys.argv[1] == "warm":
    algorithm.trace = None
arm, q = lw.robots.puma560(), np.linspace(0.1, 0.6, 6)
before = set(sys.modules)
print(arm.inverse_dynamics(q, q, q).tobytes().hex(), arm.jacobian(q).tobytes().hex())
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(new & {"llvmlite", "linkwise"} if sys.argv[1] == "warm" else set())
"""
    command = [sys.executable, "-c", script]
    outputs = [
        subprocess.run([*command, word], capture_output=True, text=True, check=True, timeout=120).stdout
        for word in ("cold", "warm")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[1].endswith("set()\n")
