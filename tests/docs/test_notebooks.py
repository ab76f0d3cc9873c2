"""Notebooks are kept without results, so that none can be out of date; the site runs them. Their links lead somewhere."""

import ast
import json
import re
from pathlib import Path

import pytest

from .conftest import ROOT

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_notebooks_are_there() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"first_arm", "four_bar", "equations_2r"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_clean(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert cells[0]["source"][0].startswith("# ")
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            ast.parse("".join(cell["source"]))
        else:
            for target in re.findall(r"\]\(([^)#]+)", "".join(cell["source"])):
                assert (FOLDER / target).exists(), target
