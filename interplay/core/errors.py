"""The error of a user's mistake: one line that names the thing, the value and the cure."""


class UserError(ValueError):
    """Something the caller can mend; the command line prints it as one line and exits with code 2."""
