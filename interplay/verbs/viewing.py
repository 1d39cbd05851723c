"""What the page opens, and the players of its worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean, is_folder, split_player
from interplay.core.policy import Policy
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import SUFFIX
from interplay.evaluate import lineup
from interplay.registry import check_options, find_world, lay_options, list_worlds
from interplay.view.server.app import make_app
from interplay.view.server.config import DEPTH
from interplay.view.server.keeping import Keeper, check_target
from interplay.view.server.page import MISSING, Page
from interplay.view.server.play import Cast
from interplay.view.server.refusals import Replaced
from interplay.view.server.serving import bind, open_browser, serve
from interplay.view.server.sources import Opened, is_begun, search

if TYPE_CHECKING:
    from interplay.view.server.sessions import Continued


RANDOM = "random"  # the player by default
_LOOKED_AT = 20  # recordings of a folder in which a policy's name is looked for
_WORDS = 100  # letters that a recording's own words have in ours


class Players(NamedTuple):
    """The players of worlds on the page.

    Attributes:
        policy: of a world without a run, and of recordings without their checkpoint: a scripted policy's name, or a run folder.
        options: of the worlds.
        seed: of worlds and policies.
        trust: runs may name programs of their own, see `interplay.core.trust`.
        overlays: user-defined ones, ``module:attribute``.
        fog: people see only what their agents observe.
        out: a recording of what people play.
        for_people: the world pauses until a person takes a slot.
    """

    policy: str = RANDOM
    options: Mapping[str, Any] = {}
    seed: int = 0
    trust: bool = False
    overlays: tuple[str, ...] = ()
    fog: bool = False
    out: Path | None = None
    for_people: bool = False

    @property
    def reveals(self) -> bool:
        """Whether hidden roles are shown while no person plays; not where the page was opened to play."""
        return not self.for_people

    def register_overlays(self) -> None:
        """Registers user-defined overlays."""
        if self.overlays:
            from interplay.evaluate.lifetimes.overlays import find_overlay, register_overlay

            for name in self.overlays:
                found = find_overlay(name)
                if found.live is None:
                    raise UserError(f"overlay {name}: it is not for worlds in play; give it live=Live(...)")
                register_overlay(found)

    def check(self, world: str) -> None:
        """Refuses players and options that `cast` would refuse later, on the page; makes no world and loads no network."""
        from interplay.verbs.players import find_player

        if self.out is not None:
            check_target(self.out)
        check_options(world, self.options)
        if not is_folder(self.policy):
            find_player(self.policy, world, self.options, trust=self.trust)

    def cast(
        self,
        kind: str,
        name: str,
        *chosen: str,
        continued: Continued | None = None,
        player: str = "",
        within: Path | None = None,
        warn: Callable[[str], object] = lambda line: None,
        say: Callable[[str], object] = lambda line: None,
    ) -> Cast:
        """The world of a source, and its players.

        Args:
            kind: ``run``, ``world`` or ``recording``.
            name: the run's folder, or the world's id.
            chosen: on the page: a player of the run's league, or two of a league or tournament, the first in the first seat.
            continued: of a recording: its world in its present state.
            player: of the run's league; empty: its first learner.
            within: the folder that was opened.
            warn: called with the reason why a recording is incomplete.
            say: called with the line that names the players of a run's world.
        """
        from interplay.verbs.players import find_player

        if continued is not None:
            return self._play_on(continued)
        if len(chosen) == 2:
            from interplay.verbs.pairing import Admission, seat_pair

            world, pair = seat_pair(
                Path(name), chosen, Admission(within or Path(name), self.trust, Path.cwd()), self.seed
            )
            return Cast(world, pair, pair.name, fog=self.fog, of=pair.of, reveals=self.reveals)
        keeper = None if self.out is None else Keeper(self.out, self.options, self.seed, warn)
        player = next(iter(chosen), player)
        run = name if kind == "run" else (self.policy if is_folder(self.policy) else "")
        run += f"@{player}" if kind == "run" and player else ""
        before = newest_of(Path(split_player(run)[0])) if run else []
        found = find_player(
            run or self.policy,
            "" if kind == "run" else name,
            self.options,
            trust=self.trust,
            alone=kind != "run",
        )
        world = found.make_world(num_worlds=1, seed=self.seed)
        cast = Cast(
            world,
            found.policy,
            self.policy,
            fog=self.fog,
            keeper=keeper,
            for_people=self.for_people,
            reveals=self.reveals,
        )
        if not run:
            return cast
        folder, named = split_player(run)
        own: Any = lineup.learner_of(found.policy)
        newest = Newest(Path(folder), own, self.seed, named or "", before)
        cast = cast._replace(values=_values_of(own))
        try:
            cast = _lined_up(cast, newest)
        except BaseException:
            world.close()
            raise
        say(f"{run}: {cast.words}")
        return cast

    def _play_on(self, continued: Continued) -> Cast:
        """A recorded world and its player: the recorded checkpoint, or else the player of worlds without a run."""
        from interplay.verbs.players import find_player, load_policy

        world, header, own = continued.world, continued.header, continued.checkpoint
        of = None
        if own is not None and len(header.lineup) > 1:
            run = str(own.folder) + (f"@{own.player}" if own.player else "")
            policy: Policy = find_player(run, world.id, trust=self.trust).policy
            words, of = lineup.line_of(lineup.players_of(policy, world)), _seats_of(policy)
        elif own is not None:
            policy = load_policy(own.folder, populations=own.populations, trust=self.trust)
            words = f"{words_of(own.folder, own.player)}, its own checkpoint"
        else:
            policy = find_player(self.policy, world.id, header.options, trust=self.trust, alone=True).policy
            words = self._words()
        words += _beginning(lineup.learner_of(policy))
        if own is None and header.policy not in ("", words):
            words += f" in place of {header.policy[:_WORDS]}"
        networks = own is not None or is_folder(self.policy)
        return Cast(
            world,
            policy,
            words,
            values=_values_of(lineup.learner_of(policy)) if networks else None,
            fog=self.fog,
            for_people=True,  # the tick from which one wants to go on is not to pass meanwhile
            of=of,
            under_way=continued.under_way,
        )

    def _words(self) -> str:
        """Name of the player of worlds without a run."""
        if not is_folder(self.policy):
            return self.policy
        from interplay.train.run.checkpoint import find_checkpoint

        run, player = split_player(self.policy)
        return words_of(find_checkpoint(run, lambda _: None), player or "")


def _lined_up(cast: Cast, newest: Newest) -> Cast:
    """The cast with the line that names its players, and the opponents of the run's training in their slots."""
    policy: Any = cast.policy
    own: Any = lineup.learner_of(policy)

    def words() -> str:
        own.words = newest.words
        players = lineup.players_of(policy, cast.world)
        return lineup.words_of(own) if len(players) == 1 else lineup.line_of(players)

    def renew() -> str | None:
        return None if newest.renew() is None else words()

    return cast._replace(words=words(), renew=renew, of=_seats_of(policy))


