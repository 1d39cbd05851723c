"""A run's learning curve in the windows of the author's logs, beside the author's figures.

Run from the repository root::

    .venv/bin/python -m studies.windows runs/a runs/b

Means over the episodes that ended in each window (specification section 11), and how fast the first million steps went, start and
compilation included. Steps are those of every slot, alive or not, as the author counts them; earlier versions logged them as agent-steps.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

WINDOWS = ((0.5, 1.0), (1.5, 2.5), (3.5, 4.5))  # million steps of slots
COLUMNS = ("episode_length", "episode_return", "heals_used", "kills", "team_kills", "boxes_placed")


def steps_of(line: dict) -> int:
    """Steps of every slot until a line."""
    return line.get("slot_steps", line["agent_steps"])


def window_mean(lines: list[dict], column: str, window: tuple[float, float]) -> float:
    """Mean over the episodes of the updates in a window; NaN if none ended there."""
    inside = [line for line in lines if window[0] <= steps_of(line) / 1e6 <= window[1] and line["episodes"]]
    count = sum(line["episodes"] for line in inside)
    return sum(line[column] * line["episodes"] for line in inside) / count if count else float("nan")


def time_shares(lines: list[dict]) -> dict[str, float]:
    """Where the time of these updates went, start and compilation included in the first one's."""
    seconds = [
        line["time"] - before for line, before in zip(lines, [0.0, *(b["time"] for b in lines)], strict=False)
    ]
    return {
        name: sum(line["time_share"][name] * spent for line, spent in zip(lines, seconds, strict=True))
        / sum(seconds)
        for name in lines[0]["time_share"]
    }


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
        million = next((line for line in lines if steps_of(line) >= 1_000_000), lines[-1])
        rate = steps_of(million) / million["time"]
        print(f"{path.name}: first {steps_of(million):,} steps in {million['time']:.0f} s, {rate:,.0f}/s")
        shares = time_shares([line for line in lines if line["time"] <= million["time"]])
        print("  of that time: " + ", ".join(f"{name} {share:.0%}" for name, share in shares.items()))
        for column in (name for name in COLUMNS if any(name in line for line in lines)):
            means = [window_mean(lines, column, window) for window in WINDOWS]
            print(f"  {column:16}" + "".join(f"{mean:10.2f}" for mean in means))


if __name__ == "__main__":
    main()
