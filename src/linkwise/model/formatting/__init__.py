"""Tables of mechanisms as text and HTML."""
