"""Checks of numeric arguments, poses and masks of the six directions, as arrays of float64."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.torch_graphs import constant_in_graphs, outside_graphs

Given = TypeVar("Given")


def real(value: Any) -> FloatArray:
    """The value as an array of float64; an array of that type is returned itself.

    Complex numbers, text, dates and None are no real numbers, whatever they could be cut down to; nor is what a mask hides.

    Raises
    ------
    TypeError
        Where it holds something else, or its rows differ in length; says which.

    Examples
    --------
    >>> real([1, 2.5]).tolist()
    [1.0, 2.5]
    >>> real([1.0, 2.0j])
    Traceback (most recent call last):
    TypeError: holds complex128
    """
    if type(value) is not np.ndarray and (reason := unreadable(value)):
        raise TypeError(reason)
    try:
        result = np.asarray(value)
    except ValueError as error:
        raise TypeError("is not an array") from error
    except TypeError as error:  # (of CuPy, for one)
        raise TypeError(f"is a {type(value).__name__} that NumPy does not read") from error
    if result.dtype == object:  # fractions, decimals, numeric symbols: each converts to float
        return _converted(result)
    if result.dtype.kind not in "biuf":
        raise TypeError(f"holds {result.dtype}")
    return np.asarray(result, dtype=np.float64)


def real_or_empty(value: Any) -> FloatArray:
    """The value as an array of float64, or an empty one where it is none."""
    try:
        return real(value)
    except TypeError:
        return np.empty(0)


@outside_graphs("a function of arrays of NumPy")
def numbers(
    field: str, value: Any, expected: str = "finite real numbers", *, finite: bool = True, copy: bool = True
) -> FloatArray:
    """The value as an array of finite float64; an error names it.

    Parameters
    ----------
    field : str
        Its name in messages, such as ``"simulate: torque"``.
    value : array_like
        Real numbers of any shape.
    expected : str
        What the message says would have been accepted.
    finite : bool
        Whether infinity and NaN are refused.
    copy : bool
        Whether the array is the caller's no more. Without it, float64 is given back as it is.

    Raises
    ------
    ArgumentError
        Saying what it holds instead, or where the first number is that is not finite.

    Examples
    --------
    >>> numbers("q", [1, 2]).tolist()
    [1.0, 2.0]
    >>> numbers("q", [0.0, np.nan])
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: q is nan at (1,); expected finite real numbers
    """
    try:
        result = real(value)
    except TypeError as error:
        raise ArgumentError(f"{field} {error}; expected {expected}") from error
    if finite and not np.isfinite(result).all():
        refuse_elements(~np.isfinite(result), field, result, expected)
    return result.copy() if copy else result


def first_place(flags: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first element that is true."""
    return tuple(int(k) for k in np.argwhere(flags)[0])


def first_index(flags: npt.ArrayLike) -> str:
    """The same for a message, ``"[2, 0]"``; empty for a single element."""
    place = first_place(np.asarray(flags))
    return str(list(place)) if place else ""


def refuse_elements(flags: npt.NDArray[np.bool_], field: str, values: FloatArray, expected: str) -> None:
    """Raise `ArgumentError` with the first value that is flagged and its place, where one is."""
    if flags.any():
        place = first_place(flags)
        raise ArgumentError(f"{field} is {values[place]}{f' at {place}' if place else ''}; expected {expected}")


def refuse_member(flags: npt.NDArray[np.bool_], field: str, values: FloatArray, expected: str) -> None:
    """Raise `ArgumentError` with the first member of a batch that is flagged, where one is."""
    if flags.any():
        place = first_place(flags)
        which = f"{field}[{', '.join(map(str, place))}]" if place else field
        raise ArgumentError(f"{which} is {shown(values[place].tolist())}; expected {expected}")


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of an array_like; None where its rows differ in length."""
    try:
        return tuple(np.shape(value))
    except ValueError:
        return None


def batches_fit(*shapes: tuple[int, ...]) -> bool:
    """True if batch shapes broadcast."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def common_batch(subject: str = "", /, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Batch shape of several arguments, from theirs by name.

    Raises
    ------
    ArgumentError
        Where they do not fit each other; starts with the subject, the name of a function, if one is given.

    Examples
    --------
    >>> common_batch(q=(3, 1), qd=(4,))
    (3, 4)
    >>> common_batch("inverse_dynamics", q=(3,), qd=(4,))
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: inverse_dynamics: the batch shapes do not fit each other: q (3,), qd (4,)
    """
    if not batches_fit(*shapes.values()):
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ArgumentError(f"{subject and f'{subject}: '}the batch shapes do not fit each other: {listed}")
    return np.broadcast_shapes(*shapes.values())


def number_within(field: str, value: Any, least: float, most: float, expected: str, *, whole: bool = False) -> float:
    """A real number within bounds, not a bool; anything else raises an error with the expected values."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return float(value)


