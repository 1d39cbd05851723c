"""Pommerman once more: one game, things as objects, written from specification 3.2 to 3.7.

Slow and obvious. The kernels of `interplay.worlds.pommerman` must equal it, number for number.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from interplay.worlds.pommerman.config import PommermanSettings

from .mmo_things import Stream

Cell = tuple[int, int]
PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA, RANGE, KICK, DUMMY = range(10)
ITEMS = (EXTRA, RANGE, KICK)
STEP = {0: (0, 0), 1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}


@dataclass
class Player:
    number: int
    at: Cell
    ammo: int = 1
    blast: int = 2
    kick: bool = False
    alive: bool = True
    ended: bool = False
    returns: float = 0.0


@dataclass
class Bomb:
    at: Cell
    owner: int
    life: int
    blast: int
    direction: int = 0


@dataclass
class Flame:
    at: Cell
    left: int  # observations, this one included


def beside(cell: Cell, direction: int) -> Cell:
    return cell[0] + STEP[direction][0], cell[1] + STEP[direction][1]


class PommermanTwin:
    """One game of `settings`.

    Attributes:
        ground: cell -> passage, rigid, wood or an open item.
        hidden: cell -> item under wood or flames.
        reward, terminated, truncated, outcome: by player, of the last step.
    """

    def __init__(self, settings: PommermanSettings, seed: int = 0) -> None:
        self.settings = settings
        self.stream = Stream(seed, episode=-1)

    # -- the board -----------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> None:
        """The next episode, or the first one of another seed."""
        s = self.settings
        self.stream = Stream(self.stream.seed, self.stream.episode + 1) if seed is None else Stream(seed)
        far = s.size - 2
        corners = [(1, 1), (far, 1), (far, far), (1, far)]
        self.players = [Player(i, at) for i, at in enumerate(corners if s.players == 4 else corners[::2])]
        while True:
            self.lay_walls()
            if len(self.cut_off()) <= 4:
                break
        self.hide_items()
        self.bombs: list[Bomb] = []
        self.flames: list[Flame] = []
        self.said = [[0] * s.words for _ in self.players]
        self.steps, self.over = 0, False
        self.clear()

    def lay_walls(self) -> None:
        s, n = self.settings, self.settings.size
        self.ground = {(r, c): PASSAGE for r in range(n) for c in range(n)}
        taken = {(i, i) for i in range(n)}
        for player in self.players:
            r, c = player.at
            down, right = (1 if r == 1 else -1), (1 if c == 1 else -1)
            taken |= {(r, c), *((r + k * down, c) for k in (1, 2)), *((r, c + k * right) for k in (1, 2))}
        bridges: set[Cell] = set()
        if s.players == 4:
            for i in range(4, n - 4):
                bridges |= {(1, i), (n - 2, i), (i, 1), (i, n - 2)}
        pairs = [(r, c) for r in range(n) for c in range(r + 1, n) if (r, c) not in taken | bridges]
        for cell in bridges:
            self.ground[cell] = WOOD
        walls = [RIGID] * (s.rigid // 2) + [WOOD] * ((s.wood - len(bridges)) // 2)
        for wall in walls:
            k = self.stream.below(len(pairs))
            r, c = pairs[k]
            pairs[k] = pairs[-1]
            pairs.pop()
            self.ground[r, c] = self.ground[c, r] = wall

    def cut_off(self) -> set[Cell]:
        """Passages that the last player cannot reach."""
        reached, queue = {self.players[-1].at}, [self.players[-1].at]
        while queue:
            cell = queue.pop()
            for direction in (1, 2, 3, 4):
                other = beside(cell, direction)
                if self.ground.get(other, RIGID) != RIGID and other not in reached:
                    reached.add(other)
                    queue.append(other)
        own = {player.at for player in self.players}
        return {cell for cell, what in self.ground.items() if what == PASSAGE} - own - reached

    def hide_items(self) -> None:
        self.hidden: dict[Cell, int] = {}
        wood = sorted(cell for cell, what in self.ground.items() if what == WOOD)
        for _ in range(self.settings.items):
            k = self.stream.below(len(wood))
            self.hidden[wood[k]] = EXTRA + self.stream.below(3)
            wood[k] = wood[-1]
            wood.pop()

    # -- one step -------------------------------------------------------------------------------------

    def clear(self) -> None:
        number = len(self.players)
        self.reward = [0.0] * number
        self.terminated, self.truncated = [False] * number, [False] * number
        self.outcome: list[int | None] = [None] * number
        self.gains: list[list[float]] = [[0.0] * 4 for _ in self.players]  # died, range, kick, bomb

    def step(self, actions: list[list[int]]) -> None:
        """One step; each action is a choice and, with radio, the words."""
        self.clear()
        if self.settings.quirks.late_collapse:
            self.collapse()
        self.age_flames()
        self.speak(actions)
        self.move([action[0] for action in actions])
        self.explode()
        for player in self.living():
            if any(flame.at == player.at for flame in self.flames):
                self.kill(player)
        self.steps += 1
        if not self.settings.quirks.late_collapse:
            self.collapse()
        self.finish()

    def living(self) -> list[Player]:
        return [player for player in self.players if player.alive]

    def kill(self, player: Player) -> None:
        player.alive = False
        self.gains[player.number][0] += 1

    def speak(self, actions: list[list[int]]) -> None:
        if self.settings.radio:
            silence = [0] * self.settings.words
            self.said = [
                list(action[1:]) if player.alive else silence
                for player, action in zip(self.players, actions, strict=True)
            ]

    def age_flames(self) -> None:
        for flame in self.flames:
            flame.left -= 1
        ended = [flame.at for flame in self.flames if flame.left == 0]
        self.flames = [flame for flame in self.flames if flame.left > 0]
        burning = {flame.at for flame in self.flames}
        for cell in ended:
            if cell not in burning:
                self.ground[cell] = self.hidden.pop(cell, PASSAGE)
            elif self.settings.quirks.item_lost:
                self.hidden.pop(cell, None)

    def move(self, choices: list[int]) -> None:
        players = self.living()
        want = [self.wanted(player, choices[player.number]) for player in players]
        slide = [self.slides_to(bomb) for bomb in self.bombs]
        self.stop_swaps(players, want, slide)
        came = Counter(want)
        rolled = Counter(slide)  # both only ever grow: a cell that was wanted stays counted
        self.turn_back(players, want, slide, came, rolled)
        kicks = self.kick(players, choices, want, slide, came, rolled)
        if kicks is not None:
            self.turn_back_late(players, want, slide, came, rolled, kicks)
        for k, bomb in enumerate(self.bombs):
            if slide[k] == bomb.at and k not in (kicks or {}):
                bomb.direction = 0
            bomb.at = slide[k]
        for i, player in enumerate(players):
            if want[i] != player.at:
                player.at = want[i]
                self.take(player)

    def wanted(self, player: Player, choice: int) -> Cell:
        if choice == 5:
            if player.ammo > 0 and all(bomb.at != player.at for bomb in self.bombs):
                player.ammo -= 1
                self.bombs.append(Bomb(player.at, player.number, 10, player.blast))
            return player.at
        target = beside(player.at, choice)
        return player.at if self.ground.get(target, RIGID) in (RIGID, WOOD) else target

    def slides_to(self, bomb: Bomb) -> Cell:
        target = beside(bomb.at, bomb.direction)
        return target if self.ground.get(target, RIGID) == PASSAGE else bomb.at

    def stop_swaps(self, players: list[Player], want: list[Cell], slide: list[Cell]) -> None:
        ways = [frozenset((player.at, to)) for player, to in zip(players, want, strict=True)]
        rolls = [frozenset((bomb.at, to)) for bomb, to in zip(self.bombs, slide, strict=True)]
        for i, player in enumerate(players):
            if len(ways[i]) == 2 and ways.count(ways[i]) > 1:
                want[i] = player.at
        for k, bomb in enumerate(self.bombs):
            if len(rolls[k]) == 2 and (rolls.count(rolls[k]) > 1 or rolls[k] in ways):
                slide[k] = bomb.at

    def turn_back(self, players: Any, want: Any, slide: Any, came: Any, rolled: Any) -> None:
        stable = False
        while not stable:
            stable = True
            for things, wishes, mine in ((players, want, came), (self.bombs, slide, rolled)):
                for i, thing in enumerate(things):
                    if wishes[i] != thing.at and (came[wishes[i]] > 1 or rolled[wishes[i]] > 1):
                        wishes[i] = thing.at
                        mine[thing.at] += 1
                        stable = False

    def kick(
        self, players: Any, choices: Any, want: Any, slide: Any, came: Any, rolled: Any
    ) -> dict[int, int] | None:
        """Bomb -> the player that kicks it; None if nothing met."""
        kicks: dict[int, int] = {}
        bombs_to: dict[int, Cell] = {}
        back: list[int] = []
        for k, bomb in enumerate(self.bombs):
            met = [i for i in range(len(players)) if want[i] == slide[k]]
            if not met:
                continue
            (i,) = met
            if want[i] == players[i].at:
                if slide[k] != bomb.at:
                    bombs_to[k] = bomb.at
                continue
            direction = choices[players[i].number]
            beyond = beside(slide[k], direction)
            free = self.ground.get(beyond, RIGID) == PASSAGE and not came[beyond] and not rolled[beyond]
            if players[i].kick and free:
                rolled[slide[k]] = 0
                bombs_to[k], kicks[k], bomb.direction = beyond, i, direction
            else:
                bombs_to[k] = bomb.at
                back.append(i)
        for k, cell in bombs_to.items():
            slide[k] = cell
            rolled[cell] += 1
        for i in back:
            want[i] = players[i].at
            came[want[i]] += 1
        return kicks if bombs_to else None

    def turn_back_late(
        self, players: Any, want: Any, slide: Any, came: Any, rolled: Any, kicks: dict[int, int]
    ) -> None:
        """Agent and bomb share a cell only if neither moved."""
        stable = False
        while not stable:
            stable = True
            for i, player in enumerate(players):
                if want[i] != player.at and (came[want[i]] > 1 or rolled[want[i]]):
                    for k in [k for k, kicker in kicks.items() if kicker == i]:
                        slide[k] = self.bombs[k].at
                        rolled[slide[k]] += 1
                        del kicks[k]
                    want[i] = player.at
                    came[player.at] += 1
                    stable = False
            for k, bomb in enumerate(self.bombs):
                if slide[k] == bomb.at and k not in kicks:
                    continue
                if rolled[slide[k]] > 1 or came[slide[k]]:
                    slide[k] = bomb.at
                    rolled[bomb.at] += 1
                    if k in kicks:
                        i = kicks.pop(k)
                        want[i] = players[i].at
                        came[want[i]] += 1
                    stable = False

    def take(self, player: Player) -> None:
        item = self.ground[player.at]
        gain = self.gains[player.number]
        if item not in ITEMS:
            return
        self.ground[player.at] = PASSAGE
        if item == EXTRA:
            player.ammo = min(player.ammo + 1, 10)
            gain[3] += 1
        elif item == RANGE:
            most = self.settings.fog or 10
            gain[1] += player.blast < most
            player.blast = min(player.blast + 1, most)
        else:
            gain[2] += not player.kick
            player.kick = True

    def explode(self) -> None:
        burning = {flame.at for flame in self.flames}
        for bomb in self.bombs:
            bomb.life -= 1
        lit = [bomb for bomb in self.bombs if bomb.life == 0 or bomb.at in burning]
        fire: set[Cell] = set()
        while lit:
            for bomb in lit:
                fire |= self.reach(bomb)
                self.bombs.remove(bomb)
                self.give_back(bomb)
            lit = [bomb for bomb in self.bombs if bomb.at in fire]
        for cell in fire:
            self.ground[cell] = PASSAGE
            self.flames.append(Flame(cell, 3))

    def give_back(self, bomb: Bomb) -> None:
        owner = self.players[bomb.owner]
        owner.ammo = min(owner.ammo + 1, 10)

    def reach(self, bomb: Bomb) -> set[Cell]:
        found = {bomb.at}
        for direction in (1, 2, 3, 4):
            cell = bomb.at
            for _ in range(bomb.blast - 1):
                cell = beside(cell, direction)
                if self.ground.get(cell, RIGID) == RIGID:
                    break
                found.add(cell)
                if self.ground[cell] == WOOD:
                    break
        return found

    def collapse(self) -> None:
        s, n = self.settings, self.settings.size
        if s.collapse is None:
            return
        pause = (s.limit - s.collapse) // 4
        for ring in range(4):
            if self.steps != s.collapse + ring * pause:
                continue
            closed = {cell for cell in self.ground if min(*cell, n - 1 - cell[0], n - 1 - cell[1]) <= ring}
            for cell in closed:
                self.ground[cell] = RIGID
                self.hidden.pop(cell, None)
            self.flames = [flame for flame in self.flames if flame.at not in closed]
            for bomb in [bomb for bomb in self.bombs if bomb.at in closed]:
                self.bombs.remove(bomb)
                self.give_back(bomb)
            for player in self.living():
                if player.at in closed:
                    self.kill(player)

    # -- the end -------------------------------------------------------------------------------------

    def side(self, number: int) -> int:
        return number % 2 if self.settings.teams else number

    def finish(self) -> None:
        s = self.settings
        sides = {self.side(player.number) for player in self.living()}
        ended = len(sides) <= 1
        self.over = ended or self.steps >= s.limit
        won = sides.pop() if len(sides) == 1 else None
        present = s.teams or s.reward == "zero_sum" or s.classic_quirks or any(s.reward_weights[1:])
        for player in self.players:
            i = player.number
            if self.over:
                self.outcome[i] = 0 if won is None else (1 if self.side(i) == won else -1)
            if player.ended:
                continue
            self.reward[i] = self.pay(player, won)
            player.returns += self.reward[i]
            gone = not player.alive and not present
            self.terminated[i] = ended or gone
            self.truncated[i] = self.over and not self.terminated[i]
            player.ended = self.terminated[i] or self.truncated[i]

    def pay(self, player: Player, won: int | None) -> float:
        s, i = self.settings, player.number
        weights, paid = s.reward_weights, s.reward_weights[0] * self.result(player, won)
        for j, (died, reach, kick, bomb) in enumerate(self.gains):
            if self.side(i) == self.side(j):
                paid -= weights[1] * died
                paid += weights[3] * reach + weights[4] * kick + weights[5] * bomb
            else:
                paid += weights[2] * died
        return paid

    def result(self, player: Player, won: int | None) -> float:
        s, alone = self.settings, not self.settings.teams and self.settings.players == 4
        wins, loses = won == self.side(player.number), won is not None and won != self.side(player.number)
        if s.reward == "zero_sum":
            return float(wins) if not loses else (-1 / 3 if alone else -1.0)
        if self.over and wins:
            return 1.0
        if not alone:
            tie = s.players == 2 and not self.living()
            return -1.0 if self.over and not tie else 0.0
        if s.classic_quirks:
            return -1.0 if self.over or not player.alive else 0.0
        return -1.0 if self.gains[player.number][0] or (self.over and player.alive) else 0.0

    # -- what is seen ---------------------------------------------------------------------------------

    def observe(self, number: int) -> dict[str, Any]:
        s, n, me = self.settings, self.settings.size, self.players[number]
        names = ("board", "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")
        seen: dict[str, Any] = {name: np.zeros((n, n), np.uint8) for name in names}
        for cell, what in self.ground.items():
            seen["board"][cell] = what
        for bomb in self.bombs:
            seen["board"][bomb.at] = BOMB
            seen["bomb_blast_strength"][bomb.at] = bomb.blast
            seen["bomb_life"][bomb.at] = bomb.life
            seen["bomb_moving_direction"][bomb.at] = bomb.direction
        for flame in self.flames:
            seen["board"][flame.at] = FLAMES
            seen["flame_life"][flame.at] = max(seen["flame_life"][flame.at], flame.left)
        for player in self.living():
            seen["board"][player.at] = 10 + player.number
        if s.fog is not None:
            for r in range(n):
                for c in range(n):
                    if max(abs(r - me.at[0]), abs(c - me.at[1])) > s.fog:
                        for name in names:
                            seen[name][r, c] = FOG if name == "board" else 0
        mate = (number + 2) % 4 if s.teams else None
        enemies = [10 + p.number for p in self.players if p.number not in (number, mate)]
        seen |= {
            "position": me.at,
            "ammo": me.ammo,
            "blast_strength": me.blast,
            "can_kick": me.kick,
            "teammate": DUMMY if mate is None else 10 + mate,
            "enemies": (enemies + [DUMMY] * 3)[:3],
            "alive": [player.alive for player in self.players],
            "step_count": self.steps,
            "game_type": (3 if s.radio else 2) if s.teams else (1 if s.players == 4 else 4),
        }
        if s.radio:
            assert mate is not None
            seen["message"] = self.said[mate]
        return seen

    # -- from a batch --------------------------------------------------------------------------------

    def adopt(self, world: Any, w: int) -> None:
        """Takes over the game that world `w` of a `PommermanWorld` is in."""
        state, side = world.state, self.settings.size + 2

        def place(cell: Any) -> Cell:
            return int(cell) // side - 1, int(cell) % side - 1

        inner = [
            cell for cell in range(side * side) if 0 < cell // side < side - 1 and 0 < cell % side < side - 1
        ]
        self.ground = {place(cell): int(state.ground[w, cell]) for cell in inner}
        self.hidden = {place(cell): int(state.item[w, cell]) for cell in inner if state.item[w, cell]}
        self.flames = [
            Flame(place(cell), int(state.flame[w, cell])) for cell in inner if state.flame[w, cell]
        ]
        self.bombs = [
            Bomb(place(b["cell"]), int(b["owner"]), int(b["life"]), int(b["blast"]), int(b["direction"]))
            for b in state.bomb[w, : int(state.room["bombs"][w])]
        ]
        blank = Player(0, (0, 0))
        self.players = [
            replace(
                blank, number=i, at=place(a["cell"]), ammo=int(a["ammo"]), blast=int(a["blast"]),
                kick=bool(a["kick"]), alive=bool(a["alive"]), ended=bool(a["ended"]), returns=float(a["returns"]),
            )
            for i, a in enumerate(state.agent[w])
        ]  # fmt: skip
        self.said = [[int(word) for word in said] for said in state.words[w]]
        self.steps, self.over = int(state.room["steps"][w]), bool(state.room["over"][w])
        self.clear()
