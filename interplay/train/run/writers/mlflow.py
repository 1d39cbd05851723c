"""Writes metrics for MLflow, into files beside the run's folder unless MLFLOW_TRACKING_URI is set."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping

from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from interplay.train.run.writers import Context

FOLDER = "mlruns"
BATCH = 100  # most parameters per call
_TAG = "interplay.run"


class MlflowWriter:
    """Writes into the experiment named after the world; a resumed run is found by its folder.

    Rows already written are skipped.
    """

    def __init__(self, context: Context) -> None:
        folder = context.run.resolve()
        # Newer versions require this for a file store; a database would need a server or locks.
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        store = os.environ.get("MLFLOW_TRACKING_URI") or (folder.parent / FOLDER).as_uri()
        self._handed, self._client = context.handed, MlflowClient(tracking_uri=store)
        experiment = self._experiment(context.world)
        found = self._client.search_runs([experiment], f"tags.`{_TAG}` = '{_quoted(str(folder))}'")
        if found and context.first_step:
            self._id = found[0].info.run_id
            self._client.update_run(self._id, "RUNNING")
            return
        tags = {_TAG: _quoted(str(folder)), "group": folder.parent.name}
        self._id = self._client.create_run(experiment, run_name=folder.name, tags=tags).info.run_id
        params = [Param(_name(key), str(value)[:500]) for key, value in context.settings.items()]
        for at in range(0, len(params), BATCH):
            self._client.log_batch(self._id, params=params[at : at + BATCH])
        self._client.log_batch(self._id, tags=[RunTag("world", context.world)])

    def write(self, agent_steps: int, numbers: Mapping[str, float]) -> None:
        """Writes one row."""
        if agent_steps > self._handed:
            now = int(time.time() * 1000)
            metrics = [Metric(_name(key), value, now, int(agent_steps)) for key, value in numbers.items()]
            self._client.log_batch(self._id, metrics=metrics)

    def close(self) -> None:
        """Marks the run as finished."""
        self._client.set_terminated(self._id)

    def _experiment(self, name: str) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        try:
            return str(self._client.create_experiment(name))
        except MlflowException:
            found = self._client.get_experiment_by_name(name)  # another run of the sweep was faster
            if found is None:
                raise
            return str(found.experiment_id)


def _name(key: str) -> str:
    """A valid MLflow name: ``life[villager]`` becomes ``life/villager``."""
    return re.sub(r"[^\w\-. :/]", "_", key.replace("[", "/").replace("]", ""))


def _quoted(text: str) -> str:
    return text.replace("'", "_")
