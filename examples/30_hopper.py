"""A hopper over ten landings: the foot lands, stands, slides a little before it lifts off; all energy is accounted for.

A body that does not turn, a hip, and a leg on a spring (M. H. Raibert, *Legged Robots That Balance*, 1986, chapter 2). In
the air the hip puts the foot where it lands half a stance ahead, and further where the hopper is too fast; on the ground
the leg pushes as it extends, which makes up for what the foot loses where it lands.
"""

import numpy as np

import linkwise as lw
from linkwise.dynamics import Contact, Contacts
from linkwise.simulation import Ground

LEG, STANCE, SPEED, PUSH = 0.5, 0.19, 1.0, 45.0  # m, s, m/s, N

links = [
    lw.Link(name="x", joint="prismatic", axis=(1, 0, 0)),
    lw.Link(name="body", joint="prismatic", axis=(0, 0, 1), mass=8.0),
    lw.Link(name="hip", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.1), inertia=(0.01, 0.01, 0.001)),
    lw.Link(name="leg", joint="prismatic", axis=(0, 0, -1), mass=0.5, inertia=(0.002, 0.002, 0.0005)),
]
hopper = lw.Mechanism(links, springs=[lw.Spring("leg", 3000.0, rest=LEG, damping=8.0)], name="hopper")
ground = Ground(Contacts(hopper, [Contact("foot", "leg", friction=1.0)]))


def drive(t, q, qd):
    """The hip in the air, the leg on the ground."""
    (_, height, hip, leg), (speed, _, turning, extending) = q, qd
    if height - leg * np.cos(hip) > 1e-6:
        ahead = 0.5 * STANCE * speed + 0.05 * (speed - SPEED)
        return np.array([0.0, 0.0, 60.0 * (-np.arcsin(np.clip(ahead / LEG, -0.6, 0.6)) - hip) - 6.0 * turning, 0.0])
    return np.array([0.0, 0.0, 0.0, PUSH if extending > 0.0 else 0.0])


motion = lw.simulate(
    hopper, [0, 0.8, 0, LEG], [0.5, 0, 0, 0], torque=drive, ground=ground,
    t=(6.5, 0.005), method="dop853", rtol=1e-6, atol=1e-8, energies=True,
)  # fmt: skip
landings, lifts = ([event.time for event in motion.events if event.name == f"{word} foot"] for word in ("land", "lift"))
print(f"{len(landings)} landings, one every {np.diff(landings).mean():.3f} s")
stands = np.subtract(lifts, landings[: len(lifts)]).mean()
print(f"stands for {stands:.3f} s each, and goes at {motion.qd[-1, 0]:.2f} m/s")
print(f"the foot gets {-min(ground.contacts.positions(motion.q)[:, 0, 2].min(), 0.0):.0e} m into the ground")
first, last, error = motion.energy[0], motion.energy[-1], np.abs(motion.energy_error).max()
print(f"energy {first:.2f} J at first, {last:.2f} J at last; unaccounted {error:.0e} J")
