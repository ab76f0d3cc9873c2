"""Code for elsewhere: a tape as C, Python, JAX, CUDA or Rust that needs no Linkwise, with tests that it brings along."""

from linkwise.export import casadi as _casadi  # noqa: F401  (registers itself)
from linkwise.export.language import LANGUAGES as LANGUAGES
from linkwise.export.language import Sources as Sources
from linkwise.export.languages.c import CSource as CSource
from linkwise.export.languages.c import to_c as to_c
from linkwise.export.languages.cuda import to_cuda as to_cuda
from linkwise.export.languages.jax import jax_function as jax_function
from linkwise.export.languages.jax import to_jax as to_jax
from linkwise.export.languages.python import to_python as to_python
from linkwise.export.languages.rust import to_rust as to_rust
from linkwise.export.mechanism import export as export
from linkwise.export.split import hoisted as hoisted
