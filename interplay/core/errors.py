"""Errors that a user can fix: one line with the thing, the value and the cure."""


class UserError(ValueError):
    """An error that the caller can fix; the command line prints it as one line and exits with code 2."""


class Refused(AssertionError):
    """`UserError` for wrong values in `interplay.sim` and `interplay.gridworld`, where the manual has `AssertionError`."""


class NoRoom(RuntimeError):
    """`UserError` if no cell is left for an agent, where the manual has `RuntimeError`."""


class CannotRestore(UserError):
    """A snapshot fits the world, but loading it leads to another state; a `reset` makes the world usable again."""


class CannotSave(UserError):
    """The world has no snapshots, for example a foreign environment."""


class MissingExtraError(UserError, ImportError):
    """An optional package is missing; the line has the install command."""


class Removed(UserError):
    """A file was removed or replaced while this process wrote to it; the command line exits with code 1."""


USER_ERRORS = (UserError, Refused, NoRoom)


def one_line(error: object) -> str:
    """The text of an error without line breaks and runs of blanks."""
    return " ".join(str(error).split())
