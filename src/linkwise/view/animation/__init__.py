"""Animations of motions as GIF or MP4."""
