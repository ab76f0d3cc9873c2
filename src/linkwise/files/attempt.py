"""Building a part of a model from a file's numbers, with every problem gathered instead of raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from linkwise.errors import ModelError, Problem

Made = TypeVar("Made")


def attempt(item: str, make: Callable[[], Made]) -> tuple[Made | None, Sequence[Problem]]:
    """What was made, or None and all that is wrong; `item` names it where the numbers overflow."""
    try:
        with np.errstate(all="ignore"):
            return make(), ()
    except ModelError as error:
        return None, error.problems
    except (np.linalg.LinAlgError, OverflowError):
        return None, [Problem(item, "inertia", "beyond the range of floating-point arithmetic", "smaller numbers")]
