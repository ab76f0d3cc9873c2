"""What a link looks like, checked when it is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise.errors import ModelError
from linkwise.files import Shape


def test_values() -> None:
    shape = Shape("arm", "box", [1, 2, 3], role="collision", colour=(0, 0, 1, 1))
    assert (shape.size, shape.role, shape.colour) == ((1.0, 2.0, 3.0), "collision", (0.0, 0.0, 1.0, 1.0))
    assert np.array_equal(shape.origin, np.eye(4))
    assert shape == Shape("arm", "box", (1, 2, 3), role="collision", colour=(0, 0, 1, 1))
    assert shape != Shape("arm", "box", (1, 2, 4), role="collision", colour=(0, 0, 1, 1))
    assert not shape.origin.flags.writeable


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"kind": "cone"}, "kind is 'cone'; expected 'box', 'cylinder', 'capsule', 'sphere', 'ellipsoid' or 'mesh'"),
        ({"kind": "sphere"}, "size is (1, 1, 1); expected 1 finite numbers"),
        ({"kind": "mesh"}, "filename is None; expected a file for a mesh, and None for all else"),
        ({"filename": "a.stl"}, "filename is 'a.stl'; expected a file for a mesh, and None for all else"),
        ({"role": "seen"}, "role is 'seen'; expected 'visual' or 'collision'"),
        ({"colour": (1, 2)}, "colour is (1, 2); expected 4 finite numbers"),
        ({"origin": 2 * np.eye(4)}, "origin is array("),
    ],
)
def test_mistakes(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        Shape(**{"link": "arm", "kind": "box", "size": (1, 1, 1), **given})
    assert str(caught.value).startswith(f"shape of link 'arm': {expected}")
