"""Maps: what a mechanism reaches and how well it moves there, and the ellipsoids of its speeds and forces."""
