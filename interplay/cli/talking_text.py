"""The report of `interplay talk` as tables."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from interplay.cli.printing import print_aligned
from interplay.evaluate.communication import Talk, TalkReport
from interplay.evaluate.communication.null import Finding
from interplay.evaluate.communication.signals import headline_parts

MEANINGS = {
    "signal-role": "what was said, and the speaker's team",
    "signal-vote": "what was said, and the speaker's next vote",
    "signal-named-role": "what was said, and the team of whom the speaker votes for",
    "signal-differs": "what was said, and whether the speaker votes for somebody who said another word",
    "heard-vote": "what was said, and whom the others vote for",
    "heard-named-me": "what was said, and whether others vote for its speaker",
}
STATISTICS = {
    "context": "context independence",
    "distance": "distance of the teams' words",
    "agreement": "votes that follow the own talk",
    "share": "votes for another word",
}


def show(report: TalkReport, talk: Talk, player: str, against: str, seed: int) -> None:
    """Prints everything that was measured, each figure beside its null.

    Args:
        report: what was measured.
        talk: the games.
        player, against, seed: the options.
    """
    opponent = f" against {against}" if against else ""
    arm = "" if talk.about.arm == "full" else f", arm {talk.about.arm}"
    typer.echo(
        f"{player}{opponent} on {talk.about.world}{arm}, seed {seed}: {report.games:,} games, {report.boards:,} public boards, "
        f"{report.utterances:,} utterances, {report.permutations:,} permutations"
    )
    _verdicts(report)
    _language(report)
    _information(report)
    _others(report)
    _deception(report)
    _probes(report)
    _ablations(report)
    _influences(report)
    _beliefs(report)


def _verdicts(report: TalkReport) -> None:
    words = {None: "not looked at", True: "yes", False: "no"}
    typer.echo(f"  positive signalling     {words[report.signalling]}")
    typer.echo(f"  positive listening      {words[report.listening]}")
    typer.echo(f"  roles show in public    {words[report.roles_show]}")
    if report.language:
        typer.echo(f"  one-word collapse       {words[report.collapsed]}")


def _language(report: TalkReport) -> None:
    rows = [
        (
            where(entry.phase, entry.day) if entry.team == "all" else entry.team,
            f"{entry.number:,}",
            f"{entry.entropy:.3f}",
            f"{entry.most_entropy:.3f}",
            f"{entry.unique:,}",
            f"{entry.commonest:.3f}",
            " ".join(map(str, entry.word[:12])),
        )
        for entry in report.language
    ]
    _table("words", ("where", "words", "bits", "most", "unique", "commonest", "it is"), rows)


def _information(report: TalkReport) -> None:
    informative = [f for f in report.findings if f.statistic == "information"]
    parts = {*headline_parts(report.findings), "word"}
    for measure in dict.fromkeys(f.measure for f in informative):
        rows = [_beside(f) for f in informative if f.measure == measure and f.part in parts]
        _table(f"{measure}: bits between {MEANINGS[measure]}", _heads("bits"), rows)


def _others(report: TalkReport) -> None:
    rows = [
        (STATISTICS[f.statistic], *_beside(f)[:1], *_beside(f)[2:])
        for f in report.findings
        if f.statistic in STATISTICS and f.phase == "all" and f.part != "best symbol"
    ]
    heads = ("statistic", "of", "cases", "observed", "null", "null 95 %", "above it", "p", "")
    _table("other statistics, all days", heads, rows)


def _deception(report: TalkReport) -> None:
    rows = [
        (
            share.name,
            f"{share.number:,}",
            _number(share.observed),
            _number(share.null_mean),
            f"{_number(share.null_05)} .. {_number(share.null_95)}",
            share.unusual and f"{share.unusual} than chance",
        )
        for share in report.deception
    ]
    _table("deception", ("share", "cases", "observed", "null", "null 5 .. 95 %", ""), rows)


def _probes(report: TalkReport) -> None:
    for title, probes in (
        ("roles told from public history, by games that were not fitted", report.probes),
        ("the same probe on the other run", report.transfer),
    ):
        rows = [
            (
                probed.model,
                "all days" if probed.day is None else f"to day {probed.day}",
                f"{probed.seats:,}",
                f"{probed.observed:.4f}",
                f"{probed.null_mean:.4f}",
                f"{probed.null_95:.4f}",
                f"{probed.p:.3g}",
                "above" if probed.above else "",
            )
            for probed in probes
        ]
        _table(title, ("model", "history", "seats", "AUC", "null", "null 95 %", "p", ""), rows)


def _ablations(report: TalkReport) -> None:
    rows = [
        (
            ablation.arm,
            f"{ablation.normal.mean:.4f}",
            f"{ablation.ablated.mean:.4f}",
            f"{ablation.difference:+.4f}",
            "-" if ablation.error is None else f"{ablation.error:.4f}",
            f"{ablation.p if ablation.adjusted is None else ablation.adjusted:.3g}",
            "listens" if ablation.listens else "",
        )
        for ablation in report.ablations
    ]
    if rows:
        metric = report.ablations[0].metric
        title = f"{metric} with parts of the talk taken away, paired games; p is Holm's for {len(rows)} arms"
        _table(title, ("arm", "normal", "arm's", "lost", "error", "p", ""), rows)


def _influences(report: TalkReport) -> None:
    rows = [
        (
            influence.population,
            influence.phase,
            f"{influence.viewers:,}",
            "{}-{}".format(*influence.days),
            str(influence.name),
            str(influence.word),
            f"{influence.invisible:g}",
        )
        for influence in report.influences
    ]
    title = "board edits: KL of the choice from what it would be had another said something else, nats"
    _table(title, ("population", "phase", "viewers", "days", "name", "word", "unseen rows"), rows)


def _beliefs(report: TalkReport) -> None:
    if report.beliefs is None:
        return
    own, exact = report.beliefs
    rows = [
        ("players", str(own.brier), str(own.log_score)),
        ("exact observer", str(exact.brier), str(exact.log_score)),
        ("the same for all", f"{own.base_brier:.4f}", f"{own.base_log_score:.4f}"),
        ("players - observer", str(own.against_brier), str(own.against_log_score)),
    ]
    title = f"beliefs about living others when voting by day, {own.beliefs:,}; smaller is better"
    _table(title, ("who", "Brier", "log score, bits"), rows)


def where(phase: str, day: int | None) -> str:
    """Boards in words."""
    return phase if day is None else f"{phase}, day {day}"


def _beside(f: Finding) -> tuple[str, ...]:
    return (
        f.part,
        where(f.phase, f.day),
        f"{f.number:,}",
        f"{f.observed:.5f}",
        f"{f.null_mean:.5f}",
        f"{f.null_95:.5f}",
        f"{f.corrected:+.5f}",
        f"{f.p:.3g}",
        "above" if f.above else "",
    )


def _heads(what: str) -> tuple[str, ...]:
    return ("said", "where", "cases", what, "null", "null 95 %", "corrected", "p", "")


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.4f}"


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table, if it has rows: text to the left, numbers to the right."""
    if rows:
        typer.echo(f"\n{title}")
        left = [i for i in range(len(heads)) if not any(row[i][:1].isdigit() for row in rows)]
        print_aligned([heads, *rows], left, indent="  ")
