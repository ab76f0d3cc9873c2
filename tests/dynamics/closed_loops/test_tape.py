"""Efforts with loops closed, written out."""

import numpy as np
import pytest

from linkwise import robots
from linkwise.kernel import Kernel


def weighed(name):
    bare = getattr(robots, name)()
    links = [link.replace(mass=1.0, com=(0.1, 0.02, 0.0), inertia=(0.01, 0.02, 0.03)) for link in bare.links]
    return bare.replace(links=links)


@pytest.mark.parametrize(("name", "driven"), [("four_bar", ["crank"]), ("five_bar", ["left_crank", "right_crank"])])
def test_what_is_derived_are_the_actuators_efforts(name, driven):
    mech = weighed(name)
    linkage = mech.linkage(driven)
    rng = np.random.default_rng(0)
    start = linkage.driven_part(linkage.q0)
    q = linkage.position(start + rng.uniform(-0.2, 0.2, (5, len(driven)))).q
    qd = linkage.velocity(q, rng.normal(size=(5, len(driven))))
    qdd = linkage.acceleration(q, qd, rng.normal(size=(5, len(driven))))
    still = np.zeros_like(qd)
    for quantity, state in (("inverse_dynamics", (q, qd, qdd)), ("gravity_torque", (q,))):
        derivation = mech.derive(quantity, driven=driven)
        expected = mech.actuator_efforts(q, *(state[1:] or (still, still)), driven=driven)
        difference = np.abs(Kernel(derivation.tape, "numpy")(*state) - expected).max()
        print(f"{quantity}: {difference:.1e}, written {derivation.residual:.1e}, {derivation.operations}")
        assert difference < 1e-12 * np.abs(expected).max()
        assert derivation.residual < 1e-12
        assert "tau" in derivation.to_latex()
