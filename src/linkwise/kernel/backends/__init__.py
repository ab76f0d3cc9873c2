"""The ways to run a tape."""
