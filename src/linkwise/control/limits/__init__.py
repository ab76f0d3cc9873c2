"""Velocity and acceleration limits of link ends: the admissible step towards the goal in a cycle."""