def vectors(field: str, value: Any, size: int, *, finite: bool = True) -> FloatArray:
    """The value as finite real vectors (..., size), a copy.

    Raises
    ------
    ArgumentError
        Saying what it holds instead, or its shape.
    """
    return shaped(field, value, ..., size, expected=f"real numbers (..., {size})", finite=finite)


def shaped(
    field: str,
    value: Any,
    *shape: Any,
    expected: str = "finite real numbers",
    layout: str = "",
    finite: bool = True,
    copy: bool = True,
) -> FloatArray:
    """The value as an array of real numbers of one shape, see `numbers`.

    Parameters
    ----------
    field : str
        Its name in messages.
    value, expected, finite, copy
        See `numbers`.
    *shape : int
        The sizes of the axes; a first `...` stands for any axes before the others.
    layout : str
        What the message expects of an array of another shape; the shape by default.

    Raises
    ------
    ArgumentError
        Saying what it holds instead, or its shape.

    Examples
    --------
    >>> shaped("q", [[1, 2]], ..., 2).tolist()
    [[1.0, 2.0]]
    >>> shaped("q", 1, ..., 2)
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: q has the shape (); expected (..., 2)
    """
    result = numbers(field, value, expected, finite=finite, copy=copy)
    axes = tuple(size for size in shape if size is not ...)
    if (result.shape[max(0, result.ndim - len(axes)) :] if ... in shape else result.shape) != axes:
        layout = layout or str(shape).replace("Ellipsis", "...")
        raise ArgumentError(f"{field} has the shape {result.shape}; expected {layout}")
    return result


def flag(field: str, value: Any, expected: str = "True or False") -> bool:
    """True or False, nothing that merely counts as such."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return bool(value)


def whole(field: str, value: Any, least: int, expected: str = "", *, most: float = np.inf) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        upper = "" if most == np.inf else f" to {most}"
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected or f'a whole number from {least}{upper}'}")
    return int(value)


def listed(field: str, value: Any, expected: str) -> list[Any]:
    """The elements of an iterable other than a word; anything else raises an error with the expected values."""
    try:
        if not isinstance(value, (str, bytes)):
            return list(value)
    except TypeError:
        pass
    raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")


def choice(field: str, value: Any, allowed: Collection[str]) -> str:
    """One of several keywords."""
    if not isinstance(value, str) or value not in allowed:
        raise ArgumentError(f"{field} is {shown(value)}; expected {choices(allowed)}")
    return value


def generator(field: str, seed: Any) -> np.random.Generator:
    """NumPy's generator of random numbers for a seed.

    Raises
    ------
    ArgumentError
        Where it is no seed.

    Examples
    --------
    >>> generator("perturb: seed", 1).integers(10).item()
    4
    >>> generator("perturb: seed", -1)
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: perturb: seed is -1; expected a whole number, 0 or above
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{field} is {shown(seed)}; expected a whole number, 0 or above") from error


def is_masked(value: Any) -> bool:
    """True if elements of an array, or of arrays in nested lists, are masked: what is below a mask is not a value.

    Examples
    --------
    >>> is_masked(np.ma.masked_array([0.1, 0.2], mask=[True, False])), is_masked(np.ma.masked_array([0.1, 0.2]))
    (True, False)
    """
    masks = sys.modules.get("numpy.ma")  # (if it has never been imported there are none)
    if masks is None:
        return False
    if isinstance(value, (list, tuple)):
        return any(type(item) is not float and is_masked(item) for item in value)
    return isinstance(value, masks.MaskedArray) and bool(masks.is_masked(value))


def unreadable(value: Any) -> str:
    """Loss of a conversion to NumPy of an array, or of arrays in nested lists; empty if there is none.

    It loses masks, and the derivatives of tensors, some without a word: of single elements, and in forward mode.

    Examples
    --------
    >>> unreadable(np.ma.masked_array([0.1, 0.2], mask=[True, False])), unreadable([0.1, 0.2])
    ('has masked elements', '')
    """
    return "has masked elements" if is_masked(value) else _of_other_library(value)


def _of_other_library(value: Any) -> str:
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is None and jax is None:
        return ""
    if isinstance(value, (list, tuple)):
        return next(filter(None, (_of_other_library(item) for item in value if type(item) is not float)), "")
    if jax is not None and isinstance(value, jax.core.Tracer):
        return "is traced by JAX, and numbers are needed here (outside of jit, grad and vmap)"
    return _of_tensor(torch, value) if torch is not None and isinstance(value, torch.Tensor) else ""


