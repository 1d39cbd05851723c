/** Reads recordings (docs/specs/viewer.md 5) in the browser; all of an untrusted file is checked. */

import { SPEEDS } from "./clock";
import { crc32, inflate, MAX_RAW } from "./inflate";
import { Refused } from "./schema";
import { T } from "./strings";

const MAGIC = [...new TextEncoder().encode("INTERPL"), 0x1a];
const MAJOR = 1;
const [PRELUDE, CHUNK_HEAD, TRAILER, CHECK] = [16, 24, 24, 4];
const MAX_HEADER = 2 ** 20;
const MAX_STORED = MAX_RAW + 2 ** 20; // bytes of a chunk in the file
const MAX_CHUNKS = 2 ** 18;
const MAX_MARKS = 100_000;
const VIDEO_FRAMES = 30; // in a second, see World.frames_per_step
const LEAST_SECONDS = 0.1; // of a tick

interface FileChunk {
  tag: string;
  first: number;
  ticks: number;
  raw: number;
  stored: number;
  at: number; // offset of its head
}

export interface Mark {
  tick: number;
  kind: string;
  slots: number[];
}

/** The header without the scene. */
export interface Header {
  world: string;
  policy: string;
  agents: string[];
  interplay: string;
  started: string;
  exact: boolean;
  tickSeconds: number; // that a tick stays in view
  scene: unknown;
}

export class ReplayFile {
  readonly problems: string[] = [];
  chunks: FileChunk[] = [];
  header!: Header;
  complete = false;

  private constructor(private readonly blob: Blob) {}

  /** Reads the header and finds the chunks. */
  static async open(blob: Blob): Promise<ReplayFile> {
    const file = new ReplayFile(blob);
    const start = await file.readHeader();
    await file.findChunks(start);
    return file;
  }

  get scenes(): FileChunk[] {
    return this.chunks.filter((chunk) => chunk.tag === "SCNE");
  }

  /** The raw bytes of a chunk. */
  async read(chunk: FileChunk): Promise<Uint8Array> {
    if (chunk.raw > MAX_RAW) throw new Refused(`a chunk claims ${chunk.raw} bytes; ${MAX_RAW} are read at most`);
    const data = await this.bytes(chunk.at, CHUNK_HEAD + chunk.stored);
    if (!sound(data)) throw new Refused(`ticks ${chunk.first} to ${chunk.first + chunk.ticks - 1} are damaged`);
    return inflate(data.subarray(CHUNK_HEAD), chunk.raw);
  }

  /** What happened, in the order of the ticks. */
  async marks(): Promise<Mark[]> {
    const found: Mark[] = [];
    for (const chunk of this.chunks.filter((one) => one.tag === "EVNT")) {
      try {
        const lines = new TextDecoder().decode(await this.read(chunk)).split("\n");
        for (const line of lines) if (line && found.length < MAX_MARKS) found.push(readMark(JSON.parse(line)));
      } catch {
        this.problems.push(T.damagedMarks(chunk.first, chunk.first + chunk.ticks - 1));
      }
    }
    return found.sort((a, b) => a.tick - b.tick);
  }

  private async readHeader(): Promise<number> {
    const prelude = await this.bytes(0, PRELUDE);
    if (prelude.length < PRELUDE || MAGIC.some((byte, i) => prelude[i] !== byte)) throw new Refused(T.noRecording);
    const view = new DataView(prelude.buffer);
    const major = view.getUint16(8, true);
    if (major !== MAJOR) throw new Refused(T.otherFormat(major, MAJOR));
    const length = view.getUint32(12, true);
    if (length > MAX_HEADER) throw new Refused(T.longHeader(length, MAX_HEADER));
    const rest = await this.bytes(PRELUDE, length + CHECK);
    const whole = rest.length === length + CHECK;
    if (!whole || crc32(rest.subarray(0, length), crc32(prelude)) !== new DataView(rest.buffer).getUint32(length, true))
      throw new Refused(T.damagedHeader);
    this.header = readHeader(jsonOf(rest.subarray(0, length)));
    return PRELUDE + length + CHECK;
  }