def _seats_of(policy: Policy) -> Callable[[int], tuple[Policy, str]] | None:
    """Slot -> its player now and its words; None where one policy plays all."""
    if not isinstance(policy, lineup.Lineup):
        return None
    seats = policy

    def of(slot: int) -> tuple[Policy, str]:
        player = seats.seated(slot)
        return player, lineup.words_of(player)

    return of


def _beginning(policy: Policy) -> str:
    """A note for recurrent networks: their memory holds nothing of earlier ticks."""
    network = getattr(getattr(policy, "settings", None), "network", None)
    return ", whose memory begins here" if network is not None and network.remembers else ""


def words_of(checkpoint: Path, player: str = "") -> str:
    """Name of a checkpoint as a player, e.g. ``first at 1,000,000``."""
    run, name = checkpoint.parent.parent.name, checkpoint.name
    run += f"@{player}" if player else ""
    return f"{run} at {int(name):,}" if name.isdecimal() else f"{run} {name}"


def _values_of(policy: Policy) -> Callable[[], Any] | None:
    """Maker of the value estimates that are shown beside play; None for scripted policies, and through interfaces."""
    from interplay.train.play.trained_policy import TrainedPolicy
    from interplay.train.play.values import ValuesBeside

    return partial(ValuesBeside, policy) if isinstance(policy, TrainedPolicy) else None


