"""Instruments for communication: recorded boards, information of words, listening, beliefs; no jax here.

`recording` turns a played world into a `Talk`, `shards` stores it on disk, `report` computes all measures; each measure is also a
function of its own.
"""

from interplay.evaluate.communication.recording import TalkRecorder, reader_of, record
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
