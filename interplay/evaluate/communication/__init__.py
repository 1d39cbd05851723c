"""Instruments for talk: recorded boards, what words tell, who listens, how well beliefs fit; no jax here.

`recording` turns a world in play into a `Talk`, `shards` keeps it on disk, `report` measures all of it; each measure can be
asked for on its own.
"""

from interplay.evaluate.communication.readers import reader_of
from interplay.evaluate.communication.recording import TalkRecorder, record
from interplay.evaluate.communication.report import TalkReport, measure_talk
from interplay.evaluate.communication.shards import TalkFolder, read_talk
from interplay.evaluate.communication.table import Talk

__all__ = [
    "Talk",
    "TalkFolder",
    "TalkRecorder",
    "TalkReport",
    "measure_talk",
    "read_talk",
    "reader_of",
    "record",
]
