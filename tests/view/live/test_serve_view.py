"""``linkwise serve --view`` in a headless browser: the page shows the crane, and moves it after a log-in."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("viser")

from linkwise.server import add_user, new_user, read_audit

CRANE = Path(__file__).parents[3] / "examples" / "data" / "ship_crane.toml"
SERVE = "import sys; from linkwise.cli import main; main(sys.argv[1:])"


def test_the_crane_is_watched_and_driven_from_a_browser(page: Any, tmp_path: Path) -> None:
    users, audit = tmp_path / "users", tmp_path / "audit.jsonl"
    add_user(users, new_user("anna", "correct horse"))
    words = ["serve", str(CRANE), "--no-opcua", "--view", "0", "--users", str(users), "--audit", str(audit)]
    running = subprocess.Popen([sys.executable, "-c", SERVE, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        address = running.stdout.readline().removeprefix("shown at ").strip()
        page.goto(address)
        page.get_by_text("solved: all constraints hold").wait_for()
        fields = page.get_by_role("textbox")
        fields.nth(0).fill("anna")
        fields.nth(1).fill("correct horse")
        assert fields.nth(1).evaluate("field => getComputedStyle(field).webkitTextSecurity") == "disc"
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("operator: drag a target to move it").wait_for()
        assert all(asked.startswith((address, "blob:", "data:")) for asked in page.asked)
        assert page.errors == []
    finally:
        running.terminate()
        summary, _ = running.communicate(timeout=60)
    assert "writes of pages: 0 accepted, 0 refused" in summary
    assert read_audit(audit) == []
