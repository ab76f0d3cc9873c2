"""TEST, TEST_NEW and Linkwise's own dynamics on the same two links: how far they are apart, and what becomes of momentum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.spacelib.arrays import whole
from linkwise.spacelib.programs.floating import History, run_test, run_test_new
from linkwise.spacelib.programs.floating_base import with_check
from linkwise.spacelib.programs.motions import Motion, refined
from linkwise.spacelib.programs.two_links import TwoLinks
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class Compared:
    """One program against the reference.

    Attributes
    ----------
    history : History
        What it computed.
    distance : ndarray (k,)
        The greater distance of a link's centre of mass from where it should be, m.
    angle : ndarray (k,)
        Angle by which link 1 is turned away from where it should be, rad.
    linear, angular : ndarray (k,)
        Change since the start of linear momentum, kg m/s, and of angular momentum about the origin, kg m2/s.
    """

    history: History
    distance: FloatArray
    angle: FloatArray
    linear: FloatArray
    angular: FloatArray


def compare(links: TwoLinks, motion: Motion, *, halvings: int = 0, as_listed: bool = False) -> list[Compared]:
    """Run all three and hold them against Linkwise's dynamics of a floating base with half its step.

    Parameters
    ----------
    links : TwoLinks
        The bodies and their start.
    motion : Motion
        Of the motor.
    halvings : int
        How often the programs are run again, with half the step each time.
    as_listed : bool
        Whether TEST and TEST_NEW with the slips of their listings are run too.

    Returns
    -------
    list of Compared
        Program after program, each with the longest step first.

    Raises
    ------
    ArgumentError
        For fewer than no halvings, and as for `run_test` and `with_check`.

    Examples
    --------
    >>> from linkwise.spacelib.programs import bundled, laws, two_links
    >>> links = two_links.read_two_links(bundled.path("TEST.DAT"))
    >>> for one in compare(links, laws.motor_motion()):
    ...     print(one.history.program, bool(one.angular.max() < 1e-12), bool(one.angle.max() < 1e-4))
    TEST False False
    TEST_NEW True True
    Linkwise True True
    """
    whole("halvings", halvings, least=0)
    own, reference = with_check(links, motion)
    found = []
    for program in (run_test, run_test_new):
        for listed in (False, True) if as_listed else (False,):
            for k in range(halvings + 1):
                made = program(links, refined(motion, 2**k), as_listed=listed)
                found.append(compared(links, made, reference))
    return [*found, compared(links, own, reference)]


def compared(links: TwoLinks, made: History, reference: History) -> Compared:
    """One history against the reference, at the reference's instants.

    Parameters
    ----------
    links : TwoLinks
        The bodies.
    made, reference : History
        Of the same motion; the instants of the first contain those of the second, evenly.
    """
    every = slice(None, None, (len(made.t) - 1) // max(1, len(reference.t) - 1) or 1)
    places, wanted = centres(links, made)[:2, every], centres(links, reference)[:2]
    distance = np.linalg.norm(places - wanted, axis=-1).max(axis=0)
    turn = made.m1[every, :3, :3] - reference.m1[:, :3, :3]
    angle = 2.0 * np.arcsin(np.minimum(np.linalg.norm(turn, axis=(1, 2)) / np.sqrt(8.0), 1.0))
    change = made.momentum[every] - made.momentum[0]
    linear = np.linalg.norm(change[:, :3, 3], axis=-1)
    angular = np.linalg.norm(change[:, [2, 0, 1], [1, 2, 0]], axis=-1)
    return Compared(made, distance, angle, linear, angular)


def centres(links: TwoLinks, made: History) -> FloatArray:
    """Centres of mass (3, k, 3) of link 1, link 2 and both together, m."""
    masses = np.array([links.J1[3, 3], links.J2[3, 3]])
    each = np.stack([(m @ J[:, 3] / J[3, 3])[:, :3] for m, J in ((made.m1, links.J1), (made.m2, links.J2))])
    return np.concatenate([each, np.tensordot(masses / masses.sum(), each, 1)[None]])


def names(found: Sequence[Compared]) -> list[str]:
    """What each is called, with its step where a program was run with several."""
    programs = [one.history.program for one in found]
    return [
        f"{name}, dt = {1e3 * one.history.dt:.3g} ms" if programs.count(name) > 1 else name
        for name, one in zip(programs, found, strict=True)
    ]
