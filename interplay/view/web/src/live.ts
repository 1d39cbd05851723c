/** A session on the server: its frames, status, and requests. */

export { Hands } from "./hands";
import { Agent, Api, HeadInfo, PROTOCOL, ApiError } from "./api";
import { Controls } from "./keys";
import { Lays, OVERLAY, Overlay, OverlayListed, OverlayInfo, Wanted, readOverlay } from "./overlay";
import { Reel } from "./reel";
import { Mark, readMark } from "./replay";
import { Refused, Schema, readSchema } from "./schema";
import { Source } from "./source";
import { T } from "./strings";
import { Thinning } from "./thinning";

const KEY_EVERY = 100; // frames: as often a key frame is asked for, so that one can go back
const HELD_BYTES = 24 * 2 ** 20; // with 32 MiB a page of 1,024 agents took 152 MB after an hour, with 64 MiB 192 (bar: 150)
const HELD_SECONDS = 600;
const WAITS = [0.5, 1, 2, 4, 8]; // seconds before trying again
const MARKS = 5_000;
const AGENT_WAIT = 3_000; // ms
const APART: Partial<Record<PageMessage["type"], number>> = { act: 50 }; // ms between two: the server accepts 60 messages a second besides acknowledgements

interface Status {
  running: boolean;
  speed: number;
  tick: number;
  holders: Record<string, "you" | "somebody">;
  waiting: number | null;
  /** Whether a world in which all act at once waits for people. */
  waits: boolean;
  /** Whether its first step, which compiles, is running. */
  preparing: boolean;
  policy: string;
  note: string | null;
  /** Whether the view is limited because an agent is played. */
  fog: boolean;
}

export type Connection = "connecting" | "open" | "again" | "ended";

/** Messages to the server, which closes the connection on any other. */
export type PageMessage =
  | { type: "shown"; tick: number }
  | { type: "run"; on: boolean }
  | { type: "step"; n: number }
  | { type: "speed"; ticks_per_second: number }
  | { type: "select"; slot: number | null }
  | { type: "key" }
  | { type: "reset"; seed: number | null }
  | { type: "take"; slot: number }
  | { type: "give"; slot: number }
  | { type: "overlay"; name: string | null; population: number | null; agent: number | null; options: Record<string, string> }
  | { type: "wait"; on: boolean }
  | { type: "click"; slot: number; tick: number; x: number; y: number }
  | { type: "act"; slot: number; tick: number; action: Record<string, number | number[]> };

interface LiveListener {
  /** The status changed. */
  changed(): void;
  /** A frame came. */
  frame(): void;
  /** Something else lies over the world. */
  laid(): void;
  /** Fog came, or went. */
  veiled(): void;
  /** Another hello: the scene may be another one. */
  begun(): void;
  /** A line for the user. */
  notify(line: string, stays?: boolean): void;
}

export class Live implements Source, Lays {
  readonly live = true;
  /** Whether all ticks come to this page. */
  readonly thinning = new Thinning();
  world = "";
  agents: string[] = [];
  schema: Schema = { bounds: null, up: "south", layers: [] };
  reel = new Reel(this.schema);
  marks: Mark[] = [];
  problems: string[] = [];
  tickSeconds = 0.1;
  turnBased = false;
  mayPlay = false;
  /** Whether no other page watched when this one came. */
  alone = false;
  controls: Controls | null = null;
  /** Whether clicks mean something to the slot that is held. */
  clicks = false;
  heads: HeadInfo[] = [];
  connection: Connection = "connecting";
  /** Why the server ended it; "" as long as it has not. */
  why = "";
  overlays: OverlayListed[] = [];
  populations: string[] = [];
  wanted: Wanted | null = null;
  overlay: Overlay | null = null;
  refusal: string | null = null;
  status: Status = { running: false, speed: 10, tick: 0, holders: {}, waiting: null, waits: false, preparing: false, policy: "", note: null, fog: false };
  /** Counts changes of the details, and of the agents that have some. */
  asks = 0;
  /** The tick from which there is fog; nothing before it is shown meanwhile. */
  since: number | null = null;
  private socket: WebSocket | null = null;
  private tries = 0;
  private timer = 0;
  private sinceKey = 0;
  private overlayInfo: OverlayInfo | null = null;
  private selected: number | null = null;
  private latest: Agent | null = null;
  private waiting: ((answer: Agent | ApiError) => void)[] = [];
  private keptBack: ApiError | null = null; // why the selected agent has no details
  private quiet = false; // the page selects by itself
  private answer!: (begun: boolean) => void;
  /** Whether it has begun, once that is known. */
  readonly opened = new Promise<boolean>((done) => (this.answer = done));
  private readonly later = new Map<PageMessage["type"], PageMessage>();
  private readonly when = new Map<PageMessage["type"], number>();

