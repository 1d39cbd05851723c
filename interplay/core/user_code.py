"""Where user code failed: file, line and agent, from a traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from types import FrameType
from typing import Any

from interplay.core.loading import is_installed

_AGENT = ("agent", "agent_id", "agent_name", "name")  # how a variable is called that holds an agent
_OURS = Path(__file__).resolve().parents[1]


def where(error: BaseException, agents: Collection[Any] = ()) -> str:
    """The innermost line of user code in an error's traceback.

    Returns:
        For example ``"my_env.py, line 31, agent blue_0"``; ``""`` without user code. The agent is the value of a
        variable of that code called agent, agent_id, agent_name or name.
    """
    own = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_users(frame)]
    if not own:
        return ""
    frame, line = own[-1]
    found = f"{_short(frame.f_code.co_filename)}, line {line}"
    agent = next((one for inner, _ in reversed(own) for one in _agents(inner, agents)), None)
    return found if agent is None else f"{found}, agent {agent}"


def place_of(thread: int) -> str:
    """Where a thread is in code that ours called, e.g. ``" (my_env.py, line 31)"``; user code comes before other packages."""
    frame = sys._current_frames().get(thread)
    entered = None  # the outermost frame of code that is not ours
    while frame is not None and not Path(frame.f_code.co_filename).is_relative_to(_OURS):
        entered = frame
        if _is_users(frame):
            break
        frame = frame.f_back
    return "" if entered is None else f" ({_short(entered.f_code.co_filename)}, line {entered.f_lineno})"


def _is_users(frame: FrameType) -> bool:
    """Whether a frame is neither of this package nor of an installed one."""
    file = frame.f_code.co_filename
    if file.startswith(
        "<"
    ):  # compiled from a text: a shell's or a notebook's line, or a library's own making
        return file.startswith(("<stdin", "<string"))
    return not Path(file).resolve().is_relative_to(_OURS) and not is_installed(file)


def _agents(frame: FrameType, agents: Collection[Any]) -> list[Any]:
    held = [frame.f_locals.get(name) for name in _AGENT]
    return [one for one in held if isinstance(one, str | int) and one in agents]


def _short(file: str) -> str:
    """A file as seen from the working folder, where it lies below it."""
    return os.path.relpath(file) if Path(file).is_relative_to(Path.cwd()) else file
