"""The text that graphs come from: another digest wherever it differs, none where it may not be what runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.algorithm import ALGORITHMS
from linkwise.dynamics import inverse_dynamics
from linkwise.kernel import sources
from linkwise.kernel.sources import is_own, sources_digest
from linkwise.model.joints import Revolute


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the package, and an empty cache."""
    folder = tmp_path / "package"
    for name in (*sources.FOLDERS, "dynamics/deep", "view"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "algorithm.py").write_text("top")
    (folder / "dynamics" / "deep" / "recursion.py").write_text("one")
    monkeypatch.setattr(sources, "ROOT", folder)
    monkeypatch.setattr(sources, "_STARTED", np.inf)
    monkeypatch.setattr(sources, "_seen", [])
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "kernels"))
    return folder


def now() -> str | None:
    return sources_digest(again=True)


def test_the_text_counts_and_nothing_else_of_a_file(package: Path) -> None:
    module, top = package / "dynamics" / "deep" / "recursion.py", package / "algorithm.py"
    first = now()
    assert first is not None
    module.write_text("two")
    second = now()
    module.write_text("one")
    assert now() == first, "written again, at another time"
    (package / "view" / "scene.py").write_text("what no algorithm imports")
    assert now() == first
    top.write_text("bottom")
    third = now()
    top.write_text("top")
    (module.parent / "more.py").write_text("")
    fourth = now()
    (module.parent / "more.py").rename(module.parent / "less.py")
    fifth = now()
    (module.parent / "less.py").unlink()
    module.rename(package / "dynamics" / "recursion.py")
    sixth = now()
    assert len({first, second, third, fourth, fifth, sixth, None}) == 7


def test_it_is_read_again_where_nothing_is_kept(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = now()
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    assert now() == first


def test_a_look_holds_for_a_moment(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sources_digest()
    (package / "algorithm.py").write_text("another")
    assert sources_digest() == first
    monkeypatch.setattr(sources, "_HOLDS", 0.0)
    assert sources_digest() != first


def test_none_where_it_may_not_be_what_runs(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = max(path.stat().st_ctime for path in package.rglob("*.py"))
    monkeypatch.setattr(sources, "_STARTED", changed + sources._IMPORTING - 0.1)
    assert now() is None, "changed when this process had begun"
    monkeypatch.setattr(sources, "_STARTED", changed + sources._IMPORTING + 0.1)
    assert now() is not None
    monkeypatch.setattr(sources, "ROOT", package / "nowhere")
    assert now() is None
    empty = package / "empty"
    for name in sources.FOLDERS:
        (empty / name).mkdir(parents=True)
    monkeypatch.setattr(sources, "ROOT", empty)
    assert now() is None


def test_whose_work_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(Revolute):
        """A joint of somebody else's."""

    assert is_own(Mechanism)
    assert is_own(Revolute)
    assert is_own(inverse_dynamics)
    assert not is_own(Mine)
    assert not is_own(now)
    assert not is_own(np.ndarray)
    assert not is_own(int)
    own = inverse_dynamics
    monkeypatch.setattr(sys.modules[own.__module__], own.__name__, now)
    assert not is_own(own), "something else stands under its name"


def test_all_that_algorithms_import_is_looked_at() -> None:
    """By what the modules say: no import leads out of the folders whose text counts."""
    script = Path(__file__).parents[1] / "support" / "imported_modules.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60)
    modules = done.stdout.split()
    assert "linkwise.dynamics.inverse_dynamics" in modules
    outside = [name for name in modules if name.count(".") > 1 and name.split(".")[1] not in sources.FOLDERS]
    assert outside == []
    assert {"linkwise.model.joints.ball", "linkwise.expr.simplify"} <= {*modules}
    own = [declared.function.__module__ for declared in ALGORITHMS.values() if is_own(declared.function)]
    assert {*own} <= {*modules}
    assert len(own) > 20
