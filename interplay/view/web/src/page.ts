/** The state of the page: source, selection, announcements. Panels read it; commands change it. */

import { readAddress, readLive, readOptions, writeAddress, writeOptions } from "./address";
import { About, Agent, Api, PROTOCOL, PlayerListed, Ratings, RecordingListed, Sources, ApiError, takeToken } from "./api";
import { focusWorld } from "./focus";
import type { Hands } from "./hands";
import { Command, commandOf } from "./keys";
import type { Live } from "./live";
import { Matches } from "./matches";
import { Player } from "./player";
import { Recorded } from "./recorded";
import { Mark } from "./replay";
import { Refused } from "./schema";
import { Source, openFile, openServed } from "./source";
import { T } from "./strings";

const DETAILS_EVERY = 200; // ms between two questions for an agent
const RATED_EVERY = 10_000; // ms between two requests for ratings, which the server reads from a checkpoint
const REMEMBERED_EVERY = 400; // ms between two changes of the address: Safari allows 100 in 30 s
const FIRST_CHECKPOINT = 5_000; // ms between two looks whether a run has one
const FAR = 100; // ticks of a step with Shift
const MOVE = 0.15; // of the picture
const TURN = 40; // pixels of a pointer that a key is worth
const SUFFIX = ".replay";

export class Page {
  readonly api = new Api(takeToken());
  readonly player: Player;
  about: About | null = null;
  sources: Sources | null = null;
  error: string | null = null;
  busy: string | null = null;
  /** Whether what the address asks for was opened, or failed to. */
  arrived = false;
  match: number | null = null;
  /** The run that curves and ratings belong to. */
  runId: number | null = null;
  ratings: Ratings | null = null;
  /** Players of the row and column of the open cell of the payoff matrix. */
  cell: readonly [number, number] | null = null;
  /** Players of a league. */
  players: PlayerListed[] = [];
  private rated: number | null = null; // the run of all three
  live: string | null = null;
  tab = "agent";
  panels = true;
  help = false;
  eventKind: string | null = null;
  details: Agent | null = null;
  detailsError: string | null = null;
  hands: Hands | null = null; // comes with the first live world
  readonly matches: Matches;
  notice: string | null = null;
  canvas: HTMLCanvasElement | null = null;
  goToField: HTMLInputElement | null = null;
  width = innerWidth;
  private asked = "";
  private asking = false;
  private rateDue = 0; // time of the next request for ratings
  private remembering = 0; // timer
  private noticeTimer = 0;
  private opening = 0;
  private held: number | null = null; // last announced
  private solidAsked = false; // by the address, until there is something that may be solid
  private announcedTo = 0; // last tick with announced events
  private ran = false; // time went on at the last look

  /** @param show draws the panels anew; @param aloud is heard by screen readers. */
  constructor(
    private readonly show: () => void,
    private readonly aloud: (line: string) => void,
  ) {
    this.player = new Player(() => this.changed());
    this.matches = new Matches(this, show);
  }

  get dark(): boolean {
    return !matchMedia("(prefers-color-scheme: light)").matches;
  }

  // -- opening ----------------------------------------------------------------------------------------------------

  async start(): Promise<void> {
    // A pasted address differs only after the #; our own changes by replaceState do not fire this event.
    addEventListener("hashchange", () => location.reload());
    try {
      await this.api.borrow();
      this.about = await this.api.about();
      if (this.about.protocol !== PROTOCOL) throw new Refused(T.otherProtocol(this.about.interplay));
      this.sources = await this.api.sources();
      this.error = null;
      await this.arrive();
    } catch (problem) {
      this.error = lineOf(problem);
    }
    this.arrived = true;
    this.show();
  }

