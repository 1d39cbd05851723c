"""Scenes as bytes: what the first frame declares is told once, every further frame is what changed (docs/specs/viewer.md 4.1, 4.2).

An `Encoder` makes frames of a world's scenes, a `Decoder` makes scenes of frames; recordings and live streams hold the same
frames. What a number loses on the way stands at `interplay.core.frames.schema`.
"""

from interplay.core.frames.decoder import Decoder, Frame, Head, split_frames
from interplay.core.frames.encoder import Encoder
from interplay.core.frames.schema import Schema, schema_of

__all__ = ["Decoder", "Encoder", "Frame", "Head", "Schema", "schema_of", "split_frames"]
