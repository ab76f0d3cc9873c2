"""Velocities and accelerations from sampled joint positions; the zero-phase low-pass filter."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.extras import optional
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.trajectory import Trajectory
from linkwise.trajectory.validation import configuration, instants, scalar

#: Order of the Butterworth filter; forward and backward it is doubled.
ORDER = 4

#: Periods of the cutoff after which the filter has forgotten an end: its slowest part falls by e^-2.4 in each.
SETTLED = 5.0

#: The steps of time may differ by this share of their mean.
EVEN = 1e-3


def differentiate(
    t: npt.ArrayLike, q: npt.ArrayLike, cutoff: float, *, tau: npt.ArrayLike | None = None, drop: float | None = None
) -> Trajectory:
    """Return positions, velocities and accelerations from sampled positions: low-pass filter, then central differences.

    The filter is a Butterworth filter of order 4 run forth and back, so that it shifts nothing in time (M. Gautier,
    "Dynamic identification of robots with power model", ICRA 1997, section 4). It halves amplitudes at `cutoff`; at a
    fifth of it the loss is 3e-6. The differences of step h, (q[k+1] - q[k-1]) / 2h and (q[k+1] - 2 q[k] + q[k-1]) / h^2,
    lose the shares (w h)^2 / 6 and (w h)^2 / 12 of a motion of w rad/s.

    Parameters
    ----------
    t : (T,) array_like
        Evenly spaced instants, s.
    q : (..., T, n) array_like
        Measured joint coordinates, rad or m.
    cutoff : float
        Hz: five times the highest frequency of the motion or more, below half the sampling rate.
    tau : (..., T, n) array_like, optional
        Measured efforts: kept as they are, at the same instants as the rest. `identify` filters them with the regressor.
    drop : float, optional
        Time at either end that is dropped because the filter still settles there, s; 5 / cutoff unless given, after which
        e^-12 of what it does at the ends is left.

    Returns
    -------
    Trajectory
        With q filtered, at the instants that are left.

    Raises
    ------
    ArgumentError
        Where times are not even, shapes do not fit, the cutoff is too high, or too little is left.
    MissingExtraError
        Where SciPy is not installed.

    Examples
    --------
    >>> t = np.linspace(0.0, 4.0, 2001)
    >>> found = differentiate(t, np.sin(2 * t)[:, None], cutoff=10.0)
    >>> found
    <Trajectory: 1501 instants from 0.5 to 3.5 s, 1 joint>
    >>> bool(abs(found.qdd[:, 0] + 4 * np.sin(2 * found.t)).max() < 1e-4)
    True
    """
    time, values = instants(t, least=4), configuration("q", q)
    step = _even(time)
    if values.ndim < 2 or values.shape[-2] != time.size:
        raise ArgumentError(f"q has the shape {values.shape}; expected (..., {time.size}, n): a row for each time in t")
    efforts = None if tau is None else configuration("tau", tau)
    if efforts is not None and efforts.shape != values.shape:
        raise ArgumentError(f"tau has the shape {efforts.shape}; expected {values.shape}, that of q")
    ends = max(math.ceil(_settled(cutoff, drop) / step - 1e-9), 1)
    if time.size < 2 * ends + 2:
        raise ArgumentError(
            f"t lasts {time[-1] - time[0]:g} s, of which {ends * step:g} s are dropped at either end; expected more"
        )
    smooth = lowpass(values, cutoff * step, axis=-2)
    qd = (smooth[..., 2:, :] - smooth[..., :-2, :]) / (2.0 * step)
    qdd = (smooth[..., 2:, :] - 2.0 * smooth[..., 1:-1, :] + smooth[..., :-2, :]) / step**2
    left, inner = slice(ends, time.size - ends), slice(ends - 1, time.size - ends - 1)
    kept = None if efforts is None else efforts[..., left, :]
    return Trajectory(time[left], smooth[..., left, :], qd[..., inner, :], qdd[..., inner, :], tau=kept)


def lowpass(values: FloatArray, cutoff: float, axis: int) -> FloatArray:
    """Filter samples along an axis without shifting them; the cutoff is in periods a sample.

    Raises
    ------
    ArgumentError
        Unless the cutoff lies between 0 and half the sampling rate, and there are samples enough.
    MissingExtraError
        Where SciPy is not installed.
    """
    signal = optional("scipy.signal", "filters need SciPy", "scipy")
    if not 0.0 < cutoff < 0.5:
        raise ArgumentError(f"cutoff is {cutoff:g} of the sampling rate; expected more than 0 and less than a half")
    stages = signal.butter(ORDER, 2.0 * cutoff, output="sos")
    room = math.ceil(1.0 / cutoff) + 3 * (2 * ORDER + 1)
    if values.shape[axis] <= room:
        raise ArgumentError(f"there are {values.shape[axis]} samples; a filter of that cutoff needs more than {room}")
    return np.asarray(signal.sosfiltfilt(stages, values, axis=axis, padlen=room))


def decimated(values: FloatArray, factor: int, ends: int, axis: int) -> FloatArray:
    """Filter samples to half the new sampling rate, and keep every `factor`-th; some of those are dropped at either end.

    What is filtered alike stays related alike, so that neither what is cut off nor what folds back disturbs an equation
    between signals; white noise stays nearly white.
    """
    smooth = np.moveaxis(lowpass(values, 0.5 / factor, axis), axis, 0)
    return np.moveaxis(smooth[ends * factor : -ends * factor : factor], 0, axis)


def _even(t: FloatArray) -> float:
    """The step of even times."""
    steps = np.diff(t)
    step = float((t[-1] - t[0]) / (t.size - 1))
    if np.abs(steps - step).max() > EVEN * step:
        k = int(np.argmax(np.abs(steps - step)))
        raise ArgumentError(f"t has uneven steps: {steps[k]:g} s after t[{k}], {step:g} s on average; expected even ones")
    return step


def _settled(cutoff: float, drop: float | None) -> float:
    frequency = scalar("cutoff", cutoff, expected="a frequency > 0, Hz")
    return SETTLED / frequency if drop is None else scalar("drop", drop, above=-1e-300, expected="a time >= 0, s")
