"""Rules that find why a run does not learn: pure functions of logged numbers and settings.

A rule measures a number for each line of the log and each subject (a population, an observation leaf, or the run), and marks the lines
in which it is a fault. `Judge` reports a fault that holds in `Rule.stretch` successive measurements. docs/why-it-does-not-learn.md
explains the thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core.settings_text import show
from interplay.train.settings import TrainSettings

STRETCH = 20  # successive faulty measurements before a report
FEW = 3  # the same for numbers that hardly change: episode lengths, counts of episodes

GRADIENT_CUT = 100.0  # gradient norm over max_grad_norm
UNEXPLAINED = -0.05  # explained variance; an untrained critic's is about 0, on either side
CRITIC_STEPS = 200  # gradient steps before a critic is judged
TARGETS_VARY = 0.01  # deviation over root mean square of value targets below which they count as constant
KL_STILL = 1e-7
KL_FAR = 5.0  # over ppo.target_kl
KL_FAR_ALONE = 0.2  # if ppo.target_kl is off
UNUSED = 0.5  # share of updates that end within their first epoch
ENTROPY_LOW, EARLY = 0.02, 20  # share of the greatest entropy; updates that are early
ENTROPY_HIGH, LATE, LATE_UPDATES = 0.98, 0.5, 50  # the same; share of the run and updates that are late
DECIDED = 0.05  # share of the greatest entropy below which an unchanging policy is no fault
INPUT_MOST = 10.0
INPUT_FAR = 20.0  # deviations between a number's mean and 0
RETURN_MOST, RETURN_LEAST = 100.0, 1e-3  # root mean square of value targets
REWARD_RATIO = 100.0  # between slots of one population
CLIPPED = 0.9
ONE_CHOICE = 0.9
RISE = 0.25  # of the first return: a smaller difference can be noise
EXPLAINED = 0.5  # of the variance of value targets
FIRST_RETURN = "first[episode_return]"  # column from `Judge`: the first episode_return of the run
CUT_SHORT = "share[epochs]"  # the same: of the last `STRETCH` lines the share with epochs below 1; NaN before
HORIZON = 30.0  # steps that a reward reaches back, over those in an update

Columns = Mapping[str, np.ndarray]  # name -> (N,) float64, NaN if a line lacks it; always with "agent_steps"


Applies = Callable[[TrainSettings], bool]
Sentence = Callable[[TrainSettings, float, Sequence[str]], str]


class Measured(NamedTuple):
    """One subject's numbers, (N,) float64 with NaN if not measured, and the (N,) mask of faults."""

    subject: str
    values: np.ndarray
    faulty: np.ndarray


class Rule(NamedTuple):
    """One cause of a run that does not learn.

    Attributes:
        name: a few words.
        needs: required columns.
        applies: whether it can occur under some settings.
        measure: columns and settings -> subjects.
        sentence: settings, the median number and the subjects -> number, setting and cure.
        stretch: successive faulty measurements before a report.
        worst: picks the number of several subjects for the sentence.
    """

    name: str
    needs: tuple[str, ...]
    applies: Applies
    measure: Callable[[Columns, TrainSettings], list[Measured]]
    sentence: Sentence
    stretch: int = STRETCH
    worst: Callable[[Iterable[float]], float] = max


# -- columns ------------------------------------------------------------------------------------------