  /** Opens what the address names, or the only source. */
  private async arrive(): Promise<void> {
    const { run, match, live, at, agent, tab, overlay, population, with: options, view } = readAddress(location.hash);
    if (tab) this.tab = tab;
    this.solidAsked = view !== null;
    const { runs, recordings, worlds } = this.sources!;
    if (match !== null) await this.openMatch(match, at);
    else if (live) await this.openLive(live);
    else if (run !== null) await this.openRun(run);
    else if (recordings.length === 1 && !runs.length) await this.openMatch(recordings[0]!.id);
    else if (runs.length === 1 && recordings.every((one) => one.run === runs[0]!.id)) await this.openRun(runs[0]!.id);
    else if (!runs.length && !recordings.length && worlds.length === 1) await this.openLive(`world:${worlds[0]!.id}`);
    const lays = this.player.source?.lays;
    if (overlay && lays) lays.wanted = { name: overlay, population, options: readOptions(options) };
    if (agent !== null && this.player.source) this.select(agent);
  }

  async openMatch(id: number, at: number | null = null): Promise<void> {
    const listed = this.recording(id);
    const title = listed?.name ?? `match ${id}`;
    await this.openWhen(title, () => openServed(this.api, id, title), at, () => {
      this.match = id;
      this.belongsTo(listed?.run ?? null);
    });
  }

  private recording(id: number): RecordingListed | undefined {
    return [...(this.sources?.recordings ?? []), ...this.matches.list].find((one) => one.id === id);
  }

  async openFile(file: File): Promise<void> {
    if (!file.name.endsWith(SUFFIX)) return this.tell(T.notOpened(file.name, T.noRecording));
    await this.openWhen(file.name, () => openFile(file, file.name), null, () => undefined);
  }

  private async openWhen(title: string, open: () => Promise<Source>, at: number | null, then: () => void): Promise<void> {
    const turn = ++this.opening;
    this.busy = T.opening;
    this.show();
    try {
      const source = await open();
      if (turn !== this.opening) return source.close();
      this.forget();
      then();
      if (source.lays instanceof Recorded) source.lays.laid = () => this.laid();
      this.player.open(source, at);
      this.say(T.opened(title, source.reel.last - source.reel.first + 1));
      if (source.problems[0]) this.tell(source.problems[0]);
    } catch (problem) {
      this.tell(T.notOpened(title, lineOf(problem)));
    }
    this.busy = null;
    this.changed();
  }

  /** The curves of a run, and its world where it can be watched. */
  async openRun(id: number, watch = true): Promise<void> {
    const listed = this.sources?.runs.find((one) => one.id === id);
    let opened: Promise<void> | null = null;
    if (watch && listed?.checkpoint && !this.about?.read_only) opened = this.openLive(`run:${id}`);
    else {
      this.forget();
      this.player.open(null);
    }
    if (this.runId !== id) this.belongsTo(id);
    this.tab = "curves";
    this.changed();
    if (watch && this.live === null && !this.about?.read_only) setTimeout(() => void this.lookAgain(id), FIRST_CHECKPOINT);
    await opened;
  }

  /** Watches a run that has just begun as soon as it has a checkpoint, unless something else was opened meanwhile. */
  private async lookAgain(id: number): Promise<void> {
    const waits = () => this.runId === id && this.live === null && this.match === null;
    if (!waits()) return;
    const found = await this.api.sources().catch(() => null);
    if (!waits()) return;
    if (found) this.sources = found;
    await this.openRun(id);
  }

  /** Asks for the ratings of a run, where there are some. */
  private belongsTo(run: number | null): void {
    this.runId = run;
    void this.matches.of(run);
    if (run !== this.rated) [this.rated, this.ratings, this.cell, this.players] = [run, null, null, []];
    this.rate();
  }

  /** Requests ratings and players of the open run, where there are some. */
  private rate(): void {
    const run = this.runId;
    const listed = this.sources?.runs.find((one) => one.id === run);
    if (run === null || !listed?.ratings) return;
    this.rateDue = Infinity;
    const hear = <Found>(asked: Promise<Found>, take: (found: Found) => void) => asked.then((found) => this.runId === run && (take(found), this.show()), () => undefined);
    const rated = hear(this.api.ratings(run), (found) => {
      const first = !this.ratings;
      this.ratings = found;
      if (first && !this.learns) this.tab = "ratings";
    });
    const named = listed.checkpoint && hear(this.api.players(run), ({ players }) => (this.players = players));
    void Promise.all([rated, named]).then(() => (this.rateDue = performance.now() + RATED_EVERY));
  }

