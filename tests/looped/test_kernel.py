"""What is kept of looped programs, processes that race for it, and mechanisms of a thousand bodies."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from click.testing import CliRunner

import linkwise as lw
from linkwise.cli.command import Commands
from linkwise.kernel import cache
from linkwise.kernel.backends.llvm import looped_loading
from linkwise.kernel.looped import ProgramLayout
from linkwise.looped import kernel as sweeps
from linkwise.spatial.transform import translation
from linkwise.sweeps.drivers import Sweeps, looped
from linkwise.sweeps.tables import _passing_places
from support.random_mechanisms import coupled, random_mechanism, random_state, sample

RACE = """
import numpy as np, linkwise as lw
arm = lw.robots.puma560()
q = np.linspace(-1, 1, 30).reshape(5, 6)
print([arm.kernel(name, tier="looped")(*[q] * count).tobytes().hex() for name, count in {calls}])
"""


def run(folder: Path, calls: list[tuple[str, int]]) -> subprocess.Popen[str]:
    environment = {**os.environ, "LINKWISE_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", RACE.format(calls=calls)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def test_processes_race_on_a_cold_cache(tmp_path: Path) -> None:
    """Six, on the same numbers; some find what others have just written."""
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    calls = [("inverse_dynamics", 3), ("gravity_torque", 1)]
    processes = [run(folder, calls) for _ in range(6)]
    results = [process.communicate(timeout=300) for process in processes]
    assert {errors for _, errors in results} == {""}
    assert len({output for output, _ in results}) == 1


@pytest.mark.parametrize("reused", [True, False])
def test_places_of_what_bodies_pass_on(reused: bool) -> None:
    """Each body finds what its parent left, whatever the branches; a chain takes two places and the ground's."""
    rng = np.random.default_rng(0)
    trees = [list(range(-1, 99)), [-1] * 20, [], *([int(rng.integers(-1, k)) for k in range(60)] for _ in range(20))]
    for number, parents in enumerate(trees):
        places = _passing_places(parents, reused=reused)
        left = {0: -1}
        for k, ((own, before), parent) in enumerate(zip(places.tolist(), parents, strict=True)):
            assert left[before] == parent
            assert own not in {0, before}
            left[own] = k
        assert places.shape == (len(parents), 2)
        if not reused:
            assert places[:, 0].tolist() == list(range(1, len(parents) + 1))
        elif number == 0:
            assert places.max() == 2


@pytest.mark.parametrize("backwards", [False, True])
def test_one_configuration_whose_walks_go_on_together(backwards: bool) -> None:
    """Ways of 8 rows and longer, with branches: the bits of a batch, in which each walks alone."""
    parents = [-1, *range(7), 3, *range(8, 20), 14, *range(21, 30)]
    rng, order = np.random.default_rng(5), list(range(len(parents)))
    if backwards:
        order = order[:10] + order[10:][::-1]
    links = [
        lw.Link.dh(
            a=rng.uniform(-0.5, 0.5),
            alpha=rng.uniform(-1.0, 1.0),
            d=rng.uniform(-0.5, 0.5),
            convention="standard",
            joint="prismatic" if k % 7 == 3 else "revolute",
            name=f"link{k}",
            parent=None if parents[k] < 0 else f"link{parents[k]}",
            mass=1.0 + 0.1 * k,
            com=rng.uniform(-0.1, 0.1, 3),
            inertia=(0.2, 0.3, 0.25),
        )
        for k in range(len(parents))
    ]
    tree = lw.Mechanism([links[k] for k in order])
    for name, count in (("mass_matrix", 1), ("coriolis_matrix", 2), ("inverse_dynamics_derivatives", 3)):
        inputs = rng.uniform(-1.0, 1.0, (count, 3, tree.n))
        kernel = tree.kernel(name, tier="looped")
        for k in range(3):
            for one, rows in zip(parts(kernel(*inputs[:, k])), parts(kernel(*inputs)), strict=True):
                assert np.array_equal(one, rows[k]), name


def parts(results: object) -> tuple[np.ndarray, ...]:
    return results if isinstance(results, tuple) else (np.asarray(results),)


