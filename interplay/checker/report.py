"""The checker's findings: one line for each broken law, with place, value and cure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from interplay.core.errors import UserError

#: Every law of the protocol, with the cure that a finding prints.
LAWS: dict[str, str] = {
    "identity": "give the world unique agent names, an id and a version >= 1",
    "spaces": "declare a spaces.Dict of Box, Discrete, MultiDiscrete or MultiBinary leaves for each kind",
    "crash": "reset, step and the other verbs must accept everything that the protocol allows",
    "shape": "allocate the array as (worlds, agents, ...), as the space declares",
    "dtype": "allocate the array with the declared dtype (reward float32; acting, ended and over bool)",
    "finite": "keep NaN and infinity out of every row, absent agents too: networks compute before they mask",
    "in-space": "clip the observation, or widen the observation space",
    "starts-clean": "_reset gives restarted worlds reward 0, no ended lives, over = False and an acting agent",
    "determinism": "draw from the world's stream only; clear what outlives a step; no time, no id(), no set order",
    "seeds": "begin_episode the stream in _begin (_reset of a bare World) and key every draw by it",
    "global-random": "draw from the world's stream (interplay.kernels.philox), never from random or np.random",
    "batch-size": "let world w depend on row w alone, never on num_worlds",
    "position": "let world w depend on its seed, never on its index w",
    "reset-untouched": "write only the rows that `which` names",
    "reset-forgets": "_reset restores every array of the named worlds, counters and caches too",
    "asks-nobody": "let an agent act, or set over; a world that may wait for births is persistent = True",
    "dead-acts": "clear acting when a life ends; a world in which slots are born again has respawns = True",
    "ended-flags": "set terminated or truncated, not both, in exactly the step in which the life ends",
    "over": "when a world is over no agent acts and every life not yet ended is terminated or truncated",
    "reward-after-end": "a slot whose life has ended earns 0 until it acts again",
    "stands-still": "skip worlds that are over: zero rewards, no acting agents, no change until reset",
    "mask": "give bool masks as the action space lays them out, with a legal choice for each acting agent",
    "mask-honoured": "refuse an illegal choice, or play a legal one in its place",
    "ignored-rows": "read the actions of acting agents only",
    "action-kept": "copy the actions before changing them",
    "shared-buffers": "give every world, row and field memory of its own, or a read-only view",
    "corruptible": "rewrite every observation each step, or hand out read-only views",
    "save-load": "save and load every array, stream and counter; set the time step and forget the first seeds",
    "hash": "leave hash() as it is and keep in save() what is state, with the world axis first, and no scratch",
    "copies": "leave __deepcopy__, __reduce__ and __getstate__ alone; save every array, and let the class be called again with its arguments",
    "global-state": "give a new (W, n) float32 array inside state_space, each row computed from what save holds of its world alone",
    "undeclared": "declare in state_ranges the valid values of every field of numbers (interplay.core.ranges)",
    "wild-snapshot": "declare in state_ranges and state_laws what the rules rely on; check before anything is written",
    "refusal": "refuse with a one-line ValueError before anything is written",
    "metrics": "give (W,) or (W, A) arrays of finite numbers, or NaN where an episode has no case, always the same names, unchanged while the world is over; outcome (W, A) is +1, 0, -1 or NaN",
    "draw": "draw() only reads, for every world of the batch",
    "people": "name each choice once in action_names, let keys mean those names, visible name layers that draw declares, and guides fields; draw the same layers with privileged_view and without",
}


class Finding(NamedTuple):
    """One broken law, with the first place of it.

    Attributes:
        law: a key of `LAWS`.
        seen: the observed fault, in words.
        world: index in the batch, or None if the law concerns the whole batch.
        agent: the agent's name, or None.
        step: of the checker's run, 0 is the first reset; None outside a run.
        field: e.g. ``"observation/heals"``, or "".
        value: found there, or None.
        cured: `seen` contains the cure.
    """

    law: str
    seen: str
    world: int | None = None
    agent: str | None = None
    step: int | None = None
    field: str = ""
    value: object = None
    cured: bool = False

    def __str__(self) -> str:
        place = [
            f"{name} {value}"
            for name, value in (("step", self.step), ("world", self.world), ("agent", self.agent))
            if value is not None
        ]
        if self.field:
            place.append(self.field if self.value is None else f"{self.field} = {self.value}")
        where = ", ".join(place)
        cure = "" if self.cured else f"; {LAWS[self.law]}"
        return f"{self.law}: {where + ': ' if where else ''}{self.seen}{cure}"


@dataclass
class Report:
    """Every finding about one world. Printed, it is one line per finding.

    Attributes:
        world: the id of the world that was checked.
        findings: at most one for each law and field, the first that was seen.
        skipped: parts that could not be judged, with the reason.
        masks: the parts of the action with masks, in one line.
    """

    world: str
    findings: list[Finding] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    ignore: frozenset[str] = frozenset()
    masks: str = ""

    @property
    def ok(self) -> bool:
        """True if no law is broken."""
        return not self.findings

    @property
    def laws(self) -> tuple[str, ...]:
        """The broken laws, in the order in which they were found."""
        return tuple(dict.fromkeys(finding.law for finding in self.findings))

    def add(self, finding: Finding) -> None:
        """Adds a finding, unless its law and field have one already or its law is ignored."""
        known = {(f.law, f.field) for f in self.findings}
        if finding.law not in self.ignore and (finding.law, finding.field) not in known:
            self.findings.append(finding)

    def broken(self, laws: Iterable[str]) -> bool:
        """Whether any of these laws is broken."""
        return bool(set(laws) & set(self.laws))

    def raise_if_broken(self) -> None:
        """Raises if any law is broken."""
        if not self.ok:
            raise UserError(str(self))

    def __str__(self) -> str:
        if self.ok and not self.skipped:
            return f"{self.world}: every law holds"
        count = len(self.findings)
        head = f"{self.world}: " + (
            f"{count} finding{'s' * (count != 1)}" if count else "every law that was judged holds"
        )
        return "\n".join(
            [
                head,
                *(f"  {finding}" for finding in self.findings),
                *(f"  not judged: {s}" for s in self.skipped),
            ]
        )
