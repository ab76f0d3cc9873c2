"""Moving pictures: one figure whose artists are moved, and the files that its pictures go to."""
