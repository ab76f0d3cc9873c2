"""Kernels as functions of torch tensors: values, shapes, derivatives in every way that torch takes them."""

from __future__ import annotations

import gc
import re
import sys
import weakref
from collections import deque
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots, simulate, stack
from linkwise.errors import ArgumentError, KernelError, MissingExtraError
from linkwise.kernel import Kernel
from support.random_mechanisms import craft

#: (torch itself warns of what it uses of its own)
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning", "ignore:.torch.jit:DeprecationWarning")

DOCS = Path(__file__).parents[2] / "docs"


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r'inverse_dynamics\.torch\(\) needs PyTorch: pip install "torch'):
        robots.load("planar_2r").replace().kernel("inverse_dynamics").torch()


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


def states(torch: Any, rows: int = 5) -> list[Any]:
    torch.manual_seed(0)
    return list(torch.randn(3, rows, 2, dtype=torch.float64))


def test_values_are_those_of_the_kernel(torch: Any) -> None:
    kernel, (q, qd, qdd) = robots.planar_2r().kernel("inverse_dynamics"), states(torch)
    function = kernel.torch()
    assert np.array_equal(function(q, qd, qdd).numpy(), kernel(q.numpy(), qd.numpy(), qdd.numpy()))
    assert function(q[0], qd, qdd).shape == (5, 2)
    narrow = [x.float() for x in (q, qd, qdd)]
    assert function(*narrow).dtype == torch.float32
    assert function(narrow[0], qd, qdd).dtype == torch.float64
    assert robots.planar_2r().kernel("kinetic_energy").torch()(q, qd).shape == (5,)
    assert kernel.torch() is function


def test_derivatives_of_any_order_in_both_modes(torch: Any) -> None:
    function = robots.planar_2r().kernel("inverse_dynamics").torch()
    args = [x.requires_grad_() for x in states(torch, 2)]
    assert torch.autograd.gradcheck(function, args, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, args, check_fwd_over_rev=True)


def test_with_quaternions_by_their_numbers(torch: Any) -> None:
    kernel = craft().kernel("kinetic_energy")
    torch.manual_seed(1)
    q, qd = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in kernel.tape.inputs.values())
    assert torch.autograd.gradcheck(kernel.torch(), (q, qd))


def test_transformations_of_functions(torch: Any) -> None:
    """Against the full derivatives; to the rounding of a few hundred operations."""
    from torch.func import hessian, jacfwd, jacrev, vmap

    arm, (q, qd, qdd) = robots.planar_2r(), states(torch)
    function, numbers = arm.kernel("inverse_dynamics").torch(), [x.numpy() for x in (q, qd, qdd)]
    for jacobian in (jacrev, jacfwd):
        tables = vmap(jacobian(function, argnums=(0, 1, 2)))(q, qd, qdd)
        for table, wanted in zip(tables, arm.inverse_dynamics_derivatives(*numbers), strict=True):
            assert np.abs(table.numpy() - wanted).max() < 1e-13
    weights = torch.tensor([1.0, -2.0], dtype=torch.float64)
    curvature = vmap(hessian(lambda *state: function(*state) @ weights))(q, qd, qdd)
    wanted = arm.inverse_dynamics_hessian_product(*numbers, weights.numpy())[0]
    assert np.abs(curvature.numpy() - wanted).max() < 1e-13
    mixed = vmap(function, in_dims=(1, None, None))(q.T, qd, qdd)
    assert mixed.shape == (5, 5, 2)


def test_several_outputs_and_unused_ones(torch: Any) -> None:
    """What is not used further counts as zero."""
    arm, (q, qd, qdd) = robots.planar_2r(), states(torch)
    q.requires_grad_()
    kernel = arm.kernel("inverse_dynamics_derivatives")
    by_q, _, _ = kernel.torch()(q, qd, qdd)
    (slope,) = torch.autograd.grad(by_q.sum(), q)
    wanted = kernel.vjp.by("q")(q.detach().numpy(), qd, qdd, np.ones((2, 2)), *np.zeros((2, 2, 2)))
    assert np.allclose(slope.numpy(), wanted, rtol=1e-14)


