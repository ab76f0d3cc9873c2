"""Motors of single velocities of ball joints, free bodies and a floating base: laws, MuJoCo, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import Link, Mechanism, Motor
from linkwise.dynamics.base_parameters.base_parameters import ranked
from linkwise.errors import ArgumentError, FileError, ModelError
from linkwise.identification import identify
from linkwise.spatial.quaternion import quaternion_rotation
from support.random_mechanisms import Interpreted

RNG = np.random.default_rng(3)
OF_BODY, OF_BALL = ("vx", "vy", "vz", "wx", "wy", "wz"), ("wx", "wy", "wz")
ALIKE = ((0.2,) * 3, (0.0,) * 6)
SLIDING = ((0.2,) * 3, (0.3,) * 6)
UNEQUAL = ((0.2, 0.1, 0.4), (0.3, 0.1, 0.2, 0.4, 0.5, 0.6))
EPS = np.finfo(float).eps


def _mechanism(
    ball: tuple[float, ...],
    body: tuple[float, ...],
    viscous: float = 0.0,
    *,
    of: type[Mechanism] = Mechanism,
    **changes: Any,
) -> Mechanism:
    """A free body that carries a ball joint and a hinge."""
    names = [*(f"free_{x}" for x in OF_BODY), *(f"b_{x}" for x in OF_BALL)]
    motors = [Motor(inertia=a, viscous=viscous, joint=name) for name, a in zip(names, (*body, *ball), strict=True) if a]
    box: dict[str, Any] = {"mass": 1.0, "com": (0.0, 0.1, -0.3), "inertia": (0.03, 0.02, 0.04)}
    links = [
        Link(joint="floating", name="free", parent="base", mass=2.0, com=(0.1, 0.2, -0.1), inertia=(0.1, 0.2, 0.15)),
        Link(joint="ball", name="b", before=_shift(0.3, 0.1, 0.0), **box),
        Link(axis=(0.0, 1.0, 0.0), name="h", before=_shift(0.0, 0.0, -0.5), motor=Motor(inertia=0.1), **box),
    ]
    return of(links, motors=motors, **changes)


def _shift(*p: float) -> np.ndarray:
    result = np.eye(4)
    result[:3, 3] = p
    return result


def _state(mech: Mechanism, count: int = 5) -> tuple[np.ndarray, ...]:
    return (mech.random_configuration(3, count), *RNG.normal(size=(2, count, mech.nv)))


@pytest.mark.parametrize("inertias", [ALIKE, SLIDING, UNEQUAL])
def test_laws(inertias: Any) -> None:
    """M, C, energy, power, regressor, forward dynamics and Lagrange's equations agree."""
    mech = _mechanism(*inertias, viscous=0.05, of=Interpreted)
    bare = mech.replace(motors=())
    q, qd, qdd = _state(mech)
    tau, mass = mech.inverse_dynamics(q, qd, qdd), mech.mass_matrix(q)
    added = mass - bare.mass_matrix(q)
    expected = np.diag([*inertias[1], *inertias[0], 0.0])
    assert np.abs(added - expected).max() <= 8 * EPS * np.abs(mass).max()
    bias, coriolis = mech.bias_torque(q, qd), mech.coriolis_matrix(q, qd)
    size = np.abs(tau).max()
    residuals = {
        "M qdd + bias + friction": np.einsum("kij,kj->ki", mass, qdd) + bias + mech.friction_torque(qd) - tau,
        "C qd + g": np.einsum("kij,kj->ki", coriolis, qd) + mech.gravity_torque(q) - bias,
        "forward": (mech.forward_dynamics(q, qd, tau) - qdd) * np.linalg.cond(mass).max() ** -1,
        "regressor": np.einsum("kij,j->ki", mech.regressor(q, qd, qdd), mech.parameters) - tau,
        "momentum": np.einsum("kij,j->ki", mech.momentum_regressor(q, qd), mech.parameters)
        - np.einsum("kij,kj->ki", mass, qd),
        "T": mech.kinetic_energy(q, qd) - 0.5 * np.einsum("ki,kij,kj->k", qd, mass, qd),
        "T regressor": mech.energy_regressor(q, qd)[0] @ mech.parameters - mech.kinetic_energy(q, qd),
        "lagrange": mech.kernel("lagrange_dynamics")(q, qd, qdd) - tau,
        "skew": _skewness(coriolis - bare.coriolis_matrix(q, qd)),
    }
    for name, residual in residuals.items():
        print(name, float(np.abs(residual).max()))
        assert np.abs(residual).max() <= 200 * EPS * size, name  # (some hundred products of that size are added up)


