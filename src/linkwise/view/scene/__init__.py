"""The scene of a mechanism: primitives fixed to its links, built once and drawn by painters."""
