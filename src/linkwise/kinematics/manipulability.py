"""Distance of a mechanism from singular positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.arrays import Signature
from linkwise.errors import ArgumentError
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, greatest, root, select
from linkwise.spatial.validation import choice, rows_of

#: Measures of singular values (..., k), greatest first: their product, the least, the least by the greatest.
MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "volume": lambda numpy, values: numpy.prod(values, axis=-1),
    "least": lambda numpy, values: values[..., -1],
    "isotropy": lambda numpy, values: values[..., -1] / numpy.where(values[..., 0] > 0, values[..., 0], 1.0),
}


def manipulability(jacobian: npt.ArrayLike, mask: npt.ArrayLike = "all", measure: str = "volume") -> FloatArray:
    """Return a measure of the singular values of the Jacobian (...,), zero where it loses rank.

    Parameters
    ----------
    jacobian : (..., 6, n) array_like
        Linear rows first.
    mask : {"all", "translation", "rotation"} or (6,) array_like
        Which rows count. With "all" the value mixes m and rad.
    measure : {"volume", "least", "isotropy"}
        The product of the singular values, where there are at least as many joints as rows sqrt(det(J J')) (T. Yoshikawa,
        "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985); the least of them (C. A. Klein, B. E.
        Blaho, Int. J. Robotics Research 6(2), 1987); the least by the greatest, the inverse of the condition number (J. K.
        Salisbury, J. J. Craig, Int. J. Robotics Research 1(1), 1982).

    Raises
    ------
    ArgumentError
        For another mask, measure or shape.

    Examples
    --------
    >>> import numpy as np
    >>> float(manipulability(2 * np.eye(6)))
    64.0
    >>> float(manipulability(2 * np.eye(6), measure="isotropy"))
    1.0
    """
    function, chosen = MEASURES[choice("measure", measure, MEASURES)], list(rows_of(mask))
    matrices = arrays.numbers("manipulability: jacobian", jacobian)
    shape = tuple(matrices.shape)
    if len(shape) < 2 or shape[-2] != 6:
        raise ArgumentError(f"jacobian has the shape {shape}; expected (..., 6, n)")

    def compute(numpy: Any, matrix: Any) -> tuple[Any, ...]:
        rows = matrix[..., chosen, :]
        known = numpy.isfinite(rows).all(axis=(-2, -1))
        values = numpy.linalg.svdvals(numpy.where(known[..., None, None], rows, 0.0))
        return (numpy.where(known, function(numpy, values), numpy.nan),)

    signature = Signature((shape[-2:],), ((),), ("float64",))
    (result,) = arrays.apply("manipulability", compute, signature, [matrices])
    return result  # type: ignore[no-any-return]


def volume_and_slope(tree: Tree, link: int | str, rows: tuple[int, ...], length: float, q: Array) -> tuple[Any, Array]:
    """The product of the singular values of some rows of the Jacobian, and its derivative (nv,), over scalars.

    Linear rows are divided by a length, m. Where the product is zero it has no derivative: zeros stand for it.
    """
    unit = np.array([1.0 / length if row < 3 else 1.0 for row in rows])

    def square(x: Array) -> Array:
        jac = jacobian(tree, x, link=link)[list(rows)] * unit[:, None]
        return np.array(_determinant(jac @ jac.T if jac.shape[0] <= jac.shape[1] else jac.T @ jac), dtype=object)

    product, slope = square(q).item(), tangent_derivative(tree, square, q)
    volume = root(select(product, product, 1.0))
    rates = [select(product, 0.5 * rate / volume, 0.0) for rate in slope]
    return select(product, volume, 0.0), np.array(rates, dtype=object)


def _determinant(gram: Array) -> Any:
    """The product of the pivots of a symmetric matrix without negative ones; zero from the first that is zero on."""
    left, product = np.array(gram, dtype=object), 1.0
    for k in range(len(left)):
        pivot = left[k, k]
        product = product * select(pivot, pivot, 0.0)
        inverse = 1.0 / select(pivot, pivot, 1.0)
        for i in range(k + 1, len(left)):
            for j in range(k + 1, i + 1):
                left[i, j] = left[j, i] = left[i, j] - left[i, k] * inverse * left[j, k]
    return product


def volume_of(rates: Array, rank: int) -> Any:
    """Product of the greatest ``rank`` singular values of a matrix (r, m) of scalars that has no higher rank.

    Where that is the number of its rows or columns these are made orthogonal (`orthonormal`), which loses no digits to
    squaring. Otherwise its square is a coefficient of the characteristic polynomial of J J' (Faddeev and Le Verrier).

    Examples
    --------
    >>> float(volume_of(np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 0.0]]), 2))
    6.0
    >>> float(volume_of(np.array([[3.0, 0.0], [4.0, 0.0]]), 1))
    5.0
    """
    if not rank:
        return 0.0
    if rank < min(rates.shape):
        return root(greatest(_coefficient(rates @ rates.T, rank), 0.0))
    result: Any = 1.0
    for size in orthonormal(rates.T if rates.shape[0] <= rates.shape[1] else rates)[1]:
        result = result * size
    return result


def orthonormal(columns: Array) -> tuple[Array, list[Any]]:
    """Gram-Schmidt basis of columns (n, m) of scalars, and the norm of each after projection.

    Modified Gram-Schmidt: G. H. Golub, C. F. Van Loan, *Matrix Computations*, section 5.2.8.
    """
    basis, sizes = list(columns.T), []
    for k in range(len(basis)):
        sizes.append(root(basis[k] @ basis[k]))
        basis[k] = basis[k] * (1.0 / greatest(sizes[k], 1e-150))
        basis[k + 1 :] = [other - basis[k] * (other @ basis[k]) for other in basis[k + 1 :]]
    return np.stack(basis, axis=1), sizes


def _coefficient(square: Array, order: int) -> Any:
    """The sum of all products of ``order`` eigenvalues of a matrix."""
    unit, power, result = np.eye(len(square)), np.eye(len(square)), 0.0
    for k in range(1, order + 1):
        product = square @ power
        result = np.trace(product) * (1.0 / k)
        power = result * unit - product
    return result