def test_what_does_not_fit_is_named(torch: Any) -> None:
    function, (q, qd, qdd) = robots.planar_2r().kernel("inverse_dynamics").torch(), states(torch)
    with pytest.raises(ArgumentError, match=r"'qdd' is missing"):
        function(q, qd)
    with pytest.raises(ArgumentError, match=r"qdd has the shape \(3,\); expected \(\.\.\., 2\)"):
        function(q, qd, torch.zeros(3))
    with pytest.raises(ArgumentError, match=r"q holds float16; expected float32 or float64"):
        function(q.half(), qd, qdd)
    with pytest.raises(ArgumentError, match=r"q is on the device meta; expected a tensor on the CPU"):
        function(q.to("meta"), qd, qdd)
    with pytest.raises(ArgumentError, match=r"q is laid out as sparse_coo; expected a dense tensor"):
        function(q.to_sparse(), qd, qdd)
    with pytest.raises(ArgumentError, match=r"qd holds complex128; expected real numbers"):
        function(q, np.zeros(2, complex), qdd)
    with pytest.raises(ArgumentError, match=r"qd has masked elements"):
        function(q, np.ma.masked_array([0.0, 1.0], [True, False]), qdd)
    with pytest.raises(ArgumentError, match=r"the batch shapes do not fit each other: q \(5,\), qd \(3,\)"):
        function(q, qd[:3], qdd)


def test_a_compiled_function_holds_the_kernel_whole(torch: Any) -> None:
    """With its derivatives, and the transformations of functions inside; the same operations, so to a few roundings."""
    from torch.func import jacfwd, jacrev, vmap

    function, (q, qd, qdd) = robots.planar_2r().kernel("inverse_dynamics").torch(), states(torch)

    def loss(q: Any, qd: Any, qdd: Any) -> Any:
        return (torch.sin(function(q, qd, qdd)) ** 2).sum()

    def slopes_of(q: Any, qd: Any, qdd: Any) -> Any:
        return vmap(jacrev(function), in_dims=(0, None, 0))(q, qd[0], qdd).sum((0, 1)) + jacfwd(loss)(q, qd[0], qdd)

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    wanted, inside = slopes_of(q, qd, qdd), torch.compile(slopes_of, fullgraph=True, backend="aot_eager")
    assert wanted.abs().max() > 1.0
    assert (inside(q, qd, qdd) - wanted).abs().max() < 1e-13
    q.requires_grad_()
    value = compiled(q, qd[0], qdd)
    assert (value - loss(q, qd[0], qdd)).abs() < 1e-14
    slopes = [torch.autograd.grad(x, q)[0] for x in (value, loss(q, qd[0], qdd))]
    assert (slopes[0] - slopes[1]).abs().max() < 1e-14


def test_methods_within_a_compiled_function(torch: Any) -> None:
    """Of mechanisms whose methods were called before and were not, and of others in their place; with any batch."""
    arm, other = robots.planar_2r().replace(), Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 2, 0)], convention="standard")
    arm.forward_kinematics(np.zeros(2))

    def loss(arm: Any, q: Any, qd: Any, qdd: Any, wrench: Any) -> Any:
        torques = arm.inverse_dynamics(q, qd, qdd=qdd, external=wrench)
        position = arm.forward_kinematics(arm.integrate(q, qd, 0.1), "tool")[..., :3, 3]
        return (torques**2).sum() + position.sum() + (arm.jacobian(q, frame="body") ** 2).sum()

    graph = torch.compile(loss, fullgraph=True, dynamic=True, backend="aot_eager")
    wrench = torch.randn(6, dtype=torch.float64)
    for mechanism, rows in ((arm, 3), (other, 3), (arm, 5)):
        state = [x.requires_grad_() for x in states(torch, rows)]
        value, wanted = (f(mechanism, *state, wrench) for f in (graph, loss))
        assert (value - wanted).abs() < 1e-12
        slopes = [torch.autograd.grad(x, state) for x in (value, wanted)]
        assert max((a - b).abs().max() for a, b in zip(*slopes, strict=True)) < 1e-12