class Newest:
    """A run's policy, kept at its newest checkpoint while it plays.

    Args:
        run: the run's folder, or a checkpoint's, which stays as it is.
        policy: that was loaded from there.
        seed: that it was started with.
        player: of the run's league; empty: none.
        before: what `newest_of` gave before the policy was loaded, so that what has come since is found by the next look; None: nothing has.
    """

    def __init__(
        self,
        run: Path,
        policy: Policy,
        seed: int,
        player: str = "",
        before: list[tuple[Path, str]] | None = None,
    ) -> None:
        from interplay.train.run.checkpoint import find_checkpoint

        self._run, self._policy, self._seed, self._player = run, policy, seed, player
        self._looked_at = newest_of(run) if before is None else before
        same = newest_of(run) == self._looked_at
        self._now = find_checkpoint(run, lambda _: None) if same or not before else before[0][0]

    @property
    def words(self) -> str:
        """Name of the player, e.g. ``first at 1,000,000``."""
        return words_of(self._now, self._player_at(self._now))

    def _player_at(self, checkpoint: Path) -> str:
        """The player of a league that plays there; empty: its first learner, or no league."""
        from interplay.train.play.policy import restarted_copy

        own = getattr(self._policy, "settings", None)
        if self._player or own is None or not own.league.learners:
            return self._player
        return restarted_copy(checkpoint, own) or ""

    def renew(self) -> str | None:
        """Plays on with the weights of a newer checkpoint, if there is one; what it remembers stays.

        Raises:
            Replaced: if the checkpoint is of other settings, for which the world has to be made anew.
        """
        found = newest_of(self._run)
        if not found or found == self._looked_at:
            return None
        self._looked_at = found
        load = getattr(self._policy, "load_weights", None)
        names = getattr(self._policy, "names", None)
        if load is None or names is None:
            return None
        from interplay.train.play.policy import read_populations

        newest = found[0][0]
        own = getattr(self._policy, "settings", None)
        if own is not None and (changed := _changed(own, newest)):
            raise Replaced(
                f"{self._run}: {changed} is another since its world was made, so that is made anew"
            )
        if own is not None and own.league.learners:
            names = [self._player_at(newest) or next(iter(own.league.learners))]
        load(read_populations(newest, names)[1])
        self._now = newest
        kept = self._policy.save()
        self._policy.start(self._policy.world, self._seed)
        self._policy.load(kept)
        return self.words


def newest_of(run: Path) -> list[tuple[Path, str]]:
    """The newest checkpoint that a run lists, whole or not, and its manifest's checksum, empty if unreadable; [] if it lists none."""
    from interplay.train.run.checkpoint import list_checkpoints

    return [(path, _checksum_of(path)) for path in list_checkpoints(run)[-1:]]


def _checksum_of(checkpoint: Path) -> str:
    from interplay.train.run.manifest import read_manifest

    try:
        return str(read_manifest(checkpoint)["checksum"])
    except UserError:
        return ""


def _changed(settings: Any, checkpoint: Path) -> str:
    """The first key in which the settings of a policy differ from a checkpoint's, but for the pace of training; "" if none does."""
    from interplay.core.seals import canonical
    from interplay.train.curriculum import played_stage
    from interplay.train.run.checkpoint import read_part
    from interplay.train.run.manifest import read_manifest
    from interplay.train.run.settings_file import PACE

    found = (read_manifest(checkpoint).get("settings") or {}).get("values", {})
    stage = played_stage(read_part(checkpoint, [])[0])[1]
    now = {**found, "world.options": lay_options(settings.world.id, found.get("world.options", {}), stage)}
    was = canonical(settings)
    return next((key for key in now if key in was and key not in PACE and now[key] != was[key]), "")


def find_opened(what: str) -> Opened:
    """What a user named: a run, a recording, a folder or a world; empty: the working folder and every world."""
    if not what:
        return Opened("", Path("."), worlds=tuple(spec.id for spec in list_worlds()))
    path = Path(what)
    if is_folder(what):
        run, player = split_player(what)
        if player is not None:
            _check_player(run, player)
        return Opened(what, Path(run), player=player or "")
    if what.endswith(SUFFIX):
        with ReplayReader(path, patience=0):  # raises for a damaged file
            return Opened(what, None, file=path)
    if ":" not in what and path.exists():
        raise UserError(f"{what}: neither a folder nor a {SUFFIX} file; name a run, a recording or a world")
    try:
        return find_world_to_play(what)
    except UserError as error:
        raise UserError(f"{what}: no such run, recording or folder; {error}") from None


