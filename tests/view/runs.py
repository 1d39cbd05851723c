"""Small runs with a known log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_run(
    folder: Path,
    rows: Iterable[Mapping[str, Any]],
    seed: int = 0,
    clip: float = 0.2,
    more: str = "",
    world: str = "dilemma/fixed",
) -> Path:
    """A run with settings and a log; `more` stands before the first group of the settings."""
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(
        f'seed = {seed}\n{more}[world]\nid = "{world}"\n[ppo]\nclip = {clip}\n'
    )
    return write_log(folder, rows)


def write_log(run: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Replaces the log of a run."""
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run


def read_log(run: Path) -> list[dict[str, Any]]:
    """The lines of a log."""
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