  constructor(
    private readonly api: Api,
    readonly source: string,
    readonly title: string,
    private readonly listener: LiveListener,
    private readonly key = "",
  ) {
    this.connect();
  }

  get policy(): string {
    return this.status.policy;
  }

  /** The first tick that may be shown. */
  get first(): number {
    return Math.min(Math.max(this.reel.first, this.since ?? 0), this.reel.last);
  }

  /** The slot that this page plays; null if none. */
  get held(): number | null {
    const found = Object.entries(this.status.holders).find(([, holder]) => holder === "you");
    return found ? Number(found[0]) : null;
  }

  /** Sends a message; of frequent ones only the newest, a little later. */
  say(message: PageMessage): void {
    const apart = APART[message.type];
    if (message.type === "give") this.later.delete("act"); // no actions after giving back
    if (!apart) return this.send(message);
    const late = this.later.has(message.type);
    this.later.set(message.type, message);
    if (late) return;
    const wait = Math.max((this.when.get(message.type) ?? 0) + apart - performance.now(), 0);
    setTimeout(() => {
      this.when.set(message.type, performance.now());
      const newest = this.later.get(message.type);
      if (newest) this.send(newest);
      this.later.delete(message.type);
    }, wait);
  }

  private send(message: PageMessage): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  select(slot: number | null): void {
    if (slot === this.selected) return;
    this.selected = slot;
    this.latest = this.keptBack = null;
    this.quiet = false;
    this.say({ type: "select", slot });
    if (this.overlays.find(({ name }) => name === this.wanted?.name)?.by_agent) this.lay(this.wanted);
  }

  get lays(): Lays {
    return this;
  }

  get listed(): boolean {
    return this.connection === "open";
  }

  lay(wanted: Wanted | null): void {
    if (wanted?.name !== this.wanted?.name) this.overlay = null;
    this.wanted = wanted;
    this.refusal = null;
    const { name = null, population = null, options = {} } = wanted ?? {};
    const byAgent = this.overlays.find((one) => one.name === name)?.by_agent;
    this.say({ type: "overlay", name, population, agent: byAgent ? this.selected : null, options });
    this.listener.laid();
  }

  /** The newest details of an agent; the server sends those of one at a time. */
  agent(slot: number): Promise<Agent> {
    this.select(slot);
    if (this.keptBack) return Promise.reject(this.keptBack);
    if (this.latest?.slot === slot) return Promise.resolve(this.latest);
    return new Promise((done, failed) => {
      const late = new ApiError(T.noDetailsNow, 404);
      const timer = setTimeout(() => failed(late), AGENT_WAIT);
      this.waiting.push((answer) => {
        clearTimeout(timer);
        if (answer instanceof ApiError) failed(answer);
        else if (answer.slot === slot) done(answer);
        else failed(late);
      });
    });
  }

  close(): void {
    clearTimeout(this.timer);
    this.connection = "ended";
    this.socket?.close();
  }

  /** Tries at once what would be tried later. */
  again(): void {
    clearTimeout(this.timer);
    this.connect();
  }

  private connect(): void {
    const [before, socket] = [this.socket, this.api.live(this.source, this.key)];
    this.socket = socket;
    before?.close(); // a page that is counted twice is no longer alone
    socket.onmessage = ({ data }) => {
      if (socket !== this.socket) return;
      try {
        if (typeof data === "string") this.receive(JSON.parse(data) as Record<string, unknown>);
        else this.take(new Uint8Array(data as ArrayBuffer));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.say({ type: "key" });
      }
    };
    socket.onclose = () => {
      if (socket !== this.socket) return;
      this.answer(false);
      if (this.connection === "ended") return;
      this.connection = "again";
      this.status = { ...this.status, holders: {}, waiting: null };
      if (this.tries === WAITS.length) this.listener.notify(T.serverGone);
      if (this.tries > 0) void this.recognise();
      this.timer = window.setTimeout(() => this.connect(), 1000 * WAITS[Math.min(this.tries++, WAITS.length - 1)]!);
      this.listener.changed();
    };
  }

  /** Ends where the viewer was started anew: that start has a token of its own. */
  private async recognise(): Promise<void> {
    const problem: unknown = await this.api.about().catch((one: unknown) => one);
    if (!(problem instanceof ApiError) || problem.status !== 401 || this.connection !== "again") return;
    clearTimeout(this.timer);
    this.connection = "ended";
    this.listener.notify(T.otherStart);
    this.listener.changed();
  }

