/** Sources of frames: a served recording, a dropped file, or a session (live.ts). */

import { Agent, Api, ApiError, Served } from "./api";
import { inflate } from "./inflate";
import type { Lays } from "./overlay";
import { Reel } from "./reel";
import { Recorded } from "./recorded";
import { Header, Mark, ReplayFile, readHeader, readMark } from "./replay";
import { Refused, Schema, readSchema } from "./schema";
import { T } from "./strings";

export interface Source {
  readonly live: boolean;
  readonly title: string;
  readonly world: string;
  readonly policy: string;
  readonly agents: string[];
  readonly schema: Schema;
  readonly reel: Reel;
  readonly marks: Mark[];
  readonly problems: string[];
  readonly tickSeconds: number;
  /** Details of an agent at a tick; rejects with the reason if there are none. */
  agent(slot: number, tick: number): Promise<Agent>;
  /** Overlays; null without a server. */
  readonly lays: Lays | null;
  /** The file that the server has; null without one. */
  readonly served?: Served | null;
  /** Reads new chunks of a recording that is still being written. */
  grow?(): Promise<boolean>;
  close(): void;
}

class Recording implements Source {
  readonly live = false;

  constructor(
    readonly title: string,
    private readonly header: Header,
    readonly schema: Schema,
    readonly reel: Reel,
    readonly marks: Mark[],
    readonly problems: string[],
    readonly agent: (slot: number, tick: number) => Promise<Agent>,
    readonly grow?: () => Promise<boolean>,
    readonly served: Served | null = null,
    readonly lays: Recorded | null = null,
  ) {}

  close() {
    this.lays?.close();
  }

  get world() {
    return this.header.world;
  }
  get tickSeconds() {
    return this.header.tickSeconds;
  }
  get policy() {
    return this.header.policy;
  }
  get agents() {
    return this.header.agents;
  }
}

/** A recording that the server has. */
export async function openServed(api: Api, id: number, title: string): Promise<Source> {
  let info = await api.recording(id);
  const served = { id, key: info.key };
  const { events } = await api.events(served);
  const header = readHeader(info.header);
  const schema = readSchema(header.scene);
  const problems = [...info.problems];
  const load = async (place: number) => {
    try {
      return await inflate(await api.chunk(served, place), info.chunks[place]!.raw);
    } catch (error) {
      throw error instanceof ApiError ? new Refused(error.message) : error;
    }
  };
  const reel = new Reel(schema, info.chunks, load);
  const marks = events.map(readMark);
  const grow = async () => {
    if (info.complete) return false;
    const before = info.chunks.length;
    const next = await api.recording(id);
    if (next.chunks.length <= before && !next.complete) return false;
    const from = info.chunks[before - 1]?.first ?? 0; // marks are written after the chunk of their ticks
    const newer = await api.events(served, from); // refused where another file is there now
    [info, served.key] = [next, next.key];
    reel.extend(info.chunks);
    while (marks.length && marks[marks.length - 1]!.tick >= from) marks.pop();
    for (const event of newer.events) marks.push(readMark(event));
    return info.chunks.length > before;
  };
  return new Recording(title, header, schema, reel, marks, problems, (slot, tick) => api.agent(served, slot, tick), grow, served, new Recorded(api, served));
}

/** A file from this machine; nothing of it leaves the browser. */
export async function openFile(blob: Blob, title: string): Promise<Source> {
  const file = await ReplayFile.open(blob);
  const schema = readSchema(file.header.scene);
  const scenes = file.scenes;
  if (!scenes.length) throw new Refused(T.emptyRecording);
  const reel = new Reel(schema, scenes, (place) => file.read(scenes[place]!));
  const noDetails = () => Promise.reject(new ApiError(T.noDetailsInFile, 404));
  return new Recording(title, file.header, schema, reel, await file.marks(), file.problems, noDetails);
}
