"""The contents of messages: the simulator's agents, their spaces, and the results of a step.

Both ends check their input with the functions of this file, and each failed check is a `Fault`.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from interplay.sim.remote.wire import PROTOCOL, Fault, one_line

_LONGEST_ID = 100  # characters of an agent's id
_MOST_CHOICES = 1 << 53  # as many as a double counts

Point = Sequence[float] | int  # of a Range, or of a Choice


class Range:
    """A row of numbers, each between two bounds.

    Args:
        low: the least of each number; None = no bound.
        high: the largest of each, as many.

    Raises:
        ValueError: for rows of different lengths, a low above its high, or what is no finite number.

    Example:
        >>> Range([0, 0], [10, None]).complaint([3, 11.5])
        ''
        >>> Range([0, 0], [10, None]).complaint([3])
        '1 number instead of 2'
    """

    def __init__(self, low: Sequence[float | None], high: Sequence[float | None]) -> None:
        self.low = tuple(low)
        self.high = tuple(high)
        if not self.low or len(self.low) != len(self.high):
            raise ValueError(f"{len(self.low)} low and {len(self.high)} high bounds; give as many of both")
        for least, most in zip(self.low, self.high, strict=True):
            if not all(bound is None or is_number(bound) for bound in (least, most)):
                raise ValueError(
                    f"bounds {one_line(least)} and {one_line(most)}; give finite numbers or None"
                )
            if least is not None and most is not None and least > most:
                raise ValueError(f"low {least} is above high {most}; swap them")

    def complaint(self, point: Any) -> str:
        """Why a point is not in the range, as a phrase; empty if it is."""
        if not isinstance(point, Sequence) or isinstance(point, str):
            return f"{one_line(point)} instead of a row of {len(self.low)}"
        if len(point) != len(self.low):
            return f"{len(point)} number{'s' * (len(point) != 1)} instead of {len(self.low)}"
        for value, least, most in zip(point, self.low, self.high, strict=True):
            if not is_number(value):
                return f"{one_line(value)} instead of a finite number"
            if (least is not None and value < least) or (most is not None and value > most):
                return f"{value}, which is not in {least}..{most}"
        return ""

    def as_message(self) -> dict[str, Any]:
        """As the hello describes it."""
        return {"low": list(self.low), "high": list(self.high)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and (self.low, self.high) == (other.low, other.high)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Choice:
    """One of the whole numbers 0..count - 1.

    Example:
        >>> Choice(3).complaint(3)
        '3, which is not in 0..2'
    """

    count: int

    def __post_init__(self) -> None:
        if type(self.count) is not int or not 1 <= self.count <= _MOST_CHOICES:
            raise ValueError(
                f"a choice of {one_line(self.count)}; give a whole number from 1 to {_MOST_CHOICES:,}"
            )

    def complaint(self, point: Any) -> str:
        """Why a point is no choice, as a phrase; empty if it is."""
        if type(point) is not int:
            return f"{one_line(point)} instead of a whole number"
        return "" if 0 <= point < self.count else f"{point}, which is not in 0..{self.count - 1}"

    def as_message(self) -> dict[str, Any]:
        """As the hello describes it."""
        return {"choices": self.count}


class AgentSpaces(NamedTuple):
    """An agent's observation and action spaces."""

    observation: Range | Choice
    action: Range | Choice


Agents = Mapping[str, AgentSpaces]


@dataclass(frozen=True)
class Report:
    """The result of a step, or a reset, for an agent.

    Attributes:
        observation: the current one.
        reward: of this step alone; 0 after a reset.
        done: whether it has finished. When all have, the simulation is over.
        info: anything JSON can hold.
    """

    observation: Point
    reward: float = 0.0
    done: bool = False
    info: dict[str, Any] = field(default_factory=dict)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no bool.

    Example:
        >>> is_number(1), is_number(True), is_number(float("nan"))
        (True, False, False)
    """
    if type(value) is int:
        return abs(value) < 1 << 1023  # larger ones do not fit into a float
    return isinstance(value, float) and math.isfinite(value)


def take(message: Mapping[str, Any], name: str, kind: type | tuple[type, ...], where: str) -> Any:
    """A field of a message.

    Raises:
        Fault: if it is missing or of another type.
    """
    if name not in message:
        raise Fault(f"sent {where} without {name!r}", "add the field")
    value = message[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Fault(
            f"sent {where} in which {name!r} is {one_line(value)!r}", "see docs/remote.md for its type"
        )
    return value


def expect(message: Mapping[str, Any], kind: str) -> None:
    """Checks a message's type; an error message is raised as a fault."""
    if message["type"] == "error":
        raise Fault(f"reported: {one_line(message.get('message', 'nothing'))}", "mend that")
    if message["type"] != kind:
        raise Fault(f"sent {one_line(message['type'])!r} where {kind!r} belongs", f"answer with {kind!r}")


