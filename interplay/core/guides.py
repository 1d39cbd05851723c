"""How people read an agent's observation: names, pictures of crops, and the agents that rows describe. Networks do not use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

NO_SLOT = -1  # of `Guide.slots`


class Guide(NamedTuple):
    """A part of an observation's field, or all of it.

    Attributes:
        kind: ``crop`` a picture with a cell for each number; ``rows`` a table, one thing in each row; ``numbers`` one after another;
            ``rays`` how far the agent sees into each of some directions; ``text`` words.
        title: of the part, where a field has several; parts stand one after another in the flat field.
        names: of the columns of rows, or of the numbers; for text the word of each number (empty: bytes of UTF-8, up to a 0).
        rows: number of rows of the part, or of numbers of a text; 0: as in the field's shape.
        palette: of a crop, as for `Canvas.tiles`: ``"terrain"`` or the colour of each number; empty: greys from lowest to highest.
        slots: the agent that each row describes, `NO_SLOT` for none; empty: unknown.
        shown: how many of the rows count, the others are padding; None: all.
        angles: of rays, radians from the agent's heading as it is drawn, in the sense of `Canvas.circles`; from the axis of x where it has none.
        unit: of rays, the world's units of a 1.
        hidden: the field with 1 for each row that the agent does not see; empty: it sees all.
    """

    kind: Literal["crop", "rows", "numbers", "rays", "text"] = "numbers"
    title: str = ""
    names: Sequence[str] = ()
    rows: int = 0
    palette: str | Sequence[str] = ()
    slots: Sequence[int] = ()
    shown: int | None = None
    hidden: str = ""
    angles: Sequence[float] = ()
    unit: float = 1.0


Guides = Mapping[str, Sequence[Guide]]  # field -> its parts
