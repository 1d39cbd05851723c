"""A game in words: hand-made moments against the text that they should give."""

from __future__ import annotations

import io
import textwrap

import numpy as np
import pytest
from rich.console import Console

import interplay
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.transcript import plain
from interplay.view.transcript import print_lines, transcript
from interplay.worlds.werewolf.drawing.chronicle import describe
from interplay.worlds.werewolf.state import BY_POISON, BY_SHOT, BY_TEETH, BY_VOTE
from tests.view.scenes import WalkWorld
from tests.worlds.werewolf.hand_made import DAY_EXECUTION, DAY_TALK, NIGHT_KILL, NIGHT_TALK, Game

VILLAGE = ["villager", "villager", "werewolf", "villager", "villager", "seer"]


def told(game: Game, privileged: bool = False) -> str:
    return "\n".join(plain(said) for said in describe(game.moment(privileged), game.settings))


def expected(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def vote() -> Game:
    game = Game(VILLAGE, signal_length=2, signal_range=12).played(DAY_EXECUTION, NIGHT_TALK, day=1)
    game.board({0: 3, 1: 3, 2: 0, 3: 3, 4: -1}, {0: (1, 11), 1: (0, 0), 2: (7, 3), 3: (2, 2), 4: (5, 6)})
    game.died(5, BY_TEETH, step=2).died(3, BY_VOTE)
    game.room["chosen"] = 3
    return game


def test_a_vote_is_told_as_a_board_with_a_row_per_seat():
    assert told(vote()) == expected("""
        day 1, day execution
        seat  names  word
           0      3  1 11
           1      3  0 0
           2      0  7 3
           3      3  2 2
           4      -  5 6
           5  eaten
        votes: 3 x 3, 0 x 1
        seat 3 is executed
        """)


def test_the_end_unmasks_everybody():
    assert told(vote().over(1)) == expected("""
        day 1, day execution
        seat  role  names  word
           0     v      3  1 11
           1     v      3  0 0
           2     W      0  7 3
           3     v      3  2 2
           4     v      -  5 6
           5     s  eaten
        votes: 3 x 3, 0 x 1
        seat 3 is executed
        the wolves win
        werewolf: 2
        seer: 5
        """)


def test_a_night_is_told_to_the_public_by_its_deaths_alone():
    game = Game(VILLAGE).played(NIGHT_KILL, DAY_TALK).board({2: 4}).died(4, BY_TEETH)
    game.room["chosen"] = 4
    assert told(game) == "day 0, night kill\nseat 4 is eaten"
    assert told(game, privileged=True) == expected("""
        day 0, night kill
        seat  role  names
           0     v      -
           1     v      -
           2     W      4
           3     v      -
           4     v      -
           5     s      -
        votes: 4 x 1
        seat 4 is eaten
        """)


def test_abilities_are_told_by_privilege_alone():
    game = Game([*VILLAGE, "guard"]).played(NIGHT_KILL, DAY_TALK).board({2: 4})
    game.state.known[0, 5, [2, 4]] = 1, 0
    game.state.guarded[0, 6] = 4
    secrets = ["seer 5 knows: 2 is a wolf, 4 is human", "guard 6 stands before 4"]
    assert told(game, privileged=True).splitlines()[-3:] == [*secrets, "nobody dies this night"]
    assert told(game) == "day 0, night kill\nnobody dies this night"


def test_the_beginning_names_the_crew():
    game = Game([*VILLAGE, "werewolf"], signal_length=1).played(-1, NIGHT_TALK)
    assert told(game) == expected("""
        the game begins with the night talk
        7 players: 4 villagers, 2 werewolves, 1 seer
        """)


def test_talk_rounds_ballots_and_claims_are_told():
    options = {"signal_length": 1, "claims": True, "ballot_len": 3, "vote_depth": 2, "talk_rounds_day": 3}
    game = Game(["werewolf", "villager", "villager"], first_phase="day_talk", **options)
    game.played(DAY_TALK, DAY_TALK, round=1)
    game.board({0: (1, 2, 0), 1: (0, 0, -1)}, {0: (4, 2, 1, 1), 1: (8, 1, 3, 2)})
    assert told(game) == expected("""
        day 0, day talk, round 2 of 3
        seat  names  word
           0  1>2>0  4 accuse 1 werewolf
           1    0>0  8 claim seer
           2      -
        named: 0 x 1, 1 x 1, 2 x 1
        """)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda game: game.played(DAY_EXECUTION, NIGHT_TALK), "nobody is executed"),
        (lambda game: game.played(NIGHT_KILL, DAY_TALK), "nobody dies this night"),
        (lambda game: game.played(4, DAY_TALK).died(1, BY_POISON), "seat 1 is poisoned"),
        (lambda game: game.played(5, DAY_TALK).died(1, BY_SHOT), "seat 1 is shot"),
        (lambda game: game.played(DAY_EXECUTION, NIGHT_TALK, day=3).over(-1), "the game is cut after 4 days"),
        (lambda game: game.played(DAY_EXECUTION, NIGHT_TALK).over(0), "the villagers win"),
    ],
)
def test_what_comes_of_a_phase_is_one_line(change, said):
    game = Game(VILLAGE)
    change(game)
    game.room["cut"] = game.room["over"] and game.room["winner"] < 0
    assert said in told(game).splitlines()


