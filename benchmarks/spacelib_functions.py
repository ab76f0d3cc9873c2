"""SpaceLib's functions beside NumPy written by hand: ``python benchmarks/spacelib_functions.py``.

For every function the time of one call on one input, and of one call on a batch of 100,000 as nanoseconds for each input.
Beside it stands the same in vectorised NumPy (`spacelib_by_hand`, `spacelib_by_hand_rest`); both must agree before anything
is timed, and the ratio of the two times is given: above 1 ours takes longer. On one core; batches as medians in turn, single
calls as the least of many rounds, for what else runs on the machine only ever adds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import spacelib_by_hand as by_hand
import spacelib_by_hand_rest as rest
from timing import in_turn, least, pin_to_one_core, seconds

import linkwise.spacelib as sl
from linkwise.spacelib.names import NAMES

BATCH = 100_000
MOST_MICROSECONDS, MOST_RATIO = 20.0, 3.0

RNG = np.random.default_rng(2)
Array = np.ndarray[Any, np.dtype[np.float64]]


def some(*shape: int) -> Array:
    return RNG.uniform(0.3, 1.5, (BATCH, *shape))


def points() -> Array:
    made = np.ones((BATCH, 4))
    made[:, :3] = some(3)
    return made


def lines() -> Array:
    made = np.zeros((BATCH, 4, 2))
    made[:, :, 0] = points()
    made[:, :3, 1] = RNG.normal(size=(BATCH, 3))
    return made


def rotations() -> Array:
    return by_hand.rotat(RNG.normal(size=(BATCH, 3)), RNG.uniform(0.3, 2.8, BATCH))


def positions() -> Array:
    made = np.zeros((BATCH, 4, 4))
    made[:, :3, :3] = rotations()
    made[:, :, 3] = points()
    return made


def velocities() -> Array:
    made = np.zeros((BATCH, 4, 4))
    made[:, :3, :3] = by_hand.vtom(RNG.normal(size=(BATCH, 3)))
    made[:, :3, 3] = some(3)
    return made


def accelerations() -> Array:
    made = np.zeros((BATCH, 4, 4))
    made[:, :3] = RNG.normal(size=(BATCH, 3, 4))
    return made


def inertias() -> Array:
    found = RNG.normal(size=(BATCH, 6, 4))
    return found.transpose(0, 2, 1) @ found


def planes() -> Array:
    made = some(4)
    made[:, :3] /= np.linalg.norm(made[:, :3], axis=1)[:, None]
    return made


X, Y, Z = sl.X, sl.Y, sl.Z
Q, QP, QPP = some(3) * 0.8, some(3), some(3)
M, W, H, J, P = positions(), velocities(), accelerations(), inertias(), points()
ASKED = [[1] * 6, [0] * 6]

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "dhtom": (sl.Rev, *some(6).T.copy()),
    "dhtomstd": (*some(4).T.copy(),),
    "extract": (M[:, :3, :3].copy(),),
    "mtoscrew": (M,),
    "screwtom": (some(3), some(), P, some()),
    "rotat": (some(3), some()),
    "rotat2": (Z, some()),
    "rotat24": (Z, some(), P),
    "rotat34": (Z, some(), P),
    "traslat": (some(3), some()),
    "traslat2": (Z, some()),
    "traslat24": (Z, some(), P),
    "gtom": (some(), some(), some()),
    "gtomgapt": (H,),
    "makel": (sl.Rev, some(3), some(), P),
    "makel2": (sl.Rev, Z, some(), P),
    "wtol": (W,),
    "wtovel": (W,),
    "veactowh": (sl.Rev, some(), some()),
    "vactowh2": (sl.Rev, Z, some(), some()),
    "vactowh3": (sl.Rev, Z, some(), some(), P),
    "coriolis": (H, accelerations(), W, velocities()),
    "dyn_eq": (J, velocities(), by_hand.skew(H, J), ASKED),
    "actom": (*some(6).T.copy(),),
    "jtoj": (some() + 1, *(some(3) + 2).T.copy(), *(some(3) * 0.1).T.copy(), *some(3).T.copy()),
    "PseDot": (W, by_hand.skew(H, J)),
    "normal": (M + 0.01 * accelerations(),),
    "normal3": (rotations() + 0.01 * RNG.normal(size=(BATCH, 3, 3)),),
    "normal_g": (rotations() + 0.01 * RNG.normal(size=(BATCH, 3, 3)),),
    "normskew": (H, sl.SKEW_),
    "mami": (W, M),
    "miam": (W, M),
    "miamit": (J, M),
    "mamt": (J, M),
    "grad": (some(),),
    "deg": (some(),),
    "rad": (some(),),
    "invers": (M,),
    "mtov": (W[:, :3, :3].copy(),),
    "vtom": (some(3),),
    "skew": (H, J),
    "tracljlt": (W, J, velocities()),
    "cardator": (Q, X, Y, Z),
    "rtocarda": (M[:, :3, :3].copy(), X, Y, Z),
    "cardatom": (Q, X, Y, Z, P),
    "mtocarda": (M, X, Y, Z),
    "cardatow": (Q, QP, X, Y, Z, P),
    "wtocarda": (M, W, X, Y, Z),
    "cardtoom": (Q, QP, X, Y, Z),
    "cardtome": (Q, QP, X, Y, Z),
    "cardatoh": (Q, QP, QPP, X, Y, Z, P),
    "htocarda": (M, W, H, X, Y, Z),
    "cardatog": (Q, QP, QPP, X, Y, Z),
    "cardompt": (Q, QP, QPP, X, Y, Z),
    "cardatol": (Q, X, Y, Z),
    "cardtowp": (Q, X, Y, Z),
    "inva": (some() * 0.8, some() * 0.8, 1, X, Y, Z),
    "framep": (P, points(), points(), Y, Z),
    "frame4p": (P, points(), points(), Y, Z),
    "framev": (some(3), some(3), X, Y),
    "frame4v": (P, some(3), some(3), X, Y),
    "angle": (P, points(), points()),
    "dist": (P, points()),
    "distp": (P, points()),
    "intermed": (P, some(), points(), some()),
    "middle": (P, points()),
    "vect": (P, points()),
    "line2p": (P, points()),
    "linpvect": (P, some(3)),
    "intersec": (lines(), lines()),
    "projponl": (P, lines()),
    "distpp": (planes(), P),
    "project": (P, planes()),
    "plane": (P, points(), points()),
    "plane2": (P, some(3)),
    "inter2pl": (planes(), planes()),
    "interlpl": (lines(), planes()),
    "molt": (M, positions()),
    "rmolt": (M, some()),
    "ssum": (M, positions()),
    "sub": (M, positions()),
    "crossmto": (W[:, :3, :3].copy(), velocities()[:, :3, :3].copy()),
    "crosstom": (some(3, 1), some(3, 1)),
    "transp": (M,),
    "pseudinv": (some(3, 2),),
    "cross": (some(3), some(3)),
    "dot": (some(3), some(3)),
    "dot3": (some(3), some(3)),
    "dot2": (some(5), some(5)),
    "mod": (some(3),),
    "modulus": (some(3),),
    "unitv": (some(3),),
    "vector": (some(3), some()),
    "mcopy": (M,),
    "mmcopy": (M, 3, 3),
    "mvcopy": (M, 4, 4, 4, sl.Col),
    "vmcopy": (P, 3, 4, sl.Col, M, 4, 4),
    "solve_l": (J, some(4)),
    "minvers": (J,),
}

ALONE: dict[str, tuple[Any, ...]] = {
    "aaxis": (Z,),
    "clearmat": (4, 4),
    "idmat": (4,),
    "jrand": (4, 4, 0.0, 1.0),
    "linears": (J[0, :, :].tolist(), 4, 4, 4, 3, 1, [-1]),
}
"""Functions without batches: whole numbers, or results whose form depends on the values."""

BY_HAND = by_hand.FUNCTIONS | rest.FUNCTIONS

NOT_TIMED = {"fprintm", "printm", "prmat"}
"""They print."""


def first(argument: Any) -> Any:
    """One input out of a batch, as a user has it."""
    if not isinstance(argument, np.ndarray):
        return argument
    return argument[0].copy() if argument.ndim > 1 else float(argument[0])


def parts(made: Any) -> tuple[Array, ...]:
    return tuple(np.asarray(part) for part in made) if isinstance(made, tuple) else (np.asarray(made),)


def agree(name: str, ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    for mine, other in zip(parts(ours()), parts(theirs()), strict=True):
        assert np.allclose(mine, other, rtol=0, atol=1e-9 * max(1.0, float(np.abs(other).max()))), name


def main() -> int:
    pin_to_one_core()
    print(f"{'function':10} {'one input':>12} {'batch, each':>12} {'NumPy, each':>12} {'ratio':>7}")
    singles: dict[str, float] = {}
    calls: dict[str, Callable[[], float]] = {}
    ratios: dict[str, float] = {}
    for name in [row.function for row in NAMES if row.matlab and row.function not in NOT_TIMED]:
        function = getattr(sl, name)
        whole = ARGUMENTS.get(name, ALONE.get(name))
        assert whole is not None, f"{name} has no arguments here"
        one = [first(argument) for argument in whole] if name in ARGUMENTS else list(whole)
        calls[name] = seconds(lambda f=function, a=one: f(*a), 0.004)
        singles[name] = least(calls[name])
        text = f"{name:10} {singles[name] * 1e6:9.2f} us"
        if name in ARGUMENTS:
            ours = lambda f=function, a=whole: f(*a)  # noqa: E731
            theirs = BY_HAND.get(name)
            if theirs is None:
                (batch,) = in_turn(seconds(ours), rounds=3)
                text += f" {batch / BATCH * 1e9:9.1f} ns"
            else:
                hand = lambda f=theirs, a=whole: f(*a)  # noqa: E731
                agree(name, ours, hand)
                batch, other = in_turn(seconds(ours), seconds(hand), rounds=5)
                ratios[name] = batch / other
                text += f" {batch / BATCH * 1e9:9.1f} ns {other / BATCH * 1e9:9.1f} ns {ratios[name]:7.2f}"
        print(text)
    for _ in range(3):  # a machine may be slow for seconds
        for name in [name for name, value in singles.items() if value * 1e6 > MOST_MICROSECONDS]:
            singles[name] = min(singles[name], least(calls[name]))
            print(f"{name:10} {singles[name] * 1e6:9.2f} us  (measured again)")
    slow, dear = max(singles, key=singles.__getitem__), max(ratios, key=ratios.__getitem__)
    print(f"\n{len(singles)} functions, {len(ratios)} beside NumPy")
    print(f"slowest on one input: {slow}, {singles[slow] * 1e6:.1f} us; at most {MOST_MICROSECONDS:g} us")
    print(f"greatest ratio on a batch: {dear}, {ratios[dear]:.2f}; at most {MOST_RATIO:g}")
    return int(singles[slow] * 1e6 > MOST_MICROSECONDS or ratios[dear] > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
