"""Poses of the base for batches of any dimension: those of a loop, bit for bit, and of a link that is fixed to the base."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.kinematics.forward_kinematics import base_poses
from linkwise.spatial.rotation import rotation_x
from linkwise.spatial.transform import transform

TURNED = np.asarray(transform(rotation_x(0.7), [0.1, -0.2, 0.3]))
BODY = {"mass": 1.0, "inertia": (0.1, 0.2, 0.3)}
LINKS = [Link(joint="fixed", name="hull", **BODY), Link(name="arm", **BODY), Link(joint="ball", name="wrist", **BODY)]
CRAFT, CRANE = (Mechanism(LINKS, base=TURNED, floating=floating) for floating in (True, False))

BATCHES: list[tuple[int, ...]] = [(), (1,), (5,), (2, 3), (3, 3), (4, 7), (2, 3, 4), (1, 1, 4), (0,), (2, 0, 3)]


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("mechanism", [CRAFT, CRANE], ids=["floating", "fixed"])
def test_batches_of_any_dimension(mechanism: Mechanism, batch: tuple[int, ...]) -> None:
    q = mechanism.random_configuration(3, int(np.prod(batch))).reshape(*batch, mechanism.nq)
    poses = base_poses(mechanism, q)
    assert poses.shape == (*batch, 4, 4)
    hull = mechanism.link_poses(q)[..., 0, :, :]
    error = np.abs(poses - hull).max(initial=0.0)
    print(f"{error:.1e}")
    assert error < 1e-15  # (coordinates below 1 m; some products in another order)
    for place in np.ndindex(*batch):
        assert np.array_equal(poses[place], base_poses(mechanism, q[place]))


def test_views_in_any_order_of_memory() -> None:
    q = CRAFT.random_configuration(4, 12).reshape(3, 4, CRAFT.nq)
    assert np.array_equal(base_poses(CRAFT, np.asfortranarray(q)), base_poses(CRAFT, q))
    assert np.array_equal(base_poses(CRAFT, q.swapaxes(0, 1)), base_poses(CRAFT, q).swapaxes(0, 1))
