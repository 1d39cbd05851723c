"""The table of settings: what varies, what is shared, and nothing that no run reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interplay.core.errors import UserError
from interplay.train.settings import TrainSettings
from interplay.train.settings.unread import check_read, keys_unread
from interplay.view.run_table import find_runs, read_row
from interplay.view.settings_table import latex, markdown, settings_table
from tests.cli.command import typed

WORLD = '[world]\nid = "battle/3m"\n'


def make_run(folder: Path, seed: int, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(f"seed = {seed}\nsteps = 5000\n{text}")
    (folder / "metrics.jsonl").write_text("")
    return folder


@pytest.fixture
def three(tmp_path: Path) -> Path:
    texts = {
        "ippo": WORLD + "[ppo]\nclip = 0.1\n",
        "mappo": WORLD + '[network]\ncritic = "team"\n[ppo]\nclip = 0.3\n',
        "qmix": 'algorithm = "qmix"\n' + WORLD,
    }
    for name, text in texts.items():
        for seed in (4, 2):
            make_run(tmp_path / "sweep" / f"{name}-{seed}", seed, text)
    return tmp_path / "sweep"


def test_what_varies_and_what_is_shared(three):
    rows = [read_row(path) for path in find_runs([three])]
    table = settings_table(rows)
    assert table.varied == {
        "algorithm": ["ppo", "ppo", "qmix"],
        "ppo.clip": ["0.1", "0.3", "-"],
        "network.critic": ["own", "team", "-"],
    }
    assert table.seeds == [[2, 4]] * 3
    assert table.partly["ppo.gamma"] == ["1", "2"]
    assert table.partly["qmix.gamma"] == ["3"]
    for key, value in table.shared.items():  # each is the value of every run that reads it
        read = [row.settings[key] for row in rows if key in row.settings]
        assert all(str(one) == value or str(one).lower() == value for one in read), key
    assert not any(key.startswith(("pool.", "league.", "belief.", "train.keep_")) for key in table.shared)
    assert {"seed", "train.workers", "ppo.sequence", "network.memory_size"}.isdisjoint(table.shared)
    assert table.shared["steps"] == "5000"


def test_tables_hold_the_settings(three):
    table = settings_table([read_row(path) for path in find_runs([three])])
    text = markdown(table)
    assert "| 2 | ppo | 0.3 | team | 2, 4 |" in text.splitlines()
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line]
    shared = {row[0]: row[1] for row in cells if len(row) == 3}
    assert {key: shared[key] for key in table.shared} == dict(table.shared)
    lines = latex(table).splitlines()
    assert r"1 & ppo & 0.1 & own & 2, 4 \\" in lines
    assert all(re.search(r"(?<!\\)_", line) is None for line in lines)
    assert [line for line in lines if line.startswith(r"\begin")] == [
        r"\begin{tabular}{lllll}",
        r"\begin{tabular}{lll}",
    ]


def test_groups_have_the_names_of_their_runs(three):
    for path in find_runs([three]):
        file = path / "settings.toml"
        name = path.name.rpartition("-")[0].upper()
        file.write_text(f'name = "{name}"\n' + file.read_text())
    table = settings_table([read_row(path) for path in find_runs([three])])
    assert table.groups == ["IPPO", "MAPPO", "QMIX"]
    assert table.partly["ppo.gamma"] == ["IPPO", "MAPPO"]
    assert "name" not in table.varied
    assert "| MAPPO | ppo | 0.3 | team | 2, 4 |" in markdown(table).splitlines()


def test_a_single_setting_has_one_table(three):
    table = settings_table([read_row(path) for path in find_runs([three / "qmix-2"])])
    assert not table.varied
    assert "| seeds | 2 |" in markdown(table)


def test_what_is_not_read_is_what_would_be_refused():
    """Each key of `keys_unread` is refused by `check_read` where it is set."""
    base = {"world": {"id": "battle/3m"}, "network": {"kind": "mlp"}}
    unread = keys_unread(TrainSettings.model_validate(base))
    for group, key, value in (
        ("qmix", "mixing", 8),
        ("network", "heads", 2),
        ("ppo", "sequence", 8),
        ("pool", "keep", 3),
        ("alternate", "high", 0.9),
        ("league", "keep", 9),
        ("train", "best_measurements", 3),
    ):
        assert f"{group}.{key}" in unread or group in unread
        asked = {**base, group: {**base.get(group, {}), key: value}}
        with pytest.raises(UserError):
            check_read(TrainSettings.model_validate(asked))
    assert {"ppo.clip", "network.hidden", "pool.populations", "train.best_by"}.isdisjoint(unread)


def test_it_is_written_and_bad_input_is_one_line(three, tmp_path, capsys):
    for out in (tmp_path / "a.md", tmp_path / "a.tex"):
        assert typed(capsys, "runs", three, "--settings", "--out", out)[0] == 0
    table = settings_table([read_row(path) for path in find_runs([three])])
    assert ((tmp_path / "a.md").read_text(), (tmp_path / "a.tex").read_text()) == (
        markdown(table),
        latex(table),
    )
    (tmp_path / "empty").mkdir()
    for words in (
        (tmp_path / "empty", "--settings"),
        (three, "--settings", "--out", tmp_path / "a.txt"),
        (three, "--settings", "--json"),
        (three, "--settings", "--metric", "life"),
        (three, "--out", tmp_path / "a.md"),
    ):
        code, _, errors = typed(capsys, "runs", *words)
        assert (code, len(errors.splitlines())) == (2, 1)
