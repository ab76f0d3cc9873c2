"""Algorithms as steps over bodies, and the drivers that run them."""
