"""What is tested here is computed by NumPy: tests/laws and tests/kernel see to it that compiled kernels give the same."""

import pytest


@pytest.fixture(autouse=True)
def _computed_by_numpy(uncompiled: None) -> None:
    pass
