"""The learner on another device: the same learning as on the processor, a program that a card can run, and runs that go on elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.core.trust import read_settings
from interplay.train import devices, update_loop
from interplay.train.devices import DeviceHints
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.run.room import memory_errors_as_user_errors
from interplay.train.settings import (
    NetworkGroup,
    PpoGroup,
    TrainGroup,
    TrainSettings,
    WorldChoice,
)
from interplay.train.trainer import _changed, _tell_other_device
from interplay.verbs.settings import build_settings
from tests.train.placed_runs import CASES

SETTINGS = TrainSettings(
    world=WorldChoice(id="corridor"),
    num_worlds=16,
    train=TrainGroup(shards=4),
    ppo=PpoGroup(rollout=32, minibatch=64, target_kl=None),
    network=NetworkGroup(kind="mlp", hidden=(8,)),
)
PLACED = changed(SETTINGS, {"train": {"device": "host:0"}}, "test")
FEW = ["mlp", "gru and critic", "vdn"]


@pytest.mark.parametrize("cases", [FEW, [case for case in CASES if case not in FEW]], ids=["few", "others"])
def test_learning_is_the_same_on_a_second_device(tmp_path: Path, cases: list[str]) -> None:
    """Two updates of each; all that is learnt lies on the second device, with the bits of the program on the first; it moved as on the
    processor, and a stop changes no bit.

    An update under `transfer_guard`: on the processor it sees arrays of the host that go to a device unasked, and operations of two
    devices' arrays; not arrays that come back (`np.asarray`), nor those of the default device that a compiled call takes along.
    """
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"
    asked = [sys.executable, "-m", "tests.train.placed_runs", str(tmp_path), *cases]
    said = subprocess.run(
        asked, env=os.environ | {"XLA_FLAGS": flags}, capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")]
    assert [line["case"] for line in lines] == cases
    for line in lines:
        assert line["places"] == ["cpu:1"], line
        assert line["same_bits"], line
        assert line["same_start"], line
        assert line["moved"] > 1e-3, line
        assert line["apart"] < 1e-4, line
        assert line["resumed"], line
        if line["case"] not in ("vdn", "qmix"):  # replay is drawn on the host in every gradient step
            assert line["unasked"] == "", line
            assert "Disallowed host-to-device transfer" in line["planted"], line


@pytest.mark.parametrize(
    "cases", [["mlp", "vtrace"], ["gru and critic"], ["populations"]], ids=["one", "memory", "more"]
)
def test_several_devices_share_every_minibatch(tmp_path: Path, cases: list[str]) -> None:
    """Two and four devices move the weights as one does, learn from every row once, and give their own bits again."""
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=4"
    asked = [sys.executable, "-m", "tests.train.mesh_runs", str(tmp_path), *cases]
    printed = subprocess.run(
        asked, env=os.environ | {"XLA_FLAGS": flags}, capture_output=True, text=True, check=True
    )
    parts, outputs, *lines = [
        json.loads(line) for line in printed.stdout.splitlines() if line.startswith(("{", "["))
    ]
    assert parts == [[[1, 2, 3]], [[5, 2]], [[1, 7, 3]], [[5, 2]]]
    assert outputs[0] == [[1, 2, 8], [1, 8, 8]]  # four worlds of two agents
    assert len(outputs[1]) == 1  # of several populations each device computes all
    assert [(line["case"], line["devices"]) for line in lines] == [
        (case, n) for case in cases for n in (2, 4)
    ]
    for line in lines:
        assert line["places"] == [f"cpu:{i}" for i in range(line["devices"])], line
        assert line["moved"] > 1e-3, line
        assert 0 < line["apart"] < 1e-4, line
        assert line["rows"][0] == line["rows"][1], line
        assert line["same"], line


# -- whole runs --------------------------------------------------------------------------------------------------------


def trained(out: Path, updates: int, device: str, quiet: bool = True) -> Path:
    values: dict[str, Any] = {
        "train": {"device": device, "max_updates": updates, "quiet": quiet, "shards": 2},
        "ppo": {"rollout": 16, "minibatch": 32, "epochs": 1},
        "network": {"kind": "mlp", "hidden": [8]},
    }
    interplay.train("simulation/multi-corridor", out, num_worlds=4, workers=1, **values)
    return out


def arrays_of(run: Path) -> dict[str, np.ndarray]:
    newest = latest_checkpoint(run)
    assert newest is not None
    arrays = read_checkpoint(newest).arrays
    return {f"{stem}/{name}": array for stem, own in arrays.items() for name, array in own.items()}


def longer(run: Path, updates: int) -> None:
    file = run / "settings.toml"
    file.write_text(re.sub(r"max_updates = \d+", f"max_updates = {updates}", file.read_text()))


def test_a_run_on_a_device_resumes_to_the_same_bits(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", 4, "host:0")
    stopped = trained(tmp_path / "stopped", 2, "host:0")
    longer(stopped, 4)
    interplay.Run(stopped).resume()
    wanted, found = arrays_of(whole), arrays_of(stopped)
    assert wanted.keys() == found.keys()
    for name, array in wanted.items():
        assert np.array_equal(array, found[name], equal_nan=True), name


def test_a_run_goes_on_elsewhere_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = trained(tmp_path / "run", 2, "host:0")
    before = arrays_of(run)
    longer(run, 3)
    interplay.Run(run).resume(device="cpu")
    assert (
        "this run was made on host:0 (cpu); from here on, on cpu, it has other bits"
        in capsys.readouterr().err
    )
    assert read_settings(run / "settings.toml", TrainSettings).train.device == "cpu"
    weights = next(name for name in before if name.endswith("/weight"))
    assert not np.array_equal(before[weights], arrays_of(run)[weights])


def test_a_device_that_is_not_there_leaves_the_run_where_it_was(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", 1, "cpu")
    longer(run, 2)
    with pytest.raises(UserError, match="host:7"):
        interplay.Run(run).resume(device="host:7")
    assert interplay.Run(run).resume().metrics["updates"][-1] == 2


@pytest.mark.parametrize(
    ("has_cuda", "has_card", "workers", "found"),
    [(True, True, 1, "gpu"), (True, True, 2, "cpu"), (True, False, 1, "cpu"), (False, True, 1, "cpu")],
)
def test_auto_is_a_card_where_jax_and_system_have_one(
    monkeypatch: pytest.MonkeyPatch, has_cuda: bool, has_card: bool, workers: int, found: str
) -> None:
    monkeypatch.setattr(devices, "_has_cuda", lambda: has_cuda)
    monkeypatch.setattr(devices, "has_card", lambda: has_card)
    asked = changed(SETTINGS, {"train": {"device": "auto", "workers": workers}}, "test")
    assert devices.with_device(asked).train.device == found


@pytest.mark.parametrize(("has_card", "found"), [(True, ("gpu", 1)), (False, ("cpu", 4))])
def test_resuming_on_auto_gives_up_workers_for_a_card_alone(
    monkeypatch: pytest.MonkeyPatch, has_card: bool, found: tuple[str, int]
) -> None:
    monkeypatch.setattr(devices, "_has_cuda", lambda: True)
    monkeypatch.setattr(devices, "has_card", lambda: has_card)
    run = changed(SETTINGS, {"train": {"workers": 4}}, "test")
    train = devices.with_device(_changed(run, "test", "auto", None)).train
    assert (train.device, train.workers) == found


def test_auto_without_a_card_names_what_it_leaves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(devices, "has_card", lambda: False)
    for precision, count, lines in (("float32", 1, 0), ("bfloat16", 1, 1), ("bfloat16", 4, 2)):
        own = {"device": "auto", "precision": precision, "devices": count}
        found = devices.with_device(changed(SETTINGS, {"train": own}, "test")).train
        assert (found.device, found.precision, found.devices) == ("cpu", "float32", 1)
        printed = capsys.readouterr().err
        assert len(printed.splitlines()) == lines
        assert ("train.precision is float32, not bfloat16" in printed) == (precision == "bfloat16")
        assert ("train.devices is 1, not 4" in printed) == (count == 4)


def test_auto_keeps_the_workers_where_jax_has_no_cuda(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_has_cuda", lambda: False)
    auto, usual = (
        build_settings("simulation/multi-corridor", [f"train.device={device}"], {})
        for device in ("auto", "cpu")
    )
    assert auto.train.workers == usual.train.workers
    run = trained(tmp_path / "run", 1, "auto")
    assert read_settings(run / "settings.toml", TrainSettings).train.device == "cpu"


@pytest.mark.parametrize(
    ("device", "has_cuda", "message"),
    [
        (
            "gpu",
            False,
            r"train.device = gpu: this jax \(.+\) has no CUDA; pip install \"interplay\[cuda12\]\"",
        ),
        ("gpu", True, "train.device = gpu: jax sees no GPU"),
        ("host:7", False, "train.device = host:7: there is host:0 on this machine"),
    ],
)
def test_a_device_that_is_not_there_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, has_cuda: bool, message: str
) -> None:
    before, flags = jax.config.jax_platforms, os.environ["XLA_FLAGS"]  # type: ignore[attr-defined]
    monkeypatch.setattr(devices, "_has_cuda", lambda: has_cuda)
    monkeypatch.setenv("XLA_FLAGS", flags)
    monkeypatch.setenv("NPROC", "1")
    with pytest.raises(UserError, match=message):
        trained(tmp_path / "run", 1, device)
    assert not (tmp_path / "run").exists()
    assert jax.config.jax_platforms == before  # type: ignore[attr-defined]


def test_a_card_that_fails_in_mid_run_is_told_in_a_line() -> None:
    error = jax.errors.JaxRuntimeError("INTERNAL: the device is lost\nand much more")
    with (
        pytest.raises(
            UserError, match=r"^training on gpu:1: INTERNAL: the device is lost; go on with .*--device cpu$"
        ),
        devices.gpu_errors_as_user_errors("gpu:1", "runs/first"),
    ):
        raise error
    with pytest.raises(jax.errors.JaxRuntimeError), devices.gpu_errors_as_user_errors("cpu", "runs/first"):
        raise error


@pytest.mark.parametrize("device", ["cpu", "host:0"])
def test_products_of_another_precision_are_for_cards(device: str) -> None:
    with pytest.raises(
        UserError, match=f"precision = bfloat16 is for GPUs; leave it out with device = {device}"
    ):
        changed(SETTINGS, {"train": {"device": device, "precision": "bfloat16"}}, "train")
    with pytest.raises(UserError, match="cuBLASLt"):
        changed(SETTINGS, {"train": {"device": "gpu", "precision": "tf32"}}, "train")
    assert changed(SETTINGS, {"train": {"device": device, "precision": "float32"}}, "train") == changed(
        SETTINGS, {"train": {"device": device}}, "train"
    )


def test_a_run_of_a_card_goes_on_in_float32_on_the_processor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trained(tmp_path / "run", 1, "cpu")
    longer(run, 2)
    file, newest = run / "settings.toml", latest_checkpoint(run)
    assert newest is not None
    moved = changed(
        read_settings(file, TrainSettings), {"train": {"device": "gpu", "precision": "bfloat16"}}, "test"
    )
    on_cpu = _changed(moved, "test", "cpu", None)
    assert (on_cpu.train.device, on_cpu.train.precision) == ("cpu", "float32")
    assert _changed(moved, "test", "gpu:1", None).train.precision == "bfloat16"
    checkpoint = read_checkpoint(newest)
    checkpoint.record["compute"] |= {"device": "gpu (NVIDIA H100, bfloat16)"}
    _tell_other_device(checkpoint, on_cpu.train)
    assert (
        "made on gpu (NVIDIA H100, bfloat16); from here on, on cpu in float32, it has other bits"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("name", ["gpu:1", "cpu"])
def test_memory_that_ends_names_what_to_lower(name: str) -> None:
    error = jax.errors.JaxRuntimeError(
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4096 bytes."
    )
    with (
        pytest.raises(UserError) as raised,
        memory_errors_as_user_errors(),  # around the other one, as in the trainer
        devices.gpu_errors_as_user_errors(name, "runs/first", "vtrace"),
    ):
        raise error
    assert ("vtrace.minibatch" in str(raised.value)) == (name != "cpu")
    assert "num_worlds" in str(raised.value) or name != "cpu"


class Clock:
    """A clock of one's own, a second further at each look."""

    def __init__(self, step: float) -> None:
        self._now, self._step = 0.0, step

    def monotonic(self) -> float:
        self._now += self._step
        return self._now

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


