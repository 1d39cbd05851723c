/** A recording that the server has: each request names the file that was opened, so another one under its number is refused. */

import { afterEach, expect, it, vi } from "vitest";
import { Api, ApiError, Served } from "../src/api";
import type { Recorded } from "../src/recorded";
import { openServed } from "../src/source";
import { bytes } from "./fixtures";

const whole = bytes("match.replay");
const header = JSON.parse(new TextDecoder().decode(whole.slice(16, 16 + new DataView(whole.buffer).getUint32(12, true)))) as unknown;
const chunk = (first: number) => ({ first, ticks: 100, raw: 8, stored: 4 });

// An overlay of one cell that was counted up to tick 3.
const frame = new DataView(new ArrayBuffer(24));
frame.setUint8(0, 3);
for (const at of [2, 4]) frame.setUint16(at, 1, true);
frame.setUint32(8, 3, true);
const OVERLAY = { id: 0, name: "visits", cell: 1, origin: [0, 0], frame: btoa(String.fromCharCode(...new Uint8Array(frame.buffer))) };

afterEach(() => void vi.useRealTimers());

/** A server with a growing recording of one chunk. */
class Server {
  key = "a-";
  chunks = [chunk(0)];
  complete = false;
  marks: { tick: number; kind: string; slots: number[] }[] = [];
  asked: string[] = [];

  recording = (id: number) => Promise.resolve({ header, key: this.key, ticks: 100, chunks: this.chunks, complete: this.complete, problems: [], id });
  events = (served: Served, from = 0) => this.answer(served, from ? `events from ${from}` : "events", { events: this.marks.filter(({ tick }) => tick >= from) });
  overlay = (served: Served, tick: number, asked: string) => this.answer(served, `overlay at ${tick}`, { ...OVERLAY, asked });
  agent = (served: Served) => this.answer(served, "agent", {});
  overlays = (served: Served) => this.answer(served, "overlays", { overlays: [], populations: [] });
  chunk = (served: Served) => this.answer(served, "chunk", new Uint8Array(4));

  private answer<Value>({ id, key }: Served, what: string, value: Value): Promise<Value> {
    this.asked.push(`${what} ${id} ${key}`);
    return this.key.startsWith(key) ? Promise.resolve(value) : Promise.reject(new ApiError("another file", 409));
  }
}

it("goes on with the file that grows, and with no other one", async () => {
  const server = new Server();
  const source = await openServed(server as unknown as Api, 7, "match");
  expect([source.served, source.reel.last]).toEqual([{ id: 7, key: "a-" }, 99]);
  [server.key, server.chunks] = ["a-whole-", [chunk(0), chunk(100)]];
  expect([await source.grow!(), source.reel.last]).toEqual([true, 199]);
  expect(source.served!.key).toBe("a-whole-");
  [server.key, server.chunks] = ["b-", [chunk(0), chunk(100), chunk(200)]];
  await expect(source.grow!()).rejects.toThrow("another file");
  expect([source.served!.key, source.reel.last]).toEqual(["a-whole-", 199]);
  await source.reel.fetch(150);
  expect(source.reel.problem(150)).toBe("another file");
  await expect(source.agent(0, 3)).rejects.toThrow("another file");
  await (source.lays as unknown as { list(): Promise<void> }).list();
  expect(server.asked).toEqual(["events 7 a-", "events 7 a-", ...["events from 100", "chunk", "agent", "overlays"].map((what) => `${what} 7 a-whole-`)]);
});

it("asks for what is new in a file until that is whole, and for marks from the last known chunk on", async () => {
  const server = new Server();
  const mark = (tick: number) => ({ tick, kind: "death", slots: [0] });
  server.marks = Array.from({ length: 200_000 }, () => mark(5));
  const source = await openServed(server as unknown as Api, 7, "match");
  const { marks } = source;
  expect([await source.grow!(), server.asked]).toEqual([false, ["events 7 a-"]]);
  server.chunks = [chunk(0), chunk(100)];
  expect([await source.grow!(), marks.length]).toEqual([true, 200_000]);
  server.chunks = [chunk(0), chunk(100), chunk(200)];
  server.marks.push(mark(150), mark(250)); // those of a chunk are written after it
  expect([await source.grow!(), marks.slice(199_999)]).toEqual([true, [mark(5), mark(150), mark(250)]]);
  server.marks.push(mark(299));
  expect([await source.grow!(), marks.length]).toEqual([false, 200_002]);
  [server.key, server.complete] = ["a-whole-", true];
  expect([await source.grow!(), marks.at(-1), marks.length]).toEqual([false, mark(299), 200_003]);
  server.chunks = [];
  expect(await source.grow!()).toBe(false);
  expect(server.asked).toEqual(["events 7 a-", "events 7 a-", "events from 100 7 a-", "events from 200 7 a-"]);
});

it("counts no overlay of a recording that was left", async () => {
  vi.useFakeTimers();
  const server = new Server();
  server.overlays = (served: Served) => (void served, Promise.resolve({ overlays: [], populations: [] }));
  const source = await openServed(server as unknown as Api, 7, "match");
  const lays = source.lays as Recorded;
  lays.look(9, null);
  lays.lay({ name: "visits", population: null, options: {} });
  await vi.advanceTimersByTimeAsync(1100);
  const counted = () => server.asked.filter((one) => one.startsWith("overlay at 9")).length;
  expect([counted(), lays.overlay!.tick]).toEqual([3, 3]); // it goes on, as it is at tick 3 so far
  source.close();
  await vi.advanceTimersByTimeAsync(5000);
  expect(counted()).toBe(3);
});
