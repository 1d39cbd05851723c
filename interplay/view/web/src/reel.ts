/** Frames held in chunks that each begin with a key frame, and the scene of any tick in them. */

import { Decoder, Head, Scene, readHead, splitFrames } from "./scene";
import { Refused, Schema } from "./schema";

export const KEPT = 8; // inflated chunks of a recording
const AHEAD = KEPT / 2; // chunks loaded before they are played: of more, `forget` would drop those that are played next
const SCENES = 6; // decoded, so that two ticks side by side cost one step

interface Chunk {
  first: number; // tick
  ticks: number;
}

interface Held extends Chunk {
  frames: Uint8Array[] | null; // null: not loaded
  numbers: number[] | null; // the frames' ticks, where some were left out
  used: number;
  loading: Promise<void> | null;
  problem: string | null;
}

export interface Shot {
  tick: number;
  first: boolean;
  last: boolean;
  scene: Scene;
}

/** The frames of one source. */
export class Reel {
  readonly chunks: Held[] = [];
  private cursor: { chunk: Held; next: number; decoder: Decoder; head: Head } | null = null;
  private shots = new Map<number, Shot>();
  private uses = 0;

  /**
   * @param load gives the raw bytes of the n-th chunk; null where frames are pushed as they come.
   */
  constructor(
    readonly schema: Schema,
    chunks: readonly Chunk[] = [],
    private readonly load: ((chunk: number) => Promise<Uint8Array>) | null = null,
  ) {
    this.extend(chunks);
  }

  /** The recording has grown: what stands behind the chunks that are known is added. */
  extend(chunks: readonly Chunk[]): void {
    for (const { first, ticks } of chunks.slice(this.chunks.length)) this.chunks.push({ first, ticks, frames: null, numbers: null, used: 0, loading: null, problem: null });
  }

  get first(): number {
    return this.chunks[0]?.first ?? 0;
  }

  get last(): number {
    const chunk = this.chunks[this.chunks.length - 1];
    return chunk ? chunk.first + chunk.ticks - 1 : 0;
  }

  /** The place of the chunk that holds a tick, or the next one where none does; -1 behind the last. */
  find(tick: number): number {
    let [low, high] = [0, this.chunks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const chunk = this.chunks[middle]!;
      if (chunk.first + chunk.ticks <= tick) low = middle + 1;
      else high = middle;
    }
    return low < this.chunks.length ? low : -1;
  }

  /** The first tick of the chunk that holds a tick. */
  chunkOf(tick: number): number {
    return this.chunks[this.find(tick)]?.first ?? tick;
  }

  /** Whether `at` answers at once; a chunk that cannot be read is ready too. */
  ready(tick: number): boolean {
    const chunk = this.chunks[this.find(tick)];
    return !chunk || chunk.frames !== null || chunk.problem !== null;
  }

  /** Loads the chunk of a tick; what went wrong is kept with it. */
  async fetch(tick: number): Promise<void> {
    const place = this.find(tick);
    const chunk = this.chunks[place];
    if (!chunk || chunk.frames || !this.load) return;
    chunk.problem = null;
    chunk.loading ??= this.fill(chunk, this.load(place)).finally(() => (chunk.loading = null));
    await chunk.loading;
  }

  /** Loads the next missing chunk of the coming `ticks`; returns the last tick up to which all are there. */
  prefetch(tick: number, ticks: number, loaded: () => void): number {
    const here = this.find(tick);
    let ready = tick;
    for (const chunk of here < 0 ? [] : this.chunks.slice(here, here + AHEAD + 1)) {
      if (!this.ready(chunk.first)) {
        void this.fetch(chunk.first).then(loaded);
        break;
      }
      ready = chunk.first + chunk.ticks - 1;
      if (ready > tick + ticks) break;
    }
    return ready;
  }

  private async fill(chunk: Held, raw: Promise<Uint8Array>): Promise<void> {
    try {
      const frames = splitFrames(await raw);
      const sound = frames.length === chunk.ticks && frames.every((frame, i) => readHead(frame).head.tick === chunk.first + i);
      if (!sound) throw new Refused("its ticks do not fit");
      chunk.frames = frames;
      chunk.used = ++this.uses;
      this.forget();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      chunk.problem = error.message;
    }
  }

  private forget(): void {
    const loaded = this.chunks.filter((chunk) => chunk.frames).sort((a, b) => a.used - b.used);
    for (const chunk of loaded.slice(0, Math.max(loaded.length - KEPT, 0))) chunk.frames = null;
  }

  /** What is wrong with the chunk of a tick. */
  problem(tick: number): string | null {
    return this.chunks[this.find(tick)]?.problem ?? null;
  }

