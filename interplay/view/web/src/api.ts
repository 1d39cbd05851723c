/** Requests to the server, and the types of its answers. */

import type { OverlayListed, OverlayInfo } from "./overlay";
import { T } from "./strings";

export const PROTOCOL = 2;
const TOKEN = "interplay.token";
const BORROWING = 2000; // ms that other tabs have for an answer: they may be busy

export interface About {
  interplay: string;
  protocol: number;
  opened: string;
  read_only: boolean;
}

interface RunListed {
  id: number;
  name: string;
  world: string;
  agent_steps: number;
  checkpoint: boolean;
  ratings: boolean; // there are some, or a league that may have some
}

export interface RecordingListed {
  id: number;
  run: number | null;
  name: string;
  world: string;
  ticks: number;
  policy: string;
  date: string | null;
  problem: string | null;
}

interface WorldListed {
  id: number;
  name: string;
}

export interface Sources {
  runs: RunListed[];
  recordings: RecordingListed[];
  worlds: WorldListed[];
  more: boolean;
}

/** A recording of the server as it was opened; the key changes with the file under its number. */
export interface Served {
  readonly id: number;
  key: string;
}

interface RecordingInfo {
  header: unknown;
  key: string;
  ticks: number;
  chunks: { first: number; ticks: number; raw: number; stored: number }[];
  complete: boolean; // closed and whole, so it grows no more
  problems: string[];
}

export interface Discrete {
  name: string;
  kind: "discrete";
  n: number;
  labels?: string[] | null;
  probabilities?: number[] | null;
  legal?: boolean[] | null;
}

export interface Box {
  name: string;
  kind: "box";
  low: (number | null)[]; // null: without end
  high: (number | null)[];
  labels?: string[] | null;
  mean?: number[] | null;
}

/** The numbers of a box nearest to 0. */
export function restOf(head: Box): number[] {
  return head.low.map((_, i) => {
    const [low, high] = rangeOf(head, i);
    return Math.min(Math.max(0, low), high);
  });
}

/** The range of a slider or bar, finite even if the box has no end. */
export function rangeOf({ low, high }: Box, i: number): [number, number] {
  const least = low[i] ?? Math.min(-1, (high[i] ?? 1) - 1);
  return [least, high[i] ?? Math.max(1, least + 1)];
}

export type HeadInfo = Discrete | Box;

/** A part of an agent's observation. */
export interface Observed {
  name: string;
  shape: number[];
  values: (number | null)[] | null;
  kind: "crop" | "rows" | "numbers" | "rays" | "text";
  names?: string[]; // of the columns, or of the numbers
  palette?: string[]; // of a crop's numbers
  there?: boolean[]; // which rows are seen
  slots?: (number | null)[]; // of the agents in rows
  angles?: number[]; // of rays, from the heading
  text?: string;
  weights?: number[]; // how much a row is attended
}

export interface Agent {
  slot: number;
  tick: number;
  name: string;
  present: boolean;
  acting: boolean;
  team: number | null;
  policy: string;
  note?: string | null; // why something is missing
  reward: number | null;
  return: number | null;
  value: number | null;
  metrics: Record<string, number | null>;
  heads: HeadInfo[];
  observation: Observed[];
  chosen: Record<string, unknown> | null;
}

export interface Curve {
  x: number[];
  mean: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

export interface Curves {
  loading: boolean;
  names: string[];
  against: string;
  /** Which of `names` are means over episodes, drawn where these began. */
  of_episodes: string[];
  curves: Record<string, Curve>;
  /** Why what the log has by now could not be read; these are earlier curves then. */
  problem?: string | null;
  /** The mean of the run's last measurements, and how many measurements, and episodes or lives, it is of. */
  last?: Record<string, { value: number; measurements: number; cases: number | null }>;
}

/** A player of a tournament or league; requests contain only its number. */
export interface PlayerListed {
  id: number;
  name: string;
}

export interface Ratings {
  players: (PlayerListed & {
    rating: number | null;
    low: number | null;
    high: number | null;
    games: number;
    /** Won, lost, drawn, cut: share of its games, low and high end of its 95 % interval; empty where that was not kept. */
    shares: Partial<Record<"won" | "lost" | "drawn" | "cut", [number, number, number]>>;
    /** The rule of play, "sampled" or "greedy"; empty for scripted players. */
    actions: string;
  })[];
  /** What decided matches: outcome, return, another metric; empty where that was not kept. */
  score: string;
  payoff: (number | null)[][];
  games: number[][];
  /** Shares of points of the first seat: overall, and of the row before the column. */
  seats: { first: number | null; shares: (number | null)[][] } | null;
  /** Recorded matches: number of the recording, players in the order of their seats. */
  matches: { id: number; match: number; players: number[]; scores: (number | null)[] }[];
  /** Whether two of them can meet live. */
  playable: boolean;
}

/** An error answer of the server; its message is shown to the user. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Takes the token out of the address and keeps it for this tab alone. */
export function takeToken(): string {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("token");
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    fragment.delete("token");
    history.replaceState(null, "", location.pathname + (fragment.size ? `#${fragment}` : ""));
  }
  return sessionStorage.getItem(TOKEN) ?? "";
}

