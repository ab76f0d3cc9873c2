"""Draw the humanoid of the page on solving: ``python docs/images/make_whole_body_picture.py [FOLDER]``."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main() -> None:
    """Write the picture beside this file, or where the command line says."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "33_whole_body.py"))
    postures = [example["postures"][k] for k in (0, 2, 3)]
    picture = example["robot"].draw(postures, names=False, frames=False)
    picture.savefig(folder / "whole_body.png", dpi=80)


if __name__ == "__main__":
    main()
