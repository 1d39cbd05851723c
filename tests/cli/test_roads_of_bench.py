"""What `bench` prints is computed again from its windows."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from interplay.cli import measure
from tests.cli.command import MARSH, typed

WINDOWS = [
    (9e9, 9e9),
    (1000.0, 5100.0),
    (1250.0, 4000.0),
    (900.0, 4700.0),
    (1100.0, 4200.0),
    (1400.0, 4300.0),
]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_speeds_are_medians_of_the_windows_after_the_first(monkeypatch, capsys, form):
    """The first window is unmeasured; the windows' order differs between worlds and agents."""
    windows = iter(WINDOWS)
    monkeypatch.setattr(measure, "_window", lambda *_: next(windows))
    monkeypatch.setattr(measure, "pin", lambda threads: True)
    code, out, errors = typed(capsys, "bench", MARSH, "--num-worlds", "3", "--seconds", "0.1", *form)
    assert code == 0, errors
    assert next(windows, None) is None
    (worlds, agents), spread = np.median(WINDOWS[1:], axis=0), (1400 - 900) / 1100
    if form:
        (row,) = json.loads(out)
        found = [row[key] for key in ("world_steps_per_s", "agent_steps_per_s", "spread", "num_worlds")]
        assert found == [worlds, agents, pytest.approx(spread), 3]
    else:
        shown = r"([\d,]+) world steps/s, ([\d,]+) agent steps/s, 3 worlds, 1 thread, spread ([\d.]+)%"
        numbers = [float(word.replace(",", "")) for word in re.search(shown, out).groups()]
        assert numbers == [worlds, agents, pytest.approx(100 * spread, abs=0.05)]
