/** Histories of tables: what a long recording is asked for, and of which episode they tell. The reel is a stand-in that forgets. */

import { expect, it } from "vitest";
import { pastOf } from "../src/history";
import type { Reel } from "../src/reel";
import type { Layer } from "../src/scene";

const CHUNK = 8;
const HELD = 5; // chunks
const TICKS = 200;
const LONG = 80; // ticks of an episode

const schema = (name: string, options: object) => ({ name, kind: "table", options });
const table = (tick: number) =>
  [
    { schema: schema("talk", { titles: ["seat", "said"], history: ["said"], heads: "when" }), text: [["ann", tick % LONG === 0 ? "-" : `a${tick}`]] },
    { schema: schema("when", { titles: ["step"] }), text: [[`step ${tick}`]] },
  ] as unknown as Layer[];

/** A recording of episodes of LONG ticks, of which few chunks are held. */
class Stand {
  held: number[] = [];
  coming = 0;
  most = 0;
  fetched: number[] = [];
  gone = false;
  private hands: (() => void)[] = [];
  readonly chunkOf = (tick: number) => tick - (tick % CHUNK);
  readonly ready = (tick: number) => this.held.includes(this.chunkOf(tick));
  readonly before = (tick: number) => (tick > 0 ? tick - 1 : null);
  readonly at = (tick: number) => (this.ready(tick) ? { tick, first: tick % LONG === 0, scene: { layers: table(tick) } } : null);

  readonly fetch = (tick: number): Promise<void> => {
    this.fetched.push(this.chunkOf(tick));
    this.most = Math.max(this.most, ++this.coming);
    return new Promise((done, failed) => this.hands.push(() => (this.coming--, this.gone ? failed(new Error("gone")) : (this.hold(tick), done()))));
  };

  hold(tick: number): void {
    this.held = [...this.held.filter((one) => one !== this.chunkOf(tick)), this.chunkOf(tick)].slice(-HELD);
  }

  /** Everything on its way arrives. */
  async arrive(): Promise<void> {
    for (const hand of this.hands.splice(0)) hand();
    await new Promise((done) => setTimeout(done));
  }
}

const past = (stand: Stand, tick: number, told: () => void = () => undefined) => pastOf(table(tick)[0]!, stand as unknown as Reel, tick, 0, told)[0]!;

/** Looks as a page does: again whenever something came, until nothing comes any more. */
async function settled(stand: Stand, tick: number) {
  let looks = 0;
  let again = true;
  while (again) {
    if (++looks > 100) throw new Error("it never settles");
    stand.hold(tick); // in view
    again = false;
    past(stand, tick, () => (again = true));
    while (stand.coming) await stand.arrive();
  }
  return past(stand, tick);
}

it("fetches few chunks at once and none twice, though the reel keeps fewer than the history tells of", async () => {
  const stand = new Stand();
  const tick = LONG - 1; // ten chunks back to the beginning
  const found = await settled(stand, tick);
  expect(stand.most).toBeLessThanOrEqual(4);
  expect([...stand.fetched].sort((one, other) => one - other)).toEqual(Array.from({ length: 9 }, (_, i) => CHUNK * i));
  expect(found.steps.map(({ cells }) => cells[0])).toEqual(Array.from({ length: 24 }, (_, i) => `a${tick - i}`));
  expect([found.steps[0]!.head, found.more]).toEqual([`step ${tick}`, true]);
});

it("tells of one episode alone, also where its first frame has not come yet", async () => {
  const stand = new Stand();
  const tick = 3 * LONG + 4;
  stand.hold(tick);
  stand.hold(2 * LONG); // of an earlier episode, at hand
  const early = past(stand, tick);
  expect(early.steps.map(({ tick }) => tick)).toEqual([tick, tick - 1, tick - 2, tick - 3]);
  const found = await settled(stand, tick);
  expect(found.steps.map(({ tick }) => tick)).toEqual([tick, tick - 1, tick - 2, tick - 3]);
  expect(found.more).toBe(false);
});

it("asks a server that is gone no more until somebody looks again", async () => {
  const stand = new Stand();
  stand.gone = true;
  const tick = TICKS - 1;
  stand.hold(tick);
  let told = 0;
  past(stand, tick, () => told++);
  await stand.arrive();
  expect([stand.fetched.length, told]).toEqual([4, 0]);
  await stand.arrive();
  expect(stand.fetched.length).toBe(4);
  past(stand, tick, () => told++);
  expect(stand.fetched.length).toBe(8);
});
