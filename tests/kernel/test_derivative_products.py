"""Products with derivatives as kernels: names, shapes, choices, pickles, batches, numbers without quaternions, the disk."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import Mechanism, robots, symbols
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.kernel.deferred_tape import DeferredTape
from linkwise.kernel.differentiation import fresh
from linkwise.kernel.kernel import DerivativeProduct
from support.random_mechanisms import craft, sample


def product() -> Kernel:
    return Kernel(trace(lambda x, y: (x * y[0], y[1].sin()), "product", {"x": (3,), "y": (2,)}, {"z": (3,), "s": ()}))


def test_names_and_shapes() -> None:
    kernel = product()
    vjp, jvp = kernel.vjp, kernel.jvp
    assert (vjp.tape.inputs, vjp.tape.outputs) == (
        {"x": (3,), "y": (2,), "z_bar": (3,), "s_bar": ()},
        {"x_bar": (3,), "y_bar": (2,)},
    )
    assert (jvp.tape.inputs, jvp.tape.outputs) == (
        {"x": (3,), "y": (2,), "x_dot": (3,), "y_dot": (2,)},
        {"z_dot": (3,), "s_dot": ()},
    )
    assert (vjp.name, jvp.name) == ("product_vjp", "product_jvp")
    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 0.0])
    x_bar, y_bar = vjp(x, y, [1.0, 1.0, 2.0], 5.0)
    assert (x_bar.tolist(), y_bar.tolist()) == ([4.0, 4.0, 8.0], [9.0, 5.0])
    z_dot, s_dot = jvp(x, y, [1.0, 0.0, 0.0], [1.0, 2.0])
    assert (z_dot.tolist(), s_dot) == ([5.0, 2.0, 3.0], 2.0)


def test_names_stay_different_in_derivatives_of_derivatives() -> None:
    kernel: Kernel = product()
    for modes in ("vjp vjp vjp", "jvp jvp jvp", "vjp jvp vjp", "jvp vjp jvp"):
        one = kernel
        for mode in modes.split():
            one = getattr(one, mode)
            names = [*one.tape.inputs, *one.tape.outputs]
            assert len(set(names)) == len(names)
    assert fresh({"q": ()}, "bar", ["q_bar", "q_bar2"]) == {"q_bar3": ()}


def test_by_some_inputs_in_their_order() -> None:
    kernel = product()
    assert list(kernel.vjp.by("y").tape.outputs) == ["y_bar"]
    assert list(kernel.jvp.by("y", "x").tape.inputs) == ["x", "y", "y_dot", "x_dot"]
    assert kernel.vjp.by("y") is kernel.vjp.by("y")
    assert kernel.vjp.by() is kernel.vjp
    assert kernel.vjp.by("x", "y") is kernel.vjp
    with pytest.raises(ArgumentError, match=r"product_vjp by 'z': no input of it; product has 'x' and 'y'"):
        kernel.vjp.by("z")
    with pytest.raises(ArgumentError, match=r"product_jvp by 'x': twice"):
        kernel.jvp.by("x", "x")


def test_a_wrong_shape_is_named() -> None:
    kernel = robots.planar_2r().kernel("inverse_dynamics")
    with pytest.raises(ArgumentError, match=r"tau_bar has the shape \(3,\); expected \(\.\.\., 2\)"):
        kernel.vjp([0.0, 0.5], [1.0, 2.0], [0.0, 0.0], [1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match=r"'tau_bar' is missing"):
        kernel.vjp([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])


def test_a_batch_is_a_loop_bit_for_bit() -> None:
    kernel = sample(3).kernel("inverse_dynamics").vjp
    rng = np.random.default_rng(0)
    args = [rng.normal(size=(7, *shape)) for shape in kernel.tape.inputs.values()]
    batch = kernel(*args)
    for k in range(7):
        for whole, one in zip(batch, kernel(*[arg[k] for arg in args]), strict=True):
            assert np.array_equal(whole[k], one)
    narrow = kernel(*[arg.astype(np.float32) for arg in args])
    assert {array.dtype for array in narrow} == {np.dtype(np.float32)}
    assert kernel(*[arg[0] for arg in args[:3]], np.stack(args[3]))[0].shape == (7, kernel.tape.outputs["q_bar"][0])


def test_it_pickles() -> None:
    kernel = craft().kernel("kinetic_energy")
    for one in (kernel.vjp, kernel.jvp.by("q", tangent=False), kernel.vjp.jvp):
        again = pickle.loads(pickle.dumps(one))
        assert isinstance(again, DerivativeProduct)
        assert again.tape == one.tape
        assert (again.names, again.tangent, again.mode) == (one.names, one.tangent, one.mode)


def test_coordinates_with_quaternions() -> None:
    mech = craft()
    vjp = mech.kernel("inverse_dynamics").vjp
    assert vjp.tape.outputs["q_bar"] == (mech.nv,)
    assert vjp.by(tangent=False).tape.outputs["q_bar"] == (mech.nq,)
    assert vjp.jvp.tape.inputs["q_dot"] == (mech.nv,)
    fixed = sample(3).kernel("inverse_dynamics").vjp
    assert fixed.by(tangent=False) is fixed


def test_by_the_parameters_of_a_model() -> None:
    """tau = m (l^2 qdd + g l cos q) for a point on a rod: its derivatives by m and l."""
    import linkwise as lw

    m, length = symbols("m l")
    rod = Mechanism([lw.Link(joint="revolute", axis=(0, 1, 0), mass=m, com=(length, 0, 0))], gravity=(0, 0, -9.81))
    kernel = rod.kernel("inverse_dynamics")
    names = kernel.tape.labels["parameters"]
    q, qdd, values = 0.3, 0.7, {"m": 2.0, "l": 0.5}
    parameters = np.array([values[name] for name in names])
    bar = kernel.vjp.by("parameters")([q], [0.0], [qdd], parameters, [1.0])
    rate = kernel.derivative("parameters")([q], [0.0], [qdd], parameters)[0]
    assert np.allclose(bar, rate, rtol=1e-15)


def test_no_joints() -> None:
    import linkwise as lw

    block = Mechanism([lw.Link(joint="fixed", mass=1.0)])
    assert block.kernel("inverse_dynamics").vjp(*[np.zeros(0)] * 4)[0].shape == (0,)


def test_it_is_written_as_code_and_equations() -> None:
    vjp = robots.planar_2r().kernel("inverse_dynamics").vjp
    assert "tau_bar" in vjp.to_python()
    assert "q_bar" in vjp.to_text()


def test_the_disk_knows_the_tape() -> None:
    """Another mechanism that is the same needs no tracing, and gives the same bits."""
    first, second = (robots.load("planar_3r").replace(name="known") for _ in range(2))
    tapes = [mech.kernel("inverse_dynamics").vjp.tape for mech in (first, second)]
    assert tapes[0] == tapes[1]
    if DeferredTape in map(type, tapes):
        assert tapes[1].digest == tapes[0].digest
    args = [np.array([0.1, 0.2, 0.3])] * 4
    for one, other in zip(
        first.kernel("inverse_dynamics").vjp(*args), second.kernel("inverse_dynamics").vjp(*args), strict=True
    ):
        assert np.array_equal(one, other)
