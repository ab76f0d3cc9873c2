"""Plots of workspace, manipulability, and ellipsoids of velocity and force."""
