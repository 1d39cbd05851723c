"""Plays one world tick by tick, by policies and people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.controls import controls_of
from interplay.core.errors import UserError
from interplay.core.fog import fogged, hideable
from interplay.core.policy import Policy
from interplay.core.replay import Mark
from interplay.core.replay.marks import Marks
from interplay.core.scene import Scene, scene_of
from interplay.core.world import Array, World
from interplay.view.run_log import one_line
from interplay.view.server.agent import describe_agent
from interplay.view.server.config import SPEEDS, TICK_SECONDS, VIDEO_FRAMES
from interplay.view.server.heads import seats_of, writable
from interplay.view.server.keeping import Keeper
from interplay.view.server.networks import look_at

HUMAN = "a person"
NO_SLOT = -1  # no slot: the view of spectators while several people play under fog


class UnderWay(NamedTuple):
    """A place in a recording.

    Attributes:
        first: whether an episode begins there.
        gone: slots with a life that ended in that episode, in worlds without later births.
    """

    tick: int
    first: bool
    gone: tuple[int, ...] = ()


class Cast(NamedTuple):
    """A world with its players.

    Attributes:
        policy: acts for all slots without a person.
        words: its name.
        renew: loads a newer checkpoint and returns its name, or None if there is none. None: the policy never changes.
        values: makes the value function for a copy of the world in another thread (`interplay.train.play.values`).
        fog: while people play, pages see only what the played agents observe.
        keeper: records the play of people.
        for_people: time stands still until the first slot is taken.
        of: policy and name of the player of a slot, if several policies share the world; None: `policy` plays all.
        reveals: pages see hidden information (`World.privileged_view`) while no slot is taken.
        under_way: place of a restored world, which is not reset; None: an episode begins.
    """

    world: World
    policy: Policy
    words: str
    renew: Callable[[], str | None] | None = None
    values: Callable[[], Any] | None = None
    fog: bool = False
    keeper: Keeper | None = None
    for_people: bool = False
    of: Callable[[int], tuple[Policy, str]] | None = None
    reveals: bool = False
    under_way: UnderWay | None = None

    def player(self, slot: int) -> tuple[Policy, str]:
        """Policy of a slot, and its name."""
        return (self.policy, self.words) if self.of is None else self.of(slot)


def tick_seconds(world: World) -> float:
    """Default duration of a tick: the world's own, else as in a video, but at least `TICK_SECONDS`."""
    least, most = 1 / SPEEDS[1], 1 / SPEEDS[0]
    usual = max(TICK_SECONDS, world.frames_per_step / VIDEO_FRAMES)
    return min(max(world.tick_seconds or usual, least), most)


class Moment(NamedTuple):
    """An immutable view of a tick; `episode` counts the resets before."""

    tick: int
    scene: Scene
    first: bool
    last: bool
    episode: int = 0


