"""What the tests of pictures share."""

import pytest


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of few pixels, for tests that only want them drawn: most of the time goes into filling them."""
    monkeypatch.setattr("linkwise.view.figure.DPI", 30)