def columns_of(lines: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Converts lines of a log to columns; numbers of a group become ``group[name]``, other values are left out.

    Example:
        >>> {name: c.tolist() for name, c in columns_of([{"kl": 1, "rates": {"clip": 0.2}}, {"kl": None}]).items()}
        {'kl': [1.0, nan], 'rates[clip]': [0.2, nan]}
    """
    flat: list[dict[str, float]] = [{} for _ in lines]
    for out, line in zip(flat, lines, strict=True):
        for name, value in line.items():
            if isinstance(value, Mapping):
                out |= {f"{name}[{key}]": float(v) for key, v in value.items() if _is_number(v)}
            elif _is_number(value):
                out[name] = float(value)
    names = dict.fromkeys(name for line in flat for name in line)
    return {name: np.array([line.get(name, math.nan) for line in flat]) for name in names}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _subjects(columns: Columns, name: str) -> dict[str, np.ndarray]:
    """The columns ``name[subject]`` by subject; without any, the column itself under ""."""
    each = {key[len(name) + 1 : -1]: column for key, column in columns.items() if key.startswith(f"{name}[")}
    return each or ({"": columns[name]} if name in columns else {})


def _column(columns: Columns, name: str) -> np.ndarray:
    return columns.get(name, np.full(len(columns["agent_steps"]), math.nan))


def _share(columns: Columns, settings: TrainSettings) -> np.ndarray:
    """(N,) share of the run that is done, by its limits of steps, updates or episodes."""
    train = settings.train
    done = [columns["agent_steps"] / settings.steps]
    if train.max_updates is not None:
        done.append(_column(columns, "updates") / train.max_updates)
    if train.max_episodes is not None:
        done.append(_column(columns, "episodes_ended") / train.max_episodes)
    return np.fmax.reduce(done)


def _group(settings: TrainSettings) -> Any:
    """The settings of a built-in algorithm; None for a user's own."""
    return getattr(settings, settings.algorithm, None)


def _reads(key: str) -> Callable[[TrainSettings], bool]:
    return lambda settings: hasattr(_group(settings), key)


def _is_ppo(settings: TrainSettings) -> bool:
    return settings.algorithm == "ppo"


def _has_policy(settings: TrainSettings) -> bool:
    return settings.factored is None


def _always(_: TrainSettings) -> bool:
    return True


def _above(name: str, column: str, bound: float, applies: Applies, sentence: Sentence) -> Rule:
    """A rule for a column that is a fault above a bound."""

    def measure(columns: Columns, _: TrainSettings) -> list[Measured]:
        return [Measured(each, own, own > bound) for each, own in _subjects(columns, column).items()]

    return Rule(name, (column,), applies, measure, sentence)


def _of(subjects: Sequence[str]) -> str:
    """The subjects of a sentence: "" for the run, " of red, blue" else.

    Example:
        >>> _of([""]), _of(["a", "b", "c", "d", "e"])
        ('', ' of a, b, c and 2 more')
    """
    named = [subject for subject in subjects if subject]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    return f" of {', '.join(named[:3])}{more}" if named else ""


# -- the rules ----------------------------------------------------------------------------------------


def _cut_share(columns: Columns, settings: TrainSettings) -> list[Measured]:
    most = _group(settings).max_grad_norm
    found = _subjects(columns, "gradient_norm")
    return [Measured(name, norm, norm > GRADIENT_CUT * most) for name, norm in found.items()]


def _shown(scale: float | Mapping[str, float]) -> str:
    """A reward_scale in the form of settings."""
    if not isinstance(scale, Mapping):
        return f"{scale:g}"
    return "{" + ", ".join(f"{pattern} = {factor:g}" for pattern, factor in scale.items()) + "}"


def _cut_sentence(settings: TrainSettings, norm: float, subjects: Sequence[str]) -> str:
    own, most = settings.algorithm, _group(settings).max_grad_norm
    return (
        f"gradient_norm{_of(subjects)} = {norm:.3g} is {norm / most:,.3g} times {own}.max_grad_norm = {most:g}: nearly all of each step "
        f"is cut; lower {own}.reward_scale = {_shown(_group(settings).reward_scale)} if returns are large, or raise {own}.max_grad_norm"
    )


def _unexplained(columns: Columns, _: TrainSettings) -> list[Measured]:
    value = _column(columns, "explained_variance")
    varies = _column(columns, "target_std") > TARGETS_VARY * _column(columns, "target_rms")
    taught = _column(columns, "updates") * _column(columns, "gradient_steps") >= CRITIC_STEPS
    return [Measured("", np.where(varies & taught & _is_paid(columns), value, math.nan), value < UNEXPLAINED)]


def _is_paid(columns: Columns) -> np.ndarray:
    """(N,) mask of lines with rewards; without any the rule "no reward is paid" reports the cause."""
    return ~(_column(columns, "reward_abs_max") == 0.0)


def _unexplained_sentence(settings: TrainSettings, value: float, _: Sequence[str]) -> str:
    own = settings.algorithm
    coefficient = getattr(_group(settings), "value_coefficient", None)
    weight = f"{own}.value_coefficient = {coefficient:g}" if coefficient is not None else "the value loss"
    return (
        f"explained_variance = {value:.2g} is below 0: the critic predicts worse than a constant; lower the learning rate, raise {weight}, "
        f"or let it see more (network.critic = {show(settings.network.critic)})"
    )


def _still(columns: Columns, settings: TrainSettings) -> list[Measured]:
    kl, entropy = _column(columns, "kl"), _entropy_share(columns)
    judged = (_column(columns, "gradient_steps") >= 2) & (_column(columns, "rows") > 0)
    if not isinstance(settings.ppo.learning_rate, int | float):  # a schedule may end with steps of 0
        judged &= _share(columns, settings) < LATE
    undecided = ~(entropy < DECIDED)
    return [Measured("", np.where(judged, kl, math.nan), (kl < KL_STILL) & undecided)]


def _entropy_share(columns: Columns) -> np.ndarray:
    most = _column(columns, "entropy_max")
    return _column(columns, "entropy") / np.where(most > 0, most, math.nan)


def _still_sentence(settings: TrainSettings, kl: float, _: Sequence[str]) -> str:
    return (
        f"kl = {kl:.1e} is near 0: updates do not change the policy; raise ppo.learning_rate = {show(settings.ppo.learning_rate)}, and look "
        "whether rewards are paid and masks leave a choice"
    )


def _far(columns: Columns, settings: TrainSettings) -> list[Measured]:
    kl = _column(columns, "kl")
    return [Measured("", kl, kl > _most_kl(settings))]


def _most_kl(settings: TrainSettings) -> float:
    target = settings.ppo.target_kl
    return KL_FAR_ALONE if target is None else KL_FAR * target


def _far_sentence(settings: TrainSettings, kl: float, _: Sequence[str]) -> str:
    target = settings.ppo.target_kl
    beside = (
        f"with ppo.target_kl = off, {KL_FAR_ALONE:g} is far"
        if target is None
        else f"{kl / target:.3g} times ppo.target_kl = {target:g}"
    )
    cure = "set ppo.target_kl = 0.01" if target is None else "raise ppo.minibatch"
    return (
        f"kl = {kl:.3g} ({beside}): the policy jumps at each update; lower ppo.learning_rate = "
        f"{show(settings.ppo.learning_rate)}, or {cure}"
    )


def _cut_short(columns: Columns, _: TrainSettings) -> list[Measured]:
    share = columns[CUT_SHORT]
    return [Measured("", share, share >= UNUSED)]


def _cut_short_sentence(settings: TrainSettings, share: float, _: Sequence[str]) -> str:
    return (
        f"{share:.0%} of the updates end within their first epoch (epochs below 1): samples stay unused; lower ppo.learning_rate = "
        f"{show(settings.ppo.learning_rate)}, or raise ppo.target_kl{_rate(settings, 'target_kl')}"
    )


def _entropy_shares(columns: Columns) -> dict[str, np.ndarray]:
    entropy, most = _subjects(columns, "entropy"), _subjects(columns, "entropy_max")
    return {
        name: entropy[name] / np.where(most[name] > 0, most[name], math.nan)
        for name in entropy
        if name in most
    }


def _decided_early(columns: Columns, _: TrainSettings) -> list[Measured]:
    """No fault if the return has risen: such a policy needs no entropy."""
    early = _column(columns, "updates") <= EARLY
    risen = _column(columns, "episode_return") - _column(columns, FIRST_RETURN)
    judged = early & np.isfinite(risen)
    return [
        Measured(name, np.where(judged, share, math.nan), (share < ENTROPY_LOW) & (risen <= 0))
        for name, share in _entropy_shares(columns).items()
    ]


def _decided_sentence(settings: TrainSettings, share: float, subjects: Sequence[str]) -> str:
    own = settings.algorithm
    return (
        f"entropy{_of(subjects)} = {share:.2%} of its maximum within the first {EARLY} updates: nothing is explored any more; raise "
        f"{own}.entropy_coefficient{_rate(settings, 'entropy_coefficient')}, or lower {own}.learning_rate{_rate(settings, 'learning_rate')}"
    )


def _undecided_late(columns: Columns, settings: TrainSettings) -> list[Measured]:
    late = (_share(columns, settings) >= LATE) & (_column(columns, "updates") >= LATE_UPDATES)
    return [
        Measured(name, np.where(late, share, math.nan), share > ENTROPY_HIGH)
        for name, share in _entropy_shares(columns).items()
    ]


def _has_bonus(settings: TrainSettings) -> bool:
    """Whether there is an entropy bonus; without it a policy near the maximum may be an equilibrium."""
    coefficient = getattr(_group(settings), "entropy_coefficient", 0.0)
    return _has_policy(settings) and not (isinstance(coefficient, int | float) and coefficient == 0)


def _undecided_sentence(settings: TrainSettings, share: float, subjects: Sequence[str]) -> str:
    own = settings.algorithm
    return (
        f"entropy{_of(subjects)} = {share:.2%} of its maximum in the run's second half: the policy still chooses at random; lower "
        f"{own}.entropy_coefficient{_rate(settings, 'entropy_coefficient')}"
    )


def _rate(settings: TrainSettings, key: str) -> str:
    value = getattr(_group(settings), key, None)
    return "" if value is None else f" = {show(value)}"


def _large_inputs(columns: Columns, _: TrainSettings) -> list[Measured]:
    """No fault if the return has risen by more than noise, or the critic fits."""
    found, first = _subjects(columns, "input_abs_max"), _column(columns, FIRST_RETURN)
    risen = _column(columns, "episode_return") - first > RISE * np.abs(first)
    copes = risen | (_column(columns, "explained_variance") > EXPLAINED)
    return [Measured(name, most, (most > INPUT_MOST) & ~copes) for name, most in found.items()]


def _offset_sentence(_: TrainSettings, far: float, subjects: Sequence[str]) -> str:
    return (
        f"inputs{_of(subjects)} lie {far:,.4g} of their deviations from 0 (input_offset), beyond {INPUT_FAR:g}: a network sees a constant; "
        "set network.normalise = true, or subtract the mean in the world"
    )


def _large_sentence(settings: TrainSettings, most: float, subjects: Sequence[str]) -> str:
    scaled = settings.network.input_scale
    cure = (
        "divide them in the world, or set network.normalise = true"
        if scaled
        else "divide them in the world, set network.normalise = true, or where their space has bounds network.input_scale = true"
    )
    return f"inputs{_of(subjects)} reach {most:,.4g}, beyond {INPUT_MOST:g}: large ones drown the others and saturate the first layer; {cure}"


def _constant_inputs(columns: Columns, _: TrainSettings) -> list[Measured]:
    """All leaves together, as one that changes is enough; games of one step are not judged."""
    found = _subjects(columns, "input_range")
    if not found:
        return []
    widest = np.fmax.reduce(list(found.values()))
    several = _column(columns, "episode_length") > 1
    return [Measured("", np.where(several, widest, math.nan), widest == 0.0)]


def _constant_sentence(_: TrainSettings, __: float, ___: Sequence[str]) -> str:
    return (
        "every number of the observation is constant (input_range = 0): the policy sees nothing to decide by; look whether the world "
        "writes its observations, `interplay check` does"
    )


def _sizes(columns: Columns, _: TrainSettings) -> list[Measured]:
    size = _column(columns, "target_rms")
    if np.isnan(size).all():  # replay has no value targets of rows
        size = np.abs(_column(columns, "q_target"))
        return [Measured("", size, size > RETURN_MOST)]
    return [
        Measured(
            "", np.where(_is_paid(columns), size, math.nan), (size > RETURN_MOST) | (size < RETURN_LEAST)
        )
    ]


def _size_sentence(settings: TrainSettings, size: float, _: Sequence[str]) -> str:
    own, scale = settings.algorithm, getattr(_group(settings), "reward_scale", None)
    cure = f"{own}.reward_scale = {_shown(scale)}" if scale is not None else "the reward's scale"
    returns = f"returns are of size {size:,.3g} (root mean square of value targets), far from 1"
    if size > 1:
        return (
            f"{returns}: the error of the value rules the shared layers; lower {cure} about {size:,.2g} times"
        )
    return f"{returns}: the critic hardly learns; raise {cure} about {1 / size:,.2g} times"


def _unlike_sentence(settings: TrainSettings, ratio: float, __: Sequence[str]) -> str:
    return (
        f"rewards of agents that share a policy differ {ratio:,.3g} times in size: the small ones are lost in the normalisation; "
        f"set {settings.algorithm}.normalise_reward = agent, or factors by name (reward_scale), or give them policies of their own (population.groups)"
    )


def _unpaid(columns: Columns, _: TrainSettings) -> list[Measured]:
    most = _column(columns, "reward_abs_max")
    return [Measured("", most, most == 0.0)]


def _unpaid_sentence(settings: TrainSettings, _: float, __: Sequence[str]) -> str:
    return (
        "every reward is 0 (reward_abs_max): there is nothing to learn from; pay for steps on the way, shorten episodes, or play more "
        f"worlds (num_worlds = {settings.num_worlds})"
    )


def _beyond_sentence(_: TrainSettings, share: float, __: Sequence[str]) -> str:
    return (
        f"{share:.1%} of the numbers of actions (clipped_actions) lie beyond the action space and are clipped: most differences between "
        "actions do nothing; give the Box two bounds, which [-1, 1] is mapped to, or let the world scale actions of size 1 itself"
    )


def _forced_sentence(_: TrainSettings, share: float, __: Sequence[str]) -> str:
    return (
        f"{share:.1%} of the decisions with an action mask (one_choice) have one legal action: they teach nothing; let the world skip agents that cannot "
        "choose (acting = false), and look at its action mask"
    )


def _short_sight(columns: Columns, settings: TrainSettings) -> list[Measured]:
    length = _column(columns, "episode_length")
    reach = np.minimum(length, _reach(settings))
    return [Measured("", length, reach > HORIZON * _seen(settings)[1])]


def _reach(settings: TrainSettings) -> float:
    """Steps until a reward counts 1/e: 1 / (1 - gamma)."""
    gamma = _group(settings).gamma
    return math.inf if gamma >= 1 else 1.0 / (1.0 - gamma)


def _seen(settings: TrainSettings) -> tuple[str, int]:
    """The setting that bounds the steps of summed rewards in an update, and its value."""
    group, own = _group(settings), settings.algorithm
    if settings.factored is not None:
        return f"{own}.sequence", group.sequence
    if getattr(group, "returns", "") == "lives" and group.horizon > group.rollout:
        return f"{own}.horizon", group.horizon
    return f"{own}.rollout", group.rollout


def _counts_steps(settings: TrainSettings) -> bool:
    return hasattr(_group(settings), "gamma") and getattr(_group(settings), "discount", "step") == "step"


def _sight_sentence(settings: TrainSettings, length: float, _: Sequence[str]) -> str:
    (key, steps), own = _seen(settings), settings.algorithm
    return (
        f"episode_length = {length:,.0f} and {own}.gamma = {_group(settings).gamma:g} look {min(length, _reach(settings)):,.0f} steps ahead, "
        f"{key} = {steps} adds up {steps}: what lies further is the critic's guess alone; raise {key}, or lower {own}.gamma"
    )


def _few_episodes(columns: Columns, settings: TrainSettings) -> list[Measured]:
    ended = _column(columns, "episodes_ended")
    lives = "life" in columns or (_column(columns, "lives") > 0).any()  # a persistent world
    late = (_share(columns, settings) >= LATE) & (not lives)
    return [Measured("", np.where(late, ended, math.nan), ended < settings.num_worlds)]


def _few_sentence(settings: TrainSettings, ended: float, _: Sequence[str]) -> str:
    return (
        f"{ended:,.0f} episodes have ended in half of the run, fewer than num_worlds = {settings.num_worlds}: no world has played one to "
        f"its end yet; raise steps = {settings.steps:,}, or lower num_worlds"
    )


RULES = (
    Rule("gradients are cut", ("gradient_norm",), _reads("max_grad_norm"), _cut_share, _cut_sentence),
    Rule(
        "the critic does not fit",
        ("explained_variance", "target_std", "target_rms"),
        _has_policy,
        _unexplained,
        _unexplained_sentence,
    ),
    Rule("the policy stands still", ("kl", "gradient_steps"), _is_ppo, _still, _still_sentence),
    Rule("the policy jumps", ("kl",), _is_ppo, _far, _far_sentence, 10),
    Rule("updates are cut short", ("epochs",), _is_ppo, _cut_short, _cut_short_sentence, 10),
    Rule(
        "entropy is gone early",
        ("entropy", "entropy_max"),
        _has_policy,
        _decided_early,
        _decided_sentence,
        10,
        min,
    ),
    Rule("entropy stays high", ("entropy", "entropy_max"), _has_bonus, _undecided_late, _undecided_sentence),
    _above("inputs are far from 0", "input_offset", INPUT_FAR, _always, _offset_sentence),
    Rule("inputs are large", ("input_abs_max",), _always, _large_inputs, _large_sentence),
    Rule(
        "inputs are constant",
        ("input_range", "episode_length"),
        _always,
        _constant_inputs,
        _constant_sentence,
    ),
    Rule("returns are far from 1", ("target_rms",), _always, _sizes, _size_sentence),
    _above("rewards are of unlike size", "reward_ratio", REWARD_RATIO, _has_policy, _unlike_sentence),
    Rule("no reward is paid", ("reward_abs_max",), _always, _unpaid, _unpaid_sentence),
    _above("actions are clipped", "clipped_actions", CLIPPED, _always, _beyond_sentence),
    _above("masks leave one choice", "one_choice", ONE_CHOICE, _always, _forced_sentence),
    Rule("the horizon is short", ("episode_length",), _counts_steps, _short_sight, _sight_sentence, FEW),
    Rule("episodes are few", ("episodes_ended",), _always, _few_episodes, _few_sentence, FEW),
)
