"""Conversion of figures to PNG, SVG or PDF."""

from __future__ import annotations

import io
import warnings
from typing import Any


def rendered(picture: Any, suffix: str) -> bytes:
    """Return the figure as the bytes of a file: ``png``, ``svg`` or ``pdf``."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a name in letters that the font lacks is drawn as boxes
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        picture.savefig(buffer, format=suffix, facecolor="white")
    return buffer.getvalue()