  /** Requests ratings again, which a league in training changes, while they are in view. */
  rateAgain(): void {
    if (performance.now() >= this.rateDue && (!this.ratings || (this.panels && this.tab === "ratings"))) this.rate();
  }

  /** Whether what is open may have curves; tournaments have learnt nothing. */
  get learns(): boolean {
    return this.runId !== null && (!this.ratings || !!this.sources?.runs.find((one) => one.id === this.runId)?.agent_steps);
  }

  /** Whether a run that learns is open of which nothing was recorded so far. */
  get unrecorded(): boolean {
    const run = this.sources?.runs.find((one) => one.id === this.runId);
    return !!run && (run.checkpoint || !run.ratings) && this.matches.listed && !this.matches.list.length;
  }

  /** A world in play; what speaks with the server is fetched with the first one. */
  async openLive(source: string): Promise<void> {
    const found = readLive(source);
    if (found?.kind === "recording") return this.openRecorded(source, found.id);
    const list = found?.kind === "run" ? this.sources?.runs : this.sources?.worlds;
    const title = list?.find((one) => one.id === found?.id)?.name ?? source;
    this.forget();
    this.live = source;
    if (found?.kind === "run") this.belongsTo(found.id);
    const session = await this.session(source, title, this.opening);
    if (!session) return;
    this.player.open(session);
    this.changed();
  }

  /** A world that goes on from a recording, which stays in view until it has begun, and where it cannot. */
  private async openRecorded(source: string, id: number, slot: number | null = null, key = ""): Promise<void> {
    const listed = this.recording(id);
    const turn = ++this.opening;
    this.busy = T.opening;
    this.show();
    const session = await this.session(source, listed?.name ?? source, turn, key);
    const begun = await session?.opened;
    if (turn !== this.opening) return session?.close();
    this.busy = null;
    if (session && begun) {
      this.forget();
      this.live = source;
      this.belongsTo(listed?.run ?? null);
      this.player.open(session);
      focusWorld(); // the button that was pressed goes
      if (slot !== null) (this.select(slot), session.say({ type: "take", slot }));
    } else if (session) {
      session.close();
      if (!session.why) this.tell(T.serverGone);
    }
    this.changed();
  }

  /** Back from a world that was played on, the same agent selected. */
  async back(from: { id: number; at: number | null }): Promise<void> {
    const { selected } = this.player;
    await this.openMatch(from.id, from.at);
    if (this.match === from.id && selected !== null) this.select(selected);
    focusWorld();
  }

  private async session(source: string, title: string, turn: number, key = ""): Promise<Live | null> {
    const module = await import("./live").catch(() => null);
    if (turn !== this.opening) return null;
    if (!module) return (this.tell(T.serverGone), null);
    this.hands ??= new module.Hands(this.show, () => this.details);
    const listener = {
      changed: () => this.changed(),
      frame: () => this.frame(session),
      laid: () => this.laid(),
      veiled: () => this.player.veil(),
      begun: () => this.begun(session),
      notify: (line: string, stays = true) => this.tell(line, stays),
    };
    const session: Live = new module.Live(this.api, source, title, listener, key);
    return session;
  }

  private begun(session: Live): void {
    if (this.player.source !== session) return;
    this.player.begin();
    // With reduced motion a world starts stopped, unless another page watches it.
    if (this.player.reducedMotion && session.status.running && session.alone) session.say({ type: "run", on: false });
  }

  /** Whether the folder that was opened is empty so far. */
  get waits(): boolean {
    const { sources } = this;
    return !!sources && !sources.runs.length && !sources.recordings.length && !sources.worlds.length;
  }

