import { expect, it } from "vitest";
import * as palette from "../src/palette";
import { json } from "./fixtures";

const python = json<Record<string, unknown>>("palette.json");

it("colours and shapes are chosen as Python chooses them", () => {
  const { CORNERS, shapes_of, rgb, tiles, signs, bars } = python;
  expect(palette.CORNERS).toEqual(CORNERS);
  expect(Array.from({ length: 49 }, (_, number) => palette.shapeOf(number))).toEqual(shapes_of);
  expect(Array.from({ length: 21 }, (_, number) => palette.rgb(number))).toEqual(rgb);
  expect(palette.tileColours("terrain")).toEqual(tiles);
  expect(Array.from({ length: 7 }, (_, number) => palette.rgb(palette.signOn(palette.rgb(number))))).toEqual(signs);
  const each = [1, 3, 5].flatMap((count) => Array.from({ length: count }, (_, place) => [0.2, 0.8].map((share) => palette.barColour(place, count, share))));
  expect(each.flat()).toEqual(bars);
});

it("mixtures are rounded as Python rounds", () => {
  const colours = Array.from({ length: 7 }, (_, number) => palette.rgb(number));
  const found = colours.flatMap((colour) => [0.22, 0.45, 0.5, 0.55].map((share) => palette.mix(colour, palette.rgb(palette.INK), share)));
  expect(found).toEqual(python.mixed);
  expect(palette.hex([1, 128, 255])).toBe("#0180ff");
});
