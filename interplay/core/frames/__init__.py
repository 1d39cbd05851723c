"""Scenes as bytes: the first frame holds the declarations, later frames hold changes (docs/specs/viewer.md 4.1, 4.2).

An `Encoder` turns a world's scenes into frames, a `Decoder` turns frames into scenes. Recordings and live streams hold the same
frames. `interplay.core.frames.schema` lists the rounding of numbers.
"""

from interplay.core.frames.decoder import Decoder, Frame, Head, split_frames
from interplay.core.frames.encoder import Encoder
from interplay.core.frames.schema import Schema, schema_of

__all__ = ["Decoder", "Encoder", "Frame", "Head", "Schema", "schema_of", "split_frames"]
