"""What came of the slips, room by room, as a table and as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.mutants.asking import BROKEN, FAILED, LATE, PASSED, Answer
from tests.mutants.slips import Slip

BAR = 0.9  # share of a room's slips that has to be noticed


class Outcome(NamedTuple):
    """A slip and what the tests said of it."""

    slip: Slip
    answer: Answer

    @property
    def noticed(self) -> bool:
        """Whether a test failed, or never came to an end."""
        return self.answer.verdict in (FAILED, LATE)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "room": self.slip.room,
            "story": self.slip.story,
            "file": self.slip.file,
            "noticed": self.noticed,
            **self.answer._asdict(),
            "survives": self.slip.survives,
        }


def table(outcomes: Sequence[Outcome]) -> str:
    """A line per room with its score, then every survivor with its reason."""
    lines = [f"{'room':<12} slips  noticed  late  broken  score"]
    rooms = sorted({outcome.slip.room for outcome in outcomes})
    for room in [*rooms, "all"]:
        own = [outcome for outcome in outcomes if room in (outcome.slip.room, "all")]
        count = {verdict: sum(o.answer.verdict == verdict for o in own) for verdict in (LATE, BROKEN)}
        lines.append(
            f"{room:<12} {len(own):>5}  {sum(o.noticed for o in own):>7}  {count[LATE]:>4}  {count[BROKEN]:>6}  "
            f"{score(own):>5.0%}"
        )
    for outcome in outcomes:
        if outcome.answer.verdict in (PASSED, BROKEN):
            why = outcome.slip.survives or "nothing noticed; write the test"
            why = outcome.answer.last if outcome.answer.verdict == BROKEN else why
            lines.append(
                f"{outcome.answer.verdict}: {outcome.slip.room}, {outcome.slip.file}: {outcome.slip.story}: {why}"
            )
    return "\n".join(lines)


def score(outcomes: Sequence[Outcome]) -> float:
    """Share of the slips that were noticed; 1 for none."""
    return sum(outcome.noticed for outcome in outcomes) / max(len(outcomes), 1) if outcomes else 1.0


def low_rooms(outcomes: Sequence[Outcome]) -> list[str]:
    """Rooms whose score is below the bar."""
    rooms = sorted({outcome.slip.room for outcome in outcomes})
    return [room for room in rooms if score([o for o in outcomes if o.slip.room == room]) < BAR]


def as_lines(outcomes: Sequence[Outcome]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(outcome.to_dict()) + "\n" for outcome in outcomes)
