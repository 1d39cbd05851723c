"""Through whose eyes pages see while people play, and what they are told of it (docs/specs/viewer.md 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.core.replay import Mark
from interplay.view.run_log import one_line
from interplay.view.server.play import NOBODY, Moment, Play
from interplay.view.server.visitor import Visitor

SEES_ALL = "no fog: who plays sees everything"
OWN_EYES = "fog: you see what your agent observes"
OTHER_EYES = (
    "fog: somebody plays, and you see what that agent observes; everything again when it is given back"
)
NO_OVERLAYS = "somebody plays under fog, so no overlay is drawn; give the slot back first"
HIDDEN_OVERLAYS = (
    "roles are hidden and somebody plays, so no overlay is drawn; ask when all seats are given back"
)
NO_EYES = "fog: several people play, so nothing is shown to who only watches"
STANDS = "time begins when somebody takes an agent over: select one, then T"
CANNOT_SAY = "this world does not say what its agents see, so who plays sees all of it"
TELLS = "roles are hidden and several pages look, so time stands still for nobody: it would tell who has something to do by night; close the others"
FOG_OF_ROLES = "who plays sees the public table; the details of other seats are kept back"
ALL_REVEALED = "hidden roles are shown while nobody plays; taking a seat over begins a new game"
DEALT_ANEW = "somebody plays a new game, of which every page sees the public table alone until all seats are given back"
FOG = (OWN_EYES, OTHER_EYES, NO_EYES, DEALT_ANEW)  # notes of who sees less than everything


class Eyes:
    """What each page may see of a session.

    Args:
        play: the world in play, and whether there is fog.
        holders: slot -> the page that plays it; the session's own, which changes.
    """

    def __init__(self, play: Play, holders: Mapping[int, Visitor]) -> None:
        self._play, self._holders = play, holders

    def of(self, visitor: Visitor) -> int | None:
        """Through whose eyes a page sees while somebody plays under fog: a slot's, or nobody's; None: it sees all."""
        if not self._play.cast.fog or not self._holders:
            return None
        own = next((slot for slot, holder in self._holders.items() if holder is visitor), None)
        if own is None:
            return next(iter(self._holders)) if len(self._holders) == 1 else NOBODY
        return own

    @property
    def concealing(self) -> bool:
        """Whether somebody plays where pages are shown what is hidden as long as nobody does.

        A page could have been another window of whoever plays, so no page sees it then, and the game is one that no page has seen.
        """
        return self._play.cast.reveals and self._play.has_secrets and bool(self._holders)

    def limited(self, visitor: Visitor) -> bool:
        """Whether a page is told of its own slot alone, because somebody plays."""
        return self.of(visitor) is not None or (self._play.has_secrets and bool(self._holders))

    def moment(self, visitor: Visitor) -> Moment:
        """What a page sees now."""
        eyes = self.of(visitor)
        return self._play.moment() if eyes is None else self._play.moment_of(eyes)

    def event(self, visitor: Visitor, mark: Mark) -> dict[str, Any] | None:
        """What a page is told of something that happened; None: nothing."""
        eyes, slots = self.of(visitor), list(mark.rows)
        if eyes is not None and slots:
            if eyes not in slots:
                return None
            slots = [eyes]
        return {"type": "event", "tick": mark.tick, "kind": mark.kind, "slots": slots}

    def note(self, visitor: Visitor) -> str | None:
        """What who plays sees, and what others see meanwhile; None where there is nothing to say."""
        if not self._holders:
            return ALL_REVEALED if self._play.cast.reveals and self._play.has_secrets else None
        eyes = self.of(visitor)
        if eyes is None:
            if self.concealing:
                return DEALT_ANEW
            return FOG_OF_ROLES if self._play.has_secrets else SEES_ALL
        if eyes == NOBODY:
            return NO_EYES
        hides = self._play.hides(eyes)
        if not hides:
            return CANNOT_SAY if hides is None else None
        return OWN_EYES if self._holders[eyes] is visitor else OTHER_EYES

    def check_look(self, visitor: Visitor, slot: int) -> None:
        """Refuses to tell a page of an agent.

        Raises:
            UserError: of others than its own, while somebody plays under fog, or where roles are hidden.
        """
        if self._holders.get(slot) is visitor:
            return
        name = one_line(self._play.world.agents[slot])
        if self.of(visitor) is not None:
            raise UserError(
                f"{name}: somebody plays under fog, so others are not told of; give the slot back first"
            )
        if self.limited(visitor):
            raise UserError(
                f"{name}: roles are hidden and somebody plays; look at others when all seats are given back"
            )

    def check_overlay(self, visitor: Visitor, name: str) -> None:
        """Refuses to lay an overlay over the world, which tells of all. Errors as of `check_look`."""
        if self.of(visitor) is not None:
            raise UserError(NO_OVERLAYS)
        if self.limited(visitor):
            raise UserError(HIDDEN_OVERLAYS)

    def check_seed(self, seed: int | None) -> None:
        """Refuses a game of a chosen seed while somebody plays: its roles may have been seen.

        Raises:
            UserError: for any seed then.
        """
        if self.concealing and seed is not None:
            raise UserError(
                f"seed {seed}: somebody plays, and roles of that game may have been seen; begin one without a seed"
            )

    def check_take(self, visitor: Visitor, slot: int, left: bool) -> None:
        """Refuses a second slot under fog: both together would see what neither observes.

        Nor does anybody take one seat after the other where roles are hidden, and learn them all.

        Args:
            visitor: the page.
            slot: that it would like.
            left: whether somebody has given back a seat of this game.

        Raises:
            UserError: if the page plays another slot.
        """
        if self._play.cast.fog and self._plays(visitor) and self._holders.get(slot) is not visitor:
            raise UserError("under fog one plays one slot at a time; give back yours first")
        if not self.concealing or self._holders.get(slot) is visitor:
            return
        if self._plays(visitor):
            raise UserError("where roles are hidden one plays one seat at a time; give back yours first")
        if left:
            raise UserError(
                "somebody has given back a seat of this game, whose role is known to them; begin a new game, then take one"
            )

    def _plays(self, visitor: Visitor) -> bool:
        return any(holder is visitor for holder in self._holders.values())
