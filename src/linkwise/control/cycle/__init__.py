"""One cycle of a chain: constraint equations, their iterative solution, prediction, and outputs."""
