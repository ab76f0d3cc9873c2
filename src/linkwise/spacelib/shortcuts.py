"""Cardan, Euler and nautical angles by name: the functions of section 3.5 for three fixed sequences of axes.

The C and Maple releases have these names (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, appendix A); the axes are
those of the manual's table 3.2. All shapes, decisions and errors are those of the functions that are called.
"""

from __future__ import annotations

from typing import Any

from linkwise.spacelib.cardan import cardatom, mtocarda
from linkwise.spacelib.cardan_rates import cardatoh, cardatow, htocarda, wtocarda
from linkwise.spacelib.constants import X, Y, Z
from linkwise.spatial.scalar import Array


def cardtoM(q: Any, O: Any) -> Array:  # noqa: E741
    """Position matrix (..., 4, 4) from Cardan angles about X, Y, Z: `cardatom` with these axes.

    Examples
    --------
    >>> bool((cardtoM([0.1, 0.2, 0.3], ORIGIN) == cardatom([0.1, 0.2, 0.3], X, Y, Z, ORIGIN)).all())
    True
    """
    return cardatom(q, X, Y, Z, O)


def cardtoW(q: Any, qp: Any, O: Any) -> Array:  # noqa: E741
    """Velocity matrix (..., 4, 4) from Cardan angles about X, Y, Z: `cardatow` with these axes.

    Examples
    --------
    >>> cardtoW([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], ORIGIN)[1, 0].item()
    3.0
    """
    return cardatow(q, qp, X, Y, Z, O)


def cardtoH(q: Any, qp: Any, qpp: Any, O: Any) -> Array:  # noqa: E741
    """Acceleration matrix (..., 4, 4) from Cardan angles about X, Y, Z: `cardatoh` with these axes.

    Examples
    --------
    >>> cardtoH([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], ORIGIN)[1, 0].item()
    10.0
    """
    return cardatoh(q, qp, qpp, X, Y, Z, O)


def Mtocard(m: Any) -> tuple[Array, Array]:
    """Both triples (..., 3) of Cardan angles about X, Y, Z: `mtocarda` with these axes.

    Examples
    --------
    >>> q1, q2 = Mtocard(cardtoM([0.1, 0.2, 0.3], ORIGIN))
    >>> q1.round(9).tolist()
    [0.1, 0.2, 0.3]
    """
    q1, q2 = mtocarda(m, X, Y, Z)
    return q1, q2


def Wtocard(m: Any, W: Any) -> tuple[Array, Array, Array, Array]:
    """Cardan angles about X, Y, Z and their rates, q1, qp1, q2, qp2 (..., 3): `wtocarda` with these axes.

    Examples
    --------
    >>> q, qp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    >>> Wtocard(cardtoM(q, ORIGIN), cardtoW(q, qp, ORIGIN))[1].round(9).tolist()
    [1.0, 2.0, 3.0]
    """
    q1, qp1, q2, qp2 = wtocarda(m, W, X, Y, Z)
    return q1, qp1, q2, qp2


def Htocard(m: Any, W: Any, H: Any) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Cardan angles about X, Y, Z and derivatives, q1, q2, qp1, qp2, qpp1, qpp2 (..., 3): `htocarda` with these axes.

    Examples
    --------
    >>> q, qp, qpp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    >>> Htocard(cardtoM(q, ORIGIN), cardtoW(q, qp, ORIGIN), cardtoH(q, qp, qpp, ORIGIN))[4].round(9).tolist()
    [4.0, 5.0, 6.0]
    """
    q1, q2, qp1, qp2, qpp1, qpp2 = htocarda(m, W, H, X, Y, Z)
    return q1, q2, qp1, qp2, qpp1, qpp2


def eultoM(q: Any, O: Any) -> Array:  # noqa: E741
    """Position matrix (..., 4, 4) from Euler angles about Z, X, Z: `cardatom` with these axes.

    Examples
    --------
    >>> bool((eultoM([0.1, 0.2, 0.3], ORIGIN) == cardatom([0.1, 0.2, 0.3], Z, X, Z, ORIGIN)).all())
    True
    """
    return cardatom(q, Z, X, Z, O)


def eultoW(q: Any, qp: Any, O: Any) -> Array:  # noqa: E741
    """Velocity matrix (..., 4, 4) from Euler angles about Z, X, Z: `cardatow` with these axes.

    Examples
    --------
    >>> eultoW([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], ORIGIN)[1, 0].item()
    4.0
    """
    return cardatow(q, qp, Z, X, Z, O)


def eultoH(q: Any, qp: Any, qpp: Any, O: Any) -> Array:  # noqa: E741
    """Acceleration matrix (..., 4, 4) from Euler angles about Z, X, Z: `cardatoh` with these axes.

    Examples
    --------
    >>> eultoH([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], ORIGIN)[1, 0].item()
    10.0
    """
    return cardatoh(q, qp, qpp, Z, X, Z, O)


def Mtoeul(m: Any) -> tuple[Array, Array]:
    """Both triples (..., 3) of Euler angles about Z, X, Z: `mtocarda` with these axes.

    Examples
    --------
    >>> q1, q2 = Mtoeul(eultoM([0.1, 0.2, 0.3], ORIGIN))
    >>> q1.round(9).tolist()
    [0.1, 0.2, 0.3]
    """
    q1, q2 = mtocarda(m, Z, X, Z)
    return q1, q2


def Wtoeul(m: Any, W: Any) -> tuple[Array, Array, Array, Array]:
    """Euler angles about Z, X, Z and their rates, q1, qp1, q2, qp2 (..., 3): `wtocarda` with these axes.

    Examples
    --------
    >>> q, qp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    >>> Wtoeul(eultoM(q, ORIGIN), eultoW(q, qp, ORIGIN))[1].round(9).tolist()
    [1.0, 2.0, 3.0]
    """
    q1, qp1, q2, qp2 = wtocarda(m, W, Z, X, Z)
    return q1, qp1, q2, qp2


def Htoeul(m: Any, W: Any, H: Any) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Euler angles about Z, X, Z and derivatives, q1, q2, qp1, qp2, qpp1, qpp2 (..., 3): `htocarda` with these axes.

    Examples
    --------
    >>> q, qp, qpp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    >>> Htoeul(eultoM(q, ORIGIN), eultoW(q, qp, ORIGIN), eultoH(q, qp, qpp, ORIGIN))[4].round(9).tolist()
    [4.0, 5.0, 6.0]
    """
    q1, q2, qp1, qp2, qpp1, qpp2 = htocarda(m, W, H, Z, X, Z)
    return q1, q2, qp1, qp2, qpp1, qpp2