def _skewness(matrix: np.ndarray) -> np.ndarray:
    return np.asarray(matrix + np.swapaxes(matrix, -1, -2))


@pytest.mark.parametrize("inertias", [ALIKE, SLIDING, UNEQUAL])
def test_derivatives(inertias: Any) -> None:
    """Central differences with the step 1e-6: the error is of the order 1e-10 of the largest entry."""
    mech = _mechanism(*inertias, viscous=0.05, of=Interpreted)
    q, qd, qdd = (x[0] for x in _state(mech, 1))
    by_q, by_qd, mass = mech.inverse_dynamics_derivatives(q, qd, qdd)
    tau, step = mech.inverse_dynamics(q, qd, qdd), 1e-6
    of_q, of_qd, of_tau = mech.forward_dynamics_derivatives(q, qd, tau)
    for k, unit in enumerate(np.eye(mech.nv) * step):
        sides = [mech.inverse_dynamics(mech.integrate(q, s * unit), qd, qdd) for s in (1, -1)]
        assert np.abs((sides[0] - sides[1]) / (2 * step) - by_q[:, k]).max() < 1e-8 * np.abs(by_q).max()
        sides = [mech.inverse_dynamics(q, qd + s * unit, qdd) for s in (1, -1)]
        assert np.abs((sides[0] - sides[1]) / (2 * step) - by_qd[:, k]).max() < 1e-8 * np.abs(by_qd).max()
        sides = [mech.forward_dynamics(q, qd + s * unit, tau) for s in (1, -1)]
        assert np.abs((sides[0] - sides[1]) / (2 * step) - of_qd[:, k]).max() < 1e-7 * np.abs(of_qd).max()
        sides = [mech.forward_dynamics(mech.integrate(q, s * unit), qd, tau) for s in (1, -1)]
        assert np.abs((sides[0] - sides[1]) / (2 * step) - of_q[:, k]).max() < 1e-7 * np.abs(of_q).max()
    assert np.abs(mass - mech.mass_matrix(q)).max() <= 32 * EPS * np.abs(mass).max()
    assert np.abs(of_tau @ mass - np.eye(mech.nv)).max() < 1e-11


def test_energy_is_kept() -> None:
    """A free motion without friction: Runge-Kutta's error alone, of order 4 in the step."""
    mech = _mechanism(*UNEQUAL)
    q, qd, _ = (x[0] for x in _state(mech, 1))
    energies = []
    for steps in (100, 200):
        result = lw.simulate(mech, q, qd, t=np.linspace(0.0, 0.4, steps + 1))
        total = mech.kinetic_energy(result.q, result.qd) + mech.potential_energy(result.q)
        energies.append(float(np.abs(total - total[0]).max()))
    print(energies)
    assert energies[1] < energies[0] / 10 < 1e-5


def test_looped_tier() -> None:
    """The two tiers agree to rounding, with inertias that are alike, and with momenta that turn."""
    mech = _mechanism(*ALIKE, viscous=0.05)
    q, qd, qdd = _state(mech)
    tau = mech.inverse_dynamics(q, qd, qdd)
    inputs = {"mass_matrix": (q,), "coriolis_matrix": (q, qd), "bias_torque": (q, qd), "kinetic_energy": (q, qd)}
    inputs |= dict.fromkeys(("inverse_dynamics", "inverse_dynamics_derivatives"), (q, qd, qdd))
    inputs |= dict.fromkeys(("forward_dynamics", "forward_dynamics_derivatives"), (q, qd, tau))
    turning = ("coriolis_matrix", "inverse_dynamics_derivatives", "forward_dynamics", "forward_dynamics_derivatives")
    for other, names in ((mech, inputs), (_mechanism(*UNEQUAL), turning)):
        for name in names:
            kernels = (other.kernel(name, tier=tier) for tier in TIERS)
            straight, looped = (np.hstack([np.ravel(x) for x in _tuple(kernel(*inputs[name]))]) for kernel in kernels)
            residual = float(np.abs(straight - looped).max() / np.abs(straight).max())
            print(name, residual)
            assert residual <= (1e-11 if name.startswith("forward") else 1e-13), name  # (forward: times the condition of M)
    with pytest.raises(ArgumentError, match="a motor drives a joint with a quaternion"):
        mech.kernel("regressor", tier="looped")


TIERS = ("straight", "looped")


def _tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


