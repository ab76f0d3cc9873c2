"""Poses at special angles of special arms: none comes back empty, and regular ones have the joints that they were made of.

The joints are multiples of an eighth of a turn, or as near to such as rounding and its root. Many poses of such arms make
two branches one, or put a point on an axis about which it should be turned.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import LinkwiseWarning
from linkwise.inverse_kinematics import all_inverse_kinematics
from linkwise.inverse_kinematics.closed_form import ClosedForm, Solutions, closed_form
from linkwise.inverse_kinematics.closed_form.decomposition import recognised
from linkwise.inverse_kinematics.closed_form.problem import ROWS
from linkwise.inverse_kinematics.closed_form.program import ClosedFormProgram
from linkwise.kernel import iteration as descent
from support.axis_arms import Arm, Axis, X, Y, Z, arm, in_plane, loose, meeting

EIGHTHS = np.arange(-3, 5) * np.pi / 4
NEARLY = np.array([np.pi - 1e-3, np.pi - 1e-5, np.pi - 1e-7, 1e-3, 1e-5, 1e-7])
OFFSETS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 0), (0, 1, 1)], dtype=float)
POSES = 20

REGULAR = 1e-2
"""The least singular value of the Jacobian of a regular pose, of arms of the size of 1 m."""

FOUND = 1e-6
"""Ten times a tolerance of 1e-9 over that singular value: what the joints of a solution may be off."""

EXACT = 2e-9
"""An element of a matrix that is right to 1e-9, and the rounding of another forward pass."""

PART = {"pose": np.s_[..., :3, :], "position": np.s_[..., :3, 3], "orientation": np.s_[..., :3, :3]}


@pytest.fixture(autouse=True)
def _uncompiled(uncompiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many arms, few poses each: compiling would take most of the time."""
    monkeypatch.setattr(descent, "default_backend", lambda: "numpy")


def aligned(along: str, offsets: list[tuple[int, int, int]], kinds: str = "") -> Arm:
    """Axes along x, y and z, each offset from the one before."""
    points = np.cumsum(offsets, axis=0).astype(float)
    return arm(
        [(k, {"x": X, "y": Y, "z": Z}[a], p) for k, a, p in zip(kinds or "R" * len(along), along, points, strict=True)]
    )


def aligned_at_random(
    count: int, kinds: str, rng: np.random.Generator, asks: str = "pose"
) -> Iterator[tuple[Arm, ClosedForm]]:
    """Arms with a closed form, their joints any of these kinds."""
    while True:
        along, chosen = "".join(rng.choice(list("xyz"), count)), "".join(rng.choice(list(kinds), count))
        made = aligned(along, [tuple(offset) for offset in rng.choice(OFFSETS, count)], chosen)
        form = closed_form(made.mech, asks=asks)
        if form.exists:
            yield made, form


def planted(made: Arm, rng: np.random.Generator, count: int = POSES) -> np.ndarray:
    q = rng.choice(EIGHTHS, (count, made.mech.n))
    return np.where(rng.random(q.shape) < 0.15, rng.choice(NEARLY, q.shape), q)


