"""Draw the picture of the tutorial: ``python docs/images/make_tutorial_picture.py [FOLDER]``."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import linkwise as lw

ROWS = [(0, 0, 0.33, 0), (0, 0, 0.33, 0), (0, -0.1, 0, math.pi)]
"""The table of the tutorial."""


def main() -> None:
    """Write the picture beside this file, or where the command line says."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    scara = lw.Mechanism.from_dh(ROWS, convention="standard", joints="RRP", name="scara")
    scara.draw([0.6, -1.2, 0.05]).savefig(folder / "tutorial_scara.png", dpi=100)


if __name__ == "__main__":
    main()
