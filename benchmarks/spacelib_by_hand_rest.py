"""The rest of `spacelib_by_hand`: functions that are put together from those, and the small ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import spacelib_by_hand as sl
from spacelib_by_hand import Array, cross, mtov, norm, position, vtom


def inner(a: Array, b: Array) -> Array:
    return np.einsum("...i,...i->...", a, b)


def times(m: Array, v: Array) -> Array:
    return np.einsum("...ij,...j->...i", m, v)


def screwtom(u: Array, phi: Array, p: Array, h: Array) -> Array:
    r = sl.rotat(u, phi)
    return position(r, p[..., :3] - times(r, p[..., :3]) + u * (h / norm(u))[..., None])


def moved(shift: Array) -> Array:
    made = np.zeros((*shift.shape[:-1], 4, 4))
    for k in range(4):
        made[..., k, k] = 1.0
    made[..., :3, 3] = shift
    return made


def along_z(h: Array) -> Array:
    made = np.zeros((*h.shape, 3))
    made[..., 2] = h
    return made


def gtom(gx: Array, gy: Array, gz: Array) -> Array:
    made = np.zeros((*gx.shape, 4, 4))
    made[..., 0, 3], made[..., 1, 3], made[..., 2, 3] = gx, gy, gz
    return made


def makel(_: int, u: Array, pitch: Array, p: Array) -> Array:
    u = u / norm(u)[..., None]
    made = np.zeros((*pitch.shape, 4, 4))
    made[..., :3, :3] = vtom(u)
    made[..., :3, 3] = pitch[..., None] * u - cross(u, p[..., :3])
    return made


def about_z(qp: Array, qpp: Array) -> tuple[Array, Array]:
    w, h = np.zeros((*qp.shape, 4, 4)), np.zeros((*qp.shape, 4, 4))
    w[..., 0, 1], w[..., 1, 0] = -qp, qp
    h[..., 0, 0] = h[..., 1, 1] = -qp * qp
    h[..., 0, 1], h[..., 1, 0] = -qpp, qpp
    return w, h


def normal(a: Array) -> Array:
    made = a.copy()
    made[..., :3, :3] = sl.normal3(a[..., :3, :3])
    return made


def miam(a: Array, m: Array) -> Array:
    return sl.invers(m) @ a @ m


def miamit(a: Array, m: Array) -> Array:
    back = sl.invers(m)
    return back @ a @ np.swapaxes(back, -1, -2)


def rates(angles: Array, omega: Array) -> Array:
    """Of the angles about X, Y, Z."""
    (c1, c2), (s1, s2) = (np.moveaxis(f(angles[..., :2]), -1, 0) for f in (np.cos, np.sin))
    made = np.empty(angles.shape)
    made[..., 2] = (c1 * omega[..., 2] - s1 * omega[..., 1]) / c2
    made[..., 1] = c1 * omega[..., 1] + s1 * omega[..., 2]
    made[..., 0] = omega[..., 0] - s2 * made[..., 2]
    return made


def wtocarda(m: Array, w: Array, *_: int) -> tuple[Array, ...]:
    first, second = sl.rtocarda(m[..., :3, :3])
    speeds = rates(first, mtov(w))
    return first, speeds, second, speeds * np.array([1.0, -1.0, 1.0])


def htocarda(m: Array, w: Array, h: Array, *_: int) -> tuple[Array, ...]:
    first, speeds, second, other = wtocarda(m, w)
    seconds = rates(first, mtov(h) - sl.cardompt(first, speeds, np.zeros_like(speeds)))
    return first, second, speeds, other, seconds, seconds * np.array([1.0, -1.0, 1.0])


def cardatog(q: Array, qp: Array, qpp: Array, *_: int) -> Array:
    w = vtom(sl.cardtoom(q, qp))
    return vtom(sl.cardompt(q, qp, qpp)) + w @ w


def cardtowp(q: Array, *_: int) -> Array:
    a = sl.cardatol(q)
    made = np.empty(a.shape)
    for k, (i, j) in enumerate(((1, 2), (0, 2), (0, 1))):
        made[..., :, k] = cross(a[..., :, i], a[..., :, j])
    return made


def inva(alpha: Array, beta: Array, *_: int) -> tuple[Array, Array]:
    (c1, c2), (s1, s2) = ((f(alpha), f(beta)) for f in (np.cos, np.sin))
    made = np.zeros((*alpha.shape, 3, 3))
    made[..., 2, 1], made[..., 2, 2] = -s1 / c2, c1 / c2
    made[..., 1, 1], made[..., 1, 2] = c1, s1
    made[..., 0, 0] = 1.0
    made[..., 0, 1], made[..., 0, 2] = -s2 * made[..., 2, 1], -s2 * made[..., 2, 2]
    return made, (np.abs(c2) > 1e-14).astype(int)


def intermed(p1: Array, a: Array, p2: Array, b: Array) -> Array:
    made = (a[..., None] * p1 + b[..., None] * p2) / (a + b)[..., None]
    made[..., 3] = 1.0
    return made


def linpvect(p: Array, v: Array) -> Array:
    made = np.zeros((*p.shape, 2))
    made[..., 0] = p
    made[..., :3, 1] = v / norm(v)[..., None]
    return made


def intersec(one: Array, other: Array) -> tuple[Array, ...]:
    """Of lines in general position."""
    p, q = one[..., :3, 0], other[..., :3, 0]
    a, b = (line[..., :3, 1] / norm(line[..., :3, 1])[..., None] for line in (one, other))
    n, gap = cross(a, b), q - p
    square = inner(n, n)
    first = p + a * (inner(cross(gap, b), n) / square)[..., None]
    second = q + b * (inner(cross(gap, a), n) / square)[..., None]
    middle = np.ones((*p.shape[:-1], 4))
    middle[..., :3] = 0.5 * (first + second)
    u = n / np.sqrt(square)[..., None]
    plane = np.empty(middle.shape)
    plane[..., :3] = u
    plane[..., 3] = -inner(u, middle[..., :3])
    return linpvect(middle, n), np.abs(inner(gap, u)), plane, middle, np.ones(len(p))


def project(p: Array, plane: Array) -> tuple[Array, Array]:
    n = plane[..., :3]
    size = inner(plane, p) / inner(n, n)
    foot = p.copy()
    foot[..., :3] -= size[..., None] * n
    return foot, size * norm(n)


def plane2(p: Array, v: Array) -> Array:
    made = np.empty(p.shape)
    made[..., :3] = v / norm(v)[..., None]
    made[..., 3] = -inner(made[..., :3], p[..., :3])
    return made


def interlpl(line: Array, plane: Array) -> tuple[Array, Array]:
    p, v = line[..., 0], line[..., :3, 1]
    made = p.copy()
    made[..., :3] -= v * (inner(plane, p) / inner(plane[..., :3], v))[..., None]
    return made, np.zeros(len(p))


def crossmto(a: Array, b: Array) -> Array:
    product = np.swapaxes(b, -1, -2) @ a
    return product - np.swapaxes(product, -1, -2)


def vmcopy(v: Array, _: int, column: int, __: int, m: Array, *___: int) -> Array:
    made = m.copy()
    made[..., :3, column - 1] = v[..., :3]
    return made


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "dhtomstd": lambda theta, d, a, alpha: sl.dhtom(0, theta, d, 0.0 * d, a, alpha, 0.0 * d),
    "screwtom": screwtom,
    "rotat2": lambda _, phi: sl.rotation_z(phi),
    "rotat24": lambda _, phi, o: position(sl.rotation_z(phi), o),
    "traslat2": lambda _, h: moved(along_z(h)),
    "traslat24": lambda _, h, p: moved(p[..., :3] + along_z(h)),
    "gtom": gtom,
    "gtomgapt": mtov,
    "makel": makel,
    "veactowh": lambda _, qp, qpp: about_z(qp, qpp),
    "vactowh2": lambda _, __, qp, qpp: about_z(qp, qpp),
    "normal": normal,
    "normal_g": sl.normal3,
    "normskew": lambda a, _: 0.5 * (a - np.swapaxes(a, -1, -2)),
    "miam": miam,
    "miamit": miamit,
    "grad": np.rad2deg,
    "rad": np.deg2rad,
    "cardatom": lambda q, i, j, k, o: position(sl.cardator(q), o),
    "mtocarda": lambda m, *_: sl.rtocarda(m[..., :3, :3]),
    "wtocarda": wtocarda,
    "cardtome": lambda q, qp, *_: vtom(sl.cardtoom(q, qp)),
    "htocarda": htocarda,
    "cardatog": cardatog,
    "cardtowp": cardtowp,
    "inva": inva,
    "framep": lambda *given: sl.frame4p(*given)[..., :3, :3],
    "frame4v": lambda p, v1, v2, *_: position(sl.framev(v1, v2), p),
    "dist": sl.distp,
    "intermed": intermed,
    "vect": lambda p1, p2: p1[..., :3] - p2[..., :3],
    "linpvect": linpvect,
    "intersec": intersec,
    "project": project,
    "plane2": plane2,
    "interlpl": interlpl,
    "rmolt": lambda a, r: a * r[..., None, None],
    "sub": np.subtract,
    "crossmto": crossmto,
    "transp": lambda a: np.swapaxes(a, -1, -2).copy(),
    "dot": inner,
    "dot2": inner,
    "mod": norm,
    "vector": lambda u, mod: mod[..., None] * u,
    "mmcopy": lambda a, *_: a[..., :3, :3].copy(),
    "mvcopy": lambda a, *_: a[..., :, 3].copy(),
    "vmcopy": vmcopy,
    "solve_l": lambda a, b: (times(np.linalg.pinv(a), b), np.linalg.matrix_rank(a)),
}
"""By the names of SpaceLib; with the axis codes that the benchmark uses."""
