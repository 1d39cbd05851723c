/** Pictures of agents: drawn once, and kept as long as there is room. */

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { sprite } from "../src/sprites";

const pen: unknown = new Proxy({}, { get: () => () => undefined, set: () => true });

beforeAll(() => void vi.stubGlobal("document", { createElement: () => ({ width: 0, height: 0, getContext: () => pen }) }));
afterAll(() => void vi.unstubAllGlobals());

it("keeps many small ones, and few large ones", () => {
  const draw = (size: number, blue: number) => sprite({ colour: [0, 0, blue], size, rim: 1, sign: "disc" }, 2);
  const small = Array.from({ length: 500 }, (_, i) => draw(5, i));
  expect(draw(5, 0)).toBe(small[0]);
  const large = Array.from({ length: 50 }, (_, i) => draw(150, i));
  expect(large.reduce((sum, { width, height }) => sum + width * height, 0)).toBeGreaterThan(2 ** 24);
  expect(draw(150, 49)).toBe(large[49]);
  expect(draw(150, 0)).not.toBe(large[0]);
});
