"""The formats of descriptions: one file or folder each."""
