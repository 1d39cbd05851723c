"""Which part of a world each page may see while people play, and the notes on it (docs/specs/viewer.md 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.core.replay import Mark
from interplay.view.run_log import one_line
from interplay.view.server.play import NO_SLOT, Moment, Play
from interplay.view.server.visitor import Visitor

SEES_ALL = "no fog: the player sees everything"
OWN_EYES = "fog: you see what your agent observes"
OTHER_EYES = "fog: another page plays, and you see what its agent observes, until the agent is given back"
NO_OVERLAYS = "an agent is played under fog, so overlays are off; give the agent back first"
HIDDEN_OVERLAYS = "roles are hidden and a seat is played, so overlays are off until all seats are given back"
NO_EYES = "fog: several people play, so spectators see nothing"
STANDS = "time begins when an agent is taken over: select one, then T"
CANNOT_SAY = "this world does not define what its agents see, so the player sees all of it"
WAIT_REVEALS = "roles are hidden and several pages are open, so the world waits for no player: waiting at night would reveal roles; close the other pages"
FOG_OF_ROLES = "the player sees the public table; details of other seats are hidden"
ALL_REVEALED = "hidden roles are shown until a seat is taken over, which begins a new game"
DEALT_ANEW = "a new game is played; every page sees only the public table until all seats are given back"
FOG = (OWN_EYES, OTHER_EYES, NO_EYES, DEALT_ANEW)  # notes of pages with a limited view


class Eyes:
    """Decides what each page may see of a session.

    Args:
        holders: slot -> the page that plays it; shared with the session, which changes it.
    """

    def __init__(self, play: Play, holders: Mapping[int, Visitor]) -> None:
        self._play, self._holders = play, holders

    def of(self, visitor: Visitor) -> int | None:
        """The slot of a page's view under fog, `NO_SLOT` for none; None: it sees all."""
        if not self._play.cast.fog or not self._holders:
            return None
        own = next((slot for slot, holder in self._holders.items() if holder is visitor), None)
        if own is None:
            return next(iter(self._holders)) if len(self._holders) == 1 else NO_SLOT
        return own

    @property
    def concealing(self) -> bool:
        """Whether a seat is played in a world with hidden information that is shown otherwise.

        No page sees it then, as any page may belong to the player, and the game is one that no page has seen.
        """
        return self._play.cast.reveals and self._play.has_secrets and bool(self._holders)

    def limited(self, visitor: Visitor) -> bool:
        """Whether a page gets details of its own slot only, because a slot is played."""
        return self.of(visitor) is not None or (self._play.has_secrets and bool(self._holders))

    def moment(self, visitor: Visitor) -> Moment:
        """The current view of a page."""
        eyes = self.of(visitor)
        return self._play.moment() if eyes is None else self._play.moment_of(eyes)

    def event(self, visitor: Visitor, mark: Mark) -> dict[str, Any] | None:
        """An event as a page may see it; None: not at all."""
        eyes, slots = self.of(visitor), list(mark.rows)
        if eyes is not None and slots:
            if eyes not in slots:
                return None
            slots = [eyes]
        return {"tick": mark.tick, "kind": mark.kind, "slots": slots}

    def note(self, visitor: Visitor) -> str | None:
        """The note on a page's view while a slot is played, or roles are shown; None: none."""
        if not self._holders:
            return ALL_REVEALED if self._play.cast.reveals and self._play.has_secrets else None
        eyes = self.of(visitor)
        if eyes is None:
            if self.concealing:
                return DEALT_ANEW
            return FOG_OF_ROLES if self._play.has_secrets else SEES_ALL
        if eyes == NO_SLOT:
            return NO_EYES
        hides = self._play.hides(eyes)
        if not hides:
            return CANNOT_SAY if hides is None else None
        return OWN_EYES if self._holders[eyes] is visitor else OTHER_EYES

    def check_look(self, visitor: Visitor, slot: int) -> None:
        """Checks whether a page may get details of an agent."""
        if self._holders.get(slot) is visitor:
            return
        name = one_line(self._play.world.agents[slot])
        if self.of(visitor) is not None:
            raise UserError(f"{name}: an agent is played under fog, so others are hidden; give it back first")
        if self.limited(visitor):
            raise UserError(
                f"{name}: roles are hidden and a seat is played; look at others when all seats are given back"
            )

    def check_overlay(self, visitor: Visitor, name: str) -> None:
        """Checks whether a page may see overlays, which show all agents. Errors as of `check_look`."""
        if self.of(visitor) is not None:
            raise UserError(NO_OVERLAYS)
        if self.limited(visitor):
            raise UserError(HIDDEN_OVERLAYS)

    def check_seed(self, seed: int | None) -> None:
        """Checks the seed of a new game; while a seat is played, the roles of a chosen seed may be known."""
        if self.concealing and seed is not None:
            raise UserError(
                f"seed {seed}: a seat is played, and roles of that game may be known; begin one without a seed"
            )

    def check_take(self, visitor: Visitor, slot: int, left: bool) -> None:
        """Checks whether a page may take a slot.

        A second slot under fog would see what neither observes; with hidden roles, one seat after the other would reveal
        them all.

        Args:
            left: whether a seat of this game was given back.
        """
        if self._play.cast.fog and self._plays(visitor) and self._holders.get(slot) is not visitor:
            raise UserError("under fog one plays one slot at a time; give back yours first")
        if not self.concealing or self._holders.get(slot) is visitor:
            return
        if self._plays(visitor):
            raise UserError("where roles are hidden one plays one seat at a time; give back yours first")
        if left:
            raise UserError(
                "a seat of this game was given back, and its role may be known; begin a new game, then take one"
            )

    def _plays(self, visitor: Visitor) -> bool:
        return any(holder is visitor for holder in self._holders.values())