MODEL = """<mujoco><compiler angle="radian" autolimits="false"/><option timestep="1e-3"/><worldbody>
<body pos="0.1 0.2 0.3"><joint name="free" type="free" armature="{0}" damping="0.05"/>
<inertial pos="0.1 0.2 -0.1" mass="2" diaginertia="0.1 0.2 0.15"/>
<body pos="0.3 0.1 0"><joint name="b" type="ball" armature="{1}" damping="0.07"/>
<inertial pos="0 0.1 -0.3" mass="1" diaginertia="0.03 0.02 0.04"/>
<body pos="0 0 -0.5"><joint name="h" axis="0 1 0" armature="0.1"/>
<inertial pos="0 0.1 -0.3" mass="1" diaginertia="0.03 0.02 0.04"/>
</body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("armatures", [(0.0, 0.2), (0.3, 0.0), (0.3, 0.2)])
def test_mujoco(armatures: tuple[float, float], tmp_path: Any) -> None:
    """Mass matrix, inverse and forward dynamics of a file that MuJoCo reads too, to 1e-12 of the largest."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    path.write_text(MODEL.format(*armatures))
    mech = lw.load(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    for q in mech.random_configuration(1, 4):
        qd, qdd = rng.normal(size=(2, mech.nv))
        tau, forward = mech.inverse_dynamics(q, qd, qdd), mech.forward_dynamics(q, qd, rng.normal(size=mech.nv) * 0)
        turn = np.eye(mech.nv)  # (MuJoCo's linear velocity of a free body is in the axes of the world)
        turn[:3, :3] = np.asarray(quaternion_rotation(q[3:7]), dtype=float)
        data.qpos, data.qvel = q, turn @ qd
        across = np.append(turn[:3, :3] @ np.cross(qd[3:6], qd[:3]), np.zeros(mech.nv - 3))
        data.qacc = turn @ qdd + across
        mujoco.mj_inverse(model, data)
        mass = np.zeros((mech.nv, mech.nv))
        mujoco.mj_fullM(model, data, mass)
        theirs = data.qfrc_inverse.copy()
        data.ctrl[:] = 0
        mujoco.mj_forward(model, data)
        ours = {"tau": (tau, turn.T @ theirs), "M": (mech.mass_matrix(q), turn.T @ mass @ turn)}
        ours["qdd"] = (forward, turn.T @ (data.qacc - across))
        for name, (a, b) in ours.items():
            residual = float(np.abs(a - b).max() / np.abs(b).max())
            print(name, residual)
            assert residual < 1e-12, name


def test_floating_base() -> None:
    """A floating base's motors act like those of a free body."""
    free = _mechanism(*UNEQUAL)
    motors = [motor.replace(joint=motor.joint.replace("free_", "base_")) for motor in free.motors]
    first, *others = (link.replace(parent=None) for link in free.links)
    links = [first.replace(joint="fixed", parent="base"), *others]
    base = Mechanism(links, motors=motors, floating=True)
    q, qd, qdd = _state(free)
    a, b = free.inverse_dynamics(q, qd, qdd), base.inverse_dynamics(q, qd, qdd)
    assert np.abs(a - b).max() <= 100 * EPS * np.abs(a).max()


def test_parts() -> None:
    """Locking and subtrees keep the motors of the joints that stay."""
    mech = _mechanism(*UNEQUAL)
    locked = mech.lock({"b": [1.0, 0.0, 0.0, 0.0]})
    assert [motor.joint for motor in locked.motors] == [f"free_{x}" for x in OF_BODY]
    assert [motor.joint for motor in mech.subtree("b").motors] == [f"b_{x}" for x in OF_BALL]
    assert {name for name in mech.parameter_names if name.startswith("Jm2")} == {"Jm2", "Jm2'", "Jm2''"}


def test_refused() -> None:
    """Names that there are not, and carriers."""
    with pytest.raises(ModelError, match="b_wx"):
        _mechanism(*ALIKE).replace(motors=[Motor(inertia=0.1, joint="b_w")])
    with pytest.raises(ModelError, match="felt at the joint alone"):
        _mechanism(*ALIKE).replace(motors=[Motor(inertia=0.1, joint="b_wx", carrier="free", axis=(0, 0, 1))])


def test_dynamics_in_base_parameters() -> None:
    """Efforts and mass matrix are those of the mechanism; base parameters in closed form are those that the rank tells."""
    for mech in (_mechanism(*UNEQUAL, viscous=0.05, of=Interpreted), _ball_on("base"), _ball_on("slide"), _ball_on("arm")):
        base, (q, qd, qdd) = mech.base_bodies(), _state(mech)
        for name, args in (("inverse_dynamics", (q, qd, qdd)), ("bias_torque", (q, qd)), ("mass_matrix", (q,))):
            wanted = mech.kernel(name, backend="numpy")(*args)
            error = np.abs(base.kernel(name, backend="numpy")(*args, base.values) - wanted).max() / np.abs(wanted).max()
            assert error <= 100 * EPS, name
        for resting in (True, False):
            forms, ranks = mech.base_forms(resting=resting), ranked(mech, resting=resting)
            both = np.concatenate([np.asarray(forms.matrix, dtype=float), ranks.matrix])
            assert len(forms) == len(ranks) == np.linalg.matrix_rank(both, rtol=1e-8), "one span: the rank is of numbers"


def _ball_on(parent: str) -> Mechanism:
    """A ball joint with four motors, one axis with two, on the base, a slide or a hinge."""
    motors = [Motor(inertia=0.1 + 0.1 * k, gear_ratio=2.0, coulomb=0.2, joint=f"b_w{x}") for k, x in enumerate("xyzx")]
    body: dict[str, Any] = {"mass": 1.0, "com": (0.0, 0.1, -0.3), "inertia": (0.03, 0.02, 0.04)}
    kinds = {"slide": "prismatic", "arm": "revolute"}
    first = (
        [Link(joint=kinds[parent], name=parent, motor=Motor(inertia=0.1, coulomb=0.1), **body)] if parent in kinds else []
    )
    links = [*first, Link(joint="ball", name="b", parent=parent, before=_shift(0.3, 0.1, 0.0), **body)]
    return Interpreted(links, motors=motors)


@pytest.mark.parametrize("inertias", [ALIKE, UNEQUAL])
def test_base_parameters_and_identification(inertias: Any) -> None:
    """As many as the rank of the regressor, which give the efforts; a record of motions gives them back."""
    mech = _mechanism(*inertias, viscous=0.05)
    q, qd, qdd = _state(mech, 60)
    table = mech.kernel("regressor", backend="numpy")(q, qd, qdd).reshape(-1, len(mech.parameters))
    tau = mech.inverse_dynamics(q, qd, qdd)
    base, forms = mech.base_parameters(), mech.base_forms()
    assert len(base) == np.linalg.matrix_rank(table)
    assert forms.minimal
    for combinations in (base, forms):
        left = table[:, combinations.columns] @ np.asarray(combinations.values, dtype=float) - tau.ravel()
        print(len(combinations), np.abs(left).max())
        assert np.abs(left).max() <= 1e-12 * np.abs(tau).max()  # the condition of the table, some hundreds
    result = identify(mech, q, qd, qdd, tau)
    assert np.abs(result.predict(q, qd, qdd) - tau).max() <= 1e-12 * np.abs(tau).max()


def test_the_rotor_of_a_ball_on_the_ground_is_felt_as_its_body_is() -> None:
    """Three rotors about the axes of a body that turns about a fixed point: its moments of inertia."""
    links = [Link(joint="ball", name="b", mass=1.0, com=(0.0, 0.1, -0.3), inertia=(0.03, 0.02, 0.04))]
    mech = Mechanism(links, motors=[Motor(inertia=0.1, joint=f"b_{x}") for x in OF_BALL])
    assert mech.base_parameters().names[3:6] == mech.base_forms().names[3:6] == ("XX1 + Jm1", "YY1 + Jm1'", "ZZ1 + Jm1''")


@pytest.mark.parametrize("inertias", [ALIKE, SLIDING])
def test_mjcf_is_read_as_written(inertias: Any, tmp_path: Any) -> None:
    """One number for all velocities of a joint; others are lost, and said to be."""
    lw.save(_mechanism(*inertias, viscous=0.05), path := tmp_path / "a.xml")
    again = lw.load(path)  # (a single free body floats)
    assert again.floating
    assert [motor.replace(joint=None) for motor in again.motors] == [
        motor.replace(joint=None) for motor in _mechanism(*inertias, viscous=0.05).motors
    ]
    lw.save(again, other := tmp_path / "b.xml")
    assert lw.load(other) == again.replace(name=lw.load(other).name)
    with pytest.raises(FileError, match="motors of 'free': all of them"):
        lw.save(_mechanism(*UNEQUAL), path)


def test_toml_is_read_as_written(tmp_path: Any) -> None:
    mech = _mechanism(*UNEQUAL, viscous=0.05)
    lw.save(mech, path := tmp_path / "a.toml")
    assert lw.load(path) == mech
