"""Pictures of mechanisms with matplotlib: the painter, the point of view, labels that avoid each other."""