def check_token(message: Mapping[str, Any], token: str) -> None:
    """Checks a hello's token in constant time."""
    expect(message, "hello")
    shown = take(message, "token", str, "a hello")
    if not hmac.compare_digest(shown.encode(errors="replace"), token.encode(errors="replace")):
        raise Fault("showed a wrong token", "give both sides the same INTERPLAY_REMOTE_TOKEN")


def check_hello(message: Mapping[str, Any]) -> None:
    """Checks a hello's version."""
    expect(message, "hello")
    version = take(message, "protocol", int, "a hello")
    if version != PROTOCOL:
        raise Fault(f"uses version {version} of the protocol", f"this interplay uses {PROTOCOL}")


def write_agents(agents: Agents) -> dict[str, Any]:
    """Agents and their spaces, for a hello."""
    return {
        name: {"observation": spaces.observation.as_message(), "action": spaces.action.as_message()}
        for name, spaces in agents.items()
    }


def read_agents(hello: Mapping[str, Any]) -> dict[str, AgentSpaces]:
    """Agents and their spaces, from a hello."""
    agents = {}
    for name, described in take(hello, "agents", dict, "a hello").items():
        if not name.isprintable() or not 0 < len(name) <= _LONGEST_ID:
            raise Fault(
                f"sent a hello with the agent {one_line(name)!r}",
                f"use 1 to {_LONGEST_ID} printable characters",
            )
        if name.startswith("__"):  # managers use "__all__"
            raise Fault(f"sent a hello with the agent {name!r}", "use an id that does not begin with __")
        where = f"a hello whose agent {name}"
        if not isinstance(described, dict):
            raise Fault(f"sent {where} is {one_line(described)!r}", "describe both of its spaces")
        parts = [_read_space(take(described, part, dict, where), where) for part in AgentSpaces._fields]
        agents[name] = AgentSpaces(*parts)
    if not agents:
        raise Fault("sent a hello without agents", "name at least one")
    return agents


def _read_space(described: Mapping[str, Any], where: str) -> Range | Choice:
    try:
        if "choices" in described:
            return Choice(described["choices"])
        return Range(take(described, "low", list, where), take(described, "high", list, where))
    except ValueError as error:
        raise Fault(f"sent {where} has a space with {error}", "see docs/remote.md") from None


def write_reports(reports: Mapping[str, Report]) -> dict[str, Any]:
    """All reports, for a state message."""
    return {name: dict(vars(report)) for name, report in reports.items()}


def read_reports(message: Mapping[str, Any], agents: Agents, step: int) -> dict[str, Report]:
    """All reports, from a state message that answers step number `step`.

    Raises:
        Fault: for another step, a missing or unknown agent, and what is not in its space.
    """
    expect(message, "state")
    given = take(message, "step", int, "a state")
    if given != step:
        raise Fault(f"sent the state of step {given} instead of {step}", "answer each message once")
    states = take(message, "agents", dict, "a state")
    if states.keys() != agents.keys():
        odd = sorted(states.keys() ^ agents.keys())
        raise Fault(
            f"sent a state whose agents differ from its hello in {one_line(odd)}", "report everyone always"
        )
    return {name: _read_report(name, states[name], agents[name]) for name in agents}


def _read_report(name: str, state: Any, spaces: AgentSpaces) -> Report:
    where = f"a state whose agent {name}"
    if not isinstance(state, dict):
        raise Fault(f"sent {where} is {one_line(state)!r}", "send an object for it")
    if "observation" not in state:
        raise Fault(f"sent {where} has no 'observation'", "add the field")
    complaint = spaces.observation.complaint(state["observation"])
    if complaint:
        raise Fault(f"sent {where} observes {complaint}", "keep to the space of its hello")
    reward = take(state, "reward", (int, float), where)
    if not is_number(reward):
        raise Fault(f"sent {where} has the reward {one_line(reward)}", "send a finite number")
    done, info = take(state, "done", bool, where), take(state, "info", dict, where)
    return Report(state["observation"], float(reward), done, info)


def complain_about_actions(actions: Mapping[str, Any], agents: Agents) -> str:
    """Why actions cannot be taken, in one line; empty if they can."""
    for name, action in actions.items():
        if name not in agents:
            return f"action for {one_line(name)!r}, which the simulator does not have; leave it out"
        complaint = agents[name].action.complaint(action)
        if complaint:
            return f"action of {name} is {complaint}; keep to its space"
    return ""
