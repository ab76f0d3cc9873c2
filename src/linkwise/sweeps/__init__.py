"""Algorithms as steps over bodies, and the kernels that loop over them."""
