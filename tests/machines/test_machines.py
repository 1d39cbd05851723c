"""Ten thousand rules of each state machine; a million in the soak, ``python -m bench.trust_machines``."""

from __future__ import annotations

import pytest

from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.train.run import folder
from tests.machines import run_machine
from tests.machines.counting import Counting, try_rules
from tests.machines.ledger_machine import LedgerMachine
from tests.machines.run_machine import RunMachine
from tests.machines.world_machine import FAMILIES, Family, WorldMachine, machine_of

pytestmark = pytest.mark.slow

RULES = 10_000


def held(machine: type[Counting], rules: int, first_seed: int = 0) -> None:
    """Every law held, so many rules were tried, and each of them often."""
    counts = try_rules(machine, rules, first_seed)
    assert sum(counts.values()) >= rules
    names = {name for name in dir(machine) if hasattr(getattr(machine, name), "hypothesis_stateful_rule")}
    assert len(counts) == len(names) + 1, "a rule was never tried"  # and the beginning
    assert min(counts.values()) >= rules / 500, counts


@pytest.mark.parametrize("number", range(len(FAMILIES)), ids=list(FAMILIES))
def test_a_world_is_a_function_of_its_seeds_and_of_what_was_done(number):
    held(machine_of(list(FAMILIES)[number]), RULES // len(FAMILIES), 1_000 * number)


def test_a_run_loses_nothing_goes_on_exactly_and_stays_in_its_folder():
    held(RunMachine, RULES)


def test_every_result_of_a_tournament_counts_once():
    held(LedgerMachine, RULES)


# -- the machines would notice ------------------------------------------------------------------------


def noticed(machine: type[Counting], rules: int = 3_000) -> None:
    with pytest.raises((AssertionError, BaseExceptionGroup)):
        try_rules(machine, rules, shrink=False)
    assert sum(machine.counts.values()) < rules


@pytest.mark.parametrize("fault", ["CounterLost", "PendingLost", "ResetTouchesStreams"])
def test_a_fault_of_a_world_is_found(fault):
    family = Family(f"tests.checker.faulty_worlds:{fault}", {})
    noticed(type(fault, (WorldMachine,), {"family": family}))


def test_a_ledger_that_counts_twice_is_found(monkeypatch):
    monkeypatch.setattr(ResultsLog, "missing", lambda self, keys: list(keys))
    noticed(LedgerMachine)


def test_a_ledger_that_keeps_torn_lines_is_found(monkeypatch):
    monkeypatch.setattr("interplay.evaluate.tournaments.results_log.os.ftruncate", lambda *_: None)
    noticed(LedgerMachine)


def test_a_run_that_forgets_to_drop_lines_is_found(monkeypatch):
    monkeypatch.setattr(folder, "drop_lines_after", lambda path, agent_steps: None)
    noticed(RunMachine)


def test_a_run_that_prunes_too_much_is_found(monkeypatch):
    prune = run_machine.prune_checkpoints
    monkeypatch.setattr(run_machine, "prune_checkpoints", lambda run, keep: prune(run, keep - 1))
    noticed(RunMachine)


def test_a_run_that_skips_damaged_checkpoints_wrongly_is_found(monkeypatch):
    """The oldest instead of the newest."""
    folders = run_machine.list_checkpoints
    monkeypatch.setattr("interplay.train.run.checkpoint.list_checkpoints", lambda run: folders(run)[::-1])
    noticed(RunMachine)