  async lookForSources(): Promise<void> {
    this.sources = await this.api.sources();
    if (!this.waits && !this.player.source) await this.arrive();
    this.show();
  }

  /** Back to the list. */
  leave(): void {
    this.forget();
    this.matches.newest = false;
    void this.matches.of(null);
    this.player.open(null);
    this.changed();
    void this.api.sources().then((found) => ((this.sources = found), this.show()), () => undefined);
  }

  private forget(): void {
    this.opening++; // cancels what is being loaded
    this.match = this.runId = this.live = null;
    this.busy = null;
    this.details = null;
    this.detailsError = null;
    this.eventKind = null;
    this.error = null;
    this.hands?.drop();
  }

  // -- telling ----------------------------------------------------------------------------------------------------

  /** Shows a line for a while, or until the next input, and announces it. */
  tell(line: string, stays = false): void {
    this.notice = line;
    clearTimeout(this.noticeTimer);
    if (!stays) this.noticeTimer = window.setTimeout(() => this.dismiss(), 9000);
    this.say(line);
    this.show();
  }

  /** Hides the line after an input. */
  dismiss(): void {
    clearTimeout(this.noticeTimer);
    if (this.notice === null) return;
    this.notice = null;
    this.show();
  }

  say(line: string): void {
    this.aloud(line);
  }

  private changed(): void {
    this.announceHeld();
    this.announceFollowed();
    this.look();
    this.ask();
    if (this.solidAsked && this.player.shot) ((this.solidAsked = false), void this.setSolid(true));
    this.remember();
    this.show();
  }

  /** Announces new events of the followed agent while time goes on. */
  private announceFollowed(): void {
    const { source, tick, following, selected, running, clock } = this.player;
    const before = this.announcedTo;
    const passed = running || (this.ran && clock.atEnd);
    this.announcedTo = tick;
    this.ran = running;
    if (!source || !following || !passed || tick <= before) return;
    const events = source.marks.filter((mark) => mark.tick > before && mark.tick <= tick && mark.slots.includes(selected!));
    if (events.length) this.say(events.map((mark) => T.event(T.kinds[mark.kind] ?? mark.kind, [this.nameOf(selected!)], mark.tick)).join("; "));
  }

  /** Something else lies over the world. */
  private laid(): void {
    this.player.redraw();
    this.changed();
  }

  /** Overlays of recordings are of the tick in view. */
  private look(): void {
    const { source, tick, selected } = this.player;
    if (!(source?.lays instanceof Recorded)) return;
    if (this.tab === "overlays") void source.lays.list();
    source.lays.look(tick, selected);
  }

  /** Writes the address a moment later. */
  private remember(): void {
    this.remembering ||= window.setTimeout(() => ((this.remembering = 0), this.writeHash()), REMEMBERED_EVERY);
  }

  /** Writes the address, of a recording while nothing moves. */
  private writeHash(): void {
    const { player } = this;
    if ((player.running && !player.live) || player.loading) return;
    const wanted = player.source?.lays?.wanted;
    const at = player.source && !player.live ? player.tick : null;
    const tab = player.source || this.runId !== null ? this.tab : null;
    const hash = writeAddress({ run: this.match === null && this.live === null ? this.runId : null, match: this.match, live: this.live, at, agent: player.selected, tab, overlay: wanted?.name ?? null, population: wanted?.population ?? null, with: writeOptions(wanted?.options ?? {}), view: player.makeSolid || this.solidAsked ? "solid" : null });
    if (hash !== location.hash && (this.sources || this.error)) history.replaceState(null, "", location.pathname + hash);
  }

