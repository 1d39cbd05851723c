/** Plays a source: clock, camera and renderer. */

import { agentsAt, inView, isThere, middle, reach } from "./agents";
import { Camera } from "./camera";
import { Clock, SPEEDS } from "./clock";
import { Flat, type Rays } from "./flat";
import { Glide, shareAt } from "./glide";
import { seenShare } from "./ground";
import type { Live } from "./live";
import { Shot } from "./reel";
import { Layer } from "./scene";
import type { Solid } from "./solid/solid";
import { Source } from "./source";

const NOTIFY_EVERY = 100; // ms between two tellings of the panels while time goes on
const AHEAD_SECONDS = 4; // of a recording, loaded before they are played
const SHORTEST_GLIDE = 20; // ms
const LONGEST_GLIDE = 1000; // ms
const NEAR = 8; // pixels beside an agent that still hit it
const JITTER = 25; // ms: as old as that a frame is still drawn although there is a newer one
const SLOW = 100; // ms of a picture
export const SLOW_PICTURES = 20; // one after another, until the flat view is offered
const SPECK = 0.5; // of the ground's longer side: what is seen under fog and less is looked at from near
const ROOM = 0.7; // of the picture, for what is seen then
const FOLLOWED = 3; // times nearer than the whole world, when following begins
const READABLE = 7; // pixels of the followed agent's radius then, at least

/** The newest two frames of a world in play: ticks, times of arrival, and duration of the interpolation, in ms. */
interface Arrival {
  readonly from: number | null;
  readonly fromAt: number;
  readonly to: number | null;
  readonly at: number;
  readonly span: number;
}

const NOTHING: Arrival = { from: null, fromAt: 0, to: null, at: 0, span: 100 };

export class Player {
  readonly clock = new Clock();
  readonly camera = new Camera();
  source: Source | null = null;
  selected: number | null = null;
  following = false;
  private marked: number | null = null;
  private readonly rays = new Map<string, Rays>();
  /** Live: the newest frame is shown, not one of those that are held. */
  atPresent = true;
  shot: Shot | null = null;
  loading = false;
  problem: string | null = null;
  reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  private readonly thick = matchMedia("(prefers-contrast: more)");
  /** Makes the solid view, which is shown where this is there. */
  makeSolid: ((canvas: HTMLCanvasElement, camera: Camera) => Solid | null) | null = null;
  solid: Solid | null = null;
  slow = 0; // slow pictures one after another
  private flat: Flat | null = null;
  private before = 0; // time of the last picture
  private notified = 0;
  private dirty = true;
  private look = false; // how much is seen is to be looked at, once
  private near = false; // fog brought the camera near, so its end takes it away again
  private arrival: Arrival = NOTHING;
  private shownTick: number | null = null;
  private drawn = "";
  private drawings: number[] = [];

  /** @param changed is called when panels have something new to show. */
  constructor(private readonly changed: () => void) {
    matchMedia("(prefers-reduced-motion: reduce)").addEventListener("change", (event) => (this.reducedMotion = event.matches));
    this.thick.addEventListener("change", () => this.redraw());
    requestAnimationFrame((now) => this.loop(now));
  }

  get live(): Live | null {
    return this.source?.live ? (this.source as Live) : null;
  }

  /** The tick in view. */
  get tick(): number {
    return this.problem ? this.clock.tick : (this.shot?.tick ?? this.clock.tick);
  }

  get running(): boolean {
    return this.live && this.atPresent ? this.live.status.running : this.clock.playing;
  }

  get speed(): number {
    return this.live ? this.live.status.speed : this.clock.speed;
  }

  /** Whether there is more than tables: places, or a finished picture. */
  get pictured(): boolean {
    const schema = this.source?.schema;
    return !!schema && (!!schema.bounds || schema.layers.some(({ kind }) => kind === "picture"));
  }

  /** Whether things have places, between which they glide. */
  get placed(): boolean {
    const schema = this.source?.schema;
    return !!schema?.bounds && !schema.layers.some(({ kind }) => kind === "picture");
  }

  /** Pictures drawn in the last second. */
  get framesPerSecond(): number {
    const since = performance.now() - 1000;
    return this.drawings.filter((when) => when >= since).length;
  }

  /** Agents in the picture. */
  get inView(): number[] {
    const { agents, camera, solid } = this;
    return agents ? inView(agents, solid ?? camera, camera.width, camera.height) : [];
  }