  private async findChunks(start: number): Promise<void> {
    const trailer = await this.bytes(Math.max(this.blob.size - TRAILER, 0), TRAILER);
    const closed = trailer.length === TRAILER && MAGIC.every((byte, i) => trailer[16 + i] === byte);
    const offset = closed ? Number(new DataView(trailer.buffer).getBigUint64(0, true)) : Infinity;
    this.complete = closed && offset >= start && offset <= this.blob.size;
    const end = this.complete ? offset : this.blob.size;
    const ends = new Map<string, number>(); // of the ticks that there are, by tag
    let at = start;
    while (at + CHUNK_HEAD <= end && this.chunks.length < MAX_CHUNKS) {
      const chunk = await this.chunkAt(at, end);
      if (!chunk) break;
      if (chunk.first < (ends.get(chunk.tag) ?? 0)) this.problems.push(T.twice(chunk.first, chunk.first + chunk.ticks - 1));
      else this.chunks.push(chunk);
      ends.set(chunk.tag, Math.max(ends.get(chunk.tag) ?? 0, chunk.first + chunk.ticks));
      at += CHUNK_HEAD + chunk.stored;
    }
    if (!this.complete || at < end) this.problems.push(T.notClosed(this.lastTick()));
  }

  private lastTick(): number {
    return this.scenes.reduce((most, chunk) => Math.max(most, chunk.first + chunk.ticks - 1), 0);
  }

  private async chunkAt(at: number, end: number): Promise<FileChunk | null> {
    const head = await this.bytes(at, CHUNK_HEAD);
    const view = new DataView(head.buffer);
    const [first, ticks, raw, stored] = [4, 8, 12, 16].map((place) => view.getUint32(place, true)) as [number, number, number, number];
    const tag = String.fromCharCode(...head.subarray(0, 4));
    return /^[A-Z]{4}$/.test(tag) && ticks > 0 && stored <= MAX_STORED && at + CHUNK_HEAD + stored <= end ? { tag, first, ticks, raw, stored, at } : null;
  }

  private async bytes(at: number, size: number): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.blob.slice(at, at + size).arrayBuffer());
  }
}

function jsonOf(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    throw new Refused(T.damagedHeader);
  }
}

function sound(data: Uint8Array): boolean {
  const check = new DataView(data.buffer, data.byteOffset).getUint32(20, true);
  return crc32(data.subarray(CHUNK_HEAD), crc32(data.subarray(0, 20))) === check;
}

/** Checks a header. */
export function readHeader(value: unknown): Header {
  if (typeof value !== "object" || value === null) throw new Refused(T.damagedHeader);
  const fields = value as Record<string, unknown>;
  const text = (key: string) => (typeof fields[key] === "string" ? (fields[key] as string) : "");
  const frames = Number.isInteger(fields.frames_per_step) ? (fields.frames_per_step as number) : 1;
  const own = Number(fields.tick_seconds) || Math.max(LEAST_SECONDS, frames / VIDEO_FRAMES); // as the server's play.tick_seconds
  const tickSeconds = Math.min(Math.max(own, 1 / SPEEDS[SPEEDS.length - 1]!), 1 / SPEEDS[0]!);
  const agents = Array.isArray(fields.agents) ? fields.agents.map(String) : [];
  return { world: text("world"), policy: text("policy"), interplay: text("interplay"), started: text("started"), exact: fields.exact === true, tickSeconds, agents, scene: fields.scene };
}

/** Checks a mark, which has rows in a file and slots from the server. */
export function readMark(value: unknown): Mark {
  const { tick, kind, rows, slots } = value as Record<string, unknown>;
  const list = slots ?? rows ?? [];
  if (!Number.isInteger(tick) || typeof kind !== "string" || !Array.isArray(list) || !list.every(Number.isInteger)) throw new Refused("a mark is damaged");
  return { tick: tick as number, kind, slots: list as number[] };
}