  /** Requests the selected agent's details, one request at a time, while the panel is open. */
  private ask(): void {
    const { source, selected, tick, live } = this.player;
    const question = `${selected} ${tick} ${live?.asks}`;
    if (!source || selected === null || !this.panels || (this.tab !== "agent" && live?.held !== selected)) return;
    if (this.asking || question === this.asked) return;
    if (this.detailsError && !live && this.player.running) return; // probably the same error at every tick
    this.asking = true;
    this.asked = question;
    source
      .agent(selected, tick)
      .then(
        (agent) => ((this.details = agent), (this.detailsError = null)),
        (problem: unknown) => ((this.details = null), (this.detailsError = lineOf(problem))),
      )
      .then(() => {
        if (source !== this.player.source || selected !== this.player.selected) this.details = null;
        this.show();
        setTimeout(() => ((this.asking = false), this.ask()), DETAILS_EVERY);
      });
  }

  nameOf(slot: number): string {
    return this.player.source?.agents[slot] ?? `${slot}`;
  }

  // -- commands ---------------------------------------------------------------------------------------------------

  select(slot: number | null): void {
    if (slot !== this.player.selected) this.details = this.detailsError = null;
    this.asked = "";
    this.player.select(slot);
    this.say(slot === null ? T.none : T.selected(this.nameOf(slot)));
  }

  /** Deselects, but keeps a played agent selected. */
  private selectNobody(): void {
    this.select(this.player.live?.held ?? null);
  }

  setTab(tab: string): void {
    this.tab = tab;
    this.asked = "";
    this.changed();
  }

  showHelp(on: boolean): void {
    this.help = on;
    this.show();
  }

  /** The solid view and back; it brings a library, which is fetched the first time. */
  async setSolid(on: boolean): Promise<void> {
    const { player } = this;
    const module = on && player.placed && (await import("./solid/solid").catch(() => this.tell(T.serverGone)));
    player.makeSolid = module
      ? (canvas, camera) =>
          module.makeSolid(canvas, camera, (made) => {
            if (made !== player.solid) return; // closed already
            void this.setSolid(false);
            this.tell(made ? T.solidLost : T.noSolid);
          })
      : null;
    this.say(player.makeSolid ? T.solid : T.flat);
    this.changed();
  }

  /** Runs the command of a key or a button. */
  run(command: Command): void {
    const { player } = this;
    const { clock } = player;
    if (command === "help") return this.showHelp(!this.help);
    if (command === "panels") return ((this.panels = !this.panels), this.show());
    if (!player.source) return;
    const acts: Partial<Record<Command, () => void>> = {
      play: () => {
        const [asked, running] = [player.live && player.atPresent, player.running];
        player.toggle();
        this.say((asked ? !running : player.running) ? T.playing : T.pausedAt(player.tick)); // a session does it a moment later
      },
      forward: () => this.step(1),
      back: () => this.step(-1),
      forwardFar: () => this.step(FAR),
      backFar: () => this.step(-FAR),
      start: () => this.goTo(clock.first),
      end: () => this.goTo(clock.last),
      previousEvent: () => this.event(-1),
      nextEvent: () => this.event(1),
      eventKind: () => this.nextKind(),
      faster: () => player.faster(1),
      slower: () => player.faster(-1),
      goTo: () => (this.goToField?.focus(), this.goToField?.select()),
      live: () => (player.present(), player.live && this.say(T.presentNow)),
      previousAgent: () => (player.neighbour(-1), this.announceSelected()),
      nextAgent: () => (player.neighbour(1), this.announceSelected()),
      follow: () => {
        player.follow();
        this.say(player.following ? T.followed(this.nameOf(player.selected!)) : T.unfollowed);
      },
      fit: () => (player.fit(), this.say(T.wholeNow)),
      moveLeft: () => this.move(-1, 0),
      moveRight: () => this.move(1, 0),
      moveUp: () => this.move(0, -1),
      moveDown: () => this.move(0, 1),
      zoomIn: () => player.zoom(1.4),
      zoomOut: () => player.zoom(1 / 1.4),
      solid: () => void this.setSolid(!player.makeSolid),
      turnLeft: () => player.turn(-TURN, 0),
      turnRight: () => player.turn(TURN, 0),
      tiltUp: () => player.turn(0, TURN),
      tiltDown: () => player.turn(0, -TURN),
      overlay: () => void this.nextOverlay(),
      population: () => this.nextPopulation(),
      take: () => this.take(),
      picture: () => void this.savePicture(),
      close: () => this.selectNobody(),
    };
    acts[command]?.();
  }