def away(made: Arm, rows: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Distances (k,) of the nearest rows (k, K, n) from q (k, n)."""
    gaps = rows - q[:, None]
    turns = [kind == "R" for kind, *_ in made.axes]
    gaps[..., turns] = np.remainder(gaps[..., turns] + np.pi, 2 * np.pi) - np.pi
    far = np.abs(gaps).max(axis=-1)
    return np.where(np.isnan(far), np.inf, far).min(axis=1)


def complete(made: Arm, form: ClosedForm, q: np.ndarray, start: np.ndarray | None = None) -> Solutions:
    """Assert that the poses of q (k, n) have solutions, all right, the regular ones q itself."""
    poses = made.forward(q)
    found = form.all(poses, start, limits=False)
    assert isinstance(found, Solutions)
    rows = ~np.isnan(found.q[..., 0])
    assert np.array_equal(rows.sum(axis=1), found.count)
    miss = np.abs(made.forward(np.nan_to_num(found.q)) - poses[:, None])[PART[form.asks]]
    assert miss.reshape(*rows.shape, -1).max(axis=-1)[rows].max() < EXACT
    assert found.count.min() >= 1, f"{made.axes}: none at {q[found.count.argmin()]}"
    columns = [k for k in range(made.mech.n) if k != form.fixed]
    rates = made.mech.jacobian(q)[:, ROWS[form.asks]][..., columns]
    regular = np.linalg.svd(rates, compute_uv=False)[:, -1] > REGULAR
    lost = regular & (away(made, found.q, q) > FOUND)
    assert not lost.any(), f"{made.axes}: {q[lost.argmax()]} is not among {found[lost.argmax()]}"
    return found


KNOWN = {
    "two parallel axes, double roots": ("xxy", [(0, 1, 0), (0, 0, 1), (0, 0, 1)]),
    "an axis through the point": ("yyz", [(1, 1, 0), (1, 1, 0), (1, 1, 0)]),
    "a row and a free joint": ("zyzy", [(0, 0, 1), (1, 0, 1), (0, 0, 0), (1, 0, 1)]),
    "nearly singular": ("xyxz", [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 1, 0)]),
    "2 and 3 parallel, 3 and 4 meet": ("zyyzz", [(1, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 0), (1, 0, 1)]),
    "a circle without a radius": ("xyxyz", [(0, 0, 0), (1, 0, 0), (0, 0, 0), (1, 0, 1), (1, 0, 1)]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_arms_that_lost_solutions(name: str) -> None:
    made = aligned(*KNOWN[name])
    form = closed_form(made.mech)
    if not form.exists:
        pytest.fail(form.why)
    complete(made, form, planted(made, np.random.default_rng(0), 60))


@pytest.mark.parametrize(
    ("joints", "kinds", "arms"),
    [(3, "R", 5), (4, "R", 3), (5, "R", 3), (6, "R", 1), (3, "RP", 4), (4, "RRP", 3), (5, "RRP", 2)],
)
def test_axes_along_the_coordinates(joints: int, kinds: str, arms: int) -> None:
    rng = np.random.default_rng(joints)
    for _, (made, form) in zip(range(arms), aligned_at_random(joints, kinds, rng), strict=False):
        complete(made, form, planted(made, rng))


@pytest.mark.parametrize(
    ("asks", "kinds"),
    [("position", "RR"), ("position", "RRR"), ("position", "RPR"), ("orientation", "RR"), ("orientation", "RRR")],
)
def test_a_part_of_a_pose(asks: str, kinds: str) -> None:
    rng = np.random.default_rng(len(kinds))
    for _, (made, form) in zip(range(4), aligned_at_random(len(kinds), kinds[1:], rng, asks), strict=False):
        complete(made, form, planted(made, rng))


def special_arms() -> dict[str, list[Axis]]:
    rng = np.random.default_rng(20)
    return {
        "a shoulder and a wrist that meet": [*meeting(2, rng), *meeting(2, rng)],
        "a plane and a wrist": [*in_plane("RRR", rng), *meeting(2, rng)],
        "an elbow between": [*loose("R", rng), *in_plane("RR", rng), *meeting(2, rng)],
        "a slide in the plane": [*in_plane("RPR", rng), *loose("R", rng)],
    }


@pytest.mark.parametrize("name", special_arms())
def test_special_arms_in_any_direction(name: str) -> None:
    made = arm(special_arms()[name], np.random.default_rng(21))
    form = closed_form(made.mech)
    assert form.exists, form.why
    complete(made, form, planted(made, np.random.default_rng(22)))


def test_seven_joints_with_one_of_them_given() -> None:
    axes: list[Axis] = [
        ("R", a, p) for a, p in zip((Z, Y, Z, Y, Z, Y, Z), (0 * Z, 0 * Z, 0 * Z, Z, 2 * Z, 2 * Z, 2 * Z), strict=True)
    ]
    made = arm(axes)
    q = planted(made, np.random.default_rng(23), 25)
    form = closed_form(made.mech, fixed={2: 0.0}).holding(q[:, 2])
    found = complete(made, form, q)
    assert all((rows[:, 2] == value).all() for rows, value in zip(found, q[:, 2], strict=True))


def test_a_batch_has_the_bits_of_a_loop() -> None:
    made = aligned(*KNOWN["two parallel axes, double roots"])
    form = closed_form(made.mech)
    poses = made.forward(planted(made, np.random.default_rng(0), 60))
    whole, nearest = form.all(poses), form.nearest(poses)
    assert isinstance(whole, Solutions)
    assert not whole.complete.all()
    for k, rows in enumerate(whole):
        few = form.all(poses[k : k + 1])
        assert isinstance(few, Solutions)
        assert np.array_equal(few[0], rows)
        assert few.complete[0] == whole.complete[k]
        for part, single in zip(nearest, form.nearest(poses[k]), strict=True):
            assert np.array_equal(part[k], single)
        assert np.array_equal(nearest[0][k], rows[0])
        assert bool(nearest[1][k])


def test_solutions_from_starts_are_told() -> None:
    """Poses at which the closed form leaves a joint undetermined or not, by their last digits; one where it never does."""
    made = aligned(*KNOWN["two parallel axes, double roots"])
    q = np.array([np.pi / 4, np.pi, -np.pi / 4])
    pose = made.forward(q)
    poses = np.repeat(pose[None], 40, axis=0)
    poses[:, :3] *= 1 + np.random.default_rng(1).integers(-4, 5, (40, 3, 4)) * 2.0**-53
    for call in (made.mech.all_inverse_kinematics, partial(all_inverse_kinematics, made.mech), closed_form(made.mech).all):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LinkwiseWarning)
            rows = np.stack([np.asarray(call(near)) for near in poses])
        assert caught
        assert all("1 of 1 solutions" in str(said.message) and said.filename == __file__ for said in caught)
    assert np.abs(np.sin(0.5 * (rows - q))).max() < FOUND
    assert made.mech.inverse_kinematics(pose, method="closed_form").iterations == 0
    plain = made.mech.all_inverse_kinematics(made.forward(np.array([[0.4, 0.5, 0.6], [0.4, -0.5, 0.6]])))
    assert isinstance(plain, Solutions)
    assert plain.complete.all()


def test_a_continuum_within_narrow_limits() -> None:
    """With a straight wrist joints 4 and 6 share an angle: joint 4 at the start takes joint 6 beyond its limit."""
    puma = robots.puma560()
    links = [
        link if k not in (3, 5) else Link(**{**_fields(link), "limits": (-0.5, 0.5)}) for k, link in enumerate(puma.links)
    ]
    tight = Mechanism(links, base=puma.base, tool=puma.tool)
    q = np.array([0.3, 0.9, -1.2, 0.4, 0.0, 0.4])
    pose = tight.forward_kinematics(q)
    found = closed_form(tight).all(pose[None], q0=[0.0, 1.0, -1.0, -0.4, 0.1, 0.0])
    assert isinstance(found, Solutions)
    assert found.count[0] == 1
    assert ((found[0] >= tight.q_min) & (found[0] <= tight.q_max)).all()
    assert np.abs(tight.forward_kinematics(found[0]) - pose).max() < EXACT
    assert found.complete[0]
    assert found[0][0, 5] == tight.q_max[5]


def _fields(link: Link) -> dict[str, object]:
    return {"joint": link.joint, "before": link.before, "after": link.after, "axis": link.axis, "offset": link.offset}


def test_out_of_reach_there_is_no_search() -> None:
    """As many equations as unknowns, none of them degenerate: that there is no solution is known."""
    ur5 = Mechanism(robots.ur5().links)  # (one of its own, whose kernels are not those of other tests)
    poses = ur5.forward_kinematics(np.random.default_rng(24).uniform(-3, 3, (50, 6)))
    poses[:, :3, 3] *= 3.0
    found = closed_form(ur5).all(poses)
    assert isinstance(found, Solutions)
    far = np.linalg.norm(poses[:, :3, 3], axis=1) > 1.1
    assert not found.count[far].any()
    assert found.complete[far].all()


def test_a_six_joint_arm_that_is_nearly_special() -> None:
    """Three axes parallel to 3.7e-6, a right angle of 1.5708: with joint 5 at zero the wrist is singular."""
    right = 1.5708
    table = [(0, right, 0.089), (-0.425, 3.7e-6, 0), (-0.392, 0, 0), (0, right, 0.109), (0, -right, 0.095), (0, 0, 0.082)]
    mech = Mechanism([Link.dh(a=a, alpha=alpha, d=d, convention="standard") for a, alpha, d in table])
    rng = np.random.default_rng(25)
    q = rng.uniform(-3, 3, (12, 6))
    q[:, 4] = rng.choice([0.0, np.pi, 1e-5], 12)
    poses = mech.forward_kinematics(q)
    found = closed_form(mech).all(poses)
    assert isinstance(found, Solutions)
    assert found.count.min() >= 1
    rows = ~np.isnan(found.q[..., 0])
    assert np.abs(mech.forward_kinematics(np.nan_to_num(found.q)) - poses[:, None]).max(axis=(-1, -2))[rows].max() < EXACT


@pytest.mark.parametrize(("joints", "kinds"), [(5, "R"), (4, "RP"), (6, "R")])
def test_equations_are_written_for_any_axes_along_the_coordinates(joints: int, kinds: str) -> None:
    """Nothing divides by a length that is zero for every pose."""
    rng = np.random.default_rng(30 + joints)
    written = 0
    for _ in range(25):
        made = aligned(
            "".join(rng.choice(list("xyz"), joints)),
            list(map(tuple, rng.choice(OFFSETS, joints))),
            "".join(rng.choice(list(kinds), joints)),
        )
        chain, family, why = recognised(made.mech)
        assert (family is None) == bool(why)
        if chain is not None and family is not None:
            written += bool(ClosedFormProgram(made.mech, "tool", chain, family).branches)
    assert written > 3
