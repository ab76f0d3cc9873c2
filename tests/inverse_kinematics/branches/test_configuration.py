"""Configurations by name: the words that books use, and what is asked for by them."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import configuration_labels


@pytest.fixture(scope="module")
def puma() -> Mechanism:
    return robots.puma560()


def test_words_of_the_puma_are_those_of_the_book(puma: Mechanism) -> None:
    # P. Corke, Robotics, Vision and Control (2011), section 7.3.1: qn is reached with 'ru', the default without flip
    qn = [0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0]
    assert configuration_labels(puma, qn) == {"shoulder": "right", "elbow": "up", "wrist": "no flip"}
    # the same page: ikine6s without a configuration is to the left with the elbow up
    left = [2.6486, -3.9270, 0.0940, 2.5326, 0.9743, 0.3734]
    assert configuration_labels(puma, left) == {"shoulder": "left", "elbow": "up", "wrist": "no flip"}


def test_words_do_not_depend_on_how_axes_are_directed(puma: Mechanism) -> None:
    q = np.random.default_rng(0).uniform(-2.0, 2.0, (50, 6))
    turned = puma.replace(
        links=[link.replace(axis=-np.asarray(link.axis)) if k == 1 else link for k, link in enumerate(_general(puma).links)]
    )
    mirrored = q * [1, -1, 1, 1, 1, 1]
    words, others = configuration_labels(puma, q), configuration_labels(turned, mirrored)
    assert (words["shoulder"] == others["shoulder"]).all()
    assert (words["elbow"] == others["elbow"]).all()


def _general(arm: Mechanism) -> Mechanism:
    """The same arm without Denavit-Hartenberg rows."""
    links = []
    for link in arm.links:
        links.append(Link(axis=[0, 0, 1], before=link.before, after=link.after, offset=link.offset))
    return Mechanism(links, name=arm.name)


def test_solutions_of_one_configuration(puma: Mechanism) -> None:
    T = puma.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    every = puma.all_inverse_kinematics(T, limits=False)
    up = puma.all_inverse_kinematics(T, limits=False, configuration={"elbow": "up", "shoulder": "left"})
    assert len(up) == 2
    assert all(np.abs(every.q - row).max(axis=1).min() == 0.0 for row in up.q)
    kept = puma.all_inverse_kinematics(T, limits=False, configuration=configuration_labels(puma, every[5]))
    assert len(kept) == 1
    assert (kept[0] == every[5]).all()
    batch = puma.all_inverse_kinematics(np.stack([T, T]), limits=False, configuration={"wrist": "flip"})
    assert batch.count.tolist() == [4, 4]
    assert set(batch.configuration["wrist"].ravel()) == {"flip"}


def test_a_singular_position_has_both_words(puma: Mechanism) -> None:
    q = [0.1, 0.8, -2.0, 0.3, 0.0, 0.2]
    assert configuration_labels(puma, q)["wrist"] == "singular"
    T = puma.forward_kinematics(q)
    for word in ("flip", "no flip"):
        assert len(puma.all_inverse_kinematics(T, q0=q, configuration={"wrist": word})) >= 1


def test_words_that_there_are_not(puma: Mechanism) -> None:
    T = puma.forward_kinematics(np.full(6, 0.3))
    with pytest.raises(ArgumentError, match="'up' or 'down'"):
        puma.all_inverse_kinematics(T, configuration={"elbow": "left"})
    with pytest.raises(ArgumentError, match="'shoulder', 'elbow' or 'wrist'"):
        puma.all_inverse_kinematics(T, configuration={"hand": "left"})
    scara = robots.load("scara_icomatic")
    assert configuration_labels(scara, np.zeros(3)) == {}
