"""What a route refuses, with the status that says so."""

from __future__ import annotations

from interplay.core.errors import UserError


class NotThere(UserError):
    """Nothing has that number, or there is nothing to tell: 404."""

    status = 404


class Unreadable(UserError):
    """It is there and cannot be read: 422."""

    status = 422


class Busy(UserError):
    """Others are served first: 503."""

    status = 503


def status_of(error: UserError) -> int:
    """The status of an answer that tells this error."""
    return int(getattr(error, "status", 400))