  get agents(): Layer | null {
    return (this.shot && this.shot.scene.layers[agentsAt(this.shot.scene)]) ?? null;
  }

  attach(canvas: HTMLCanvasElement | null): void {
    this.solid?.close();
    this.solid = (canvas && this.makeSolid?.(canvas, this.camera)) ?? null;
    this.flat = canvas && !this.makeSolid ? new Flat(canvas) : null;
    this.slow = 0;
    this.redraw();
    this.touch();
  }

  open(source: Source | null, tick: number | null = null): void {
    this.source?.close();
    this.source = source;
    this.shot = null;
    this.selected = null;
    this.following = false;
    this.problem = null;
    this.begin();
    if (!source) return this.touch();
    if (!source.live) {
      this.clock.speed = 1 / source.tickSeconds;
      this.clock.seek(tick ?? source.reel.first);
      if (tick === null) this.clock.playing = !this.reducedMotion;
    }
    this.touch();
  }

  /** The scene is another one: a new source, or a session that began anew. */
  begin(): void {
    this.atPresent = true;
    this.arrival = NOTHING;
    this.shownTick = null;
    this.shot = null;
    this.clock.playing = false;
    if (!this.source) return;
    this.camera.look(this.source.schema);
    this.clock.range(this.source.reel.first, this.source.reel.last);
    this.touch();
  }

  /** A recording has grown; at its old end, playing goes on. */
  grew(): void {
    const { clock, source } = this;
    const goesOn = clock.atEnd && clock.last > clock.first && !this.reducedMotion;
    clock.range(source!.reel.first, source!.reel.last);
    clock.playing ||= goesOn;
    this.touch();
  }

  /** A live frame came. */
  arrived(): void {
    const { live, arrival } = this;
    if (!live) return;
    const now = performance.now();
    const gap = Math.min(now - arrival.at, LONGEST_GLIDE);
    const asked = live.status.speed > 0 ? 1000 / live.status.speed : 0;
    const to = live.reel.last;
    const back = arrival.to !== null && to < arrival.to;
    this.arrival = { from: back ? null : arrival.to, fromAt: arrival.at, to, at: now, span: Math.min(asked || gap, gap + 50, LONGEST_GLIDE) };
    if (live.status.running && this.atPresent) live.thinning.note(to, now);
    this.clock.range(live.first, live.reel.last);
    if (live.since !== null && this.look && live.reel.last >= live.since) this.lookAround();
    this.dirty = true;
  }

  /** Fog came or went: hides earlier views, and zooms to the visible part. */
  veil(): void {
    const { live } = this;
    if (!live) return;
    this.present();
    this.clock.range(live.first, live.reel.last);
    this.look = live.since !== null && live.held !== null && this.camera.fitted && !this.following;
    if (live.since === null && this.near) this.fit();
    this.near = false;
  }

  /** Zooms to the visible part of the ground if it is small, and follows. */
  private lookAround(): void {
    const { live } = this;
    const shot = live!.reel.at(live!.reel.last);
    this.look = false;
    const part = shot && seenShare(shot.scene);
    if (!part || part > SPECK) return;
    if (this.selected !== live!.held) this.select(live!.held);
    this.zoom(ROOM / part);
    this.near = this.following = true;
  }

  // -- commands ---------------------------------------------------------------------------------------------------

  toggle(): void {
    if (this.live && this.atPresent) this.live.say({ type: "run", on: !this.live.status.running });
    else {
      if (this.live) this.clock.speed = this.live.status.speed || SPEEDS[SPEEDS.length - 1]!;
      this.clock.toggle();
    }
    this.touch();
  }

  seek(tick: number): void {
    if (this.live) this.atPresent = tick >= this.clock.last;
    this.clock.seek(tick);
    // What could not be had before may be there now: the server was away, or the file has grown.
    if (this.source?.reel.problem(this.clock.tick)) void this.source.reel.fetch(this.clock.tick).then(() => this.touch());
    this.touch();
    this.paint(performance.now());
  }

  step(ticks: number): void {
    const { live } = this;
    if (live && this.atPresent) {
      if (live.status.running) live.say({ type: "run", on: false });
      if (ticks > 0) return live.say({ type: "step", n: ticks });
      this.clock.seek(live.reel.last);
      this.atPresent = false;
    }
    const reel = this.source?.reel;
    if (!reel) return;
    const near = ticks === 1 ? reel.after(this.clock.tick) : ticks === -1 ? reel.before(this.clock.tick) : null;
    this.clock.step(near === null ? ticks : near - this.clock.tick);
    if (live && ticks > 0) this.atPresent = this.clock.atEnd;
    this.touch();
  }

