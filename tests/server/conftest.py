from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.served_chain import Running


@pytest.fixture(scope="session")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Anna may write, Victor may read."""
    from linkwise.server import add_user, new_user

    path = tmp_path_factory.mktemp("users") / "users.txt"
    add_user(path, new_user("anna", "correct horse"))
    add_user(path, new_user("victor", "correct horse", "viewer"))
    return path


@pytest.fixture(scope="session")
def served(users: Path) -> Iterator["Running"]:
    """One server for all tests that leave it as it was: starting one takes two seconds."""
    pytest.importorskip("asyncua")
    from support.served_chain import Running

    with Running(users=users, connections=20, hold_after=0.3) as running:
        yield running
        assert running.server.state == "serving"