def test_what_a_compiled_function_cannot_hold_is_named(torch: Any) -> None:
    arm, (q, _, _), unit = robots.planar_2r(), states(torch), np.eye(4).tolist()
    stacked = stack([arm, arm])
    for call, message in (
        (lambda q: simulate(arm, q, t=(0.1, 0.01), torque=lambda t, q, qd: -qd).q, "torque is a function; expected numbers"),
        (
            lambda q: arm.inverse_kinematics(unit).q + q,
            "inverse_kinematics: there is no tensor among its arguments",
        ),
        (lambda q: arm.inverse_dynamics(q, q, q, external={"tool": q}), "external is a dict; expected a tensor or numbers"),
        (lambda q: arm.regressor(q, q, q, driven=["q1"]), "regressor: torch.compile takes it as one kernel"),
        (lambda q: arm.jacobian(q, frame="base"), "frame is 'base'; expected 'world' or 'body'"),
        (stacked.gravity_torque, "gravity_torque of a stack is not part of a graph"),
        (lambda q: arm.gravity_torque(q.long()), "gravity_torque: q holds int64; expected float32 or float64"),
        (lambda q: arm.gravity_torque(q[..., :1]), r"gravity_torque: q has the shape \(5, 1\); expected \(\.\.\., 2\)"),
    ):
        with pytest.raises(Exception, match=message):  # (the compiler wraps an ArgumentError in one of its own)
            torch.compile(call, fullgraph=True, backend="eager")(q)


def test_linearisation_and_modes(torch: Any) -> None:
    arm, floating = robots.planar_2r(), craft()
    at = torch.tensor([[-1.57, 0.1], [0.3, 0.2]], dtype=torch.float64)
    q = torch.as_tensor(floating.random_configuration(1))
    qd = torch.linspace(0.0, 1.0, floating.nv, dtype=torch.float64)
    for mechanism, state in ((arm, [at]), (floating, [q, qd])):
        pair = mechanism.linearize(*state), mechanism.linearize(*[x.numpy() for x in state])
        for name in ("A", "B", "tau", "qdd"):
            assert np.array_equal(getattr(pair[0], name).numpy(), getattr(pair[1], name)), name
    assert arm.linearize(at.float()).A.dtype == torch.float32
    modes = arm.modes(at), arm.modes(at.numpy())
    assert np.allclose(modes[0].frequencies.numpy(), modes[1].frequencies, rtol=1e-12, equal_nan=True)
    assert np.isnan(modes[1].frequencies).any()  # (upright it falls)
    args = [at[0].clone().requires_grad_()]
    assert torch.autograd.gradcheck(lambda q: arm.linearize(q).A, args)
    assert torch.autograd.gradcheck(lambda q: arm.modes(q).frequencies, args)
    with pytest.raises(ArgumentError, match="reduced_mass_matrix: q is an array of torch; expected an array of NumPy"):
        robots.four_bar().reduced_mass_matrix(torch.zeros(3), ["crank"])


def test_modes_that_repeat_have_no_derivatives(torch: Any) -> None:
    """Of two pendulums side by side, whose squares are the sorted 9.81 cos q: with a corner where they meet."""
    links = [Link(name=name, axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0), parent="base") for name in "ab"]
    pair = Mechanism(links)

    def slopes_of(name: str, at: Any) -> Any:
        return torch.func.jacrev(lambda q: getattr(pair.modes(q), name))(torch.tensor(at, dtype=torch.float64))

    assert torch.allclose(slopes_of("squares", [0.7, -0.3]), torch.tensor([[-0.7, 0.0], [0.0, 0.3]]).double().sin() * 9.81)
    for name in ("squares", "frequencies", "shapes"):
        assert not slopes_of(name, [0.3, -0.3]).isfinite().any()
    neutral = slopes_of("frequencies", [np.pi / 2, 0.3])  # (the slope of a root at 0)
    assert neutral.isfinite().all(-1).tolist() == [False, True]


