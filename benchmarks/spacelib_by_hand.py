"""Functions of SpaceLib as one would write them in NumPy for a batch: formulas over columns, results filled in place.

No argument is checked and no special case is met: as fast as such code gets without a compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def norm(v: Array) -> Array:
    return np.sqrt(np.einsum("...i,...i->...", v, v))


def cross(a: Array, b: Array) -> Array:
    made = np.empty(a.shape)
    made[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    made[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    made[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return made


def vtom(v: Array) -> Array:
    made = np.zeros((*v.shape[:-1], 3, 3))
    made[..., 0, 1], made[..., 0, 2], made[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    made[..., 1, 0], made[..., 2, 0], made[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return made


def mtov(m: Array) -> Array:
    made = np.empty((*m.shape[:-2], 3))
    made[..., 0] = 0.5 * (m[..., 2, 1] - m[..., 1, 2])
    made[..., 1] = 0.5 * (m[..., 0, 2] - m[..., 2, 0])
    made[..., 2] = 0.5 * (m[..., 1, 0] - m[..., 0, 1])
    return made


def position(r: Array, o: Array) -> Array:
    made = np.zeros((*r.shape[:-2], 4, 4))
    made[..., :3, :3] = r
    made[..., :3, 3] = o[..., :3]
    made[..., 3, 3] = 1.0
    return made


def dhtom(_: int, theta: Array, d: Array, b: Array, a: Array, alpha: Array, q: Array) -> Array:
    c, s, ca, sa = np.cos(theta + q), np.sin(theta + q), np.cos(alpha), np.sin(alpha)
    made = np.zeros((*theta.shape, 4, 4))
    made[..., 0, 0], made[..., 0, 1], made[..., 0, 2], made[..., 0, 3] = c, -s * ca, s * sa, a * c - b * s
    made[..., 1, 0], made[..., 1, 1], made[..., 1, 2], made[..., 1, 3] = s, c * ca, -c * sa, a * s + b * c
    made[..., 2, 1], made[..., 2, 2], made[..., 2, 3], made[..., 3, 3] = sa, ca, d, 1.0
    return made


def rotat(u: Array, phi: Array) -> Array:
    u = u / norm(u)[..., None]
    c, s = np.cos(phi), np.sin(phi)
    made = (1.0 - c)[..., None, None] * u[..., :, None] * u[..., None, :] + s[..., None, None] * vtom(u)
    made[..., 0, 0] += c
    made[..., 1, 1] += c
    made[..., 2, 2] += c
    return made


def rotation_z(phi: Array) -> Array:
    made = np.zeros((*phi.shape, 3, 3))
    made[..., 0, 0] = made[..., 1, 1] = np.cos(phi)
    made[..., 1, 0] = np.sin(phi)
    made[..., 0, 1] = -made[..., 1, 0]
    made[..., 2, 2] = 1.0
    return made


def rotat34(_: int, phi: Array, o: Array) -> Array:
    r = rotation_z(phi)
    return position(r, np.einsum("...ij,...j->...i", r, o[..., :3]))


def traslat(u: Array, h: Array) -> Array:
    return position(np.broadcast_to(np.eye(3), (*h.shape, 3, 3)), u * (h / norm(u))[..., None])


def extract(r: Array) -> tuple[Array, Array]:
    w = mtov(r)
    s = norm(w)
    return w / s[..., None], np.arctan2(s, 0.5 * (np.trace(r, axis1=-2, axis2=-1) - 1.0))


def mtoscrew(q: Array) -> tuple[Array, Array, Array, Array]:
    u, phi = extract(q[..., :3, :3])
    t = q[..., :3, 3]
    h = np.einsum("...i,...i->...", u, t)
    across = t - h[..., None] * u
    p = np.ones((*h.shape, 4))
    p[..., :3] = 0.5 * (across + cross(u, across) / np.tan(0.5 * phi)[..., None])
    return u, phi, p, h


def makel2(_: int, __: int, pitch: Array, p: Array) -> Array:
    made = np.zeros((*pitch.shape, 4, 4))
    made[..., 0, 1], made[..., 1, 0] = -1.0, 1.0
    made[..., 0, 3], made[..., 1, 3], made[..., 2, 3] = p[..., 1], -p[..., 0], pitch
    return made


def wtol(w: Array) -> Array:
    return w / norm(mtov(w))[..., None, None]


def wtovel(w: Array) -> tuple[Array, Array, Array, Array]:
    angular, v = mtov(w), w[..., :3, 3]
    omega = norm(angular)
    u = angular / omega[..., None]
    p = np.ones((*omega.shape, 4))
    p[..., :3] = cross(u, v) / omega[..., None]
    return u, omega, np.einsum("...i,...i->...", u, v), p


def vactowh3(_: int, __: int, qp: Array, qpp: Array, o: Array) -> tuple[Array, Array]:
    w, h = np.zeros((*qp.shape, 4, 4)), np.zeros((*qp.shape, 4, 4))
    w[..., 0, 1], w[..., 1, 0] = -qp, qp
    w[..., 0, 3], w[..., 1, 3] = qp * o[..., 1], -qp * o[..., 0]
    square = qp * qp
    h[..., 0, 0] = h[..., 1, 1] = -square
    h[..., 0, 1], h[..., 1, 0] = -qpp, qpp
    h[..., 0, 3] = square * o[..., 0] + qpp * o[..., 1]
    h[..., 1, 3] = square * o[..., 1] - qpp * o[..., 0]
    return w, h


def coriolis(h0: Array, h1: Array, w0: Array, w1: Array) -> Array:
    return h0 + h1 + 2.0 * (w0 @ w1)


def skew(a: Array, b: Array) -> Array:
    product = a @ b
    return product - np.swapaxes(product, -1, -2)


def actom(fx: Array, fy: Array, fz: Array, cx: Array, cy: Array, cz: Array) -> Array:
    made = np.zeros((*fx.shape, 4, 4))
    made[..., 0, 1], made[..., 0, 2], made[..., 1, 2] = -cz, cy, -cx
    made[..., 1, 0], made[..., 2, 0], made[..., 2, 1] = cz, -cy, cx
    made[..., 0, 3], made[..., 1, 3], made[..., 2, 3] = fx, fy, fz
    made[..., 3, 0], made[..., 3, 1], made[..., 3, 2] = -fx, -fy, -fz
    return made


def pse_dot(m: Array, f: Array) -> Array:
    turning = np.einsum("...i,...i->...", mtov(m), mtov(f))
    return turning + np.einsum("...i,...i->...", m[..., :3, 3], f[..., :3, 3])


def jtoj(m: Array, *rest: Array) -> Array:
    xx, yy, zz, xy, yz, xz, xg, yg, zg = rest
    made = np.empty((*m.shape, 4, 4))
    mx, my, mz = m * xg, m * yg, m * zg
    made[..., 0, 0] = 0.5 * (yy + zz - xx) + mx * xg
    made[..., 1, 1] = 0.5 * (xx + zz - yy) + my * yg
    made[..., 2, 2] = 0.5 * (xx + yy - zz) + mz * zg
    made[..., 0, 1] = made[..., 1, 0] = mx * yg - xy
    made[..., 1, 2] = made[..., 2, 1] = my * zg - yz
    made[..., 0, 2] = made[..., 2, 0] = mx * zg - xz
    for k, value in enumerate((mx, my, mz, m)):
        made[..., k, 3] = made[..., 3, k] = value
    return made


def dyn_eq(j: Array, wp: Array, f: Array, _: object) -> tuple[Array, Array, Array]:
    """All accelerations asked: the six equations of each body written down and solved."""
    system = np.empty((len(j), 6, 6))
    for k in range(6):
        unit = np.zeros((4, 4))
        if k < 3:
            unit[:3, :3] = vtom(np.eye(3)[k])
        else:
            unit[k - 3, 3] = 1.0
        made = skew(unit, j)
        system[:, :3, k], system[:, 3:, k] = mtov(made), made[..., :3, 3]
    known = np.concatenate([mtov(f), f[..., :3, 3]], axis=1)
    found = np.linalg.solve(system, known[..., None])[..., 0]
    wp = np.zeros_like(j)
    wp[..., :3, :3] = vtom(found[:, :3])
    wp[..., :3, 3] = found[:, 3:]
    return wp, skew(wp, j), np.ones(len(j))


def invers(m: Array) -> Array:
    r = np.swapaxes(m[..., :3, :3], -1, -2)
    return position(r, -np.einsum("...ij,...j->...i", r, m[..., :3, 3]))


def mami(a: Array, m: Array) -> Array:
    return m @ a @ invers(m)


def mamt(a: Array, m: Array) -> Array:
    return m @ a @ np.swapaxes(m, -1, -2)


def tracljlt(a: Array, j: Array, b: Array) -> Array:
    return np.einsum("...ij,...ij->...", a @ j, b)


def normal3(a: Array) -> Array:
    u, _, v = np.linalg.svd(a)
    return u @ v


def cardator(q: Array, *_: int) -> Array:
    (c1, c2, c3), (s1, s2, s3) = np.moveaxis(np.cos(q), -1, 0), np.moveaxis(np.sin(q), -1, 0)
    made = np.empty((*c1.shape, 3, 3))
    made[..., 0, 0], made[..., 0, 1], made[..., 0, 2] = c2 * c3, -c2 * s3, s2
    made[..., 1, 0], made[..., 1, 1], made[..., 1, 2] = c1 * s3 + s1 * s2 * c3, c1 * c3 - s1 * s2 * s3, -s1 * c2
    made[..., 2, 0], made[..., 2, 1], made[..., 2, 2] = s1 * s3 - c1 * s2 * c3, s1 * c3 + c1 * s2 * s3, c1 * c2
    return made


def rtocarda(r: Array, *_: int) -> tuple[Array, Array]:
    a, c = np.arctan2(-r[..., 1, 2], r[..., 2, 2]), np.arctan2(-r[..., 0, 1], r[..., 0, 0])
    b = np.arcsin(r[..., 0, 2])
    other = np.stack([a + np.pi, np.pi - b, c + np.pi], axis=-1)
    return np.stack([a, b, c], axis=-1), np.pi - np.mod(np.pi - other, 2 * np.pi)


def cardatol(q: Array, *_: int) -> Array:
    c1, s1, c2, s2 = np.cos(q[..., 0]), np.sin(q[..., 0]), np.cos(q[..., 1]), np.sin(q[..., 1])
    made = np.zeros((*c1.shape, 3, 3))
    made[..., 0, 0], made[..., 0, 2] = 1.0, s2
    made[..., 1, 1], made[..., 1, 2] = c1, -s1 * c2
    made[..., 2, 1], made[..., 2, 2] = s1, c1 * c2
    return made


def cardtoom(q: Array, qp: Array, *_: int) -> Array:
    return np.einsum("...ij,...j->...i", cardatol(q), qp)


def cardatow(q: Array, qp: Array, *rest: Any) -> Array:
    omega, o = cardtoom(q, qp), rest[-1][..., :3]
    made = np.zeros((*omega.shape[:-1], 4, 4))
    made[..., :3, :3] = vtom(omega)
    made[..., :3, 3] = cross(o, omega)
    return made


def cardompt(q: Array, qp: Array, qpp: Array, *_: int) -> Array:
    a = cardatol(q)
    first, second, third = a[..., :, 0], a[..., :, 1], a[..., :, 2]
    made = np.einsum("...ij,...j->...i", a, qpp)
    made += cross(second, third) * (qp[..., 1] * qp[..., 2])[..., None]
    made += cross(first, third) * (qp[..., 0] * qp[..., 2])[..., None]
    made += cross(first, second) * (qp[..., 0] * qp[..., 1])[..., None]
    return made


def cardatoh(q: Array, qp: Array, qpp: Array, *rest: Any) -> Array:
    w = vtom(cardtoom(q, qp))
    g = vtom(cardompt(q, qp, qpp)) + w @ w
    made = np.zeros((*g.shape[:-2], 4, 4))
    made[..., :3, :3] = g
    made[..., :3, 3] = -np.einsum("...ij,...j->...i", g, rest[-1][..., :3])
    return made


def frame4p(p1: Array, p2: Array, p3: Array, *_: int) -> Array:
    """Axes y and z, as in the manual's triangle."""
    y = (p2 - p1)[..., :3]
    y = y / norm(y)[..., None]
    x = cross(y, (p3 - p1)[..., :3])
    x = x / norm(x)[..., None]
    return position(np.stack([x, y, cross(x, y)], axis=-1), p1)


