"""Code for elsewhere: a tape as C, Python, JAX, CUDA or Rust that needs no Linkwise, with tests that it brings along."""

from linkwise.export.c import CSource as CSource
from linkwise.export.c import to_c as to_c
from linkwise.export.cuda import to_cuda as to_cuda
from linkwise.export.hoisting import hoisted as hoisted
from linkwise.export.jax import jax_function as jax_function
from linkwise.export.jax import to_jax as to_jax
from linkwise.export.python import to_python as to_python
from linkwise.export.robot import LANGUAGES as LANGUAGES
from linkwise.export.robot import export as export
from linkwise.export.rust import to_rust as to_rust
from linkwise.export.sources import Sources as Sources