def test_entries_that_are_damaged_or_gone(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    calls = [("gravity_torque", 1)]
    wanted, _ = run(folder, calls).communicate(timeout=300)
    for path in sorted(folder.glob("*.o")):
        path.write_bytes(b"linkwise object 1\n" + bytes(40) + b"{}")
        found, errors = run(folder, calls).communicate(timeout=300)
        assert (found, errors) == (wanted, ""), path
    for path in sorted(folder.glob("*.o"))[::2]:
        path.unlink()
    assert run(folder, calls).communicate(timeout=300) == (wanted, "")


def test_steps_from_outside_are_never_those_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Declared again under the same name, they are recorded again: no key holds their text."""
    monkeypatch.setattr("linkwise.looped.kernel.LOOPED", dict(sweeps.LOOPED))
    monkeypatch.setattr("linkwise.sweeps.drivers.LOOPED", sweeps.LOOPED)
    for factor in (1.0, 2.0):

        @looped("potential_energy")
        def energy(steps: Sweeps, factor: float = factor) -> None:
            steps.outward(lambda body: body.write("U", factor, add=True))

        arm = lw.robots.puma560().replace(name=f"arm {factor}")
        assert arm.kernel("potential_energy", tier="looped")(np.zeros(6)) == 6.0 * factor


@pytest.mark.parametrize("name", ["regressor", "center_of_mass", "inverse_dynamics"])
def test_programs_do_not_depend_on_what_is_still_in_memory(name: str) -> None:
    """Processes that share a cache may each compile a part of a program's code: all must record the same operations."""
    digests, threshold = set(), gc.get_threshold()
    try:
        for every in (0, 1, 1000):  # (never collected, after each object, now and then)
            gc.set_threshold(every)
            digests.add(sweeps._recorded(sweeps.LOOPED[name], (), True).layout.digest)
    finally:
        gc.set_threshold(*threshold)
    assert len(digests) == 1


def test_layouts_are_read_as_they_were_written() -> None:
    layout = sweeps.code_of("inverse_dynamics_derivatives", (), True).layout
    assert ProgramLayout.read(layout.text()) == layout
    for text in (b"", b"[]", b"{}", layout.text()[:-9], layout.text().replace(b'"tables"', b'"other"')):
        with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
            ProgramLayout.read(text)


def chain(count: int) -> lw.Mechanism:
    return random_mechanism(3, ["revolute"] * count, list(range(-1, count - 1)), ["general"] * count, motors=False)


def test_a_thousand_bodies() -> None:
    """With little room for recursion; what goes in comes out, to what rounding of some thousand bodies leaves."""
    mech, limit = chain(1000), sys.getrecursionlimit()
    q, qd, qdd = random_state(mech, 1)
    chain(40).forward_dynamics(*np.zeros((3, 40)))  # (imports what is imported at a first call)
    depth = len(__import__("inspect").stack()) + 60
    try:
        sys.setrecursionlimit(depth)
        tau = mech.inverse_dynamics(q, qd, qdd)
        back = mech.forward_dynamics(q, qd, tau)
        poses, J = mech.link_poses(q), mech.jacobian(q)
        M, kinetic = mech.mass_matrix(q), mech.kinetic_energy(q, qd)
    finally:
        sys.setrecursionlimit(limit)
    bias = mech.bias_torque(q, qd)
    error = np.abs(M @ qdd + bias - tau).max() / np.abs(tau).max()
    energy = abs(qd @ M @ qd / 2 / kinetic - 1)
    h = 1e-7
    moved = mech.forward_kinematics(q + h * qd) - mech.forward_kinematics(q - h * qd)
    velocity = np.abs(J[:3] @ qd - moved[:3, 3] / (2 * h)).max() / np.abs(J[:3] @ qd).max()
    turned = np.abs(poses[:, :3, :3] @ poses[:, :3, :3].swapaxes(1, 2) - np.eye(3)).max()
    residual = np.abs(mech.inverse_dynamics(q, qd, back) - tau).max() / np.abs(tau).max()
    print(f"1,000 bodies: M qdd + bias to {error:.1e}, energy {energy:.1e}, rotations {turned:.1e}, residual {residual:.1e}")
    assert max(error, energy, turned) < 1e-12  # (some thousand roundings)
    assert residual < 1e-9  # (accelerations of links at the end of the chain are large)
    assert velocity < 1e-6  # (central differences of positions of some 100 m)


def test_joints_that_follow_others_are_called_as_all_are() -> None:
    """Arguments and outputs of wrong shapes and types are refused as a gufunc does, and nothing is written before."""
    mech = coupled(sample(3))
    q, qd, tau = random_state(mech, 1, (5,))
    mass = mech.kernel("mass_matrix", tier="looped")
    for wrong in (q[:, :-1], np.ones((5, mech.nq + 1)), 0.5):
        with pytest.raises(lw.errors.ArgumentError, match=r"mass_matrix: q has the shape"):
            mass(wrong)
    with pytest.raises(TypeError, match="Cannot cast"):
        mass(q, out=np.empty((5, mech.nv, mech.nv), dtype=int))
    kernel = mech.kernel("forward_dynamics_derivatives", tier="looped")
    outputs = [np.zeros((5, mech.nv, mech.nv)) for _ in range(3)]
    with pytest.raises(ValueError, match="operands could not be broadcast"):
        kernel(q, qd, tau, out=(outputs[0], outputs[1], outputs[2][:4]))
    assert not any(map(np.any, outputs))
    results = kernel(q, qd, tau, out=(outputs[0], None, outputs[2]))
    assert results[0] is outputs[0]
    assert all(map(np.array_equal, results, kernel(q, qd, tau)))
    single = mech.kernel("inverse_dynamics", tier="looped")
    assert np.array_equal(single(q.astype(np.float32), qd, tau), single(q.astype(np.float32).astype(float), qd, tau))
    known = weakref.ref(mech)
    del mech, mass, kernel, single
    gc.collect()
    assert known() is None, "nothing keeps it"


def test_a_singular_mass_matrix_stays_in_its_row() -> None:
    """Tip of two equal links in the plane, the second turned back twice as far: stretched, it does not move."""
    first = lw.Link(name="a", axis=(0, 0, 1))
    second = lw.Link(before=translation(1.0, 0.0, 0.0), axis=(0, 0, 1), mass=1.0, com=(1.0, 0.0, 0.0))
    mech = lw.Mechanism([first, second.replace(mimic=lw.Mimic("a", -2.0))])
    for name in ("forward_dynamics", "forward_dynamics_derivatives"):
        kernel = mech.kernel(name, tier="looped")
        for part in parts(kernel([[0.3], [0.0], [0.4]], [[1.0]], [[1.0]])):
            assert np.isfinite(part[[0, 2]]).all()
            assert np.isnan(part[1]).all()


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "kinetic_energy", "link_poses", "momentum"])
def test_one_configuration_by_the_entry_is_the_gufunc(name: str) -> None:
    """To the last bit, and what was handed out stays what it was."""
    mech = chain(40)
    kernel = mech.kernel(name)
    count = len(kernel.tape.inputs)
    states = [random_state(mech, seed)[:count] for seed in range(8)]
    assert kernel.tier == "looped"
    assert kernel.machine_entry() is not None
    kept = [kernel(*state) for state in states]
    for state, value in zip(states, kept, strict=True):
        assert np.array_equal(value, kernel.ufunc(*state))
        assert np.array_equal(value, kernel(*([x, x, x] for x in state))[1])
    assert type(kept[0]) is type(kernel.ufunc(*states[0]))


