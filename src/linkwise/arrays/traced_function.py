"""Functions of tensors that the operator of kernels calls in the place of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import numpy as np
import torch
from torch._C._functorch import is_functorch_wrapped_tensor

from linkwise.arrays.framework import Shape
from linkwise.errors import ArgumentError
from linkwise.spatial.validation import common_batch

#: The state of torch's dispatcher where no operator runs.
with ThreadPoolExecutor(1) as _pool:  # (whose thread has it, also where this file is first imported within a transformation)
    _sets = torch._C._dispatch_tls_local_include_set, torch._C._dispatch_tls_local_exclude_set
    _OUTSIDE = tuple(_pool.map(lambda state: state(), _sets))


def row(result: Any, name: str, output: Any, batch: Shape, arrays: Sequence[Any]) -> Any:
    """A result of a function of arrays as a tensor (*batch, *shape) of their type.

    Texts are their places among all, -1 where there is none. Where derivatives are taken, what has none is zero.
    """
    near, text = arrays[0], isinstance(output.kind, tuple)
    hollow = not output.tracked and any(map(is_functorch_wrapped_tensor, arrays))
    value = 0.0 if hollow else getattr(result, name)
    if text and not hollow:
        words, places = np.unique("" if value is None else value, return_inverse=True)
        codes = [output.kind.index(word) if word else -1 for word in words.tolist()]
        value = np.array(codes)[places].reshape(np.shape(value))
    tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value))
    return tensor.to(near.device, near.dtype).expand((*batch, *output.shape)).contiguous()


class TracedFunction:
    """A function of tensors as an operator of graphs, in the place of a kernel.

    Parameters
    ----------
    name : str
        Its name in messages.
    inputs, outputs : mapping of str to tuple of int
        Shapes without the batch.
    function : callable
        Of tensors of float64, which have one batch shape; returns a tuple of such. torch differentiates it.
    """

    motions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    mode = ""
    tangent = False

    def __init__(
        self,
        name: str,
        inputs: Mapping[str, Shape],
        outputs: Mapping[str, Shape],
        function: Callable[..., tuple[Any, ...]],
        source: TracedFunction | None = None,
    ) -> None:
        self.name, self.function, self.source, self.identity = name, function, source, uuid4().hex
        self.tape = SimpleNamespace(inputs=dict(inputs), outputs=dict(outputs))
        self.products: dict[Any, TracedFunction] = {}

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        """The results; torch may differentiate inside, whatever it does around the operator."""
        if not isinstance(tensors[0], torch.Tensor):  # (for the error message)
            batches = {}
            for (name, core), array in zip(self.tape.inputs.items(), tensors, strict=True):
                split = array.ndim - len(core)
                if split < 0 or array.shape[split:] != core:
                    expected = ", ".join(("...", *map(str, core)))
                    raise ArgumentError(f"{self.name}: {name} has the shape {array.shape}; expected ({expected})")
                batches[name] = array.shape[:split]
            common_batch(self.name, **batches)
        with torch._C._ForceDispatchKeyGuard(*_OUTSIDE):
            return tuple(result.detach() for result in self.function(*tensors))

    def product(self, mode: str, by: tuple[str, ...], *, tangent: bool = False) -> TracedFunction:
        """The derivatives by some inputs times vectors, as those of a kernel."""
        if (mode, by) not in self.products:
            inputs, outputs = self.tape.inputs, self.tape.outputs
            moved = [k for k, name in enumerate(inputs) if name in by]
            function, count = self.function, len(inputs)

            def of(fixed: Sequence[Any], *chosen: Any) -> tuple[Any, ...]:
                whole = list(fixed)
                for k, value in zip(moved, chosen, strict=True):
                    whole[k] = value
                return function(*whole)

            def vjp(*tensors: Any) -> tuple[Any, ...]:
                fixed, bars = tensors[:count], dict(enumerate(tensors[count:]))
                # (the derivatives of an output that is not used may be infinite: they are not multiplied by zero)
                used = {k: bar for k, bar in bars.items() if is_functorch_wrapped_tensor(bar) or bar.any()}

                def outputs_used(*chosen: Any) -> tuple[Any, ...]:
                    results = of(fixed, *chosen)
                    return tuple(results[k] for k in used)

                chosen = [fixed[k] for k in moved]
                if not used:
                    return tuple(map(torch.zeros_like, chosen))
                return tuple(torch.func.vjp(outputs_used, *chosen)[1](tuple(used.values())))

            def jvp(*tensors: Any) -> tuple[Any, ...]:
                fixed, dots = tensors[:count], tensors[count:]
                at, along = (tuple(x.contiguous() for x in some) for some in ([fixed[k] for k in moved], dots))
                rates: tuple[Any, ...] = torch.func.jvp(partial(of, fixed), at, along)[1]
                return rates

            chosen = {name: inputs[name] for name in by}
            vectors, results = (chosen, outputs) if mode == "jvp" else (outputs, chosen)
            vectors = {f"{mode}_{name}": shape for name, shape in vectors.items()}
            product = TracedFunction(self.name, {**inputs, **vectors}, results, vjp if mode == "vjp" else jvp, self)
            product.mode, product.names = mode, by
            self.products[mode, by] = product
        return self.products[mode, by]