  private step(ticks: number): void {
    this.player.step(ticks);
    this.sayTick();
  }

  private goTo(tick: number): void {
    this.player.seek(tick);
    this.sayTick();
  }

  /** Announces the tick after a command; a session's frames do so later. */
  private sayTick(): void {
    const { player } = this;
    if (!player.live || !player.atPresent) this.say(T.tickNow(player.clock.tick));
  }

  /** Looks further to a side, by a part of the picture. */
  private move(right: number, down: number): void {
    const { camera } = this.player;
    this.player.drag(-right * MOVE * camera.width, -down * MOVE * camera.height);
  }

  /** Lays an overlay over the world, or takes it away. */
  setOverlay(name: string | null): void {
    const lays = this.player.source?.lays;
    if (!lays?.overlays.length) return this.tell(lays ? (lays.refusal ?? T.noOverlays) : T.overlaysServed);
    const listed = lays.overlays.find((one) => one.name === name);
    lays.lay(listed ? { name: listed.name, population: listed.together ? null : (lays.wanted?.population ?? 0), options: {} } : null);
    this.say(listed ? T.overlayNow(listed.name, listed.meaning) : T.noOverlayNow);
  }

  private async nextOverlay(): Promise<void> {
    const lays = this.player.source?.lays;
    if (lays instanceof Recorded) await lays.list();
    const names = [null, ...(lays?.overlays.map(({ name }) => name) ?? [])];
    this.setOverlay(names[(names.indexOf(lays?.wanted?.name ?? null) + 1) % names.length]!);
  }

  private nextPopulation(): void {
    const lays = this.player.source?.lays;
    if (!lays?.wanted) return this.tell(T.overlayFirst);
    const together = lays.overlays.find(({ name }) => name === lays.wanted!.name)?.together;
    const choices = [...(together ? [null] : []), ...lays.populations.keys()];
    const population = choices[(choices.indexOf(lays.wanted.population) + 1) % choices.length]!;
    lays.lay({ ...lays.wanted, population });
    this.say(T.populationNow(population === null ? T.allPopulations : lays.populations[population]!));
  }

  private announceSelected(): void {
    if (this.details?.slot !== this.player.selected) {
      this.details = this.detailsError = null;
      this.asked = "";
      this.ask();
    }
    this.say(this.player.selected === null ? T.none : T.selected(this.nameOf(this.player.selected)));
  }

  /** Kinds of events that there are, in the order in which they first happen. */
  eventKinds(): string[] {
    return [...new Set(this.player.source?.marks.map((mark) => mark.kind) ?? [])];
  }

  wanted(marks: Mark[]): Mark[] {
    const { first } = this.player.clock;
    return marks.filter(({ tick, kind }) => tick >= first && (this.eventKind === null || kind === this.eventKind));
  }

  setEventKind(kind: string | null): void {
    this.eventKind = kind;
    this.show();
  }

  private nextKind(): void {
    const kinds = [null, ...this.eventKinds()];
    this.setEventKind(kinds[(kinds.indexOf(this.eventKind) + 1) % kinds.length]!);
    this.say(T.eventKindNow(this.eventKind === null ? T.allEvents : (T.kinds[this.eventKind] ?? this.eventKind)));
  }

  private event(by: 1 | -1): void {
    const { player } = this;
    const marks = this.wanted(player.source!.marks);
    const at = player.live && player.atPresent ? player.tick : player.clock.tick;
    const mark = by > 0 ? marks.find(({ tick }) => tick > at) : marks.findLast(({ tick }) => tick < at);
    if (!mark) return this.tell(T.noMoreEvents);
    player.clock.playing = false;
    player.seek(mark.tick);
    const events = marks.filter(({ tick }) => tick === mark.tick);
    this.tell(events.map(({ kind, slots }) => T.event(T.kinds[kind] ?? kind, slots.map((slot) => this.nameOf(slot)), mark.tick)).join("; "));
  }

