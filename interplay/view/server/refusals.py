"""Errors of routes with their HTTP status."""

from __future__ import annotations

from interplay.core.errors import UserError


class NotThere(UserError):
    """Unknown number, or no data: 404."""

    status = 404


class Replaced(UserError):
    """Another file or run has the name since it was opened: 409."""

    status = 409


class Unreadable(UserError):
    """Unreadable data: 422."""

    status = 422


class Busy(UserError):
    """Another request is running: 503."""

    status = 503


def status_of(error: UserError) -> int:
    """The HTTP status of an error."""
    return int(getattr(error, "status", 400))
