"""Playthroughs are told the same way twice, and the first line that differs is named."""

import pytest

from interplay.core.errors import UserError
from interplay.core.playthrough import _agree, read_head, record_playthrough, replay_playthrough
from interplay.core.policy import RandomPolicy
from tests.checker.sound_worlds import SOUND, Camp, Mourners


class Deadlier(Mourners):
    full = 12


def record(world, steps=60, seed=4, **options):
    return record_playthrough(world(1), RandomPolicy(), steps, seed=seed, every=20, options=options)


@pytest.mark.parametrize("world", SOUND)
def test_replayed_line_by_line(world):
    text = record(world)
    assert replay_playthrough(text, lambda head: world(1)) is None


def test_ends_with_the_world_and_tells_the_end():
    lines = record(Deadlier, steps=500).splitlines()
    assert "    over" in lines
    assert any(line.startswith("    terminated: camper") for line in lines)
    assert sum(line.strip() == "acting: nobody" for line in lines) == 1


def test_head_is_read_back():
    head = read_head(record(Camp, boxes=3))
    assert (head.world, head.seed, head.every, dict(head.options)) == ("Camp", 4, 20, {"boxes": 3})


def test_other_rules_are_found_where_they_begin():
    class Richer(Camp):
        def pay(self, going):
            super().pay(going)
            self.state.reward[self.state.clock == 31] += 1

    mismatch = replay_playthrough(record(Camp), lambda head: Richer(1))
    assert mismatch.written.startswith("31 [")
    assert "-> " in mismatch.seen
    assert f"line {mismatch.line}" in str(mismatch)


def test_other_version_and_shorter_text_are_found():
    text = record(Camp)
    shorter = "\n".join(text.splitlines()[:-3])

    class Newer(Camp):
        version = 2

    assert replay_playthrough(text, lambda head: Newer(1)).seen == "version: 2"
    assert replay_playthrough(shorter, lambda head: Camp(1)).written == ""
    assert replay_playthrough(text + "more\n", lambda head: Camp(1)).written == "more"


def test_last_bits_of_floats_do_not_matter_but_whole_numbers_do():
    text = record(Camp)
    line = next(line for line in text.splitlines() if "me:" in line)
    nearly, wrong = line + "0001" if "." in line else line + ".0001", line.replace("30", "31", 1)
    assert replay_playthrough(text.replace(line, nearly, 1), lambda head: Camp(1)) is None
    assert replay_playthrough(text.replace(line, wrong, 1), lambda head: Camp(1)) is not None


def test_printed_numbers_agree_up_to_five_in_the_fourth_decimal():
    """Rounding to either side, and no rule more."""
    assert _agree("3 [1] -> 0.25 -1.5", "3 [1] -> 0.2504 -1.5")
    assert _agree("3 [1] -> 0.2504 -1.5", "3 [1] -> 0.25 -1.5")
    for told in ("0.2506 -1.5", "0.2494 -1.5", "0.25 -1.5006", "0.25 1.5", "0.25", "0.25 -1.5 0", "0.25 nan"):
        assert not _agree("3 [1] -> 0.25 -1.5", f"3 [1] -> {told}"), told
    assert not _agree("    acting: seat_1", "    acting: seat_2")  # a name's number is no number
    assert not _agree("    acting: seat_1", "    acting: seat_1.0001")


def test_a_reward_that_is_a_thousandth_off_is_found():
    class Generous(Camp):
        def pay(self, going):
            super().pay(going)
            self.state.reward[self.state.reward > 0] += 0.001

    mismatch = replay_playthrough(record(Camp), lambda head: Generous(1))
    assert mismatch is not None
    assert " -> " in mismatch.written


NO_ACTIONS = ("[", "NaN", "-1e999", '"x"', "[[1],[1,2]]", "{}", "null", "[0,0,0]", "[[7,7]]", '{"a": 1}')


@pytest.mark.parametrize("action", [*NO_ACTIONS, "[" * 5000, "9" * 5000])
def test_actions_that_nobody_took_are_refused_in_one_line(action):
    text = record_playthrough(Camp(1), RandomPolicy(), 3, seed=1)
    first = next(line for line in text.splitlines() if line.startswith("1 "))
    broken = text.replace(first, f"1 {action} -> {first.partition(' -> ')[2]}")
    try:
        found = replay_playthrough(broken, lambda head: Camp(1))
    except UserError as error:
        found = str(error)
    assert found
    assert "\n" not in found if isinstance(found, str) else found.line


@pytest.mark.parametrize("world", SOUND)
@pytest.mark.parametrize("every", [1, 7])
def test_what_is_written_is_what_the_world_said(world, every):
    """Every step has its rewards; moments in full come at least every so many steps, with who acts and every metric."""
    text = record_playthrough(world(1), RandomPolicy(), 30, seed=4, every=every)
    played, player = world(1), RandomPolicy()
    player.start(played, 4)
    step = played.reset(seeds=4)
    sections = [[]]
    for line in text.splitlines():
        if line[:1].isdigit():
            sections.append([])
        sections[-1].append(line)
    assert len(sections) > 10
    for t, lines in enumerate(sections):
        if t:
            step = played.step(player.act(step))
            assert lines[0].startswith(f"{t} ")
            rewards = [float(number) for number in lines[0].split(" -> ")[1].split()]
            assert rewards == pytest.approx(step.reward[0].tolist(), abs=5e-5)
        moment = [line.strip() for line in lines if line.startswith("    ")]
        ended = bool((step.terminated | step.truncated).any() or step.over.any())
        assert moment or (t % every and not ended), t
        if moment:
            names = [name for a, name in enumerate(played.agents) if step.acting[0, a]]
            assert f"acting: {', '.join(names) or 'nobody'}" in moment
            assert ("over" in moment) == bool(step.over[0])
            assert {line.split(":")[0] for line in moment} >= set(played.metrics)
            assert sum(line.endswith(" sees") for line in moment) == len(played.agents)
