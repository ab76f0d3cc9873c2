"""What one cycle of a chain computes: rows to hold to, an iteration that solves them, prediction, and outputs."""