def test_warm_fills_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kernels"))
    monkeypatch.setattr(sweeps, "programs", lambda: [("friction_torque", (), True)])
    sweeps.kept_code.cache_clear()
    command = Commands().get_command(None, "warm")  # type: ignore[arg-type]
    assert command is not None
    result = CliRunner().invoke(command, ["--json"])
    assert (result.exit_code, '"programs": 1' in result.output) == (0, True), result.output
    assert len(list((tmp_path / "kernels").glob("*.o"))) >= 3
    monkeypatch.setenv(cache.VARIABLE, "")
    assert "switched off" in str(CliRunner().invoke(command, []).exception)
    (tmp_path / "a file").touch()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "a file"))
    assert "a file" in str(CliRunner().invoke(command, []).exception)
    sweeps.kept_code.cache_clear()


def test_solvers_of_texts_that_changed_since_the_process_began_are_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """No digest of the sources is known then; that of the program tells two apart."""
    layout = sweeps.code_of("gravity_torque", (), single=True).layout
    monkeypatch.setattr(looped_loading, "sources_digest", lambda: None)
    monkeypatch.setattr(looped_loading, "load_made", lambda key, *make: key)
    layouts = [replace(layout, length=1_000_000, digest=name) for name in ("one", "other", "one")]
    keys = [looped_loading.LoopedCode(each, Mock()).solver() for each in layouts]
    assert keys[0] == keys[2] != keys[1]