  faster(by: 1 | -1): void {
    if (this.live) this.clock.speed = this.live.status.speed;
    const [fastest, speed] = [SPEEDS[SPEEDS.length - 1]!, this.clock.speed];
    if (this.live && by > 0 && speed === fastest) this.clock.speed = 0; // as fast as possible
    else if (this.live && speed === 0) this.clock.speed = by > 0 ? 0 : fastest;
    else this.clock.faster(by);
    this.live?.say({ type: "speed", ticks_per_second: this.clock.speed });
    this.touch();
  }

  present(): void {
    if (!this.live) return;
    this.atPresent = true;
    this.touch();
  }

  select(slot: number | null): void {
    this.selected = slot;
    if (slot === null) this.following = false;
    this.live?.select(slot);
    this.touch();
  }

  /** Sets or removes rays of the selected agent. */
  cast(name: string, rays: Rays | null): void {
    if (rays) this.rays.set(name, rays);
    else this.rays.delete(name);
    this.redraw();
  }

  /** Marks an agent in the world, or none. */
  mark(slot: number | null): void {
    if (slot === this.marked) return;
    this.marked = slot;
    this.redraw();
  }

  /** The next agent that is there, up or down the list. */
  neighbour(by: 1 | -1): void {
    const { agents } = this;
    const rows = agents?.rows ?? this.source?.agents.length ?? 0; // in tables and pictures all have a name
    let slot = this.selected ?? (by > 0 ? -1 : rows);
    for (let i = 0; i < rows; i++) {
      slot = (slot + by + rows) % rows;
      if (!agents || isThere(agents, slot)) return this.select(slot);
    }
  }

  follow(on = !this.following): void {
    this.following = on && this.selected !== null;
    if (this.following && this.camera.fitted) {
      const size = this.agents && this.selected! < this.agents.rows ? reach(this.agents, this.selected!) : 0;
      this.camera.zoom(Math.max(FOLLOWED, size && READABLE / (size * this.camera.scale)));
    }
    this.touch();
  }

  fit(): void {
    this.following = false;
    this.camera.fit();
    this.touch();
  }

  zoom(factor: number, x?: number, y?: number): void {
    (this.solid?.lens ?? this.camera).zoom(factor, x, y);
    this.touch();
  }

  drag(dx: number, dy: number): void {
    this.following = false;
    (this.solid?.lens ?? this.camera).drag(dx, dy);
    this.touch();
  }

  /** Turns the solid view around what it looks at. */
  turn(dx: number, dy: number): void {
    this.solid?.lens.turn(dx, dy);
    this.redraw();
    this.touch();
  }

  resize(width: number, height: number): void {
    this.camera.resize(width, height);
    this.touch();
    this.paint(performance.now());
  }

  /** The agent at a pixel; null where there is none. */
  hit(px: number, py: number): number | null {
    const { agents, camera, solid } = this;
    if (!agents) return null;
    let [found, least] = [null as number | null, Infinity];
    const glide = new Glide(agents, null, 0);
    for (const row of glide.rows()) {
      const [x, y] = middle(glide, row);
      const size = reach(agents, row);
      const [sx, sy, scale] = (solid ?? camera).project(x, y, size);
      const distance = Math.hypot(sx - px, sy - py);
      if (distance <= Math.max(size * scale, NEAR) && distance < least) [found, least] = [row, distance];
    }
    return found;
  }