  private receive(message: Record<string, unknown>): void {
    if (message.type === "hello") this.begin(message);
    else if (message.type === "status") this.receiveStatus(message as unknown as Partial<Status>);
    else if (message.type === "events") this.marks = [...this.marks, ...(message.events as unknown[]).map(readMark)].slice(-MARKS);
    else if (message.type === "taken") {
      this.heads = message.heads as HeadInfo[];
      this.controls = message.controls as Controls | null;
      this.clicks = message.clicks === true;
    } else if (message.type === "agent") this.receiveAgent(message as unknown as Agent);
    else if (message.type === "overlay") this.overlayInfo = message as unknown as OverlayInfo;
    else if (message.type === "refused") this.refused(message);
    else if (message.type === "bye") {
      if (message.again === false) [this.connection, this.why] = ["ended", String(message.reason)];
      this.listener.notify(String(message.reason));
    }
    this.listener.changed();
  }

  private receiveStatus(changes: Partial<Status>): void {
    const { fog, holders } = this.status;
    this.status = { ...this.status, ...changes };
    if (JSON.stringify(this.status.holders) !== JSON.stringify(holders)) {
      this.requestAgain();
      if (!Object.keys(this.status.holders).length) this.refusal = null; // perhaps due to play
    }
    if (this.status.fog === fog) return;
    this.since = this.status.fog ? this.status.tick : null;
    this.listener.veiled();
  }

  private refused({ what, reason, slot }: Record<string, unknown>): void {
    if (what === "select" && slot !== this.selected) return; // of one that was selected before
    if (what === "overlay") {
      [this.refusal, this.wanted, this.overlay] = [String(reason), null, null];
      this.listener.laid();
    }
    if (what === "select") this.answerAll((this.keptBack = new ApiError(String(reason), 404)));
    if (what !== "select") this.listener.notify(String(reason), what !== "act" || this.status.waits || this.turnBased);
    else if (!this.quiet) this.listener.notify(String(reason), false); // the panel goes on saying it as long as it holds
  }

  /** Requests details again after a takeover, which changes the agents with details. */
  private requestAgain(): void {
    const { selected } = this;
    this.asks++;
    this.selected = null;
    this.select(selected);
    this.quiet = true; // no user input: the panel shows errors
  }

  private receiveAgent(agent: Agent): void {
    this.latest = agent;
    this.asks++;
    if (agent.slot === this.selected) this.keptBack = null;
    this.answerAll(agent);
  }

  private answerAll(answer: Agent | ApiError): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const hear of waiting) hear(answer);
  }

  private begin(hello: Record<string, unknown>): void {
    if (hello.protocol !== PROTOCOL) {
      this.connection = "ended";
      this.socket?.close();
      this.listener.notify(T.otherProtocol(String(hello.interplay)));
      return;
    }
    this.schema = readSchema(hello.schema);
    this.reel = new Reel(this.schema);
    this.marks = [];
    this.thinning.forget();
    this.world = String(hello.world);
    this.agents = (hello.agents as unknown[]).map(String);
    this.tickSeconds = Number(hello.tick_seconds) || this.tickSeconds;
    this.turnBased = hello.turn_based === true;
    this.mayPlay = hello.may_play === true;
    this.alone = hello.alone === true;
    this.controls = (hello.controls as Controls | null) ?? null;
    this.heads = (hello.heads as HeadInfo[]) ?? [];
    const { running, speed, tick, holders, policy } = hello as unknown as Status;
    this.status = { running, speed, tick, holders: holders ?? {}, policy: policy ?? "", waiting: null, waits: false, preparing: false, note: null, fog: false };
    this.since = null;
    this.latest = this.keptBack = null;
    this.asks++;
    this.connection = "open";
    this.tries = 0;
    this.sinceKey = 0;
    this.overlays = (hello.overlays as OverlayListed[]) ?? [];
    this.populations = (hello.populations as string[]) ?? [];
    if (this.selected !== null) this.say({ type: "select", slot: this.selected });
    if (this.wanted) this.lay(this.wanted);
    this.listener.begun();
    this.answer(true);
  }

  private take(frame: Uint8Array): void {
    if (frame[0] === OVERLAY) {
      const overlay = readOverlay(frame, this.overlayInfo);
      if (overlay.name === this.wanted?.name) this.overlay = overlay;
      return this.listener.laid();
    }
    const head = this.reel.push(frame);
    this.status.tick = head.tick;
    this.sinceKey = head.key ? 0 : this.sinceKey + 1;
    if (this.sinceKey === KEY_EVERY) this.say({ type: "key" });
    if (head.key) this.reel.trim(head.tick - HELD_SECONDS * Math.max(this.status.speed || Infinity, 1), HELD_BYTES);
    this.listener.frame();
  }
}
