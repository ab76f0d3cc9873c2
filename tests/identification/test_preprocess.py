"""Speeds and accelerations from samples: what theory says of filter and differences, and nothing more, is lost."""

import sys

import numpy as np
import pytest

from linkwise.errors import MissingExtraError
from linkwise.identification import differentiate
from linkwise.identification.preprocess import decimated, lowpass
from support.messages import unnamed


def sines(t: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, ...]:
    angle = t[:, None] * w + [0.3, 1.0]
    return np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)


def test_errors_are_those_of_the_differences() -> None:
    w, h = np.array([2.0, 6.0]), 1e-3
    t = np.arange(8001) * h
    found = differentiate(t, sines(t, w)[0], cutoff=20.0)
    q, qd, qdd = sines(found.t, w)
    pairs = ((found.q, q), (found.qd, qd), (found.qdd, qdd))
    errors = [np.abs(value - true).max(axis=0) / w**k for k, (value, true) in enumerate(pairs)]
    print(*(error.tolist() for error in errors))
    passed = (w / (2 * np.pi * 20.0)) ** 8  # what a Butterworth filter of order 4, run forth and back, takes away
    slow = w / (2 * np.pi * 20.0)
    ends = 2 * np.exp(-12.0)  # is left of the jump 2 w^2 of the acceleration where the signal is continued beyond its ends
    assert np.all(errors[0] < 1.1 * passed + ends * slow**2)
    assert np.all(errors[1] < 1.01 * ((w * h) ** 2 / 6 + passed) + ends * slow)
    assert np.all(errors[2] < 1.01 * ((w * h) ** 2 / 12 + passed) + ends)


def test_nothing_is_shifted_and_efforts_are_kept() -> None:
    t = 5.0 + np.arange(1000) * 0.01
    q = np.stack([t, t**2], axis=1)
    found = differentiate(t, q, cutoff=5.0, tau=3.0 * q, drop=1.0)
    assert found.t[0] == pytest.approx(6.0)
    assert len(found) == 800
    assert np.array_equal(found.tau, 3.0 * q[100:-100])
    assert np.abs(found.q - q[100:-100]).max() < 1e-6  # a straight line and a parabola pass; the ends have settled
    assert np.abs(found.qd - np.stack([np.ones(800), 2 * found.t], axis=1)).max() < 1e-4


def test_noise_is_filtered() -> None:
    """White noise of 1 keeps the share of its band that passes: |H|^2 of a Butterworth filter twice over."""
    rng = np.random.default_rng(0)
    noise = lowpass(rng.normal(size=(200_000, 1)), 0.02, axis=0)
    f = np.linspace(0, 0.5, 100_001)
    wanted = np.trapezoid(2.0 / (1.0 + (np.tan(np.pi * f[:-1]) / np.tan(np.pi * 0.02)) ** 8) ** 2, f[:-1])
    assert abs(noise.var() / wanted - 1.0) < 0.1  # some 8,000 independent values: 1.6 %, six times over


def test_batches_are_filtered_each() -> None:
    t = np.arange(500) * 0.01
    q = np.random.default_rng(0).normal(size=(2, 3, 500, 2)).cumsum(axis=-2)
    many = differentiate(t, q, cutoff=4.0)
    for place in np.ndindex(2, 3):
        one = differentiate(t, q[place], cutoff=4.0)
        assert np.allclose(many.qdd[place], one.qdd, rtol=0, atol=1e-9 * np.abs(one.qdd).max())


def test_decimation_keeps_every_so_many() -> None:
    slow = np.sin(np.arange(1000) * 0.01)[:, None]
    kept = decimated(slow, 10, 4, axis=0)
    assert kept.shape == (92, 1)
    assert np.abs(kept - slow[40:-40:10]).max() < 1e-3  # the ends have settled to e^-4.8 of a kink of 0.01
    quick = np.cos(np.arange(1000) * 2.0)[:, None]
    assert np.abs(decimated(quick, 10, 4, axis=0)).max() < 1e-2


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.signal", None)
    t = np.arange(500) * 0.01
    with pytest.raises(MissingExtraError) as caught:
        differentiate(t, t[:, None], cutoff=5.0)
    assert unnamed(caught.value, 'filters need SciPy: pip install "scipy>=1.11"') == []
