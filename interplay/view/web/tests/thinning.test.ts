import { expect, it } from "vitest";
import { T } from "../src/strings";
import { Thinning } from "../src/thinning";

/** What is told after frames that come every 50 ms, so many ticks on each time. */
function told(steps: number[], thinning = new Thinning()): (number | null)[] {
  let tick = 7;
  thinning.note(tick, 0);
  return steps.map((step, i) => (thinning.note((tick += step), 50 * (i + 1)), thinning.share));
}

const SECONDS = Array(60).fill(1) as number[]; // three of them

it("ticks that are left out are told once that has lasted, as the share that came", () => {
  expect(told(SECONDS)).toEqual(Array(60).fill(null));
  const slow = told(SECONDS.map(() => 3));
  expect(slow.slice(0, 25)).toEqual(Array(25).fill(null));
  expect(slow.slice(30)).toEqual(Array(30).fill(1 / 3));
});

it("a hiccup, a key frame now and then, and a world that stands still are not told", () => {
  expect(told(SECONDS.map((_, i) => (i === 20 ? 400 : 1)))).toEqual(Array(60).fill(null));
  expect(told(SECONDS.map((_, i) => (i % 15 ? 1 : 2)))).toEqual(Array(60).fill(null));
  const thinning = new Thinning();
  told(SECONDS.map(() => 3), thinning);
  expect(thinning.share).toBe(1 / 3);
  thinning.forget();
  expect([thinning.share, ...told([900, ...SECONDS], thinning)]).toEqual(Array(62).fill(null));
});

it("comes to an end as soon as nothing is left out any more, and with a world that begins anew", () => {
  const thinning = new Thinning();
  const found = told([...SECONDS.map(() => 2), ...SECONDS], thinning);
  expect([found[59], found[119]]).toEqual([1 / 2, null]);
  told(SECONDS.map(() => 2), thinning);
  thinning.note(0, 10_000);
  expect(thinning.share).toBe(null);
});

it("is told in whole numbers", () => {
  expect([0.89, 0.55, 0.5, 1 / 3, 0.03].map(T.ticksShown)).toEqual(["9 of 10 ticks shown", "6 of 10 ticks shown", "1 of 2 ticks shown", "1 of 3 ticks shown", "1 of 33 ticks shown"]);
});
