"""Kernels as functions of torch tensors: values, shapes, derivatives in every way that torch takes them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import ArgumentError, MissingExtraError
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


def test_the_example_of_the_page(torch: Any) -> None:
    code = re.search(r"```python\n(.*?)```", (DOCS / "arrays.md").read_text("utf-8"), re.DOTALL)
    assert code
    exec(code[1], {})