def test_a_tie_that_is_voted_on_again_is_told():
    game = Game(VILLAGE, tie="revote").played(DAY_EXECUTION, DAY_EXECUTION).board({0: 1, 1: 0})
    game.state.suspect[0, :2], game.room["stage"] = True, 1
    assert "the vote is tied: another one among 0 and 1" in told(game)
    assert "nobody is executed" not in told(game)


def test_a_long_word_is_cut_and_says_by_how_much():
    game = Game(VILLAGE, signal_length=40).played(DAY_TALK, DAY_EXECUTION)
    game.board({0: 1}, {0: np.zeros(40)})
    row = told(game).splitlines()[2]
    assert row.endswith("0 0 and 16 more")


def test_a_transcript_tells_every_step_and_the_same_seed_tells_the_same():
    texts = []
    for seed in (3, 3, 4):
        world = interplay.make_world("werewolf/9-l1s9")
        texts.append([plain(said) for said in transcript(world, RandomPolicy(), seed=seed)])
        steps = [int(said[:3]) for said in texts[-1][1:] if said[:3].strip()]
        assert steps == list(range(int(world.state.stream[0, 2]) + 1))
    assert texts[0] == texts[1]
    assert texts[0][1:] != texts[2][1:]
    assert texts[0][0] == "werewolf/9-l1s9, seed 3"
    assert any(said.endswith(" win") for said in texts[0])


def test_several_episodes_are_numbered():
    world = interplay.make_world("werewolf/6")
    heads = [
        plain(said) for said in transcript(world, RandomPolicy(), episodes=2) if "episode" in plain(said)
    ]
    assert heads == ["werewolf/6, seed 0, episode 1 of 2", "werewolf/6, seed 0, episode 2 of 2"]


def test_a_world_without_words_tells_its_scene():
    lines = [plain(said) for said in transcript(WalkWorld(length=2), RandomPolicy())]
    assert [said.split()[0] for said in lines if said.rstrip().endswith("-+")][::2] == ["0", "1", "2"]
    endless = WalkWorld(length=10**9)
    endless.persistent = True
    with pytest.raises(UserError, match="max_steps"):
        next(transcript(endless, RandomPolicy()))


def test_a_terminal_gets_colours_and_a_file_none():
    lines = list(describe(vote().moment(privileged=True), vote().settings))
    coloured, flat = io.StringIO(), io.StringIO()
    print_lines(iter(lines), Console(file=coloured, force_terminal=True, color_system="truecolor"))
    print_lines(iter(lines), Console(file=flat))
    assert flat.getvalue() == "".join(plain(said) + "\n" for said in lines)
    assert "\x1b[38;2;0;114;178m0 " in coloured.getvalue()  # symbol 0 in the palette's blue
    assert "[" not in flat.getvalue()