class Play:
    """Plays a world as `interplay.view.stepping.stands` does, with actions of people.

    Attributes:
        tick: counted over all episodes, resets included; continues the number of a recording.
        turn_based: whether one slot acts at a time.
        clicks: whether the world handles clicks.
        has_secrets: whether the world has hidden information.
    """

    def __init__(self, cast: Cast, seed: int = 0) -> None:
        self.cast, self.world, self.tick = cast, cast.world, 0
        self.has_secrets = self.world.privileged_view is not None
        self._seats = seats_of(self.world)
        self.clicks = self.world.takes_clicks
        self._marks = Marks(self.world)
        self._moment: Moment | None = None
        self._through: dict[int, Moment] = {}
        self._chosen: Any = None
        self._first, self._episode = True, 0
        agents = len(self.world.agents)
        self._asked = np.zeros(agents, bool)  # (A,) slots that acted in the last step
        self._earned = np.zeros(agents)  # (A,) return of each slot's life so far
        self._ended = np.zeros(agents, bool)  # (A,) slots with a life that ended in the last step
        self._present = np.ones(agents, bool)  # (A,) slots with an agent
        self.turn_based = False
        if cast.under_way is None:
            self._begin(seed)
        else:
            self._go_on(cast.under_way, seed)
        self.reveal(True)

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return bool(self.world.timestep.over[0])

    @property
    def begins(self) -> bool:
        """Whether the episode has just begun."""
        return self._first

    def acts(self, slot: int) -> bool:
        """Whether the next step reads a slot's action."""
        return bool(self.world.timestep.acting[0, slot])

    def somebody(self) -> int:
        """The first acting slot, else the first slot."""
        return int(self.world.timestep.acting[0].argmax())

    def turn(self) -> int | None:
        """The only acting slot of a turn-based world, or None."""
        acting = np.flatnonzero(self.world.timestep.acting[0])
        return int(acting[0]) if self.turn_based and len(acting) == 1 else None

    def reset(self, seed: int | None = None) -> None:
        """Begins the next episode, or that of a seed, as a tick of its own."""
        self.tick += 1
        if seed is not None:
            self._begin(seed)
        else:
            self.world.reset()
            self.cast.policy.forget(np.ones(1, bool))
            self._settle()
        if self.cast.keeper is not None:
            self.cast.keeper.begin()

    def step(self, people: Mapping[int, Mapping[str, Array] | None] | None = None) -> list[Mark]:
        """Makes one tick, which after an episode's end is a reset; returns the marks of events.

        Args:
            people: slots held by people -> action from `read`; None: the slot idles.
        """
        if self.over:
            self.reset()
            return []
        step = self.world.timestep
        asked = step.acting[0].copy()  # worlds write the next step into the same memory
        action = self.cast.policy.act(step)
        if people:
            action = writable(action)
            for slot, chosen in people.items():
                seat = self._seats[slot]
                own = seat.heads.idle(seat.legal(self.world)) if chosen is None else chosen
                seat.heads.put(self.world.by_kind(action)[seat.kind.name], seat.column, own)
        self._earned[self._ended] = 0.0
        step = self.world.step(action)
        self.tick += 1
        self._first, self._moment, self._chosen, self._asked = False, None, action, asked
        if self.cast.keeper is not None:
            self.cast.keeper.step(action, self.over)
        self._earned += step.reward[0]
        self._ended = step.terminated[0] | step.truncated[0]
        self._present = (self._present & ~self._ended) | step.acting[0]
        return self._marks.step(self.tick)

    def read(self, slot: int, given: Mapping[str, Any]) -> Mapping[str, Array]:
        """A person's action for a slot, see `Heads.read`."""
        if not self.acts(slot):
            name, now = one_line(self.world.agents[slot]), f"at tick {self.tick}"
            if self.over:
                raise UserError(f"{name}: the episode is over {now}; wait for the next one")
            if not self._present[slot]:
                later = self.world.respawns or self.world.persistent
                cure = "wait until it is" if later else "begin a new episode"
                raise UserError(f"{name} is not in the world {now}; {cure}, or give it back")
            cure = "wait for its turn" if self.turn_based else "wait until it does, or give it back"
            raise UserError(f"{name} does not act {now}; {cure}")
        seat = self._seats[slot]
        return seat.heads.read(given, seat.legal(self.world))

    def moment(self) -> Moment:
        """The current view, drawn once."""
        if self._moment is None:
            scene = scene_of(self.world)
            if scene.picture is not None:  # it may be the world's own buffer
                scene = scene._replace(picture=scene.picture.copy())
            if self.cast.fog:
                scene = hideable(scene)
            self._moment, self._through = Moment(self.tick, scene, self._first, self.over, self._episode), {}
        return self._moment

    def reveal(self, on: bool) -> None:
        """Shows or hides hidden information, if the cast reveals it at all."""
        if self.cast.reveals and self.has_secrets:
            self.world.privileged_view, self._moment = on, None

    def moment_of(self, slot: int) -> Moment:
        """The current view limited to what a slot sees, nothing for `NO_SLOT`; all of it if the world does not define that."""
        whole = self.moment()
        if slot not in self._through:
            visible = {} if slot == NO_SLOT else self.world.visible(0, slot)
            scene = whole.scene if visible is None else fogged(whole.scene, visible)
            self._through[slot] = whole._replace(scene=scene)
        return self._through[slot]

    def hides(self, slot: int) -> bool | None:
        """Whether the world hides anything from a slot; None if it does not define that."""
        visible = self.world.visible(0, slot)
        return None if visible is None else visible.get("*") is not True

    def heads(self, slot: int) -> list[dict[str, Any]]:
        """The heads of a slot, without probabilities."""
        return self._seats[slot].heads.describe()

    def controls(self, slot: int) -> dict[str, Any] | None:
        """The keys of a slot, by numbers of its heads; None: it is played by a form."""
        controls = controls_of(self.world, slot)
        return None if controls is None else {"keys": self._seats[slot].heads.keys(controls)}

    def click(self, slot: int, x: float, y: float) -> Mapping[str, Array] | None:
        """The action that a click means, as from `read`; None: none. Errors as of `read`."""
        named = self.world.click(0, slot, x, y)
        return None if named is None else self.read(slot, self._seats[slot].heads.numbered(named))

    def agent_under_fog(self, slot: int) -> dict[str, Any]:
        """Details of a slot for its player under fog: without the world's metrics."""
        details = self.agent(slot, person=True)
        return details if self.world.visible(0, slot) is None else {**details, "metrics": {}}

    def agent(self, slot: int, person: bool) -> dict[str, Any]:
        """Details of a slot; `person`: a person plays it."""
        seat = self._seats[slot]
        # A batch has an action for every slot; those of slots that did not act mean nothing.
        asked = self._chosen is not None and self._asked[slot]
        chosen = self.world.by_kind(self._chosen)[seat.kind.name] if asked else None
        return describe_agent(
            self.world,
            slot,
            self.tick,
            HUMAN if person else self.cast.player(slot)[1],
            seat,
            float(self._earned[slot]),
            self._look(slot),
            chosen,
            bool(self._present[slot]),
        )

    def memory_of(self, slot: int) -> Array | None:
        """Memory of a slot's network, (size,) float32, or None."""
        seat, (policy, _) = self._seats[slot], self.cast.player(slot)
        memory = policy.save().get(f"memory/{seat.kind.name}")
        return None if memory is None else memory[0, seat.column] * (not self._ended[slot])

    def take(self, slot: int) -> None:
        """Records that a person plays a slot."""
        if self.cast.keeper is not None:
            players = [self.cast.player(one)[1] for one in range(len(self.world.agents))]
            self.cast.keeper.take(self.world, slot, self.cast.words, not self._first, players)

    def give(self, slot: int) -> None:
        """Records that the policy plays a slot again."""
        if self.cast.keeper is not None:
            self.cast.keeper.give(slot)

    def renew(self) -> bool:
        """Loads a newer checkpoint; returns whether there was one."""
        words = None if self.cast.renew is None else self.cast.renew()
        if words is not None:
            self.cast = self.cast._replace(words=words)
        return words is not None

    def close(self) -> None:
        """Completes the recording and closes the world."""
        try:
            self.complete()
        finally:
            self.world.close()

    def complete(self) -> None:
        """Completes the recording, if there is one."""
        if self.cast.keeper is not None:
            self.cast.keeper.close()

    def _begin(self, seed: int) -> None:
        self.world.reset(seeds=seed)
        self.cast.policy.start(self.world, seed)
        self._settle()

    def _go_on(self, under_way: UnderWay, seed: int) -> None:
        """Continues a restored world. A reset shows whether it is turn-based, and is undone."""
        kept = self.world.save()
        self.world.reset()
        self._settle()
        self.world.load(kept)
        self.cast.policy.start(self.world, seed)
        self.tick, self._first, gone = under_way
        self._marks.begin(under_way=not self._first)
        acting = self.world.timestep.acting[0]
        # As after a reset, without agents gone since; in worlds with later births idle slots are empty.
        self._present[:] = acting if self.world.respawns or self.world.persistent else True
        self._present[list(gone)] = False
        self._present |= acting

    def _settle(self) -> None:
        """Sets the state after a reset."""
        acting = self.world.timestep.acting[0]
        self._first, self._moment, self._chosen = True, None, None
        self._episode += 1
        self._earned[:], self._ended[:] = 0.0, False
        later = self.world.respawns or self.world.persistent
        # Without later births idle slots wait for their turn; with births they may be empty.
        self._present[:] = acting if later else True
        # With hidden information, a slot that acts alone may do so at night: to show a turn would reveal its role.
        self.turn_based = len(acting) > 1 and int(acting.sum()) == 1 and not later and not self.has_secrets
        self._marks.begin()

    def _look(self, slot: int) -> Any:
        """Outputs of a slot's network, or None; see `look_at`."""
        if not self.acts(slot):
            return None
        policy, _ = self.cast.player(slot)
        return look_at(policy, self.world, slot, self._seats[slot], self.memory_of(slot))