  /** The picture as it stands, as a file. */
  picture(canvas: HTMLCanvasElement): Promise<Blob | null> {
    // What WebGL has drawn can be read only before the browser shows it.
    this.redraw();
    this.paint(performance.now());
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  /** Redraws world and panels at once, after a command. */
  touch(): void {
    this.dirty = true;
    this.notified = 0;
    this.changed();
  }

  // -- time -------------------------------------------------------------------------------------------------------

  private loop(now: number): void {
    requestAnimationFrame((next) => this.loop(next));
    const gap = now - this.before;
    const past = Math.min(gap, 250);
    this.before = now;
    if (!this.source) return;
    if (!this.running || !this.atPresent) this.live?.thinning.forget();
    const played = this.clock.playing;
    if (played) this.advance(past);
    const drew = this.drawings.at(-1);
    this.paint(now);
    if (played && !this.clock.playing) this.touch();
    if (this.solid && this.drawings.at(-1) !== drew) this.slow = gap > SLOW ? this.slow + 1 : 0;
    if (this.running && now - this.notified >= NOTIFY_EVERY) {
      this.notified = now;
      this.changed();
    }
  }

  private advance(past: number): void {
    const { reel } = this.source!;
    const ready = reel.prefetch(this.clock.tick, AHEAD_SECONDS * this.clock.speed, () => (this.dirty = true));
    this.clock.advance(past, ready === reel.last ? ready : ready + 0.999);
    this.dirty = true;
    if (!this.clock.playing && this.live) this.atPresent = true;
  }

  private paint(now: number): void {
    const { source } = this;
    if (!source) return;
    if (!this.dirty) return;
    const present = this.live && this.atPresent;
    const { shot, next, share } = present ? this.newest(now) : this.recorded();
    if (this.arrival.to !== null) this.acknowledge(present && shot ? (next ?? shot).tick : this.arrival.to);
    if (!shot) return;
    const fresh = shot !== this.shot;
    this.shot = shot;
    this.dirty = !!present && (next !== null || shot.tick !== this.arrival.to); // until it has arrived, however late the pictures come
    const glides = next && !this.reducedMotion ? share : 0;
    if (this.following) this.centre(shot, next, glides);
    const state = `${shot.tick} ${next?.tick} ${glides} ${this.selected} ${this.camera.x} ${this.camera.y} ${this.camera.scale} ${this.camera.width} ${this.camera.height}`;
    const overlay = source.lays?.overlay ?? null;
    const view = this.solid ?? this.flat;
    if (view && (fresh || state !== this.drawn)) {
      view.draw({ scene: shot.scene, next: next?.scene ?? null, share: glides, selected: this.selected, thick: this.thick.matches, overlay, marked: this.marked, rays: [...this.rays.values()] }, this.camera);
      this.drawn = state;
      this.count(now);
    }
    if (fresh && !this.running) this.changed();
  }

  redraw(): void {
    this.drawn = "";
    this.dirty = true;
  }

  private recorded(): { shot: Shot | null; next: Shot | null; share: number } {
    const { reel } = this.source!;
    const { tick, share } = this.clock;
    if (!reel.ready(tick)) {
      this.loading = true;
      void reel.fetch(tick).then(() => (this.touch(), this.paint(performance.now())));
      return { shot: null, next: null, share: 0 };
    }
    const shot = reel.at(tick);
    this.loading = false;
    const problem = shot ? null : reel.problem(tick);
    if (problem !== this.problem) {
      this.problem = problem;
      this.changed();
    }
    const after = share > 0 && shot ? reel.after(tick) : null;
    const next = after !== null && reel.ready(after) ? reel.at(after) : null;
    return { shot, next: next?.first ? null : next, share };
  }

  private newest(now: number): { shot: Shot | null; next: Shot | null; share: number } {
    const { from, fromAt, to, at, span } = this.arrival;
    const { reel } = this.source!;
    if (to === null) return { shot: null, next: null, share: 0 };
    const glides = span > SHORTEST_GLIDE && !this.reducedMotion && this.placed;
    // Of two frames that came between two pictures the first is still drawn: a picture each, if they come in time.
    if (!glides && from !== null && from !== this.shownTick && now - fromAt < JITTER) {
      this.clock.seek(from);
      return { shot: reel.at(from), next: null, share: 0 };
    }
    const newest = reel.at(to);
    const share = glides ? shareAt(now, at, span) : 1;
    const old = from === null || share >= 1 || !newest || newest.first ? null : reel.at(from);
    this.clock.seek(old ? from! : to);
    return old ? { shot: old, next: newest, share } : { shot: newest, next: null, share: 0 };
  }

  /** Acknowledges the drawn frame, so that the server sends more. */
  private acknowledge(tick: number): void {
    const { live } = this;
    if (!live || tick === this.shownTick) return;
    this.shownTick = tick;
    queueMicrotask(() => live.say({ type: "shown", tick }));
  }

  private centre(shot: Shot, next: Shot | null, share: number): void {
    const place = agentsAt(shot.scene);
    const layer = shot.scene.layers[place];
    if (!layer || this.selected === null || !isThere(layer, this.selected)) return;
    this.camera.centre(...middle(new Glide(layer, next?.scene.layers[place] ?? null, share), this.selected));
  }

  private count(now: number): void {
    this.drawings.push(now);
    while (this.drawings[0]! < now - 1000) this.drawings.shift();
  }
}
