import { describe, expect, it } from "vitest";
import { Glide, shareAt } from "../src/glide";
import type { Layer } from "../src/scene";

/** Six rows at `x`; who is absent and who jumps there, by row. */
function layer(x: number[], absent: number[] = [], jump: number[] = []): Layer {
  const flags = (rows: number[]) => Uint8Array.from(x, (_, row) => Number(rows.includes(row)));
  const columns = new Map<string, Float32Array | Uint8Array>([["x", Float32Array.from(x)], ["absent", flags(absent)], ["jump", flags(jump)]]);
  return { schema: { name: "agents", kind: "circles", options: {} } as unknown as Layer["schema"], rows: x.length, columns, text: [] };
}

describe("gliding", () => {
  it("leaves who comes, goes or jumps where it is, and moves all others", () => {
    const [from, to] = [layer([0, 0, 0, 0, 0, 0], [1]), layer([8, 8, 8, 8, 8, 0], [2], [3])];
    const glide = new Glide(from, to, 0.25);
    expect(glide.rows()).toEqual([0, 2, 3, 4, 5]);
    expect(glide.rows().map((row) => glide.at("x", row))).toEqual([2, 0, 0, 2, 0]);
    expect([...from.columns.get("x")!]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("copies nothing where nobody moves", () => {
    const from = layer([1, 2]);
    expect(new Glide(from, layer([5, 6], [], [0, 1]), 0.5).places("x")).toBe(from.columns.get("x"));
    expect(new Glide(from, null, 0).places("x")).toBe(from.columns.get("x"));
  });

  it("shows nothing of the way when a frame comes after its picture has begun", () => {
    expect([90, 100, 125, 150].map((now) => shareAt(now, 100, 50))).toEqual([0, 0, 0.5, 1]);
  });
});
