"""Calls of players' methods: errors get the player's name, and a call that does not return is reported."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from interplay.core.errors import USER_ERRORS, UserError
from interplay.core.overdue import OVERDUE, refuse_overdue
from interplay.core.user_code import where

if TYPE_CHECKING:
    from interplay.core.policy import Policy

T = TypeVar("T")
_OURS = __name__.partition(".")[0] + "."


class _Calls:
    """The calls of players in one thread, the outermost alone; see `interplay.core.overdue.Stepping`."""

    def __init__(self) -> None:
        self.calls, self.thread, self.silent = 0, threading.get_ident(), False
        self._running = ""
        OVERDUE.watch(self)

    def busy(self) -> str:
        return self._running

    def call(self, name: str, method: Callable[..., T], args: tuple[Any, ...]) -> T:
        if self._running:  # a player that calls another one
            return method(*args)
        self.calls += 1
        self._running = f"player {name} has not come back from {getattr(method, '__name__', 'a call')}"
        try:
            return method(*args)
        finally:
            try:
                with OVERDUE.lock:
                    self._running = ""
            finally:
                self._running = ""


_of_thread = threading.local()


def of_player(policy: Policy, method: Callable[..., T], *args: Any) -> T:
    """Calls a player's method; errors of users, or in user-defined code, get the player's name.

    A player that is not of this package has ten seconds until a line is printed, and in the main thread the limit of `OVERDUE` until it
    is given up.
    """
    name = type(policy).__name__
    try:
        name = policy.name
        if type(policy).__module__.startswith(_OURS):
            return method(*args)
        if not hasattr(_of_thread, "calls"):
            _of_thread.calls = _Calls()
        return _of_thread.calls.call(name, method, args)
    except KeyboardInterrupt:
        refuse_overdue()
        raise
    except USER_ERRORS as error:
        raise UserError(f"player {name}: {error}") from error
    except Exception as error:
        if place := where(error):
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise UserError(f"player {name}: {what} ({place})") from error
        raise
