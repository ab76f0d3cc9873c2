"""The picture of a mechanism: its skeleton, the solids and strokes that stand for it, labels that avoid each other."""