def nauttoM(q: Any, O: Any) -> Array:  # noqa: E741
    """Position matrix (..., 4, 4) from nautical angles about Z, Y, X (yaw, pitch, roll): `cardatom` with these axes.

    Examples
    --------
    >>> bool((nauttoM([0.1, 0.2, 0.3], ORIGIN) == cardatom([0.1, 0.2, 0.3], Z, Y, X, ORIGIN)).all())
    True
    """
    return cardatom(q, Z, Y, X, O)


def nauttoW(q: Any, qp: Any, O: Any) -> Array:  # noqa: E741
    """Velocity matrix (..., 4, 4) from nautical angles about Z, Y, X (yaw, pitch, roll): `cardatow` with these axes.

    Examples
    --------
    >>> nauttoW([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], ORIGIN)[1, 0].item()
    1.0
    """
    return cardatow(q, qp, Z, Y, X, O)


def nauttoH(q: Any, qp: Any, qpp: Any, O: Any) -> Array:  # noqa: E741
    """Acceleration matrix (..., 4, 4) from nautical angles about Z, Y, X (yaw, pitch, roll): `cardatoh` with these axes.

    Examples
    --------
    >>> nauttoH([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], ORIGIN)[1, 0].item()
    4.0
    """
    return cardatoh(q, qp, qpp, Z, Y, X, O)


def Mtonaut(m: Any) -> tuple[Array, Array]:
    """Both triples (..., 3) of nautical angles about Z, Y, X (yaw, pitch, roll): `mtocarda` with these axes.

    Examples
    --------
    >>> q1, q2 = Mtonaut(nauttoM([0.1, 0.2, 0.3], ORIGIN))
    >>> q1.round(9).tolist()
    [0.1, 0.2, 0.3]
    """
    q1, q2 = mtocarda(m, Z, Y, X)
    return q1, q2


def Wtonaut(m: Any, W: Any) -> tuple[Array, Array, Array, Array]:
    """Nautical angles about Z, Y, X and their rates, q1, qp1, q2, qp2 (..., 3): `wtocarda` with these axes.

    Examples
    --------
    >>> q, qp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    >>> Wtonaut(nauttoM(q, ORIGIN), nauttoW(q, qp, ORIGIN))[1].round(9).tolist()
    [1.0, 2.0, 3.0]
    """
    q1, qp1, q2, qp2 = wtocarda(m, W, Z, Y, X)
    return q1, qp1, q2, qp2


def Htonaut(m: Any, W: Any, H: Any) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Nautical angles about Z, Y, X and derivatives, q1, q2, qp1, qp2, qpp1, qpp2 (..., 3): `htocarda` with these axes.

    Examples
    --------
    >>> q, qp, qpp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    >>> Htonaut(nauttoM(q, ORIGIN), nauttoW(q, qp, ORIGIN), nauttoH(q, qp, qpp, ORIGIN))[4].round(9).tolist()
    [4.0, 5.0, 6.0]
    """
    q1, q2, qp1, qp2, qpp1, qpp2 = htocarda(m, W, H, Z, Y, X)
    return q1, q2, qp1, qp2, qpp1, qpp2
