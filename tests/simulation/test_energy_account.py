"""When a simulation says that its energies do not add up: never for what is small beside the energies that occurred."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.simulation.energy_balance import EnergyAccount, energy_account, unexplained

RUBBING = lw.Mechanism([lw.Link(name="wheel", inertia=(0.5, 0.5, 0.5), motor=lw.Motor(coulomb=0.2))])
PLAIN = lw.Mechanism([lw.Link(name="wheel", inertia=(0.5, 0.5, 0.5), motor=lw.Motor(viscous=0.2))])


def left(drift: float, lost: float, greatest: float) -> EnergyAccount:
    """A balance in which all is lost but a part that nothing explains."""
    return EnergyAccount((lost, drift), (0.0, 0.0), None, lost, None, greatest)


@pytest.mark.parametrize(
    ("drift", "lost", "greatest", "told"),
    [
        (1e-11, 0.0, 5.0, False),  # nothing was lost, and rounding is not worth a word
        (1e-11, 1e-12, 5.0, False),
        (4e-6, 1e-6, 5.0, False),  # below a millionth of 5 J
        (6e-6, 1e-6, 5.0, True),
        (0.76, 1.0, 5.0, True),
        (0.009, 1.0, 5.0, False),  # below a hundredth of the loss
        (0.0, 0.0, 0.0, False),
    ],
)
def test_what_is_worth_a_remark(drift: float, lost: float, greatest: float, told: bool) -> None:
    found = left(drift, lost, greatest)
    assert found.drift == pytest.approx(drift, abs=1e-15)
    assert (unexplained(RUBBING, found) is not None) == told
    assert unexplained(PLAIN, found) is None


def test_its_words() -> None:
    said = unexplained(RUBBING, left(0.76, 1.0, 5.0))
    assert said is not None
    assert said.startswith("the energies do not add up, by 0.76 J: Coulomb friction")


def test_the_greatest_energy_is_of_the_whole_motion() -> None:
    fall = lw.simulate(lw.robots.planar_2r(), [0.5, 0.2], t=(1.0, 1e-3), energies=True)
    assert fall.kinetic is not None
    assert fall.potential is not None
    found = energy_account(lw.robots.planar_2r(), fall)
    assert found.greatest == max(fall.kinetic.max(), np.abs(fall.potential).max())