def test_modes_that_repeat_and_are_coupled_have_no_derivatives(torch: Any) -> None:
    """Of a pendulum on two crossed axes: a force across it at a tool beside it couples two modes, and changes neither K.

    The squares are 9.81 -+ force / 4 then, which is a corner; forces along the pendulum change nothing.
    """
    tool = np.eye(4)
    tool[:3, 3] = 0.5, 0.0, -1.0
    links = [Link(name="a", axis=(1, 0, 0)), Link(name="b", axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0))]
    pendulum, rest = Mechanism(links, tool=tool), torch.zeros(2, dtype=torch.float64)

    def rate(name: str, direction: list[float]) -> Any:
        forces = torch.zeros(6, dtype=torch.float64), torch.tensor([*direction, 0.0, 0.0, 0.0], dtype=torch.float64)
        return torch.func.jvp(lambda force: getattr(pendulum.modes(rest, force), name), *[(x,) for x in forces])[1]

    assert (pendulum.modes(rest, torch.tensor([0.0, 1e-2, 0, 0, 0, 0])).squares - 9.81).abs().min() > 2e-3
    for name in ("squares", "frequencies", "shapes"):
        assert not rate(name, [0.0, 1.0, 0.0]).isfinite().any()
    assert rate("squares", [1.0, 0.0, 0.0]).tolist() == [0.0, 0.0]


def test_solutions_and_rollouts_within_a_compiled_function(torch: Any) -> None:
    """With gradients, also of a second order, and forward mode: all are those of the same calls, so to a few roundings."""
    arm, still = robots.puma560(), robots.planar_2r()
    q = torch.as_tensor(arm.random_configuration(1, 2))
    start, torques = torch.randn(2, 2, dtype=torch.float64), torch.randn(2, 5, 2, dtype=torch.float64)

    def solve(T: Any) -> Any:
        solution = arm.inverse_kinematics(T, q0=q)
        return solution.q * solution.success[..., None]

    def roll(q: Any, qd: Any, torques: Any) -> Any:
        motion = simulate(still, q, qd, torque=torques, t=(0.05, 0.01))
        return motion.q.sum(-2) + motion.qdd[..., -1, :] * torch.as_tensor(motion.t)[-1]

    def slope_of_a_slope(T: Any) -> Any:
        def slope(T: Any) -> Any:
            return torch.func.grad(lambda T: solve(T).square().sum())(T).square().sum()

        return torch.func.grad(slope)(T) + torch.func.jvp(slope, (T,), (0.1 * T,))[1]

    cases = (solve, (arm.forward_kinematics(q),)), (roll, (start, start.flip(0), torques))
    for function, args in cases:
        graph = torch.compile(function, fullgraph=True, backend="aot_eager")
        tracked = [x.clone().requires_grad_() for x in args]
        values = graph(*tracked), function(*tracked)
        assert values[0].equal(values[1])
        slopes = [torch.autograd.grad(value.square().sum(), tracked) for value in values]
        assert all((a - b).abs().max() <= 1e-13 * b.abs().max() > 0 for a, b in zip(*slopes, strict=True))
    T = arm.forward_kinematics(q)
    graph, wanted = torch.compile(slope_of_a_slope, fullgraph=True, backend="aot_eager"), slope_of_a_slope(T)
    assert (graph(T) - wanted).abs().max() <= 1e-11 * wanted.abs().max()