const at = ({ id, key }: Served, what: string, tick = 0) => `/api/recordings/${id}/${what}?key=${key}&tick=${tick}`;

export class Api {
  private readonly others = new BroadcastChannel(TOKEN); // other tabs of this server in this browser

  constructor(private token: string) {
    this.others.onmessage = ({ data }) => data === "?" && this.token && this.others.postMessage(this.token);
  }

  /** A link opened in a new tab has no token: a tab that has this viewer open gives its own. */
  async borrow(): Promise<void> {
    if (this.token) return;
    const own = this.others.onmessage;
    const given = new Promise<string>((done) => {
      this.others.onmessage = ({ data }) => data !== "?" && done(String(data));
      setTimeout(() => done(""), BORROWING);
    });
    this.others.postMessage("?");
    this.token = await given;
    this.others.onmessage = own;
    if (this.token) sessionStorage.setItem(TOKEN, this.token);
  }

  about = () => this.json<About>("/api/about");
  recording = (id: number) => this.json<RecordingInfo>(`/api/recordings/${id}`);
  events = (of: Served, from = 0) => this.json<{ events: unknown[] }>(at(of, "events", from));
  agent = (of: Served, slot: number, tick: number) => this.json<Agent>(at(of, `agent/${slot}`, tick));
  overlays = (of: Served) => this.json<{ overlays: OverlayListed[]; populations: string[] }>(at(of, "overlays"));
  overlay = (of: Served, tick: number, asked: string) => this.json<OverlayInfo & { frame: string }>(`${at(of, "overlay", tick)}&asked=${encodeURIComponent(asked)}`);
  matches = (run: number) => this.json<{ matches: RecordingListed[] }>(`/api/runs/${run}/matches`);
  players = (run: number) => this.json<{ players: PlayerListed[] }>(`/api/runs/${run}/players`);
  ratings = (run: number) => this.json<Ratings>(`/api/runs/${run}/ratings`);

  /** All pages of the list. */
  async sources(): Promise<Sources> {
    const found: Sources = { runs: [], recordings: [], worlds: [], more: false };
    for (let page = 0; page < 50; page++) {
      const one = await this.json<Sources>(`/api/sources?page=${page}`);
      found.runs.push(...one.runs);
      found.recordings.push(...one.recordings);
      if (page === 0 || !found.worlds.length) found.worlds.push(...one.worlds);
      if (!one.more) break;
    }
    return found;
  }

  curves(run: number, names: string[], against: string, from: number | null, to: number | null): Promise<Curves> {
    const query = new URLSearchParams({ names: names.join(","), against, points: "2000" });
    if (from !== null) query.set("from", String(from));
    if (to !== null) query.set("to", String(to));
    return this.json<Curves>(`/api/runs/${run}/curves?${query}`);
  }

  /** Stored bytes of a chunk of scenes, still deflated. */
  async chunk(of: Served, chunk: number): Promise<Uint8Array> {
    return new Uint8Array(await (await this.ask(at(of, `chunks/${chunk}`))).arrayBuffer());
  }

  async file(id: number): Promise<Blob> {
    return (await this.ask(`/api/recordings/${id}/file`)).blob();
  }

  /** A websocket to a session; `key` of a recording that goes on. */
  live(source: string, key = ""): WebSocket {
    const socket = new WebSocket(`ws://${location.host}/api/live?source=${encodeURIComponent(source)}&key=${key}`, [`interplay.${PROTOCOL}`, `token.${this.token}`]);
    socket.binaryType = "arraybuffer";
    return socket;
  }

  private async json<Answer>(path: string): Promise<Answer> {
    return (await (await this.ask(path)).json()) as Answer;
  }

  private async ask(path: string): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(path, { headers: { Authorization: `Bearer ${this.token}` } });
    } catch {
      throw new ApiError(T.serverGone, 0);
    }
    if (answer.ok) return answer;
    const body = (await answer.json().catch(() => null)) as { error?: unknown } | null;
    const message = typeof body?.error === "string" ? body.error : T.answered(answer.status);
    throw new ApiError(answer.status === 401 ? (this.token ? T.otherStart : T.noToken) : message, answer.status);
  }
}
