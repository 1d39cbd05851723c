"""Commands that run in this process."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is not told that kernels are being prepared; the test of that line sets a patience of its own."""
    monkeypatch.setattr("interplay.verbs.opening.NOTICE_AFTER", 600.0)