  async savePicture(): Promise<void> {
    const blob = this.canvas && (await this.player.picture(this.canvas));
    if (!blob) return this.tell(T.noPicture);
    this.save(blob, `${(this.player.source?.world ?? "world").replaceAll(/[^\w-]+/g, "-")}-${this.player.tick}.png`);
    this.say(T.saved);
  }

  /** Hands a file to the browser's downloads. */
  save(blob: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // -- playing ----------------------------------------------------------------------------------------------------

  /** Continues the recording from the tick in view as a world in play, with the selected agent taken over. */
  private playOn(): void {
    const { match, player } = this;
    if (match === null) return this.tell(T.playedOnServed);
    if (this.about?.read_only) return this.tell(T.readOnlyPlays);
    if (player.source?.marks.some(({ kind, tick }) => kind === "end" && tick === player.tick)) return this.tell(T.endedHere);
    player.clock.playing = this.matches.newest = false;
    void this.openRecorded(`recording:${match}@${player.tick}`, match, player.selected, player.source?.served?.key);
  }

  private take(): void {
    const { live, selected } = this.player;
    if (!live) return this.playOn();
    const { held } = live;
    const slot = held ?? selected;
    if (slot === null) return this.tell(T.selectAgent);
    this.hands?.drop();
    live.say(held === null ? { type: "take", slot } : { type: "give", slot });
  }

  /** Announces that an agent was taken over or given back. */
  private announceHeld(): void {
    const held = this.player.live?.held ?? null;
    if (held === this.held) return;
    if (held !== null) {
      // Keys go to the world now, and not to the button that was pressed.
      focusWorld();
      this.say([T.taken(this.nameOf(held)), this.player.live!.status.note].filter(Boolean).join(" "));
    }
    if (held === null && this.player.live) this.say(T.given(this.nameOf(this.held!)));
    this.held = held;
  }

  /** Sends a click on the world to the played agent, or selects. */
  click(px: number, py: number): void {
    const { live, camera, solid } = this.player;
    if (!live?.clicks || live.held === null) {
      const hit = this.player.hit(px, py);
      return hit === null ? this.selectNobody() : this.select(hit);
    }
    const place = (solid?.lens ?? camera).worldAt(px, py);
    if (place) live.say({ type: "click", slot: live.held, tick: live.status.tick, x: place[0], y: place[1] });
  }

  private frame(live: Live): void {
    if (this.player.source !== live) return;
    this.player.arrived();
    this.hands?.tick(live);
  }

  // -- keys -------------------------------------------------------------------------------------------------------

  onKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const writes = target.matches?.("input:not([type=checkbox]), textarea, dialog *");
    const chooses = target.matches?.("select") && !/^[^\w\s]$/.test(event.key); // letters and arrows are the list's, signs ours
    this.dismiss();
    // What has the focus is pressed, whatever the key means in a world.
    const presses = (event.key === " " || event.key === "Enter") && target.matches?.("button, summary, input");
    if (writes || chooses || presses || event.defaultPrevented) return;
    const live = this.player.live;
    const held = live?.held ?? null;
    if (live && held !== null && !event.altKey && !event.ctrlKey && !event.metaKey && this.hands?.press(event, live, held)) return event.preventDefault();
    const command = commandOf(event, held !== null && event.key !== "?" && event.key !== "Escape");
    if (!command) return;
    event.preventDefault();
    this.run(command);
  }

  onKeyUp(event: KeyboardEvent): void {
    this.hands?.release(event.key);
  }

  /** A window without focus gets no key-up events. */
  releaseKeys(): void {
    this.hands?.release(null);
  }
}

function lineOf(problem: unknown): string {
  if (problem instanceof ApiError || problem instanceof Refused) return problem.message;
  console.error(problem);
  return T.fault(problem instanceof Error ? problem.message : String(problem));
}
