"""Every figure of the report of `interplay talk` stands under the head that names it."""

from __future__ import annotations

import numpy as np

from interplay.cli import talking_text
from interplay.evaluate.communication.belief import Calibration
from interplay.evaluate.communication.deception import Share
from interplay.evaluate.communication.games import Ablation
from interplay.evaluate.communication.listening import Influence
from interplay.evaluate.communication.null import Finding
from interplay.evaluate.communication.probe import Probed
from interplay.evaluate.communication.report import Language, TalkReport
from interplay.evaluate.communication.werewolf.believing import Beliefs
from interplay.evaluate.statistics import Estimate
from tests.evaluate.wild_talks import wild_talk


def finding(statistic: str, part: str) -> Finding:
    return Finding("signal-role", statistic, part, "all", None, 1_234, 0.5, 0.125, 0.25, 0.0625, 0.01, 99)


def calibration(base: float) -> Calibration:
    return Calibration(
        321, Estimate(base, 0.01, 9), Estimate(base + 1, 0.02, 9), base + 2, base + 3,
        Estimate(base + 4, 0.03, 9), Estimate(base + 5, 0.04, 9), base + 6, np.zeros((10, 3)),
    )  # fmt: skip


REPORT = TalkReport(
    games=7,
    boards=8,
    utterances=9,
    permutations=99,
    findings=[finding("information", "name"), finding("context", "name")],
    language=[Language("talk", 2, "all", 55, 1.5, 2.5, 6, 0.75, (3, 1))],
    deception=[Share("bussing", 44, 0.5, 0.25, 0.125, 0.375, 0.01, 0.99, 99)],
    probes=[Probed("logistic", 1, 33, 0.75, 0.5, 0.625, 0.375, 0.02, 99)],
    transfer=[Probed("gru", None, 22, 0.25, 0.5, 0.625, 0.375, 0.98, 99)],
    ablations=[
        Ablation("talk_off", "win_vil", Estimate(0.75, 0.1, 9), Estimate(0.25, 0.1, 9), 0.5, 0.0625, 9, 0.01)
    ],
    influences=[
        Influence("vote", "villager", 12, (0, 3), 34, Estimate(0.5, 0.1, 9), Estimate(0.25, 0.2, 9), 0.0)
    ],
    beliefs=Beliefs(calibration(10.0), calibration(20.0)),
)
NULL = {"cases": "1,234", "null": "0.12500", "null 95 %": "0.25000", "p": "0.01", "": "above"}
TABLES = {  # title's beginning -> head -> what stands below it, row by row
    "words": {
        "where": ["talk, day 2"], "words": ["55"], "bits": ["1.500"], "most": ["2.500"], "unique": ["6"],
        "commonest": ["0.750"], "it is": ["3 1"],
    },
    "signal-role": {
        **{head: [cell] for head, cell in NULL.items()},
        "said": ["name"], "where": ["all"], "bits": ["0.50000"], "corrected": ["+0.37500"],
    },
    "other statistics": {
        **{head: [cell] for head, cell in NULL.items()},
        "statistic": ["context independence"], "of": ["name"], "observed": ["0.50000"], "above it": ["+0.37500"],
    },
    "deception": {
        "share": ["bussing"], "cases": ["44"], "observed": ["0.5000"], "null": ["0.2500"],
        "null 5 .. 95 %": ["0.1250 .. 0.3750"], "": ["more than chance"],
    },
    "roles told": {
        "model": ["logistic"], "history": ["to day 1"], "seats": ["33"], "AUC": ["0.7500"], "null": ["0.5000"],
        "null 95 %": ["0.6250"], "p": ["0.02"], "": ["above"],
    },
    "the same probe": {
        "model": ["gru"], "history": ["all days"], "seats": ["22"], "AUC": ["0.2500"], "null": ["0.5000"],
        "null 95 %": ["0.6250"], "p": ["0.98"], "": [""],
    },
    "win_vil with parts": {
        "arm": ["talk_off"], "normal": ["0.7500"], "arm's": ["0.2500"], "lost": ["+0.5000"], "error": ["0.0625"],
        "p": ["0.01"], "": ["listens"],
    },
    "board edits": {
        "population": ["villager"], "phase": ["vote"], "viewers": ["12"], "days": ["0-3"], "name": [str(Estimate(0.5, 0.1, 9))],
        "word": [str(Estimate(0.25, 0.2, 9))], "unseen rows": ["0"],
    },
    "beliefs about living others when voting by day, 321": {
        "who": ["players", "exact observer", "the same for all", "players - observer"],
        "Brier": ["10 ± 0.01", "20 ± 0.01", "12.0000", "14 ± 0.03"],
        "log score, bits": ["11 ± 0.02", "21 ± 0.02", "13.0000", "15 ± 0.04"],
    },
}  # fmt: skip


def test_every_figure_stands_under_its_head(monkeypatch):
    told = {}

    def keep(title, heads, rows):
        told[title] = {head: [row[i] for row in rows] for i, head in enumerate(heads)}

    monkeypatch.setattr(talking_text, "_table", keep)
    talking_text.show(REPORT, wild_talk(1), "hunter", "random", 11)
    assert len(told) == len(TABLES)
    for beginning, expected in TABLES.items():
        (table,) = (table for title, table in told.items() if title.startswith(beginning))
        assert table == expected, beginning


def test_the_head_says_what_was_asked_for_and_the_verdicts_follow(capsys):
    talking_text.show(REPORT, wild_talk(1), "hunter", "random", 11)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "hunter against random on wild, seed 11: 7 games, 8 public boards, 9 utterances, 99 permutations"
    )
    verdicts = dict(line.strip().rsplit("  ", 1) for line in lines[1:5])
    assert {key.strip(): value.strip() for key, value in verdicts.items()} == {
        "positive signalling": "yes",
        "positive listening": "yes",
        "roles show in public": "not looked at",
        "one-word collapse": "no",
    }
