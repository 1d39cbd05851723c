/** The legend of a world, as interplay/view/legend.py draws it below pictures. */

import { FAINT, INK, TERRAIN, barColour, rgb, hex, shapeOf, entries as ENTRIES, kinds as MOST } from "./palette";
import { Broken, LayerSchema, Schema, brokenOf, drawnBars, isHex, names } from "./schema";

export interface Entry {
  kind: "disc" | "ring" | "tile" | "bar" | "line";
  colour: string; // "#rrggbb"
  words: string;
  sign: string; // in a disc: a shape, "plus", or empty
  broken: Broken; // of a ring or a line
}

/** The entries, in the order of the layers. */
export function entriesOf(schema: Schema): Entry[] {
  return schema.layers.flatMap(ofLayer).slice(0, ENTRIES);
}

function ofLayer({ kind, options }: LayerSchema): Entry[] {
  const { legend, colour, glyph } = options;
  if (!legend) return [];
  const texts = names(legend);
  const colours = names(options["legend.colours"]);
  const one = typeof legend === "string" ? legend : "";
  const entry = (shape: Entry["kind"], words: string, of: unknown, sign: unknown = "", broken: Broken = ""): Entry => ({ kind: shape, words, colour: typeof of === "number" ? hex(rgb(of)) : isHex(of) ? of : FAINT, sign: String(sign ?? ""), broken });
  const solid = kind === "circles" ? "disc" : kind === "segments" ? "line" : "tile";
  if (kind === "tiles") {
    const palette = options.palette === "terrain" ? TERRAIN : names(options.palette);
    return palette.slice(0, texts.length).map((of, i) => entry("tile", texts[i]!, of));
  }
  const broken = brokenOf(options);
  const things = colours.length
    ? colours.slice(0, texts.length).map((of, i) => entry(solid, texts[i]!, of, "", solid === "line" ? broken : ""))
    : solid === "line" || options.fill === false
      ? [entry(solid === "line" ? solid : "ring", one || texts.join(", "), colour ?? INK, "", broken)]
      : one
        ? [entry(solid, one, colour, glyph)]
        : texts.slice(0, MOST).map((words, number) => entry("disc", words, number, glyph === "team" ? shapeOf(number) : glyph));
  const bars = drawnBars(options);
  return [
    ...things,
    ...bars.map((name, place) => entry("bar", name, barColour(place, bars.length, 1))),
    ...(bars.length === 1 ? [entry("bar", `${bars[0]}, half or less`, barColour(0, 1, 0.5))] : []),
    ...names(options.marks).map((name, place) => entry("ring", name, INK, "", place % 2 === 0 ? "dashes" : "")),
  ];
}
