"""One tape, four ways to compute it: LLVM, NumPy, C and one operation at a time; all agree to rounding."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.expr import Expr, evaluate
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel import Kernel, Tape, trace
from linkwise.spatial.scalar import greatest, select
from support.compilers import C
from support.random_mechanisms import arguments, parts, sample

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-fPIC", "-shared")


def random_tape(seed: int, steps: int = 120) -> Tape:
    """Every operation many times, values near 1, no cancellation of more than a few digits at a step."""

    def compute(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        values = [*x, *y]
        for _ in range(steps):
            a, b = (values[-1 - k] for k in rng.integers(0, min(12, len(values)), 2))
            choice = rng.integers(0, 13)
            made: Any = [
                lambda a=a, b=b: a * 0.6 + b * 0.7,
                lambda a=a, b=b: a - 0.5 * b,
                lambda a=a, b=b: a * b * 0.5,
                lambda a=a, b=b: a / (1.5 + abs(b)),
                lambda a=a: a.sin(),
                lambda a=a: a.cos() * 0.9,
                lambda a=a: (abs(a) + 0.25).sqrt(),
                lambda a=a: -a + 0.3,
                lambda a=a, b=b: a * x[0].sign() + b,
                lambda a=a, b=b: (a + b) * (a - b) * 0.25,
                lambda a=a, b=b: (a * b).atan2(abs(b) + 0.75) if isinstance(a * b, Expr) else a,
                lambda a=a, b=b: greatest(a, 0.5 * b),
                lambda a=a, b=b: select(a, a * b, -0.25 * a),
            ][choice]()
            values.append(made if isinstance(made, Expr) else x[1])
        return np.array(values[-6:], dtype=object).reshape(2, 3), np.array([values[-7], 1.25, x[1]], dtype=object)

    return trace(compute, f"random{seed}", {"x": (3,), "y": (2,)}, {"A": (2, 3), "b": (3,)})


def one_at_a_time(tape: Tape, flat: np.ndarray) -> np.ndarray:
    """The reference: operation after operation on floats."""
    values = [*flat.tolist(), *tape.constants]
    for instruction in tape.code:
        values.append(OPERATIONS[instruction.op].value(*(values[arg] for arg in instruction.args)))
    return np.array([values[slot] for slot in tape.results])


def compiled_c(kernel: Kernel, folder: Path) -> Callable[..., np.ndarray]:
    """The C source, compiled with a plain C99 compiler, warnings as errors."""
    source = folder / f"{hashlib.sha256(kernel.to_c().encode()).hexdigest()[:16]}.c"
    source.write_text(kernel.to_c(), encoding="ascii")
    library = source.with_suffix(".so")
    done = subprocess.run(
        [str(C), *FLAGS, "-o", str(library), str(source), "-lm"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    function = getattr(ctypes.CDLL(str(library)), kernel.name)
    function.restype = None

    def call(*args: np.ndarray) -> np.ndarray:
        given = [np.ascontiguousarray(arg, dtype=float) for arg in args]
        results = [np.full(shape, np.nan) for shape in kernel.tape.outputs.values()]
        function(*(array.ctypes.data_as(ctypes.c_void_p) for array in (*given, *results)))
        return np.concatenate([array.ravel() for array in results])

    return call


def standalone_python(kernel: Kernel) -> Callable[..., Any]:
    """The Python source, run in an empty namespace."""
    space: dict[str, Any] = {}
    exec(kernel.to_python(), space)
    return space[kernel.name]  # type: ignore[no-any-return]


def flat(result: Any) -> np.ndarray:
    return np.concatenate([np.asarray(array).ravel() for array in parts(result)])


def compare(tape: Tape, args: list[np.ndarray], folder: Path) -> dict[str, float]:
    """The differences from the reference, relative to the largest value."""
    wanted = one_at_a_time(tape, np.concatenate([arg.ravel() for arg in args]))
    kernel = Kernel(tape, "llvm")
    found = {
        "llvm": flat(kernel.ufunc(*args)),
        "entry": flat(kernel(*args)),
        "numpy": flat(Kernel(tape, "numpy")(*args)),
        "python": flat(standalone_python(kernel)(*args)),
    }
    if C:
        found["c"] = compiled_c(kernel, folder)(*args)
    return {name: float(np.abs(values - wanted).max() / np.abs(wanted).max()) for name, values in found.items()}


@pytest.mark.parametrize("seed", range(12))
def test_random_tapes(seed: int, tmp_path: Path) -> None:
    tape = random_tape(seed)
    rng = np.random.default_rng(seed)
    errors = compare(tape, [rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 2)], tmp_path)
    print(errors)
    # 120 steps that multiply an error by at most about 1.3 each and mostly damp it, fused or not; seen: 3e-16.
    assert max(errors.values()) <= 1e-13


ROBOT_KERNELS = [
    ("puma560", "inverse_dynamics"),
    ("seven_joint", "jacobian_dot"),
    ("stanford", "forward_kinematics"),
    ("scara_icomatic", "motion"),
    ("puma560", "joint_wrenches_external"),
]


@pytest.mark.parametrize(("robot", "name"), ROBOT_KERNELS)
def test_robots(robot: str, name: str, tmp_path: Path) -> None:
    mech = robots.load(robot)
    tape = mech.kernel(name).tape
    errors = compare(tape, [arg[0] for arg in arguments(mech, name, (1,))], tmp_path)
    print(errors)
    # Some thousand roundings of either sign.
    assert max(errors.values()) <= 1e-13


def test_the_tape_gives_what_the_graph_gives() -> None:
    """A tape is the graph written flat: same bits."""
    from linkwise.expr import symbol

    x, y = symbol("x"), symbol("y")
    outputs = [(x * y).sin() - x, x / y, y, 2.5, (x + 1.0).sqrt() * x.sign()]
    tape = Tape.from_graph("f", {"v": np.array([x, y])}, {"out": np.array(outputs, dtype=object)})
    point = {x: 0.7, y: -1.1}
    assert one_at_a_time(tape, np.array([0.7, -1.1])).tolist() == evaluate(outputs, point)


def test_python_source_takes_batches() -> None:
    mech = robots.load("puma560")
    kernel = mech.kernel("inverse_dynamics")
    args = arguments(mech, "inverse_dynamics", (4, 3))
    batch = standalone_python(kernel)(*args)
    assert batch.shape == (4, 3, 6)
    assert np.abs(batch - kernel(*args)).max() <= 1e-12 * np.abs(batch).max()
    assert np.array_equal(batch[1, 2], standalone_python(kernel)(*(arg[1, 2] for arg in args)))
    broadcast = standalone_python(kernel)(args[0], args[1][0, 0], args[2])
    assert broadcast.shape == (4, 3, 6)
    single = standalone_python(kernel)(*(arg.astype(np.float32) for arg in args))
    assert single.dtype == np.float32


def test_sources_are_the_same_each_time() -> None:
    """They depend on the mechanism alone, so that generated code can be kept under version control."""
    mech = robots.load("puma560")
    again = mech.replace(name=mech.name)
    for name in ("inverse_dynamics", "jacobian"):
        first, second = mech.kernel(name), again.kernel(name)
        assert first is not second
        assert first.to_c() == second.to_c()
        assert first.to_python() == second.to_python()
        assert first.tape.digest == second.tape.digest


def test_sources_need_nothing_else() -> None:
    kernel = sample(0).kernel("inverse_dynamics")
    includes = [line for line in kernel.to_c().splitlines() if line.startswith("#")]
    assert includes == ["#include <math.h>"]
    assert kernel.to_c().isascii()
    imports = [line for line in kernel.to_python().splitlines() if "import" in line]
    assert imports == ["import numpy as np"]


def test_operations_are_counted() -> None:
    tape = trace(lambda x: x[:1] * x[1] + x[0].sin(), "f", {"x": (2,)}, {"y": (1,)})
    assert Kernel(tape).operations == {"mul": 1, "add": 1, "sin": 1}
    counts = robots.load("puma560").kernel("inverse_dynamics").operations
    print(counts)
    assert counts["sin"] == counts["cos"] == 4, "the first joint stands upright, the last body is alike about its axis"
    assert counts["mul"] + counts["add"] <= 313, "the first trial of the design took 466"


def test_a_function_must_give_what_it_declares() -> None:
    with pytest.raises(ValueError, match=r"f gave y of shape \(2,\); it declares \(3,\)"):
        trace(lambda x: x, "f", {"x": (2,)}, {"y": (3,)})


def test_constant_outputs_and_unused_inputs(tmp_path: Path) -> None:
    tape = trace(
        lambda x, y: (np.array([1.5, x[0]], dtype=object), np.array(2.0)), "f", {"x": (1,), "y": (2,)}, {"a": (2,), "b": ()}
    )
    args = [np.array([[3.0], [4.0]]), np.zeros((2, 2))]
    for backend in ("llvm", "numpy"):
        a, b = Kernel(tape, backend)(*args)
        assert a.tolist() == [[1.5, 3.0], [1.5, 4.0]]
        assert b.tolist() == [2.0, 2.0]
    if C:
        assert compiled_c(Kernel(tape), tmp_path)(args[0][0], args[1][0]).tolist() == [1.5, 3.0, 2.0]
    assert prod(tape.outputs["b"]) == 1


def test_special_values_in_every_operation(tmp_path: Path) -> None:
    """NaN, infinities and zeros through each operation alone: the lowerings agree with the reference on every one."""
    values = np.array([0.0, -0.0, 1.0, -1.5, np.nan, np.inf, -np.inf, 5e-324, 1.7e308])
    a, b, c = (grid.ravel() for grid in np.meshgrid(values, values, values))
    for op, operation in OPERATIONS.items():
        if operation.arity == 1:
            one = {"neg": lambda x: -x, "abs": abs, "sqrt": lambda x: x.sqrt(), "sign": lambda x: x.sign(),
                   "sin": lambda x: x.sin(), "cos": lambda x: x.cos()}[op]  # fmt: skip
            tape = trace(lambda x, f=one: np.array([f(x[0])], dtype=object), f"only_{op}", {"x": (1,)}, {"y": (1,)})
            args = [a[:, None]]
        elif operation.arity == 2:
            two = {
                "atan2": lambda x, y: x.atan2(y),
                "add": lambda x, y: x + y,
                "sub": lambda x, y: x - y,
                "mul": lambda x, y: x * y,
                "div": lambda x, y: x / y,
            }[op]
            tape = trace(
                lambda x, y, f=two: np.array([f(x[0], y[0])], dtype=object),
                f"only_{op}",
                {"x": (1,), "y": (1,)},
                {"z": (1,)},
            )
            args = [a[:, None], b[:, None]]
        else:
            assert op == "select"
            ports = {"x": (1,), "y": (1,), "z": (1,)}
            tape = trace(
                lambda x, y, z: np.array([x[0].select(y[0], z[0])], dtype=object), "only_select", ports, {"w": (1,)}
            )
            args = [a[:, None], b[:, None], c[:, None]]
        wanted = np.array([one_at_a_time(tape, np.array([arg[k, 0] for arg in args]))[0] for k in range(len(a))])
        ways = {backend: Kernel(tape, backend) for backend in ("llvm", "numpy")}
        if C:
            one_row = compiled_c(ways["llvm"], tmp_path)
            ways["c"] = lambda *given, call=one_row: np.array([call(*row) for row in zip(*given, strict=True)])
        for backend, function in ways.items():
            with np.errstate(all="ignore"):
                found = function(*args)[:, 0]
            if op in {"sin", "cos", "atan2"}:
                np.testing.assert_array_max_ulp(found[np.isfinite(wanted)], wanted[np.isfinite(wanted)], 2)
                assert np.array_equal(np.isnan(found), np.isnan(wanted))
            else:
                assert np.array_equal(found, wanted, equal_nan=True), (op, backend)


def test_teeth() -> None:
    """A constant that is off in the twelfth digit is seen."""
    tape = random_tape(0)
    rng = np.random.default_rng(0)
    point = np.concatenate([rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 2)])
    wrong = Tape(
        tape.name, tape.inputs, tape.outputs, tuple(c * (1 + 1e-12) for c in tape.constants), tape.code, tape.results
    )
    right = one_at_a_time(tape, point)
    assert np.abs(one_at_a_time(wrong, point) - right).max() / np.abs(right).max() > 1e-13
