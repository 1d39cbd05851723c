"""The checker names every planted fault and is silent about sound worlds."""

import random

import numpy as np
import pytest

from interplay.checker import LAWS, Finding, Report, check_world
from interplay.core.errors import UserError
from tests.checker import faulty_worlds
from tests.checker.faulty_worlds import FAULTS, Fault
from tests.checker.sound_worlds import SOUND, Camp, Colony, Mourners

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("world", SOUND)
def test_no_false_alarm(world):
    report = check_world(world)
    assert report.ok, str(report)
    assert not report.skipped


@pytest.mark.parametrize(("num_worlds", "seed"), [(1, 1), (2, 2), (5, 3)])
def test_no_false_alarm_in_other_batches(num_worlds, seed):
    for world in (Mourners, Colony):
        report = check_world(world, num_worlds=num_worlds, seed=seed, steps=100)
        assert report.ok, str(report)


def check_form(report: Report) -> None:
    """Each finding is one line with a place."""
    for one in report.findings:
        assert isinstance(one.seen, str)
        assert isinstance(one.field, str)
        assert isinstance(one.agent, str | None)
        assert all(
            number is None or (type(number) is int and number >= 0) for number in (one.world, one.step)
        )
        assert "\n" not in str(one)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.world.__name__)
def test_planted_fault_is_caught(fault: Fault):
    report = check_world(fault.world, steps=fault.steps)
    assert fault.law in report.laws, f"{fault.story}: {report}"
    check_form(report)
    # What chance from outside breaks first differs from run to run; every other fault has few findings.
    if fault.law != "determinism":
        assert len(report.laws) <= 4, f"one fault, too many findings: {report}"


def test_a_copy_that_shares_memory_is_told_from_one_that_differs():
    shared, apart = (
        str(check_world(getattr(faulty_worlds, name), steps=60))
        for name in ("RewardsInOnePlace", "CopiedApart")
    )
    assert "playing the copy changed the original" in shared
    assert "playing the copy changed the original" not in apart


def test_there_are_thirty_faults_and_every_law_but_one_has_its_own():
    assert len({fault.world for fault in FAULTS}) >= 30
    assert set(LAWS) - {fault.law for fault in FAULTS} == {"spaces"}


def test_what_spectators_see_may_be_other_rows_and_numbers_of_the_same_layers():
    class Secrets(Camp):
        privileged_view = False

        def draw(self, canvas, world):
            super().draw(canvas, world)
            canvas.show(0, 0, 4, 4)
            seen = np.arange(3 if self.privileged_view else 0) + 0.5
            canvas.circles("roles", seen, seen, radius=seen * 700)
            canvas.table("told", ("who",), [("ann",)] if self.privileged_view else [("-",)])

    report = check_world(Secrets, steps=40)
    assert "people" not in report.laws, str(report)


def test_a_view_that_cannot_be_set_is_a_finding():
    class Stiff(Camp):
        @property
        def privileged_view(self):
            return False

    assert "people" in check_world(Stiff, steps=40).laws


def test_spaces_of_other_sorts_are_named():
    from gymnasium import spaces

    class TextWorld(Camp):
        def __init__(self, num_worlds, seed=0):
            super().__init__(num_worlds, seed)
            kind = self.kinds[0]
            self.kinds = (kind._replace(observation_space=spaces.Dict({"chat": spaces.Text(5)})),)

    assert check_world(TextWorld).laws == ("spaces",)


def test_report_is_one_line_per_finding_with_place_and_cure():
    report = Report("toy")
    report.add(Finding("finite", "not finite", world=2, agent="a", step=7, field="reward", value=1.5))
    report.add(Finding("finite", "again", world=3, agent="a", step=8, field="reward"))
    head, line = str(report).splitlines()
    assert head == "toy: 1 finding"
    assert line.strip().startswith("finite: step 7, world 2, agent a, reward = 1.5: not finite; keep NaN")
    with pytest.raises(UserError, match="keep NaN"):
        report.raise_if_broken()


def test_same_seed_same_report():
    world = next(fault.world for fault in FAULTS if fault.law == "position")
    assert str(check_world(world, steps=60)) == str(check_world(world, steps=60))


def test_ignored_laws_are_not_reported():
    world = next(fault.world for fault in FAULTS if fault.law == "metrics")
    assert check_world(world, steps=60, ignore=["metrics"]).ok
    with pytest.raises(UserError, match="unknown laws metric"):
        check_world(world, ignore=["metric"])


def test_alive_can_be_told():
    class Silent(Mourners):
        @property
        def metrics(self):
            return {}

        def pay(self, going):
            super().pay(going)
            self.state.acting[going & ~self.state.over, 0] = True

    assert check_world(Silent, steps=120).ok  # nothing says who is dead
    assert check_world(Silent, steps=120, alive=lambda world: world.state.health > 0).laws == ("dead-acts",)


def test_global_generators_are_left_as_they_were():
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    report = check_world(next(fault.world for fault in FAULTS if fault.law == "global-random"), steps=60)
    assert "global-random" in report.laws
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


def test_a_factory_that_fails_is_a_finding():
    def make(num_worlds, seed):
        raise RuntimeError("no such map")

    report = check_world(make)
    assert report.laws == ("crash",)
    assert "no such map" in str(report)


def test_a_world_that_cannot_be_saved_is_checked_all_the_same():
    class Unsaved(Camp):
        def save(self):
            raise UserError("this world runs in other people's processes and cannot be saved")

    report = check_world(Unsaved, steps=60)
    assert report.laws == ("save-load",)
    assert "masks" in report.skipped[0]
    assert check_world(Unsaved, steps=60, ignore=["save-load"]).ok