def framev(v1: Array, v2: Array, *_: int) -> Array:
    """Axes x and y."""
    x = v1 / norm(v1)[..., None]
    z = cross(x, v2)
    z = z / norm(z)[..., None]
    return np.stack([x, cross(z, x), z], axis=-1)


def angle(p1: Array, p2: Array, p3: Array) -> Array:
    a, b = (p1 - p2)[..., :3], (p3 - p2)[..., :3]
    return np.arctan2(norm(cross(a, b)), np.einsum("...i,...i->...", a, b))


def distp(p1: Array, p2: Array) -> Array:
    return norm((p1 - p2)[..., :3])


def middle(p1: Array, p2: Array) -> Array:
    return 0.5 * (p1 + p2)


def line2p(p1: Array, p2: Array) -> Array:
    made = np.zeros((*p1.shape, 2))
    made[..., 0] = p1
    v = (p2 - p1)[..., :3]
    made[..., :3, 1] = v / norm(v)[..., None]
    return made


def projponl(p: Array, line: Array) -> tuple[Array, Array]:
    start, v = line[..., :3, 0], line[..., :3, 1]
    gap = p[..., :3] - start
    foot = np.ones(p.shape)
    foot[..., :3] = start + v * (np.einsum("...i,...i->...", gap, v) / np.einsum("...i,...i->...", v, v))[..., None]
    return foot, norm((p - foot)[..., :3])


