"""Trigonometric polynomials over symbols: tapes multiplied out, without algebra."""