  /** Adds the frame of a live session; frames are a key first, and ticks grow. Returns its head. */
  push(frame: Uint8Array): Head {
    const { head } = readHead(frame);
    if (head.key && this.chunks.length && head.tick < this.last) this.clear();
    if (head.key && head.tick === this.last) this.dropLast(); // the same frame once more, because it was asked for
    let chunk = this.chunks[this.chunks.length - 1];
    if (head.key) {
      chunk = { first: head.tick, ticks: 0, frames: [], numbers: [], used: 0, loading: null, problem: null };
      this.chunks.push(chunk);
    }
    if (!chunk) throw new Refused("a change came before the first key frame");
    chunk.frames!.push(frame);
    chunk.numbers!.push(head.tick);
    chunk.ticks = head.tick - chunk.first + 1;
    return head;
  }

  private dropLast(): void {
    const chunk = this.chunks[this.chunks.length - 1];
    if (!chunk) return;
    chunk.frames!.pop();
    chunk.numbers!.pop();
    this.shots.delete(this.last); // it may be fogged now
    const last = chunk.numbers![chunk.numbers!.length - 1];
    if (last === undefined) this.chunks.pop();
    else chunk.ticks = last - chunk.first + 1;
    if (this.cursor?.chunk === chunk) this.cursor = null;
  }

  /** Forgets what is older than a tick, whole chunks of it, and all but the newest `bytes`. */
  trim(tick: number, bytes: number): void {
    const sizes = this.chunks.map((chunk) => chunk.frames!.reduce((sum, frame) => sum + frame.length, 0));
    let total = sizes.reduce((sum, size) => sum + size, 0);
    for (const size of sizes) {
      const oldest = this.chunks[0]!;
      if (this.chunks.length < 2 || (total <= bytes && oldest.first + oldest.ticks > tick)) return;
      total -= size;
      this.chunks.shift();
    }
  }

  clear(): void {
    this.chunks.length = 0;
    this.shots.clear();
    this.cursor = null;
  }

  /** The last frame at or before a tick within its chunk; null where nothing can be shown. */
  at(tick: number): Shot | null {
    const chunk = this.chunks[this.find(tick)];
    if (!chunk?.frames || chunk.problem) return null;
    chunk.used = ++this.uses;
    const place = Math.max(placeOf(chunk, tick), 0);
    const number = tickAt(chunk, place);
    const known = this.shots.get(number);
    if (known) return known;
    try {
      return this.keep(this.decode(chunk, place));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      chunk.problem = error.message;
      this.cursor = null;
      return null;
    }
  }

  /** The tick of the frame that follows; null at the end, or where the next chunk is not at hand. */
  after(tick: number): number | null {
    const place = this.find(tick);
    const chunk = this.chunks[place];
    if (!chunk) return null;
    if (!chunk.numbers) return tick < this.last ? Math.max(tick + 1, this.chunks[this.find(tick + 1)]!.first) : null;
    const next = placeOf(chunk, tick) + 1;
    return next < chunk.numbers.length ? chunk.numbers[next]! : (this.chunks[place + 1]?.first ?? null);
  }

  /** The tick of the frame before; null at the beginning. */
  before(tick: number): number | null {
    const place = this.find(tick);
    const chunk = this.chunks[place];
    if (!chunk || tick <= this.first) return null;
    const earlier = placeOf(chunk, tick - 1);
    if (earlier >= 0) return tickAt(chunk, earlier);
    const previous = this.chunks[place - 1];
    return previous ? tickAt(previous, (previous.numbers?.length ?? previous.ticks) - 1) : null;
  }

  private decode(chunk: Held, place: number): Shot {
    let cursor = this.cursor;
    if (!cursor || cursor.chunk !== chunk || cursor.next > place) {
      const decoder = new Decoder(this.schema);
      cursor = { chunk, next: 0, decoder, head: { key: true, first: false, last: false, tick: chunk.first } };
    }
    this.cursor = null; // stays so if a frame is damaged
    while (cursor.next <= place) cursor.head = cursor.decoder.decode(chunk.frames![cursor.next++]!);
    this.cursor = cursor;
    const { tick, first, last } = cursor.head;
    return { tick, first, last, scene: cursor.decoder.scene() };
  }

  private keep(shot: Shot): Shot {
    this.shots.set(shot.tick, shot);
    if (this.shots.size > SCENES) this.shots.delete(this.shots.keys().next().value!);
    return shot;
  }
}

/** The place of the last frame at or before a tick; -1 where there is none. */
function placeOf(chunk: Held, tick: number): number {
  const { numbers, first, ticks } = chunk;
  if (!numbers) return Math.min(tick, first + ticks - 1) - first;
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= tick) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function tickAt(chunk: Held, place: number): number {
  return chunk.numbers ? chunk.numbers[place]! : chunk.first + place;
}
