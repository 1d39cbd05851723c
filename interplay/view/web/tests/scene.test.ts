import { describe, expect, it } from "vitest";
import { Decoder, readHead, splitFrames } from "../src/scene";
import { Refused, readSchema } from "../src/schema";
import { digest } from "./canonical";
import { json } from "./fixtures";

interface Stream {
  name: string;
  schema: unknown;
  frames: string[];
  digests: string[];
}

const streams = json<Stream[]>("streams.json");

function unpacked(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

describe("streams that Python wrote", () => {
  it.each(streams)("$name", async ({ schema, frames, digests }) => {
    const decoder = new Decoder(readSchema(schema));
    const found = [];
    for (const [t, frame] of frames.entries()) {
      const head = decoder.decode(unpacked(frame));
      expect(head).toEqual({ key: t === 0 || t === 17, first: t === 0, last: t === 11, tick: t + 5 });
      found.push(await digest(decoder.scene()));
    }
    expect(found).toEqual(digests);
  });

  it("hold every coding and widened columns", () => {
    const seen = new Set<string>();
    for (const frame of streams.flatMap((stream) => stream.frames.map(unpacked))) {
      const view = new DataView(frame.buffer);
      for (let at = 16; at < frame.length; at += 12 + view.getUint32(at + 8, true)) {
        seen.add(`coding ${frame[at + 1]}`);
        if (view.getUint16(at + 2, true)) seen.add("wide");
      }
    }
    expect([...seen].sort()).toEqual(["coding 0", "coding 1", "coding 2", "coding 3", "wide"]);
  });

  it("give the same layer object while nothing changed", () => {
    const stream = streams.find(({ name }) => name.startsWith("tiles,"))!;
    const decoder = new Decoder(readSchema(stream.schema));
    decoder.decode(unpacked(stream.frames[0]!));
    const before = decoder.scene();
    decoder.decode(unpacked(stream.frames[1]!));
    expect(decoder.scene().layers[0]).toBe(before.layers[0]);
  });
});

// Section 4.2 of the specification.
const GOLDEN = [
  "010002000700000007000000280000000001000004000000040000000202040101010000010000000c000000600000002000000003000000",
  "0200020008000000070000003000000000030000040000000c00000001000000020000000300000001020000010000000c000000c0ff00000000000000000000",
];
const place = { type: "u2", scale: 1 / 64 };
const golden = {
  scene: 1,
  bounds: [0, 0, 2, 2],
  up: "south",
  layers: [
    { name: "ground", kind: "tiles", id: 0, width: 2, columns: [{ name: "tile", type: "u1" }], options: { palette: "terrain", origin: [0, 0], cell: 1 } },
    { name: "agents", kind: "circles", id: 1, columns: [{ name: "x", ...place }, { name: "y", ...place }, { name: "colour", type: "u1" }], options: { radius: 0.4 } },
  ],
};

describe("the golden bytes", () => {
  it("are read", () => {
    const decoder = new Decoder(readSchema(golden));
    const seen = GOLDEN.map((text) => {
      const { tick } = decoder.decode(hex(text));
      const [ground, agents] = decoder.scene().layers;
      return [tick, [...ground!.columns.get("tile")!], ...["x", "y", "colour"].map((name) => agents!.columns.get(name)![0])];
    });
    expect(seen).toEqual([
      [7, [2, 2, 4, 1], 1.5, 0.5, 3],
      [8, [2, 2, 3, 1], 0.5, 0.5, 3],
    ]);
  });

  it("may say more of a layer than this page knows: a later version did", () => {
    const layers = golden.layers.map((layer) => ({ ...layer, mood: {}, options: { ...layer.options, glow: 0.5, halos: ["a", 2] } }));
    const [known, later] = [golden, { ...golden, sky: "blue", layers }].map((schema) => {
      const decoder = new Decoder(readSchema(schema));
      decoder.decode(hex(GOLDEN[0]!));
      return decoder.scene().layers.map((layer) => [...layer.columns]);
    });
    expect(later).toEqual(known);
  });

  it("are refused wherever they are cut, and never crash where a byte is another", () => {
    const [key, change] = GOLDEN.map(hex) as [Uint8Array, Uint8Array];
    for (let size = 0; size < key.length; size++) expect(() => new Decoder(readSchema(golden)).decode(key.slice(0, size))).toThrow(Refused);
    for (let at = 0; at < change.length; at++) {
      const damaged = change.slice();
      damaged[at]! ^= 0xff;
      const decoder = new Decoder(readSchema(golden));
      decoder.decode(key);
      try {
        decoder.decode(damaged);
        decoder.scene();
      } catch (error) {
        expect(error).toBeInstanceOf(Refused);
      }
    }
  });

  it("need the frame before", () => {
    const decoder = new Decoder(readSchema(golden));
    expect(() => decoder.decode(hex(GOLDEN[1]!))).toThrow("is not at hand");
    decoder.decode(hex(GOLDEN[0]!));
    decoder.decode(hex(GOLDEN[1]!));
    expect(() => decoder.decode(hex(GOLDEN[1]!))).toThrow("is not at hand");
  });

  it("stand one after another", () => {
    const both = hex(GOLDEN.join(""));
    expect(splitFrames(both).map((frame) => readHead(frame).head.tick)).toEqual([7, 8]);
    expect(() => splitFrames(both.slice(0, both.length - 4))).toThrow(Refused);
  });
});

describe("schemas that no world declares", () => {
  const broken: [string, (schema: typeof golden) => unknown][] = [
    ["no layers", (schema) => ({ ...schema, layers: null })],
    ["another form", (schema) => ({ ...schema, scene: 2 })],
    ["66 layers", (schema) => ({ ...schema, layers: Array(66).fill(schema.layers[0]) })],
    ["an unknown kind", (schema) => ({ ...schema, layers: [{ ...schema.layers[0], kind: "script" }] })],
    ["parts out of order", (schema) => ({ ...schema, layers: [...schema.layers].reverse() })],
    ["65 columns", (schema) => ({ ...schema, layers: [{ ...schema.layers[1], id: 0, columns: Array.from({ length: 65 }, (_, i) => ({ name: `x${i}`, type: "u1" })) }] })],
    ["no places", (schema) => ({ ...schema, layers: [{ ...schema.layers[1], id: 0, columns: [] }] })],
    ["a palette of words", (schema) => ({ ...schema, layers: [{ ...schema.layers[0], options: { palette: ["red"], origin: [0, 0], cell: 1 } }] })],
    ["empty bounds", (schema) => ({ ...schema, bounds: [1, 0, 1, 1] })],
    ["a scale below nothing", (schema) => ({ ...schema, layers: [{ ...schema.layers[0], columns: [{ name: "tile", type: "u1", scale: -1 }] }] })],
  ];
  it.each(broken)("%s", (_, change) => expect(() => readSchema(change(golden))).toThrow(Refused));
});
