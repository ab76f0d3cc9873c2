"""Steps without damping: of a Jacobian with full rank and of one without, which are computed in two ways."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.inverse_kinematics.closed_form.at_limits import RANK, undamped_steps


@pytest.mark.parametrize("columns", [4, 6])
def test_undamped_steps_are_those_of_the_pseudoinverse(columns: int) -> None:
    rng = np.random.default_rng(0)
    rates, gap = rng.normal(size=(40, 6, columns)), rng.normal(size=(40, 6))
    rates[::4, :, 2] = 0.0  # (a joint that is held)
    rates[1::4, :, 3] = rates[1::4, :, 0]  # (two that do the same)
    expected = (np.linalg.pinv(rates, rcond=RANK) @ gap[..., None])[..., 0]
    steps = undamped_steps(rates, gap)
    condition = np.linalg.cond(rates)
    error = np.abs(steps - expected).max(axis=1) / np.abs(expected).max(axis=1)
    # (rounding times the condition, of what is regular; singular values that vanish are left out by both alike)
    assert (error < 1e-14 * np.where(condition < 1e6, condition, 1e3)).all()