def test_kernels_of_graphs_are_kept_up_to_a_number(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of mechanisms that are gone go then, too."""
    library = pytest.importorskip("linkwise.arrays.torch")
    monkeypatch.setattr(library, "COMPILED", deque(maxlen=2))
    q, kernels = torch.zeros(1, dtype=torch.float64), []
    for length in (1.0, 2.0, 3.0):
        arm = Mechanism([Link(axis=(0, 1, 0), mass=1.0, com=(length, 0, 0))])
        torch.compile(arm.kernel("gravity_torque").torch(), fullgraph=True, backend="aot_eager")(q)
        kernels.append(weakref.ref(arm.kernel("gravity_torque")))
        torch.compiler.reset()
        del arm
    gc.collect()
    assert [kernel() is not None for kernel in kernels] == [False, True, True]


def test_functions_of_several_kernels_within_a_compiled_function(torch: Any) -> None:
    """The same operations, so to the last bit."""
    arm, floating, plane = robots.planar_2r(), craft(), [1, 1, 0, 0, 0, 0]
    at = torch.tensor([[-1.57, 0.1], [-0.3, 0.2]], dtype=torch.float64)
    state = torch.as_tensor(floating.random_configuration(1)), torch.linspace(0.0, 1.0, floating.nv, dtype=torch.float64)
    for function, args in (
        (lambda q: arm.modes(q).frequencies.sum() + arm.linearize(q).A.sum(), (at,)),
        (lambda q: arm.operational_space_dynamics(q, 0.3 * q, mask=plane).coriolis.sum(), (at,)),
        (lambda q: arm.manipulability(q, mask=plane).sum(), (at,)),
        (lambda q, qd: floating.linearize(q, qd).A.square().sum(), state),
    ):
        graph = torch.compile(function, fullgraph=True, backend="aot_eager")
        tracked = [x.clone().requires_grad_() for x in args]
        values = graph(*tracked), function(*tracked)
        assert values[0].equal(values[1])
        for one, other in zip(*(torch.autograd.grad(value, tracked) for value in values), strict=True):
            assert one.equal(other)


def test_a_first_call_within_a_compiled_function(torch: Any) -> None:
    """Of a new mechanism, which keeps nothing yet; what is computed to choose a kernel is not part of the graph."""
    (q, qd, _), arm, linkage = states(torch), Mechanism(robots.planar_2r().links), robots.four_bar()
    graph = torch.compile(lambda q, qd: arm.integrate(q, qd, 0.1), fullgraph=True, backend="eager")
    assert (graph(q, qd) - (q + 0.1 * qd)).abs().max() < 1e-15
    at = torch.tensor(linkage.neutral)
    motion = torch.compile(linkage.forward_dynamics, fullgraph=True, backend="eager")(at, 0.0 * at, 0.0 * at)
    assert motion.isfinite().all()
    assert np.array_equal(motion.numpy(), linkage.forward_dynamics(at.numpy(), np.zeros(3), np.zeros(3)))


def test_kernels_of_one_tape_and_two_back_ends_are_two(torch: Any) -> None:
    from linkwise.arrays.torch import KERNELS, kernel_of, key_of

    tape = robots.planar_2r().kernel("bias_torque").tape
    kernels = [Kernel(tape, name) for name in ("llvm", "numpy")] + [Kernel(tape, "llvm", lanes=2)]
    keys = [key_of(kernel) for kernel in kernels]
    assert len(set(keys)) == 3
    # (one that is alive from before may stand for each)
    assert [kernel_of(key).identity for key in keys] == [kernel.identity for kernel in kernels]
    slope = kernels[1].vjp.by("q", tangent=False)
    key = key_of(slope)
    del KERNELS[key]
    assert kernel_of(key).identity == slope.identity  # (as in a process that has a graph of derivatives from elsewhere)
    again = [key_of(Kernel(tape, kernel.backend, lanes=kernel.lanes)) for kernel in kernels]
    assert again == keys
    with pytest.raises(KernelError, match="f: no kernel of this name is here"):
        kernel_of("f-0")


@pytest.mark.parametrize(
    "change",
    [
        lambda q, torch: q.T.contiguous().T,
        lambda q, torch: q[::2].expand(3, 3, 2),
        lambda q, torch: q[:0],
        lambda q, torch: torch._neg_view(q),
        lambda q, torch: q.numpy()[::-1],
        lambda q, torch: np.broadcast_to(q.numpy()[0], (5, 2)),
    ],
)
def test_tensors_of_any_layout(torch: Any, change: Any) -> None:
    arm, (q, qd, _) = robots.planar_2r(), states(torch)
    value, qd = change(q, torch), qd[0]
    wanted = arm.kinetic_energy(np.asarray(value.resolve_neg() if hasattr(value, "resolve_neg") else value), qd.numpy())
    function = arm.kernel("kinetic_energy").torch()
    assert np.array_equal(function(value, qd).numpy(), wanted)
    assert np.array_equal(function(value, qd.requires_grad_()).detach().numpy(), wanted)


def test_methods_take_tensors(torch: Any) -> None:
    arm, (q, qd, qdd) = robots.planar_2r(), states(torch)
    wanted = arm.inverse_dynamics(q.numpy(), qd.numpy(), qdd.numpy())
    assert np.array_equal(arm.inverse_dynamics(q, qd, qdd).numpy(), wanted)
    assert np.array_equal(arm.inverse_dynamics(q, qd.numpy(), qdd).numpy(), wanted)
    assert arm.forward_kinematics(q.float(), link="link1").dtype == torch.float32
    assert arm.integrate(q.float(), qd.float(), 0.1).dtype == torch.float32
    q.requires_grad_()
    wrench = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    arm.inverse_dynamics(q, qd, qdd, external=wrench).sum().backward()
    assert np.abs(wrench.grad.numpy() + arm.jacobian(q.detach().numpy(), frame="body").sum((0, 2))).max() < 1e-13
    with pytest.raises(ArgumentError, match=r"forward_kinematics: q holds int64; expected float32 or float64: \.double\(\)"):
        arm.forward_kinematics(torch.zeros(2, dtype=torch.int64))
    with pytest.raises(ArgumentError, match=r"q holds complex64; expected float32 or float64: \.real"):
        arm.forward_kinematics(torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(ArgumentError, match="arrays of torch take none"):
        arm.kernel("forward_kinematics")(q, out=np.zeros((4, 4)))


def test_what_has_no_derivatives_says_so(torch: Any) -> None:
    arms, (q, _, _) = stack([robots.planar_2r()] * 2), states(torch)
    assert arms.gravity_torque(q[0]).shape == (2, 2)
    with torch.no_grad():
        assert arms.gravity_torque(q[0].clone().requires_grad_()).shape == (2, 2)
    for call in (
        lambda: arms.gravity_torque(q[0].clone().requires_grad_()),
        lambda: torch.func.grad(lambda q: arms.gravity_torque(q).sum())(q[0]),
        lambda: torch.func.jvp(arms.gravity_torque, (q[0],), (q[1],)),
    ):
        with pytest.raises(ArgumentError, match="gravity_torque of a stack has no derivatives by torch"):
            call()
    with pytest.raises(ArgumentError, match="there is no code for a GPU for this; expected tensors on the CPU"):
        robots.planar_2r().inverse_kinematics(torch.eye(4, device="meta"))


def test_the_example_of_the_page(torch: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "arrays.md").read_text("utf-8"), re.DOTALL)
    namespace: dict[str, Any] = {}
    for block in blocks:
        if "torch." in block:
            exec(block, namespace)


def test_a_first_import_within_a_transformation(torch: Any) -> None:
    """The state of torch's dispatcher that functions in graphs run in is that outside of it."""
    spec = find_spec("linkwise.arrays.traced_function")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    torch.func.grad(lambda x: (spec.loader.exec_module(module), x)[1])(torch.tensor(1.0))
    outside = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    assert str(module._OUTSIDE) == str(outside)
