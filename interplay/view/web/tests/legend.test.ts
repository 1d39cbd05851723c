import { expect, it } from "vitest";
import { entriesOf } from "../src/legend";
import { readSchema } from "../src/schema";
import { json } from "./fixtures";

interface Told {
  world: string;
  schema: unknown;
  lines: [string, string, string, string][];
}

it.each(json<Told[]>("legends.json"))("the legend of $world is that of its pictures", ({ schema, lines }) => {
  expect(lines.length).toBeGreaterThan(3);
  expect(entriesOf(readSchema(schema)).map(({ kind, colour, words, broken }) => [kind, colour, words, broken])).toEqual(lines);
});

it("a legend from outside brings texts and colours, and not too many", () => {
  const layer = { id: 0, name: "x", kind: "circles", columns: [{ name: "x", type: "f4" }, { name: "y", type: "f4" }], width: null, text: false };
  const options = { radius: 1, legend: Array.from({ length: 99 }, (_, i) => `<b>${i}</b>`), "legend.colours": Array.from({ length: 99 }, () => "url(http://x)") };
  const found = entriesOf({ bounds: null, up: "south", layers: [{ ...layer, options } as never] });
  expect([found.length, found[0]]).toEqual([30, { kind: "disc", colour: "#868e96", words: "<b>0</b>", sign: "", broken: "" }]);
});
