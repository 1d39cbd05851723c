"""Errors of a user's mistake: one line that names the thing, the value and the cure."""


class UserError(ValueError):
    """Something the caller can mend; the command line prints it as one line and exits with code 2."""


class Refused(AssertionError):
    """As `UserError`, where the manual says `AssertionError`: wrong values in `interplay.sim` and `interplay.gridworld`."""


class NoRoom(RuntimeError):
    """As `UserError`, where the manual says `RuntimeError`: no cell is left for an agent."""


class CannotRestore(UserError):
    """A snapshot fits, yet the world does not come back as it was saved; it goes on from a new `reset`."""


class CannotSave(UserError):
    """A world that promises no snapshots, as other people's environments, was asked for one."""


class MissingExtraError(UserError, ImportError):
    """A neighbour that is not installed; the line says what to install."""


USER_ERRORS = (UserError, Refused, NoRoom)
