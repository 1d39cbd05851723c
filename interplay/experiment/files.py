"""An experiment's files: its Python file, an analysis script, run folders and checkpoints.

These files are programs of the user's own, and run as such. Source: specification 6.1 and 6.2.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import traceback
import warnings
from collections.abc import Callable
from datetime import datetime
from importlib.abc import SourceLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from interplay.core.errors import USER_ERRORS, UserError
from interplay.core.files import os_errors_as_user_errors, replace_file
from interplay.core.reading import read_named
from interplay.core.trust import add_trusted, read_program
from interplay.experiment.params import Experiment, read_params
from interplay.train.tabular.folders import make_folder, results_folder, stamp


def load_experiment(path: str | Path) -> Experiment:
    """Runs and reads an experiment's file, which the user has named.

    Raises:
        UserError: if it cannot be read or has no dictionary `params`, and as `read_params`.
    """
    path = Path(path)
    return _experiment_in(_run(path, read_named, path.parent), path)


def load_experiment_of(run: str | Path, trust: bool = False) -> Experiment:
    """Runs and reads the experiment's file of a run folder, if it is trusted.

    Nothing else in the folder can be imported: a module may have been put beside a file that is still trusted.

    Raises:
        UserError: as `config_of` and `load_experiment`, and for a foreign file that is not trusted.
    """
    config = config_of(run)
    return _experiment_in(_run(config, functools.partial(read_program, trust=trust)), config)


def _experiment_in(module: ModuleType, path: str | Path) -> Experiment:
    if not hasattr(module, "params"):
        raise UserError(f"{path} has no dictionary `params`; it is no experiment's file")
    return read_params(module.params, str(path))


def load_script(path: str | Path) -> Callable[[Any, Any], Any]:
    """Reads a script's function ``run(sim, trainer)``.

    Raises:
        UserError: if it cannot be read or has no such function.
    """
    function = getattr(_run(Path(path), read_named, Path(path).parent), "run", None)
    if not callable(function):
        raise UserError(f"{path} has no function run(sim, trainer); write one")
    chosen: Callable[[Any, Any], Any] = function
    return chosen


def config_of(run: str | Path) -> Path:
    """The experiment's file in a run folder.

    Raises:
        UserError: unless there is exactly one Python file, naming those there are.
    """
    run = Path(run)
    if not run.is_dir():
        raise UserError(f"{run} is no folder; name one that `interplay train CONFIG.py` has made")
    found = sorted(path.name for path in run.glob("*.py"))
    if len(found) != 1:
        holds = "no Python file" if not found else f"{len(found)} Python files ({', '.join(found)})"
        raise UserError(f"{run} holds {holds}; exactly one is needed, the experiment's")
    return run / found[0]


def copy_into(config: str | Path, run: Path) -> Path:
    """Puts a copy of an experiment's file, which this process has run, into a run folder, and trusts it there."""
    with os_errors_as_user_errors("copying", Path(config)):
        data = read_named(config)
        target = run / Path(config).name
        add_trusted(target, data)
        replace_file(target, data, "config")
    return target


def new_run(experiment: Experiment) -> Path:
    """Makes the folder of a run: ``<base>/interplay_results/<title>_<date>_<time>``, never one that exists (F28)."""
    base = results_folder(experiment.storage_path)
    return make_folder(base / f"{experiment.title}_{stamp(datetime.now())}")


def choose_checkpoint(run: str | Path, number: int | None = None) -> Path:
    """A checkpoint of a run.

    Args:
        run: the folder.
        number: of agent-steps, the checkpoint's name, or of its iteration; None: the last one.

    Raises:
        FileNotFoundError: if the run has no checkpoint.
    """
    from interplay.train.run.checkpoint import list_checkpoints, read_checkpoint

    found = list_checkpoints(run)
    if not found:
        raise FileNotFoundError(f"{run} holds no checkpoint; train longer, or set 'checkpoint_at_end': True")
    if number is None:
        return found[-1]
    for path in found:
        if int(path.name) == number:
            return path
    for path in found:
        if read_checkpoint(path).record.get("updates") == number:
            return path
    there = ", ".join(str(int(path.name)) for path in found)
    warnings.warn(f"{run}: no checkpoint {number}, taking the last one of {there}", UserWarning, stacklevel=2)
    return found[-1]


def line_of(error: BaseException, path: Path) -> str:
    """``", line 3"`` if an error arose in that line of the file, else nothing."""
    if isinstance(error, SyntaxError):
        return ""  # which says so itself
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() == path.resolve()
    ]
    return f", line {lines[-1]}" if lines else ""


def _run(path: Path, read: Callable[[Path], bytes], *folders: Path) -> ModuleType:
    """Executes a Python file as a module.

    Args:
        path: of the file.
        read: returns its bytes, or refuses. Exactly these are run, no compiled copy in ``__pycache__``.
        folders: added to the import path, after it; the working folder always is.
    """
    if path.suffix != ".py" or not path.is_file():
        raise UserError(f"{path}: there is no such Python file; check the path")
    source = read(path)
    for folder in (*(str(each.resolve()) for each in folders), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.append(folder)  # last, so that nothing in them hides an installed package
    name = f"interplay_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or not isinstance(spec.loader, SourceLoader):
        raise UserError(f"{path} cannot be imported; check the path")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its classes must be found by name to be copied
    try:
        exec(spec.loader.source_to_code(source, str(path)), vars(module))
    except ModuleNotFoundError as error:
        hint = "install it, or leave it out"
        if (error.name or "").partition(".")[0] == "ray":
            hint = 'leave register_env out, or install it with pip install "interplay[rllib]"'
        raise UserError(f"{path} imports {error.name}, which is not installed; {hint}") from error
    except USER_ERRORS as error:
        raise UserError(f"{path}: {error}") from error
    except Exception as error:
        raise UserError(
            f"{path}{line_of(error, path)}: {type(error).__name__}: {error}; mend the file"
        ) from error
    return module
