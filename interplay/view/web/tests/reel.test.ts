import { describe, expect, it } from "vitest";
import { KEPT, Reel } from "../src/reel";
import { Decoder, splitFrames } from "../src/scene";
import { readSchema } from "../src/schema";
import { ReplayFile } from "../src/replay";
import { digest } from "./canonical";
import { bytes, json } from "./fixtures";

const digests = json<Record<string, string[]>>("digests.json").match!;

async function match(name = "match.replay") {
  const file = await ReplayFile.open(new Blob([bytes(name)]));
  const { scenes } = file;
  const loads: number[] = [];
  const schema = readSchema(file.header.scene);
  const reel = new Reel(schema, scenes, (place) => (loads.push(place), file.read(scenes[place]!)));
  return { file, scenes, reel, loads, schema };
}

/** Whole chunks of frames under ticks that begin anew for each. */
async function long(chunks: number) {
  const { file, scenes, schema } = await match();
  const raw = await file.read(scenes[0]!);
  const size = scenes[0]!.ticks;
  const shifted = (place: number) => {
    const data = raw.slice();
    for (const frame of splitFrames(data)) {
      const view = new DataView(frame.buffer, frame.byteOffset);
      for (const at of [4, 8]) view.setUint32(at, view.getUint32(at, true) + place * size, true);
    }
    return Promise.resolve(data);
  };
  const loads: number[] = [];
  const table = Array.from({ length: chunks }, (_, place) => ({ first: place * size, ticks: size }));
  return { reel: new Reel(schema, table, (place) => (loads.push(place), shifted(place))), loads, size };
}

describe("a recording", () => {
  it("gives the scene of every tick, wherever one comes from", async () => {
    const { reel } = await match();
    for (const tick of [0, 249, 100, 99, 101, 150, 149, 148, 3, 200]) {
      await reel.fetch(tick);
      const shot = reel.at(tick)!;
      expect([shot.tick, await digest(shot.scene)]).toEqual([tick, digests[tick]]);
    }
  });

  it("loads a chunk once, and only those that are asked for", async () => {
    const { reel, loads } = await match();
    expect(reel.ready(120)).toBe(false);
    await Promise.all([reel.fetch(120), reel.fetch(130)]);
    await reel.fetch(125);
    expect(loads).toEqual([1]);
    expect([reel.ready(120), reel.ready(20), reel.at(20)]).toEqual([true, false, null]);
  });

  it("keeps eight chunks, those that were used last", async () => {
    const { reel, loads, size } = await long(12);
    for (let place = 0; place < KEPT; place++) await reel.fetch(place * size);
    reel.at(5);
    await reel.fetch(9 * size);
    expect(reel.chunks.filter((chunk) => chunk.frames).length).toBe(KEPT);
    expect([reel.ready(5), reel.ready(size)]).toEqual([true, false]);
    await reel.fetch(size);
    expect(loads.filter((place) => place === 1).length).toBe(2);
    expect(reel.at(size + 3)!.tick).toBe(size + 3);
  });

  it("loads each chunk once while it plays, however fast", async () => {
    const { reel, loads, size } = await long(30);
    await reel.fetch(0);
    for (let tick = 0; tick < 30 * size; ) {
      reel.at(tick);
      const ready = reel.prefetch(tick, 4000, () => undefined);
      tick = Math.min(tick + 16, ready + 1);
      await new Promise((done) => setTimeout(done));
    }
    expect(loads).toEqual(Array.from({ length: 30 }, (_, place) => place));
    expect([reel.prefetch(0, 4000, () => undefined), reel.chunks.filter(({ frames }) => frames).length]).toEqual([0, KEPT]); // gone by now
  });

  it("says what is damaged and goes on behind it", async () => {
    const { reel } = await match("damaged.replay");
    await reel.fetch(150);
    expect(reel.ready(150)).toBe(true);
    expect(reel.at(150)).toBeNull();
    expect(reel.problem(150)).toContain("damaged");
    await reel.fetch(220);
    expect(await digest(reel.at(220)!.scene)).toBe(digests[220]);
    expect([reel.after(219), reel.before(220), reel.after(249)]).toEqual([220, 219, null]);
  });

  it("chooses the chunk by its ticks, holes included", () => {
    const { schema } = { schema: readSchema({ scene: 1, bounds: null, up: "south", layers: [] }) };
    const reel = new Reel(schema, [{ first: 0, ticks: 10 }, { first: 20, ticks: 5 }, { first: 25, ticks: 100 }], () => Promise.reject(new Error("unasked")));
    expect([0, 9, 10, 19, 20, 24, 25, 124, 125].map((tick) => reel.find(tick))).toEqual([0, 0, 1, 1, 1, 1, 2, 2, -1]);
    expect([reel.first, reel.last, reel.after(9), reel.before(20)]).toEqual([0, 124, 20, 9]);
  });
});

describe("a session", () => {
  async function frames() {
    const { file, scenes, schema } = await match();
    return { schema, frames: splitFrames(await file.read(scenes[0]!)) };
  }

  it("shows what was pushed, with ticks left out", async () => {
    const { schema, frames: all } = await frames();
    const reel = new Reel(schema);
    for (const frame of all.slice(0, 30)) reel.push(frame);
    expect([reel.first, reel.last, reel.after(29), reel.before(29)]).toEqual([0, 29, null, 28]);
    expect(await digest(reel.at(12)!.scene)).toBe(digests[12]);
    const decoder = new Decoder(schema);
    for (const frame of all.slice(0, 30)) decoder.decode(frame);
    expect(await digest(reel.at(29)!.scene)).toBe(await digest(decoder.scene()));
  });

  it("takes the same frame once more as a key and begins anew when time goes back", async () => {
    const { schema, frames: all } = await frames();
    const reel = new Reel(schema);
    reel.push(all[0]!);
    reel.push(all[0]!);
    expect([reel.chunks.length, reel.first, reel.last]).toEqual([1, 0, 0]);
    const shown = reel.at(0);
    reel.push(all[0]!); // through the fog, perhaps
    expect([reel.at(0) === shown, reel.at(0)!.tick]).toEqual([false, 0]);
    for (const frame of all.slice(1, 5)) reel.push(frame);
    reel.push(all[0]!);
    expect([reel.chunks.length, reel.last]).toEqual([1, 0]);
    expect(() => new Reel(schema).push(all[1]!)).toThrow("first key frame");
  });

  it("forgets what is old, and never the newest", async () => {
    const { reel, size } = await long(6);
    for (let place = 0; place < 6; place++) await reel.fetch(place * size);
    const live = new Reel(reel.schema);
    for (const chunk of reel.chunks) for (const frame of chunk.frames!) live.push(frame);
    live.trim(2.5 * size, Infinity);
    expect([live.first, live.last]).toEqual([2 * size, 6 * size - 1]);
    live.trim(0, 1);
    expect([live.first, live.last]).toEqual([5 * size, 6 * size - 1]);
    expect(live.at(6 * size - 1)!.tick).toBe(6 * size - 1);
  });
});
