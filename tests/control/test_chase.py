"""A target that starts at once is caught on its path, without weaving from one side of it to the other."""

import numpy as np

from linkwise.control import Chain, MovingPosition, rotation_angles
from linkwise.robots import puma560
from support.chains import place_of, predicted

DT, SPEED, RADIUS, MOST = 0.01, 0.5, 0.2, 4.0


def test_a_target_on_a_circle_is_caught_without_weaving() -> None:
    """Along the path the chase takes v/a, and 2 sqrt(d/a) more for the d = v^2/(2a) that the target is ahead by then.

    No more than twice that is taken to be within a millimetre; it is never off the circle by more than a fiftieth
    of the radius. All greatest values hold.
    """
    mech = puma560()
    q0 = np.radians([33.404, 42.569, -194.981, 0.0, -27.588, -146.596])
    start = place_of(mech, q0)
    angles = rotation_angles(start[:3, :3])
    chain = Chain(mech, MovingPosition("target", "tool", start[:3, 3], angles), q0=q0)
    chain["tool.max_speed"] = 2.0 * SPEED
    chain["tool.max_acceleration"] = chain["tool.max_deceleration"] = MOST
    turned = 2.0 * np.pi / 3.0 - SPEED / RADIUS * DT * np.arange(161)
    circle = np.stack([np.cos(turned), np.sin(turned), np.zeros(161)], axis=1)
    centre = start[:3, 3] - RADIUS * circle[0]
    rows = [predicted(chain)]
    for here, along in zip(circle[:160], turned, strict=False):
        chain["target.position"] = centre + RADIUS * here
        chain["target.velocity"] = [SPEED * np.sin(along), -SPEED * np.cos(along), 0.0]
        chain.step(DT)
        assert chain["chain.kept"]
        rows.append(predicted(chain))
    places = np.array([place_of(mech, row)[:3, 3] for row in rows])
    behind = np.linalg.norm(places - centre - RADIUS * circle, axis=1)
    least = SPEED / MOST + 2.0 * np.sqrt(0.5 * SPEED**2 / MOST / MOST)
    assert behind[int(2.0 * least / DT) :].max() < 1e-3
    assert np.abs(np.linalg.norm(places - centre, axis=1) - RADIUS).max() < RADIUS / 50.0
    velocities = np.diff(places, axis=0) / DT
    assert np.linalg.norm(velocities, axis=1).max() <= 2.0 * SPEED * (1.0 + 1e-6)
    assert np.linalg.norm(np.diff(velocities, axis=0), axis=1).max() / DT <= MOST * (1.0 + 1e-6)