@pytest.mark.parametrize(
    ("has_card", "device", "step", "lines"), [(True, "cpu", 60.0, 1), (True, "cpu", 0.0, 0), (False, "cpu", 60.0, 0), (True, "host:0", 60.0, 0)]
)  # fmt: skip
def test_a_card_that_is_not_used_is_named_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    has_card: bool,
    device: str,
    step: float,
    lines: int,
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho NVIDIA Whistle; echo another\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(devices, "has_card", lambda: has_card)
    monkeypatch.setattr(update_loop, "time", Clock(step))
    trained(tmp_path / "run", 3, device, quiet=False)
    assert capsys.readouterr().err.count("the GPU (NVIDIA Whistle)") == lines


def test_a_card_without_the_drivers_tool_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "has_card", lambda: True)
    monkeypatch.setenv("PATH", "")
    assert DeviceHints(SETTINGS).add(seconds=60.0, updates=1).startswith("this run does not use the GPU; ")


@pytest.mark.parametrize(("name", "found"), [("", False), ("-1", False), ("0", True)])
def test_a_hidden_card_is_not_there(monkeypatch: pytest.MonkeyPatch, name: str, found: bool) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", name)
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter([self / "nvidia0"]))
    assert devices.has_card() == found


@pytest.mark.parametrize(("minibatch", "warned"), [(4095, True), (4096, False)])
def test_small_minibatches_on_a_card_are_named_after_the_fifth_update(minibatch: int, warned: bool) -> None:
    settings = changed(PLACED, {"ppo": {"minibatch": minibatch}}, "test")
    hints = DeviceHints(settings)
    assert [bool(hints.add(0.0, updates)) for updates in range(1, 8)] == [
        updates == 5 and warned for updates in range(1, 8)
    ]
    replays = changed(PLACED, {"algorithm": "vdn"}, "test")  # its minibatch counts team-steps
    assert DeviceHints(replays).add(0.0, 5) == ""


def test_one_process_feeds_a_card() -> None:
    with pytest.raises(UserError, match="workers = 2 with device = gpu"):
        changed(SETTINGS, {"train": {"device": "gpu", "workers": 2}}, "train")
