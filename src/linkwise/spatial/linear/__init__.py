"""Small linear algebra over arrays of scalars."""
