"""Instruments for talk: recorded boards, what words tell, who listens, how well beliefs fit; no jax here.

`recording` turns a world in play into a `Talk`, `shards` keeps it on disk, `report` measures all of it; each measure can be
asked for on its own.
"""

from interplay.evaluate.talk.recording import TalkRecorder, reader_of, record
from interplay.evaluate.talk.report import TalkReport, measure_talk
from interplay.evaluate.talk.shards import TalkFolder, read_talk
from interplay.evaluate.talk.table import Talk

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
