"""`Kernel.nonzeros` and `Kernel.sparsity`: the elements that are not zero whatever the inputs."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import linkwise as lw
from linkwise import robots
from linkwise.errors import KernelError
from linkwise.kernel import Kernel, trace
from support.random_mechanisms import parts, random_mechanism, random_state

NAMES = ("mass_matrix", "inverse_dynamics_derivatives", "regressor", "kinematic_hessian", "jacobian", "energy_regressor")


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_of_the_dense_results_bit_for_bit(name: str, backend: str) -> None:
    mech = random_mechanism(5, ["revolute", "ball", "prismatic", "revolute"], [-1, 0, 0, 2])
    kernel = mech.kernel(name, backend=backend)
    state = random_state(mech, 1, (2, 3))[: len(kernel.tape.inputs)]
    results, packed = parts(kernel(*state)), parts(kernel.nonzeros(*state))
    for dense, values, (output, shape) in zip(results, packed, kernel.tape.outputs.items(), strict=True):
        indices = kernel.sparsity[output]
        filled = np.zeros((2, 3, *shape))
        filled[..., *indices] = values
        assert np.array_equal(filled, dense)
        assert values.shape == (2, 3, len(indices[0]))
        print(f"{output}: {len(indices[0])} of {np.prod(shape)}")


def test_a_tree_has_zeros_between_its_branches() -> None:
    links = [lw.Link(name=name, parent=parent, mass=1.0, inertia=[1, 1, 1], com=[0.1, 0, 0]) for name, parent in TREE]
    kernel = lw.Mechanism(links).kernel("mass_matrix")
    zeros = {(1, 2), (2, 1), (1, 3), (3, 1)}
    pairs = set(zip(*(axis.tolist() for axis in kernel.sparsity["M"]), strict=True))
    assert pairs == {(i, j) for i in range(4) for j in range(4)} - zeros
    q = [0.1, 0.2, 0.3, 0.4]
    matrix = sparse.coo_array((kernel.nonzeros(q), kernel.sparsity["M"]), shape=(4, 4))
    assert np.array_equal(matrix.toarray(), kernel(q))
    assert kernel.nonzeros is kernel.nonzeros
    assert "mass_matrix_nonzeros" in repr(kernel.nonzeros)


TREE = (("trunk", "base"), ("left", "trunk"), ("right", "trunk"), ("hand", "right"))


def test_numbers_stay_and_arrays_of_zeros_are_left_out() -> None:
    shapes = {"total": (), "nothing": (2,), "some": (2, 2)}
    tape = trace(lambda x: (x[0] + x[1], [0.0, 0.0], [[0.0, x[0]], [1.5, 0.0]]), "mixed", {"x": (2,)}, shapes)
    kernel = Kernel(tape)
    total, some = kernel.nonzeros([3.0, 4.0])
    assert (total, some.tolist()) == (7.0, [3.0, 1.5])
    assert kernel.sparsity["total"] == ()
    assert [axis.tolist() for axis in kernel.sparsity["nothing"]] == [[]]
    assert [axis.tolist() for axis in kernel.sparsity["some"]] == [[0, 1], [1, 0]]
    assert list(kernel.nonzeros.tape.outputs) == ["total", "some"]


def test_a_function_that_is_zero_is_refused() -> None:
    kernel = Kernel(trace(lambda x: 0.0 * x, "null", {"x": (2,)}, {"y": (2,)}))
    with pytest.raises(KernelError, match="null"):
        _ = kernel.nonzeros
    assert [axis.tolist() for axis in kernel.sparsity["y"]] == [[]]


def test_they_are_kernels_with_derivatives_and_pickle() -> None:
    kernel = robots.puma560().kernel("jacobian").nonzeros
    q, tangent = np.linspace(0.1, 0.6, 6), np.linspace(1.0, -1.0, 6)
    values, again = kernel(q), pickle.loads(pickle.dumps(kernel))(q)
    assert np.array_equal(values, again)
    rate, step = kernel.jvp(q, tangent), 1e-6
    slope = (kernel(q + step * tangent) - kernel(q - step * tangent)) / (2 * step)
    error = np.abs(rate - slope).max()
    print(f"residual {error:.1e}")
    assert error < 1e-9  # (h^2 of the third derivative, and rounding 1e-16 / h)


def test_many_bodies() -> None:
    parents = ["base", "base", *(f"l{k}" for k in range(38))]
    links = [lw.Link(name=f"l{k}", parent=parent, mass=1.0, com=[0, 0.1, 0]) for k, parent in enumerate(parents)]
    mech = lw.Mechanism(links)
    kernel = mech.kernel("mass_matrix")
    assert kernel.tier == "looped"
    q = np.linspace(-1, 1, 40)
    dense = np.zeros((40, 40))
    dense[kernel.sparsity["M"]] = kernel.nonzeros(q)
    error = np.abs(dense - kernel(q)).max() / np.abs(dense).max()
    print(f"residual {error:.1e}; {len(kernel.sparsity['M'][0])} of 1600")
    assert len(kernel.sparsity["M"][0]) == 800  # (two chains that do not touch)
    assert error < 1e-14  # (the looped code sums up in another order)


def test_the_disk_knows_them_without_a_trace(tmp_path: Path) -> None:
    code = (
        "import linkwise as lw, linkwise.kernel.tape as tape\n"
        "kernel = lw.robots.puma560().kernel('mass_matrix')\n"
        "print(len(kernel.sparsity['M'][0]), kernel.nonzeros([0.1] * 6).tolist(), 'code' in kernel.tape.__dict__)\n"
    )
    env = {"LINKWISE_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", code]
    first, second = (subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first.split()[-1] == "True"
    assert second.split()[-1] == "False"
    assert first.split()[:-1] == second.split()[:-1]
