"""Puts the verbs together and turns every error into one line and an exit code.

Exit codes: 0 done, 1 a check failed, something broke inside or no verb was given, 2 the user can mend it, 130 interrupted; training and
tournaments that SIGTERM or SIGHUP stopped end with 143 and 129.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import typer

from interplay import __version__
from interplay.cli import (
    analyzing,
    bench,
    check,
    cluster,
    compare,
    curves,
    diagnose,
    evaluate,
    experiments,
    exporting,
    league,
    prepare,
    record,
    runs,
    stopping,
    sweep,
    talking,
    tournament,
    training,
    viewing,
    worlds,
)
from interplay.core.errors import USER_ERRORS, Removed

VERBS = (
    worlds.worlds,
    training.train,
    training.resume,
    sweep.sweep,
    evaluate.evaluate,
    tournament.tournament,
    league.league,
    talking.talk,
    viewing.view,
    viewing.play,
    record.record,
    record.transcript,
    runs.runs,
    compare.compare,
    curves.curves,
    diagnose.diagnose,
    exporting.export,
    prepare.prepare,
    check.check,
    bench.bench,
    cluster.cluster,
    experiments.debug,
    experiments.visualize,
    analyzing.analyze,
)

DONE, BROKEN, USER_ERROR, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
_TRACEBACK = "--traceback"
LONG = 100  # letters of a word that is repeated to whoever typed it
# typer 0.29 carries its own copy of click, earlier ones import click's: the family is found from either.
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"interplay {__version__}")
        raise typer.Exit


def build_app() -> typer.Typer:
    """The typer application; plain help text, because rich costs more than the help itself."""
    app = typer.Typer(
        name="interplay", rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
    )

    @app.callback(epilog="Example: interplay train survival/1v1-heals-low --steps 300000 --out runs/first")
    def interplay(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
        ] = False,
        traceback: Annotated[
            bool,
            typer.Option(
                _TRACEBACK, help="Show where an error came from (also: INTERPLAY_TRACEBACK=1).", is_eager=True
            ),
        ] = False,
    ) -> None:
        """Many worlds where agents compete, cooperate and talk: list, train, watch and measure them."""

    for verb in VERBS:
        summary = verb.__doc__.partition("\n")[0]
        app.command(short_help=summary, epilog=f"Example:\n\n\b\n{verb.example}")(verb)
    return app


def run(arguments: Sequence[str], traceback: bool = False) -> int:
    """Runs one command line and returns its exit code.

    Args:
        arguments: without the program's name.
        traceback: let errors through instead of printing one line.
    """
    try:
        # Without a verb nothing was done: the help is a complaint then (specification simulations 6.1).
        with contextlib.nullcontext() if arguments else contextlib.redirect_stdout(sys.stderr):
            result = build_app()(
                args=list(arguments) or ["--help"], prog_name="interplay", standalone_mode=False
            )
        sys.stdout.flush()
        if not arguments:
            return BROKEN
        if result in stopping.EXIT_CODES:  # typer has caught the Ctrl-C, or the verb a signal
            return _fail("interrupted", result)
        return int(result or DONE)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader (head, less) has gone; nothing may be flushed to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except SystemExit as error:  # of a program; typer's own, for a pipe that is closed, goes on
        from interplay.core import user_code

        if not (place := user_code.where(error)):
            raise
        return _fail(f"{place} called sys.exit({error.code!r}), which ended this command", BROKEN)
    except Exception as error:
        if traceback:
            raise
        return _fail(*explain(error, arguments))


def explain(error: Exception, arguments: Sequence[str] = ()) -> tuple[str, int]:
    """One line for a person, and the exit code.

    Args:
        error: what a verb, or the reading of its arguments, raised.
        arguments: what was typed; an option's bad value is looked up there.
    """
    if isinstance(error, _ClickException):
        if setting := _setting_of(error):
            return setting, USER_ERROR
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "interplay"
        message = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
        message = _short(_typed(getattr(error, "param", None), arguments) + message)
        return f"{message}{' See' if message.endswith('?') else '; see'} `{where} --help`", USER_ERROR
    if isinstance(error, USER_ERRORS):
        return str(error), BROKEN if isinstance(error, Removed) else USER_ERROR
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        return f"{named}{error.strerror}; free the place or choose another one", USER_ERROR
    from interplay.core import user_code

    place = user_code.where(error)
    line = f"{type(error).__name__}: {error}{f' ({place})' if place else ''}"
    return f"{line}; run again with {_TRACEBACK} to see {'how it came there' if place else 'where'}", BROKEN


def _setting_of(error: Exception) -> str:
    """One line for a setting of a run that was typed as an option, ``--lr 1e-4``; "" for other errors."""
    context, option = getattr(error, "ctx", None), getattr(error, "option_name", "")
    if not option or context is None or context.info_name != "train":
        return ""
    from interplay.core.settings import key_called
    from interplay.train.settings import TrainSettings

    key = key_called(TrainSettings, option.lstrip("-").replace("-", "_"))
    return f"{option}: settings are written without dashes; did you mean {key}=VALUE?" if key else ""


def _short(message: str) -> str:
    """The message with very long words cut, such as numbers of thousands of digits."""
    return " ".join(word if len(word) <= LONG else f"{word[: LONG - 3]}..." for word in message.split())


def _typed(parameter: object, arguments: Sequence[str]) -> str:
    """`--threads 0: ` if that is what was typed for the parameter, else nothing."""
    for option in getattr(parameter, "opts", ()):
        for argument, value in pairwise([*arguments, ""]):
            if option.startswith("-") and argument.partition("=")[0] == option:
                return f"{argument if '=' in argument else f'{option} {value}'}: "
    return ""


def _fail(message: str, code: int) -> int:
    try:
        print("interplay: " + _plain(" ".join(message.split())), file=sys.stderr, flush=True)
    except OSError:
        stopping.let_go()
    return code


def _plain(line: str) -> str:
    """The line as a terminal may show it: names out of a file could hold its commands."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)


def main() -> None:
    """Entry point of the `interplay` command."""
    warnings.formatwarning = lambda message, *_, **__: f"interplay: {message}\n"
    traceback = _TRACEBACK in sys.argv[1:] or os.environ.get("INTERPLAY_TRACEBACK", "") not in ("", "0")
    arguments = [argument for argument in sys.argv[1:] if argument != _TRACEBACK]
    sys.exit(run(arguments, traceback))