def distpp(plane: Array, p: Array) -> Array:
    return np.einsum("...i,...i->...", plane, p) / norm(plane[..., :3])


def plane3(p1: Array, p2: Array, p3: Array) -> Array:
    made = np.empty(p1.shape)
    n = cross((p2 - p1)[..., :3], (p3 - p1)[..., :3])
    made[..., :3] = n / norm(n)[..., None]
    made[..., 3] = -np.einsum("...i,...i->...", made[..., :3], p1[..., :3])
    return made


def inter2pl(one: Array, other: Array) -> Array:
    n1, n2, d1, d2 = one[..., :3], other[..., :3], one[..., 3:], other[..., 3:]
    v = cross(n1, n2)
    square = np.einsum("...i,...i->...", v, v)[..., None]
    made = np.zeros((*one.shape, 2))
    made[..., :3, 0] = cross(v, d1 * n2 - d2 * n1) / square
    made[..., 3, 0] = 1.0
    made[..., :3, 1] = v / np.sqrt(square)
    return made


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "dhtom": dhtom,
    "extract": extract,
    "mtoscrew": mtoscrew,
    "rotat": rotat,
    "rotat34": rotat34,
    "traslat": traslat,
    "makel2": makel2,
    "wtol": wtol,
    "wtovel": wtovel,
    "vactowh3": vactowh3,
    "coriolis": coriolis,
    "dyn_eq": dyn_eq,
    "actom": actom,
    "jtoj": jtoj,
    "PseDot": pse_dot,
    "normal3": normal3,
    "mami": mami,
    "mamt": mamt,
    "invers": invers,
    "mtov": mtov,
    "vtom": vtom,
    "skew": skew,
    "tracljlt": tracljlt,
    "deg": np.rad2deg,
    "cardator": cardator,
    "rtocarda": rtocarda,
    "cardatow": cardatow,
    "cardtoom": cardtoom,
    "cardompt": cardompt,
    "cardatoh": cardatoh,
    "cardatol": cardatol,
    "frame4p": frame4p,
    "framev": framev,
    "angle": angle,
    "distp": distp,
    "middle": middle,
    "line2p": line2p,
    "projponl": projponl,
    "distpp": distpp,
    "plane": plane3,
    "inter2pl": inter2pl,
    "molt": np.matmul,
    "ssum": np.add,
    "cross": cross,
    "crosstom": lambda a, b: vtom(cross(a[..., 0], b[..., 0])),
    "dot3": lambda a, b: np.einsum("...i,...i->...", a, b),
    "modulus": norm,
    "unitv": lambda v: (v / norm(v)[..., None], norm(v)),
    "mcopy": np.copy,
    "pseudinv": np.linalg.pinv,
    "minvers": np.linalg.inv,
}
"""By the names of SpaceLib; with the axis codes that the benchmark uses."""
