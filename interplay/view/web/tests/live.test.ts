/** What a session is told of agents, and what it makes of refusals. The server is a stand-in that says what the test says. */

import { beforeEach, expect, it, vi } from "vitest";
import type { Agent, Api } from "../src/api";
import { Live } from "../src/live";

class Line {
  readyState = 1;
  sent: Record<string, unknown>[] = [];
  onmessage: ((message: { data: string | ArrayBuffer }) => void) | null = null;
  onclose: (() => void) | null = null;
  send = (text: string) => void this.sent.push(JSON.parse(text) as Record<string, unknown>);
  closed = 0;
  close = () => void this.closed++;
  hear = (message: object) => this.onmessage!({ data: JSON.stringify(message) });
}

const HELLO = { type: "hello", protocol: 2, world: "street", agents: ["ann", "bob", "cat"], schema: { scene: 1, bounds: null, up: "south", layers: [] }, holders: {} };
const agent = (slot: number) => ({ type: "agent", slot }) as unknown as Agent;
const refusal = (slot: number) => ({ type: "refused", what: "select", slot, reason: `no ${slot}` });

let lines: Line[];
let notes: [string, boolean | undefined][];
let live: Live;

beforeEach(() => {
  vi.stubGlobal("WebSocket", { OPEN: 1 });
  vi.stubGlobal("window", globalThis);
  [lines, notes] = [[], []];
  const nothing = () => undefined;
  const api = { live: () => (lines.push(new Line()), lines.at(-1)), about: () => Promise.resolve({}) } as unknown as Api;
  live = new Live(api, "world:0", "street", { changed: nothing, frame: nothing, laid: nothing, veiled: nothing, begun: nothing, notify: (line, stays) => void notes.push([line, stays]) });
  lines[0]!.hear(HELLO);
});

it("a refusal of one agent is of that agent, whoever is selected by then", async () => {
  const answer = live.agent(2).catch((problem: Error) => problem.message);
  const other = live.agent(1); // selected before the answer has come
  lines[0]!.hear(refusal(2));
  lines[0]!.hear(agent(1));
  expect((await other).slot).toBe(1);
  expect(await answer).toContain("No answer yet");
  expect((await live.agent(1)).slot).toBe(1);
  expect(notes).toEqual([]);
});

it("who is refused is told why, at once and for a while, and is told of when that is over", async () => {
  const answer = live.agent(2);
  lines[0]!.hear(refusal(2));
  await expect(answer).rejects.toThrow("no 2");
  await expect(live.agent(2)).rejects.toThrow("no 2");
  expect(notes).toEqual([["no 2", false]]);
  const before = live.asks;
  lines[0]!.hear({ type: "status", holders: { 1: "somebody" } }); // whoever plays changed: it is asked for again
  expect(live.asks).toBeGreaterThan(before);
  expect(lines[0]!.sent.filter(({ type, slot }) => type === "select" && slot === 2)).toHaveLength(2);
  lines[0]!.hear(refusal(2));
  expect(notes).toHaveLength(1); // no request waited for it this time
  lines[0]!.hear({ type: "status", holders: {} });
  lines[0]!.hear(agent(2));
  expect((await live.agent(2)).slot).toBe(2);
});

it("what was told before somebody took a slot is not taken for the present", async () => {
  live.select(2);
  lines[0]!.hear(agent(2));
  expect((await live.agent(2)).slot).toBe(2);
  lines[0]!.hear({ type: "status", holders: { 1: "somebody" } });
  const answer = live.agent(2);
  lines[0]!.hear(refusal(2));
  await expect(answer).rejects.toThrow("no 2");
});

it("a refusal ends with the line on which it came", async () => {
  const answer = live.agent(2);
  lines[0]!.hear(refusal(2));
  await expect(answer).rejects.toThrow("no 2");
  lines[0]!.onclose!();
  live.again();
  const before = live.asks;
  lines[1]!.hear(HELLO);
  expect(live.asks).toBeGreaterThan(before);
  const again = live.agent(2);
  lines[1]!.hear(agent(2));
  expect((await again).slot).toBe(2);
  live.close();
});

it("a page is on one line at a time, however often one asks for another", () => {
  lines[0]!.onclose!();
  for (let time = 0; time < 3; time++) live.again();
  expect(lines.map(({ closed }) => closed)).toEqual([1, 1, 1, 0]);
  lines[2]!.onclose!(); // it was given up, and tells nothing of the one that is tried
  lines[3]!.hear(HELLO);
  expect(live.connection).toBe("open");
  live.close();
  expect(lines[3]!.closed).toBe(1);
});

it("why nothing lies over the world is not said longer than it holds", () => {
  live.lay({ name: "visits", population: null, options: {} });
  lines[0]!.hear({ type: "status", holders: { 1: "somebody" } });
  lines[0]!.hear({ type: "refused", what: "overlay", reason: "somebody plays" });
  lines[0]!.hear({ type: "status", waits: true });
  expect(live.refusal).toBe("somebody plays");
  lines[0]!.hear({ type: "status", holders: {} });
  expect(live.refusal).toBeNull();
});

it("keeps the frames of 600 s, and at full speed all that there is room for", () => {
  const key = (tick: number) => {
    const view = new DataView(new ArrayBuffer(16)); // a key frame without layers
    view.setUint8(0, 1);
    for (const at of [4, 8]) view.setUint32(at, tick, true);
    lines[0]!.onmessage!({ data: view.buffer });
  };
  for (const [speed, first] of [[0, 0], [2, 2000], [1, 2600]] as const) {
    lines[0]!.hear({ ...HELLO, speed });
    for (const tick of [0, 1000, 2000, 2600, 3200]) key(tick);
    expect([speed, live.reel.first, live.reel.last]).toEqual([speed, first, 3200]);
  }
});

it("keeps the newest events", () => {
  const events = (from: number, to: number) => ({ type: "events", events: Array.from({ length: to - from }, (_, i) => ({ tick: from + i, kind: "death", slots: [i % 3] })) });
  lines[0]!.hear(events(0, 4000));
  expect(live.marks).toHaveLength(4000);
  expect(live.marks[3999]).toEqual({ tick: 3999, kind: "death", slots: [0] });
  lines[0]!.hear(events(4000, 7000));
  expect(live.marks.map(({ tick }) => tick)).toEqual(Array.from({ length: 5000 }, (_, i) => 2000 + i));
});
