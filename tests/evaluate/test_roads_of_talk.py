"""The figures that `interplay talk` prints against counts over the boards of the file that it wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import log2

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.cli.command import typed
from tests.evaluate.roads import table

PHASES, EXECUTION = ("night_talk", "night_kill", "day_talk", "day_execution"), 2
MEASURES = (
    "signal-role",
    "signal-vote",
    "signal-named-role",
    "signal-differs",
    "heard-vote",
    "heard-named-me",
)


@pytest.fixture
def told(capsys, tmp_path):
    """What was printed, and the arrays of the file."""
    code, out, errors = typed(
        capsys, "talk", "random", "--against", "muted_wolf", "--world", "werewolf/9-l1s9", "--games", "61", "--seed", "2",
        "--permutations", "60", "--num-worlds", "16", "--arm", "none", "--no-probe", "--out", tmp_path / "games",
    )  # fmt: skip
    assert code == 0, errors
    (file,) = (tmp_path / "games").glob("*.safetensors")
    return out, load_file(file)


def counted(arrays, order=None):
    """Measure -> (phase, day) -> (word, name, other variable) of every case, board by board.

    Args:
        order: dealt word and name of each seat of a board; None: as they were.
    """
    b = {
        name.removeprefix("boards."): values for name, values in arrays.items() if name.startswith("boards.")
    }
    cases = {name: defaultdict(list) for name in MEASURES}
    for row in np.flatnonzero(b["public"]):
        game, spot = b["game"][row], (PHASES[b["phase"][row]], int(b["day"][row]))
        team, seats = arrays["games.team"][game], np.flatnonzero(b["spoke"][row])
        source = dict(zip(seats, seats if order is None else order(seats), strict=True))
        word = {seat: int(b["words"][row, source[seat], 0]) for seat in seats}
        name = {seat: int(b["names"][row, source[seat], 0]) for seat in seats}
        later = [
            r for r in range(row + 1, len(b["game"])) if b["game"][r] == game and b["counted"][r] == EXECUTION
        ]
        votes = (
            {s: int(b["names"][later[0], s, 0]) for s in range(9) if b["spoke"][later[0], s]} if later else {}
        )
        for seat in seats:
            said = word[seat], name[seat]
            cases["signal-role"][spot].append((*said, int(team[seat])))
            vote = votes.get(seat, -1)
            if vote >= 0:
                cases["signal-vote"][spot].append((*said, vote))
                cases["signal-named-role"][spot].append((*said, int(team[vote])))
                if vote in word:
                    cases["signal-differs"][spot].append((*said, int(word[vote] != word[seat])))
            for other in set(seats) - {seat}:
                if votes.get(other, -1) >= 0:
                    cases["heard-vote"][spot].append((*said, votes[other]))
                    cases["heard-named-me"][spot].append((*said, int(votes[other] == seat)))
    return cases


def bits(pairs):
    """The mutual information of two variables, from their pairs."""
    both, left, right, n = (
        Counter(pairs),
        Counter(a for a, _ in pairs),
        Counter(b for _, b in pairs),
        len(pairs),
    )
    return sum(count / n * log2(count * n / (left[a] * right[b])) for (a, b), count in both.items())


def gathered(spots, where):
    """The cases of a place as it is printed: all, a phase, or a day of a phase."""
    phase, _, day = where.partition(", day ")
    return [
        case
        for spot, own in spots.items()
        if phase in ("all", spot[0]) and day in ("", str(spot[1]))
        for case in own
    ]


def test_information_is_that_of_the_boards_in_the_file(told):
    out, arrays = told
    cases = counted(arrays)
    for measure in MEASURES:
        rows = table(out, f"{measure}: ")[1:]
        places = {row[1] for row in rows}
        assert {"all", "day_talk", "day_execution", "day_talk, day 0", "day_talk, day 1"} <= places
        for part, where, _, found, *_ in rows:
            own = [
                (case[0 if part == "symbol 0" else 1], case[2]) for case in gathered(cases[measure], where)
            ]
            assert float(found) == pytest.approx(bits(own), abs=6e-6), (measure, part, where)
        for _, where, number, *_ in rows if measure.startswith("signal") else ():
            assert int(number.replace(",", "")) == len(gathered(cases[measure], where)), (measure, where)


def test_the_null_deals_word_and_name_among_the_speakers_of_a_board(told):
    out, arrays = told
    rng = np.random.default_rng(8)
    dealt = [counted(arrays, rng.permutation) for _ in range(60)]
    for measure in ("signal-role", "signal-differs", "heard-named-me"):
        for part, where, _, observed, mean, high, corrected, p, *above in table(out, f"{measure}: ")[1:]:
            column = 0 if part == "symbol 0" else 1
            null = [bits([(c[column], c[2]) for c in gathered(d[measure], where)]) for d in dealt]
            error = np.std(null, ddof=1) * np.sqrt(2 / 60)
            assert abs(float(mean) - np.mean(null)) < 5 * error, (measure, part, where)
            assert float(corrected) == pytest.approx(float(observed) - float(mean), abs=2e-5)
            assert above == (["above"] if float(observed) > float(high) else [])
            assert float(p) * 61 == pytest.approx(round(float(p) * 61), abs=0.05)


def test_other_statistics_are_those_of_the_boards_in_the_file(told):
    out, arrays = told
    cases = counted(arrays)
    role = [(word, team) for word, _, team in gathered(cases["signal-role"], "all")]
    by_team = [Counter(word for word, team in role if team == one) for one in (0, 1)]
    sizes, both = [sum(own.values()) for own in by_team], Counter(word for word, _ in role)
    context = []
    for own, size in zip(by_team, sizes, strict=True):
        word = max(sorted(both), key=lambda k, own=own: own[k] / both[k])
        context.append(own[word] / both[word] * own[word] / size)
    expected = {
        ("context independence", "symbol 0"): np.mean(context),
        ("distance of the teams' words", "symbol 0"): sum(
            abs(by_team[0][word] / sizes[0] - by_team[1][word] / sizes[1]) for word in both
        ) / 2,
        ("votes that follow the own talk", "name"): np.mean(
            [name == vote for _, name, vote in gathered(cases["signal-vote"], "all")]
        ),
        ("votes for another word", "symbol 0"): np.mean(
            [differs for *_, differs in gathered(cases["signal-differs"], "all")]
        ),
    }  # fmt: skip
    found = {(row[0], row[1]): float(row[3]) for row in table(out, "other statistics")[1:]}
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, abs=6e-6), key
