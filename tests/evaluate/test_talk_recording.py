"""Recorded games agree with the played world; shards on disk are complete or refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.evaluate import play
from interplay.evaluate.communication import TalkFolder, TalkRecorder, read_talk, reader_of, record
from interplay.evaluate.communication.recording import BroadcastReader
from interplay.evaluate.communication.shards import INDEX, _check_entry, wrong_talk
from interplay.evaluate.communication.table import EXECUTION, KILL, TALK, join
from interplay.registry import make_policy, make_world
from tests.evaluate.talks import made_up, random_words
from tests.machines.write_points import failing


@pytest.fixture(scope="module")
def played():
    """40 games in 7 worlds, their actions, and the record."""
    world = make_world("werewolf/9-l1s9", num_worlds=7, seed=1)
    policy = make_policy(world.id, "random")
    recorder, kept = TalkRecorder(reader_of(world), log_every=1), []

    class Noting(type(policy)):
        def act(self, timestep):
            action = super().act(timestep)
            self.last = (
                np.array(action),
                np.array(timestep.acting),
                np.array(timestep.observation["status_map"]),
            )
            return action

    policy.__class__ = Noting

    def note(batch, episode):
        recorder.add(batch, episode)
        action, acting, alive = policy.last
        for w in np.flatnonzero(episode >= 0):
            kept.append((episode[w], action[w], acting[w], alive[w, 0], np.array(batch.state.reward[w])))

    table = play(world, policy, 40, seed=3, on_step=note)
    return recorder.talk(), kept, table


def same(a, b):
    for ours, theirs in ((a.games, b.games), (a.boards, b.boards)):
        for name, column in ours._asdict().items():
            np.testing.assert_array_equal(column, getattr(theirs, name), err_msg=name)
            assert column.dtype == getattr(theirs, name).dtype, name


def test_every_step_of_every_game_is_there_as_it_was_played(played):
    talk, kept, table = played
    assert talk.games.number.tolist() == list(range(40))
    assert np.bincount(talk.boards.game).tolist() == table["steps"].tolist()
    by_game = {number: [row for row in kept if row[0] == number] for number in range(40)}
    row = 0
    for number in range(40):
        for _, action, acting, alive, reward in by_game[number]:
            boards = talk.boards
            assert boards.game[row] == number
            np.testing.assert_array_equal(boards.spoke[row], acting)
            np.testing.assert_array_equal(boards.alive[row], alive)
            np.testing.assert_array_equal(boards.names[row][acting, 0], action[acting, 0])
            np.testing.assert_array_equal(boards.words[row][acting, 0], action[acting, 1])
            assert (boards.names[row][~acting] == -1).all()
            np.testing.assert_array_equal(boards.reward[row, :, 0], reward)
            row += 1
    assert row == len(talk.boards.game)


def test_results_deaths_and_phases(played):
    talk, _, table = played
    boards = talk.boards
    wolves_won = talk.games.winner == talk.about.wolves
    np.testing.assert_array_equal(wolves_won, table["win_wolf"] == 1)
    assert (talk.games.team.sum(axis=1) == 3).all()
    kinds = {
        talk.about.phases[p]: (c, k)
        for p, c, k in zip(boards.phase, boards.counted, boards.public, strict=True)
    }
    assert kinds == {
        "night_talk": (TALK, False),
        "night_kill": (KILL, False),
        "day_talk": (TALK, True),
        "day_execution": (EXECUTION, True),
    }
    chosen = boards.chosen >= 0
    assert (boards.died.sum(axis=1) == chosen).all()
    assert boards.died[np.flatnonzero(chosen), boards.chosen[chosen]].all()
    deaths = talk.deaths()
    assert len(deaths.seat) == chosen.sum()
    alive_next = boards.alive[1:] == (boards.alive[:-1] & ~boards.died[:-1])
    assert alive_next[np.diff(boards.game) == 0].all()


def test_next_votes_are_those_of_the_next_execution(played):
    talk = played[0]
    boards, votes = talk.boards, talk.next_votes()
    for row in range(len(boards.game)):
        later = [
            r
            for r in range(row + 1, len(boards.game))
            if boards.game[r] == boards.game[row] and boards.counted[r] == EXECUTION
        ]
        wanted = boards.names[later[0], :, 0] if later else np.full(talk.seats, -1)
        np.testing.assert_array_equal(votes[row], wanted)


def test_one_game_of_so_many_is_kept_whatever_the_batch(played):
    talk = played[0]
    world = make_world("werewolf/9-l1s9", num_worlds=7, seed=1)
    recorder = TalkRecorder(reader_of(world), log_every=6)
    play(world, make_policy(world.id, "random"), 40, seed=3, on_step=recorder.add)
    few = recorder.talk()
    assert few.games.number.tolist() == [0, 6, 12, 18, 24, 30, 36]
    same(few, talk.select(talk.games.number % 6 == 0))


def test_one_game_in_500_is_recorded_unless_another_number_is_given():
    """Specification 10."""
    recorder = TalkRecorder(BroadcastReader())
    world = make_world("gridworld/broadcast", num_worlds=50)
    play(world, make_policy(world.id, "random"), 501, max_steps=1, on_step=recorder.add)
    assert recorder.talk().games.number.tolist() == [0, 500]


def test_what_is_taken_is_forgotten_and_nothing_is_lost(played):
    talk = played[0]
    world = make_world("werewolf/9-l1s9", num_worlds=7, seed=1)
    recorder, parts = TalkRecorder(reader_of(world), log_every=1), []

    def note(batch, episode):
        recorder.add(batch, episode)
        if recorder.kept >= 9:
            parts.append(recorder.take())

    play(world, make_policy(world.id, "random"), 40, seed=3, on_step=note)
    parts += [part for part in (recorder.take(),) if part is not None]
    assert len(parts) > 2
    together = join(parts)
    order = np.argsort(together.games.number)
    assert together.games.number[order].tolist() == list(range(40))
    rows = np.concatenate([np.flatnonzero(together.boards.game == g) for g in order])
    np.testing.assert_array_equal(together.boards.words[rows], talk.boards.words)
    assert recorder.take() is None


def test_arms_are_recorded_as_they_were_shown():
    world = make_world("werewolf/9-l1s9", num_worlds=5, seed=1, arm="signals_off")
    talk = record(world, make_policy(world.id, "random"), reader_of(world), 10)
    assert talk.about.arm == "signals_off"
    assert (talk.boards.words[talk.boards.spoke] == 0).all()


def test_broadcasts_are_boards_too():
    world = make_world("gridworld/broadcast", num_worlds=3, seed=2)
    talk = record(world, make_policy(world.id, "random"), reader_of(world), 4, max_steps=6)
    assert talk.about.symbols == (2, 8)
    np.testing.assert_array_equal(talk.boards.spoke[0], [True] * 4 + [False] * 3)
    words = talk.boards.words[talk.boards.spoke]
    assert set(words[:, 0]) == {0, 1}
    assert ((words[:, 1] >= 0) == (words[:, 0] == 1)).all()
    # A lone world, message by message: what the others see is what is written down.
    world = make_world("gridworld/broadcast", num_worlds=1, seed=2)
    policy = make_policy(world.id, "random")
    timestep = world.reset(seeds=np.array([9], np.uint64))
    policy.start(world)
    for _ in range(4):
        timestep = world.step(policy.act(timestep))
        shown = BroadcastReader().shown(world)
        for sender in range(4):
            seen = timestep.observation["broadcaster"][f"message.broadcaster{sender}"][0, :, 0]
            heard = {float(x) for viewer, x in enumerate(seen) if viewer != sender and x != 0}
            assert shown.words[0, sender, 0] == bool(heard)
            if heard:
                (message,) = heard
                assert shown.words[0, sender, 1] == min(int((message + 1) * 4), 7)


class ThreeBins(BroadcastReader):
    def __init__(self):
        super().__init__(bins=3)


def test_a_world_says_who_reads_its_boards():
    world = make_world("gridworld/broadcast", num_worlds=2)
    world.instruments = {"talk": f"{__name__}:ThreeBins"}
    talk = record(world, make_policy(world.id, "random"), reader_of(world), 2, max_steps=4)
    assert talk.about.symbols == (2, 3)


def test_shards_give_back_the_table(tmp_path, played):
    talk = played[0]
    with TalkFolder(tmp_path / "games") as folder:
        folder.append(talk.select(talk.games.number < 15))
    with TalkFolder(tmp_path / "games") as folder:
        assert folder.games == 15
        folder.append(talk.select(talk.games.number >= 15))
    back = read_talk(tmp_path / "games")
    same(back, talk)
    assert back.about == talk.about


def test_a_recorder_is_flushed_game_by_game(tmp_path, played):
    world = make_world("werewolf/9-l1s9", num_worlds=7, seed=1)
    recorder = TalkRecorder(reader_of(world), log_every=1)
    with TalkFolder(tmp_path) as folder:

        def note(batch, episode):
            recorder.add(batch, episode)
            folder.flush(recorder, least=10)

        play(world, make_policy(world.id, "random"), 40, seed=3, on_step=note)
        folder.flush(recorder)
    assert sorted(read_talk(tmp_path).games.number.tolist()) == list(range(40))
    assert len(list(tmp_path.glob("talk-*.safetensors"))) > 2


def test_torn_changed_or_missing_shards_are_refused_in_one_line(tmp_path):
    talk = made_up(random_words((3,)), games=5, symbols=(3,))
    with TalkFolder(tmp_path) as folder:
        path = folder.append(talk)
    whole = path.read_bytes()
    for damage in (whole[:-7], whole[:900] + bytes([whole[900] ^ 1]) + whole[901:]):
        path.write_bytes(damage)
        with pytest.raises(UserError, match=r"torn or changed.*restore the file"):
            read_talk(tmp_path)
    entry = json.loads((tmp_path / INDEX).read_text())
    _check_entry(tmp_path / INDEX, path.name, entry)
    for damage in ({"games": -1}, {"games": "5"}, {"bytes": 2**62}, {"bytes": 1.5}, {"sha256": 3}):
        with pytest.raises(UserError, match="names no recorded games"):
            _check_entry(tmp_path / INDEX, path.name, entry | damage)
    path.unlink()
    with pytest.raises(UserError, match="reading"):
        read_talk(tmp_path)
    with pytest.raises(UserError, match="no recorded games"):
        read_talk(tmp_path / "elsewhere")


@pytest.mark.parametrize("point", ["shard: half written", "shard: written", "results: part written"])
def test_a_kill_while_a_shard_is_written_leaves_the_earlier_games(tmp_path, point):
    talk = made_up(random_words((3,)), games=5, symbols=(3,))
    with TalkFolder(tmp_path) as folder:
        folder.append(talk)
        with pytest.raises(KeyboardInterrupt), failing(point, KeyboardInterrupt()):
            folder.append(talk)
    assert len(read_talk(tmp_path)) == 5
    with TalkFolder(tmp_path) as folder:
        folder.append(talk)
    assert len(read_talk(tmp_path)) == 10
    assert (tmp_path / INDEX).read_text().count("\n") == 2


def test_games_of_another_kind_are_refused(tmp_path):
    with TalkFolder(tmp_path) as folder:
        folder.append(made_up(random_words((3,)), games=2, symbols=(3,)))
        with pytest.raises(UserError, match="choose another folder"):
            folder.append(made_up(random_words((4,)), games=2, symbols=(4,)))


def test_a_recorded_game_is_played_again_from_its_record_alone(played):
    """Ties and deals follow from the recorded random stream and actions."""
    talk = played[0]
    world = make_world("werewolf/9-l1s9", num_worlds=len(talk), seed=77)
    world.reset(seeds=talk.games.stream[:, 0])
    np.testing.assert_array_equal(world.state.role, talk.games.role)
    recorder, boards = TalkRecorder(reader_of(world), log_every=1), talk.boards
    first = np.searchsorted(boards.game, np.arange(len(talk)))
    length = np.bincount(boards.game)
    for step in range(int(length.max())):
        row = first + np.minimum(step, length - 1)
        names = np.where(boards.names[row] < 0, talk.seats, boards.names[row])
        action = np.concatenate([names, np.maximum(boards.words[row], 0)], axis=2)
        world.step(action.astype(np.int16))
        recorder.add(world, np.where(step < length, np.arange(len(talk)), -1))
    same(recorder.talk(), talk)


def test_columns_wider_than_they_are_recorded_are_refused(played):
    """A word 2^27 would make a table of gigabytes from a small file."""
    talk = played[0]
    about = talk.about._replace(symbols=(2**27,))
    assert wrong_talk(about, talk.games, talk.boards) is None
    for name, kind in {"words": np.int64, "day": np.int32, "names": np.int32}.items():
        boards = talk.boards._replace(**{name: getattr(talk.boards, name).astype(kind)})
        assert f"column {name} is {np.dtype(kind)}" in str(wrong_talk(about, talk.games, boards))
    games = talk.games._replace(role=talk.games.role.astype(np.int64))
    assert "column role is int64" in str(wrong_talk(about, games, talk.boards))


def test_words_of_a_seat_in_no_team_are_refused(played):
    """They would have counted for the last team."""
    talk = played[0]
    row, seat = np.argwhere(talk.boards.spoke)[0]
    team = talk.games.team.copy()
    team[talk.boards.game[row], seat] = -1
    said = wrong_talk(talk.about, talk.games._replace(team=team), talk.boards)
    assert said == "column spoke has words of a seat that is in no team"