def _of_tensor(torch: Any, tensor: Any) -> str:
    if tensor.requires_grad:
        return "requires a gradient, and nothing is differentiated here (.detach() drops it)"
    if tensor.device.type != "cpu":
        return f"is on the device {tensor.device}, and numbers are needed here (on the CPU: .cpu())"
    try:
        tensor.numpy()
    except TypeError as error:
        return f"is a tensor that NumPy does not read ({error})"
    except RuntimeError:  # (one that a transformation of torch.func traces)
        pass
    else:
        if torch.autograd.forward_ad.unpack_dual(tensor).tangent is None:
            return ""
    return "is what torch differentiates by or maps over, and numbers are needed here"


def readable(field: str, value: Given) -> Given:
    """The value itself, for a conversion that would lose a part of it in silence; see `unreadable`.

    Raises
    ------
    ArgumentError
        Saying what would be lost; `field` is how the message calls the value.
    """
    if type(value) is not np.ndarray and (reason := unreadable(value)):
        raise ArgumentError(f"{field} {reason}; expected an array of real numbers")
    return value


def _converted(match: Any) -> FloatArray:
    result = np.empty(match.shape)
    for place in np.ndindex(match.shape):
        item = match[place]
        try:
            if isinstance(item, (str, bytes)) or np.iscomplexobj(item):
                raise TypeError
            result[place] = float(item)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"holds {shown(item, 40)}") from error
    return result


#: Tolerance of an orthonormal rotation, as for all given poses.
RIGID = 1e-6


def rigid_poses(field: str, value: Any) -> FloatArray:
    """Rigid transforms (..., 4, 4), as a copy.

    Raises
    ------
    ArgumentError
        Naming the first that is not rigid.

    Examples
    --------
    >>> rigid_poses("T", np.eye(4)).shape
    (4, 4)
    >>> rigid_poses("T", np.eye(3))
    Traceback (most recent call last):
    linkwise.errors.ArgumentError: T has the shape (3, 3); expected rigid poses (..., 4, 4)
    """
    result = numbers(field, value, "rigid poses (..., 4, 4)")
    if result.shape[-2:] != (4, 4):
        raise no_poses(field, result.shape)
    r = result[..., :3, :3]
    skewed = np.abs(np.swapaxes(r, -1, -2) @ r - np.eye(3)).max(axis=(-2, -1)) > RIGID
    wrong = skewed | (np.linalg.det(r) <= 0) | np.any(result[..., 3, :] != [0.0, 0.0, 0.0, 1.0], axis=-1)
    refuse_member(wrong, field, result, "a rigid pose: orthonormal right-handed rotation, last row 0 0 0 1")
    return result


def no_poses(field: str, shape: tuple[int, ...]) -> ArgumentError:
    """Error for an array of another shape; for a target T of points it explains how to specify these."""
    points = shape[-1:] == (3,) and shape[-2:] != (3, 3)
    hint = "; for a point alone: solve([linkwise.Position('tool', p)])" if points and field == "T" else ""
    return ArgumentError(f"{field} has the shape {shape}; expected rigid poses (..., 4, 4){hint}")


#: The masks that have a word.
MASKS = {
    "all": (True,) * 6,
    "translation": (True, True, True, False, False, False),
    "rotation": (False, False, False, True, True, True),
}


def mask_of(mask: npt.ArrayLike | None) -> tuple[bool, ...]:
    """Six flags from six numbers 0 or 1, from a word of `MASKS`, or from None for all.

    Raises
    ------
    ArgumentError
        For anything else, and where no direction counts.

    Examples
    --------
    >>> mask_of("rotation") == mask_of([0, 0, 0, 1, 1, 1])
    True
    """
    if mask is None:
        return MASKS["all"]
    expected = "six of 0 or 1, not all 0: x, y, z, about x, about y, about z; or 'all', 'translation' or 'rotation'"
    if isinstance(mask, str):
        if mask not in MASKS:
            raise ArgumentError(f"mask is {shown(mask)}; expected {expected}")
        return MASKS[mask]
    values = numbers("mask", mask, expected)
    if values.shape != (6,) or not ((values == 0.0) | (values == 1.0)).all() or not values.any():
        raise ArgumentError(f"mask is {shown(mask)}; expected {expected}")
    return tuple(bool(value) for value in values)


@constant_in_graphs
def rows_of(mask: npt.ArrayLike | None) -> tuple[int, ...]:
    """The rows of a Jacobian that count.

    Examples
    --------
    >>> rows_of("translation"), rows_of([1, 0, 0, 0, 0, 1])
    ((0, 1, 2), (0, 5))
    """
    return tuple(row for row, counts in enumerate(mask_of(mask)) if counts)


def word_of(mask: str) -> str:
    """The word itself, where a mask must be one of `MASKS`; an error lists them."""
    if not isinstance(mask, str) or mask not in MASKS:
        raise ArgumentError(f"mask is {shown(mask)}; expected {choices(MASKS)}")
    return mask
