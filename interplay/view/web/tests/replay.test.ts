import { describe, expect, it } from "vitest";
import { crc32, inflate } from "../src/inflate";
import { ReplayFile, readHeader } from "../src/replay";
import { Refused } from "../src/schema";
import { openFile } from "../src/source";
import { digest } from "./canonical";
import { bytes, json } from "./fixtures";

const blob = (data: Uint8Array<ArrayBuffer>) => new Blob([data]);

describe("a file", () => {
  it("is read in the browser alone", async () => {
    const source = await openFile(blob(bytes("match.replay")), "match.replay");
    expect([source.world, source.policy, source.agents.length, source.problems]).toEqual(["toys:Walkers", "random walk", 40, []]);
    expect([source.reel.first, source.reel.last]).toEqual([0, 249]);
    expect(source.marks.map(({ kind }) => kind)).toEqual([...Array.from({ length: 6 }, () => ["death", "birth"]).flat(), "end"]);
    expect(source.marks[0]).toEqual({ tick: 20, kind: "death", slots: [0, 20] });
    await expect(source.agent(0, 0)).rejects.toThrow("interplay view");
  });

  it("that was cut shows its whole chunks and says so", async () => {
    const source = await openFile(blob(bytes("cut.replay")), "cut.replay");
    expect(source.reel.last).toBeLessThan(249);
    expect(source.problems[0]).toContain("Not closed");
    await source.reel.fetch(source.reel.last);
    const { match } = json<Record<string, string[]>>("digests.json");
    expect(await digest(source.reel.at(source.reel.last)!.scene)).toBe(match![source.reel.last]);
  });

  it("is refused wherever its header is cut", async () => {
    const whole = bytes("tables.replay");
    const length = 16 + new DataView(whole.buffer).getUint32(12, true) + 4;
    for (const size of [0, 7, 15, 16, 17, length - 1]) await expect(ReplayFile.open(blob(whole.slice(0, size)))).rejects.toThrow(Refused);
    await expect(openFile(blob(whole.slice(0, length)), "x")).rejects.toThrow("no scenes");
  });

  it("never crashes the page, whichever byte is another", async () => {
    const whole = bytes("tables.replay");
    for (let at = 0; at < whole.length; at += 3) {
      const damaged = whole.slice();
      damaged[at]! ^= 0x5a;
      try {
        const source = await openFile(blob(damaged), "x");
        for (let tick = source.reel.first; tick <= Math.min(source.reel.last, 10); tick++) {
          await source.reel.fetch(tick);
          source.reel.at(tick);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(Refused);
      }
    }
  });

  it("of another major version is refused with its number", async () => {
    await expect(ReplayFile.open(blob(bytes("future.replay")))).rejects.toThrow("format 9");
  });
});

it.each([[{}, 0.1], [{ frames_per_step: 45 }, 1.5], [{ tick_seconds: 0.6, frames_per_step: 6 }, 0.6], [{ tick_seconds: 1 / 30 }, 1 / 30], [{ tick_seconds: null }, 0.1],
  [{ tick_seconds: 1e9 }, 10], [{ tick_seconds: -1 }, 0.001], [{ tick_seconds: "soon" }, 0.1]])("a header of %j has ticks of %d s", (said, seconds) =>
  expect(readHeader(said).tickSeconds).toBe(seconds));

describe("limits", () => {
  it("are looked at before anything is inflated", async () => {
    const file = await ReplayFile.open(blob(bytes("match.replay")));
    await expect(file.read({ ...file.scenes[0]!, raw: 2 ** 32 - 1 })).rejects.toThrow("read at most");
    await expect(inflate(new Uint8Array(10), 2 ** 26 + 1)).rejects.toThrow("read at most");
  });

  it("stop inflation at the size that was declared", async () => {
    const bomb = new Blob([new Uint8Array(10_000_000)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const stored = new Uint8Array(await new Response(bomb).arrayBuffer());
    await expect(inflate(stored, 1000)).rejects.toThrow("longer than declared");
    await expect(inflate(stored, 10_000_001)).rejects.toThrow("shorter than declared");
    expect((await inflate(stored, 10_000_000)).length).toBe(10_000_000);
    await expect(inflate(new Uint8Array([255, 1, 2, 3]), 100)).rejects.toThrow("damaged");
  });

  it("CRC-32 is that of zlib", () => {
    expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    expect(crc32(new TextEncoder().encode("6789"), crc32(new TextEncoder().encode("12345")))).toBe(0xcbf43926);
  });
});
