"""Every number of the Doom games once. Source: specification 7.

Times are tics, 35 a second; lengths are the map's units; angles are degrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Reward, Settings

TICS_PER_SECOND = 35
MOST_PLAYERS = 8  # of a match, bots not counted (specification 7.1)
MOST_BOTS = 7
RESPAWN_DELAY = 10  # seconds (specification 7.1)

Resolution = Literal[
    "160x120", "200x150", "256x144", "320x180", "320x200", "320x240", "400x225", "400x300", "640x480"
]
Variable = Literal["health", "ammo", "armour", "frags", "dead"]
Button = Literal[
    "attack",
    "use",
    "jump",
    "crouch",
    "turn180",
    "altattack",
    "reload",
    "zoom",
    "speed",
    "strafe",
    "move_right",
    "move_left",
    "move_backward",
    "move_forward",
    "turn_right",
    "turn_left",
    "look_up",
    "look_down",
    "select_weapon1",
    "select_weapon2",
    "select_weapon3",
    "select_weapon4",
    "select_weapon5",
    "select_weapon6",
    "select_weapon7",
    "select_next_weapon",
    "select_prev_weapon",
]

# Full values: a variable is divided by its own and clipped to 0..1 (specification 7.3; armour and frags are our choice).
FULL = {"health": 100.0, "ammo": 15.0, "armour": 100.0, "frags": 20.0, "dead": 1.0}

# Reward vector (specification 7.5).
COMPONENTS = (
    *("navigation", "kill", "lost_frag", "hit", "hit_taken"),
    *("heal", "ammo", "wasted_shot", "armour", "movement"),
)
WEIGHTS = (1.0, *[0.1] * 8, 0.001)
HEAL = (5.0, 25.0)  # a rise of health above the first and up to the second counts
AMMO = (1.0, 2.0, 5.0)  # rises that count
MOVED, STOOD = 4.0, 0.6  # units a decision
MOVING, STANDING, CREEPING = 0.001, -0.006, -0.0005
ROOMS = 18  # entered squares after which all count as new again
ROOM = (
    512.0  # side of a square that stands for a room: the rooms of cig2017 are not published with the engine
)

# Rules after the policy's choice (specification 7.4).
SAME_TURNS = 3  # more equal turns running become a turn by degrees
TURN = 20.0  # degrees a decision
SAME_MOVES = 16  # moves running, of which every multiple becomes a turn of 180 degrees
AFTER_SHOT = 3  # decisions without speed
BLAST = 128.0 + 16.0  # units: reach of an exploding barrel, and the radius of a player

START = 120.0  # seconds in which the engines of a match start and meet
LOST_IN_A_ROW = 3  # starts of one match that may fail


class DoomSettings(Settings):
    """Settings of one match."""

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "navigate": ("post_rules", True),
        "buttons": ("actions", "buttons"),
        "weights": ("reward", "vector"),
        "living_reward": ("reward", "engine"),
    }

    map: Literal["basic", "cig", "duel", "deathmatch"] = "cig"  # files of the vizdoom package
    wad: str = ""  # path of another map file
    level: Annotated[str, Field(pattern="^[A-Za-z0-9_]{1,8}$")] = "map01"  # in the file
    players: Annotated[int, Field(ge=1, le=MOST_PLAYERS)] = 1
    bots: Annotated[int, Field(ge=0, le=MOST_BOTS)] = 0  # built-in players, which are not observed
    tics: Annotated[int, Field(ge=1, le=1_000_000)] = 21_000  # of an episode, 10 minutes (specification 7.1)
    start: Annotated[int, Field(ge=1, le=1_000)] = 10  # first tic of an episode (specification 7.1)
    frames: Annotated[int, Field(ge=1, le=100)] = 2  # tics of a decision (specification 7.1)
    skill: Annotated[int, Field(ge=1, le=5)] = 3
    respawn_delay: Annotated[int, Field(ge=0, le=60)] = RESPAWN_DELAY
    no_cheat: bool = False  # the engine gives no labels, depth and positions (specification 7.3)
    resolution: Resolution = "160x120"
    colour: bool = True
    labels: bool = False  # classes of the things in the picture
    enemies: bool = False  # monsters and other players in the picture, 255 each, by the labels
    depth: bool = False
    automap: bool = False
    variables: tuple[Variable, ...] = ("health", "ammo")
    actions: Literal["discrete7", "trained6", "basic3", "buttons"] = "discrete7"
    buttons: tuple[Button, ...] = (
        "attack",
        "move_forward",
        "turn_left",
        "turn_right",
    )  # of actions = "buttons"
    post_rules: bool = False  # rules after the policy's choice (specification 7.4)
    navigate: bool = False  # with post_rules: attack becomes a side move
    suppress_fire: bool = False  # no shot without an enemy among the labels, for training (specification 7.4)
    avoid_barrel: bool = False  # no shot at a barrel within its blast (specification 7.4)
    reward: Literal["vector", "engine"] = "vector"
    weights: Annotated[tuple[Reward, ...], Field(min_length=10, max_length=10)] = WEIGHTS
    living_reward: Annotated[float, Field(ge=-1_000, le=1_000)] = -0.0001  # a tic, of reward = "engine"
    deadline: Annotated[float, Field(gt=0, le=3_600)] = 30.0  # seconds of a step, then the match is given up

    @model_validator(mode="after")
    def _fits(self) -> DoomSettings:
        if self.post_rules and self.actions == "buttons":
            raise ValueError(
                'post_rules needs single choices; choose actions = "discrete7", "trained6" or "basic3"'
            )
        if (self.suppress_fire or self.avoid_barrel) and (self.no_cheat or not self.labelled):
            raise ValueError(
                "suppress_fire and avoid_barrel read labels; pass labels or enemies = true and no_cheat = false"
            )
        if not self.hosted and (self.no_cheat or self.respawn_delay != RESPAWN_DELAY):
            raise ValueError("no_cheat and respawn_delay do nothing in games of one player on this map")
        sides = self.players + self.bots
        # deathmatch has two starts: with bots the engine ends the match at a learner's first death.
        crowded = {"basic": self.together, "duel": sides > 2, "deathmatch": self.bots > 0}.get(self.map)
        if crowded and not self.wad:
            raise ValueError(
                f'map = "{self.map}" has too few starts; set fewer players or bots, or another map'
            )
        if len(set(self.buttons)) < len(self.buttons) or not self.buttons:
            raise ValueError(f"buttons = {self.buttons}; name each button once, and at least one")
        if len(set(self.variables)) < len(self.variables) or not self.variables:
            raise ValueError(f"variables = {self.variables}; name each variable once, and at least one")
        return self

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the screen, pixels."""
        width, height = map(int, self.resolution.split("x"))
        return height, width

    @property
    def labelled(self) -> bool:
        """Whether the engine labels things."""
        return self.labels or self.enemies

    @property
    def together(self) -> bool:
        """Whether the match has several sides."""
        return self.players + self.bots > 1

    @property
    def hosted(self) -> bool:
        """Whether the engine hosts a match over the loopback; the included maps of death matches have no other start."""
        return self.together or (not self.wad and self.map != "basic")


VARIANTS: dict[str, dict[str, Any]] = {
    # basic.cfg of the vizdoom package: 300 tics from tic 14, -1 a tic, skill 5, three buttons.
    "basic": {
        "map": "basic",
        "tics": 300,
        "start": 14,
        "skill": 5,
        "actions": "basic3",
        "reward": "engine",
        "living_reward": -1.0,
    },
    "duel": {"map": "duel", "players": 2, "tics": 4_200},  # two minutes
    "deathmatch": {"map": "cig", "players": 8},
}
"""The named variants: name -> settings that differ from the defaults."""
