import { expect, it } from "vitest";
import { blockers, cone } from "../src/cones";
import { Glide } from "../src/glide";
import { Decoder, number } from "../src/scene";
import { readSchema } from "../src/schema";
import { json } from "./fixtures";

interface Room {
  schema: unknown;
  frame: string;
  cones: number[][];
}

it("cones end where Python's end", () => {
  const room = json<Room>("cones.json");
  const decoder = new Decoder(readSchema(room.schema));
  decoder.decode(new Uint8Array(Buffer.from(room.frame, "base64")));
  const glides = decoder.scene().layers.map((layer) => new Glide(layer, null, 0));
  const looking = glides[2]!;
  const blocked = blockers(looking, glides);
  expect(blocked.filter(({ radius }) => radius > 0).length).toBeGreaterThan(15);
  expect(room.cones.some((points) => points.length > 120)).toBe(true);
  room.cones.forEach((wanted, row) => {
    const [x, y, angle] = ["x", "y", "angle"].map((key) => number(looking.layer, key, row)) as [number, number, number];
    const found = cone({ x, y, angle, depth: 7, field: 1.3 }, 3, blocked);
    expect(found.length).toBe(wanted.length);
    expect(Math.max(...found.map((value, i) => Math.abs(value - wanted[i]!)))).toBeLessThan(1e-3);
  });
});

it("a crowd has whole cones", () => {
  const room = json<Room>("cones.json");
  const decoder = new Decoder(readSchema(room.schema));
  decoder.decode(new Uint8Array(Buffer.from(room.frame, "base64")));
  const glides = decoder.scene().layers.map((layer) => new Glide(layer, null, 0));
  const crowd = new Glide({ ...glides[2]!.layer, rows: 1000 }, null, 0);
  expect(blockers(crowd, glides)).toEqual([]);
  expect(cone({ x: 0, y: 0, angle: 0, depth: 1, field: 1 }, 2, [])).toHaveLength(8);
});
