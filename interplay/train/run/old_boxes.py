"""Refuses checkpoints from before Box actions were scaled to [-1, 1] (`interplay.train.box_units`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.train.box_units import ENDLESS

KEY, UNIT = "box_actions", "unit"  # in the record of a checkpoint with scaled actions
_BOX = re.compile(r"Box ([^()]*)\.\.([^()]*) \([^()]*\) (\w+)")
_NUMBER = re.compile(r"[^\[\], ]+")


def refuse_old_boxes(checkpoint: Path, record: Mapping[str, Any]) -> None:
    """Refuses an old checkpoint with actions in the units of its Box.

    Raises:
        UserError: for an action Box of whole numbers, or with two bounds other than -1 and 1.
    """
    if record.get(KEY) == UNIT:
        return
    for kind, own in record.get("spaces", {}).items():
        for low, high, dtype in _BOX.findall(own["action"]):
            if "int" in dtype or not _reads_alike(low, high):
                raise UserError(
                    f"{checkpoint}: actions of {kind} were in the units of Box {low}..{high}, now in [-1, 1]; "
                    "train anew, or play it with the version that wrote it"
                )


def _reads_alike(low: str, high: str) -> bool:
    """Whether every element has the bounds [-1, 1] or lacks one; False for bounds kept as a checksum."""
    if "#" in low + high:
        return False
    ends = [[float(number) for number in _NUMBER.findall(text)] for text in (low, high)]
    count = max(map(len, ends))
    pairs = zip(*(end * (count if len(end) == 1 else 1) for end in ends), strict=True)
    return all((a, b) == (-1.0, 1.0) or max(-a, b) >= ENDLESS for a, b in pairs)
