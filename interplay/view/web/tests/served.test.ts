/** A recording that the server has: each request names the file that was opened, so another one under its number is refused. */

import { expect, it } from "vitest";
import { Api, ApiError, Served } from "../src/api";
import { openServed } from "../src/source";
import { bytes } from "./fixtures";

const whole = bytes("match.replay");
const header = JSON.parse(new TextDecoder().decode(whole.slice(16, 16 + new DataView(whole.buffer).getUint32(12, true)))) as unknown;
const chunk = (first: number) => ({ first, ticks: 100, raw: 8, stored: 4 });

/** A server with a growing recording of one chunk. */
class Server {
  key = "a-";
  chunks = [chunk(0)];
  growing = true;
  asked: string[] = [];

  recording = (id: number) => Promise.resolve({ header, key: this.key, ticks: 100, chunks: this.chunks, complete: false, growing: this.growing, problems: [], id });
  events = (served: Served) => this.answer(served, "events", { events: [] });
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
  expect(server.asked).toEqual(["events 7 a-", "events 7 a-", ...["events", "chunk", "agent", "overlays"].map((what) => `${what} 7 a-whole-`)]);
});
