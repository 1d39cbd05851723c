"""The agents of a grid world: their parameters, and views of their rows of the board.

Agents are data; components hold the behaviour. An agent outside of any grid has a row of its own.
Source: manual 3.1.3 and 7.5.2; specification 2.5.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from interplay.gridworld.board import LARGEST_ENCODING, NOWHERE, Array, Rows, new_agents
from interplay.sim.agents import ActingAgent, ObservingAgent, PrincipleAgent, is_agent
from interplay.sim.checks import Checked, flag, is_exactly, require

_FAR = 2**15  # cells
SHAPES = ("o", "v", "^", "<", ">", *"12348spPh", "*", "H", "+", "x", "X", "D", "d")


class Column(Checked):
    """An attribute stored in a column of the agent's row of the board.

    Args:
        column: its name there.
        check, doc, then: of `Checked`.
        none: the number that stands for None, besides NaN.
    """

    def __init__(self, column: str, *args: Any, none: int | None = None) -> None:
        super().__init__(*args)
        self._column, self._none = column, none

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self
        value = getattr(owner._rows, self._column).item(owner._slot)
        return None if value == self._none or value != value else value

    def _keep(self, owner: Any, kept: Any) -> None:
        getattr(owner._rows, self._column)[owner._slot] = kept


class Reach(Checked):
    """A range of an agent, stored on the board as a number of cells."""

    def _keep(self, owner: Any, kept: Any) -> None:
        super()._keep(owner, kept)
        getattr(owner._rows, self.name)[owner._slot] = _cells(kept)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | np.integer | np.floating) and not isinstance(value, bool)


def _share(value: Any, name: str) -> float:
    require(_is_number(value) and 0 <= value <= 1, f"{name} {value!r} is no number in 0..1; give one")
    return float(value)


def _reach(value: Any, name: str) -> int | str:
    fits = (is_exactly(value, int) and value >= 0) or (isinstance(value, str) and value == "FULL")
    require(fits, f'{name} {value!r} is no int from 0 and not "FULL"; give one of those')
    return value


def _cells(reach: int | str) -> int:
    """A range as a number; larger than any grid for "FULL", until a component with the grid replaces it."""
    return _FAR if isinstance(reach, str) else min(reach, _FAR)


def _first_health(value: Any, name: str) -> float:
    fits = value is None or (_is_number(value) and 0 < value <= 1)
    require(fits, f"{name} {value!r} is not in (0, 1]; give a number that is, or None")
    return np.nan if value is None else value


def _begin_with_health(agent: Any, health: float) -> None:
    if health == health:
        agent._rows.health[agent._slot] = health


def _shape(value: Any, name: str) -> str:
    require(
        isinstance(value, str) and value in SHAPES,
        f"{name} {value!r} is unknown; use one of {' '.join(SHAPES)}",
    )
    return str(value)


def _whole(words: str, least: float = -np.inf) -> Callable[[Any, str], int]:
    def check(value: Any, name: str) -> int:
        require(is_exactly(value, int) and value >= least, f"{name} {value!r} is no {words}; give one")
        return int(value)

    return check


def _begin_with_ammo(agent: Any, rounds: int) -> None:
    agent._rows.ammo[agent._slot] = max(rounds, 0)


def _direction(value: Any, name: str) -> int:
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 <= value <= 4
    require(bool(fits), f"{name} {value!r} is not 1 left, 2 down, 3 right or 4 up")
    return int(value)


def _direction_or_none(value: Any, name: str) -> int:
    require(
        value is None or is_exactly(value, int), f"{name} {value!r} is not 1 left, 2 down, 3 right or 4 up"
    )
    return 0 if value is None else _direction(value, name)


def _begin_facing(agent: Any, direction: int) -> None:
    if direction:
        agent._rows.orientation[agent._slot] = direction


def _show_anew(agent: Any, _value: Any) -> None:
    """Updates what the agent's cell shows."""
    if agent._rows.placed[agent._slot] and agent._rows.show is not None:
        agent._rows.show(agent._slot)


