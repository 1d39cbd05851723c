"""Mistakes on the command line: one line that names the thing, exit code 2, and no file."""

from __future__ import annotations

import pytest

from tests.cli.command import MARSH, refusal

DUEL, VILLAGE, LINE = (
    "--world survival/1v1-heals-low",
    "--world werewolf/9-l1s9",
    "matrix/rock-paper-scissors",
)
CUP, FEW = f"{DUEL} --out cup", "--games 9 --num-worlds 4"
ANALYZE = "analyze random --ticks 30 --world mmo/combat interior=24 slots=12 npop=2"
WOLVES = f"evaluate random {VILLAGE} --episodes 4 --num-worlds 2"
REFUSED = {  # what is typed -> words in the line
    "wrlds": "wrlds worlds",
    "worlds --jsn": "--jsn --json",
    "bench": "WORLD --help",
    "bench x --threads 0": "--threads 0 1",
    "bench x --threads many": "--threads many integer",
    "bench masked=true": "masked=true world",
    "check survival": "survival unknown world",
    "evaluate random": "random --world",
    "evaluate runs/no-such-run": "runs/no-such-run interplay train",
    f"evaluate random --world {MARSH} deep=1": "deep",
    f"evaluate random --world {MARSH} deep": "deep =",
    f"evaluate random --world {MARSH} endless=true": "for ever max_steps",
    f"{WOLVES} --roles werwolf=unite": "side 'werwolf'; 'werewolf'?",
    f"{WOLVES} --roles werewolf=unit": "policy 'unit'; 'unite'?",
    f"{WOLVES} --roles werewolf": "--roles werewolf: SIDE=RUN SIDE=POLICY",
    f"{WOLVES} --roles werewolf=unite --roles werewolf=random": "werewolf twice",
    f"{WOLVES} --roles werewolf=runs/none": "runs/none: run folder",
    f"train {MARSH} ppo.clip --out run": "ppo.clip =",
    f"train {MARSH} world.options.maske=true --out run": "maske masked",
    f"train {MARSH} --steps 0 --out run": "steps 0",
    f"train {LINE} --league psfp --out run": "--league psfp: 'pfsp'?",
    f"train {LINE} --league nowhere.toml --out run": "nowhere.toml",
    "train survival/1v1-heals-low --lr 1": "--lr: ppo.learning_rate=VALUE?",
    "train survival/1v1-heals-low --gamma 1": "--gamma: ppo.gamma=VALUE?",
    "train survival/1v1-heals-low --n-envs 1": "--n-envs: num_worlds=VALUE?",
    "train survival/1v1-heals-low --bogus 1": "--bogus",
    f"tournament random nobody {CUP}": "policy 'nobody'",
    f"tournament random runs/none {CUP}": "runs/none: run folder",
    f"tournament random {CUP}": "players ['random'] 1, 2",
    f"tournament random random {CUP}": "random twice",
    f"tournament random zone hunter --per-match 3 --matches 6 {CUP}": "3 players 2 sides",
    f"tournament random zone --option heals {CUP}": "'heals' KEY=VALUE",
    f"tournament random zone --merge {CUP}": "homes populations",
    f"tournament random zone@x --merge {CUP}": "zone@x: 'x' zone@8",
    f"tournament random zone@0 --merge {CUP}": "zone@0: '0'",
    f"tournament random zone@2 --merge --caps 8,many {CUP}": "--caps 8,many:",
    f"tournament random zone --merge --caps 9 {CUP}": "cap = 9: 2 homes 9 places",
    f"tournament random zone --merge --per-match 3 {CUP}": "per_match = 3",
    f"tournament random zone --merge --score kills {CUP}": "score = kills",
    f"tournament random zone --merge --max-steps 9 {CUP}": "max_steps = 9",
    f"tournament random zone --merge --workers 2 {CUP}": "workers = 2",
    f"tournament random zone --merge --record 1 {CUP}": "record = 1",
    f"tournament random zone --caps 8 {CUP}": "caps = 8",
    f"tournament random zone --quota per_population {CUP}": "quota = per_population",
    f"tournament random zone --window 5 {CUP}": "window = 5",
    f"tournament random zone --horizon 5 {CUP}": "horizon = 5",
    f"talk random {FEW}": "needs a world",
    f"talk nobody {VILLAGE} {FEW}": "nobody",
    f"talk random --world simulation/multi-corridor {FEW}": "no talk; choose",
    f"talk random {VILLAGE} --arm deaf {FEW}": "deaf",
    f"talk random {VILLAGE} --metric luck {FEW}": "column 'luck'",
    f"talk random --world gridworld/broadcast --against random {FEW}": "no team hides",
    f"talk random {VILLAGE} --permutations 0 {FEW}": "--permutations 0",
    f"talk random {VILLAGE} signal_length=0 --arm signals_off {FEW}": "arm = signals_off words",
    "analyze random": "SCRIPT.py --overlay",
    f"{ANALYZE} --overlay valuse --out x": "'values'?",
    f"{ANALYZE} --overlay values --out x": "scripted policy",
    f"{ANALYZE} --overlay lives": "--out FOLDER",
    f"{ANALYZE} --overlay lives --out x --population 2": "0..1",
    f"{ANALYZE} --overlay lives --out x script.py": "OPTION=VALUE",
    f"{ANALYZE} --overlay lives --out x --beside random": "--beside random:",
    "analyze random --world survival/1v1-all-high --overlay lives --out x": "no map of tiles",
    "analyze random --world mmo/combat interior=24 slots=12 --overlay strikes --out x": "survival/1v1-all-high",
    "record random --world dilemma/fixed --out a.png --size wide": "size",
    "record random --world dilemma/fixed --out a.png --size 1x2x3": "size",
    "record random --world dilemma/fixed --out a.png --size -3": "size",
    "prepare": "name worlds, --all",
    "prepare --all dilemma/fixed": "name worlds, --all",
    "sweep simulation/multi-corridor": "needs a folder",
    "sweep --out a": "no world",
    "sweep --resume --out a": "holds no sweep",
    "sweep simulation/multi-corridor --resume --out a": "leave it out",
    "sweep simulation/multi-corridor --draws 3 --dry-run": "nothing is drawn",
}


@pytest.mark.slow
@pytest.mark.parametrize("words", REFUSED)
def test_a_mistake_is_one_line_that_names_the_thing(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    line = refusal(capsys, *words.split())
    assert not [word for word in REFUSED[words].split() if word not in line], line
    assert not list(tmp_path.iterdir())
