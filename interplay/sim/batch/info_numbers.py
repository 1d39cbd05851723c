"""Numbers in infos as metrics of the batch: one value per agent and episode.

An environment declares them by ``metadata["metrics"] = {"success": "last", "energy": "sum", "speed": "mean"}``; dots lead into nested
dicts. Without it every number of the infos becomes a metric by its last value in the episode, under its key. Agents without a
number in an episode have NaN, and means leave them out; NaN and infinite values count as missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError

MOST = 64  # names of an environment that names none beforehand
RULES = ("last", "sum", "mean")
METRICS = "metrics"  # of an environment's metadata
# What the log, a table of episodes or a reader of metrics calls otherwise: such a number is called ``info.NAME``.
_NAMES = """
    action_mask acting agent_names agent_steps agent_steps_per_s alive by_agent clip_fraction cut_rate draw_rate entropy entropy_max
    episode_length episode_return episodes episodes_began episodes_ended episodes_with_others epochs epsilon evaluate_actions
    evaluate_actions_sampled evaluate_score explained_variance gradient_norm gradient_steps guess_loss illegal input_abs_max input_offset input_range
    kl learner learning life life_return lives loss_rate of_episodes of_lives of_others options outcome past_selves per_team policy_loss q q_target rates
    rating rating_sampled replay return return_deviation reward_abs_max reward_ratio rows score score_rate seed slot_steps stage steps target_rms
    target_std td_error team_names time time_share truncated updates value_loss win_rate
"""
TAKEN = frozenset(_NAMES.split())
_NO_NUMBERS = frozenset(("acting", "action_mask"))  # keys that are read for what they are
_SCALARS = frozenset((bool, int, float, np.bool_, np.float16, np.float32, np.float64)) | frozenset(
    np.dtype(code).type for code in "bBhHiIlLqQ"
)
_BRACKETS = str.maketrans("[]", "()")  # brackets behind a metric name a side or an agent


def declared(name: str, metadata: Mapping[str, Any] | None) -> dict[str, str] | None:
    """The declared numbers with their rules; None: none are declared.

    Raises:
        UserError: for another rule than `RULES`.
    """
    rules = (metadata or {}).get(METRICS)
    if rules is None:
        return None
    if not isinstance(rules, Mapping) or not all(rule in RULES for rule in rules.values()):
        raise UserError(
            f'{name}: metadata["metrics"] = {rules!r} does not give each number a rule; write {{"success": "last"}}, with last, sum or mean'
        )
    return {str(key): rule for key, rule in rules.items()}


def logged_name(key: str) -> str:
    """The metric's name of a number.

    Example:
        >>> logged_name("success"), logged_name("kl"), logged_name("door[2]")
        ('success', 'info.kl', 'door(2)')
    """
    name = key.translate(_BRACKETS)
    return f"info.{name}" if name in TAKEN else name


class Columns:
    """The number columns of the worlds of one process.

    Args:
        rules: of `declared`.
        block: (columns, W, A) float64, of the whole batch.
        worlds: of this process.

    Attributes:
        of: key -> column, in the order of their first appearance; -1 for one that is no number.
        ignored: keys that are no numbers.
        new: names since the list was emptied.
    """

    def __init__(self, rules: Mapping[str, str] | None, block: np.ndarray, worlds: Sequence[int]) -> None:
        self.rules, self.block, self._worlds = rules, block, list(worlds)
        self.of = dict.fromkeys(_NO_NUMBERS, -1) if rules is None else {}
        self.ignored = _NO_NUMBERS if rules is None else frozenset[str]()
        self.new: list[str] = []
        for key in rules or ():
            self.open(key)

    def open(self, key: Any) -> int:
        """A column for a new key.

        Raises:
            UserError: if there are too many.
        """
        at = sum(column >= 0 for column in self.of.values())
        if at == len(self.block):
            raise UserError(
                f'infos have more than {at} numbers, {key!r} is one more; name those to be logged: metadata["metrics"] = {{"success": "last"}}'
            )
        self.block[at, self._worlds] = np.nan
        self.of[key] = at
        self.new.append(logged_name(key))
        return at


class EpisodeNumbers:
    """The numbers of one world's episode.

    Args:
        w: the world's row.
    """

    def __init__(self, columns: Columns, w: int) -> None:
        self._columns, self._row = columns, columns.block[:, w]
        # Views of each agent's numbers: an item of them is written in a third of the time that an array's takes.
        self._cells: list[Any] = [memoryview(row) for row in self._row.T]
        rules = columns.rules or {}
        self._rules = [(key, rule, tuple(key.split("."))) for key, rule in rules.items()]
        self.begin()

    def begin(self) -> None:
        """Begins an episode without numbers."""
        self._row[: len(self._columns.of)] = np.nan
        self._sums = [[0.0] * len(self._rules) for _ in self._cells]
        self._cases = [[0] * len(self._rules) for _ in self._cells]

    def add(self, slot: int, agent: Any, info: Mapping[Any, Any], stepped: bool) -> None:
        """Reads an agent's info; sums and means skip those of a reset (`stepped` False).

        Raises:
            UserError: if a declared number is none.
        """
        if self._columns.rules is not None:
            self._add_declared(slot, agent, info, stepped)
            return
        of, cells = self._columns.of, self._cells[slot]
        for key, value in info.items():
            kind = type(value)
            if kind is not float:
                if kind not in _SCALARS and not _is_number(value):
                    continue
                value = float(value)
            column = of.get(key)
            if column is None:
                column = self._columns.open(key) if isinstance(key, str) else -1
            if column >= 0:
                cells[column] = value if value - value == 0.0 else math.nan

    def _add_declared(self, slot: int, agent: Any, info: Mapping[Any, Any], stepped: bool) -> None:
        for column, (key, rule, path) in enumerate(self._rules):
            value = info[key] if key in info else _within(info, path)
            if value is None or not (stepped or rule == "last"):
                continue
            if type(value) not in _SCALARS and not _is_number(value):
                shown = " ".join(repr(value).split())[:60]
                raise UserError(
                    f'agent {agent}: info {key} = {shown} is no number, and metadata["metrics"] names it; give one number, or None'
                )
            self._count(column, slot, rule, _finite(value))

    def _count(self, column: int, slot: int, rule: str, value: float) -> None:
        if rule == "last":
            self._cells[slot][column] = value
        elif not math.isnan(value):
            sums, cases = self._sums[slot], self._cases[slot]
            sums[column], cases[column] = sums[column] + value, cases[column] + 1
            self._cells[slot][column] = sums[column] / cases[column] if rule == "mean" else sums[column]


def _finite(value: Any) -> float:
    number = float(value)
    return number if math.isfinite(number) else math.nan


def _is_number(value: Any) -> bool:
    """Whether it is an array without axes, of any library, that holds a number."""
    return getattr(value, "shape", None) == () and np.asarray(value).dtype.kind in "biuf"


def _within(info: Mapping[Any, Any], path: tuple[str, ...]) -> Any:
    """The value at a path of nested dicts; None where there is none."""
    inner: Any = info
    for key in path:
        if not isinstance(inner, Mapping) or key not in inner:
            return None
        inner = inner[key]
    return inner
