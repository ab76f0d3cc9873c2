"""The base parameters of a mechanism: which combinations of inertial parameters determine all efforts."""
