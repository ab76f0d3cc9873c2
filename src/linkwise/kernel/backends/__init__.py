"""The back ends."""
