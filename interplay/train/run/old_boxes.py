"""Refuses checkpoints from before Box actions were scaled to [-1, 1] (`interplay.train.box_units`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.train.run.records import check_keys

KEY, UNIT = "box_actions", "unit"  # in the record of a checkpoint with scaled actions


def refuse_old_boxes(checkpoint: Path, record: Mapping[str, Any]) -> None:
    """Refuses an old checkpoint with an action Box: its numbers were in units of the Box.

    Raises:
        UserError: naming the kind, and for spaces of another form.
    """
    if record.get(KEY) == UNIT:
        return
    check_keys(checkpoint, record, "spaces")
    for kind, spaces in record.get("spaces", {}).items():
        if "Box " in spaces["action"]:
            raise UserError(
                f"{checkpoint}: actions of {kind} were in the units of {spaces['action']}, now in [-1, 1]; "
                "train anew, or play it with the version that wrote it"
            )