class GridWorldAgent(PrincipleAgent):
    """An agent or object in a cell.

    Args:
        initial_position: (2,) row and column at the beginning of each episode; None = drawn.
        blocking: hides cells behind it from sight, attacks and broadcasts.
        encoding: the type that others see, a positive int.
        initial_health: in (0, 1]; None = drawn.
        render_shape: one of `SHAPES`.
        render_color: a name or ``"#rrggbb"``.
        render_size: positive int, points squared; 200 fills most of a cell.
        **kwargs: of `PrincipleAgent` and of classes combined with this one.

    Example:
        >>> wall = GridWorldAgent(id="wall", encoding=1, blocking=True, initial_position=np.array([0, 2]))
        >>> wall.health, wall.active, wall.position
        (1.0, True, None)
    """

    _rows: Rows
    _slot: int

    def __new__(cls, *args: Any, **kwargs: Any) -> GridWorldAgent:
        agent = super().__new__(cls)
        agent._rows, agent._slot = Rows(new_agents(1, 1)), 0
        return agent

    def __init__(
        self,
        initial_position: Array | None = None,
        blocking: bool = False,
        encoding: int | None = None,
        initial_health: float | None = None,
        render_shape: str = "o",
        render_color: str = "gray",
        render_size: int = 200,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.encoding = encoding  # type: ignore[assignment]
        self.initial_position = initial_position
        self.blocking = blocking
        self.initial_health = initial_health
        self.render_shape = render_shape
        self.render_color = render_color
        self.render_size = render_size
        self._rows.learns[self._slot] = is_agent(self)

    @property
    def encoding(self) -> int:
        """The agent's type, as others see it."""
        return self._rows.encoding.item(self._slot)

    @encoding.setter
    def encoding(self, value: int) -> None:
        fits = is_exactly(value, int) and 0 < value <= LARGEST_ENCODING
        require(
            fits, f"{self._name}: encoding {value!r} is no positive int up to {LARGEST_ENCODING}; give one"
        )
        self._rows.encoding[self._slot] = value
        self._rows.top = max(self._rows.top, value)
        _show_anew(self, value)

    @property
    def initial_position(self) -> Array | None:
        """(2,) row and column at the beginning of each episode."""
        row = self._rows.first_row.item(self._slot)
        return None if row == NOWHERE else np.array([row, self._rows.first_col.item(self._slot)])

    @initial_position.setter
    def initial_position(self, value: Array | None) -> None:
        place = _place(value, f"{self._name}: initial_position")
        self._rows.first_row[self._slot], self._rows.first_col[self._slot] = place or (NOWHERE, NOWHERE)

    @property
    def position(self) -> Array | None:
        """(2,) row and column, a copy; None before the first placement. Dead agents keep their last one."""
        row = self._rows.row.item(self._slot)
        return None if row < 0 else np.array([row, self._rows.col.item(self._slot)])

    @position.setter
    def position(self, value: Array) -> None:
        row, col = _place(value, f"{self._name}: position") or (-1, -1)
        here = (self._rows.row.item(self._slot), self._rows.col.item(self._slot))
        require(
            not self._rows.placed[self._slot] or (row, col) == here,
            f"{self._name}: position {value!r} is not where it stands, {here}; move it with the grid's place",
        )
        # Kernels assume that a position is in the grid.
        require(
            min(row, col) >= 0 and self._rows.is_cell(row, col),
            f"{self._name}: position {value!r} is no cell of its grid; give row and column of one",
        )
        self._rows.row[self._slot], self._rows.col[self._slot] = row, col

    blocking = Column("blocking", flag, "Whether the agent hides cells behind it.", _show_anew)

    active = Column("active", flag, "Whether the agent is alive.")

    initial_health = Column(
        "first_health",
        _first_health,
        "Health at the beginning of each episode; None = drawn.",
        _begin_with_health,
    )

    @property
    def health(self) -> float:
        """Between 0 and 1; before the first reset the initial health, or 1."""
        return self._rows.health.item(self._slot)

    @health.setter
    def health(self, value: float) -> None:
        fits = _is_number(value) and value == value
        require(fits, f"{self._name}: health {value!r} is no number; give one, it is clipped to 0..1")
        self._rows.health[self._slot] = clipped = min(max(float(value), 0.0), 1.0)
        self._rows.active[self._slot] = clipped > 0

    render_shape = Checked(_shape, "Shape of the agent in pictures: one of `SHAPES`.")
    render_size = Checked(_whole("positive int", 1), "Points squared.")

    def _bind(self, rows: Rows, slot: int) -> None:
        """Makes this a handle on another row, which takes over all values."""
        self._rows.copy_into(rows, self._slot, slot)
        self._rows, self._slot = rows, slot

    def _state(self) -> tuple[Any, ...]:
        """Attributes that count for equality, besides the others."""
        record = self._rows.table[self._slot]
        names = [name for name in record.dtype.names if name not in ("next", "placed", "reward")]
        return tuple("drawn" if record[name] != record[name] else record[name].item() for name in names)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        assert isinstance(other, GridWorldAgent)  # for the type checker
        mine, theirs = _as_plain(self._attributes()), _as_plain(other._attributes())
        return self._state() == other._state() and mine == theirs

    __hash__ = object.__hash__

    def __copy__(self) -> GridWorldAgent:
        """A copy outside of any grid."""
        twin = type(self).__new__(type(self))
        self._rows.copy_into(twin._rows, self._slot)
        twin.__dict__.update(self._attributes())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> GridWorldAgent:
        """A copy outside of any grid."""
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        self._rows.copy_into(twin._rows, self._slot)
        for name, value in self._attributes().items():
            twin.__dict__[name] = copy.deepcopy(value, memo)
        return twin

    def _attributes(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_rows", "_slot")}


class GridObservingAgent(ObservingAgent, GridWorldAgent):
    """An agent that sees the grid around it.

    Args:
        view_range: cells in each direction, or ``"FULL"``.
    """

    def __init__(self, view_range: int | str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.view_range = view_range

    view_range = Reach(_reach, 'Cells in each direction; ``"FULL"`` until an observer knows the grid.')


class MovingAgent(ActingAgent, GridWorldAgent):
    """An agent that moves.

    Args:
        move_range: cells in each direction that one step may go, or ``"FULL"``.
    """

    def __init__(self, move_range: int | str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.move_range = move_range

    move_range = Reach(_reach, 'Cells in each direction; ``"FULL"`` until an actor knows the grid.')


class OrientationAgent(GridWorldAgent):
    """An agent with a direction: 1 left, 2 down, 3 right, 4 up.

    Args:
        initial_orientation: None = drawn.
    """

    def __init__(self, initial_orientation: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initial_orientation = initial_orientation

    initial_orientation = Column(
        "first_orientation",
        _direction_or_none,
        "Orientation at the beginning of each episode; None = drawn.",
        _begin_facing,
        none=0,
    )
    orientation = Column(
        "orientation", _direction, "Direction of the agent; None before the first reset.", none=0
    )


class AttackingAgent(ActingAgent, GridWorldAgent):
    """An agent that attacks.

    Args:
        attack_range: cells in each direction, or ``"FULL"``.
        attack_strength: health that an attack takes, 0..1.
        attack_accuracy: chance of each attack, 0..1.
        simultaneous_attacks: attacks in one step; its use depends on the actor.
    """

    def __init__(
        self,
        attack_range: int | str | None = None,
        attack_strength: float | None = None,
        attack_accuracy: float | None = None,
        simultaneous_attacks: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.attack_range = attack_range
        self.attack_strength = attack_strength
        self.attack_accuracy = attack_accuracy
        self.simultaneous_attacks = simultaneous_attacks

    attack_range = Reach(_reach, 'Cells in each direction; ``"FULL"`` until an actor knows the grid.')
    attack_strength = Column("strength", _share, "Health that an attack takes.")
    attack_accuracy = Column("accuracy", _share, "Chance of each attack.")
    simultaneous_attacks = Column("attacks", _whole("int from 0", 0), "Attacks in one step.")


class AmmoAgent(GridWorldAgent):
    """An agent with attacks that use up ammo.

    Args:
        initial_ammo: rounds at the beginning of each episode; below 0 counts as none.
    """

    def __init__(self, initial_ammo: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initial_ammo = initial_ammo
        self._rows.has_ammo[self._slot] = True

    initial_ammo = Column(
        "first_ammo", _whole("int"), "Rounds at the beginning of each episode.", _begin_with_ammo
    )

    @property
    def ammo(self) -> int:
        """Rounds left."""
        return self._rows.ammo.item(self._slot)

    @ammo.setter
    def ammo(self, value: int) -> None:
        self._rows.ammo[self._slot] = max(int(value), 0)


def _place(value: Any, name: str) -> tuple[int, int] | None:
    if value is None:
        return None
    fits = isinstance(value, np.ndarray) and value.shape == (2,) and value.dtype.kind in "iuf"
    whole = fits and bool(np.all(value == np.floor(value)) and np.all(np.abs(value.astype(float)) < 2**31))
    require(
        whole,
        f"{name} {value!r} is no NumPy array of two integers; give for example np.array([0, 3])",
    )
    return int(value[0]), int(value[1])


def _as_plain(attributes: dict[str, Any]) -> PrincipleAgent:
    """Attributes as an agent, compared by value."""
    agent = PrincipleAgent.__new__(PrincipleAgent)
    agent.__dict__.update(attributes)
    return agent
