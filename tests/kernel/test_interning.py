"""A process unpickles an object once."""

from __future__ import annotations

import pickle

import linkwise as lw
from linkwise import robots
from linkwise.kernel import interning


def test_mechanisms_and_kernels_are_unpickled_once() -> None:
    sent = pickle.dumps(robots.planar_2r())
    arm = pickle.loads(sent)
    assert arm == robots.planar_2r()
    assert pickle.loads(sent) is arm
    assert pickle.loads(pickle.dumps(robots.planar_2r().replace())) is arm
    assert pickle.loads(pickle.dumps(arm.replace(name="other"))) is not arm
    kernel = arm.kernel("inverse_dynamics")
    again = [pickle.loads(pickle.dumps(kernel)) for _ in range(2)]
    assert again[0] is again[1]
    assert pickle.loads(pickle.dumps(kernel.vjp.by("q"))) is again[0].vjp.by("q")
    assert pickle.loads(pickle.dumps(arm.kernel("inverse_dynamics", backend="numpy"))) is not again[0]
    looped = arm.kernel("inverse_dynamics", tier="looped")
    assert pickle.loads(pickle.dumps(looped)) is looped
    method = pickle.loads(pickle.dumps(arm.inverse_dynamics))
    assert method.__self__[0].__self__ is arm


def test_mechanisms_with_other_shapes_are_not_merged() -> None:
    """Algorithms do not depend on shapes, so `digest_of` leaves them out; what is unpickled has its own all the same."""
    arm = robots.planar_2r()
    thin, thick = (arm.with_shapes([lw.Shape.rod("link2", (-1, 0, 0), (0, 0, 0), radius)]) for radius in (0.05, 0.5))
    for mechanism in (arm, thin, thick):
        again = pickle.loads(pickle.dumps(mechanism))
        assert again.shapes == mechanism.shapes
        assert pickle.loads(pickle.dumps(mechanism)) is again


def test_symbols_are_not_merged() -> None:
    """Those that were read from SymPy are told apart by more than their names."""
    mass = lw.symbols("m")
    arm = lw.Mechanism([lw.Link(mass=mass)])
    sent = pickle.dumps(arm)
    assert pickle.loads(sent) == arm
    assert pickle.loads(sent) is not pickle.loads(sent)


def test_only_the_last_are_kept() -> None:
    first = pickle.dumps(lw.Mechanism([lw.Link(mass=1e3)]))
    arm = pickle.loads(first)
    for k in range(interning.KEPT):
        pickle.loads(pickle.dumps(lw.Mechanism([lw.Link(mass=1e3 + 1 + k)])))
    assert len(interning._objects) == interning.KEPT
    assert pickle.loads(first) is not arm


def test_mechanisms_with_other_shapes_are_told_apart() -> None:
    arms = [robots.planar_2r().with_shapes([lw.Shape("link2", "sphere", radius)]) for radius in (0.1, 0.2)]
    again = [pickle.loads(pickle.dumps(arm)) for arm in [*arms, robots.planar_2r()]]
    assert [[shape.size for shape in arm.shapes] for arm in again] == [[(0.1,)], [(0.2,)], []]
    assert pickle.loads(pickle.dumps(again[0])) is again[0]