def _check_player(run: str, player: str) -> None:
    from interplay.train.play.policy import population_names
    from interplay.train.run.checkpoint import find_checkpoint

    names = population_names(find_checkpoint(run))
    if player not in names:
        near = did_you_mean(player, names, f"there are {', '.join(names)}")
        raise UserError(f"{run}@{player}: no such player; {near}")


def find_world_to_play(world: str) -> Opened:
    """A world that is played by a person."""
    if ":" in world:
        return Opened(world, None, worlds=(world,))
    try:
        find_world(world)
    except UserError:
        if is_folder(world):
            line = f"{world}: a folder; name a world to play in, and a run with --opponent {world}"
            raise UserError(line) from None
        raise
    return Opened(world, None, worlds=(world,))


def check_shown(opened: Opened, read_only: bool) -> None:
    """Refuses what would be an empty page for ever; in a folder that is empty yet, or holds what has just begun, things may come."""
    if opened.file is not None or (opened.worlds and not read_only):
        return
    if opened.root is None:
        raise UserError(
            f"{opened.name}: a world to play, and --read-only plays nothing; leave it out, or name a run, a recording or a folder"
        )
    root = opened.root.resolve()
    if not any(search(root)) and not is_begun(root):
        name = opened.name or "this folder"
        raise UserError(
            f"{name}: no run, tournament or recording lies there, {DEPTH} folders deep; name another one, or a world to play"
        )


def _recordings(opened: Opened) -> list[Path]:
    if opened.file is not None:
        return [opened.file]
    return [] if opened.root is None else [place.path for place in search(opened.root.resolve())[1]]


def _check_players(players: Players, opened: Opened) -> None:
    """Refuses players and options that no world or recording of the page could have."""
    if players.policy != RANDOM and not opened.worlds:
        recordings = _recordings(opened)
        if not recordings:
            raise UserError(
                f"--policy {players.policy}: {opened.name} names no world, and runs are played by their own networks; leave --policy out"
            )
        if not is_folder(players.policy):
            _check_policy(players, recordings)
    if opened.file is not None and players.options:
        raise UserError(
            f"--option {next(iter(players.options))}: a recording has the options it was made with; leave it out"
        )
    if opened.root is None:
        for world in opened.worlds:
            players.check(world)


def _check_policy(players: Players, recordings: Sequence[Path]) -> None:
    """Refuses a policy that could continue none of the first recordings of a folder."""
    from interplay.verbs.players import find_player

    refused: UserError | None = None
    for path in recordings[:_LOOKED_AT]:
        try:
            with ReplayReader(path, links=False) as reader:
                header = reader.header
            if ":" in header.world:
                continue  # it may name a program, which is not imported here
            find_player(players.policy, header.world, header.options, trust=players.trust)
            return
        except UserError as error:
            refused = error
    if refused is not None:
        raise UserError(f"--policy {players.policy}: {refused}")


def serve_page(
    opened: Opened,
    players: Players | None,
    host: str,
    port: int,
    browser: bool,
    say: Callable[[str], object],
    warn: Callable[[str], object],
    compress: bool = False,
) -> bool:
    """Serves the page until Ctrl-C.

    Args:
        players: of the worlds; None: nothing is played (``--read-only``).
        host, port: of the address; port 0 is any free one.

    Returns:
        False if a recording of what people played is incomplete, with the reason given to `warn` before.
    """
    check_shown(opened, players is None)
    if players is not None:
        players.register_overlays()
        _check_players(players, opened)
    listening, address = bind(host, port)
    make, seed, trust = None, 0, False
    lost: list[str] = []

    def lose(line: str) -> None:
        lost.append(line)
        warn(line)

    if players is not None:
        make = partial(players.cast, player=opened.player, within=opened.root, warn=lose, say=say)
        seed, trust = players.seed, players.trust
    try:
        app = make_app(
            opened, make, address.port, address.token, address.host, seed, ticket=address.ticket, trust=trust
        )
    except BaseException:
        listening.close()
        raise

    def begun(leave: Callable[[], None]) -> None:
        if address.is_far:
            warn(
                f"--host {host}: other machines can reach this page; whoever has the address can watch and play"
            )
        if not Page().built:
            warn(MISSING)
        say(address.url)
        say(f"from another machine: {address.ssh()}, then the same address there; Ctrl-C ends")
        if browser:
            open_browser(address.once)

    serve(app, listening, begun, compress)
    return not lost
